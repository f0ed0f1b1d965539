// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace steelyard::intercept {

/// For a program whose MPI library has another ABI than this preload library: all its calls go to its own library from
/// now on. Calls that go through an address which the program has stored before are not redirected.
void step_aside();

}  // namespace steelyard::intercept
