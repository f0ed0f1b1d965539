// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstdint>

namespace steelyard::collectives {

/// What ranks have waited in broadcasts of one kind, summed up: it only grows.
struct Waits {
  std::int64_t ns = 0;
  std::int64_t count = 0;
  Waits& operator+=(const Waits& other) {
    ns += other.ns;
    count += other.count;
    return *this;
  }
};

/// Whether the broadcasts (or scatters) of one class on a communicator go over the board or are the MPI library's:
/// whichever its ranks are seen to wait less in. The library has them, uncounted, until some in a row are looked at, of
/// either kind: one at first, which tells what is far apart, and later a few, after as many that bring caches to the
/// state in which they will be. Where the board has won, it has them all, but for some in a while that show what the
/// library would make of it by now.
///
/// Lies in shared memory, where zeros are its beginning. Roots ask it in turn, and tell the others what it has
/// answered. No clock and no messages of its own.
class Comparison {
 public:
  static constexpr std::uint32_t kLeast = 4;    ///< that are left to the library between two looks
  static constexpr std::uint32_t kMost = 1000;  ///< so that they cost next to nothing, with a board that is no dearer
  static constexpr std::uint32_t kRun = 4;      ///< that are looked at in a row, at most
  static constexpr std::uint32_t kStay = 64;    ///< over the board for each look at a library that is no dearer
  static constexpr std::uint32_t kLongest = 10'000;  ///< either way where what is looked at is dearer

  struct Next {
    bool by_board = true;    ///< this broadcast
    bool counted = true;     ///< what is waited in it counts
    std::uint32_t left = 0;  ///< so many after it are the library's, and not asked about
  };
  /// False where the next answer does not depend on what was waited.
  bool asks() const { return step_ == Step::decide || (step_ == Step::stay && stayed_ >= stay_); }
  /// ns that the board wins in each, where it has them; 0 where the library does.
  std::int64_t won() const {
    return step_ == Step::stay || step_ == Step::check ? std::max<std::int64_t>(-dearer_, 1) : 0;
  }
  /// `library` and `board`: by all ranks so far. `now` in ns. `number`: of this broadcast among all of the
  /// communicator, of whatever kind and length: those are what the time from one to the next is of.
  Next next(const Waits& library, const Waits& board, std::int64_t now, std::int64_t number);
  /// Before the first: instead of the library, the board has them until it is seen to lose: in a few looks, or by far.
  void begin_by_board() {
    step_ = Step::stay;
    stay_ = kStay / 4;
    trusted_ = kTrusted;
  }

 private:
  static constexpr std::uint32_t kRemembered = 16;  // looks that count
  static constexpr std::uint32_t kTrusted = 4;
  enum class Step : std::uint32_t { begin, decide, by_library, by_board, stay, check };
  struct Look {
    Waits library, board;
  };

  bool board_wins(const Look& seen);
  std::int64_t each(std::int64_t now, std::int64_t number);
  std::uint32_t gap(std::int64_t now, std::int64_t number);
  std::uint32_t stay(std::uint32_t least, std::int64_t now, std::int64_t number);
  std::uint32_t run() const;
  std::uint32_t with_warm_ups() const { return run_ > 1 ? 2 * run_ : 1; }  // in a look
  Next begin_library(Step step, bool after_board);
  Next one_by_library();
  Next look_at_board(std::int64_t now, std::int64_t number);

  Step step_ = Step::begin;
  std::uint32_t looks_ = 0;
  std::uint32_t trusted_ = 0;    // looks before which the board loses only by far
  std::uint32_t run_ = 1;        // of either kind that count in a look
  std::uint32_t to_come_ = 0;    // of the present step
  bool far_apart_ = false;       // the library's wait more than twice as long as those over the board
  std::uint32_t stay_ = 0;       // over the board, at a time
  std::uint32_t stayed_ = 0;     // of them so far
  std::int64_t looked_at_ = 0;   // ns
  std::int64_t number_ = 0;      // of the broadcast at which that was
  std::int64_t dearer_ = 0;      // the board than the library, ns a broadcast; negative where it wins
  std::int64_t won_lately_ = 0;  // by the board in the last look, ns a broadcast
  Look before_[kRemembered];
};

}  // namespace steelyard::collectives
