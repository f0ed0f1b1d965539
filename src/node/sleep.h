// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>

// Every wait of the library goes through this file, so that a simulated flavour can map it to simulated time.
namespace steelyard::node {

/// Sleeps for about `ns`; the thread's timer slack is brought to 1 ns on first use.
void sleep_for(std::int64_t ns);

/// One turn of a spin: tells the core that another thread may go first.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// A 32-bit word in shared memory on which processes sleep. A waiter sleeps while `word` is `seen`, at most `ns`.
inline constexpr std::int64_t kForever = -1;  // without a timer, which is cheaper
void wait_on(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::int64_t ns);
void wake_all(std::atomic<std::uint32_t>& word);

}  // namespace steelyard::node
