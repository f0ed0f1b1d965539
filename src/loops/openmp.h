#pragma once
#include <atomic>
#include <cstdint>

// What the calling thread's OpenMP runtime says of it, asked by name: a program may have any runtime, or none, or several, of
// which each knows its own regions alone.
namespace steelyard::loops::openmp {

struct Position {
  int thread = 0;
  int threads = 1;
  /// Tells teams apart that are active in different threads of an outer one. The same for all threads of a team.
  std::uint64_t path = 0;
  bool in_region = false;
  bool ambiguous = false;  ///< in regions of two runtimes, and nothing says which is meant
};

/// About 10 ns. `caller`: an address in the program from where the loop is called: what its module was linked with decides
/// where the thread is in regions of two runtimes.
Position position(const void* caller = nullptr);
/// True from when on a thread was sent away since its position is ambiguous: nobody may wait for it, then or later.
std::atomic<bool>& confused();
/// Regions can be cancelled in this process.
bool may_cancel();

}  // namespace steelyard::loops::openmp
