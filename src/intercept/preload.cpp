// What the preload library does on being loaded.
#include <sys/stat.h>

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "node/binding.h"

namespace steelyard::intercept {
namespace {

/// With OMP_PROC_BIND or the like, GNU's OpenMP runtime binds this thread to one CPU as it is loaded, and LLVM's, which takes
/// its place, would put all its threads there.
void unbind_from_unused_runtime(std::string_view mask) {
  std::vector<int> cpus;
  for (const char* at = mask.data(); at < mask.data() + mask.size(); ++at) {
    int cpu = 0;
    at = std::from_chars(at, mask.data() + mask.size(), cpu).ptr;
    cpus.push_back(cpu);
  }
  if (!cpus.empty() && node::affinity_mask() != cpus) node::bind_this_thread(cpus);
}

/// The program's own children are to start as if Steelyard were not there.
void spare_the_children(const base::Options& options) {
  for (const base::Option& option : base::option_table()) {
    if (option.internal) unsetenv(option.variable().c_str());
  }
  if (options.preload.empty()) {
    unsetenv("LD_PRELOAD");
  } else {
    setenv("LD_PRELOAD", options.preload.c_str(), 1);
  }
}

/// False in a process between `steelyard run` and the program: valgrind --trace-children=yes executes its own launcher before
/// the program, which gets the environment from there. True where it cannot be told.
bool is_the_program(const std::string& program) {
  struct stat wanted{}, here{};
  if (program.empty() || stat(program.c_str(), &wanted) != 0 || stat("/proc/self/exe", &here) != 0) return true;
  return wanted.st_dev == here.st_dev && wanted.st_ino == here.st_ino;
}

__attribute__((constructor)) void begin() {
  const base::Options& options = base::options();
  if (!options.launched) return;  // preloaded by hand: the variables are the user's
  if (!is_the_program(options.program)) return;
  unbind_from_unused_runtime(options.mask);
  node::mask_at_start();
  spare_the_children(options);
}

}  // namespace
}  // namespace steelyard::intercept
