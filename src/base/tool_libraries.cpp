// SPDX-License-Identifier: BSD-3-Clause
#include "base/tool_libraries.h"

#include <unistd.h>

#include "base/split.h"

namespace steelyard::base {

std::vector<std::string> tool_files(std::string_view list) {
  const std::vector<std::string_view> files = words_of(list, ":");
  return {files.begin(), files.end()};
}

ToolLibraries tool_libraries(std::string_view list) {
  ToolLibraries found;
  for (const std::string& file : tool_files(list)) {
    const bool missing = file.find('/') != std::string::npos && access(file.c_str(), R_OK) != 0;
    std::string& names = missing ? found.missing : found.others;
    names += (names.empty() ? "" : ":") + file;
  }
  return found;
}

}  // namespace steelyard::base
