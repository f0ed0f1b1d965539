#pragma once
#include <ucontext.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

// A model checker for tests: runs the real code of a few threads in all interleavings of its atomic operations. Threads are
// fibers of one system thread; before each operation of an Atomic, the explorer decides which fiber goes on. Interleavings that
// lead to a state seen before are not followed twice. A state is the value of each Atomic and, for each thread, all that its
// operations have returned, on which alone its next steps depend. Memory order is not modelled: each operation is sequentially
// consistent. Not thread-safe; one exploration at a time.
namespace steelyard::loops::explorer {

/// One run of the threads. Made anew for each interleaving, together with everything that the threads share.
struct Scenario {
  std::vector<std::function<void()>> threads;
  std::function<std::string()> verdict;  ///< after all threads have ended: what is wrong, or nothing
};

struct Outcome {
  std::string wrong;          ///< of the first interleaving that is; "a hang" if no thread can go on
  std::vector<int> schedule;  ///< the thread of each step of that interleaving
  std::uint64_t states = 0, runs = 0, ended = 0;  ///< ended: runs in which all threads came to their end
  bool complete = false;                          ///< nothing was left out: all states were seen, none of them wrong
};

class Explorer {
 public:
  static Explorer*& current() {
    static Explorer* only = nullptr;
    return only;
  }

  /// `make` is called for each run. Gives up after `most` states.
  Outcome explore(const std::function<Scenario()>& make, std::uint64_t most) {
    current() = this;
    std::vector<std::vector<int>> open = {{}};
    Outcome outcome;
    while (!open.empty() && outcome.states < most) {
      std::vector<int> schedule = std::move(open.back());
      open.pop_back();
      ++outcome.runs;
      outcome.wrong = run(make, schedule, open, outcome);
      if (!outcome.wrong.empty()) {
        outcome.schedule = std::move(schedule);
        break;
      }
    }
    outcome.complete = open.empty() && outcome.wrong.empty() && outcome.ended > 0;
    current() = nullptr;
    return outcome;
  }

  // Called by fibers and by Atomics.
  void add(const void* place, std::uint64_t (*value)(const void*)) { atomics_.push_back({place, value}); }
  void remove(const void* place) {
    std::erase_if(atomics_, [&](const Known& known) { return known.place == place; });
  }
  bool in_fiber() const { return running_ >= 0; }
  /// The calling fiber is about to do an atomic operation at `place`.
  void before(const void* place) {
    if (!in_fiber()) return;
    Fiber& mine = fibers_[static_cast<std::size_t>(running_)];
    if (mine.place != place) mine.before_place = mine.history;
    mine.place = place;
    // To look once more is part of the step that ended the wait: else that step would change nothing.
    if (!std::exchange(mine.looks_again, false)) to_scheduler();
  }
  void result(std::uint64_t value) {
    if (in_fiber()) note(fibers_[static_cast<std::size_t>(running_)].history, value);
  }
  /// The calling fiber has looked at a value, on which it may wait for another one.
  void looked() {
    if (!in_fiber()) return;
    Fiber& mine = fibers_[static_cast<std::size_t>(running_)];
    if (!std::exchange(mine.looks, true)) mine.writes_seen = writes_;
  }
  void written() {
    ++writes_;
    for (Fiber& fiber : fibers_) fiber.paused = false;
    if (in_fiber()) fibers_[static_cast<std::size_t>(running_)].place = nullptr;
  }
  /// The calling fiber waits in a loop for another one to write. How often it has looked is no part of its state.
  void pause() {
    if (!in_fiber()) return;
    Fiber& mine = fibers_[static_cast<std::size_t>(running_)];
    if (mine.place != nullptr) mine.history = mine.before_place;
    mine.looks = false;
    mine.looks_again = true;
    if (mine.writes_seen != writes_) return;  // it has not seen the latest writes yet
    mine.paused = true;
    to_scheduler();
  }

 private:
  static constexpr std::size_t kStack = 64 * 1024;
  struct Known {
    const void* place;
    std::uint64_t (*value)(const void*);
  };
  struct Fiber {
    ucontext_t context{};
    std::function<void()> body;
    bool started = false, done = false, paused = false, looks = false, looks_again = false;
    std::uint64_t history = 1, before_place = 1, writes_seen = 0;
    const void* place = nullptr;
  };

  static void note(std::uint64_t& hash, std::uint64_t value) {
    hash = (hash ^ (value + 0x632be59bd9b4e019ULL)) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 29;
  }

  void to_scheduler() {
    Fiber& mine = fibers_[static_cast<std::size_t>(running_)];
    swapcontext(&mine.context, &scheduler_);
  }

  static void enter() {
    Explorer& self = *current();
    Fiber& mine = self.fibers_[static_cast<std::size_t>(self.running_)];
    mine.body();
    mine.done = true;
    self.written();
    swapcontext(&mine.context, &self.scheduler_);
  }

  std::uint64_t state() const {
    std::uint64_t hash = 1;
    for (const Fiber& fiber : fibers_) {
      note(hash, fiber.history);
      note(hash, (fiber.started ? 4U : 0U) + (fiber.done ? 2U : 0U) + (fiber.paused ? 1U : 0U));
    }
    for (const Known& known : atomics_) note(hash, known.value(known.place));
    return hash;
  }

  std::string run(const std::function<Scenario()>& make, std::vector<int>& schedule,
                  std::vector<std::vector<int>>& open, Outcome& outcome) {
    atomics_.clear();
    fibers_.clear();
    const Scenario scenario = make();
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
    }
    std::string wrong;
    for (std::size_t step = 0;; ++step) {
      std::vector<int> ready;
      bool all_done = true;
      for (std::size_t i = 0; i < fibers_.size(); ++i) {
        all_done = all_done && fibers_[i].done;
        if (!fibers_[i].done && !fibers_[i].paused) ready.push_back(static_cast<int>(i));
      }
      if (all_done) {
        ++outcome.ended;
        wrong = scenario.verdict();
        break;
      }
      if (ready.empty()) {
        wrong = "a hang";
        break;
      }
      if (step == schedule.size()) {
        if (!seen_.insert(state()).second) break;
        ++outcome.states;
        for (std::size_t i = 1; i < ready.size(); ++i) {
          open.push_back(schedule);
          open.back().push_back(ready[i]);
        }
        schedule.push_back(ready[0]);
      }
      running_ = schedule[step];
      fibers_[static_cast<std::size_t>(running_)].started = true;
      swapcontext(&scheduler_, &fibers_[static_cast<std::size_t>(running_)].context);
      running_ = -1;
    }
    // A run that is not followed further leaves its fibers where they are: what their stacks hold is not destroyed.
    fibers_.clear();
    return wrong;
  }

  std::vector<Known> atomics_;
  std::vector<Fiber> fibers_;
  std::vector<std::unique_ptr<char[]>> stacks_;
  std::unordered_set<std::uint64_t> seen_;
  ucontext_t scheduler_{};
  int running_ = -1;
  std::uint64_t writes_ = 0;
};

inline void pause() {
  if (Explorer* const explorer = Explorer::current(); explorer != nullptr) explorer->pause();
}

/// What the engine uses of std::atomic. Its operations are steps where a fiber does them.
template <class T>
class Atomic {
 public:
  Atomic(T value = T()) : value_(value) {
    if (Explorer* const explorer = Explorer::current(); explorer != nullptr) explorer->add(this, look);
  }
  ~Atomic() {
    if (Explorer* const explorer = Explorer::current(); explorer != nullptr) explorer->remove(this);
  }
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;
  T operator=(T value) {
    store(value);
    return value;
  }

  T load(std::memory_order = {}) const {
    return step([&] {
      if (Explorer* const explorer = Explorer::current(); explorer != nullptr) explorer->looked();
      return value_;
    });
  }
  void store(T value, std::memory_order = {}) {
    step([&] {
      write(value);
      return T();
    });
  }
  T exchange(T value, std::memory_order = {}) {
    return step([&] { return write(value); });
  }
  T fetch_add(T value, std::memory_order = {}) {
    return step([&] { return write(static_cast<T>(value_ + value)); });
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order = {}) {
    const T seen = step([&] { return value_ == expected ? write(desired) : value_; });
    const bool same = seen == expected;
    expected = seen;
    return same;
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order = {}) {
    return compare_exchange_strong(expected, desired);
  }

 private:
  static std::uint64_t as_number(T value) {
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    std::uint64_t number = 0;
    std::memcpy(&number, &value, sizeof value);
    return number;
  }
  static std::uint64_t look(const void* place) { return as_number(static_cast<const Atomic*>(place)->value_); }
  T write(T value) {
    if (Explorer* const explorer = Explorer::current(); explorer != nullptr) explorer->written();
    return std::exchange(value_, value);
  }
  template <class Operation>
  T step(const Operation& operation) const {
    Explorer* const explorer = Explorer::current();
    if (explorer != nullptr) explorer->before(this);
    const T result = operation();
    if (explorer != nullptr) explorer->result(as_number(result));
    return result;
  }
  T value_;
};

}  // namespace steelyard::loops::explorer
