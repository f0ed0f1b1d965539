// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <ranges>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

// A model checker for tests: runs the real code of a few threads in all interleavings of its atomic operations. Threads
// are fibers of one system thread; before each operation of an Atomic or a Shared, the explorer decides which fiber
// goes on.
//
// Two operations of different threads are independent if they are at different locations, or if neither may write.
// Interleavings that differ only in the order of independent operations end alike, so the explorer runs one of each
// such class: dynamic partial-order reduction with source sets and sleep sets (Abdulla, Aronis, Jonsson and Sagonas,
// POPL 2014). The older choice of what to explore (Flanagan and Godefroid, POPL 2005) loses classes where sleep sets
// are used. This is exhaustive if
//   - threads share data that is neither Atomic nor Shared only in an order that operations on Atomics enforce
//     (ThreadSanitizer looks for exceptions), and
//   - a loop that calls pause() looks at one Atomic and changes nothing until it ends. A thread that has looked in vain
//     goes on in no run: there is another run, in which it looks later. Threads that look in vain at the last value are
//     a hang.
// Memory order is not modelled: each operation is sequentially consistent. Not thread-safe; one exploration at a time.
namespace steelyard::explorer {

/// One run of the threads. Made anew for each interleaving, together with everything that the threads share.
struct Scenario {
  std::vector<std::function<void()>> threads;
  std::function<std::string()> verdict;  ///< after all threads have ended: what is wrong, or nothing
};

struct Outcome {
  std::string wrong;          ///< of the first interleaving that is; "a hang" if no thread can go on
  std::vector<int> schedule;  ///< the thread of each step of that interleaving
  std::uint64_t runs = 0;
  std::uint64_t ended = 0;  ///< runs in which all threads came to their end: one of each class, all different
  bool complete = false;    ///< nothing was left out, and nothing was wrong
};

/// `all`: each thread that is ready is explored in each state, and sleep sets alone keep orders from being repeated.
/// Slow, and simple enough to test the other one against.
enum class Branches { races, all };

class Explorer {
 public:
  explicit Explorer(Branches branches = Branches::races) : branches_(branches) {}
  static constexpr std::size_t kThreads = 6;  ///< at most

  static Explorer*& current() {
    static Explorer* only = nullptr;
    return only;
  }

  /// `make` is called for each run. Gives up after `most` runs.
  Outcome explore(const std::function<Scenario()>& make, std::uint64_t most) {
    current() = this;
    Outcome outcome;
    path_.clear();
    bool more = true;
    while (more && outcome.runs < most && outcome.wrong.empty()) {
      ++outcome.runs;
      outcome.wrong = run(make, outcome);
      if (outcome.wrong.empty()) more = next_branch();
    }
    if (!outcome.wrong.empty()) {
      for (const Step& step : path_) outcome.schedule.push_back(step.thread);
    }
    outcome.complete = !more && outcome.ended > 0;
    current() = nullptr;
    return outcome;
  }

  // Called by fibers and by what they share. A number stands for a location.
  int add() {
    accesses_.emplace_back();
    return static_cast<int>(accesses_.size()) - 1;
  }
  int at(const void* address) {
    const auto [found, is_new] = numbers_.try_emplace(address, 0);
    if (is_new) found->second = add();
    return found->second;
  }
  /// The calling fiber is about to do an operation on this Atomic.
  void before(int atomic, bool may_write) {
    if (running_ < 0) return;
    mine().atomic = atomic;
    mine().may_write = may_write;
    advance();
    if (next_ == running_)
      begin_step();
    else
      to_scheduler();
  }
  /// It has done it.
  void after(bool wrote) {
    if (running_ >= 0) mine().wrote = wrote;
  }
  /// The calling fiber waits in a loop for another one to write what it has looked at.
  void pause() {
    if (running_ < 0) return;
    mine().waits = true;
    advance();
    to_scheduler();
  }

 private:
  static constexpr std::size_t kStack = std::size_t{64} * 1024;
  using Set = unsigned;                     ///< of threads
  using Clock = std::array<int, kThreads>;  ///< by thread: the steps, counted from 1, that happen before
  struct Fiber {
    ucontext_t context{};
    std::function<void()> body;
    bool done = false, waits = false;
    int atomic = -1;       ///< of its next operation; of its last one if it waits
    int last_atomic = -1;  ///< of its last operation, unless that wrote
    bool may_write = false, wrote = false;
    Clock before{};
    int first_look = 0;  ///< since when it has only looked at this Atomic: a step
    bool ready() const { return !done && !waits; }
  };
  /// One step of the present run, and what is known of the state before it.
  struct Step {
    Set ready = 0;
    Set asleep = 0;  ///< explored from here, or not to be
    Set wanted = 0;  ///< to be explored from here
    int thread = 0, atomic = 0;
    bool may_write = false;  ///< also a compare-and-swap that fails
    Clock clock{};           ///< what happens before the next step of its thread
  };
  struct Accesses {
    std::vector<int> steps;
    int last_write = -1;
    Clock writes{}, all{};  ///< what happens before the next read, and before the next write
  };

  static Set only(std::size_t thread) { return Set{1} << thread; }
  static void join(Clock& one, const Clock& other) {
    for (std::size_t t = 0; t < kThreads; ++t) one[t] = std::max(one[t], other[t]);
  }
  Fiber& mine() { return fibers_[static_cast<std::size_t>(running_)]; }
  void to_scheduler() { swapcontext(&mine().context, &scheduler_); }

  static void enter() {
    Explorer& self = *current();
    self.mine().body();
    self.mine().done = true;
    self.advance();
    self.to_scheduler();
  }

  void resume(int thread) {
    running_ = thread;
    swapcontext(&scheduler_, &mine().context);
    running_ = -1;
  }

  /// All fibers, each in front of its first operation.
  void start(const Scenario& scenario) {
    fibers_.clear();
    fibers_.resize(scenario.threads.size());
    for (std::size_t i = 0; i < fibers_.size(); ++i) {
      Fiber& fiber = fibers_[i];
      fiber.body = scenario.threads[i];
      if (stacks_.size() <= i) stacks_.push_back(std::make_unique_for_overwrite<char[]>(kStack));
      getcontext(&fiber.context);
      fiber.context.uc_stack.ss_sp = stacks_[i].get();
      fiber.context.uc_stack.ss_size = kStack;
      fiber.context.uc_link = &scheduler_;
      makecontext(&fiber.context, enter, 0);
      resume(static_cast<int>(i));
    }
  }

  /// Follows the path, and goes on from its end until no thread can, or until what follows has been seen in another
  /// order.
  std::string run(const std::function<Scenario()>& make, Outcome& outcome) {
    accesses_.clear();
    numbers_.clear();
    const Scenario scenario = make();
    starting_ = true;
    start(scenario);
    starting_ = false;
    at_ = 0;
    for (decide(); next_ >= 0;) {
      begin_step();
      resume(next_);
    }
    std::string wrong;
    if (std::ranges::none_of(fibers_, &Fiber::ready)) wrong = ended(scenario, outcome);
    // Fibers that have not ended stay where they are: what their stacks hold is not destroyed.
    fibers_.clear();
    return wrong;
  }

  std::string ended(const Scenario& scenario, Outcome& outcome) const {
    if (std::ranges::all_of(fibers_, &Fiber::done)) {
      ++outcome.ended;
      return scenario.verdict();
    }
    // A thread that has looked before the last write would look again: in another run, it looks later.
    const bool in_vain = std::ranges::all_of(fibers_, [&](const Fiber& fiber) {
      return fiber.done || accesses_[static_cast<std::size_t>(fiber.atomic)].last_write < fiber.first_look;
    });
    return in_vain ? "a hang" : "";
  }

  /// Adds a step to the path. False if there is none to add.
  bool go_on() {
    Step next;
    next.asleep = still_asleep();
    for (std::size_t t = 0; t < fibers_.size(); ++t) {
      if (!fibers_[t].ready()) continue;
      next.ready |= only(t);
      want_earlier(static_cast<int>(t));
    }
    const Set awake = next.ready & ~next.asleep;
    if (awake == 0) return false;
    const int last = path_.empty() ? 0 : path_.back().thread;
    next.thread = (awake & only(static_cast<std::size_t>(last))) != 0 ? last : std::countr_zero(awake);
    next.wanted = branches_ == Branches::all ? next.ready : only(static_cast<std::size_t>(next.thread));
    path_.push_back(next);
    return true;
  }

  /// The threads that need not be explored after the last step: their next operation was explored before it, and is
  /// independent of it.
  Set still_asleep() const {
    if (path_.empty()) return 0;
    const Step& last = path_.back();
    Set asleep = last.asleep;
    for (std::size_t t = 0; t < fibers_.size(); ++t) {
      const Fiber& fiber = fibers_[t];
      const bool depends = fiber.atomic == last.atomic && (fiber.may_write || last.may_write);
      if (static_cast<int>(t) == last.thread || depends) asleep &= ~only(t);
    }
    return asleep;
  }

  /// Where the next operation of this thread races with a step, what follows without that step is to be explored in
  /// front of it.
  void want_earlier(int thread) {
    const Fiber& fiber = fibers_[static_cast<std::size_t>(thread)];
    const Accesses& accesses = accesses_[static_cast<std::size_t>(fiber.atomic)];
    Clock ordered = fiber.before;
    for (const auto at : accesses.steps | std::views::reverse) {
      const Step& step = path_[static_cast<std::size_t>(at)];
      if (!fiber.may_write && !step.may_write) continue;
      if (happens_before(at, ordered)) continue;
      want_before(static_cast<std::size_t>(at), static_cast<std::size_t>(thread));
      join(ordered, step.clock);
    }
  }

  /// The steps since `at` that do not happen after it, and then the next operation of `thread`, are to be explored
  /// before it. Any thread will do whose first step of those has nothing of them before it: all of these were ready at
  /// that time.
  void want_before(std::size_t at, std::size_t thread) {
    std::array<int, kThreads> first;
    first.fill(-1);
    Set initials = 0;
    const auto add = [&](std::size_t whose, int number, const Clock& clock) {
      if (first[whose] >= 0) return;
      bool is_first = true;
      for (const int earlier : first) is_first = is_first && (earlier < 0 || !happens_before(earlier, clock));
      if (is_first) initials |= only(whose);
      first[whose] = number;
    };
    for (std::size_t later = at + 1; later < path_.size(); ++later) {
      const Step& step = path_[later];
      if (!happens_before(static_cast<int>(at), step.clock))
        add(static_cast<std::size_t>(step.thread), static_cast<int>(later), step.clock);
    }
    const Fiber& fiber = fibers_[thread];
    const Accesses& accesses = accesses_[static_cast<std::size_t>(fiber.atomic)];
    Clock clock = fiber.before;
    join(clock, fiber.may_write ? accesses.all : accesses.writes);
    add(thread, static_cast<int>(path_.size()), clock);
    Step& step = path_[at];
    if ((step.wanted & initials) == 0) step.wanted |= initials & (~initials + 1);
  }
  bool happens_before(int step, const Clock& clock) const {
    return clock[static_cast<std::size_t>(path_[static_cast<std::size_t>(step)].thread)] > step;
  }

  /// The running fiber has ended its step. Chooses the thread of the next one.
  void advance() {
    if (starting_) return;
    end_step();
    ++at_;
    decide();
  }
  void decide() { next_ = at_ < path_.size() || go_on() ? path_[at_].thread : -1; }

  void begin_step() {
    Step& step = path_[at_];
    Fiber& fiber = fibers_[static_cast<std::size_t>(step.thread)];
    if (fiber.last_atomic != fiber.atomic) fiber.first_look = static_cast<int>(at_);
    step.atomic = fiber.last_atomic = fiber.atomic;
    step.may_write = fiber.may_write;
  }

  void end_step() {
    Step& step = path_[at_];
    Fiber& fiber = fibers_[static_cast<std::size_t>(step.thread)];
    Accesses& accesses = accesses_[static_cast<std::size_t>(step.atomic)];
    join(fiber.before, step.may_write ? accesses.all : accesses.writes);
    fiber.before[static_cast<std::size_t>(step.thread)] = static_cast<int>(at_) + 1;
    step.clock = fiber.before;
    join(accesses.all, fiber.before);
    accesses.steps.push_back(static_cast<int>(at_));
    if (step.may_write) join(accesses.writes, fiber.before);
    if (!std::exchange(fiber.wrote, false)) return;
    accesses.last_write = static_cast<int>(at_);
    fiber.last_atomic = -1;
  }

  /// Cuts the path back to the last step that is to be another one. False if there is none.
  bool next_branch() {
    for (; !path_.empty(); path_.pop_back()) {
      Step& last = path_.back();
      last.asleep |= only(static_cast<std::size_t>(last.thread));
      const Set open = last.wanted & last.ready & ~last.asleep;
      if (open == 0) continue;
      last.thread = std::countr_zero(open);
      return true;
    }
    return false;
  }

  const Branches branches_;
  std::vector<Accesses> accesses_;                ///< by location, in the order in which a run meets them
  std::unordered_map<const void*, int> numbers_;  ///< of each Shared
  std::vector<Step> path_;
  std::vector<Fiber> fibers_;
  std::vector<std::unique_ptr<char[]>> stacks_;
  ucontext_t scheduler_{};
  std::size_t at_ = 0;  ///< the present step of the path
  bool starting_ = false;
  int running_ = -1, next_ = -1;
};

inline void pause() {
  if (Explorer* const explorer = Explorer::current(); explorer != nullptr) explorer->pause();
}

/// What the engines use of std::atomic. Its operations are steps where a fiber does them.
template <class T>
class Atomic {
 public:
  Atomic(T value = T()) : value_(value) {
    if (Explorer* const explorer = Explorer::current(); explorer != nullptr) number_ = explorer->add();
  }
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;
  T operator=(T value) {
    store(value);
    return value;
  }

  T load(std::memory_order = {}) const {
    before(false);
    after(false);
    return value_;
  }
  void store(T value, std::memory_order = {}) { exchange(value); }
  T exchange(T value, std::memory_order = {}) {
    before(true);
    after(true);
    return std::exchange(value_, value);
  }
  T fetch_add(T value, std::memory_order = {}) {
    before(true);
    after(true);
    return std::exchange(value_, static_cast<T>(value_ + value));
  }
  T fetch_sub(T value, std::memory_order order = {}) { return fetch_add(static_cast<T>(-value), order); }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order = {}, std::memory_order = {}) {
    before(true);
    const bool same = value_ == expected;
    after(same);
    expected = std::exchange(value_, same ? desired : value_);
    return same;
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order = {}, std::memory_order = {}) {
    return compare_exchange_strong(expected, desired);
  }

 private:
  void before(bool may_write) const {
    if (Explorer* const explorer = Explorer::current(); explorer != nullptr) explorer->before(number_, may_write);
  }
  void after(bool wrote) const {
    if (Explorer* const explorer = Explorer::current(); explorer != nullptr) explorer->after(wrote);
  }
  T value_;
  int number_ = 0;
};

/// Data that is not atomic, and that another thread may read while it is written: each read or write of the whole is a
/// step. Known by its address, as it may lie in memory that is used again.
template <class T>
class Shared {
 public:
  Shared(const T& value = T()) : value_(value) {}
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared& other) { return *this = static_cast<T>(other); }
  Shared& operator=(const T& value) {
    step(true);
    value_ = value;
    return *this;
  }
  operator T() const {
    step(false);
    return value_;
  }

 private:
  void step(bool writes) const {
    Explorer* const explorer = Explorer::current();
    if (explorer == nullptr) return;
    explorer->before(explorer->at(this), writes);
    explorer->after(writes);
  }
  T value_{};
};

}  // namespace steelyard::explorer
