// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace steelyard::base {

/// The files of OMP_TOOL_LIBRARIES, in which LLVM's OpenMP runtime searches for a tool, in its order.
std::vector<std::string> tool_files(std::string_view list);

/// The same, separated by colons.
struct ToolLibraries {
  std::string missing;  ///< cannot be read: the runtime passes over them
  std::string others;   ///< may have a tool; a name without a slash is found by the linker
};
ToolLibraries tool_libraries(std::string_view list);

}  // namespace steelyard::base
