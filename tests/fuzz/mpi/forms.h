/* SPDX-License-Identifier: BSD-3-Clause */
/* One collective in each of its forms: blocking, nonblocking, persistent, with large counts. To be used where `how`,
 * `comm` and `call` are in scope. */
#pragma once
#include "player.h"

/* MPICH 4.0.2's persistent collectives lose count of derived datatypes, and a second start of a scatter gives wrong
 * data. */
#ifdef OPEN_MPI
enum { PERSISTENT_OF_ANY_TYPE = true, STARTS = 3 };
#define INIT_OF(name) MPIX_##name##_init
#else
enum { PERSISTENT_OF_ANY_TYPE = false, STARTS = 1 };
#define INIT_OF(name) MPI_##name##_init
#endif

#if MPI_VERSION >= 4
#define LARGE_CALL(NAME, ...) MPI_##NAME##_c(__VA_ARGS__)
#else
#define LARGE_CALL(NAME, ...) MPI_##NAME(__VA_ARGS__)
#endif
#define ISSUE_WITHOUT_LARGE(NAME, LOWER, ...)                             \
  (how == BLOCKING      ? MPI_##NAME(__VA_ARGS__, comm)                   \
   : how == NONBLOCKING ? MPI_I##LOWER(__VA_ARGS__, comm, &call->request) \
                        : INIT_OF(NAME)(__VA_ARGS__, comm, MPI_INFO_NULL, &call->request))
#define ISSUE(NAME, LOWER, ...) \
  (how == LARGE ? LARGE_CALL(NAME, __VA_ARGS__, comm) : ISSUE_WITHOUT_LARGE(NAME, LOWER, __VA_ARGS__))
