#pragma once

namespace steelyard::intercept {

/// To be called once, by the thread that begins the program's first parallel region.
void on_first_region(void (*call)());

}  // namespace steelyard::intercept
