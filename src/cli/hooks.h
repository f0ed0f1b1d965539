// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "cli/elf.h"

namespace steelyard::cli {

/// How a library or an executable takes part in MPI and OpenMP calls, by the functions that it defines and calls.
struct Hooks {
  std::string wrapped;  ///< an MPI function that it defines and whose PMPI_ name it calls; "" if it wraps none so
  std::string renamed;  ///< an MPI function that it defines together with its PMPI_ name, as Darshan does
  std::string other;    ///< an MPI function that it defines in neither way
  bool openmp_tool = false;
  bool moves_cores = false;                 ///< it is DLB
  std::vector<std::string> openmp_imports;  ///< functions that is_openmp() tells, which others must define
  std::string sanitizer;                    ///< "AddressSanitizer", "ThreadSanitizer" or ""
};
Hooks hooks_of(const ElfImage& image);

}  // namespace steelyard::cli
