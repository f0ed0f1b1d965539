// SPDX-License-Identifier: BSD-3-Clause
#include "cli/binary.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/loaded_library.h"

// The start of this program in memory, by the linker: /proc need not be mounted.
extern "C" __attribute__((visibility("hidden"))) const Elf64_Ehdr __ehdr_start;

namespace steelyard::cli {
namespace {

/// The machine that this program is made for.
std::uint16_t own_machine() { return __ehdr_start.e_machine; }

bool is_privileged(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return false;
  return (info.st_mode & (S_ISUID | S_ISGID)) || getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

std::string first_bytes(const std::string& path, std::size_t count) {
  std::string bytes(count, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return bytes;
}

/// "#! /usr/bin/env -S X=4 python3 -u" gives "/usr/bin/env python3"; a text without that line is run by the shell.
std::string interpreter_of(std::string_view start) {
  if (!start.starts_with("#!")) return "/bin/sh";
  std::istringstream line(std::string(start.substr(2, start.find('\n') - 2)));
  std::string interpreter, word;
  line >> interpreter;
  if (!interpreter.ends_with("/env")) return interpreter;
  while (line >> word) {
    if (!word.starts_with('-') && word.find('=') == std::string::npos) return interpreter + " " + word;
  }
  return interpreter;
}

void count_thread_local_data(Binary& binary, const ElfImage& image) {
  binary.thread_local_bytes = image.thread_local_bytes;
  const std::filesystem::path beside = std::filesystem::path(binary.path).parent_path();
  for (const Library& library : binary.libraries) {
    const bool is_runtime = &library == binary.mpi_library() || &library == binary.llvm_openmp();
    if (library.thread_local_bytes == 0 || is_runtime) continue;
    const std::filesystem::path path = library.path;
    std::error_code error;
    const bool lies_beside = std::filesystem::equivalent(path.parent_path(), beside, error) &&
                             !base::is_of_the_system(std::filesystem::canonical(path, error).string());
    const bool has_regions = library.has_regions && !base::keeps_no_threadprivate_data(library.name);
    if (!has_regions && !lies_beside) continue;
    binary.thread_local_bytes += library.thread_local_bytes;
    binary.thread_local_in.push_back(library.name);
  }
}

const Library* find_library(const std::vector<Library>& libraries, std::initializer_list<std::string_view> prefixes) {
  for (const auto& library : libraries) {
    for (const auto prefix : prefixes) {
      if (library.name.starts_with(prefix)) return &library;
    }
  }
  return nullptr;
}

}  // namespace

Mpi mpi_of(std::string_view name) {
  if (name == "libmpi.so.40") return Mpi::openmpi;
  // The ABI of MPI 5, which any MPI may have. MPICH 5.0.0 and the MPI Forum's stubs have the number 0.
  if (name == "libmpi_abi.so.1" || name == "libmpi_abi.so.0") return Mpi::abi;
  // MPICH itself, its descendants under the common ABI (Intel MPI, MVAPICH), and Cray's under their compilers' names.
  const bool descendant = name.starts_with("libmpi_") && name.ends_with(".so.12") && !name.starts_with("libmpi_cxx");
  if (name == "libmpich.so.12" || name == "libmpi.so.12" || descendant) return Mpi::mpich;
  return name.starts_with("libmpi.so") || name.starts_with("libmpich.so") || name.starts_with("libmpi_abi.so")
             ? Mpi::unknown
             : Mpi::none;
}

Mpi Binary::mpi() const {
  const auto* library = mpi_library();
  // Open MPI 1.10 has the number 12, too, and brings a runtime library of its own.
  if (library && library->name == "libmpi.so.12" && loads("libopen-rte.so")) return Mpi::unknown;
  return library ? mpi_of(library->name) : Mpi::none;
}

const Library* Binary::mpi_library() const {
  const auto found =
      std::find_if(libraries.begin(), libraries.end(), [](const Library& l) { return mpi_of(l.name) != Mpi::none; });
  return found == libraries.end() ? nullptr : &*found;
}

const Library* Binary::llvm_openmp() const {
  return find_library(libraries, {"libomp.so", "libomp5.so", "libiomp5.so"});
}
const Library* Binary::gnu_openmp() const { return find_library(libraries, {"libgomp.so"}); }

OpenMpRuntime Binary::openmp() const {
  if (llvm_openmp()) return gnu_openmp() ? OpenMpRuntime::both : OpenMpRuntime::llvm;
  return gnu_openmp() ? OpenMpRuntime::gnu : OpenMpRuntime::none;
}

bool Binary::imports_function(std::string_view name) const {
  return std::any_of(imports.begin(), imports.end(), [&](const std::string& imported) {
    return imported == name ||
           (imported.size() == name.size() + 1 && imported.ends_with('_') && imported.starts_with(name));
  });
}

bool Binary::loads(std::string_view library_prefix) const {
  return find_library(libraries, {library_prefix}) != nullptr;
}

Binary read_binary(const std::string& path, const LibrarySearch& search) {
  Binary binary;
  binary.path = path;
  binary.privileged = is_privileged(path);
  const auto start = first_bytes(path, 256);
  if (!start.starts_with(ELFMAG)) {
    binary.kind = Binary::Kind::script;
    binary.remark = interpreter_of(start);
    return binary;
  }
  ElfImage image;
  const auto status = read_elf(path, image);
  const bool of_32_bits = start.size() > EI_CLASS && start[EI_CLASS] == ELFCLASS32;
  if (of_32_bits || (status && image.machine != own_machine())) {
    binary.kind = Binary::Kind::foreign;
    binary.remark = of_32_bits ? "it is a 32-bit program" : fmt::format("it is made for ELF machine {}", image.machine);
  } else if (!status) {
    binary.kind = Binary::Kind::damaged;
    binary.remark = status.sentence();
  } else if (!image.has_interpreter) {
    binary.kind = Binary::Kind::static_program;
  } else {
    binary.libraries = search.closure(path, image);
    binary.hooks = hooks_of(image);
    binary.imports = std::move(image.undefined);
    count_thread_local_data(binary, image);
    binary.machine = image.machine;
  }
  return binary;
}

std::string script_interpreter(const Binary& script) { return script.remark.substr(script.remark.find(' ') + 1); }

std::string_view file_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace steelyard::cli
