// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace steelyard::intercept {

/// To be called once, by the thread that begins the program's first parallel region.
void on_first_region(void (*call)());
/// A region begins: calls what on_first_region() was given, once.
void first_region_begins();

}  // namespace steelyard::intercept
