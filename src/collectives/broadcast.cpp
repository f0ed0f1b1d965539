// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/clock.h"
#include "collectives/over_board.h"

namespace steelyard::collectives {
namespace {

/// One broadcast on a communicator, at this rank.
class Delivery : OverBoard {
 public:
  Delivery(Group& group, const port::Layout& layout, int root, Call& call)
      : OverBoard(Operation::broadcast, root, group, call), layout_(layout) {}

  Outcome run();

 private:
  Outcome give();
  Outcome take(int from);
  Outcome lead();
  /// From a leader, with the root's word, to the library.
  Outcome leave_all(const Tree::Head& head, bool claimed, std::int64_t came);
  Outcome compared(std::size_t bytes) const;
  /// From a row that holds `bytes` bytes to the program.
  Outcome hand_out(const char* row, std::size_t bytes);

  const port::Layout& layout_;
  std::size_t bytes_ = 0;  // of the root, where the library has it
  std::int64_t late_ = 0;
};

Outcome Delivery::hand_out(const char* row, std::size_t bytes) {
  if (!layout_.take(row, 0, std::min(bytes, layout_.bytes()))) return Outcome::wrong_type;
  return compared(bytes);
}

Outcome Delivery::compared(std::size_t bytes) const {
  if (bytes > layout_.bytes()) return Outcome::truncated;
  return bytes < layout_.bytes() ? Outcome::fewer : Outcome::done;
}

Outcome Delivery::run() {
  Board* const board = group_.board.get();
  Tree* const tree = group_.tree.get();
  if (board != nullptr) board->next();
  Outcome outcome;
  if (layout_.bytes() == 0) {
    // No elements, or elements of nothing: these match, but some libraries send a message for the one and not for the
    // other.
    outcome = without_data(Outcome::done);
  } else if (layout_.lacks_address()) {
    outcome = without_data(Outcome::no_address);
  } else if (tree == nullptr) {
    outcome = is_root() ? give() : take(root_);
  } else {
    tree->next(root_);
    const int leader = tree->leader(root_);
    outcome = leader == group_.rank ? lead() : take(leader);
  }
  if (board != nullptr && group_.unread_root < 0) board->pass();
  account_.delivered(Operation::broadcast, outcome == Outcome::library, tree != nullptr, late_);
  if (outcome == Outcome::library) note_why_library(bytes_, tree != nullptr ? Tree::kMostBytes : Board::kCellBytes);
  return outcome;
}

Outcome Delivery::give() {
  const std::size_t bytes = layout_.bytes();
  const std::int64_t came = call_.began();
  const std::optional<Begun> begun = begin(bytes, came);
  if (!begun) return Outcome::wrong_root;
  bytes_ = bytes;
  if (!give_all(*begun, layout_, came)) return leave(*begun, bytes, came);
  return measured(came, begun->next.counted, begun->which, Outcome::done);
}

Outcome Delivery::take(int from) {
  Board& board = *group_.board;
  const std::int64_t came = call_.began();
  const Notice* const notice = await_notice(from);
  if (notice == nullptr) return Outcome::wrong_root;
  const std::int64_t since = std::max(came, notice->since);
  const std::size_t bytes = bytes_ = notice->bytes;
  if (group_.tree != nullptr) board.arrived(came - notice->since);
  if (notice->path == Path::library) {
    time_library(notice->counted, notice->which);
    return Outcome::library;
  }
  late_ = came - notice->since;
  if (notice->path == Path::message) {
    std::vector<char> row(bytes + notice->note);
    group_.tree->receive_locally(from, row.data(), row.size(), call_);
    group_.tree->learn(row.data() + bytes, notice->note);
    return hand_out(row.data(), bytes);
  }
  const char* const row = board.data(*notice);
  const std::size_t wanted = std::min(bytes, layout_.bytes());
  for (std::size_t done = 0; done < wanted;) {
    const std::size_t ready = std::min<std::size_t>(notice->ready.load(std::memory_order_acquire), wanted);
    if (ready == done || (ready < wanted && !layout_.contiguous())) {
      call_.turn();
      continue;
    }
    if (layout_.contiguous()) layout_.take(row, done, ready - done);
    done = ready;
  }
  const bool counted = notice->counted;
  std::int64_t from_when = since;
  if (group_.tree != nullptr) {
    group_.tree->learn(row + bytes, notice->note);
    // By when the root came, and not by when its data were here.
    if (counted) std::memcpy(&from_when, row + bytes + notice->note, sizeof from_when);
    from_when = std::max(came, from_when);
  }
  const Outcome outcome = layout_.contiguous() ? compared(bytes) : hand_out(row, bytes);
  return measured(from_when, counted, notice->which, outcome);
}

Outcome Delivery::leave_all(const Tree::Head& head, bool claimed, std::int64_t came) {
  Board* const board = group_.board.get();
  bytes_ = head.bytes;
  if (claimed) {
    while (!board->vacant(0)) call_.turn();
    const std::int64_t now = base::now_ns();
    board->publish(Path::library, head.bytes, now, 0, 0, head.which,
                   {.by_board = false, .counted = head.counted, .left = head.left});
    board->arrived(came - now);
  }
  group_.tree->send(head, root_, nullptr, call_);
  time_library(head.counted, head.which);
  if (head.counted) group_.timed_root = root_;
  return by_library(true);
}

Outcome Delivery::lead() {
  Tree& tree = *group_.tree;
  Board* const board = group_.board.get();
  const std::int64_t came = call_.began();
  std::vector<int> note;
  const bool asks = board != nullptr && (!is_root() || tree.plans());
  const Board::Arrivals arrivals = asks ? board->arrivals() : Board::Arrivals{};
  const Tree::Head head =
      is_root() ? tree.begin(layout_.bytes(), came, arrivals, note) : tree.receive(root_, came, arrivals, call_);
  group_.left = head.left;
  const bool claimed = board != nullptr && board->claim();
  if (head.by_library) return leave_all(head, claimed, came);
  if (!is_root()) late_ = tree.late();
  const std::int64_t root_came = is_root() ? came : came - late_;
  const std::size_t room = head.total() + (head.counted ? sizeof root_came : 0);
  if (claimed) {
    while (!board->vacant(room)) call_.turn();
  }
  char* row = claimed ? board->place(room) : nullptr;
  std::vector<char> own;
  const Path path = row != nullptr ? Path::board : Path::message;
  if (row == nullptr) {
    own.resize(head.total());
    row = own.data();
  }
  if (!is_root()) {
    tree.receive_row(head, root_, row, call_);
  } else if (layout_.give(row, 0, layout_.bytes())) {
    std::copy_n(reinterpret_cast<const char*>(note.data()), head.note, row + head.bytes);
  } else {
    return Outcome::wrong_type;
  }
  if (claimed) {
    const std::int64_t now = base::now_ns();
    const bool counted = head.counted && path == Path::board;
    if (counted) std::memcpy(row + head.total(), &root_came, sizeof root_came);
    board->publish(path, head.bytes, now, head.total(), head.note, head.which, {.counted = counted, .left = head.left});
    board->arrived(came - now);
  }
  arrive_with_data();
  tree.send(head, root_, row, call_);
  const Outcome outcome = is_root() ? Outcome::done : hand_out(row, head.bytes);
  if (claimed && path == Path::message) {
    for (const int rank : tree.local()) {
      if (rank != group_.rank) tree.send_locally(rank, row, head.total(), call_);
    }
  }
  tree.finish(call_);
  tree.learn(row + head.bytes, head.note);
  measured(std::max(came, root_came), head.counted, head.which, outcome);
  if (head.counted) tree.report_waits(root_, head.which);
  return outcome;
}

}  // namespace

bool takes_broadcast(Group& group, port::Exchange& ranks) {
  if (!is_decided_here(group)) {
    group.engine->account().left(Operation::broadcast, &observe::Broadcasts::left_choice, false);
    return false;
  }
  if (!group.between_nodes) return group.board != nullptr;
  const bool counting = group.broadcasts < group.tree_from;
  if (counting) ++group.broadcasts;
  if (counting && group.broadcasts == group.tree_from) group.engine->make_tree(group, ranks);
  return group.tree != nullptr && group.tree->usable();
}

void note_left_broadcast(const Group& group) {
  using observe::Broadcasts;
  Account& account = group.engine->account();
  if (group.between_nodes) {
    if (group.tree == nullptr) return account.left(Operation::broadcast, &Broadcasts::left_first, false);
    if (!group.tree->usable()) account.left(Operation::broadcast, &Broadcasts::left_boards, false);
  } else if (group.board == nullptr && group.size > 1 && group.local_members == group.size) {
    account.left(Operation::broadcast, &Broadcasts::left_boards, false);
  }
}

Outcome broadcast(Group& group, const port::Layout& layout, int root, Call& call) {
  return Delivery(group, layout, root, call).run();
}

}  // namespace steelyard::collectives
