// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "loops/registry.h"
#include "loops/setup.h"
#include "partition/function_names.h"
#include "session/capability.h"
#include "session/state.h"
#include "session/worksharing.h"

namespace steelyard::session {

namespace {

std::string no_virtual_threads_reason(const Session& session) {
  const Regions::Dependent& longest = session.regions.dependent;
  if (longest.body != nullptr) {
    const auto place = reinterpret_cast<std::uint64_t>(longest.body);
    const std::string function = partition::function_names({place}).front();
    return fmt::format("the longest one with static loops of gcc, {}, {}",
                       function.empty() ? loops::site_name(place) : "in " + function, longest.reason);
  }
  return "none whose thread queries all belong to static loops of gcc has run twice with two threads";
}

/// The program's loops, and those that it divides by calls of Steelyard.
class Loops final : public Capability {
 public:
  std::string header(const Session&) const override {
    const base::Options& options = base::options();
    const char* const whose = takes_loops() ? "" : " (only loops that call steelyard)";
    std::string words;
    const auto add = [&](const std::string& more) { words += (words.empty() ? "" : ", ") + more; };
    if (takes_loops()) add("loops " + text_of_option("loops"));
    if (!options.loops_learn.empty()) add("learns in " + options.loops_learn + whose);
    if (!options.loops_replay.empty()) add("replays " + options.loops_replay + whose);
    return words;
  }

  void contribute(const Session& session, observe::Contribution& part) const override {
    const base::Options& options = base::options();
    part.loops = loop_records();
    if (options.virtual_threads > 1 && !options.observe && session.activity.totals().virtual_regions == 0)
      part.remarks.push_back("--virtual-threads found no suitable region: " + no_virtual_threads_reason(session));
    if (std::string left_out = loops::left_out_of_replay(); !left_out.empty())
      part.remarks.push_back(std::move(left_out));
  }
};

}  // namespace

std::unique_ptr<Capability> make_loops() { return std::make_unique<Loops>(); }

}  // namespace steelyard::session
