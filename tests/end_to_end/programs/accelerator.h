/* SPDX-License-Identifier: BSD-3-Clause */
// The calls of accelerator libraries that Steelyard intercepts, with their parameters: for the stand-in of these
// libraries (accelerator_library.c) and for the program that calls it (accelerator.c).
#include <stddef.h>
#include <stdint.h>

#define PARAMETERS_NONE (void)
#define PARAMETERS_ONE (const void* a)
#define PARAMETERS_COPY (const void* a, const void* b, size_t c, int d)
#define PARAMETERS_DRIVER_COPY (const void* a, const void* b, size_t c)
#define PARAMETERS_STREAM_COPY (const void* a, const void* b, size_t c, int d, const void* e)
#define PARAMETERS_TIMEOUT (const void* a, uint64_t b)

// Sums by which the program sees that each argument has arrived.
#define SUM_NONE 17
#define SUM_ONE (int)(uintptr_t)a
#define SUM_COPY (int)((uintptr_t)a + 3 * (uintptr_t)b + 5 * c + 7 * (unsigned)d)
#define SUM_DRIVER_COPY (int)((uintptr_t)a + 3 * (uintptr_t)b + 5 * c)
#define SUM_STREAM_COPY (int)((uintptr_t)a + 3 * (uintptr_t)b + 5 * c + 7 * (unsigned)d + 9 * (uintptr_t)e)
#define SUM_TIMEOUT (int)((uintptr_t)a + (b >> 32) + 3 * b)

#define ARGUMENTS_NONE ()
#define ARGUMENTS_ONE (a)
#define ARGUMENTS_COPY (a, b, c, d)
#define ARGUMENTS_DRIVER_COPY (a, b, c)
#define ARGUMENTS_STREAM_COPY (a, b, c, d, e)
#define ARGUMENTS_TIMEOUT (a, t)

#define CALLS(CALL)                           \
  CALL(cudaDeviceSynchronize, NONE)           \
  CALL(cudaThreadSynchronize, NONE)           \
  CALL(cudaStreamSynchronize_ptsz, ONE)       \
  CALL(cudaEventSynchronize, ONE)             \
  CALL(cudaMemcpy, COPY)                      \
  CALL(cudaMemcpy_ptds, COPY)                 \
  CALL(cuCtxSynchronize, NONE)                \
  CALL(cuStreamSynchronize, ONE)              \
  CALL(cuStreamSynchronize_ptsz, ONE)         \
  CALL(cuEventSynchronize, ONE)               \
  CALL(cuMemcpy, DRIVER_COPY)                 \
  CALL(cuMemcpy_ptds, DRIVER_COPY)            \
  CALL(cuMemcpyDtoH_v2, DRIVER_COPY)          \
  CALL(cuMemcpyDtoH_v2_ptds, DRIVER_COPY)     \
  CALL(cuMemcpyHtoD_v2, DRIVER_COPY)          \
  CALL(cuMemcpyHtoD_v2_ptds, DRIVER_COPY)     \
  CALL(hipDeviceSynchronize, NONE)            \
  CALL(hipCtxSynchronize, NONE)               \
  CALL(hipStreamSynchronize, ONE)             \
  CALL(hipStreamSynchronize_spt, ONE)         \
  CALL(hipEventSynchronize, ONE)              \
  CALL(hipMemcpy, COPY)                       \
  CALL(hipMemcpy_spt, COPY)                   \
  CALL(hipMemcpyWithStream, STREAM_COPY)      \
  CALL(hipMemcpyDtoH, DRIVER_COPY)            \
  CALL(hipMemcpyHtoD, DRIVER_COPY)            \
  CALL(zeEventHostSynchronize, TIMEOUT)       \
  CALL(zeCommandQueueSynchronize, TIMEOUT)    \
  CALL(zeCommandListHostSynchronize, TIMEOUT) \
  CALL(zeFenceHostSynchronize, TIMEOUT)

#define DECLARE(name, kind) int name PARAMETERS_##kind;
CALLS(DECLARE)

// The stand-in's stream: how long it takes until it is done.
struct stream {
  long long ns;
  int polls;   // while it waits
  int result;  // of the call
};
int cudaStreamSynchronize(struct stream* stream);
