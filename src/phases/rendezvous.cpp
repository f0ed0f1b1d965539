#include "phases/rendezvous.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/clock.h"
#include "node/binding.h"
#include "node/sleep.h"
#include "phases/cpu_set.h"

namespace steelyard::phases {
namespace {

constexpr std::int64_t kSpin = 4'000;              // ns: a meeting of processes that run is over by then
constexpr std::int64_t kYield = 100'000;           // ns: and where they have to be scheduled first, by then
constexpr int kMostAsleep = 1024;                  // meetings without a yield, where none has helped for long
constexpr std::uint32_t kWatchers = 2;             // the first to come: if one of them dies, the other sees it
constexpr std::int64_t kLookAround = 300'000'000;  // ns between two looks for the dead

struct Life {
  char state = '?';
  std::uint64_t started = 0;
};

// Fields 3 and 22 of /proc/PID/stat. The name before them may hold blanks and parentheses.
bool read_life(std::int32_t pid, Life& life) {
  char path[64], text[1024];
  std::snprintf(path, sizeof(path), "/proc/%d/stat", pid);
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return false;
  const std::size_t length = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  text[length] = '\0';
  const char* field = std::strrchr(text, ')');
  if (field == nullptr || field[1] == '\0') return false;
  field += 2;
  life.state = *field;
  for (int number = 3; number < 22 && field != nullptr; ++number) {
    field = std::strchr(field, ' ');
    if (field != nullptr) ++field;
  }
  if (field != nullptr) std::sscanf(field, "%lu", &life.started);
  return true;
}

}  // namespace

void sign(Member& member) {
  member.pid = getpid();
  Life life;
  if (read_life(member.pid, life)) member.started = life.started;
  member.pid_namespace = node::pid_namespace();
}

bool alive(const Member& member, std::uint64_t my_pid_namespace) {
  if (member.started == 0 || member.pid_namespace != my_pid_namespace) return true;
  Life life;
  if (!read_life(member.pid, life)) return false;
  return life.state != 'Z' && life.state != 'X' && life.started == member.started;
}

Rendezvous::Rendezvous(std::span<Member> members, int me, Lost lost)
    : members_(members),
      me_(me),
      crowded_(static_cast<long>(members.size()) > sysconf(_SC_NPROCESSORS_ONLN)),
      lost_(std::move(lost)) {}

Rendezvous::Arrival Rendezvous::come_to(Gate& gate) {
  auto& meetings = members_[static_cast<std::size_t>(me_)].meetings;
  meetings.store(meetings.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  const std::uint32_t before = gate.arrived.fetch_add(1, std::memory_order_acq_rel);
  if (before + 1 != members_.size()) return before < kWatchers ? Arrival::watches : Arrival::waits;
  gate.arrived.store(0, std::memory_order_relaxed);
  gate.opened_at.store(base::now_ns(), std::memory_order_relaxed);
  gate.opened_on.store(sched_getcpu(), std::memory_order_relaxed);
  gate.opened.fetch_add(1);
  if (gate.sleepers.load() != 0) node::wake_all(gate.opened);
  return Arrival::opens;
}

void Rendezvous::arrive(Gate& gate) { come_to(gate); }

void Rendezvous::meet(Gate& gate, Wait wait) {
  const std::uint32_t seen = gate.opened.load(std::memory_order_acquire);
  const Arrival arrival = come_to(gate);
  if (arrival == Arrival::opens) return;
  if (wait == Wait::asleep) {
    sleep(gate, seen, arrival);
    return leave_cpu(gate.opened_on.load(std::memory_order_relaxed));
  }
  const std::int64_t start = base::now_ns();
  if (!crowded_ && spin(gate, seen, start)) return;
  // A yield lets the others arrive without a wake-up each. Where another program has the core, it gives that the whole of its
  // time slice, while a sleeper is woken in front of it.
  if (asleep_next_ > 0) {
    --asleep_next_;
  } else if (yield(gate, seen, start)) {
    asleep_after_ /= 2;
    return;
  } else {
    asleep_next_ = asleep_after_ = std::clamp(2 * asleep_after_, 1, kMostAsleep);
  }
  sleep(gate, seen, arrival);
}

bool Rendezvous::spin(const Gate& gate, std::uint32_t seen, std::int64_t start) {
  while (base::now_ns() - start < kSpin) {
    if (gate.opened.load(std::memory_order_acquire) != seen) return true;
    node::relax();
  }
  return false;
}

bool Rendezvous::yield(const Gate& gate, std::uint32_t seen, std::int64_t start) {
  while (base::now_ns() - start < kYield) {
    if (gate.opened.load(std::memory_order_acquire) != seen) return true;
    sched_yield();
  }
  return false;
}

// A sleep with a time limit costs a timer, and one or two that look around are enough.
void Rendezvous::sleep(Gate& gate, std::uint32_t seen, Arrival arrival) {
  gate.sleepers.fetch_add(1);
  if (arrival == Arrival::watches) {
    std::int64_t looked = base::now_ns();
    while (gate.opened.load() == seen) {
      node::wait_on(gate.opened, seen, kLookAround);
      const std::int64_t now = base::now_ns();
      if (gate.opened.load() != seen || now - looked < kLookAround) continue;
      look_for_the_dead();
      looked = now;
    }
  }
  while (gate.opened.load() == seen) node::wait_on(gate.opened, seen, node::kForever);
  gate.sleepers.fetch_sub(1);
}

// Where all CPUs are busy (workers of the one that computed still spin), the system wakes us in front of him who has opened,
// and what we do next may be to poll for him. Elsewhere we are in nobody's way but theirs.
void Rendezvous::leave_cpu(int cpu) {
  if (sched_getcpu() != cpu) return;
  const CpuSet mask = kernel_mask();
  CpuSet others = mask;
  others.remove(cpu);
  if (!others.empty() && bind_calling_thread(others)) bind_calling_thread(mask);
}

// Only those who have not come so far keep us: who ended after that is not waited for.
void Rendezvous::look_for_the_dead() const {
  const Member& mine = members_[static_cast<std::size_t>(me_)];
  const std::uint32_t here = mine.meetings.load(std::memory_order_relaxed);
  for (const Member& member : members_) {
    const auto behind = static_cast<std::int32_t>(here - member.meetings.load(std::memory_order_relaxed));
    if (behind <= 0 || alive(member, mine.pid_namespace)) continue;
    lost_(fmt::format(
        "rank {} (pid {}) has ended, and {} of its node waited for it in a phase: the program cannot go on; "
        "see that rank's own output for the cause",
        member.rank, member.pid, mine.rank));
  }
}

}  // namespace steelyard::phases
