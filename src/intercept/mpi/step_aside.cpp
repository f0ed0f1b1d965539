// SPDX-License-Identifier: BSD-3-Clause
// Handles of one MPI do not fit through wrappers for another. The wrappers are in the global scope and cannot be taken
// out of it, so the addresses that the dynamic linker has written for each library are replaced.
#include "intercept/mpi/step_aside.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string_view>

#include "base/loaded_library.h"
#include "intercept/awaiting.h"

namespace steelyard::intercept {
namespace {

struct Redirection {
  const void* own_base = nullptr;  // of this library
  void* mpi = nullptr;             // the program's MPI library

  /// True if the dynamic linker has bound this name to a wrapper of this library.
  bool is_ours(const char* name) const {
    const std::string_view text = name;
    if (!text.starts_with("MPI_") && !text.starts_with("mpi_")) return false;
    Dl_info place{};
    void* const bound = dlsym(RTLD_DEFAULT, name);
    return bound != nullptr && dladdr(bound, &place) != 0 && place.dli_fbase == own_base;
  }

  void redirect(const dl_phdr_info& library) const {
    // Among its own symbols and those of its libraries. mpi4py has replacements for functions that its MPI lacks.
    const bool named = library.dlpi_name != nullptr && *library.dlpi_name != '\0';
    void* const scope = named ? dlopen(library.dlpi_name, RTLD_NOLOAD | RTLD_LAZY) : mpi;
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    base::visit_imports(library, [&](const char* name, void** slot) {
      if (!is_ours(name)) return;
      // NOLINTNEXTLINE(performance-no-int-to-ptr)
      void* const begin = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(slot) / page * page);
      if (mprotect(begin, page, PROT_READ | PROT_WRITE) == 0) *slot = scope != nullptr ? dlsym(scope, name) : nullptr;
    });
  }
};

}  // namespace

void step_aside() {
  Redirection redirection;
  const auto* const here = reinterpret_cast<const void*>(&step_aside);
  Dl_info own{};
  if (dladdr(here, &own) != 0) redirection.own_base = own.dli_fbase;
  redirection.mpi = base::library_of(base::find_in_libraries("PMPI_Init", here));
  if (redirection.own_base != nullptr && redirection.mpi != nullptr) {
    dl_iterate_phdr(
        [](dl_phdr_info* library, std::size_t, void* with) {
          const auto& redirect = *static_cast<const Redirection*>(with);
          // NOLINTNEXTLINE(performance-no-int-to-ptr)
          if (reinterpret_cast<const void*>(library->dlpi_addr) != redirect.own_base) redirect.redirect(*library);
          return 0;
        },
        &redirection);
  }
  other_mpi_begins();
}

}  // namespace steelyard::intercept
