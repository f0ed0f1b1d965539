#pragma once
#include "steelyard/steelyard.h"

// What libsteelyard tells the preload library, where there is one. Defined twice, as the public API is; not part of it.
extern "C" STEELYARD_API void steelyard_internal_phases_begin(void);
