// SPDX-License-Identifier: BSD-3-Clause
#include "base/loaded_library.h"

#include <dlfcn.h>
#include <link.h>

#include <string>
#include <vector>

namespace steelyard::base {

void* library_of(const void* address) {
  Dl_info place{};
  return dladdr(address, &place) != 0 ? dlopen(place.dli_fname, RTLD_NOLOAD | RTLD_LAZY) : nullptr;
}

void* find_in_libraries(const char* name, const void* caller) {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* list) {
        if (library->dlpi_name != nullptr && *library->dlpi_name != '\0')
          static_cast<std::vector<std::string>*>(list)->emplace_back(library->dlpi_name);
        return 0;
      },
      &paths);
  Dl_info own{};
  dladdr(caller, &own);
  for (const std::string& path : paths) {
    void* const library = dlopen(path.c_str(), RTLD_NOLOAD | RTLD_LAZY);
    if (library == nullptr) continue;
    void* const found = dlsym(library, name);
    Dl_info place{};
    if (found != nullptr && dladdr(found, &place) != 0 && place.dli_fbase != own.dli_fbase) return found;
    dlclose(library);
  }
  return nullptr;
}

}  // namespace steelyard::base
