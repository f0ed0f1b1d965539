// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>

namespace steelyard::partition {

/// The name that the source has for the function of a symbol: `smooth` for gcc's `smooth._omp_fn.0`, which is a region
/// in it, and for other parts and copies (`smooth.cold`, `smooth.constprop.0`). C++: `Grid<...>::smooth`, without what
/// it returns and takes. Fortran's symbols stay as they are: `smooth_`, `__solver_MOD_smooth`.
std::string readable_name(std::string_view symbol);

}  // namespace steelyard::partition
