// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>

#include "collectives/comparison.h"

namespace steelyard::collectives {

/// What Steelyard delivers through shared memory.
enum class Operation : std::uint8_t { broadcast, scatter };
inline constexpr int kOperations = 2;  ///< Size: of Operation

/// The comparisons with the MPI library on one communicator: one for each operation and size class, as what wins for 8
/// bytes may lose for a million. The root decides, since it knows the length of its message. Other ranks cannot decide:
/// in an erroneous program they assume another length, and would wait for a rank that never arrives. So the root
/// announces before each collective that the library handles it. Only if no class in use is to be delivered through
/// shared memory, the library handles some collectives without an announcement.
///
/// Lies in shared memory, where zeros are its initial state, as a Comparison does.
class SizeClasses {
 public:
  static constexpr int kSizes = 3;  ///< Size: of the kinds of messages: in the notice; in one piece; in several
  static constexpr int kClasses = kOperations * kSizes;
  /// Collectives after which a class that did not occur again is ignored, unless shared memory gains more in it than
  /// the notices of all collectives since then cost.
  static constexpr std::int64_t kInUse = Comparison::kMost;
  static constexpr std::int64_t kNotice = 100;       ///< ns that a notice costs: a cache miss at each rank
  static constexpr std::size_t kShort = 960;         ///< Size: bytes that fit into a notice of 1 KiB
  static constexpr std::size_t kPiece = 128U << 10;  ///< Size: bytes of which two copies fit into a second-level cache

  /// The class of so many bytes at the root.
  static int of(Operation operation, std::size_t bytes);
  static Operation operation(int which) { return static_cast<Operation>(which / kSizes); }

  /// False if the next answer does not depend on the waits so far.
  bool asks(int which) const;
  /// How this collective is delivered, and how many after it, of any class, the library handles. As Comparison::next().
  /// @param at its number is set here
  Comparison::Next next(int which, const Comparison::Seen& seen, Comparison::Circumstances at);
  /// Before the first: see Comparison.
  void begin_by_board() {
    for (Comparison& comparison : comparisons_) comparison.begin_by_board();
  }
  /// The same as next() for a collective without data, which needs neither shared memory nor the library.
  Comparison::Next pass();

 private:
  // Collectives: two blocks. The trial of a class that has not occurred for longer delays the others no more: the
  // library handles a block of them at a time.
  static constexpr std::int64_t kAbsent = std::int64_t{2} * Comparison::kBlock;
  static constexpr std::int64_t kAbsentLeft = Comparison::kBlock;
  std::uint32_t leave();
  std::int64_t left_by(int which) const;

  std::int64_t number_ = 0;            // of collectives, including those that the MPI library handled
  std::int64_t seen_[kClasses] = {};   // number of the last collective of each class; 0: none so far
  std::int64_t until_[kClasses] = {};  // the library handles the class up to this number
  Comparison comparisons_[kClasses];
};

}  // namespace steelyard::collectives
