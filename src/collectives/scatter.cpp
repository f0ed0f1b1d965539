// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "collectives/over_board.h"

namespace steelyard::collectives {
namespace {

/// One scatter on a communicator, at this rank.
class Scattering : OverBoard {
 public:
  Scattering(Group& group, const Scattered& buffers, int root, Call& call)
      : OverBoard(Operation::scatter, root, group, call), s_(buffers), blocks_(static_cast<std::size_t>(group.size)) {}

  Outcome run();

 private:
  /// The communicator's rank takes its block of `block` bytes.
  Outcome take_block(const char* row, std::size_t block);
  Outcome give();
  Outcome take();

  const Scattered& s_;
  std::size_t blocks_;
  std::size_t given_ = 0;  // bytes
  std::int64_t late_ = 0;
};

Outcome Scattering::run() {
  Board& board = *group_.board;
  board.next();
  const Outcome outcome = is_root() ? give() : take();
  if (group_.unread_root < 0) board.pass();
  account_.delivered(Operation::scatter, outcome == Outcome::library, false, late_);
  if (outcome == Outcome::library) note_why_library(given_, Board::kCellBytes);
  return outcome;
}

Outcome Scattering::take_block(const char* row, std::size_t block) {
  const char* const at = row + block * static_cast<std::size_t>(group_.rank);
  const std::size_t wanted = std::min(block, s_.mine.bytes());
  if (wanted > 0 && s_.mine.lacks_address()) return Outcome::no_address;
  if (wanted > 0 && !s_.mine.take(at, 0, wanted)) return Outcome::wrong_type;
  // One that asks for more than it is given is no error to either library.
  return block > s_.mine.bytes() ? Outcome::truncated : Outcome::done;
}

Outcome Scattering::give() {
  const std::int64_t came = call_.began();
  const port::Layout& block = *s_.block;
  if (block.bytes() == 0) return without_data(Outcome::done);
  if (block.lacks_address()) return without_data(Outcome::no_address);
  const std::size_t bytes = given_ = block.bytes() * blocks_;
  const std::optional<Begun> begun = begin(bytes, came);
  if (!begun) return Outcome::wrong_root;
  if (begun->row == nullptr) return leave(*begun, bytes, came);
  if (!give_all(*begun, *s_.all, came)) return leave(*begun, bytes, came);
  const Outcome outcome = s_.keeps_its_own ? Outcome::done : take_block(begun->row, block.bytes());
  return measured(came, begun->next.counted, begun->which, outcome);
}

Outcome Scattering::take() {
  if (s_.mine.bytes() == 0) return without_data(Outcome::done);
  if (s_.mine.lacks_address()) return without_data(Outcome::no_address);
  const std::int64_t came = call_.began();
  const Notice* const notice = await_notice(root_);
  if (notice == nullptr) return Outcome::wrong_root;
  const std::int64_t since = std::max(came, notice->since);
  given_ = notice->bytes;
  if (notice->path == Path::library) {
    time_library(notice->counted, notice->which);
    return Outcome::library;
  }
  late_ = came - notice->since;
  const std::size_t block = notice->bytes / blocks_;
  const std::size_t needed = block * static_cast<std::size_t>(group_.rank + 1);
  while (notice->ready.load(std::memory_order_acquire) < needed) call_.turn();
  return measured(since, notice->counted, notice->which, take_block(group_.board->data(*notice), block));
}

}  // namespace

bool takes_scatter(Group& group) {
  Account& account = group.engine->account();
  if (group.between_nodes || group.board == nullptr) {
    const bool elsewhere = group.local_members < group.size;
    const auto why = elsewhere ? &observe::Broadcasts::left_nodes : &observe::Broadcasts::left_boards;
    if (group.size > 1) account.left(Operation::scatter, why, false);
    return false;
  }
  if (is_decided_here(group)) return true;
  account.left(Operation::scatter, &observe::Broadcasts::left_choice, false);
  return false;
}

Outcome scatter(Group& group, const Scattered& buffers, int root, Call& call) {
  return Scattering(group, buffers, root, call).run();
}

}  // namespace steelyard::collectives
