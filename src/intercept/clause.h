// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#define STEELYARD_EXPORT extern "C" __attribute__((visibility("default")))

// What the wrappers of OpenMP's entry points share.
namespace steelyard::intercept {

/// The definition behind ours, or null.
void* look_behind(const char* name);
/// The same. Without one, the program ends with a message.
void* find_behind(const char* name);

/// The same, looked up once.
template <class F>
F* behind(const char* name, F*& cache) {
  if (cache == nullptr) cache = reinterpret_cast<F*>(find_behind(name));
  return cache;
}

/// Notes the num_threads clause for the region that follows; what is left of it.
unsigned int clause(unsigned int count);

/// True once after this thread met a num_threads clause: the region that follows asks for its number of threads.
bool take_clause_flag();

/// The region that follows is known by this address, and not by the one that the OpenMP runtime sees.
void set_region_site(std::uint64_t address);
/// The address that was set, once; 0 where there is none.
std::uint64_t take_region_site();

/// The address that the wrapper which says this returns to.
#define STEELYARD_SITE reinterpret_cast<std::uint64_t>(__builtin_return_address(0))

}  // namespace steelyard::intercept
