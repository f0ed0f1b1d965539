// SPDX-License-Identifier: BSD-3-Clause
// A tool that wraps MPI, such as mpiP, defines MPI_X and calls PMPI_X. Where it is searched before this library, the
// program calls the tool, and the tool would call the MPI library past Steelyard. Its calls of PMPI_X are bound to the
// wrappers here instead, so that the tool measures the program's calls and Steelyard handles them. Only calls of the
// tool change: what the MPI library calls by these names stays its own, and Steelyard looks its functions up itself.
#include <dlfcn.h>
#include <link.h>

#include <string>
#include <string_view>

#include "base/loaded_library.h"

namespace steelyard::intercept {
namespace {

struct Chain {
  const void* own_base;
  void* own;

  /// The wrapper of this library for a function that `library` wraps as well and takes from MPI by this name.
  void* wrapper(const std::string_view name, const void* library) const {
    if (!name.starts_with("PMPI_") && !name.starts_with("pmpi_")) return nullptr;
    const std::string wrapped(name.substr(1));
    void* const tool = dlsym(RTLD_DEFAULT, wrapped.c_str());
    if (tool == nullptr || base::base_of(tool) != library) return nullptr;
    void* const ours = dlsym(own, wrapped.c_str());
    return ours != nullptr && base::base_of(ours) == own_base ? ours : nullptr;
  }

  void bind_calls_of(const dl_phdr_info& library) const {
    const void* const base = base::base_of(library);
    if (base == own_base) return;
    base::visit_imports(library, [&](const char* name, void** slot) {
      if (void* const function = wrapper(name, base); function != nullptr) base::rebind(slot, function);
    });
  }
};

__attribute__((constructor)) void chain_tools() {
  const auto* const here = reinterpret_cast<const void*>(&chain_tools);
  Chain chain{base::base_of(here), base::library_of(here)};
  if (chain.own == nullptr) return;
  const auto bind = [](dl_phdr_info* library, std::size_t, void* with) {
    static_cast<const Chain*>(with)->bind_calls_of(*library);
    return 0;
  };
  dl_iterate_phdr(bind, &chain);
}

}  // namespace
}  // namespace steelyard::intercept
