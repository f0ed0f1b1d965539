// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace steelyard::intercept {

/// After MPI was initialised by the program. `language`: "C" or "Fortran".
void initialised(const char* language);
/// Before MPI is finalised by the program.
void finalising();

}  // namespace steelyard::intercept
