// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/clock.h"
#include "loops/registry.h"
#include "observe/fixed_threads.h"
#include "observe/text.h"
#include "observe/thresholds.h"
#include "partition/function_names.h"
#include "partition/known_queries.h"
#include "partition/node_answers.h"
#include "session/capability.h"
#include "session/state.h"

namespace steelyard::session {

namespace {

node::Level level_of(base::CoresDomain domain) {
  switch (domain) {
    case base::CoresDomain::node: return node::Level::node;
    case base::CoresDomain::numa: return node::Level::numa;
    case base::CoresDomain::l3: return node::Level::l3;
    default: return node::Level::package;  // as the paper
  }
}

cores::Options chosen_options() {
  const base::Options& options = base::options();
  cores::Options chosen;
  chosen.lend = options.lending && options.wait == base::Wait::sleep;
  chosen.level = level_of(options.cores_domain);
  chosen.policy.every = static_cast<int>(options.balance_every);
  chosen.policy.at = static_cast<int>(options.balance_at);
  chosen.policy.sabo = options.cores == base::Cores::sabo;
  chosen.policy.decision = options.decision();
  return chosen;
}

// If the job was resized, the figures of the run cover several sets of cores.
void note_requests(observe::Contribution& part) {
  const auto requested = [](const auto& decision) { return decision.outcome == observe::Outcome::requested; };
  const auto last = std::find_if(part.decisions.rbegin(), part.decisions.rend(), requested);
  if (last == part.decisions.rend()) return;
  part.remarks.push_back(fmt::format("`steelyard cores` changed the cores of node {} (requests: {}; the last: {})",
                                     last->node, std::ranges::count_if(part.decisions, requested), last->what));
}

/// Cores move and are lent.
class Cores final : public Capability {
 public:
  std::uint32_t wanted(const Session&) const override { return may_move() ? kOn : 0; }

  ~Cores() override { partition::share_answers(nullptr); }

  node::Footprint footprint(Session& session) override {
    return {.bytes = cores::Cores::footprint(static_cast<int>(session.topology.pus.size()), session.count) +
                     node::Segment::footprint<partition::NodeAnswers>(1),
            .attach = [this, &session](node::Segment& segment) {
              partition::share_answers(segment.carve<partition::NodeAnswers>(1));
              cores_ = std::make_unique<cores::Cores>(segment, session.processes, session.count, session.me,
                                                      session.topology, session.activity, chosen_options());
              session.cores = cores_.get();
            }};
  }

  std::string header(const Session& session) const override {
    const std::string cores = "cores " + text_of_option("cores");
    if (session.lends) return cores + ", lending on";
    const base::Options& options = base::options();
    // The rest of the reason follows in the summary.
    std::string reason = cores_->immovable_reason();
    if (options.summary) reason = reason.substr(0, reason.find(':'));
    const std::string note = !options.lending                    ? ""
                             : options.wait != base::Wait::sleep ? " (--wait=poll)"
                                                                 : fmt::format(" ({})", reason);
    return cores + ", lending off" + note;
  }

  void contribute(const Session& session, observe::Contribution& part) const override {
    if (session.leader) cores_->report(part.node.front(), part.decisions);
    contribute_borrowed(session, part);
    note_requests(part);
    part.kept_regions = kept_regions(session);
    if (cores_->paused_borrowing()) {
      part.remarks.emplace_back(
          "stopped borrowing cores at times: other programs or the owners kept these cores busy, which delayed "
          "parallel regions; request exclusive nodes");
    }
    note_unset_threads(session, part);
    const Regions& regions = session.regions;
    if (static_cast<double>(regions.unanalysed_wall) > observe::kWorthTelling * static_cast<double>(regions.wall)) {
      part.remarks.emplace_back(
          "regions kept their thread count until their machine code was analysed, for which a short run of a large "
          "program has too little time; run it longer, or with --exploration=0.2");
    }
    // For these regions, merge() adds one remark for all ranks.
    if (const std::string& fixed = limits().fixed_reason(); !fixed.empty() && part.kept_regions.empty())
      part.remarks.push_back(observe::fixed_remark(fixed));
  }

 private:
  // Natively, each rank would run a thread on every core that it may use: its own count says nothing about its share.
  static void note_unset_threads(const Session& session, observe::Contribution& part) {
    const int owned = part.rank.threads_at_start, threads = limits().natural;
    if (session.processes[session.me].threads_chosen || limits().declared >= 0 || threads <= owned) return;
    if (!part.rank.openmp || !limits().fixed_reason().empty()) return;
    if (part.kept_regions.empty()) return;
    part.remarks.push_back(
        fmt::format("OMP_NUM_THREADS is not set: regions that keep their thread count run {} threads on {}, and borrow "
                    "no cores; set OMP_NUM_THREADS={}",
                    threads, observe::plural(owned, "core"), owned));
  }
  // Of what was borrowed while the measurement was paused, no part is in any figure.
  void contribute_borrowed(const Session& session, observe::Contribution& part) const {
    const std::vector<std::int64_t>& from = cores_->borrowed_from();
    const auto all = static_cast<double>(std::accumulate(from.begin(), from.end(), std::int64_t{0}));
    const double measured = all > 0 ? std::min(1.0, static_cast<double>(part.rank.totals.borrowed) / all) : 0;
    for (int p = 0; p < session.count; ++p) {
      const double used = measured * base::seconds(from[static_cast<std::size_t>(p)]);
      if (used > 0) part.borrowed_from[session.processes[p].world_rank] = used;
    }
  }

  std::unique_ptr<cores::Cores> cores_;
};

}  // namespace

std::unique_ptr<Capability> make_cores() { return std::make_unique<Cores>(); }

std::string immovable_reason(const Session& session) {
  if (!session.segment_problem.empty()) return session.segment_problem;
  if (session.cores != nullptr) return session.cores->immovable_reason();
  return base::options().observe ? "only observing (--observe)"
         : session.start.language == "none"
             ? "the program uses no MPI, so there is no other rank to exchange cores with"
             : "switched off (--cores=off)";
}

std::vector<observe::KeptRegion> kept_regions(const Session& session) {
  const std::string& reason = limits().fixed_reason();
  const bool other_reason =
      reason != limits().reasons[ThreadLimits::regions] || session.regions.was_fixed == Regions::Fixed::by_clause;
  if (session.cores == nullptr || (!reason.empty() && other_reason)) return {};
  std::map<std::uint64_t, Regions::Kept> kept;  // a body may be begun from several calls
  for (const Regions::Kept& region : session.regions.kept) {
    Regions::Kept& its = kept.try_emplace(region.place, Regions::Kept{region.place, region.repeats, 0}).first->second;
    its.repeats = its.repeats && region.repeats;
    its.wall += region.wall;
  }
  std::vector<std::uint64_t> places;
  for (const auto& [place, region] : kept) places.push_back(place);
  const std::vector<std::string> functions = partition::function_names(places);
  std::vector<observe::KeptRegion> regions;
  for (std::size_t n = 0; n < places.size(); ++n)
    regions.push_back({loops::site_name(places[n]), functions[n], kept.at(places[n]).repeats, 1,
                       base::seconds(kept.at(places[n]).wall)});
  return regions;
}

}  // namespace steelyard::session
