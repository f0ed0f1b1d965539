// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/hash.h"

namespace steelyard::base {

/// Objects of a shared table by the address of a call, as one thread has seen them lately: a hit takes no lock. Direct
/// mapped. To be a `constinit thread_local` variable of a table whose objects stay where they are until the process
/// ends.
template <class T>
class AddressCache {
 public:
  /// @param address not 0
  /// @param find called on a miss; returns the T& of `address`
  template <class Find>
  T& at(std::uint64_t address, Find&& find) {
    Entry& entry = entries_[base::spread(address) >> 32 & (kEntries - 1)];
    if (entry.address != address) [[unlikely]]
      entry = {address, &std::forward<Find>(find)()};
    return *entry.object;
  }

 private:
  struct Entry {
    std::uint64_t address = 0;
    T* object = nullptr;
  };
  static constexpr std::size_t kEntries = 64;  // Size: 1 KiB a thread
  std::array<Entry, kEntries> entries_{};
};

}  // namespace steelyard::base
