// SPDX-License-Identifier: BSD-3-Clause
// What GNU's OpenMP runtime shares out and Steelyard leaves to it: sections, and loops with reductions by tasks or with
// a conditional lastprivate. They tell Steelyard that a region does not repeat its work.
#include <cstdint>

#include "intercept/clause.h"
#include "session/worksharing.h"

using namespace steelyard::intercept;

#define STEELYARD_SHARES(Result, name, parameters, arguments) \
  STEELYARD_EXPORT Result name parameters {                   \
    static Result(*real) parameters = nullptr;                \
    steelyard::session::worksharing_begun();                  \
    return behind(#name, real) arguments;                     \
  }

STEELYARD_SHARES(unsigned int, GOMP_sections_start, (unsigned int count), (count))
STEELYARD_SHARES(unsigned int, GOMP_sections2_start, (unsigned int count, std::uintptr_t* reductions, void** memory),
                 (count, reductions, memory))

#define STEELYARD_LOOP_SHARES(name)                                                                    \
  STEELYARD_SHARES(bool, name,                                                                         \
                   (long from, long to, long step, long schedule, long chunk, long* first, long* last, \
                    std::uintptr_t* reductions, void** memory),                                        \
                   (from, to, step, schedule, chunk, first, last, reductions, memory))
#define STEELYARD_LOOP_ULL_SHARES(name)                                                                              \
  STEELYARD_SHARES(bool, name,                                                                                       \
                   (bool up, unsigned long long from, unsigned long long to, unsigned long long step, long schedule, \
                    unsigned long long chunk, unsigned long long* first, unsigned long long* last,                   \
                    std::uintptr_t* reductions, void** memory),                                                      \
                   (up, from, to, step, schedule, chunk, first, last, reductions, memory))
STEELYARD_LOOP_SHARES(GOMP_loop_start)
STEELYARD_LOOP_SHARES(GOMP_loop_ordered_start)
STEELYARD_LOOP_ULL_SHARES(GOMP_loop_ull_start)
STEELYARD_LOOP_ULL_SHARES(GOMP_loop_ull_ordered_start)

STEELYARD_SHARES(bool, GOMP_loop_static_start, (long from, long to, long step, long chunk, long* first, long* last),
                 (from, to, step, chunk, first, last))
STEELYARD_SHARES(bool, GOMP_loop_ull_static_start,
                 (bool up, unsigned long long from, unsigned long long to, unsigned long long step,
                  unsigned long long chunk, unsigned long long* first, unsigned long long* last),
                 (up, from, to, step, chunk, first, last))

#define STEELYARD_DOACROSS_SHARES(name, Value)                                                                     \
  STEELYARD_SHARES(bool, name,                                                                                     \
                   (unsigned int dimensions, Value* counts, long schedule, Value chunk, Value* first, Value* last, \
                    std::uintptr_t* reductions, void** memory),                                                    \
                   (dimensions, counts, schedule, chunk, first, last, reductions, memory))
STEELYARD_DOACROSS_SHARES(GOMP_loop_doacross_start, long)
STEELYARD_DOACROSS_SHARES(GOMP_loop_ull_doacross_start, unsigned long long)
