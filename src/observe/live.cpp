// SPDX-License-Identifier: BSD-3-Clause
#include "observe/live.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "base/printable.h"

namespace steelyard::observe {
namespace {

constexpr std::size_t kProcessSize = sizeof(LiveProcess) + sizeof(node::Process);
// One for each CPU: bounds what is read of a file with a wrong count.
constexpr std::int32_t kMostProcesses = node::SharedCpuSet::kMost;

/// A job's text for a terminal: any user may have written it.
std::string text_of(const char* from, std::size_t room) {
  return base::printable(std::string_view(from, strnlen(from, room)));
}

constexpr std::size_t kRequest = offsetof(LiveJob, request);  // Format: of LiveJob

bool read_at(int file, void* to, std::size_t bytes, std::size_t from) {
  return pread(file, to, bytes, static_cast<off_t>(from)) == static_cast<ssize_t>(bytes);
}

}  // namespace

std::size_t LiveBoard::footprint(int processes) {
  return node::Segment::footprint<LiveJob>(1) +
         node::Segment::footprint<LiveProcess>(static_cast<std::size_t>(processes));
}

LiveBoard::LiveBoard(node::Segment& segment, int processes, int me)
    : job_(segment.carve<LiveJob>(1)),
      processes_(segment.carve<LiveProcess>(static_cast<std::size_t>(processes))),
      count_(processes),
      me_(me) {}

void LiveBoard::open(const LiveJob::Facts& facts) {
  job_->facts = facts;
  job_->process_size = kProcessSize;
  job_->processes = count_;
  job_->magic.store(LiveJob::kMagic, std::memory_order_release);
}

void LiveBoard::publish(const Totals& totals, std::int64_t now) {
  LiveProcess& self = mine();
  int i = 0;
  for (const TotalsField& field : kTotalsFields) self.totals[i++].store(totals.*field.value, std::memory_order_relaxed);
  self.updated.store(now, std::memory_order_relaxed);
}

Totals LiveBoard::totals(int process) const {
  Totals totals;
  int i = 0;
  for (const TotalsField& field : kTotalsFields)
    totals.*field.value = processes_[process].totals[i++].load(std::memory_order_relaxed);
  return totals;
}

void LiveBoard::publish(const std::vector<DecisionRecord>& decisions) {
  const std::uint32_t next = job_->turn.load(std::memory_order_relaxed) + 1;
  LiveJob::Page& page = job_->pages[next % 2];
  const std::size_t count = std::min<std::size_t>(decisions.size(), LiveJob::kDecisions);
  page.count = static_cast<std::int32_t>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const DecisionRecord& decision = decisions[decisions.size() - count + i];
    LiveJob::Decision& to = page.decisions[i];
    to.time = decision.time;
    to.forecast_gain = decision.forecast_gain;
    to.outcome = static_cast<std::int32_t>(decision.outcome);
    to.repeats = decision.repeats;
    copy_text(to.what, decision.what);
    copy_text(to.reason, decision.reason);
  }
  job_->turn.store(next, std::memory_order_release);
}

void LiveBoard::show_owner(int cpu, int owner) {
  if (cpu >= 0 && cpu < node::SharedCpuSet::kMost)
    job_->owner[cpu].store(static_cast<std::int16_t>(owner), std::memory_order_relaxed);
}

bool LiveBoard::asked(LiveRequest& request) const {
  const LiveJob::Request& from = job_->request;
  const std::uint32_t number = from.number.load(std::memory_order_acquire);
  if (number % 2 != 0 || number == from.answered.load(std::memory_order_relaxed)) return false;
  std::vector<std::uint64_t> words(std::begin(from.cpus), std::end(from.cpus));
  request = {number, node::CpuSet::from_words(words.data(), words.size()),
             fmt::format("user {} (steelyard cores)", from.user.load(std::memory_order_relaxed))};
  // A request that was written again while it was read is left for the next look.
  std::atomic_thread_fence(std::memory_order_acquire);
  return from.number.load(std::memory_order_relaxed) == number;
}

void LiveBoard::answer(std::uint32_t number, const std::string& refusal) {
  copy_text(job_->request.refusal, refusal);
  job_->request.answered.store(number, std::memory_order_release);
}

// Each pwrite() holds the lock of the file, so a process that has mapped it sees the words in this order.
std::optional<std::uint32_t> ask_live(int file, const node::CpuSet& cpus, unsigned user) {
  using Request = LiveJob::Request;
  std::uint32_t number = 0;
  if (!read_at(file, &number, sizeof(number), kRequest + offsetof(Request, number))) return {};
  const std::uint32_t writing = number | 1;  // odd already if a command died while it wrote
  const std::uint32_t written = writing + 1;
  std::vector<std::uint64_t> words = cpus.words();
  words.resize(node::SharedCpuSet::kMost / 64);
  const std::uint32_t asking = user;
  const auto write = [file](const void* from, std::size_t bytes, std::size_t place) {
    return pwrite(file, from, bytes, static_cast<off_t>(kRequest + place)) == static_cast<ssize_t>(bytes);
  };
  const bool done = write(&writing, sizeof(writing), offsetof(Request, number)) &&
                    write(words.data(), words.size() * sizeof(words[0]), offsetof(Request, cpus)) &&
                    write(&asking, sizeof(asking), offsetof(Request, user)) &&
                    write(&written, sizeof(written), offsetof(Request, number));
  return done ? std::optional(written) : std::nullopt;
}

std::optional<LiveAnswer> read_answer(int file) {
  LiveAnswer answer;
  char refusal[sizeof(LiveJob::Request::refusal)];
  if (!read_at(file, &answer.number, sizeof(answer.number), kRequest + offsetof(LiveJob::Request, answered)) ||
      !read_at(file, refusal, sizeof(refusal), kRequest + offsetof(LiveJob::Request, refusal)))
    return {};
  answer.refusal = text_of(refusal, sizeof(refusal));
  return answer;
}

node::CpuSet LiveView::cpus_of(int of) const {
  node::CpuSet cpus;
  for (std::size_t cpu = 0; cpu < owner.size(); ++cpu) {
    if (owner[cpu] == of) cpus.add(static_cast<int>(cpu));
  }
  return cpus;
}

node::CpuSet LiveView::owned() const {
  node::CpuSet cpus;
  for (std::size_t cpu = 0; cpu < owner.size(); ++cpu) {
    if (owner[cpu] >= LiveJob::kFirstProcess) cpus.add(static_cast<int>(cpu));
  }
  return cpus;
}

bool LiveView::finished() const {
  return std::all_of(processes.begin(), processes.end(), [](const Process& process) { return process.finished; });
}

bool read_live(const void* memory, std::size_t bytes, LiveView& view) {
  const auto* job = static_cast<const LiveJob*>(memory);
  if (bytes < sizeof(LiveJob) || job->magic.load(std::memory_order_acquire) != LiveJob::kMagic) return false;
  const std::size_t room = (bytes - sizeof(LiveJob)) / kProcessSize;
  const std::int32_t processes = job->processes;
  if (job->process_size != kProcessSize || processes < 1 || processes > kMostProcesses) return false;
  if (static_cast<std::size_t>(processes) > room) return false;
  LiveView read;
  const LiveJob::Facts& facts = job->facts;
  read.node = facts.node;
  read.nodes = facts.nodes;
  read.ranks = facts.ranks;
  read.cores = facts.cores;
  read.start = facts.start;
  read.version = text_of(facts.version, sizeof(facts.version));
  read.host = text_of(facts.host, sizeof(facts.host));
  read.batch_job = text_of(facts.batch_job, sizeof(facts.batch_job));
  read.command = text_of(facts.command, sizeof(facts.command));
  read.immovable_reason = text_of(facts.immovable_reason, sizeof(facts.immovable_reason));
  read.resizable = facts.resizable != 0;
  read.unreleased = job->unreleased.load(std::memory_order_relaxed);
  for (const auto& owner : job->owner) read.owner.push_back(owner.load(std::memory_order_relaxed));
  read.cores -= static_cast<int>(std::ranges::count(read.owner, LiveJob::kWithdrawn));
  const auto* process = reinterpret_cast<const LiveProcess*>(job + 1);
  const auto* state = reinterpret_cast<const node::Process*>(process + processes);
  for (int p = 0; p < processes; ++p, ++process, ++state) {
    LiveView::Process& to = read.processes.emplace_back();
    to.rank = process->rank.load(std::memory_order_relaxed);
    to.pid = process->pid.load(std::memory_order_relaxed);
    to.threads = process->threads.load(std::memory_order_relaxed);
    constexpr int most = node::SharedCpuSet::kMost;
    to.borrowed = std::clamp(process->borrowed.load(std::memory_order_relaxed), 0, most);
    to.cores = std::clamp(process->owned.load(std::memory_order_relaxed), 0, most) + to.borrowed;
    to.in_mpi = state->in_mpi.load(std::memory_order_relaxed) != 0;
    to.finished = state->finished.load(std::memory_order_relaxed) != 0;
    to.fixed = state->fixed.load(std::memory_order_relaxed) != 0;
    to.updated = process->updated.load(std::memory_order_relaxed);
    int i = 0;
    for (const TotalsField& field : kTotalsFields)
      to.totals.*field.value = process->totals[i++].load(std::memory_order_relaxed);
  }
  const std::uint32_t turn = job->turn.load(std::memory_order_relaxed);
  const LiveJob::Page& page = job->pages[turn % 2];
  for (int i = 0; turn > 0 && i < std::clamp(page.count, 0, LiveJob::kDecisions); ++i) {
    const LiveJob::Decision& from = page.decisions[i];
    DecisionRecord& decision = read.decisions.emplace_back();
    decision.time = from.time;
    decision.node = read.node;
    decision.capability = "cores";
    decision.forecast_gain = from.forecast_gain;
    decision.outcome =
        static_cast<Outcome>(std::clamp(from.outcome, 0, static_cast<int>(std::size(kOutcomeNames)) - 1));
    decision.repeats = from.repeats;
    decision.what = text_of(from.what, sizeof(from.what));
    decision.reason = text_of(from.reason, sizeof(from.reason));
  }
  view = std::move(read);
  return true;
}

Found read_live(int file, LiveView& view) {
  const auto read = [file](void* to, std::size_t bytes, std::size_t from) { return read_at(file, to, bytes, from); };
  struct {
    std::uint64_t magic;
    std::int32_t process_size, processes;
  } front = {};
  std::uint32_t turn = 0, later = 0;
  if (!read(&front, sizeof(front), 0) || (front.magic ^ LiveJob::kMagic) << 8 != 0) return Found::nothing;
  if (front.magic != LiveJob::kMagic || front.process_size != kProcessSize) return Found::another_version;
  if (front.processes < 1 || front.processes > kMostProcesses) return Found::nothing;

  struct alignas(LiveJob) Line {
    char bytes[alignof(LiveJob)];
  };
  static_assert(offsetof(LiveJob, processes) == offsetof(decltype(front), processes));
  static_assert(sizeof(LiveJob) % sizeof(Line) == 0 && kProcessSize % sizeof(Line) == 0);
  const std::size_t bytes = sizeof(LiveJob) + static_cast<std::size_t>(front.processes) * kProcessSize;
  std::vector<Line> copy(bytes / sizeof(Line));
  if (!read(&turn, sizeof(turn), offsetof(LiveJob, turn)) || !read(copy.data(), bytes, 0) ||
      !read(&later, sizeof(later), offsetof(LiveJob, turn)) || !read_live(copy.data(), bytes, view))
    return Found::nothing;
  if (turn != later) view.decisions.clear();  // a page that may have been written again is left for the next look
  return Found::job;
}

}  // namespace steelyard::observe
