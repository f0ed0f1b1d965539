// SPDX-License-Identifier: BSD-3-Clause
#include "partition/function_names.h"

#include <link.h>

#include <optional>

#include "partition/file_image.h"

namespace steelyard::partition {

namespace {

struct Loaded {
  std::string path;
  std::uint64_t shift = 0;
  std::vector<std::size_t> wanted;  ///< indices of the addresses that lie in it
};

struct Search {
  const std::vector<std::uint64_t>& addresses;
  std::vector<Loaded> found;
};

/// For dl_iterate_phdr(): adds a program or library that contains some of the addresses.
int add_object(dl_phdr_info* object, std::size_t, void* data) {
  Search& search = *static_cast<Search*>(data);
  Loaded loaded{*object->dlpi_name != '\0' ? object->dlpi_name : "/proc/self/exe", object->dlpi_addr, {}};
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const Elf64_Phdr& segment = object->dlpi_phdr[i];
    const std::uint64_t begin = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD) continue;
    for (std::size_t n = 0; n < search.addresses.size(); ++n) {
      if (search.addresses[n] - begin < segment.p_memsz) loaded.wanted.push_back(n);
    }
  }
  if (!loaded.wanted.empty()) search.found.push_back(std::move(loaded));
  return 0;
}

}  // namespace

std::vector<std::string> function_names(const std::vector<std::uint64_t>& addresses) {
  Search search{addresses, {}};
  dl_iterate_phdr(add_object, &search);
  std::vector<std::string> names(addresses.size());
  for (const Loaded& loaded : search.found) {
    const std::optional<FileImage> file = FileImage::open(loaded.path);
    if (!file) continue;
    for (const std::size_t n : loaded.wanted)
      names[n] = file->function_name(file->image().function_at(addresses[n] - loaded.shift).begin);
  }
  return names;
}

}  // namespace steelyard::partition
