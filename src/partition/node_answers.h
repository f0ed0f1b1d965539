// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace steelyard::partition {

/// What the processes of a node have found out about the machine code that they have in common, so that one of them
/// decodes each function. Lies in memory that they share, of which zeros are the initial state. Lock-free. A key names
/// a function or a query; its lowest two bits do not count.
class NodeAnswers {
 public:
  enum class Answer : std::uint8_t {
    none,
    awaited,  ///< a process has claimed the key and is about to add the answer
    proved,
    unproved
  };
  Answer find(std::uint64_t key) const;
  /// Claims a key without an answer. False if another call has claimed it and has not added an answer so far.
  bool claim(std::uint64_t key);
  /// There will be no answer from the process that has claimed it.
  void release(std::uint64_t key);
  /// False if there is no room for it.
  bool add(std::uint64_t key, bool proved);

  /// ns on a core that all processes have taken to decode.
  std::int64_t decoding_ns() const { return decoding_ns_.load(std::memory_order_relaxed); }
  void add_decoding(std::int64_t ns) { decoding_ns_.fetch_add(ns, std::memory_order_relaxed); }

 private:
  // Size: 64 KiB, for as many queries and functions. Each process decodes for itself what has no room here.
  static constexpr std::size_t kEntries = 8192;
  using Entry = std::atomic<std::uint64_t>;
  const Entry* place_of(std::uint64_t key) const;
  Entry* place_for(std::uint64_t key);

  std::atomic<std::int64_t> decoding_ns_;
  std::array<Entry, kEntries> entries_;  // a key, and its Answer in the lowest two bits; 0: free
};

}  // namespace steelyard::partition
