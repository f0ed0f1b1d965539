// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <sched.h>

#include <atomic>
#include <cstdint>

// Every wait of the library goes through this file, so that a simulated flavour can map it to simulated time. How long
// a wait spins, yields and sleeps: back_off.h.
namespace steelyard::wait {

/// One turn of a spin: tells the core that another thread may go first. Any thread; does not block.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Lets threads that are ready on this CPU run first. Returns at once if there are none.
inline void yield() { sched_yield(); }

/// Sleeps for about `ns`. The timer slack of the thread is set to 1 ns on first use.
void sleep_for(std::int64_t ns);

/// Encoding: a sleep without a timer, which is cheaper: only for a thread that another one wakes in any case.
inline constexpr std::int64_t kForever = -1;
inline constexpr std::uint32_t kAnySet = ~std::uint32_t{0};  ///< Encoding: all bits.

/// Sleeps while `word`, which may be in memory that processes share, is `seen`.
/// @param ns the longest sleep; kForever: unbounded
/// @param set a bit or more: only a wake-up with one of them wakes this thread
/// @return true if wake() or wake_all() woke this thread; false if the word was another, or after `ns` or a signal
bool sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::int64_t ns, std::uint32_t set = kAnySet);
/// Wakes at most `count` threads that sleep on `word` with one of the bits of `set`. Change the word first: a thread
/// that is about to sleep on the old value is not woken, but does not fall asleep then.
/// @return how many it has woken
int wake(std::atomic<std::uint32_t>& word, int count, std::uint32_t set = kAnySet);
void wake_all(std::atomic<std::uint32_t>& word);

}  // namespace steelyard::wait
