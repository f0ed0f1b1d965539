// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace steelyard::cli {

/// What the dynamic linker would learn from an executable or a shared library.
struct ElfImage {
  std::uint16_t machine = 0;
  bool has_interpreter = false;          ///< the kernel starts the dynamic linker for it: not statically linked
  std::uint64_t thread_local_bytes = 0;  ///< its own thread-local data (PT_TLS)
  std::vector<std::string> needed;       ///< DT_NEEDED, in order
  std::string rpath;                     ///< DT_RPATH, heard only where there is no DT_RUNPATH
  std::string runpath;
  std::vector<std::string> undefined;  ///< names of dynamic symbols that others must define
  std::vector<std::string> hooks;      ///< names of functions that it defines, of those that is_hook() tells
};

/// A function of MPI or OpenMP, or one by which a tool is recognised. Libraries define tens of thousands of others.
bool is_hook(std::string_view name);
/// A function that GNU's OpenMP runtime serves: an entry point of gcc's code, or a function of the OpenMP API.
bool is_openmp(std::string_view name);

/// The machine that a 64-bit ELF program or library is made for, by its header alone: what the dynamic linker asks of a
/// library before it takes it. EM_NONE (0) for other files.
std::uint16_t machine_of(const std::string& path);

/// Reads a 64-bit ELF file in this machine's byte order. Never trusts an offset or a count of the file.
/// Failure: what about it cannot be right, e.g. "its program headers lie outside of the file".
base::Status read_elf(const std::string& path, ElfImage& image);

}  // namespace steelyard::cli
