// SPDX-License-Identifier: BSD-3-Clause
// Translates OMPT events (OpenMP 5.x tools interface) into calls of the Session. Loaded with the preload library: the
// OpenMP runtime looks for ompt_start_tool by name.
#include <dlfcn.h>
#include <omp-tools.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/loaded_library.h"
#include "base/log.h"
#include "base/options.h"
#include "base/tool_libraries.h"
#include "intercept/clause.h"
#include "intercept/first_region.h"
#include "session/open_regions.h"
#include "session/openmp.h"
#include "session/worksharing.h"

namespace steelyard::intercept {
namespace {

// Marks the threads of regions that are measured, in the data that OMPT keeps for us.
void* const kMeasured = reinterpret_cast<void*>(1);
void* const kMeasuredWaits = reinterpret_cast<void*>(2);
// Explicit tasks of these threads, and of such tasks.
void* const kNotBegun = reinterpret_cast<void*>(3);
void* const kExplicit = reinterpret_cast<void*>(4);
void* const kExplicitWaits = reinterpret_cast<void*>(5);

// A region's own data are what the Session made for it.
session::Region* region_of(const ompt_data_t* parallel) {
  return parallel == nullptr ? nullptr : static_cast<session::Region*>(parallel->ptr);
}

constinit thread_local session::OpenRegions<session::Region> t_open;

void on_parallel_begin(ompt_data_t*, const ompt_frame_t*, ompt_data_t* parallel, unsigned int requested, int,
                       const void* address) {
  const RegionSource known = take_region_source();
  const std::uint64_t site = known.site != 0 ? known.site : reinterpret_cast<std::uint64_t>(address);
  // LLVM's runtime begins a region of its own, from another thread, for tasks of `target nowait`.
  if (site == 0) return t_open.push(nullptr);
  first_region_begins();
  const session::RegionTerms terms =
      session::region_begin({site, static_cast<int>(requested), take_clause_flag(),
                             session::RegionRequest::Threads::by_call, known.body, false, known.shares});
  parallel->ptr = session::region_made(terms);
  t_open.push(region_of(parallel));
}

void on_parallel_end(ompt_data_t*, ompt_data_t*, int, const void*) {
  session::Region* const region = t_open.pop();
  if (region == nullptr) return;
  if (region->what != session::Measured::nothing) session::region_end();
  session::region_gone(region);
}

// A worker's end events come when the next region wakes it, and with no parallel data: `task` has what was noted at its
// begin.
void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task, unsigned int team,
                      unsigned int thread, int flags) {
  if ((flags & ompt_task_initial) != 0) return;
  if (endpoint == ompt_scope_begin) {
    session::Region* const region = region_of(parallel);
    task->ptr = region != nullptr && region->measured() ? kMeasured : nullptr;
    if (region != nullptr && region->what != session::Measured::nothing)
      session::thread_begin(region->cells, static_cast<int>(thread), static_cast<int>(team));
    session::entered(region, static_cast<int>(thread), static_cast<int>(team));
  } else {
    session::left(static_cast<int>(thread));
    if (task->ptr == kMeasured || task->ptr == kMeasuredWaits) session::thread_end(static_cast<int>(thread));
  }
}

void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t* task,
                    const void*) {
  if (task == nullptr || kind == ompt_sync_region_reduction) return;
  const bool begins = endpoint == ompt_scope_begin;
  if (task->ptr == kMeasured && begins) {
    task->ptr = kMeasuredWaits;
  } else if (task->ptr == kMeasuredWaits && !begins) {
    task->ptr = kMeasured;
  } else if (task->ptr == kExplicit && begins) {
    task->ptr = kExplicitWaits;
  } else if (task->ptr == kExplicitWaits && !begins) {
    task->ptr = kExplicit;
  } else {
    return;
  }
  begins ? session::barrier_begin() : session::barrier_end();
}

// Tasks in regions that are not measured have null data.
void on_task_create(ompt_data_t* creator, const ompt_frame_t*, ompt_data_t* task, int flags, int, const void*) {
  if ((flags & ompt_task_explicit) == 0) return;
  session::work_shared();
  if (creator != nullptr && creator->ptr != nullptr) task->ptr = kNotBegun;
}

// A thread that begins a task computes, also at a barrier. When the task has ended, the thread goes on with the task
// that began it, or with the wait of that task.
void on_task_schedule(ompt_data_t*, ompt_task_status_t, ompt_data_t* next) {
  if (next == nullptr) return;
  if (next->ptr == kNotBegun) {
    next->ptr = kExplicit;
    session::task_begin();
  } else if (next->ptr == kExplicitWaits || next->ptr == kMeasuredWaits) {
    session::barrier_begin();
  }
}

constinit const char* g_version = "";

/// LLVM's says "LLVM OMP version: 5.0.20140926" whichever release it is.
std::string name_of(std::string_view version) {
  constexpr std::string_view llvm = "LLVM OMP version";
  return std::string(version.starts_with(llvm) ? "LLVM OpenMP" : version);
}

/// A function of the runtime that `lookup` belongs to. Another OpenMP runtime of the process may have one of the same
/// name before it.
template <class F>
F* function_of(ompt_function_lookup_t lookup, const char* name) {
  void* const runtime = base::library_of(reinterpret_cast<const void*>(lookup));
  return runtime != nullptr ? reinterpret_cast<F*>(dlsym(runtime, name)) : nullptr;
}

/// The runtime has read the variable by now; the program's children must not see it.
void forget_blocktime() {
  if (base::options().kmp_blocktime_set) unsetenv("KMP_BLOCKTIME");
}

int initialise(ompt_function_lookup_t lookup, int, ompt_data_t*) {
  const auto set_callback = reinterpret_cast<ompt_set_callback_t>(lookup("ompt_set_callback"));
  if (set_callback == nullptr) return 0;
  set_callback(ompt_callback_parallel_begin, reinterpret_cast<ompt_callback_t>(on_parallel_begin));
  set_callback(ompt_callback_parallel_end, reinterpret_cast<ompt_callback_t>(on_parallel_end));
  set_callback(ompt_callback_implicit_task, reinterpret_cast<ompt_callback_t>(on_implicit_task));
  set_callback(ompt_callback_sync_region, reinterpret_cast<ompt_callback_t>(on_sync_region));
  set_callback(ompt_callback_task_create, reinterpret_cast<ompt_callback_t>(on_task_create));
  set_callback(ompt_callback_task_schedule, reinterpret_cast<ompt_callback_t>(on_task_schedule));
  forget_blocktime();
  session::take_loops();
  session::attach_openmp({function_of<int()>(lookup, "omp_get_max_threads"),
                          function_of<void(int)>(lookup, "omp_set_num_threads"), g_version});
  return 1;
}

void finalise(ompt_data_t*) {}

using StartTool = ompt_start_tool_result_t*(unsigned int, const char*);

/// Another tool that uses OMPT, and its file.
struct OtherTool {
  ompt_start_tool_result_t* its = nullptr;  // null if there is none
  std::string library;
};

/// Its answer; without a tool if it declines.
OtherTool ask(StartTool* start, unsigned int omp_version, const char* runtime_version) {
  auto* const its = start != nullptr && start != &ompt_start_tool ? start(omp_version, runtime_version) : nullptr;
  if (its == nullptr) return {};
  Dl_info place{};
  const bool known = dladdr(reinterpret_cast<const void*>(its->initialize), &place) != 0 && place.dli_fname != nullptr;
  return {its, known ? place.dli_fname : "another tool"};
}

/// The OMPT tool of the program or of its user, which takes precedence: a process has room for one. Asks in the order
/// of the runtime, which asks no further tool after this library has answered: each is asked once.
OtherTool other_tool(unsigned int omp_version, const char* runtime_version) {
  // Behind this library: the tool of a library of the program, or the runtime's own definition, which searches on.
  auto* const next = base::next_definition<StartTool>("ompt_start_tool");
  if (OtherTool tool = ask(next, omp_version, runtime_version); tool.its != nullptr) return tool;
  const base::Environment environment = base::environment();
  for (const std::string& file : base::tool_files(base::value_of(environment, "OMP_TOOL_LIBRARIES"))) {
    void* const library = dlopen(file.c_str(), RTLD_LAZY);
    if (library == nullptr) continue;
    auto* const start = reinterpret_cast<StartTool*>(dlsym(library, "ompt_start_tool"));
    if (OtherTool tool = ask(start, omp_version, runtime_version); tool.its != nullptr) return {tool.its, file};
    dlclose(library);
  }
  return {};
}

}  // namespace

}  // namespace steelyard::intercept

STEELYARD_EXPORT ompt_start_tool_result_t* ompt_start_tool(unsigned int omp_version, const char* version) {
  if (const auto tool = steelyard::intercept::other_tool(omp_version, version); tool.its != nullptr) {
    steelyard::intercept::forget_blocktime();
    steelyard::session::leave_openmp_to(tool.library);
    steelyard::base::warn_once("OpenMP not measured: " + tool.library +
                               " uses OMPT, and a process has room for one tool. Steelyard does not see OpenMP regions "
                               "and loops. To measure them: start without that tool, and unset OMP_TOOL_LIBRARIES");
    return tool.its;
  }
  static ompt_start_tool_result_t result = {steelyard::intercept::initialise, steelyard::intercept::finalise, {0}};
  if (version != nullptr) steelyard::intercept::g_version = strdup(steelyard::intercept::name_of(version).c_str());
  return &result;
}
