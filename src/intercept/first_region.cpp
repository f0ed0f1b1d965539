// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/first_region.h"

#include <atomic>

namespace steelyard::intercept {
namespace {
std::atomic<void (*)()> g_call = nullptr;
}

void on_first_region(void (*call)()) { g_call = call; }

void first_region_begins() {
  if (g_call.load(std::memory_order_relaxed) == nullptr) [[likely]]
    return;
  if (const auto call = g_call.exchange(nullptr)) call();
}

}  // namespace steelyard::intercept
