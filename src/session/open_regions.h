// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstddef>

namespace steelyard::session {

/// The records of the regions that one thread has begun and not ended, the innermost last. A thread ends its regions in
/// the reverse order of their begins, so the record of the region that ends is known without the OpenMP runtime. This
/// matters, as LLVM's runtime reports the end of a nested region after it has released the region's team, with data
/// that are read from the team. If another thread has taken the team by then, those are the data of that thread's
/// region, which still runs.
template <class Record>
class OpenRegions {
 public:
  void push(Record* record) {
    if (count_ < kKept) kept_[count_] = record;
    ++count_;
  }
  /// The record of the innermost region, or null if it has none.
  Record* pop() {
    if (count_ == 0) return nullptr;
    --count_;
    return count_ < kKept ? kept_[count_] : nullptr;
  }

 private:
  static constexpr std::size_t kKept =
      16;  ///< Size: more than regions with a record can be nested: kDepth in worksharing.h
  std::size_t count_ = 0;
  std::array<Record*, kKept> kept_ = {};
};

}  // namespace steelyard::session
