// SPDX-License-Identifier: BSD-3-Clause
#include "base/loaded_library.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
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

void* next_or_opened(const char* name) {
  if (void* const found = next_definition<void>(name); found != nullptr) return found;
  return find_in_libraries(name, reinterpret_cast<const void*>(&next_or_opened));
}

namespace {

/// Calls `visit` with each entry of a library's dynamic section.
template <class Visit>
void visit_dynamic(const dl_phdr_info& library, const Visit& visit) {
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    if (library.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): ELF gives addresses as integers
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(library.dlpi_addr + library.dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) visit(*entry);
  }
}

/// False for the kernel's vdso, whose dynamic section has offsets where those of libraries have addresses.
bool has_addresses(const dl_phdr_info& library, const char* names) {
  return names >= reinterpret_cast<const char*>(library.dlpi_addr);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

void visit_imports(const dl_phdr_info& library, const std::function<void(const char*, void**)>& visit) {
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  const char* tables[2] = {};  // relocations of data, of calls
  std::size_t bytes[2] = {};
  visit_dynamic(library, [&](const ElfW(Dyn) & entry) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): ELF gives addresses as integers
    const auto* const at = reinterpret_cast<const char*>(entry.d_un.d_ptr);
    switch (entry.d_tag) {
      case DT_SYMTAB: symbols = reinterpret_cast<const ElfW(Sym)*>(at); break;
      case DT_STRTAB: names = at; break;
      case DT_RELA: tables[0] = at; break;
      case DT_RELASZ: bytes[0] = entry.d_un.d_val; break;
      case DT_JMPREL: tables[1] = at; break;
      case DT_PLTRELSZ: bytes[1] = entry.d_un.d_val; break;
      default: break;
    }
  });
  if (symbols == nullptr || !has_addresses(library, names)) return;
  for (int table = 0; table < 2; ++table) {
    const auto* const relocations = reinterpret_cast<const ElfW(Rela)*>(tables[table]);
    const std::size_t count = relocations != nullptr ? bytes[table] / sizeof(ElfW(Rela)) : 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto symbol = ELF64_R_SYM(relocations[i].r_info);
      // NOLINTNEXTLINE(performance-no-int-to-ptr)
      auto** const slot = reinterpret_cast<void**>(library.dlpi_addr + relocations[i].r_offset);
      if (symbol != 0) visit(names + symbols[symbol].st_name, slot);
    }
  }
}

const char* name_of(const dl_phdr_info& library) {
  const char* names = nullptr;
  std::size_t name = 0;
  visit_dynamic(library, [&](const ElfW(Dyn) & entry) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): ELF gives addresses as integers
    if (entry.d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(entry.d_un.d_ptr);
    if (entry.d_tag == DT_SONAME) name = entry.d_un.d_val;
  });
  if (name != 0 && has_addresses(library, names)) return names + name;
  const char* const slash = std::strrchr(library.dlpi_name, '/');
  return slash == nullptr ? library.dlpi_name : slash + 1;
}

const void* base_of(const void* address) {
  Dl_info place{};
  return dladdr(address, &place) != 0 ? place.dli_fbase : nullptr;
}

const void* base_of(const dl_phdr_info& library) {
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    if (library.dlpi_phdr[i].p_type != PT_LOAD) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return base_of(reinterpret_cast<const void*>(library.dlpi_addr + library.dlpi_phdr[i].p_vaddr));
  }
  return nullptr;
}

void rebind(void** slot, void* function) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  void* const begin = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(slot) / page * page);
  if (mprotect(begin, page, PROT_READ | PROT_WRITE) == 0) *slot = function;
}

namespace {

// dl_iterate_phdr() says with each library how often libraries were loaded and unloaded.
using Counts = std::pair<unsigned long long, unsigned long long>;
Counts counts() {
  Counts found;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* out) {
        *static_cast<Counts*>(out) = {library->dlpi_adds, library->dlpi_subs};
        return 1;
      },
      &found);
  return found;
}

}  // namespace

unsigned long long loaded_libraries() { return counts().first; }

unsigned long long unloaded_libraries() { return counts().second; }

namespace {

bool begins_regions(const dl_phdr_info& library) {
  bool found = false;
  visit_imports(library, [&](std::string_view name, void**) {
    found = found || name.starts_with("GOMP_parallel") || name.starts_with("__kmpc_fork_call");
  });
  return found;
}

struct ThreadLocalData {
  bool with_executable;
  std::string folder;  // of the executable
  bool first = true;
  std::uint64_t bytes = 0;

  void add(const dl_phdr_info& library) {
    const bool is_executable = std::exchange(first, false);
    std::uint64_t own = 0;
    for (int i = 0; i < library.dlpi_phnum; ++i) {
      if (library.dlpi_phdr[i].p_type == PT_TLS) own += library.dlpi_phdr[i].p_memsz;
    }
    if (own == 0) return;
    const std::string_view path = library.dlpi_name != nullptr ? library.dlpi_name : "";
    const bool beside = !path.empty() && path.substr(0, path.rfind('/') + 1) == folder && !is_of_the_system(path);
    const bool has_regions = !keeps_no_threadprivate_data(path) && begins_regions(library);
    const bool counts = has_regions || (is_executable ? with_executable : beside);
    if (counts) bytes += own;
  }
};

}  // namespace

bool is_of_the_system(std::string_view path) {
  for (const std::string_view directory : {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"}) {
    if (path.starts_with(directory)) return true;
  }
  return false;
}

bool keeps_no_threadprivate_data(std::string_view file) {
  return file.substr(file.rfind('/') + 1).starts_with("libopenblas");
}

std::uint64_t thread_local_bytes(bool with_executable) {
  char executable[PATH_MAX] = {};
  const ssize_t length = readlink("/proc/self/exe", executable, sizeof(executable) - 1);
  std::string folder(executable, length > 0 ? static_cast<std::size_t>(length) : 0);
  folder.resize(folder.rfind('/') + 1);
  ThreadLocalData data{with_executable, std::move(folder)};
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* to) {
        static_cast<ThreadLocalData*>(to)->add(*library);
        return 0;
      },
      &data);
  return data.bytes;
}

}  // namespace steelyard::base
