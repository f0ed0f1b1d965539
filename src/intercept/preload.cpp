// SPDX-License-Identifier: BSD-3-Clause
// What the preload library does on being loaded.
#include <sys/stat.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "base/loaded_library.h"
#include "base/options.h"
#include "intercept/awaiting.h"
#include "intercept/gomp.h"
#include "node/binding.h"

namespace steelyard::intercept {
namespace {

/// With OMP_PROC_BIND or the like, GNU's OpenMP runtime binds this thread to one CPU as it is loaded. `steelyard run`
/// has seen the launcher's affinity mask. LLVM's runtime, if it runs instead of GNU's, would put all its threads on
/// that CPU.
void adopt_launcher_mask(const base::Options& options) {
  node::CpuSet cpus = node::CpuSet::parse(options.mask).value_or(node::CpuSet());
  const bool bound = !cpus.empty() && node::affinity_mask() != cpus;
  if (bound && options.openmp == base::OpenMp::llvm) node::bind_this_thread(cpus);
  node::set_mask_at_start(std::move(cpus));
}

/// False in a process between `steelyard run` and the program: valgrind --trace-children=yes executes its own launcher
/// before the program, which gets the environment from there. True where it cannot be told.
bool is_the_program(const std::string& program) {
  struct stat wanted{}, here{};
  if (program.empty() || stat(program.c_str(), &wanted) != 0 || stat("/proc/self/exe", &here) != 0) return true;
  return wanted.st_dev == here.st_dev && wanted.st_ino == here.st_ino;
}

__attribute__((constructor)) void begin() {
  const base::Options& options = base::options();
  if (!options.launched) return;  // preloaded by hand: the variables are the user's
  if (options.awaits_mpi) return await_mpi();
  if (!is_the_program(options.program)) return;
  adopt_launcher_mask(options);
  program_begins();
}

// The program has opened no library by now, so a runtime that it is linked to is the only one to look for.
__attribute__((constructor)) void find_gnu_openmp() {
  if (base::next_definition<void>("GOMP_parallel") != nullptr) gomp::attach();
}

}  // namespace
}  // namespace steelyard::intercept
