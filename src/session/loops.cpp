// SPDX-License-Identifier: BSD-3-Clause
#include "loops/setup.h"
#include "session/capability.h"
#include "session/state.h"
#include "session/worksharing.h"

namespace steelyard::session {

namespace {

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
    if (options.virtual_threads > 1 && !options.observe && session.activity.totals().virtual_regions == 0) {
      part.remarks.emplace_back(
          "--virtual-threads found no suitable region: it needs static loops compiled by gcc, threads that do not wait "
          "for each other, and regions that run at least twice");
    }
    if (std::string left_out = loops::left_out_of_replay(); !left_out.empty())
      part.remarks.push_back(std::move(left_out));
  }
};

}  // namespace

std::unique_ptr<Capability> make_loops() { return std::make_unique<Loops>(); }

}  // namespace steelyard::session
