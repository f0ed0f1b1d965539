// SPDX-License-Identifier: BSD-3-Clause
// Libraries that a program unloads: what was found out about their code holds no more.
#include <dlfcn.h>

#include "intercept/clause.h"
#include "partition/known_queries.h"

STEELYARD_EXPORT int dlclose(void* library) {
  static int (*real)(void*) = nullptr;
  if (real == nullptr) real = reinterpret_cast<int (*)(void*)>(dlsym(RTLD_NEXT, "dlclose"));
  steelyard::partition::forget_all();
  const int status = real != nullptr ? real(library) : -1;
  steelyard::partition::forget_all();
  return status;
}
