#pragma once
#include <cstdint>
#include <string>

// The OpenMP side of the Runtime. `intercept` calls these from OMPT's callbacks and from the OpenMP API calls of the program;
// those marked (any thread) come from any, the others from the thread that the event belongs to.
namespace steelyard::runtime {

/// What the OpenMP runtime offers us. Its real entry points, behind our own.
struct OpenMp {
  int (*max_threads)() = nullptr;
  void (*set_threads)(int) = nullptr;
  std::string version;
};
/// When the OpenMP runtime initialises, which may be before or after start().
void attach_openmp(const OpenMp& openmp);

/// An outermost parallel region is about to be forked by this thread. May set the thread count for it. `requested`: threads
/// asked for; `by_clause`: by a num_threads clause. False where the region is not weighed: before start(), nested, or begun
/// by a thread other than the primary.
bool region_begin(std::uint64_t site, int requested, bool by_clause);
void region_end();

/// This thread begins or ends its part of the weighed region, or a barrier in it. `team` as it really is.
void thread_begin(int thread, int team);
void thread_end(int thread);
void barrier_begin();
void barrier_end();

/// The program asks omp_get_max_threads(), which would answer `real`: it is told what it would be told without us. (any
/// thread)
int told_max_threads(int real);
/// A thread asks for its number or for how many they are (omp_get_thread_num() and such). It may divide work by what the
/// program was told elsewhere, or have arrays of that size: from the next time on, this region runs with exactly the
/// program's own count. (any thread)
void team_asked();
/// The program calls omp_set_num_threads(). True where the call is to be passed on.
bool threads_set(int count);
/// After our last say: regions that follow run with the program's own count. From the primary thread.
void put_threads_back();
/// True where num_threads(count) on a region of this thread asks for no more than the program's own count, as
/// num_threads(omp_get_max_threads()) does: such a clause says nothing, and is not to be passed on.
bool says_nothing(int count);

}  // namespace steelyard::runtime
