// SPDX-License-Identifier: BSD-3-Clause
#include "base/tool_libraries.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace steelyard::base {

std::vector<std::string> tool_files(std::string_view list) {
  std::vector<std::string> files;
  while (!list.empty()) {
    std::string file(list.substr(0, list.find(':')));
    list.remove_prefix(std::min(file.size() + 1, list.size()));
    if (!file.empty()) files.push_back(std::move(file));
  }
  return files;
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
