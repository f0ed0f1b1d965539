#pragma once
#include <cstddef>
#include <cstdint>

#include "collectives/comparison.h"

namespace steelyard::collectives {

/// What goes over a board.
enum class Operation : std::uint8_t { broadcast, scatter };

/// The comparisons with the MPI library on one communicator: one for each operation and size class, as what wins for 8 bytes
/// may lose for a million. All answers are the root's, which knows how long its message is. The others cannot be asked: in a
/// program that makes a mistake they think of another length, and would wait where nobody comes. So they are told in front of
/// each collective that it is the library's, and only where no class in use would go over the board are some left to it
/// unasked.
///
/// Lies in shared memory, where zeros are its beginning, as a Comparison does.
class SizeClasses {
 public:
  static constexpr int kSizes = 3;             ///< in the notice; in one piece; in several
  static constexpr int kClasses = 2 * kSizes;  ///< of both operations
  static constexpr std::int64_t kInUse = 256;  ///< collectives after which a class that came no more is forgotten
  static constexpr std::size_t kShort = 960;   ///< bytes that fit into a notice
  static constexpr std::size_t kPiece = 128U << 10;

  /// The class of so many bytes at the root.
  static int of(Operation operation, std::size_t bytes);
  static Operation operation(int which) { return static_cast<Operation>(which / kSizes); }

  /// False where the next answer does not depend on what was waited.
  bool asks(int which) const;
  /// How this collective goes, and how many after it are the library's, of whatever class. As Comparison::next().
  Comparison::Next next(int which, const Waits& library, const Waits& board, std::int64_t now);
  /// The same for one that has no data, and so is neither the board's nor the library's.
  Comparison::Next pass();

 private:
  struct Class {
    std::int64_t seen = 0;   // number of its last one; 0: none so far
    std::int64_t until = 0;  // the library has those up to this number
    Comparison comparison;
  };
  std::uint32_t leave();

  std::int64_t number_ = 0;  // of the collectives, those included that were left to the library
  Class classes_[kClasses];
};

}  // namespace steelyard::collectives
