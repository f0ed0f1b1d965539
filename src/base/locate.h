// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <climits>
#include <string_view>

namespace steelyard::base {

/// The file that execvp() would run.
struct Located {
  char path[PATH_MAX] = "";
  int error = 0;  ///< ENOENT or EACCES if nothing can be run
};

/// Searches the directories of `path_variable` (PATH) unless `program` has a slash in it. Allocates no memory: a signal
/// handler may call it.
Located locate(std::string_view program, std::string_view path_variable);

}  // namespace steelyard::base
