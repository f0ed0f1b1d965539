// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string_view>

namespace steelyard::base {

/// True for the file names that mpi_of() in src/cli/binary.cpp knows, and for those of links to them: also that of
/// Cray's MPICH. A signal handler may call it.
/// @param name without directories
constexpr bool is_mpi_library(std::string_view name) {
  const bool descendant =
      name.starts_with("libmpi_") && !name.starts_with("libmpi_cxx") && name.find(".so") != std::string_view::npos;
  return name.starts_with("libmpi.so") || name.starts_with("libmpich.so") || descendant;
}

}  // namespace steelyard::base
