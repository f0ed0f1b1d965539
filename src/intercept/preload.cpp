// What the preload library does on being loaded: the program's own children are to start as if Steelyard were not there.
#include <cstdlib>

#include "base/options.h"

namespace steelyard::intercept {
namespace {

__attribute__((constructor)) void spare_the_children() {
  const base::Options& options = base::options();
  if (!options.launched) return;  // preloaded by hand: the variable is the user's
  for (const base::Option& option : base::option_table()) {
    if (option.internal) unsetenv(option.variable().c_str());
  }
  if (options.preload.empty()) {
    unsetenv("LD_PRELOAD");
  } else {
    setenv("LD_PRELOAD", options.preload.c_str(), 1);
  }
}

}  // namespace
}  // namespace steelyard::intercept
