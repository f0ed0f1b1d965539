// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>

namespace steelyard::partition {

/// The name in the source of the function that a symbol stands for: `smooth` for a region of it (gcc's
/// `smooth._omp_fn.0`) and for its other parts and copies (`smooth.cold`, `smooth.constprop.0`). In C++ without types:
/// `Grid<...>::smooth`. Fortran's symbols stay as they are: `smooth_`, `__solver_MOD_smooth`.
std::string readable_name(std::string_view symbol);

}  // namespace steelyard::partition
