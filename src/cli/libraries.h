// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/hooks.h"

namespace steelyard::cli {

/// A library that a program loads at start.
struct Library {
  std::string name;  ///< as it is asked for: "libmpi.so.40"
  std::string path;  ///< where the dynamic linker finds it; empty where it does not
  std::uint64_t thread_local_bytes = 0;
  bool has_regions = false;  ///< it begins parallel regions: it is compiled with OpenMP
  Hooks hooks = {};
};

/// Finds libraries where the dynamic linker of this system would, without loading anything.
class LibrarySearch {
 public:
  /// `library_path` is LD_LIBRARY_PATH.
  explicit LibrarySearch(std::string_view library_path, const std::string& cache_file = "/etc/ld.so.cache");

  /// Everything that an executable loads, breadth first as the linker does; each library once.
  std::vector<Library> closure(const std::string& executable, const ElfImage& image) const;

  /// A library by any of its names for no program in particular; at last in directories that the linker does not know.
  /// An earlier directory of LD_LIBRARY_PATH goes before an earlier name. "" where there is none for this machine.
  std::string find(std::span<const std::string> names, std::uint16_t machine,
                   const std::vector<std::string>& at_last) const;

 private:
  std::string find_for(std::span<const std::string> names, std::uint16_t machine, const std::vector<std::string>& rpath,
                       const std::vector<std::string>& runpath) const;

  std::vector<std::string> library_path_;
  std::multimap<std::string, std::string, std::less<>> cache_;
};

/// Directories of a search path such as RUNPATH; `origin` replaces $ORIGIN. Empty entries, which mean the current
/// directory, come as ".".
std::vector<std::string> directories(std::string_view path, const std::string& origin);

/// Name to paths as in a file made by ldconfig; empty for a file of another format.
std::multimap<std::string, std::string, std::less<>> read_linker_cache(const std::string& file);

}  // namespace steelyard::cli
