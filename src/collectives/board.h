// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "collectives/size_classes.h"
#include "node/segment.h"

// Broadcast and scatter inside a node as a pull: the root puts the data up once, in shared memory, and goes on; each of
// the others takes its own when it comes. Nobody waits for a sibling, and no message is sent. What is known here of MPI
// is nothing.
namespace steelyard::collectives {

/// How a root has its broadcast done.
enum class Path : std::uint16_t {
  board,    ///< the data is here
  message,  ///< it will come by messages: the node is out of shared memory
  library,  ///< the others are to call the MPI library, as the root does
  nothing   ///< the root has nothing to give
};

/// What a root puts up for one broadcast; between nodes, whoever leads its node.
struct alignas(64) Notice {
  static constexpr std::size_t kSize = 1024;
  static constexpr std::size_t kSmall = kSize - 64;  ///< bytes that fit into the notice itself

  std::atomic<std::uint64_t> claimed;  ///< number of the broadcast whose root writes here
  std::atomic<std::uint64_t> number;   ///< of the broadcast that it is about, from 1: valid from then on
  std::uint64_t bytes;
  std::int64_t since;  ///< when the root came, ns
  std::int32_t root;   ///< node rank
  Path path;
  bool counted;                      ///< what is waited in it counts in the comparison with the MPI library
  std::int8_t which;                 ///< its class (size_classes.h)
  std::int32_t cell;                 ///< where the data is; -1: in `small`
  std::uint32_t note;                ///< bytes that follow the data: what the members are to learn with it
  std::uint32_t left;                ///< broadcasts after this one that are the MPI library's, and are not counted
  std::atomic<std::uint64_t> ready;  ///< bytes that can be taken
  char small[kSmall];
};
static_assert(sizeof(Notice) == Notice::kSize && Notice::kSmall == SizeClasses::kShort);

/// A communicator's part of the shared memory, as one of its processes sees it. All members on this node number its
/// broadcasts alike. From one thread at a time.
///
/// A notice and a cell are written again only when every member has passed the broadcast that they were used for,
/// whether or not it has taken the data: one that the program left out of a mismatched call blocks nobody.
class Board {
 public:
  static constexpr int kNotices = 64;                  ///< broadcasts that a root may be ahead of the last member
  static constexpr int kCells = 4;                     ///< of them, those whose data does not fit into a notice
  static constexpr std::size_t kCellBytes = 2U << 20;  ///< the longest message

  /// Counts this process in at the next broadcast.
  void next() { ++number_; }
  /// Node rank of the communicator's `rank`; -1 for who is on another node.
  int member(int rank) const { return members_[static_cast<std::size_t>(rank)]; }
  /// Counts it out again: its data have been given, taken, or were none.
  void pass();

  // The root, in this order; nothing else of it waits.

  /// False where somebody else calls itself root of this broadcast.
  bool claim();
  /// False while the memory that `bytes` bytes need may still be read by a member that is late. Not again once it was
  /// true: the memory is this broadcast's then.
  bool vacant(std::size_t bytes);
  /// Memory for the data. nullptr where there is none: too long, or the node is out of shared memory, or others, who
  /// did not wait for this root, have used all of it since.
  char* place(std::size_t bytes);
  /// Lets the others know of `bytes` bytes and `note` more. With Path::board, the first `ready` of them are in place.
  /// `since`: when this rank came; `which`: class; `next`: as compare() answered.
  void put_up(Path path, std::size_t bytes, std::int64_t since, std::size_t ready, std::size_t note = 0, int which = 0,
              const Comparison::Next& next = {});
  /// So many bytes are in place by now.
  void more(std::size_t ready);

  // Where it is not sure that the board is better than the MPI library.

  /// The root, once it has claimed the broadcast: how one of this class is to go.
  Comparison::Next compare(int which, std::int64_t now, const decide::Settings& settings);
  /// The same for one without data.
  Comparison::Next compare_nothing();
  /// Everybody: the time in a broadcast of this class since both this rank and the root had come.
  void waited(int which, bool by_board, std::int64_t ns);
  /// That of all members on this node.
  Waits waits(int which, bool by_board) const;

  // Between nodes: who leads this one had better be here early.

  /// This rank came so long after the data were put up; negative where it came before.
  void came(std::int64_t after_ns);
  /// Lately, of the members on this node, this rank included.
  struct Arrivals {
    int first = -1;          ///< rank in the communicator
    std::int64_t early = 0;  ///< so many ns before this rank
    std::int64_t late = 0;   ///< the last one: ns after the data
  };
  Arrivals arrivals() const;

  // The others.

  /// The notice of this broadcast; nullptr while there is none.
  const Notice* notice() const;
  const char* data(const Notice& notice) const;
  /// This process is not the root of this broadcast.
  void decline();
  /// True where that process is through with this broadcast, or has declined it. If there is still no notice then,
  /// there will be none.
  bool will_not_give(int node_rank) const;
  /// The same of everybody.
  bool nobody_gives() const;

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
  int cell_ = -1;                   // the one that place() gave
  std::size_t there_[kCells] = {};  // bytes of each that are known to be there
};

/// Room for some communicators on a node, in its shared memory.
class Boards {
 public:
  static constexpr int kBoards = 16;

  static std::size_t footprint(int processes);
  /// Memory that is there only once it is used.
  static constexpr std::size_t spare() { return std::size_t{kBoards} * Board::kCells * Board::kCellBytes; }

  Boards(node::Segment& segment, int processes, int me);
  /// For the communicator that has this slot (see node::Arrivals) and these members, in the order of its ranks. nullptr
  /// beyond kBoards.
  std::unique_ptr<Board> open(int slot, const std::vector<int>& members);
  /// The slot's communicator is gone at all its members.
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
