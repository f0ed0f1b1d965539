// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace steelyard::partition {

/// How long proofs about functions with queries have taken so far. Initially 0. From any thread.
class ProofTime {
 public:
  void add(std::int64_t ns, std::uint64_t bytes) {
    ns_.fetch_add(ns, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  /// ns that a function of so many bytes is expected to take.
  /// @param prior ns of assumed earlier proofs, at kOfByte
  std::int64_t expected(std::uint64_t bytes, std::int64_t prior) const {
    const auto ns = static_cast<double>(ns_.load(std::memory_order_relaxed) + prior);
    const auto seen =
        static_cast<double>(bytes_.load(std::memory_order_relaxed)) + static_cast<double>(prior) / kOfByte;
    return static_cast<std::int64_t>(ns / seen * static_cast<double>(bytes));
  }

 private:
  // ns for each byte. Proofs about all functions with queries take 1,200 (LULESH) to 2,700 (Elk).
  static constexpr double kOfByte = 2'000;
  std::atomic<std::int64_t> ns_{0};
  std::atomic<std::uint64_t> bytes_{0};
};

/// Answers to "is it proved?" that the processes of a node share about machine code that they have in common, so that
/// only one of them decodes each function. Lies in shared memory, which is initially 0. Lock-free. A key is a hash that
/// identifies a function or a query; its lowest two bits do not count.
class NodeAnswers {
 public:
  enum class Answer : std::uint8_t {
    none,     ///< there is no answer, and no process has claimed the key
    awaited,  ///< a process has claimed the key and is about to add the answer
    proved,
    unproved
  };
  Answer find(std::uint64_t key) const;
  /// Claims a key, to add its answer later.
  /// @return false if another call has claimed it and there is no answer so far
  bool claim(std::uint64_t key);
  /// Gives up a claim: this process will add no answer.
  void release(std::uint64_t key);
  /// Adds an answer.
  /// @return false if there is no room for it
  bool add(std::uint64_t key, bool proved);

  /// ns of CPU time that all processes have taken to decode.
  std::int64_t decoding_ns() const { return decoding_ns_.load(std::memory_order_relaxed); }
  void add_decoding(std::int64_t ns) { decoding_ns_.fetch_add(ns, std::memory_order_relaxed); }
  /// The part of it that proofs have taken, and of how many bytes of code.
  ProofTime& proof_time() { return proof_time_; }

 private:
  // Size: 64 KiB, for 8192 queries and functions. Each process decodes for itself what has no room here.
  static constexpr std::size_t kEntries = 8192;
  using Entry = std::atomic<std::uint64_t>;
  /// The entry of a key; null if there is none.
  const Entry* place_of(std::uint64_t key) const;
  /// The same, but adds it if necessary; null if there is no room.
  Entry* place_for(std::uint64_t key);

  std::atomic<std::int64_t> decoding_ns_;
  ProofTime proof_time_;
  std::array<Entry, kEntries> entries_;  // a key, and its Answer in the lowest two bits; 0: free
};

}  // namespace steelyard::partition
