// SPDX-License-Identifier: BSD-3-Clause
#include "base/locate.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace steelyard::base {
namespace {

/// Takes `directory` + `program` for the file if it can be executed. An empty directory stands for none.
bool is_found(std::string_view directory, std::string_view program, Located& located) {
  const std::string_view slash = directory.empty() ? "" : "/";
  if (directory.size() + slash.size() + program.size() >= sizeof(located.path)) return false;
  char* end = located.path;
  for (const auto part : {directory, slash, program}) end += part.copy(end, part.size());
  *end = '\0';
  struct stat info{};
  if (stat(located.path, &info) != 0) return false;
  const bool found = S_ISREG(info.st_mode) && access(located.path, X_OK) == 0;
  located.error = found ? 0 : EACCES;
  return found;
}

}  // namespace

Located locate(std::string_view program, std::string_view path_variable) {
  Located located;
  located.error = ENOENT;
  if (program.empty()) return located;
  if (program.find('/') != std::string_view::npos) {
    is_found("", program, located);
    return located;
  }
  // Not base::split(), which allocates.
  std::string_view rest = path_variable.empty() ? "/usr/local/bin:/bin:/usr/bin" : path_variable;
  while (true) {
    const auto directory = rest.substr(0, rest.find(':'));
    if (is_found(directory.empty() ? "." : directory, program, located) || directory.size() == rest.size())
      return located;
    rest.remove_prefix(directory.size() + 1);
  }
}

}  // namespace steelyard::base
