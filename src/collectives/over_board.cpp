// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/over_board.h"

#include <algorithm>

#include "base/clock.h"

namespace steelyard::collectives {
namespace {

/// Reads the announcement of the last collective's root, for which this rank had no reason to wait then.
void catch_up(Group& group) {
  Board& board = *group.board;
  Call call(group.engine->library());
  const Notice* notice = board.notice();
  for (; notice == nullptr && !board.none_will_publish(); notice = board.notice()) call.turn();
  if (notice == nullptr) notice = board.notice();
  if (notice != nullptr) group.left = notice->left;
  group.unread_root = -1;
  board.pass();
}

void note_wait(const Group& group, int which, bool by_library, std::int64_t ns) {
  if (group.board != nullptr) {
    group.board->waited(which, !by_library, ns);
  } else {
    group.tree->waited(which, !by_library, ns);
  }
  group.engine->account().waited(SizeClasses::operation(which), by_library, ns);
}

}  // namespace

Outcome OverBoard::by_library(bool after_root) {
  call_.arrive(root_, after_root && !is_root());
  return Outcome::library;
}

void OverBoard::pass_over() {
  if (!group_.compares) return;
  Board& board = *group_.board;
  if (!is_root() || !board.claim()) {
    if (!is_root()) board.decline();
    group_.unread_root = root_;
    return;
  }
  while (!board.vacant(0)) call_.turn();
  const std::int64_t now = base::now_ns();
  const Next next = board.compare_nothing();
  group_.left = next.left;
  board.publish(Path::nothing, 0, now, 0, 0, 0, next);
}

Outcome OverBoard::without_data(Outcome outcome) {
  pass_over();
  arrive_with_data();
  return outcome;
}

std::optional<OverBoard::Begun> OverBoard::begin(std::size_t bytes, std::int64_t came) {
  Board& board = *group_.board;
  if (!board.claim()) {
    arrive_with_data();
    const Notice* notice = board.notice();
    for (; group_.compares && notice == nullptr; notice = board.notice()) call_.turn();
    if (notice != nullptr) group_.left = notice->left;
    return std::nullopt;
  }
  Begun begun;
  begun.which = SizeClasses::of(operation_, bytes);
  if (group_.compares) begun.next = board.compare(begun.which, came, group_.engine->chosen().settings.decision);
  group_.left = begun.next.left;
  while (!board.vacant(begun.next.by_board ? bytes : 0)) call_.turn();
  if (begun.next.by_board) begun.row = board.place(bytes);
  return begun;
}

bool OverBoard::give_all(const Begun& begun, const port::Layout& layout, std::int64_t came) {
  Board& board = *group_.board;
  const std::size_t bytes = layout.bytes();
  std::size_t done = layout.contiguous() ? std::min(bytes, SizeClasses::kPiece) : bytes;
  if (begun.row == nullptr || !layout.give(begun.row, 0, done)) return false;
  board.publish(Path::board, bytes, came, done, 0, begun.which, begun.next);
  arrive_with_data();
  while (done < bytes) {
    const std::size_t piece = std::min(bytes - done, SizeClasses::kPiece);
    layout.give(begun.row, done, piece);
    done += piece;
    board.publish_more(done);
  }
  return true;
}

Outcome OverBoard::leave(const Begun& begun, std::size_t bytes, std::int64_t came) {
  Next next = begun.next;
  if (next.by_board) next.counted = false;  // there was no memory for it: nothing is compared
  group_.board->publish(Path::library, bytes, came, 0, 0, begun.which, next);
  time_library(next.counted, begun.which);
  return by_library(false);
}

const Notice* OverBoard::await_notice(int from) {
  Board& board = *group_.board;
  call_.arrive(from, true);
  const int root = board.member(from);
  board.decline();
  const Notice* notice = board.notice();
  for (; notice == nullptr; notice = board.notice()) {
    // That rank does not take itself for the root, so no rank will bring the data. The library might wait for ever.
    if (board.will_not_publish(root) && board.notice() == nullptr) {
      // Another rank may be the root, and tell how the next collectives are delivered.
      if (group_.compares) group_.unread_root = root_;
      return nullptr;
    }
    call_.turn();
  }
  group_.left = notice->left;
  const bool other =
      notice->path == Path::board && group_.tree == nullptr && SizeClasses::operation(notice->which) != operation_;
  return notice->root != root || notice->path == Path::nothing || other ? nullptr : notice;
}

void OverBoard::time_library(bool counted, int which) {
  if (!is_compared() || !counted) return;
  group_.timed_since = base::now_ns();
  group_.timed_class = which;
}

void OverBoard::note_why_library(std::size_t bytes, std::size_t most) const {
  using observe::Broadcasts;
  if (bytes == 0) return;
  account_.left(operation_,
                bytes > most    ? &Broadcasts::left_length
                : is_compared() ? &Broadcasts::left_choice
                                : &Broadcasts::left_memory,
                true);
}

Outcome OverBoard::measured(std::int64_t since, bool counted, int which, Outcome outcome) {
  if (is_compared() && counted) note_wait(group_, which, false, call_.ended() - since);
  return outcome;
}

void LibraryTimer::note() {
  const std::int64_t waited = call_.ended() - group_.timed_since;
  group_.timed_since = 0;
  note_wait(group_, group_.timed_class, true, waited);
  if (group_.timed_root < 0) return;
  group_.tree->report_waits(group_.timed_root, group_.timed_class);
  group_.timed_root = -1;
}

bool is_decided_here(Group& group) {
  if (group.unread_root >= 0) catch_up(group);
  if (group.left == 0) return true;
  --group.left;
  return false;
}

}  // namespace steelyard::collectives
