// SPDX-License-Identifier: BSD-3-Clause
#include "cli/libraries.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "base/split.h"

namespace steelyard::cli {
namespace {

const char* const usual_directories[] = {"/lib64", "/usr/lib64", "/lib", "/usr/lib"};

std::string directory_of(const std::string& file) {
  std::error_code error;
  const auto path = std::filesystem::canonical(file, error);
  return (error ? std::filesystem::path(file) : path).parent_path().string();
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

/// The linker passes over a library of another machine, and so must we.
bool fits(const std::string& path, std::uint16_t machine) {
  return access(path.c_str(), R_OK) == 0 && machine_of(path) == machine;
}

bool begins_regions(const ElfImage& image) {
  return std::any_of(image.undefined.begin(), image.undefined.end(), [](const std::string& name) {
    return name.starts_with("__kmpc_fork_call") || name.starts_with("GOMP_parallel");
  });
}

/// An earlier directory goes before an earlier name.
std::string first_fit(const std::vector<std::string>& candidates, std::span<const std::string> names,
                      std::uint16_t machine) {
  for (const auto& directory : candidates) {
    for (const auto& name : names) {
      const auto path = directory + "/" + name;
      if (fits(path, machine)) return path;
    }
  }
  return {};
}

}  // namespace

std::vector<std::string> directories(std::string_view path, const std::string& origin) {
  std::vector<std::string> result;
  for (const std::string_view item : base::items_of(path, ":;")) {
    std::string directory(item);
    replace_all(directory, "${ORIGIN}", origin);
    replace_all(directory, "$ORIGIN", origin);
    result.push_back(directory.empty() ? "." : directory);
  }
  return result;
}

std::multimap<std::string, std::string, std::less<>> read_linker_cache(const std::string& file) {
  // The layout of glibc since 2.2, alone in the file since 2.32. Offsets of names count from the start of the file.
  struct Header {
    char magic[20];  // "glibc-ld.so.cache1.1", without an end
    std::uint32_t entries, string_bytes, flags[5];
  };
  struct Entry {
    std::int32_t flags;
    std::uint32_t name, path, os_version;
    std::uint64_t hardware;
  };
  std::multimap<std::string, std::string, std::less<>> cache;
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  Header header;
  if (bytes.size() < sizeof header) return cache;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, "glibc-ld.so.cache1.1", sizeof header.magic) != 0) return cache;
  const auto text = [&](std::uint32_t offset) {
    return offset < bytes.size() ? std::string(bytes.c_str() + offset) : "";
  };
  const auto entries = std::min<std::size_t>(header.entries, (bytes.size() - sizeof header) / sizeof(Entry));
  for (std::size_t i = 0; i < entries; ++i) {
    Entry entry;
    std::memcpy(&entry, bytes.data() + sizeof header + i * sizeof entry, sizeof entry);
    cache.emplace(text(entry.name), text(entry.path));
  }
  return cache;
}

LibrarySearch::LibrarySearch(std::string_view library_path, const std::string& cache_file)
    : library_path_(directories(library_path, "")), cache_(read_linker_cache(cache_file)) {}

std::string LibrarySearch::find_for(std::span<const std::string> names, std::uint16_t machine,
                                    const std::vector<std::string>& rpath,
                                    const std::vector<std::string>& runpath) const {
  for (const auto* paths : {&rpath, &library_path_, &runpath}) {
    if (auto path = first_fit(*paths, names, machine); !path.empty()) return path;
  }
  for (const auto& name : names) {
    const auto [first, last] = cache_.equal_range(name);
    for (auto entry = first; entry != last; ++entry) {
      if (fits(entry->second, machine)) return entry->second;
    }
  }
  return first_fit({std::begin(usual_directories), std::end(usual_directories)}, names, machine);
}

std::string LibrarySearch::find(std::span<const std::string> names, std::uint16_t machine,
                                const std::vector<std::string>& at_last) const {
  const auto path = find_for(names, machine, {}, {});
  return path.empty() ? first_fit(at_last, names, machine) : path;
}

std::vector<Library> LibrarySearch::closure(const std::string& executable, const ElfImage& image) const {
  struct Loader {
    ElfImage image;
    std::vector<std::string> rpath;  // its own and those of the library that loaded it
    std::vector<std::string> runpath;
  };
  const auto loader = [](const ElfImage& of, const std::string& file, const std::vector<std::string>& inherited) {
    Loader result{of, {}, directories(of.runpath, directory_of(file))};
    if (of.runpath.empty()) {
      result.rpath = directories(of.rpath, directory_of(file));
      result.rpath.insert(result.rpath.end(), inherited.begin(), inherited.end());
    }
    return result;
  };
  std::vector<Library> found;
  std::set<std::string> seen;
  std::deque<Loader> open{loader(image, executable, {})};
  for (; !open.empty(); open.pop_front()) {
    const auto& current = open.front();
    for (const auto& name : current.image.needed) {
      if (name.empty() || !seen.insert(name).second) continue;
      std::string path;
      if (name.find('/') == std::string::npos) {
        path = find_for({&name, 1}, image.machine, current.rpath, current.runpath);
      } else if (fits(name, image.machine)) {
        path = name;
      }
      found.push_back({name, path});
      ElfImage library;
      if (path.empty() || !read_elf(path, library)) continue;
      found.back().thread_local_bytes = library.thread_local_bytes;
      found.back().has_regions = begins_regions(library);
      found.back().hooks = hooks_of(library);
      open.push_back(loader(library, path, current.rpath));
    }
  }
  return found;
}

}  // namespace steelyard::cli
