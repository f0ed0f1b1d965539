// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cmath>
#include <concepts>

#include "observe/record.h"

// The members of the run record in the order in which they are written. fields() lists those of one struct once: what
// writes the record and what reads it (record_json.cpp) pass themselves as `io`.
namespace steelyard::observe {

template <class T, class Struct>
concept Is = std::same_as<std::remove_const_t<T>, Struct>;

void fields(auto& io, Is<Totals> auto& t) {
  for (const TotalsField& field : kTotalsFields) {
    if (field.later) {
      io.optional(field.name, t.*field.value, t.*field.value != 0);
    } else {
      io(field.name, t.*field.value);
    }
  }
}

void fields(auto& io, Is<Metrics> auto& m) {
  io("parallel", m.parallel);
  io("mpi", m.mpi);
  io("load_balance", m.load_balance);
  io("load_balance_in", m.load_balance_in);
  io("load_balance_out", m.load_balance_out);
  io("communication", m.communication);
  io("openmp", m.openmp);
  io("omp_load_balance", m.omp_load_balance);
  io("omp_scheduling", m.omp_scheduling);
  io("omp_serialisation", m.omp_serialisation);
  io.optional("gpu", m.gpu, m.gpu < 1);
}

void fields(auto& io, Is<Sample> auto& s) {
  io("start", s.start);
  io("end", s.end);
  io("useful", s.useful);
  io("omp_wait", s.omp_wait);
  io("mpi_wait", s.mpi_wait);
  io("threads", s.threads);
}

void fields(auto& io, Is<PackedTimeline> auto& p) {
  io("samples", p.samples);
  io("start", p.start);
  io("length", p.length);
  io("useful", p.useful);
  io("omp_wait", p.omp_wait);
  io("mpi_wait", p.mpi_wait);
  io.optional("lent", p.lent, !p.lent.empty());
  io.optional("quiesced", p.quiesced, !p.quiesced.empty());
  io.optional("gpu_wait", p.gpu_wait, !p.gpu_wait.empty());
  io("threads", p.threads);
}

void fields(auto& io, Is<Broadcasts> auto& b) {
  io("calls", b.calls);
  io("shared", b.shared);
  io("tree", b.tree);
  io("library", b.library);
  io("late", b.late);
  io("behind", b.behind);
  const bool compared = b.shared_looks + b.library_looks > 0;
  io.optional("shared_looks", b.shared_looks, compared);
  io.optional("shared_wait", b.shared_wait, compared);
  io.bounds("shared", "shared_noise", b.shared_wait, b.shared_low, b.shared_high, compared);
  io.optional("library_looks", b.library_looks, compared);
  io.optional("library_wait", b.library_wait, compared);
  io.bounds("library", "library_noise", b.library_wait, b.library_low, b.library_high, compared);
  for (const LeftField& field : kLeftFields) io.optional(field.name, b.*field.count, b.*field.count != 0);
}

void fields(auto& io, Is<Tree> auto& t) {
  io("first", t.first);
  io("last", t.last);
  io.optional("optimiser", t.optimiser, t.optimiser >= 0);
  io.optional("broadcasts", t.broadcasts, t.optimiser >= 0);
  io.optional("plans", t.plans, t.optimiser >= 0);
  io.optional("changes", t.changes, t.optimiser >= 0);
}

void fields(auto& io, Is<RankRecord> auto& r) {
  io("rank", r.rank);
  io("node", r.node);
  io("pid", r.pid);
  io("openmp", r.openmp);
  io("threads_at_start", r.threads_at_start);
  io("threads_at_end", r.threads_at_end);
  io("thread_ceiling", r.thread_ceiling);
  io("fixed_reason", r.fixed_reason);
  io("totals_ns", r.totals);
  io("waited_for", r.waited_for);
  io("timeline", r.timeline);
  io.optional("broadcasts", r.broadcasts, r.broadcasts.calls > 0);
  io.optional("scatters", r.scatters, r.scatters.calls > 0);
  io.optional("cpu", r.cpu, r.cpu > 0);
  io.optional("run_delay", r.run_delay, r.run_delay >= 0);
  io.former("preempted");
  io.optional("throttled", r.throttled, r.throttled > 0);
  io.optional("threads_used", r.threads_used, r.threads_used > 0);
  io.optional("paused", r.paused, r.paused > 0);
}

void fields(auto& io, Is<DecisionRecord> auto& d) {
  io("time", d.time);
  io("node", d.node);
  io("capability", d.capability);
  io("what", d.what);
  io("why", d.reason);
  io("forecast_gain", d.forecast_gain);
  io.bounds("forecast", "noise", d.forecast_gain, d.forecast_low, d.forecast_high);
  io("cost", d.cost);
  io("outcome", d.outcome);
  io("measured_gain", d.measured_gain);
  io.bounds("measured", "measured_noise", d.measured_gain, d.measured_low, d.measured_high);
  io("repeats", d.repeats);
}

void fields(auto& io, Is<NodeRecord> auto& n) {
  io("index", n.index);
  io("host", n.host);
  io("ranks", n.ranks);
  io("cores", n.cores);
  io("topology", n.topology);
  io("emulated", n.emulated);
  io("phase_source", n.phase_source);
  io("phases", n.phases);
  io("phase_before", n.phase_before);
  io.bounds("phase_before", "phase_before_noise", n.phase_before, n.phase_before_low, n.phase_before_high);
  io("phase_after", n.phase_after);
  io.bounds("phase_after", "phase_after_noise", n.phase_after, n.phase_after_low, n.phase_after_high);
  io("nothing_moved", n.nothing_moved);
  io.optional("oversubscribed", n.oversubscribed, !n.oversubscribed.empty());
}

void fields(auto& io, Is<LoopRecord> auto& l) {
  io("site", l.site);
  io("ranks", l.ranks);
  io("executions", l.executions);
  io("iterations", l.iterations);
  io("threads", l.threads);
  io("strategy", l.strategy);
  io("why", l.reason);
  io("time", l.time);
  io("idle", l.idle);
  io("stolen", l.stolen);
  io.optional("against", l.against, !l.against.empty());
  io.optional("gain", l.gain, !l.against.empty());
  io.bounds("gain", "gain_noise", l.gain, l.gain_low, l.gain_high, !l.against.empty());
}

void fields(auto& io, Is<KeptRegion> auto& k) {
  io("site", k.site);
  io("function", k.function);
  io.optional("repeats_work", k.repeats_work, k.repeats_work);
  io("ranks", k.ranks);
  io("time", k.time);
}

void fields(auto& io, Is<OtherRegion> auto& r) {
  io("site", r.site);
  io("function", r.function);
  io("nested", r.nested);
  io("ranks", r.ranks);
  io("executions", r.executions);
  io("threads", r.threads);
  io("time", r.time);
  io("useful", r.useful);
  io("imbalance", r.imbalance);
}

void fields(auto& io, Is<RegionRank> auto& r) {
  io("rank", r.rank);
  io("count", r.count);
  io("totals_ns", r.totals);
}

void fields(auto& io, Is<RegionRecord> auto& r) {
  io("name", r.name);
  io("wall", r.wall);
  io("metrics", r.metrics);
  io("ranks", r.ranks);
}

void fields(auto& io, Is<PhaseConfiguration> auto& c) {
  io("resource", c.resource);
  io("max_per_resource", c.max_per_resource);
  io("processes", c.processes);
  io("threads", c.threads);
  io("seconds", c.seconds);
  const bool compared = std::isfinite(c.gain_low) && std::isfinite(c.gain_high);
  io.optional("gain", c.gain, compared);
  io.optional("gain_low", c.gain_low, compared);
  io.optional("gain_high", c.gain_high, compared);
}

void fields(auto& io, Is<PhaseRecord> auto& p) {
  io("rank", p.rank);
  io("node", p.node);
  io("number", p.number);
  io("processes", p.processes);
  io("created", p.created);
  io("autotuned", p.autotuned);
  io("runs", p.runs);
  io("seconds", p.seconds);
  io("best", p.best);
  io("configurations", p.configurations);
}

void fields(auto& io, Is<TasksRecord> auto& t) {
  io("rank", t.rank);
  io("runs", t.runs);
  io("spawned", t.spawned);
  io("executed", t.executed);
  io.renamed("stolen_local", "stolen_here", t.stolen_local);
  io.renamed("stolen_remote", "stolen_far", t.stolen_remote);
  io("results_sent", t.results_sent);
  io("hops", t.hops);
  io("messages", t.messages);
  io("connections", t.connections);
  io("degree", t.degree);
  io.renamed("busy_seconds", "busy", t.busy_seconds);
  io.renamed("run_seconds", "inside", t.run_seconds);
  io.optional("transport", t.transport, !t.transport.empty());
}

void fields(auto& io, Is<SlurmRecord> auto& s) {
  io("job", s.job);
  io("step", s.step);
  io("node_list", s.node_list);
}

void fields(auto& io, Is<Thresholds> auto& t) {
  io("mpi_share", t.mpi_share);
  io("known_wait_share", t.known_wait_share);
  io("critical_wait_share", t.critical_wait_share);
  io("critical_ranks", t.critical_ranks);
  io("judged_wall", t.judged_wall);
  io.optional("run_delay", t.run_delay, true);  // older records lack both
  io.optional("run_delay_lending", t.run_delay_lending, true);
  io.former("core_share");
  io.former("preemptions");
  io.former("many_preemptions");
  io("borrowed_cores", t.borrowed_cores);
  io("printed_core_time", t.printed_core_time);
  io("stolen_share", t.stolen_share);
  io("late_share", t.late_share);
  io("late_ratio", t.late_ratio);
  io("described_trees", t.described_trees);
}

void fields(auto& io, Is<RunRecord> auto& r) {
  io("schema", r.schema);
  io("version", r.version);
  io("started", r.started);
  io("command", r.command);
  io("options", r.options);
  io("mpi", r.mpi);
  io("openmp", r.openmp);
  io.optional("openmp_tool", r.openmp_tool, !r.openmp_tool.empty());
  io("instrument", r.instrument);
  io.optional("slurm", r.slurm, !r.slurm.job.empty());
  io("intercepted", r.intercepted);
  io("remarks", r.remarks);
  io("wall", r.wall);
  io("metrics", r.metrics);
  io.optional("thresholds", r.thresholds, true);  // older records lack it
  io("nodes", r.nodes);
  io("decisions", r.decisions);
  io.optional("loops", r.loops, true);  // older records lack it
  io.optional("kept_regions", r.kept_regions, !r.kept_regions.empty());
  io.optional("other_regions", r.other_regions, !r.other_regions.empty());
  io("ranks", r.ranks);
  io.optional("regions", r.regions, !r.regions.empty());
  io.optional("phases", r.phases, !r.phases.empty());
  io.optional("tasks", r.tasks, !r.tasks.empty());
  io.optional("trees", r.trees, !r.trees.empty());
}

void fields(auto& io, Is<Contribution> auto& c) {
  io("rank", c.rank);
  io("node", c.node);
  io("decisions", c.decisions);
  io("loops", c.loops);
  io.optional("kept_regions", c.kept_regions, !c.kept_regions.empty());
  io.optional("other_regions", c.other_regions, !c.other_regions.empty());
  io.optional("regions", c.regions, !c.regions.empty());
  io("intercepted", c.intercepted);
  io("remarks", c.remarks);
  io.optional("phases", c.phases, !c.phases.empty());
  io.optional("tasks", c.tasks, !c.tasks.empty());
  io.optional("trees", c.trees, !c.trees.empty());
  io.optional("borrowed_from", c.borrowed_from, !c.borrowed_from.empty());
}

}  // namespace steelyard::observe
