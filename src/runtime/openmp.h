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

/// The program asks omp_get_max_threads(): a number that its teams will not exceed as long as it runs. (any thread)
int shown_max_threads(int real);
/// The program asks omp_get_num_threads() and learns `team`. (any thread)
void team_size_shown(int team);
/// The program calls omp_set_num_threads(). True where the call is to be passed on.
bool threads_set(int count);

}  // namespace steelyard::runtime
