// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>

#include "collectives/comparison.h"

namespace steelyard::collectives {

/// What goes over a board.
enum class Operation : std::uint8_t { broadcast, scatter };
inline constexpr int kOperations = 2;

/// The comparisons with the MPI library on one communicator: one for each operation and size class, as what wins for 8
/// bytes may lose for a million. All answers are the root's, which knows how long its message is. The others cannot be
/// asked: in a program that makes a mistake they think of another length, and would wait where nobody comes. So they
/// are told in front of each collective that it is the library's, and only where no class in use would go over the
/// board are some left to it unasked.
///
/// Lies in shared memory, where zeros are its beginning, as a Comparison does.
class SizeClasses {
 public:
  static constexpr int kSizes = 3;  ///< in the notice; in one piece; in several
  static constexpr int kClasses = kOperations * kSizes;
  static constexpr std::int64_t kInUse =
      256;  ///< collectives after which a class that came no more is forgotten, unless it wins
            ///< more over the board than the notices of all others cost
  static constexpr std::int64_t kNotice = 100;  ///< ns that one costs
  static constexpr std::size_t kShort = 960;    ///< bytes that fit into a notice
  static constexpr std::size_t kPiece = 128U << 10;

  /// The class of so many bytes at the root.
  static int of(Operation operation, std::size_t bytes);
  static Operation operation(int which) { return static_cast<Operation>(which / kSizes); }

  /// False where the next answer does not depend on what was waited.
  bool asks(int which) const;
  /// How this collective is delivered, and how many after it are the library's, of any class. As Comparison::next().
  /// @param at its number is set here
  Comparison::Next next(int which, const Comparison::Seen& seen, Comparison::Circumstances at);
  /// Before the first: see Comparison.
  void begin_by_board() {
    for (Comparison& comparison : comparisons_) comparison.begin_by_board();
  }
  /// The same as next() for one that has no data, and so is neither the board's nor the library's.
  Comparison::Next pass();

 private:
  static constexpr std::int64_t kAbsent =
      8;  // collectives: a class that has not come since then need not be waited for
  static constexpr std::int64_t kAbsentLeft = 4;
  std::uint32_t leave();
  std::int64_t left_by(int which) const;

  std::int64_t number_ = 0;            // of the collectives, those included that were left to the library
  std::int64_t seen_[kClasses] = {};   // number of the last one of each; 0: none so far
  std::int64_t until_[kClasses] = {};  // the library has those up to this number
  Comparison comparisons_[kClasses];
};

}  // namespace steelyard::collectives
