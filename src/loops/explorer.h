// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// For explorer_test.cpp, which runs the engine of this folder in all interleavings.
#include "base/explorer.h"
