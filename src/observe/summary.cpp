// SPDX-License-Identifier: BSD-3-Clause
#include "observe/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/clock.h"
#include "decide/estimate.h"
#include "observe/contention.h"
#include "observe/fixed_threads.h"
#include "observe/late_in_trees.h"
#include "observe/left_broadcasts.h"
#include "observe/lending.h"
#include "observe/other_region_record.h"
#include "observe/page.h"
#include "observe/text.h"

namespace steelyard::observe {
namespace {

std::string confidence_interval(const RunRecord& record, double low, double high) {
  return decide::to_text({low, high}, confidence_of(record));
}

Totals sum_of(const RunRecord& record) {
  Totals sum;
  for (const RankRecord& rank : record.ranks) sum += rank.totals;
  return sum;
}

/// ns. A rank that sleeps in a phase waits for no message, and its efficiency counts that time as work.
std::int64_t in_mpi(const RankRecord& rank) { return rank.totals.mpi - rank.totals.quiesced; }

double share_in_mpi(const RankRecord& rank) {
  return rank.totals.wall > 0 ? static_cast<double>(in_mpi(rank)) / static_cast<double>(rank.totals.wall) : 0;
}

double share_for_gpu(const RankRecord& rank) {
  return rank.totals.wall > 0 ? static_cast<double>(rank.totals.gpu) / static_cast<double>(rank.totals.wall) : 0;
}

void say_header(const RunRecord& record, Page& page) {
  long cores = 0;
  bool emulated = record.instrument == "emulated";
  for (const NodeRecord& node : record.nodes) {
    cores += node.cores;
    emulated |= node.emulated;
  }
  std::string text = "steelyard: " + plural(static_cast<long>(record.ranks.size()), "rank");
  if (!record.nodes.empty()) {
    text += fmt::format(" on {}, {}", plural(static_cast<long>(record.nodes.size()), "node"), plural(cores, "core"));
  }
  if (emulated) text += " (emulated)";
  if (record.instrument == "simulated") text += " (simulated)";
  page.line("", text + ", " + duration(record.wall));
}

/// Of some rank.
bool has_several_threads(const RunRecord& record) {
  return std::ranges::any_of(record.ranks, [](const RankRecord& rank) { return rank.threads_at_start > 1; });
}

/// What Steelyard did not get to see. False where that is everything.
bool say_what_was_missed(const RunRecord& record, const Totals& sum, Page& page) {
  if (sum.regions == 0 && sum.mpi_calls == 0 && record.wall < record.thresholds.judged_wall) {
    page.say("measured",
             fmt::format("nothing: no OpenMP region and no blocking MPI call was seen in the {} between MPI_Init and "
                         "MPI_Finalize",
                         duration(record.wall)),
             2);
    return false;
  }
  if (sum.regions == 0 && sum.mpi_calls == 0) {
    page.say("ERROR",
             "nothing was measured: no OpenMP region and no blocking MPI call was seen. Causes: the program does "
             "not use them after MPI_Init; it links MPI or OpenMP statically; its OpenMP runtime is not GNU's and has "
             "no tools interface (OMPT). `steelyard doctor PROGRAM` says which it is.",
             4);
    return false;
  }
  if (sum.regions == 0 && !record.openmp_tool.empty()) {
    page.say("note",
             "OpenMP is not measured, and no thread counts change: " + record.openmp_tool +
                 " uses OMPT, and a process has room for one tool. To measure OpenMP, start without that tool.",
             3);
  } else if (sum.regions == 0 && record.openmp.empty()) {
    // Nothing follows from it where there are tasks to move, no rank to move cores to, or ranks that ask for cores.
    const bool could_move =
        std::ranges::any_of(record.nodes,
                            [](const NodeRecord& node) { return node.ranks > 1 && node.nothing_moved != kNoOpenMp; }) &&
        std::ranges::all_of(record.ranks, [](const RankRecord& rank) { return rank.fixed_reason.empty(); });
    if (could_move && record.tasks.empty())
      page.say("note", "no OpenMP runtime, so no thread counts can change: see `steelyard doctor PROGRAM`", 1);
  } else if (sum.regions == 0) {
    const bool idle = has_several_threads(record);
    page.say(idle ? "WARNING" : "note",
             fmt::format("no OpenMP region was seen, so there are no threads to move: {} is loaded, but neither the "
                         "program nor its libraries began a parallel region{}",
                         record.openmp, idle ? "" : " (with one thread, some libraries begin none)"),
             3);
  } else if (sum.mpi_calls == 0 && record.ranks.size() > 1) {
    page.say("WARNING",
             "no blocking MPI call was seen, so no waits are known. Causes: the program makes none; it links MPI "
             "statically, or calls it in a way that is not intercepted. `steelyard doctor PROGRAM` says which it is.",
             3);
  }
  return true;
}

void say_efficiency(const RunRecord& record, const Totals& sum, Page& page) {
  const Metrics& m = record.metrics;
  const bool unmeasured = sum.regions == 0 && (!record.openmp_tool.empty() || has_several_threads(record));
  const std::string gpu = sum.gpu_capacity > 0 ? " x GPU " + percent(m.gpu) : "";
  page.line("  ", unmeasured ? "MPI efficiency " + percent(m.mpi) + "; without OpenMP regions, no other is known"
                             : fmt::format("parallel efficiency {} = MPI {} x OpenMP {}{}", percent(m.parallel),
                                           percent(m.mpi), percent(m.openmp), gpu));
  if (record.ranks.size() > 1) {
    const std::string balance = record.nodes.size() > 1
                                    ? fmt::format("load balance in nodes {}, across nodes {}",
                                                  percent(m.load_balance_in), percent(m.load_balance_out))
                                    : "load balance " + percent(m.load_balance);
    const bool lends = base::seconds(sum.borrowed) > kWorthTelling * record.wall;
    page.say("  MPI",
             fmt::format("{}, communication {}{}", balance, percent(m.communication),
                         lends ? "; a lent core counts as busy while it is used" : ""),
             2);
  }
  if (sum.regions > 0) {
    page.say("  OpenMP",
             fmt::format("load balance {}, scheduling {}, serialisation {}", percent(m.omp_load_balance),
                         percent(m.omp_scheduling), percent(m.omp_serialisation)),
             1);
  }
}

/// ", 84 % of it waiting for rank 3", or "for each other": up to four ranks for most of the time, if enough is known.
std::string for_whom(const std::vector<const RankRecord*>& waiting, const Thresholds& thresholds) {
  std::map<int, double> by_cause;
  double waited = 0, known = 0, explained = 0;
  for (const RankRecord* rank : waiting) {
    waited += base::seconds(in_mpi(*rank));
    for (const auto& [cause, seconds] : rank->waited_for) {
      by_cause[cause] += seconds;
      known += seconds;
    }
  }
  if (known <= 0 || known < thresholds.known_wait_share * waited) return "";
  std::vector<std::pair<double, int>> causes;
  for (const auto& [cause, seconds] : by_cause) causes.emplace_back(seconds, cause);
  std::sort(causes.rbegin(), causes.rend());
  std::vector<int> main_causes;
  const std::size_t most = std::min(causes.size(), static_cast<std::size_t>(std::max(thresholds.critical_ranks, 0)));
  for (std::size_t i = 0; i < most && explained < thresholds.critical_wait_share * known; ++i) {
    explained += causes[i].first;
    main_causes.push_back(causes[i].second);
  }
  if (explained < thresholds.known_wait_share * known) return ", waiting for many different ranks";
  std::sort(main_causes.begin(), main_causes.end());
  const bool mutual = waiting.size() > 1 && std::ranges::equal(main_causes, waiting, {}, {}, &RankRecord::rank);
  return fmt::format(", {} of it waiting for {}", percent(std::min(explained / waited, 1.0)),
                     mutual ? "each other" : rank_list(main_causes));
}

void say_waits(const RunRecord& record, Page& page) {
  if (record.ranks.size() < 2) return;
  double most = 0;
  for (const RankRecord& rank : record.ranks) most = std::max(most, share_in_mpi(rank));
  if (most < record.thresholds.mpi_share) {
    page.say("waiting",
             fmt::format("no rank spent more than {} of its time in MPI", percent(record.thresholds.mpi_share)), 1);
    return;
  }
  std::vector<const RankRecord*> waiting;
  std::vector<int> numbers;
  double least = most;
  for (const RankRecord& rank : record.ranks) {
    const double share = share_in_mpi(rank);
    if (share < std::max(record.thresholds.mpi_share, most / 2)) continue;
    waiting.push_back(&rank);
    numbers.push_back(rank.rank);
    least = std::min(least, share);
  }
  const std::string shares = percent(least) == percent(most) ? percent(most) : percent(least) + " to " + percent(most);
  page.say("waiting",
           fmt::format("{} spent {} of {} time in MPI{}", rank_list(numbers), shares,
                       numbers.size() == 1 ? "its" : "their", for_whom(waiting, record.thresholds)),
           3);
}

/// Ranks that waited for an accelerator for as large a share of their time as is told of MPI.
void say_gpu_waits(const RunRecord& record, Page& page) {
  double most = 0;
  for (const RankRecord& rank : record.ranks) most = std::max(most, share_for_gpu(rank));
  if (most < record.thresholds.mpi_share) return;
  std::vector<int> numbers;
  for (const RankRecord& rank : record.ranks) {
    if (share_for_gpu(rank) >= std::max(record.thresholds.mpi_share, most / 2)) numbers.push_back(rank.rank);
  }
  page.say("GPU",
           fmt::format("{} waited for a GPU for up to {} of {} time", rank_list(numbers), percent(most),
                       numbers.size() == 1 ? "its" : "their"),
           1);
}

/// A mean over ranks, and its confidence interval.
struct Mean {
  double looks = 0, sum = 0, squares = 0;
  void add(long count, double wait, double low, double high) {
    const double half_width = (high - low) / 2;
    const auto n = static_cast<double>(count);
    looks += n;
    sum += n * wait;
    squares += n * n * half_width * half_width;
  }
  double value() const { return sum / looks; }
  double half_width() const { return std::sqrt(squares) / looks; }
};

std::string won_over_board(const RunRecord& record, Broadcasts RankRecord::* operation) {
  Mean shared, library;
  for (const RankRecord& rank : record.ranks) {
    const Broadcasts& b = rank.*operation;
    shared.add(b.shared_looks, b.shared_wait, b.shared_low, b.shared_high);
    library.add(b.library_looks, b.library_wait, b.library_low, b.library_high);
  }
  if (shared.looks <= 0 || library.looks <= 0) return why_gain_is_unknown(record);
  const double gain = library.value() - shared.value();
  const double low = gain - std::hypot(library.half_width(), shared.half_width());
  const std::string waits =
      fmt::format("a rank waited {} in each of them, {} ({:g} % CI {} to {}) in the MPI library's",
                  duration(shared.value()), duration(library.value()), 100 * confidence_of(record),
                  duration(std::max(0.0, library.value() - library.half_width())),
                  duration(library.value() + library.half_width()));
  return low > 0 ? waits : waits + ": no statistically significant difference";
}

/// What Steelyard did with broadcasts, or scatters, and for which ranks no other waited because of it.
void say_over_board(const RunRecord& record, Broadcasts RankRecord::* operation, const char* name, const char* label,
                    Page& page) {
  long calls = 0;
  double shared = 0, tree = 0, library = 0, late_calls = 0, behind = 0;
  std::vector<int> late;
  for (const RankRecord& rank : record.ranks) {
    const Broadcasts& b = rank.*operation;
    calls = std::max(calls, b.calls);
    shared += static_cast<double>(b.shared);
    tree += static_cast<double>(b.tree);
    library += static_cast<double>(b.library);
    if (b.late <= 0 || (b.late < b.calls / 2 && b.behind < kWorthTelling * record.wall)) continue;
    late.push_back(rank.rank);
    late_calls += static_cast<double>(b.late);
    behind += b.behind;
  }
  const double all = shared + tree + library;
  if (!(shared + tree > library)) return;  // what was compared and left as it is needs no line
  std::string text;
  const auto went = [&](double part, std::string_view how) {
    if (part <= 0) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", percent(part / all),
                        text.empty() ? fmt::format("of {} {}", plural(calls, name), how) : how);
  };
  went(shared, "through shared memory");
  went(tree, "along a tree between nodes");
  went(library, "by the MPI library");
  if (!late.empty()) {
    text += fmt::format("; {} came {} after the data on average, and no other rank of the node waited for that",
                        rank_list(late), duration(behind / late_calls));
  }
  page.say(label, text, 2);
  page.say("", won_over_board(record, operation), 2);
}

/// The main reason, for a user who expected otherwise.
void say_left_broadcasts(const RunRecord& record, Page& page) {
  if (!asked_for_broadcasts(record)) return;
  const std::vector<std::string> broadcasts = left_broadcasts(record), scatters = left_scatters(record);
  if (!broadcasts.empty()) page.say("bcast", broadcasts.front(), 2);
  if (!scatters.empty()) page.say("scatter", scatters.front(), 2);
}

struct Moves {
  const NodeRecord* node = nullptr;
  std::vector<const DecisionRecord*> list;
  /// The largest of the moves that stayed; 0 where none did.
  double forecast() const {
    double largest = 0;
    for (const DecisionRecord* move : list) {
      if (move->outcome != Outcome::undone) largest = std::max(largest, move->forecast_gain);
    }
    return largest;
  }
  /// " (forecast: 9.1 % less time)", "" where none is known. Each was made for the loads of its time: they do not add
  /// up.
  std::string forecasts() const {
    const auto stayed = std::ranges::count_if(list, [](auto* move) { return move->outcome != Outcome::undone; });
    if (!(forecast() > 0)) return "";
    if (stayed == 1) return fmt::format(" (forecast: {} less time)", percent(forecast(), 1));
    return fmt::format(" (forecast: at most {} less time each)", percent(forecast(), 1));
  }
};

std::vector<Moves> moves_by_node(const RunRecord& record) {
  std::map<int, Moves> by_node;
  for (const DecisionRecord& decision : record.decisions) {
    if (is_move(decision.outcome)) by_node[decision.node].list.push_back(&decision);
  }
  std::vector<Moves> all;
  for (auto& [index, moves] : by_node) {
    for (const NodeRecord& node : record.nodes) {
      if (node.index == index) moves.node = &node;
    }
    all.push_back(std::move(moves));
  }
  return all;
}

/// "threads 6 each -> 9,7,7,6,6,5,4,4 (forecast: 22.1 % less time)" on one node.
std::string threads_on(const RunRecord& record, const Moves& moves) {
  const int node = moves.list.front()->node;
  std::vector<int> before;
  std::vector<int> after;
  for (const RankRecord& rank : record.ranks) {
    if (rank.node != node) continue;
    before.push_back(rank.threads_at_start);
    after.push_back(rank.threads_at_end);
  }
  if (before == after) return "threads are back at " + counts(before);
  return fmt::format("threads {} -> {}{}", counts(before), counts(after), moves.forecasts());
}

void say_moves(const RunRecord& record, const std::vector<Moves>& all, Page& page) {
  std::vector<const DecisionRecord*> moves;
  for (const Moves& on_node : all) moves.insert(moves.end(), on_node.list.begin(), on_node.list.end());
  const auto [first, last] =
      std::minmax_element(moves.begin(), moves.end(), [](auto a, auto b) { return a->time < b->time; });
  const std::string when = moves.size() == 1 ? "once, at " + duration((*first)->time)
                                             : fmt::format("{} times, from {} to {}", moves.size(),
                                                           duration((*first)->time), duration((*last)->time));
  const Moves& main = *std::max_element(all.begin(), all.end(),
                                        [](const Moves& a, const Moves& b) { return a.forecast() < b.forecast(); });
  std::string where;
  if (all.size() > 1) where = fmt::format(" on {} of {} nodes", all.size(), record.nodes.size());
  if (record.nodes.size() > 1 && main.node != nullptr) {
    where += fmt::format("{} node {}", all.size() > 1 ? "; most on" : " on", main.node->index);
  }
  page.say("moved", fmt::format("cores, {}{}: {}", when, where, threads_on(record, main)), 2);

  const DecisionRecord* undone = nullptr;
  long undone_count = 0;
  for (const DecisionRecord* move : moves) {
    if (move->outcome != Outcome::undone) continue;
    undone = move;
    ++undone_count;
  }
  if (undone == nullptr) return;
  const std::string which =
      moves.size() == 1 ? "the move" : fmt::format("{} of {} moves; the last of them", undone_count, moves.size());
  if (undone->measured_low == 0 && undone->measured_high == 0) {
    page.say("reverted", which + " before it could be measured, as the loads had changed again", 2);
    return;
  }
  page.say("reverted",
           fmt::format("{} gained {} ({}); {} was forecast", which, percent(undone->measured_gain, 1),
                       confidence_interval(record, undone->measured_low, undone->measured_high),
                       percent(undone->forecast_gain, 1)),
           2);
}

struct Gain {
  const NodeRecord* node;
  double value, low, high;
};

/// From the iteration times before the first move and after the last one.
std::vector<Gain> gains_of(const std::vector<Moves>& all) {
  std::vector<Gain> gains;
  for (const Moves& moves : all) {
    const NodeRecord* n = moves.node;
    if (n == nullptr || !(n->phase_before > 0) || !(n->phase_after > 0)) continue;
    const double rest = n->phase_after / n->phase_before;
    const double half_width = rest * std::hypot((n->phase_before_high - n->phase_before_low) / 2 / n->phase_before,
                                                (n->phase_after_high - n->phase_after_low) / 2 / n->phase_after);
    gains.push_back({n, 1 - rest, 1 - rest - half_width, 1 - rest + half_width});
  }
  std::sort(gains.begin(), gains.end(), [](const Gain& a, const Gain& b) { return a.value < b.value; });
  return gains;
}

void say_gain(const RunRecord& record, const std::vector<Moves>& all, Page& page) {
  const auto all_undone = [](const Moves& moves) {
    return std::all_of(moves.list.begin(), moves.list.end(),
                       [](auto move) { return move->outcome == Outcome::undone; });
  };
  if (std::all_of(all.begin(), all.end(), all_undone)) return;
  const std::vector<Gain> gains = gains_of(all);
  if (gains.empty()) {
    page.say("gain", "not known: no equal steps before and after the moves could be compared", 1);
    return;
  }
  const Gain& best = gains.back();
  if (gains.size() > 1) {
    page.say("gain",
             fmt::format("{} less time ({}) a step on node {}, the largest gain; {} on node {}, the smallest",
                         percent(best.value, 1), confidence_interval(record, best.low, best.high), best.node->index,
                         percent(gains.front().value, 1), gains.front().node->index),
             2);
    return;
  }
  const std::string lengths =
      fmt::format("a step takes {} instead of {}", duration(best.node->phase_after), duration(best.node->phase_before));
  if (!excludes_zero(best.low, best.high)) {
    page.say("gain",
             fmt::format("no statistically significant change: {} ({}); {}", percent(best.value, 1),
                         confidence_interval(record, best.low, best.high), lengths),
             2);
    return;
  }
  const bool less = best.value > 0;
  page.say(less ? "gain" : "loss",
           fmt::format("{} {} time ({}): {}", percent(std::abs(best.value), 1), less ? "less" : "more",
                       less ? confidence_interval(record, best.low, best.high)
                            : confidence_interval(record, -best.high, -best.low),
                       lengths),
           2);
}

bool iterations_moved(const RunRecord& record) {
  return std::ranges::any_of(record.loops, [](const LoopRecord& l) { return l.stolen > 0; });
}

/// One line for each reason, the one with the most nodes first.
void say_what_stayed(const RunRecord& record, const std::vector<Moves>& all, std::size_t most, Page& page) {
  std::map<std::string, std::vector<int>> nodes_by_reason;
  for (const NodeRecord& node : record.nodes) {
    const bool moved = std::any_of(all.begin(), all.end(), [&](const Moves& m) { return m.node == &node; });
    if (moved) continue;
    const std::string silent = node.ranks == 1 ? kOneRank : "no reason was recorded";
    nodes_by_reason[node.nothing_moved.empty() ? silent : node.nothing_moved].push_back(node.index);
  }
  std::vector<std::pair<std::string, std::vector<int>>> reasons(nodes_by_reason.begin(), nodes_by_reason.end());
  std::stable_sort(reasons.begin(), reasons.end(), [](auto& a, auto& b) { return a.second.size() > b.second.size(); });
  std::size_t nodes_left = 0;
  for (const auto& [reason, nodes] : reasons) nodes_left += nodes.size();
  const std::string_view what = iterations_moved(record) ? "no core" : "nothing";
  for (std::size_t i = 0; i < reasons.size() && i < most; ++i) {
    const auto& [reason, nodes] = reasons[i];
    std::string where = record.nodes.size() > 1 ? " on " + numbered("node", nodes) : "";
    if (i + 1 == most && i + 1 < reasons.size())
      where = fmt::format(" on {} nodes, such as node {}", nodes_left, nodes[0]);
    page.say("moved", fmt::format("{}{}: {}", what, where, reason), 4);
    nodes_left -= nodes.size();
  }
}

void say_loops(const RunRecord& record, Page& page) {
  long taken = 0;
  double time = 0, stolen = 0, idle = 0;
  for (const LoopRecord& loop : record.loops) {
    if (loop.strategy == "runtime") continue;
    ++taken;
    time += loop.time;
    stolen += loop.time * loop.stolen;
    idle += loop.time * loop.idle;
  }
  if (!(stolen > record.thresholds.stolen_share * time)) return;
  page.say(
      "moved",
      fmt::format("iterations: {} of those of {}; threads were idle {} of their time in {}", percent(stolen / time, 1),
                  plural(taken, "loop"), percent(idle / time, 1), taken == 1 ? "it" : "them"),
      1);
}

/// By measured work: tasks that took longer for company count as work.
void say_tasks(const RunRecord& record, Page& page) {
  if (record.tasks.empty()) return;
  TasksRecord sum;
  for (const TasksRecord& rank : record.tasks) sum += rank;
  const double busy = sum.run_seconds > 0 ? 100 * sum.busy_seconds / sum.run_seconds : 0;
  page.say("tasks",
           fmt::format("{} executed, {} taken from other threads of the same node, {} from other nodes; at most {} "
                       "connections a rank; {:.0f} % of the time in runs was spent in tasks",
                       sum.executed, sum.stolen_local, sum.stolen_remote, sum.connections, busy),
           2);
}

/// At most three of those that the program has named.
void say_regions(const RunRecord& record, Page& page) {
  for (const std::string& line : region_lines(record, 3)) page.say("region", line, 2);
  for (const std::string& line : other_region_lines(record)) page.say("regions", line, 1);
}

void say_notes(const RunRecord& record, Page& page) {
  std::vector<std::string> notes = record.remarks;
  std::map<std::string, std::vector<int>> fixed;
  for (const RankRecord& rank : record.ranks) {
    if (!rank.fixed_reason.empty()) fixed[rank.fixed_reason].push_back(rank.rank);
  }
  for (const auto& [reason, ranks] : fixed) {
    if (!is_remarked(record, ranks, reason)) notes.push_back(fmt::format("{}: {}", rank_list(ranks), reason));
  }
  // A note is told whole, with what it advises, or not at all.
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const std::size_t left = notes.size() - i;
    if (page.lines_for("note", notes[i]) + (left > 1 ? 1 : 0) > page.room()) {
      page.say("note", plural(static_cast<long>(left), "more remark") + ": see `steelyard report --full`", 1);
      return;
    }
    page.say("note", notes[i], page.room());
  }
}

}  // namespace

std::vector<std::string> summary(const RunRecord& record, const std::string& path) {
  Page page(kMostLines - (path.empty() ? 1 : 2));  // the last two lines: below
  const Totals sum = sum_of(record);
  say_header(record, page);
  if (say_what_was_missed(record, sum, page)) {
    const std::vector<Moves> moves = moves_by_node(record);
    say_efficiency(record, sum, page);
    if (const std::string text = contention(record); !text.empty()) page.say("WARNING", text, 2);
    say_waits(record, page);
    say_gpu_waits(record, page);
    say_over_board(record, &RankRecord::broadcasts, "broadcast", "bcast", page);
    say_over_board(record, &RankRecord::scatters, "scatter", "scatter", page);
    say_left_broadcasts(record, page);
    for (const std::string& text : plans_by_soga(record)) page.say("tree", text, 2);
    if (!moves.empty()) {
      say_moves(record, moves, page);
      say_gain(record, moves, page);
    }
    say_what_stayed(record, moves, moves.empty() ? 2 : 1, page);
    if (const std::string text = yielded(record); !text.empty()) page.say("yielded", text, 1);
    say_lending(record, sum, moves.empty(), page);
    say_loops(record, page);
  }
  for (const std::string& line : phase_lines(record, 2)) page.say("phase", line, 3);
  say_tasks(record, page);
  say_regions(record, page);
  say_notes(record, page);
  if (page.cut()) page.lines.emplace_back("  note      more: see `steelyard report --full`");
  if (!path.empty()) page.lines.push_back("  record    " + path);
  return page.lines;
}

}  // namespace steelyard::observe
