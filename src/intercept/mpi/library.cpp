// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/mpi/library.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "base/loaded_library.h"
#include "base/log.h"

namespace steelyard::intercept {
namespace {

/// A handle of the MPI library that a part of the program has loaded for itself (RTLD_LOCAL); null while there is none.
void* library() {
  static std::atomic<void*> found = nullptr;
  if (void* const known = found.load()) return known;
  const void* const function = base::find_in_libraries("PMPI_Init", reinterpret_cast<const void*>(&library));
  if (function == nullptr) return nullptr;
  found.store(base::library_of(function));
  return found.load();
}

// An executable that is linked with MPI may hold the library's data itself (copy relocations): it goes first.
void* find_in_library(const char* name) {
  if (void* const symbol = dlsym(RTLD_DEFAULT, name); symbol != nullptr) return symbol;
  void* const mpi = library();
  return mpi != nullptr ? dlsym(mpi, name) : nullptr;
}

}  // namespace

void* in_library(const char* name) {
  if (void* const symbol = find_in_library(name); symbol != nullptr) return symbol;
  base::warn(std::string("the MPI library of this program has no ") + name +
             ": use a newer MPI library, or start the program without `steelyard run`");
  std::abort();
}

bool library_has_our_abi() {
  if (find_in_library("PMPI_Init") == nullptr) return true;
  const bool is_open_mpi = find_in_library("ompi_mpi_comm_world") != nullptr;
#ifdef OPEN_MPI
  return is_open_mpi;
#else
  return !is_open_mpi;
#endif
}

}  // namespace steelyard::intercept
