// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/mpi/library.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/loaded_library.h"
#include "base/log.h"

namespace steelyard::intercept {
namespace {

constexpr std::string_view kStandardAbi = "libmpi_abi.so";

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
  const void* const function = find_in_library("PMPI_Init");
  if (function == nullptr) return true;
  // An MPI with the standard's ABI may have that of its own family, too, in another library.
  Dl_info info{};
  const std::string path = dladdr(function, &info) != 0 ? info.dli_fname : "";
  const bool is_standard = path.compare(path.find_last_of('/') + 1, kStandardAbi.size(), kStandardAbi) == 0;
#ifdef STEELYARD_STANDARD_ABI
  const auto version = reinterpret_cast<int (*)(int*, int*)>(find_in_library("PMPI_Abi_get_version"));
  int major = 0, minor = 0;
  return is_standard && version != nullptr && version(&major, &minor) == MPI_SUCCESS && major == MPI_ABI_VERSION;
#else
#ifdef OPEN_MPI
  constexpr bool kIsOpenMpi = true;
#else
  constexpr bool kIsOpenMpi = false;
#endif
  return !is_standard && (find_in_library("ompi_mpi_comm_world") != nullptr) == kIsOpenMpi;
#endif
}

}  // namespace steelyard::intercept
