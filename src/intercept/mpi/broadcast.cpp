// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/mpi/broadcast.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/clock.h"

namespace steelyard::intercept {
namespace {

using collectives::Board;
using collectives::Notice;
using collectives::Operation;
using collectives::Path;

/// One broadcast on a communicator, at this rank.
class Delivery : OverBoard {
 public:
  Delivery(const Broadcast& broadcast, Communicator& communicator, Call* call)
      : OverBoard(Operation::broadcast, broadcast.comm, broadcast.root, communicator, call),
        b_(broadcast),
        layout_(b_.buffer, b_.type, b_.count) {}

  std::optional<int> run();

 private:
  std::optional<int> give();
  std::optional<int> take(int from);
  std::optional<int> lead();
  /// From a leader, with the root's word, to the library.
  std::optional<int> leave_all(const Tree::Head& head, bool claimed, std::int64_t came);
  int compared(std::size_t bytes) const;
  /// From a row that holds `bytes` bytes to the program. MPI_SUCCESS or the error.
  int hand_out(const char* row, std::size_t bytes);

  const Broadcast& b_;
  Layout layout_;
  std::size_t bytes_ = 0;  // of the root, where the library has it
  std::int64_t late_ = 0;
};

int Delivery::hand_out(const char* row, std::size_t bytes) {
  if (!layout_.take(row, b_.buffer, 0, std::min(bytes, layout_.bytes()))) return refused(MPI_ERR_TYPE);
  return compared(bytes);
}

/// Of a row that holds `bytes` bytes: MPI_SUCCESS or the error. Where the root has given fewer than are asked for,
/// MPICH's own broadcast is an error, too.
int Delivery::compared(std::size_t bytes) const {
  if (bytes > layout_.bytes()) return refused(MPI_ERR_TRUNCATE);
#ifndef OPEN_MPI
  if (bytes < layout_.bytes()) return refused(MPI_ERR_OTHER);
#endif
  return MPI_SUCCESS;
}

std::optional<int> Delivery::run() {
  Board* const board = communicator_.board.get();
  Tree* const tree = communicator_.tree.get();
  if (board != nullptr) board->next();
  std::optional<int> code;
  if (layout_.bytes() == 0) {
    // No elements, or elements of nothing: these match, but some libraries send a message for the one and not for the
    // other.
    code = without_data(MPI_SUCCESS);
  } else if (b_.buffer == MPI_BOTTOM && layout_.contiguous()) {
    code = without_data(MPI_ERR_BUFFER);
  } else if (tree == nullptr) {
    code = is_root() ? give() : take(b_.root);
  } else {
    tree->next();
    const int leader = tree->leader(b_.root);
    code = leader == communicator_.rank ? lead() : take(leader);
  }
  if (board != nullptr && communicator_.untold < 0) board->pass();
  session::note_delivery(Operation::broadcast, !code, tree != nullptr, late_);
  if (!code) note_why_library(bytes_, tree != nullptr ? Tree::kMostBytes : Board::kCellBytes);
  return code;
}

std::optional<int> Delivery::give() {
  const std::size_t bytes = layout_.bytes();
  const std::int64_t came = began();
  const std::optional<Begun> begun = begin(bytes, came);
  if (!begun) return refused(MPI_ERR_ROOT);
  bytes_ = bytes;
  if (!give_all(*begun, layout_, b_.buffer, came)) return leave(*begun, bytes, came);
  return measured(came, begun->next.counted, begun->which, MPI_SUCCESS);
}

std::optional<int> Delivery::take(int from) {
  Board& board = *communicator_.board;
  const std::int64_t came = began();
  const Notice* const notice = hear(from);
  if (notice == nullptr) return refused(MPI_ERR_ROOT);
  const std::int64_t since = std::max(came, notice->since);
  const std::size_t bytes = bytes_ = notice->bytes;
  if (communicator_.tree != nullptr) board.came(came - notice->since);
  if (notice->path == Path::library) {
    look_at_library(since, notice->counted, notice->which);
    return std::nullopt;
  }
  late_ = came - notice->since;
  if (notice->path == Path::message) {
    std::vector<char> row(bytes + notice->note);
    communicator_.tree->be_handed(from, row.data(), row.size(), turns_);
    communicator_.tree->learn(row.data() + bytes, notice->note);
    return hand_out(row.data(), bytes);
  }
  const char* const row = board.data(*notice);
  const std::size_t wanted = std::min(bytes, layout_.bytes());
  for (std::size_t done = 0; done < wanted;) {
    const std::size_t ready = std::min<std::size_t>(notice->ready.load(std::memory_order_acquire), wanted);
    if (ready == done || (ready < wanted && !layout_.contiguous())) {
      turns_.next();
      continue;
    }
    if (layout_.contiguous()) layout_.take(row, b_.buffer, done, ready - done);
    done = ready;
  }
  const bool counted = notice->counted;
  std::int64_t from_when = since;
  if (communicator_.tree != nullptr) {
    communicator_.tree->learn(row + bytes, notice->note);
    // By when the root came, and not by when its data were here.
    if (counted) std::memcpy(&from_when, row + bytes + notice->note, sizeof from_when);
    from_when = std::max(came, from_when);
  }
  const int code = layout_.contiguous() ? compared(bytes) : hand_out(row, bytes);
  return measured(from_when, counted, notice->which, code);
}

std::optional<int> Delivery::leave_all(const Tree::Head& head, bool claimed, std::int64_t came) {
  Board* const board = communicator_.board.get();
  bytes_ = head.bytes;
  if (claimed) {
    while (!board->vacant(0)) turns_.next();
    const std::int64_t now = base::now_ns();
    board->put_up(Path::library, head.bytes, now, 0, 0, head.which,
                  {.by_board = false, .counted = head.counted, .left = head.left});
    board->came(came - now);
  }
  communicator_.tree->send(head, b_.root, nullptr, turns_);
  look_at_library(base::now_ns(), head.counted, head.which);  // the head is not the library's to answer for
  if (head.counted) communicator_.looked_root = b_.root;
  return by_library(true);
}

std::optional<int> Delivery::lead() {
  Tree& tree = *communicator_.tree;
  Board* const board = communicator_.board.get();
  const std::int64_t came = began();
  std::vector<int> note;
  const bool asks = board != nullptr && (!is_root() || tree.plans());
  const Board::Arrivals arrivals = asks ? board->arrivals() : Board::Arrivals{};
  const Tree::Head head =
      is_root() ? tree.begin(layout_.bytes(), came, arrivals, note) : tree.receive(b_.root, came, arrivals, turns_);
  communicator_.left = head.left;
  const bool claimed = board != nullptr && board->claim();
  if (head.by_library) return leave_all(head, claimed, came);
  if (!is_root()) late_ = tree.late();
  const std::int64_t root_came = is_root() ? came : came - late_;
  const std::size_t room = head.total() + (head.counted ? sizeof root_came : 0);
  if (claimed) {
    while (!board->vacant(room)) turns_.next();
  }
  char* row = claimed ? board->place(room) : nullptr;
  std::vector<char> own;
  const Path path = row != nullptr ? Path::board : Path::message;
  if (row == nullptr) {
    own.resize(head.total());
    row = own.data();
  }
  if (!is_root()) {
    tree.receive_row(head, b_.root, row, turns_);
  } else if (layout_.give(b_.buffer, row, 0, layout_.bytes())) {
    std::copy_n(reinterpret_cast<const char*>(note.data()), head.note, row + head.bytes);
  } else {
    return refused(MPI_ERR_TYPE);
  }
  if (claimed) {
    const std::int64_t now = base::now_ns();
    const bool counted = head.counted && path == Path::board;
    if (counted) std::memcpy(row + head.total(), &root_came, sizeof root_came);
    board->put_up(path, head.bytes, now, head.total(), head.note, head.which, {.counted = counted, .left = head.left});
    board->came(came - now);
  }
  arrive_with_data();
  tree.send(head, b_.root, row, turns_);
  const int code = is_root() ? MPI_SUCCESS : hand_out(row, head.bytes);
  if (claimed && path == Path::message) {
    for (const int rank : tree.local()) {
      if (rank != communicator_.rank) tree.hand_over(rank, row, head.total(), turns_);
    }
  }
  tree.finish(turns_);
  tree.learn(row + head.bytes, head.note);
  measured(std::max(came, root_came), head.counted, head.which, code);
  if (head.counted) tree.tell_waits(b_.root, head.which, true);
  return code;
}

}  // namespace

bool is_valid(const Broadcast& b, const Communicator& communicator) {
  return b.count >= 0 && b.root >= 0 && b.root < communicator.size && b.buffer != MPI_IN_PLACE && is_type(b.type);
}

bool takes_over(const Broadcast& b, Communicator& communicator) {
  if (!is_asked_about(communicator)) {
    session::note_left(Operation::broadcast, &observe::Broadcasts::left_choice, false);
    return false;
  }
  if (!communicator.between_nodes) return communicator.board != nullptr;
  const bool counting = communicator.broadcasts < communicator.tree_from;
  if (counting) ++communicator.broadcasts;
  if (counting && communicator.broadcasts == communicator.tree_from) plant_tree(communicator, b.comm);
  return communicator.tree != nullptr && communicator.tree->usable();
}

std::optional<int> deliver(const Broadcast& broadcast, Communicator& communicator, Call* call) {
  return Delivery(broadcast, communicator, call).run();
}

}  // namespace steelyard::intercept
