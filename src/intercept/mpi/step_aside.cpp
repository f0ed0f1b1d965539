// SPDX-License-Identifier: BSD-3-Clause
// Handles of one MPI do not fit through wrappers for another. The wrappers are in the global scope and cannot be taken
// out of it, so the addresses that the dynamic linker has written for each library are replaced.
#include "intercept/mpi/step_aside.h"

#include <dlfcn.h>
#include <link.h>

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
    void* const bound = dlsym(RTLD_DEFAULT, name);
    return bound != nullptr && base::base_of(bound) == own_base;
  }

  /// True if a tool's call of PMPI_X goes to a wrapper of this library (tool_chain.cpp).
  bool is_chained(const char* name, void* const* slot) const {
    const std::string_view text = name;
    return (text.starts_with("PMPI_") || text.starts_with("pmpi_")) && base::base_of(*slot) == own_base;
  }

  void redirect(const dl_phdr_info& library) const {
    // Among its own symbols and those of its libraries. mpi4py has replacements for functions that its MPI lacks.
    const bool named = library.dlpi_name != nullptr && *library.dlpi_name != '\0';
    void* const scope = named ? dlopen(library.dlpi_name, RTLD_NOLOAD | RTLD_LAZY) : mpi;
    base::visit_imports(library, [&](const char* name, void** slot) {
      if (is_ours(name)) base::rebind(slot, scope != nullptr ? dlsym(scope, name) : nullptr);
      if (is_chained(name, slot)) base::rebind(slot, dlsym(mpi, name));
    });
  }
};

}  // namespace

void step_aside() {
  Redirection redirection;
  const auto* const here = reinterpret_cast<const void*>(&step_aside);
  redirection.own_base = base::base_of(here);
  redirection.mpi = base::library_of(base::find_in_libraries("PMPI_Init", here));
  if (redirection.own_base != nullptr && redirection.mpi != nullptr) {
    dl_iterate_phdr(
        [](dl_phdr_info* library, std::size_t, void* with) {
          const auto& redirect = *static_cast<const Redirection*>(with);
          if (base::base_of(*library) != redirect.own_base) redirect.redirect(*library);
          return 0;
        },
        &redirection);
  }
  other_mpi_begins();
}

}  // namespace steelyard::intercept
