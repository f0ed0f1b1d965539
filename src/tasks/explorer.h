// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <ucontext.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// For tests: runs a few threads of the real code in all orders of their accesses to shared memory. Threads are fibers
// of one system thread; each access to an Atomic or a Shared is a step, before which the explorer decides which fiber
// goes on. Orders that differ only in independent steps (other addresses, or two reads) end alike; sleep sets
// (Godefroid 1996) leave all but one of them out. Memory order is not modelled: each step is sequentially consistent.
namespace steelyard::tasks::explorer {

/// One run: made anew for each order, with everything that its threads share.
struct Scenario {
  std::vector<std::function<void()>> threads;
  std::function<std::string()> wrong_after;  ///< after all threads have ended: what is wrong, or nothing
};

struct Outcome {
  std::string wrong;        ///< what is wrong in the first order in which something is
  std::uint64_t ended = 0;  ///< orders that were run to their end
  bool complete = false;    ///< no order was left out
};

class Explorer {
 public:
  static Explorer*& current() {
    static Explorer* only = nullptr;
    return only;
  }

  /// Runs `make()` in all orders, or until one is wrong or `most` have been begun.
  Outcome explore(const std::function<Scenario()>& make, std::uint64_t most) {
    current() = this;
    Outcome outcome;
    path_.clear();
    bool more = true;
    for (std::uint64_t runs = 0; more && runs < most && outcome.wrong.empty(); ++runs) {
      run(make(), outcome);
      more = next_order();
    }
    outcome.complete = !more && outcome.wrong.empty();
    current() = nullptr;
    return outcome;
  }

  /// The running fiber is about to access this address.
  void step(const void* address, bool writes) {
    if (running_ == nullptr) return;
    running_->address = address;
    running_->writes = writes;
    swapcontext(&running_->context, &scheduler_);
  }

 private:
  static constexpr std::size_t kStack = std::size_t{64} * 1024;
  using Set = std::uint32_t;  ///< of threads
  struct Fiber {
    ucontext_t context{};
    std::function<void()> body;
    const void* address = nullptr;  ///< of its next step
    bool writes = false, done = false;
  };
  struct Decision {
    Set ready = 0, asleep = 0;  ///< asleep: explored from here, or covered by what was explored before
    std::size_t thread = 0;
  };

  static void enter() {
    Fiber& me = *current()->running_;
    me.body();
    me.done = true;
    swapcontext(&me.context, &current()->scheduler_);
  }

  void resume(Fiber& fiber) {
    running_ = &fiber;
    swapcontext(&scheduler_, &fiber.context);
    running_ = nullptr;
  }

  void run(const Scenario& scenario, Outcome& outcome) {
    fibers_.clear();
    fibers_.resize(scenario.threads.size());
    for (std::size_t i = 0; i < fibers_.size(); ++i) {
      if (stacks_.size() <= i) stacks_.push_back(std::make_unique_for_overwrite<char[]>(kStack));
      fibers_[i].body = scenario.threads[i];
      getcontext(&fibers_[i].context);
      fibers_[i].context.uc_stack.ss_sp = stacks_[i].get();
      fibers_[i].context.uc_stack.ss_size = kStack;
      makecontext(&fibers_[i].context, enter, 0);
      resume(fibers_[i]);
    }
    bool covered = false;
    asleep_ = 0;
    for (std::size_t at = 0; ready() != 0; ++at) {
      if (at == path_.size()) covered = !decide();
      if (covered) break;
      if (at + 1 == path_.size()) note_sleepers();
      resume(fibers_[path_[at].thread]);
    }
    // An order that another one covers is not judged; its fibers end, so that nothing is left on their stacks.
    for (Fiber& fiber : fibers_) {
      while (!fiber.done) resume(fiber);
    }
    if (covered) return;
    ++outcome.ended;
    outcome.wrong = scenario.wrong_after();
  }

  Set ready() const {
    Set set = 0;
    for (std::size_t i = 0; i < fibers_.size(); ++i) set |= Set{!fibers_[i].done} << i;
    return set;
  }

  /// Adds a decision to the path: the first thread that is awake. False if there is none.
  bool decide() {
    Decision next;
    next.ready = ready();
    next.asleep = asleep_;
    const Set awake = next.ready & ~next.asleep;
    if (awake == 0) return false;
    next.thread = static_cast<std::size_t>(std::countr_zero(awake));
    path_.push_back(next);
    return true;
  }

  /// Finds the threads that sleep after the last decision of the path: threads that slept before, if their next step is
  /// independent of it.
  void note_sleepers() {
    const Decision& last = path_.back();
    const Fiber& runs = fibers_[last.thread];
    asleep_ = 0;
    for (std::size_t i = 0; i < fibers_.size(); ++i) {
      const Fiber& other = fibers_[i];
      const bool independent = other.address != runs.address || (!other.writes && !runs.writes);
      if ((last.asleep >> i & 1) != 0 && i != last.thread && independent) asleep_ |= Set{1} << i;
    }
  }

  /// Changes the last decision that has another choice left. False if none has.
  bool next_order() {
    for (; !path_.empty(); path_.pop_back()) {
      Decision& last = path_.back();
      last.asleep |= Set{1} << last.thread;
      const Set awake = last.ready & ~last.asleep;
      if (awake == 0) continue;
      last.thread = static_cast<std::size_t>(std::countr_zero(awake));
      return true;
    }
    return false;
  }

  std::vector<Decision> path_;
  std::vector<Fiber> fibers_;
  std::vector<std::unique_ptr<char[]>> stacks_;
  ucontext_t scheduler_{};
  Fiber* running_ = nullptr;
  Set asleep_ = 0;
};

inline void step(const void* address, bool writes) {
  if (Explorer* const explorer = Explorer::current(); explorer != nullptr) explorer->step(address, writes);
}

/// Data that is not atomic: each read or write of the whole is a step.
template <class T>
class Shared {
 public:
  Shared() = default;
  Shared(const T& value) : value_(value) {}
  Shared& operator=(const T& value) {
    step(this, true);
    value_ = value;
    return *this;
  }
  operator T() const {
    step(this, false);
    return value_;
  }

 private:
  T value_{};
};

/// What the queue and the heap use of std::atomic.
template <class T>
class Atomic {
 public:
  Atomic(T value = T()) : value_(value) {}
  T load(std::memory_order = {}) const {
    step(this, false);
    return value_;
  }
  void store(T value, std::memory_order = {}) { exchange(value); }
  T exchange(T value, std::memory_order = {}) {
    step(this, true);
    return std::exchange(value_, value);
  }
  T fetch_add(T value, std::memory_order = {}) {
    step(this, true);
    return std::exchange(value_, static_cast<T>(value_ + value));
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order = {}, std::memory_order = {}) {
    step(this, true);
    const bool same = value_ == expected;
    expected = std::exchange(value_, same ? desired : value_);
    return same;
  }

 private:
  T value_;
};

}  // namespace steelyard::tasks::explorer
