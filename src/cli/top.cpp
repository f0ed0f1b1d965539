// SPDX-License-Identifier: BSD-3-Clause
#include "cli/top.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/log.h"
#include "base/whole_file.h"
#include "cli/prometheus.h"
#include "observe/text.h"

namespace steelyard::cli {
namespace {

using observe::LiveView;
using observe::Totals;

/// The same job at the last look; nullptr where it is new.
const LiveView* earlier(const LiveView& job, const std::vector<LiveView>& before) {
  const auto same = std::find_if(before.begin(), before.end(), [&](const LiveView& other) {
    return other.start == job.start && other.processes.size() == job.processes.size() &&
           other.processes[0].pid == job.processes[0].pid;
  });
  return same == before.end() ? nullptr : &*same;
}

/// What was computed of what could have been; NaN where nothing is known of the time in between.
double efficiency(const Totals& part) {
  if (part.capacity <= 0) return std::nan("");
  return std::clamp(static_cast<double>(part.useful()) / static_cast<double>(part.capacity), 0.0, 1.0);
}

Totals spent(const LiveView& job, std::size_t process, const LiveView* before) {
  const Totals& now = job.processes[process].totals;
  return before != nullptr ? now - before->processes[process].totals : now;
}

std::string percent(double share) { return std::isnan(share) ? "-" : fmt::format("{:.0f} %", 100 * share); }

bool lives(int pid) { return kill(pid, 0) == 0 || errno == EPERM; }

std::string doing(const LiveView::Process& process, std::int64_t now) {
  if (process.finished) return "finished";
  if (!lives(process.pid)) return "dead";
  if (process.in_mpi) return "in MPI";
  const double quiet = base::seconds(now - process.updated);
  return process.updated > 0 && quiet > 5 ? fmt::format("computes, {:.0f} s since its last event", quiet) : "computes";
}

std::string job_as_text(const LiveView& job, const LiveView* before, std::int64_t now) {
  Totals all;
  for (std::size_t p = 0; p < job.processes.size(); ++p) all += spent(job, p, before);
  std::string out = fmt::format("{}\n  node {} of {} ({}), {} of {} ranks, {} cores, {:.0f} s, efficiency {}\n",
                                job.command, job.node, job.nodes, job.host, job.processes.size(), job.ranks, job.cores,
                                base::seconds(now - job.start), percent(efficiency(all)));
  observe::Table table({"rank", "pid", "threads", "cores now", "borrowed", "efficiency", "in MPI", "now"});
  for (std::size_t p = 0; p < job.processes.size(); ++p) {
    const LiveView::Process& process = job.processes[p];
    const Totals part = spent(job, p, before);
    const double mpi = part.wall > 0 ? static_cast<double>(part.mpi) / static_cast<double>(part.wall) : std::nan("");
    table.add({fmt::format("{}", process.rank), fmt::format("{}", process.pid), fmt::format("{}", process.threads),
               fmt::format("{}", process.cores), fmt::format("{}", process.borrowed), percent(efficiency(part)),
               percent(mpi), doing(process, now)});
  }
  out += table.text();
  if (!job.immovable_reason.empty()) out += fmt::format("  no core moves: {}\n", job.immovable_reason);
  for (const auto& decision : job.decisions) {
    const char* outcome = observe::word_of(decision.outcome);
    for (const auto& line : observe::wrapped(fmt::format("  {:8.1f} s  {:<9}  ", decision.time, outcome),
                                             decision.what + ": " + decision.reason, 110, 2))
      out += line + '\n';
  }
  return out;
}

int top_for_prometheus(const std::string& output) {
  int others = 0;
  const std::string text = jobs_as_prometheus(find_jobs(others), base::now_ns());
  if (others > 0) base::say(of_other_versions(others));
  if (output.empty()) {
    fmt::print("{}", text);
    return std::fflush(stdout) == 0 ? 0 : 1;
  }
  const int error = base::write_whole_file(output, text);
  if (error != 0) base::say(fmt::format("cannot write {}: {}", output, std::strerror(error)));
  return error == 0 ? 0 : 1;
}

}  // namespace

std::string jobs_as_text(const std::vector<LiveView>& jobs, const std::vector<LiveView>& before, std::int64_t now) {
  if (jobs.empty()) return "no job of yours runs under Steelyard on this node\n";
  std::string out;
  for (const LiveView& job : jobs) out += (out.empty() ? "" : "\n") + job_as_text(job, earlier(job, before), now);
  return out;
}

std::string jobs_as_json(const std::vector<LiveView>& jobs, const std::vector<LiveView>& before, std::int64_t now) {
  using Json = nlohmann::ordered_json;
  const auto share = [](double value) { return std::isnan(value) ? Json() : Json(std::round(value * 1e4) / 1e4); };
  Json list = Json::array();
  for (const LiveView& job : jobs) {
    const LiveView* last = earlier(job, before);
    Totals all;
    Json ranks = Json::array();
    for (std::size_t p = 0; p < job.processes.size(); ++p) {
      const LiveView::Process& process = job.processes[p];
      const Totals part = spent(job, p, last);
      all += part;
      ranks.push_back({{"rank", process.rank},
                       {"pid", process.pid},
                       {"threads_at_start", process.threads},
                       {"cores", process.cores},
                       {"borrowed", process.borrowed},
                       {"in_mpi", process.in_mpi},
                       {"finished", process.finished},
                       {"alive", lives(process.pid)},
                       {"efficiency", share(efficiency(part))},
                       {"useful", base::seconds(part.useful())},
                       {"mpi", base::seconds(part.mpi)},
                       {"wall", base::seconds(part.wall)}});
    }
    Json decisions = Json::array();
    for (const auto& decision : job.decisions) {
      decisions.push_back({{"time", decision.time},
                           {"what", decision.what},
                           {"why", decision.reason},
                           {"outcome", observe::kOutcomeNames[static_cast<int>(decision.outcome)]},
                           {"forecast_gain", decision.forecast_gain},
                           {"repeats", decision.repeats}});
    }
    list.push_back({{"command", job.command},
                    {"version", job.version},
                    {"host", job.host},
                    {"node", job.node},
                    {"nodes", job.nodes},
                    {"ranks_of_job", job.ranks},
                    {"cores", job.cores},
                    {"seconds", base::seconds(now - job.start)},
                    {"efficiency", share(efficiency(all))},
                    {"nothing_moves", job.immovable_reason},
                    {"ranks", std::move(ranks)},
                    {"decisions", std::move(decisions)}});
  }
  return Json{{"jobs", std::move(list)}}.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

int top(const TopForm& form) {
  if (form.prometheus) return top_for_prometheus(form.output);
  const auto [once, json] = std::pair(form.once, form.json);
  std::vector<LiveView> before;
  const bool screen = !once && !json && isatty(STDOUT_FILENO) != 0;
  bool idle = false;  // there was no job at the last look
  for (;;) {
    int others = 0;
    auto jobs = find_jobs(others);
    const auto now = base::now_ns();
    const auto text = json ? jobs_as_json(jobs, before, now) : jobs_as_text(jobs, before, now);
    // In a file, once is enough.
    if (screen || json || !jobs.empty() || !idle) fmt::print("{}{}", screen ? "\033[H\033[2J" : "", text);
    idle = jobs.empty();
    if (others > 0 && screen) fmt::print("{}\n", of_other_versions(others));
    std::fflush(stdout);
    if (others > 0 && !screen) base::warn_once(of_other_versions(others));
    if (once || std::ferror(stdout)) return std::ferror(stdout) ? 1 : 0;
    before = std::move(jobs);
    sleep(1);
  }
}

}  // namespace steelyard::cli
