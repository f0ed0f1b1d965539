// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/libraries.h"

namespace steelyard::cli {

enum class Mpi { none, openmpi, mpich, abi, unknown };  // abi: that of the MPI standard
enum class OpenMpRuntime { none, llvm, gnu, both };

/// What there is to know about a program before it is started.
struct Binary {
  enum class Kind {
    program,         ///< dynamically linked: libraries can be put before its own
    static_program,  ///< nothing can be put before anything
    script,          ///< an interpreter runs it
    foreign,         ///< an ELF file for another machine or of 32 bits
    damaged          ///< an ELF file that cannot be right
  };
  std::string path;
  Kind kind = Kind::program;
  std::string remark;       ///< script: its interpreter; foreign and damaged: why
  bool privileged = false;  ///< setuid, setgid or with capabilities: the linker ignores LD_PRELOAD
  std::vector<Library> libraries;
  std::vector<std::string> imports;  ///< functions and data that the executable itself takes from libraries
  /// Thread-local data that may be the program's threadprivate data: its own, and that of libraries that have parallel
  /// regions (but see base::keeps_no_threadprivate_data()), or lie beside it and not in a directory of the system.
  std::uint64_t thread_local_bytes = 0;
  std::vector<std::string> thread_local_in;  ///< libraries that have some of it
  std::uint16_t machine = 0;
  Hooks hooks = {};  ///< of the executable itself

  Mpi mpi() const;
  OpenMpRuntime openmp() const;
  /// Its MPI library, its OpenMP runtime: nullptr where there is none.
  const Library* mpi_library() const;
  const Library* llvm_openmp() const;
  const Library* gnu_openmp() const;
  bool imports_function(std::string_view name) const;
  bool loads(std::string_view library_prefix) const;
};

/// The MPI that a library of this name belongs to; none for any other library.
Mpi mpi_of(std::string_view library_name);

Binary read_binary(const std::string& path, const LibrarySearch& search);

/// The interpreter of a script, without its options: "bash" of "#!/usr/bin/env bash".
std::string script_interpreter(const Binary& script);

/// `path` without directories.
std::string_view file_name(std::string_view path);

}  // namespace steelyard::cli
