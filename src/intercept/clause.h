// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#define STEELYARD_EXPORT extern "C" __attribute__((visibility("default")))

// What the wrappers of OpenMP's entry points share.
namespace steelyard::intercept {

/// base::next_or_opened(). If there is none, the program ends with a message.
void* find_behind(const char* name);

/// The same, looked up once.
template <class F>
F* behind(const char* name, F*& cache) {
  if (cache == nullptr) cache = reinterpret_cast<F*>(find_behind(name));
  return cache;
}

/// Notes the num_threads clause of the region that follows. Returns the count to pass on; 0: none.
unsigned int note_clause(unsigned int count);

/// True once after this thread met a num_threads clause: the region that follows asks for its number of threads.
bool take_clause_flag();

/// What an entry point knows of a region that the OpenMP runtime then reports by OMPT.
struct RegionSource {
  std::uint64_t site = 0;      ///< the address that identifies it; 0: the one that the runtime reports
  const void* body = nullptr;  ///< the function that its threads run; null where that is not known
  bool shares = false;         ///< it has a loop or sections, by its construct
};
/// Of the region that follows on this thread.
void set_region_source(const RegionSource& source);
/// What was set, once.
RegionSource take_region_source();

/// In a wrapper: the address to which the wrapper returns.
#define STEELYARD_SITE reinterpret_cast<std::uint64_t>(__builtin_return_address(0))

}  // namespace steelyard::intercept
