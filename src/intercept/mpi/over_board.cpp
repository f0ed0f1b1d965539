// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/mpi/over_board.h"

#include <algorithm>

#include "base/clock.h"

namespace steelyard::intercept {
namespace {

using collectives::Board;
using collectives::Notice;
using collectives::Path;

/// With what the last collective's root has told, which this rank had no reason to wait for then.
void catch_up(Communicator& communicator) {
  Board& board = *communicator.board;
  Turns turns(nullptr);
  const Notice* notice = board.notice();
  for (; notice == nullptr && !board.nobody_gives(); notice = board.notice()) turns.next();
  if (notice == nullptr) notice = board.notice();
  if (notice != nullptr) communicator.left = notice->left;
  communicator.untold = -1;
  board.pass();
}

void note_wait(const Communicator& communicator, int which, bool by_library, std::int64_t ns) {
  if (communicator.board != nullptr) {
    communicator.board->waited(which, !by_library, ns);
  } else {
    communicator.tree->waited(which, !by_library, ns);
  }
  session::note_wait(collectives::SizeClasses::operation(which), by_library, ns);
}

std::int64_t ended(Call* call) { return call != nullptr ? call->ended() : base::now_ns(); }

}  // namespace

std::int64_t OverBoard::began() const { return call_ != nullptr ? call_->began() : base::now_ns(); }

void OverBoard::arrive(const Flow& flow) {
  if (communicator_.on_node == nullptr) return;
  if (call_ == nullptr) return announce(communicator_);
  session::arrive(*call_, communicator_.on_node, flow.dependence, flow.root);
}

int OverBoard::refused(int code) const {
  PMPI_Comm_call_errhandler(handle_, code);
  return code;
}

std::optional<int> OverBoard::by_library(bool after_root) {
  const bool waits = after_root && !is_root();
  arrive({waits ? session::Dependence::root : session::Dependence::nobody, root_});
  return std::nullopt;
}

void OverBoard::pass_over() {
  if (!communicator_.compares) return;
  Board& board = *communicator_.board;
  if (!is_root() || !board.claim()) {
    if (!is_root()) board.decline();
    communicator_.untold = root_;
    return;
  }
  while (!board.vacant(0)) turns_.next();
  const std::int64_t now = base::now_ns();
  const Next next = board.compare_nothing();
  communicator_.left = next.left;
  board.put_up(Path::nothing, 0, now, 0, 0, 0, next);
}

int OverBoard::without_data(int code) {
  pass_over();
  arrive_with_data();
  return code == MPI_SUCCESS ? code : refused(code);
}

std::optional<OverBoard::Begun> OverBoard::begin(std::size_t bytes, std::int64_t came) {
  Board& board = *communicator_.board;
  if (!board.claim()) {
    arrive_with_data();
    const Notice* notice = board.notice();
    for (; communicator_.compares && notice == nullptr; notice = board.notice()) turns_.next();
    if (notice != nullptr) communicator_.left = notice->left;
    return std::nullopt;
  }
  Begun begun;
  begun.which = collectives::SizeClasses::of(operation_, bytes);
  if (communicator_.compares) begun.next = board.compare(begun.which, came);
  communicator_.left = begun.next.left;
  while (!board.vacant(begun.next.by_board ? bytes : 0)) turns_.next();
  if (begun.next.by_board) begun.row = board.place(bytes);
  return begun;
}

bool OverBoard::give_all(const Begun& begun, const Layout& layout, const void* buffer, std::int64_t came) {
  Board& board = *communicator_.board;
  const std::size_t bytes = layout.bytes();
  std::size_t done = layout.contiguous() ? std::min(bytes, collectives::SizeClasses::kPiece) : bytes;
  if (begun.row == nullptr || !layout.give(buffer, begun.row, 0, done)) return false;
  board.put_up(Path::board, bytes, came, done, 0, begun.which, begun.next);
  arrive_with_data();
  while (done < bytes) {
    const std::size_t piece = std::min(bytes - done, collectives::SizeClasses::kPiece);
    layout.give(buffer, begun.row, done, piece);
    done += piece;
    board.more(done);
  }
  return true;
}

std::optional<int> OverBoard::leave(const Begun& begun, std::size_t bytes, std::int64_t came) {
  Next told = begun.next;
  if (told.by_board) told.counted = false;  // the board could not have it: nothing is compared
  communicator_.board->put_up(Path::library, bytes, came, 0, 0, begun.which, told);
  look_at_library(came, told.counted, begun.which);
  return by_library(false);
}

const Notice* OverBoard::hear(int from) {
  Board& board = *communicator_.board;
  arrive({session::Dependence::root, from});
  const int root = board.member(from);
  board.decline();
  const Notice* notice = board.notice();
  for (; notice == nullptr; notice = board.notice()) {
    // That rank does not take itself for the root. Nobody will ever bring the data; the library might wait for it for
    // ever.
    if (board.will_not_give(root) && board.notice() == nullptr) {
      // Another may be the root, and tell how the next ones go.
      if (communicator_.compares) communicator_.untold = root_;
      return nullptr;
    }
    turns_.next();
  }
  communicator_.left = notice->left;
  const bool other = notice->path == Path::board && communicator_.tree == nullptr &&
                     collectives::SizeClasses::operation(notice->which) != operation_;
  return notice->root != root || notice->path == Path::nothing || other ? nullptr : notice;
}

void OverBoard::look_at_library(std::int64_t since, bool counted, int which) {
  if (!is_compared() || !counted) return;
  communicator_.looked_at = since;
  communicator_.looked_which = which;
}

void OverBoard::note_why_library(std::size_t bytes, std::size_t most) const {
  using observe::Broadcasts;
  if (bytes == 0) return;
  session::note_left(operation_,
                     bytes > most    ? &Broadcasts::left_length
                     : is_compared() ? &Broadcasts::left_choice
                                     : &Broadcasts::left_memory,
                     true);
}

int OverBoard::measured(std::int64_t since, bool counted, int which, int code) {
  if (is_compared() && counted) note_wait(communicator_, which, false, ended(call_) - since);
  return code;
}

Looked::~Looked() {
  if (communicator_.looked_at == 0) return;
  const std::int64_t waited = ended(call_) - communicator_.looked_at;
  communicator_.looked_at = 0;
  note_wait(communicator_, communicator_.looked_which, true, waited);
  if (communicator_.looked_root < 0) return;
  communicator_.tree->tell_waits(communicator_.looked_root, communicator_.looked_which, false);
  communicator_.looked_root = -1;
}

bool is_asked_about(Communicator& communicator) {
  if (communicator.untold >= 0) catch_up(communicator);
  if (communicator.left == 0) return true;
  --communicator.left;
  return false;
}

}  // namespace steelyard::intercept
