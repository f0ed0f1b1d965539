// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <functional>
#include <string_view>

// The libraries of this process, from any thread. Handles are as dlopen() gives them, and stay valid: the library is
// held.
namespace steelyard::base {

/// The library that `address` lies in; null if there is none.
void* library_of(const void* address);

/// The function `name` in the first library that has it, also in those that the program has opened for itself
/// (RTLD_LOCAL). Leaves out the library that `caller` lies in. Null if no other has it. Slow: goes through all
/// libraries.
void* find_in_libraries(const char* name, const void* caller);

/// The definition of `name` behind the library that this code is linked into, in the search order of the dynamic
/// linker: that of the library whose function a wrapper replaces, or of another tool that is preloaded. Null if there
/// is none.
template <class Function>
Function* next_definition(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// The same. If there is none, the function in a library that the program has opened for itself: find_in_libraries().
void* next_or_opened(const char* name);

/// Calls `visit` with the name of each symbol that a library in memory takes from other libraries, and with the place
/// where the dynamic linker has written the address of that symbol.
void visit_imports(const dl_phdr_info& library, const std::function<void(const char*, void**)>& visit);

/// The name that a library in memory gives itself, whatever file it was loaded from: "libmpi.so.40". If the library
/// gives none, the name of that file, without its folder. Allocates no memory.
const char* name_of(const dl_phdr_info& library);

/// Where a library, or the library that `address` lies in, begins in memory; null if there is none.
const void* base_of(const dl_phdr_info& library);
const void* base_of(const void* address);

/// Writes `function` into such a place, which the dynamic linker may have made read-only.
void rebind(void** slot, void* function);

/// How many libraries this process has loaded so far, and how many it has unloaded again. Cheap.
unsigned long long loaded_libraries();
unsigned long long unloaded_libraries();

/// True for a file in a directory of the system, such as /usr/lib.
bool is_of_the_system(std::string_view path);

/// True for a library, by its file's name, whose thread-local data are no threadprivate data although it begins
/// parallel regions: OpenBLAS, which states the thread count of each of its regions.
bool keeps_no_threadprivate_data(std::string_view file);

/// Bytes of thread-local data in this process that may be threadprivate data of the program: those of the executable,
/// if `with_executable`, of all files that begin parallel regions, except those that keeps_no_threadprivate_data()
/// names, and of libraries that lie beside the executable, outside the directories of the system.
std::uint64_t thread_local_bytes(bool with_executable);

}  // namespace steelyard::base
