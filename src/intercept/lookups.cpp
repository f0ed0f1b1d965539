// SPDX-License-Identifier: BSD-3-Clause
// A library of its own, for Julia: MPI.jl looks up MPI functions by dlsym() in the handle of the MPI library, and would
// call that past the wrappers. Where the preloaded wrappers are for that MPI, they are what is found here.
#include <dlfcn.h>
#include <gnu/libc-version.h>

#include <cstring>

#include "base/mpi_library.h"

namespace {

using Lookup = void* (*)(void*, const char*);

Lookup real_lookup() {
  static Lookup found = nullptr;
  if (found == nullptr) {
    const bool in_libc = strverscmp(gnu_get_libc_version(), "2.34") >= 0;
    found = reinterpret_cast<Lookup>(dlvsym(RTLD_NEXT, "dlsym", in_libc ? "GLIBC_2.34" : "GLIBC_2.2.5"));
  }
  return found;
}

/// The library that an address lies in, and its file name without directories.
struct Library {
  explicit Library(const void* address) {
    Dl_info info{};
    if (address == nullptr || dladdr(address, &info) == 0) return;
    const char* const slash = std::strrchr(info.dli_fname, '/');
    base = info.dli_fbase;
    name = slash != nullptr ? slash + 1 : info.dli_fname;
  }
  bool is(const char* start) const { return std::strncmp(name, start, std::strlen(start)) == 0; }
  const void* base = nullptr;
  const char* name = "";
};

/// Whether these are the wrappers for this MPI, whose handles they know.
bool fit(const Library& wrappers, const Library& mpi, void* handle) {
  if (mpi.is("libmpi_abi.so")) return wrappers.is("libsteelyard-preload-abi.so");
  if (!steelyard::base::is_mpi_library(mpi.name)) return false;
  const bool is_open_mpi = real_lookup()(handle, "ompi_mpi_comm_world") != nullptr;
  dlerror();  // callers take an error left here for one of their own lookup
  return wrappers.is(is_open_mpi ? "libsteelyard-preload-openmpi.so" : "libsteelyard-preload-mpich.so");
}

}  // namespace

extern "C" {

/// Null where the lookup is to take its usual course.
__attribute__((visibility("hidden"), used)) void* steelyard_wrapper(void* handle, const char* name,
                                                                    const void* caller) {
  if (handle == RTLD_DEFAULT || handle == RTLD_NEXT || std::strncmp(name, "MPI_", 4) != 0) return nullptr;
  const Library mpi(real_lookup()(handle, name));
  if (mpi.base == nullptr) return nullptr;
  void* const function = real_lookup()(RTLD_DEFAULT, name);
  const Library wrappers(function);
  // What Steelyard itself looks up are the MPI library's own.
  return fit(wrappers, mpi, handle) && wrappers.base != Library(caller).base ? function : nullptr;
}

__attribute__((visibility("hidden"), used)) Lookup steelyard_real_lookup() { return real_lookup(); }

}  // extern "C"

// What RTLD_NEXT means to the C library's dlsym() depends on its return address. So it is entered by a jump, with stack
// and arguments as they came.
asm(R"(
.text
.globl dlsym
.type dlsym, @function
dlsym:
  .cfi_startproc
  endbr64
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  movq 24(%rsp), %rdx
  call steelyard_wrapper
  testq %rax, %rax
  jne 1f
  call steelyard_real_lookup
  movq 8(%rsp), %rsi
  movq 16(%rsp), %rdi
  addq $24, %rsp
  .cfi_adjust_cfa_offset -24
  jmp *%rax
1:
  .cfi_adjust_cfa_offset 24
  addq $24, %rsp
  .cfi_adjust_cfa_offset -24
  ret
  .cfi_endproc
.size dlsym, .-dlsym
)");
