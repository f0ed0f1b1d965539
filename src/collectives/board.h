// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "collectives/size_classes.h"
#include "node/segment.h"

// Broadcast and scatter inside a node as a pull: the root publishes the data once, in shared memory, and goes on. Each
// other rank takes its part when it arrives. No rank waits for a sibling, and no message is sent. Independent of MPI.
namespace steelyard::collectives {

/// How a broadcast is delivered.
enum class Path : std::uint16_t {
  board,    ///< through shared memory
  message,  ///< by messages: the node is out of shared memory
  library,  ///< all ranks call the MPI library
  nothing   ///< the root has no data
};

/// What a root publishes for one broadcast; between nodes, what the leader of a node publishes on its node.
struct alignas(64) Notice {
  static constexpr std::size_t kSmall = SizeClasses::kShort;  ///< bytes of data that fit into the notice itself

  std::atomic<std::uint64_t> claimed;  ///< number of the broadcast whose root writes here
  std::atomic<std::uint64_t> number;   ///< of the broadcast that it is about, from 1: valid from then on
  std::uint64_t bytes;
  std::int64_t since;  ///< when the root arrived, ns
  std::int32_t root;   ///< node rank
  Path path;
  bool counted;                      ///< the ranks add their waits to the comparison with the MPI library
  std::int8_t which;                 ///< its class (size_classes.h)
  std::int32_t cell;                 ///< where the data is; -1: in `small`
  std::uint32_t note;                ///< bytes of the note that follows the data (Tree::learn())
  std::uint32_t left;                ///< broadcasts after this one that the MPI library handles, not counted
  std::atomic<std::uint64_t> ready;  ///< bytes that can be taken
  char small[kSmall];
};
static_assert(sizeof(Notice) == 64 + Notice::kSmall);

/// A communicator's part of the shared memory, as one of its processes sees it. All members on this node number its
/// broadcasts alike. From one thread at a time.
///
/// A notice and a cell are written again only when every member has passed the broadcast that they were used for,
/// whether or not it has taken the data. So a member that skipped a broadcast, in an erroneous program, blocks no rank.
class Board {
 public:
  // The shared memory of a communicator: 64 KiB, and 8 MiB that are allocated when they are used.
  static constexpr int kNotices = 64;                  ///< Size: broadcasts that a root may be ahead of the last member
  static constexpr int kCells = 4;                     ///< Size: of them, those whose data does not fit into a notice
  static constexpr std::size_t kCellBytes = 2U << 20;  ///< Size: bytes of the longest message

  /// The next broadcast begins at this process.
  void next() { ++number_; }
  /// Node rank of the communicator's `rank`; -1 if that rank is on another node.
  int member(int rank) const { return members_[static_cast<std::size_t>(rank)]; }
  /// This process has finished the broadcast: its data were given, were taken, or there were none.
  void pass();

  // The root, in this order; only vacant() may have to be repeated.

  /// False if another rank has claimed to be the root of this broadcast.
  bool claim();
  /// False while a late member may still read the memory that `bytes` bytes need. Once it is true, the memory belongs
  /// to this broadcast: do not call it again.
  bool vacant(std::size_t bytes);
  /// Memory for the data. nullptr if the data are too long, if the node is out of shared memory, or if roots of later
  /// broadcasts, which did not wait for this root, have used all of it.
  char* place(std::size_t bytes);
  /// Publishes the notice of `bytes` bytes of data and `note` bytes after them. With `Path::board`, the first `ready`
  /// bytes are in place.
  /// @param since ns: when this rank arrived
  /// @param which size class
  /// @param next as compare() answered
  void publish(Path path, std::size_t bytes, std::int64_t since, std::size_t ready, std::size_t note = 0, int which = 0,
               const Comparison::Next& next = {});
  /// `ready` bytes are in place now.
  void publish_more(std::size_t ready);

  // If measurements choose between shared memory and the MPI library.

  /// The root, once it has claimed the broadcast: how a broadcast of this class is delivered.
  Comparison::Next compare(int which, std::int64_t now, const decide::Settings& settings);
  /// The same for one without data.
  Comparison::Next compare_nothing();
  /// Every rank: the time in a broadcast of this class since both this rank and the root had arrived, in ns.
  void waited(int which, bool by_board, std::int64_t ns);
  /// The waits of all members on this node.
  Waits waits(int which, bool by_board) const;

  // Between nodes: a rank that arrives early should lead its node.

  /// This rank arrived `after_ns` after the data were published; negative if it arrived before.
  void arrived(std::int64_t after_ns);
  /// Smoothed arrival times of the members on this node, this rank included.
  struct Arrivals {
    int first = -1;          ///< the earliest: rank in the communicator
    std::int64_t early = 0;  ///< ns from its arrival to that of this rank
    std::int64_t late = 0;   ///< ns from the data to the arrival of the last member
  };
  Arrivals arrivals() const;

  // The ranks that are not the root.

  /// The notice of this broadcast; nullptr while there is none.
  const Notice* notice() const;
  const char* data(const Notice& notice) const;
  /// This process is not the root of this broadcast.
  void decline();
  /// True if that process has passed this broadcast or has declined it. If there is still no notice then, that process
  /// will publish none.
  bool will_not_publish(int node_rank) const;
  /// The same for all members.
  bool none_will_publish() const;

 private:
  friend class Boards;
  struct Shared;
  Board(Shared& shared, char* cells, std::atomic<std::uint64_t>* passed, std::vector<int> members, int me);
  bool all_passed(std::uint64_t number);
  bool take_cell();
  Notice& slot() const;

  Shared* shared_;
  char* cells_;
  std::atomic<std::uint64_t>* passed_;  // by node rank, cache lines of each, with what it has waited
  std::vector<int> members_;
  std::vector<int> here_;  // ranks of the communicator that are on this node
  int me_;
  std::uint64_t number_ = 0;
  std::uint64_t seen_passed_ = 0;   // by every member, when last looked
  int free_ = -1;                   // the cell that vacant() took
  int cell_ = -1;                   // the cell that place() returned
  std::size_t there_[kCells] = {};  // bytes of each that are known to be allocated
};

/// Room for some communicators on a node, in its shared memory.
class Boards {
 public:
  static constexpr int kBoards = 16;  ///< Size: communicators of a node

  static std::size_t footprint(int processes);
  /// Bytes that are allocated only when they are used.
  static constexpr std::size_t spare() { return std::size_t{kBoards} * Board::kCells * Board::kCellBytes; }

  Boards(node::Segment& segment, int processes, int me);
  /// For the communicator that has this slot (see node::Arrivals) and these members, in the order of its ranks. nullptr
  /// beyond kBoards.
  std::unique_ptr<Board> open(int slot, const std::vector<int>& members);
  /// All members have freed the slot's communicator.
  void clear(int slot);

 private:
  std::atomic<std::uint64_t>* passed(int slot) const;

  Board::Shared* boards_;
  std::atomic<std::uint64_t>* passed_;
  char* cells_;
  int processes_;
  int me_;
};

}  // namespace steelyard::collectives
