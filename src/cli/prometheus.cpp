// SPDX-License-Identifier: BSD-3-Clause
#include "cli/prometheus.h"

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/clock.h"
#include "base/printable.h"

namespace steelyard::cli {
namespace {

using observe::LiveView;
using observe::Totals;
using Process = LiveView::Process;

/// A label's value with its quotes. In text without control characters, JSON escapes what Prometheus escapes: quotes
/// and backslashes. Bytes that are not UTF-8 would make Prometheus refuse the whole output.
std::string label_value(const std::string& text) {
  return nlohmann::json(base::printable(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Of a process of the job. Two runs of one batch job differ by the process.
std::string labels(const LiveView& job, const Process& process) {
  return fmt::format("job={},node=\"{}\",pid=\"{}\"", label_value(job.batch_job), job.node, process.pid);
}

std::string head(std::string_view name, std::string_view type, std::string_view help) {
  return fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

/// A sample for each job on this node, labelled with its first process here.
std::string of_jobs(const std::vector<LiveView>& jobs, std::string_view name, std::string_view help,
                    const std::function<double(const LiveView&)>& value) {
  std::string out = head(name, "gauge", help);
  for (const LiveView& job : jobs) {
    out += fmt::format("{}{{{}}} {}\n", name, labels(job, job.processes.front()), value(job));
  }
  return out;
}

std::string of_ranks(const std::vector<LiveView>& jobs, std::string_view name, std::string_view type,
                     std::string_view help, const std::function<double(const Process&)>& value) {
  std::string out = head(name, type, help);
  for (const LiveView& job : jobs) {
    for (const Process& process : job.processes) {
      out += fmt::format("{}{{{},rank=\"{}\"}} {}\n", name, labels(job, process), process.rank, value(process));
    }
  }
  return out;
}

struct Counter {
  std::string_view name, help;
  std::int64_t (*nanoseconds)(const Totals&);
};
constexpr Counter kCounters[] = {
    {"steelyard_rank_wall_seconds_total", "Time since MPI_Init.", [](const Totals& t) { return t.wall; }},
    {"steelyard_rank_mpi_seconds_total", "Time of the primary thread in blocking MPI calls.",
     [](const Totals& t) { return t.mpi; }},
    {"steelyard_rank_gpu_seconds_total", "Time in which the rank waited for an accelerator.",
     [](const Totals& t) { return t.gpu; }},
    {"steelyard_rank_useful_thread_seconds_total", "Thread time of computing, outside of MPI and of OpenMP's waits.",
     [](const Totals& t) { return t.useful(); }},
    {"steelyard_rank_capacity_thread_seconds_total", "Thread time that the rank could have computed.",
     [](const Totals& t) { return t.capacity; }},
    {"steelyard_rank_lent_core_seconds_total",
     "Core time offered to other ranks during waits in MPI and for accelerators.",
     [](const Totals& t) { return t.lent; }},
    {"steelyard_rank_borrowed_core_seconds_total", "Core time used of cores that belong to other ranks.",
     [](const Totals& t) { return t.borrowed; }},
};

}  // namespace

std::string jobs_as_prometheus(const std::vector<LiveView>& jobs, std::int64_t now) {
  std::string out = head("steelyard_job_info", "gauge", "A job under Steelyard; the value is 1.");
  for (const LiveView& job : jobs) {
    out += fmt::format("steelyard_job_info{{{},host={},command={},version={}}} 1\n", labels(job, job.processes.front()),
                       label_value(job.host), label_value(job.command), label_value(job.version));
  }
  out += of_jobs(jobs, "steelyard_job_seconds", "Time since MPI_Init.",
                 [&](const LiveView& job) { return base::seconds(now - job.start); });
  out += of_jobs(jobs, "steelyard_job_ranks", "Ranks of the whole job.", [](const LiveView& job) { return job.ranks; });
  out += of_jobs(jobs, "steelyard_job_cores", "Cores of the job on this node.",
                 [](const LiveView& job) { return job.cores; });
  out += of_ranks(jobs, "steelyard_rank_threads_at_start", "gauge", "OpenMP threads at MPI_Init.",
                  [](const Process& process) { return process.threads; });
  out += of_ranks(jobs, "steelyard_rank_cores", "gauge", "Cores that the rank has now, with borrowed ones.",
                  [](const Process& process) { return process.cores; });
  out += of_ranks(jobs, "steelyard_rank_borrowed_cores", "gauge", "Cores of other ranks that the rank has now.",
                  [](const Process& process) { return process.borrowed; });
  out += of_ranks(jobs, "steelyard_rank_in_mpi", "gauge", "1 while the rank is in a blocking MPI call.",
                  [](const Process& process) { return process.in_mpi ? 1 : 0; });
  for (const Counter& counter : kCounters) {
    out += of_ranks(jobs, counter.name, "counter", counter.help,
                    [&](const Process& process) { return base::seconds(counter.nanoseconds(process.totals)); });
  }
  return out;
}

}  // namespace steelyard::cli
