// SPDX-License-Identifier: BSD-3-Clause
#include "cli/change_cores.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <thread>

#include "base/log.h"
#include "cores/resize.h"
#include "observe/text.h"

namespace steelyard::cli {
namespace {

using observe::LiveJob;
using observe::LiveView;

// Format: exit status.
constexpr int kRefused = 1, kWrongUsage = 2, kPending = 3;

int refuse(const std::string& sentence, int status = kRefused) {
  base::say(sentence);
  return status;
}

std::string cpus_text(const node::CpuSet& cpus) {
  return fmt::format("CPU{} {}", cpus.count() == 1 ? "" : "s", to_text(cpus));
}

node::CpuSet cpus_of_process(const LiveView& job, std::size_t process) {
  return job.cpus_of(LiveJob::kFirstProcess + static_cast<int>(process));
}

std::vector<cores::Claim> claims_of(const LiveView& job) {
  std::vector<cores::Claim> claims;
  for (std::size_t p = 0; p < job.processes.size(); ++p)
    claims.push_back({.cores = cpus_of_process(job, p).count(), .fixed = job.processes[p].fixed});
  return claims;
}

/// Takes cores one by one from the rank that has most.
WantedCpus without(const LiveView& job, int count) {
  std::vector<std::vector<int>> cpus;
  int spare = 0;
  for (std::size_t p = 0; p < job.processes.size(); ++p) {
    cpus.push_back(job.processes[p].fixed ? std::vector<int>{} : cpus_of_process(job, p).cpus());
    spare += std::max(0, static_cast<int>(cpus.back().size()) - 1);
  }
  const node::CpuSet owned = job.owned();
  if (spare < count)
    return {{}, fmt::format("--shrink={}: {}", count, cores::too_few_reason(claims_of(job), owned.count() - count))};
  node::CpuSet taken;
  for (int n = 0; n < count; ++n) {
    auto& largest =
        *std::max_element(cpus.rbegin(), cpus.rend(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
    taken.add(largest.back());
    largest.pop_back();
  }
  return {owned - taken, ""};
}

/// Adds cores that were taken from the job before, then those that no rank has used yet.
WantedCpus with_more(const LiveView& job, int count) {
  const node::CpuSet owned = job.owned();
  WantedCpus wanted{owned, ""};
  for (const int owner : {LiveJob::kWithdrawn, LiveJob::kFree}) {
    for (const int cpu : job.cpus_of(owner).cpus()) {
      if (wanted.cpus.count() < owned.count() + count) wanted.cpus.add(cpu);
    }
  }
  const int found = wanted.cpus.count() - owned.count();
  if (found == count) return wanted;
  if (found == 0)
    return {{},
            fmt::format("--grow={}: the job already has all cores that the launcher gave it on this node ({})", count,
                        cpus_text(owned))};
  return {{},
          fmt::format("--grow={0}: the job has {1} on this node ({2}): use --grow={3} at most", count,
                      observe::plural(found, "more core"), cpus_text(wanted.cpus - owned), found)};
}

/// "--shrink=2"
std::string request_of(const CoresForm& form) {
  if (!form.set.empty()) return "--set=" + form.set;
  return form.shrink > 0 ? fmt::format("--shrink={}", form.shrink) : fmt::format("--grow={}", form.grow);
}

std::string name_of(const LiveView& job) {
  return fmt::format("{}{} (PID {})", job.batch_job.empty() ? "" : "job " + job.batch_job + ", ", job.command,
                     job.processes.front().pid);
}

/// The process that started this one; 0 where that is not known.
int parent_of(int process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("PPid:")) return std::atoi(line.c_str() + std::strlen("PPid:"));
  }
  return 0;
}

bool is_meant(const LiveView& job, const std::string& word) {
  // PBS calls a job 81.server.
  if (!job.batch_job.empty() && job.batch_job == word.substr(0, word.find('.'))) return true;
  if (word.find_first_not_of("0123456789") != std::string::npos) return false;
  const int wanted = std::atoi(word.c_str());
  for (const auto& process : job.processes) {
    for (int pid = process.pid; pid > 1; pid = parent_of(pid)) {
      if (pid == wanted) return true;
    }
  }
  return false;
}

/// The segment of a job, for a request.
class Segment {
 public:
  explicit Segment(const RunningJob& job) : file_(open_segment(job.file, job.owner, O_RDWR)) {}
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment() {
    if (file_ >= 0) close(file_);
  }
  /// False if this is no job that this version understands, or not any more.
  bool read(LiveView& view) const { return file_ >= 0 && observe::read_live(file_, view) == observe::Found::job; }
  std::optional<observe::LiveAnswer> answer() const { return observe::read_answer(file_); }
  /// Writes the request. Returns 0 or errno: EWOULDBLOCK while another command is writing one.
  int ask(const node::CpuSet& cpus, std::uint32_t& number) const {
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) return errno;
    errno = 0;
    const auto written = observe::ask_live(file_, cpus, geteuid());
    const int error = written ? 0 : errno != 0 ? errno : EIO;  // errno is 0 where the file is too short
    flock(file_, LOCK_UN);
    number = written.value_or(0);
    return error;
  }

 private:
  int file_;
};

using Clock = std::chrono::steady_clock;

/// Until then, or until the condition holds.
bool wait_until(Clock::time_point end, const std::function<bool()>& condition) {
  while (!condition()) {
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // far below what a person notices
  }
  return true;
}

int change(const RunningJob& job, const CoresForm& form) {
  const Segment segment(job);
  LiveView view;
  if (!segment.read(view)) return refuse(fmt::format("{}: it has ended", name_of(job.view)));
  const WantedCpus wanted = wanted_cpus(view, form);
  if (!wanted.refusal.empty()) return refuse(wanted.refusal);
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(form.wait));
  std::uint32_t number = 0;
  int error = 0;
  wait_until(end, [&] {
    error = segment.ask(wanted.cpus, number);
    return error != EWOULDBLOCK || !segment.read(view);
  });
  if (error != 0 && !segment.read(view))
    return refuse(fmt::format("{} has ended before the request was written", name_of(view)));
  if (error == EWOULDBLOCK)
    return refuse(fmt::format("another `steelyard cores` is writing a request for {}: try again", name_of(view)));
  if (error != 0) return refuse(fmt::format("cannot write the request to {}: {}", job.file, std::strerror(error)));

  observe::LiveAnswer answer;
  const auto since = [&] {
    answer = segment.answer().value_or(answer);
    return static_cast<std::int32_t>(answer.number - number);
  };
  const auto ended = [&] { return !segment.read(view) || view.finished(); };
  if (!wait_until(end, [&] { return since() >= 0 || ended(); })) {
    return refuse(fmt::format("the request for {} takes effect at the job's next region or blocking MPI call, which "
                              "did not come within {} s",
                              cpus_text(wanted.cpus), form.wait),
                  kPending);
  }
  if (since() > 0) return refuse("another request for cores of this job came after this one");
  if (since() < 0) return refuse(fmt::format("{} has ended before it changed its cores", name_of(view)));
  if (!answer.refusal.empty()) return refuse(answer.refusal);
  const bool released = wait_until(end, [&] { return ended() || view.unreleased == 0; });
  fmt::print("{}", cores_as_text(view));
  if (!released)
    return refuse(
        fmt::format("{} of the CPUs are still in use, until the next region or blocking MPI call of the ranks "
                    "that use them",
                    view.unreleased),
        kPending);
  return 0;
}

/// One job after the other. "none" if there is none.
std::string names_of(const std::vector<RunningJob>& jobs) {
  std::string names;
  for (const RunningJob& job : jobs) names += (names.empty() ? "" : "; ") + name_of(job.view);
  return names.empty() ? "none" : names;
}

/// What is wrong with the text of a number of this type that must not be below `least`; "" if it is one.
template <typename Number>
std::string not_a_number(const std::string& text, Number least, std::string_view what) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool valid = error == std::errc() && end == text.data() + text.size() && value >= least &&
                     value <= std::numeric_limits<int>::max();
  return valid ? "" : fmt::format("'{}' is no {}", text, what);
}

}  // namespace

WantedCpus wanted_cpus(const LiveView& job, const CoresForm& form) {
  if (!job.resizable) return {{}, fmt::format("the cores of {} cannot change: {}", name_of(job), job.immovable_reason)};
  if (form.shrink > 0) return without(job, form.shrink);
  if (form.grow > 0) return with_more(job, form.grow);
  const node::CpuSet set = node::CpuSet::parse(form.set).value_or(node::CpuSet());
  const node::CpuSet usable = job.owned() | job.cpus_of(LiveJob::kFree) | job.cpus_of(LiveJob::kWithdrawn);
  const node::CpuSet all = usable | job.cpus_of(LiveJob::kSibling);
  if (const node::CpuSet outside = set - all; !outside.empty()) {
    return {
        {},
        fmt::format("--set={}: {} not among the CPUs that the launcher gave the job on this node ({}): leave {} out",
                    form.set, cpus_text(outside) + (outside.count() == 1 ? " is" : " are"), to_text(all),
                    outside.count() == 1 ? "it" : "them")};
  }
  const node::CpuSet cpus = set & usable;
  if (const std::string reason = cores::too_few_reason(claims_of(job), cpus.count()); !reason.empty())
    return {{}, fmt::format("--set={}: {}", form.set, reason)};
  return {cpus, ""};
}

std::string cores_as_text(const LiveView& job) {
  std::string out = fmt::format("{}\n  node {} of {} ({}), {} on {}\n", name_of(job), job.node, job.nodes, job.host,
                                observe::plural(static_cast<int>(job.processes.size()), "rank"),
                                observe::plural(job.resizable ? job.owned().count() : job.cores, "core"));
  observe::Table table({"rank", "pid", "cores", "CPUs", "may change"});
  for (std::size_t p = 0; p < job.processes.size(); ++p) {
    const node::CpuSet cpus = cpus_of_process(job, p);
    const auto& process = job.processes[p];
    table.add({fmt::format("{}", process.rank), fmt::format("{}", process.pid),
               fmt::format("{}", cpus.empty() ? process.cores : cpus.count()), cpus.empty() ? "-" : to_text(cpus),
               job.resizable && !process.fixed ? "yes" : "no"});
  }
  out += table.text();
  if (const auto free = job.cpus_of(LiveJob::kFree); !free.empty())
    out += fmt::format("  of no rank: {}\n", cpus_text(free));
  if (const auto withdrawn = job.cpus_of(LiveJob::kWithdrawn); !withdrawn.empty())
    out += fmt::format("  taken from the job: {}\n", cpus_text(withdrawn));
  if (!job.resizable) out += fmt::format("  cannot change: {}\n", job.immovable_reason);
  return out;
}

CoresWords::CoresWords(CLI::App& command) {
  command.add_option("job", form_.job, "A batch job, or the PID of a process of the job or of its launcher.")
      ->type_name("PID|JOB");
  auto* set =
      command.add_option("--set", form_.set, "Let the job use these CPUs alone, such as 0-3,8.")->type_name("LIST");
  auto* shrink =
      command.add_option("--shrink", form_.shrink, "Take this number of cores from the job.")->type_name("N");
  auto* grow = command.add_option("--grow", form_.grow, "Give the job this number of cores more.")->type_name("N");
  const auto cores = [](const std::string& text) { return not_a_number(text, 1, "number of cores, such as 2"); };
  shrink->check(cores)->excludes(set);
  grow->check(cores)->excludes(set)->excludes(shrink);
  set->check([](const std::string& list) {
    const auto cpus = node::CpuSet::parse(list);
    return cpus && !cpus->empty() ? "" : fmt::format("{} is no list of CPUs, such as 0-3,8", list);
  });
  command.add_option("--wait", form_.wait, "Wait at most this long until the request has taken effect.")
      ->type_name("SECONDS")
      ->capture_default_str()
      ->check([](const std::string& text) { return not_a_number(text, 0.0, "number of seconds, such as 2.5"); });
}

int CoresWords::carry_out() const {
  int others = 0;
  const int status = carry_out(find_running_jobs(others));
  if (others > 0) base::say(of_other_versions(others));
  return status;
}

int CoresWords::carry_out(std::vector<RunningJob> jobs) const {
  if (form_.job.empty() && form_.changes()) {
    return refuse(fmt::format("which job? Name it by a batch job or the PID of one of its processes: `steelyard cores "
                              "{} {}`; running here: {}",
                              jobs.size() == 1 ? std::to_string(jobs[0].view.processes.front().pid) : "PID",
                              request_of(form_), names_of(jobs)),
                  kWrongUsage);
  }
  if (!form_.job.empty()) std::erase_if(jobs, [this](const RunningJob& job) { return !is_meant(job.view, form_.job); });
  if (jobs.empty()) {
    return refuse(
        form_.job.empty()
            ? "no job of yours runs under Steelyard on this node"
            : fmt::format("no job {} of yours runs under Steelyard on this node; `steelyard cores` lists them",
                          form_.job));
  }
  if (!form_.changes()) {
    for (std::size_t n = 0; n < jobs.size(); ++n) fmt::print("{}{}", n > 0 ? "\n" : "", cores_as_text(jobs[n].view));
    return std::fflush(stdout) == 0 ? 0 : kRefused;
  }
  if (jobs.size() > 1) {
    return refuse(
        fmt::format("{} jobs are meant: name one by the PID of one of its processes: {}", jobs.size(), names_of(jobs)),
        kWrongUsage);
  }
  return change(jobs.front(), form_);
}

}  // namespace steelyard::cli
