// SPDX-License-Identifier: BSD-3-Clause
#include "cli/other_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/tool_libraries.h"
#include "cli/binary.h"
#include "cli/decision.h"

namespace steelyard::cli {
namespace {

/// MPI's own libraries define MPI_X and PMPI_X, too.
bool is_of_mpi(std::string_view name) { return name.starts_with("libmpi") || name.starts_with("libpmpi"); }

bool concerns(const Hooks& hooks) {
  return !hooks.wrapped.empty() || !hooks.renamed.empty() || !hooks.other.empty() || hooks.openmp_tool ||
         hooks.moves_cores || !hooks.sanitizer.empty();
}

/// Without what is normal for a library of this name.
Hooks of_a_tool(Hooks hooks, std::string_view name) {
  if (is_of_mpi(name) && hooks.wrapped.empty()) hooks.renamed = hooks.other = "";
  const bool is_runtime =
      name.starts_with("libomp.so") || name.starts_with("libiomp5.so") || name.starts_with("libomp5.so");
  if (is_runtime) hooks.openmp_tool = false;  // its own definition, which finds the tool
  return hooks;
}

void add(std::vector<OtherTool>& tools, OtherTool tool) {
  tool.hooks = of_a_tool(tool.hooks, file_name(tool.path));
  const bool known =
      std::ranges::any_of(tools, [&](const OtherTool& other) { return is_same_file(other.path, tool.path); });
  if (concerns(tool.hooks) && !known) tools.push_back(std::move(tool));
}

}  // namespace

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || std::filesystem::equivalent(a, b, error);
}

std::vector<OtherTool> other_tools(const Binary& binary, const Site& site) {
  std::vector<OtherTool> tools;
  add(tools, {binary.path, binary.hooks, true, false});
  for (const auto& entry : users_preload(site)) {
    const auto path =
        entry.find('/') != std::string::npos ? entry : site.libraries().find({&entry, 1}, binary.machine, {});
    ElfImage image;
    if (read_elf(path, image)) add(tools, {path, hooks_of(image), false, true});
  }
  for (const auto& library : binary.libraries) {
    if (!library.path.empty()) add(tools, {library.path, library.hooks, false, false});
  }
  std::ranges::stable_partition(tools, [](const OtherTool& tool) { return !tool.hooks.sanitizer.empty(); });
  return tools;
}

namespace {

void remark_on_named_tools(std::string_view list, std::vector<ToolRemark>& remarks) {
  const auto [missing, others] = base::tool_libraries(list);
  if (!missing.empty()) {
    remarks.push_back({fmt::format("OMP_TOOL_LIBRARIES names {}, which cannot be read: no OpenMP tool is loaded from "
                                   "there; correct the path, or unset OMP_TOOL_LIBRARIES",
                                   missing),
                       true});
  }
  if (!others.empty()) {
    remarks.push_back(
        {fmt::format("OMP_TOOL_LIBRARIES is {}: if that library has an OpenMP tool and the tool is on, Steelyard does "
                     "not see OpenMP regions and loops; to measure them, unset OMP_TOOL_LIBRARIES",
                     others),
         false});
  }
}

}  // namespace

std::vector<ToolRemark> remarks_on(const std::vector<OtherTool>& tools, const Binary& binary,
                                   const base::Options& options, const Site& site) {
  std::vector<ToolRemark> remarks;
  const bool llvm = binary.llvm_openmp() != nullptr || !exchanged_openmp(binary, options, site).empty();
  bool above = false;
  for (const auto& [path, hooks, in_executable, preloaded] : tools) {
    if (hooks.moves_cores) {
      remarks.push_back({fmt::format("{} is DLB (it defines DLB_Init), which moves cores as Steelyard does: the two "
                                     "disturb each other; start without it, or use --observe",
                                     path),
                         !options.observe});
    }
    if (!hooks.wrapped.empty() && above) {
      remarks.push_back({fmt::format("{} wraps MPI (it defines {} and calls P{}), but another tool does so before it: "
                                     "it sees no calls of the functions that both define, as without Steelyard",
                                     path, hooks.wrapped, hooks.wrapped),
                         true});
    } else if (!hooks.wrapped.empty()) {
      above = true;
      remarks.push_back({fmt::format("{} wraps MPI (it defines {} and calls P{}): it measures the program's MPI calls, "
                                     "and Steelyard handles them when it passes them on; its times include the waits "
                                     "in which Steelyard lends cores",
                                     path, hooks.wrapped, hooks.wrapped),
                         true});
    } else if (!hooks.renamed.empty()) {
      remarks.push_back({fmt::format("{} defines {} and P{}, as Darshan does: it is called by Steelyard and measures "
                                     "what it wraps",
                                     path, hooks.renamed, hooks.renamed),
                         false});
    } else if (!hooks.other.empty()) {
      remarks.push_back({fmt::format("{} defines {} and does not call P{}: it does not see MPI calls that Steelyard "
                                     "handles itself; to measure with it, start without `steelyard run`",
                                     path, hooks.other, hooks.other),
                         true});
    }
    // Where the tool is not first, the OpenMP runtime asks Steelyard, which says so then.
    if (hooks.openmp_tool && llvm) {
      const bool first = in_executable || !hooks.wrapped.empty();
      remarks.push_back({fmt::format("{} is an OpenMP tool (it defines ompt_start_tool), and a process has room for "
                                     "one: {}Steelyard does not see OpenMP regions and loops; to measure them, start "
                                     "without that tool",
                                     path, first ? "" : "if the tool is on, "),
                         first});
    }
    if (!hooks.sanitizer.empty() && !in_executable) {
      remarks.push_back(
          {fmt::format("{} is the runtime of {}: it is loaded before Steelyard's library", path, hooks.sanitizer),
           false});
    }
  }
  if (llvm) remark_on_named_tools(site.value_of("OMP_TOOL_LIBRARIES"), remarks);
  return remarks;
}

}  // namespace steelyard::cli
