// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

#include "intercept/clause.h"
#include "loops/virtual_team.h"
#include "session/openmp.h"
#include "session/short_regions.h"
#include "session/worksharing.h"

// GNU's OpenMP runtime has no tools interface. Its regions are seen at its entry points, which compilers call. A region
// begins where the program calls GOMP_parallel() or one of its relatives. A function of Steelyard calls the outlined
// function that each thread of the team runs, and notes its begin and its end. LLVM's runtime has the
// same entry points. There, OMPT reports regions and barriers (ompt.cpp), and the wrappers only forward.
namespace steelyard::intercept::gomp {

using Body = void (*)(void*);

/// True if the runtime behind the entry points is GNU's.
bool is_gnu();

/// Makes the Session know GNU's OpenMP runtime if the process has it by now.
void attach();

/// A parallel region on GNU's runtime, from the call that begins it until its team has joined. Lives in the thread that
/// begins it, on a cache line of its own, which is all that its threads read at their begin.
class alignas(64) Region {
 public:
  /// `site`: address that identifies the region. `count`: the num_threads argument of the entry point, 0 for none.
  /// `runs_body`: its threads run the body by run(), all of them; so they may be virtual.
  /// `first_word`: what the runtime is to find at the begin of the data, which GOMP_parallel_reductions() reads.
  /// `shares`: it has a loop or sections, by its construct. `code`: the program's function, where `body` is ours.
  Region(std::uint64_t site, Body body, void* data, unsigned int count, bool runs_body, bool shares,
         void* first_word = nullptr, Body code = nullptr);
  ~Region();
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  /// The num_threads argument that the runtime is to be given, and the body, with this region as its data.
  unsigned int count() const { return count_; }
  static void run(void* region);

  /// The part of the calling thread, where run() does not bracket it: GOMP_parallel_start() leaves that to the program.
  /// @return the number of the thread in its team, which end_part() takes.
  int begin_part();
  void end_part(int thread);

 private:
  void run_virtual_threads(int thread);

  [[maybe_unused]] void* const first_word_;  // the first member, see above
  const Body body_;
  void* const data_;
  session::Region* region_ = nullptr;
  session::ThreadCells cells_;
  session::Measured measured_ = session::Measured::nothing;
  unsigned int count_;
  loops::VirtualTeam* virtual_team_ = nullptr;  // null: no thread runs the body more than once
};

/// True if the waits and tasks of the calling thread are those of a measured region.
bool in_measured_region();

/// A function that runs `body` as an explicit task, and interrupts the thread's wait meanwhile.
Body bracketed(Body body);

/// session::inactive_region_begin() with the arguments of run_region().
bool inactive_region_begin(std::uint64_t site, Body code, unsigned int count, bool runs_body);

/// Runs a region by `call(body, data, count)`, which calls the entry point of the runtime behind ours. `code`: the
/// program's function, where `body` is a function of ours that runs it.
template <class Call>
void run_region(std::uint64_t site, Body body, void* data, unsigned int count, bool shares, const Call& call,
                Body code = nullptr) {
  if (is_gnu()) {
    if (inactive_region_begin(site, code != nullptr ? code : body, count, code == nullptr)) {
      call(body, data, count);
      return session::inactive_region_end();
    }
    Region region(site, body, data, count, code == nullptr, shares, nullptr, code);
    call(Region::run, static_cast<void*>(&region), region.count());
  } else {
    set_region_source({site, reinterpret_cast<const void*>(code != nullptr ? code : body), shares});
    call(body, data, note_clause(count));
  }
}

/// Around a call in which the calling thread waits for its team at a barrier of the innermost region, or for tasks.
class Wait {
 public:
  Wait();
  ~Wait();
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

 private:
  bool measured_;
};

}  // namespace steelyard::intercept::gomp
