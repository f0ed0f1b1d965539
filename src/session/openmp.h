// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>
#include <string>

#include "base/hash.h"
#include "observe/activity.h"

// The OpenMP side of the Session. `intercept` calls these from OMPT's callbacks and from the OpenMP API calls of the
// program; those marked (any thread) come from any, the others from the thread that the event belongs to.
namespace steelyard::session {

/// An OpenMP runtime that reports its regions by OMPT. Its real entry points, behind our own.
struct OpenMp {
  int (*max_threads)() = nullptr;
  void (*set_threads)(int) = nullptr;
  const char* version = "";  ///< never freed
};
/// When this runtime initialises, which may be before or after start().
void attach_openmp(const OpenMp& openmp);
/// When GNU's OpenMP runtime is found, whose regions are seen at its entry points. A process may have both runtimes.
/// `max_threads`: its omp_get_max_threads().
void attach_gnu_openmp(int (*max_threads)());
/// When another tool uses OMPT, which has room for one tool in a process: regions are not seen.
/// @param library the tool's file
void leave_openmp_to(const std::string& library);

/// A region that the calling thread is about to begin.
struct RegionRequest {
  /// How its runtime is told the number of threads.
  enum class Threads {
    by_call,     ///< omp_set_num_threads() of the runtime that reports by OMPT, called by region_begin()
    by_argument  ///< by the caller of region_begin(), for this region alone
  };
  std::uint64_t site = 0;  ///< address that identifies it
  int requested = 1;       ///< threads that the program asks for
  bool by_clause = false;  ///< by a num_threads clause
  Threads threads = Threads::by_call;
  const void* body = nullptr;   ///< the function that its threads run; null where that is not known
  bool may_be_virtual = false;  ///< by_argument: the caller can run virtual threads
  bool shares = false;          ///< the construct shares out work: it is a region with a loop, or with sections
  /// Regions with different bodies may have one return address: after a tail call, the runtime returns to the function
  /// further out. An if clause that is false makes another region of it.
  std::uint64_t key() const {
    const bool alone = by_clause && requested == 1;
    return (site ^ base::spread(reinterpret_cast<std::uint64_t>(body)) ^ (alone ? 2 : 0)) | 1;
  }
};
/// What is measured of an execution of a region.
enum class Measured { nothing, wall, threads };
/// Where the threads of a measured region note their times. A copy of it that comes with the region saves each thread
/// loads of memory that the primary thread writes in every region.
struct ThreadCells {
  /// That of an outermost region of the primary thread, of a region nested in such a region, or one of another thread
  /// than the primary, nested or not.
  enum class Team : std::uint8_t { outermost, nested, of_other_thread };
  observe::ThreadCell* first = nullptr;  ///< null where the threads are not measured
  int count = 0;
  Team team = Team::outermost;
  std::uint64_t region = 0;                             ///< its number
  const std::atomic<std::uint64_t>* current = nullptr;  ///< the number while the region runs
};
struct Region;
struct RegionTerms {
  /// Nothing before start(), and in regions that are nested too deep (worksharing.h).
  Measured measured = Measured::nothing;
  Region* record = nullptr;  ///< that region_made() is to return; null: one of its own
  ThreadCells cells;
  int threads = 0;  ///< by_argument: threads to run it with; 0: as many as the program asks for
  /// by_argument: as many virtual threads run the body, some of them by the same thread one after the other; 0: none
  int virtual_threads = 0;
};
/// By the thread that begins a region, before the OpenMP runtime makes the team. Moves cores if it is time for it, and
/// sets the thread count of a region that does not depend on it.
RegionTerms region_begin(const RegionRequest& request);
/// By the same thread, after the team has joined. Only for a region of which something is measured.
void region_end();
/// True in the measured region if Steelyard has given it one thread, and the program would have several.
bool in_region_reduced_to_one();
/// The present region has more threads than the program asked for. (any thread of it)
bool team_is_larger();

/// Which virtual thread this thread runs, in its region at nesting depth `depth`. `size` 0: none.
struct VirtualThread {
  int number = 0, size = 0, depth = 0;
};
extern constinit thread_local VirtualThread t_virtual __attribute__((tls_model("initial-exec")));
/// The same for a query that returns to `caller`. Null if the runtime is to answer it: in a nested region, and from
/// code that is not proved to divide a loop, e.g. an allocator with data for each thread. From any thread.
const VirtualThread* virtual_thread(const void* caller);

/// This thread begins or ends its part of a measured region, or a barrier in it. `team`: its actual size. If only the
/// region's wall time is measured, a thread reports its begin alone.
void thread_begin(const ThreadCells& cells, int thread, int team);
void thread_end(int thread);
/// This thread has ended its part, and goes to the barrier at the end of the region.
void thread_done();
void barrier_begin();
void barrier_end();
/// Around an explicit task that this thread executes. A wait of the thread for its team, or for other tasks, is
/// interrupted; task_begin() returns true if there was one, and task_end() resumes it then.
bool task_begin();
void task_end(bool waits);
/// This thread has waited for an accelerator in its part of the measured region, for `length` ns.
void accelerator_waited(std::int64_t length);

/// The answer to the program's omp_get_max_threads(), as without Steelyard. `real`: the runtime's answer. (any thread)
int told_max_threads(int real);
/// A thread queries its ID or the size of the team. The thread may divide work by a count that the program was told
/// elsewhere, or index an array of that size. Unless the code at `caller` is proved correct in a team of any size, and
/// the options allow for that, this region keeps the program's thread count from the next time on. (any thread)
/// @param caller the address to which the query returns; null if it is not to be proved
/// @return true where the code at `caller` is proved
bool team_asked(const void* caller);
/// A thread shares out work in the innermost region that it is in: the iterations of a loop, sections, tasks. Of a
/// construct that all threads of the team meet, thread 0's call is enough: worksharing_begun(). A region in which
/// nothing is shared out repeats its work in each thread, so its result may depend on their number: it keeps the
/// program's thread count from the next time on. (any thread)
void work_shared();
/// The program calls omp_set_num_threads(), which is then passed on.
void threads_set(int count);
/// Restores the program's own thread count for the regions that follow. From the primary thread.
void restore_thread_count();
/// True if num_threads(count) on a region of this thread asks for the program's own count, as
/// num_threads(omp_get_max_threads()) does: such a clause is not to be passed on.
bool is_redundant_clause(int count);

}  // namespace steelyard::session
