// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "base/options.h"
#include "cli/hooks.h"

namespace steelyard::cli {

struct Binary;
struct Site;

/// A tool that is loaded into the program beside Steelyard.
struct OtherTool {
  std::string path;
  Hooks hooks;
  bool in_executable = false;
  bool preloaded = false;  ///< by the user's LD_PRELOAD

  /// It must be loaded before Steelyard's library: a sanitizer's runtime, or a tool through which MPI calls reach
  /// Steelyard (src/intercept/mpi/tool_chain.cpp).
  bool goes_first() const { return !in_executable && (!hooks.sanitizer.empty() || !hooks.wrapped.empty()); }
};

/// One file under two paths, as through a link, is one tool.
bool is_same_file(const std::string& a, const std::string& b);

/// All that `binary` and the user's LD_PRELOAD bring, sanitizers first, then in the order in which they are searched.
std::vector<OtherTool> other_tools(const Binary& binary, const Site& site);

/// What the user should know of a tool: which it is, by what it is recognised, what it does not measure, what to do.
struct ToolRemark {
  std::string text;
  bool at_start = false;  ///< `steelyard run` says it, and not the doctor alone
};
std::vector<ToolRemark> remarks_on(const std::vector<OtherTool>& tools, const Binary& binary,
                                   const base::Options& options, const Site& site);

}  // namespace steelyard::cli
