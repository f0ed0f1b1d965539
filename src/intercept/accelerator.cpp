// SPDX-License-Identifier: BSD-3-Clause
// Calls of CUDA, HIP and Level Zero in which the host waits for an accelerator. Each goes on to the library of the
// process, with all of its arguments and its result as they are. None of these libraries is needed to build or to run.
#include <fmt/format.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/loaded_library.h"
#include "base/log.h"
#include "intercept/clause.h"
#include "session/accelerator.h"

namespace steelyard::intercept {
namespace {

// Results of a library that is not initialised, for a program that asks for the library by a weak symbol and has none.
constexpr int kNotInitialised = 3;                   // Encoding: of CUDA's runtime and driver, and of HIP
constexpr int kLevelZeroUninitialised = 0x78000001;  // Encoding: ZE_RESULT_ERROR_UNINITIALIZED

template <class... Parameters>
int wait(std::uint64_t site, const char* name, std::atomic<int (*)(Parameters...)>& cache, int without,
         Parameters... arguments) {
  auto* real = cache.load(std::memory_order_relaxed);
  if (real == nullptr) {
    real = reinterpret_cast<int (*)(Parameters...)>(base::next_or_opened(name));
    if (real == nullptr) {
      base::warn_once(
          fmt::format("the program calls {}(), and no library of it has that: the call returns an error", name));
      return without;
    }
    cache.store(real, std::memory_order_relaxed);
  }
  const session::AcceleratorWait waits(site);
  return real(arguments...);
}

}  // namespace
}  // namespace steelyard::intercept

using namespace steelyard::intercept;

#define STEELYARD_WAIT(name, without, parameters, ...)                            \
  STEELYARD_EXPORT int name parameters {                                          \
    static std::atomic<int(*) parameters> real = nullptr;                         \
    return wait(STEELYARD_SITE, #name, real, without __VA_OPT__(, ) __VA_ARGS__); \
  }
#define STEELYARD_WAIT_FOR_ALL(name) STEELYARD_WAIT(name, kNotInitialised, ())
#define STEELYARD_WAIT_FOR(name) STEELYARD_WAIT(name, kNotInitialised, (void* what), what)
#define STEELYARD_COPY(name)                                                                                        \
  STEELYARD_WAIT(name, kNotInitialised, (void* to, const void* from, std::size_t bytes, int kind), to, from, bytes, \
                 kind)
#define STEELYARD_DRIVER_COPY(name) \
  STEELYARD_WAIT(name, kNotInitialised, (void* to, const void* from, std::size_t bytes), to, from, bytes)
#define STEELYARD_LEVEL_ZERO_WAIT(name) \
  STEELYARD_WAIT(name, kLevelZeroUninitialised, (void* what, std::uint64_t timeout), what, timeout)

// The table. _ptsz and _ptds, _spt: as compiled with one default stream per thread. _v2: the names of today's headers.
STEELYARD_WAIT_FOR_ALL(cudaDeviceSynchronize)
STEELYARD_WAIT_FOR_ALL(cudaThreadSynchronize)
STEELYARD_WAIT_FOR(cudaStreamSynchronize)
STEELYARD_WAIT_FOR(cudaStreamSynchronize_ptsz)
STEELYARD_WAIT_FOR(cudaEventSynchronize)
STEELYARD_COPY(cudaMemcpy)
STEELYARD_COPY(cudaMemcpy_ptds)
STEELYARD_WAIT_FOR_ALL(cuCtxSynchronize)
STEELYARD_WAIT_FOR(cuStreamSynchronize)
STEELYARD_WAIT_FOR(cuStreamSynchronize_ptsz)
STEELYARD_WAIT_FOR(cuEventSynchronize)
STEELYARD_DRIVER_COPY(cuMemcpy)
STEELYARD_DRIVER_COPY(cuMemcpy_ptds)
STEELYARD_DRIVER_COPY(cuMemcpyDtoH_v2)
STEELYARD_DRIVER_COPY(cuMemcpyDtoH_v2_ptds)
STEELYARD_DRIVER_COPY(cuMemcpyHtoD_v2)
STEELYARD_DRIVER_COPY(cuMemcpyHtoD_v2_ptds)
STEELYARD_WAIT_FOR_ALL(hipDeviceSynchronize)
STEELYARD_WAIT_FOR_ALL(hipCtxSynchronize)
STEELYARD_WAIT_FOR(hipStreamSynchronize)
STEELYARD_WAIT_FOR(hipStreamSynchronize_spt)
STEELYARD_WAIT_FOR(hipEventSynchronize)
STEELYARD_COPY(hipMemcpy)
STEELYARD_COPY(hipMemcpy_spt)
STEELYARD_WAIT(hipMemcpyWithStream, kNotInitialised,
               (void* to, const void* from, std::size_t bytes, int kind, void* stream), to, from, bytes, kind, stream)
STEELYARD_DRIVER_COPY(hipMemcpyDtoH)
STEELYARD_DRIVER_COPY(hipMemcpyHtoD)
STEELYARD_LEVEL_ZERO_WAIT(zeEventHostSynchronize)
STEELYARD_LEVEL_ZERO_WAIT(zeCommandQueueSynchronize)
STEELYARD_LEVEL_ZERO_WAIT(zeCommandListHostSynchronize)
STEELYARD_LEVEL_ZERO_WAIT(zeFenceHostSynchronize)
