// SPDX-License-Identifier: BSD-3-Clause
// Libraries that a program unloads: what was found out about their code holds no more.
#include "base/loaded_library.h"
#include "intercept/clause.h"
#include "partition/known_queries.h"

STEELYARD_EXPORT int dlclose(void* library) {
  static int (*real)(void*) = nullptr;
  if (real == nullptr) real = steelyard::base::next_definition<int(void*)>("dlclose");
  const int status = real != nullptr ? real(library) : -1;
  steelyard::partition::library_closed();
  return status;
}
