// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/mpi/scatter.h"

#include <algorithm>

namespace steelyard::intercept {
namespace {

using collectives::Board;
using collectives::Notice;
using collectives::Operation;
using collectives::Path;

/// One scatter on a communicator, at this rank.
class Scattering : OverBoard {
 public:
  Scattering(const Scatter& scatter, Communicator& communicator, Call* call)
      : OverBoard(Operation::scatter, scatter.comm, scatter.root, communicator, call),
        s_(scatter),
        blocks_(static_cast<std::size_t>(communicator.size)),
        mine_(keeps_its_own() ? Layout(nullptr, MPI_BYTE, 0) : Layout(scatter.to, scatter.to_type, scatter.to_count)) {}

  std::optional<int> run();

 private:
  bool keeps_its_own() const { return is_root() && s_.to == MPI_IN_PLACE; }
  /// The communicator's rank takes its block of `block` bytes.
  int take_block(const char* row, std::size_t block);
  std::optional<int> give();
  std::optional<int> take();

  const Scatter& s_;
  std::size_t blocks_;
  Layout mine_;
  std::size_t given_ = 0;  // bytes
  std::int64_t late_ = 0;
};

std::optional<int> Scattering::run() {
  Board& board = *communicator_.board;
  board.next();
  const std::optional<int> code = is_root() ? give() : take();
  if (communicator_.untold < 0) board.pass();
  session::note_delivery(Operation::scatter, !code, false, late_);
  if (!code) note_why_library(given_, Board::kCellBytes);
  return code;
}

int Scattering::take_block(const char* row, std::size_t block) {
  const char* const at = row + block * static_cast<std::size_t>(communicator_.rank);
  const std::size_t wanted = std::min(block, mine_.bytes());
  if (wanted > 0 && s_.to == MPI_BOTTOM && mine_.contiguous()) return refused(MPI_ERR_BUFFER);
  if (wanted > 0 && !mine_.take(at, s_.to, 0, wanted)) return refused(MPI_ERR_TYPE);
  // One that asks for more than it is given is no error to either library.
  return block > mine_.bytes() ? refused(MPI_ERR_TRUNCATE) : MPI_SUCCESS;
}

std::optional<int> Scattering::give() {
  const std::int64_t came = began();
  const Layout block(s_.from, s_.from_type, s_.from_count);
  if (block.bytes() == 0) return without_data(MPI_SUCCESS);
  if (s_.from == MPI_BOTTOM && block.contiguous()) return without_data(MPI_ERR_BUFFER);
  const std::size_t bytes = given_ = block.bytes() * blocks_;
  const std::optional<Begun> begun = begin(bytes, came);
  if (!begun) return refused(MPI_ERR_ROOT);
  if (begun->row == nullptr) return leave(*begun, bytes, came);
  // The blocks of a scatter follow each other as the elements of one do.
  const Layout all(s_.from, s_.from_type, s_.from_count * communicator_.size);
  if (!give_all(*begun, all, s_.from, came)) return leave(*begun, bytes, came);
  const int code = keeps_its_own() ? MPI_SUCCESS : take_block(begun->row, block.bytes());
  return measured(came, begun->next.counted, begun->which, code);
}

std::optional<int> Scattering::take() {
  if (mine_.bytes() == 0) return without_data(MPI_SUCCESS);
  if (s_.to == MPI_BOTTOM && mine_.contiguous()) return without_data(MPI_ERR_BUFFER);
  const std::int64_t came = began();
  const Notice* const notice = hear(s_.root);
  if (notice == nullptr) return refused(MPI_ERR_ROOT);
  const std::int64_t since = std::max(came, notice->since);
  given_ = notice->bytes;
  if (notice->path == Path::library) {
    look_at_library(since, notice->counted, notice->which);
    return std::nullopt;
  }
  late_ = came - notice->since;
  const std::size_t block = notice->bytes / blocks_;
  const std::size_t needed = block * static_cast<std::size_t>(communicator_.rank + 1);
  while (notice->ready.load(std::memory_order_acquire) < needed) turns_.next();
  return measured(since, notice->counted, notice->which, take_block(communicator_.board->data(*notice), block));
}

}  // namespace

bool is_valid(const Scatter& s, const Communicator& communicator) {
  if (s.root < 0 || s.root >= communicator.size) return false;
  const bool at_root = communicator.rank == s.root;
  if (at_root && (s.from == MPI_IN_PLACE || s.from_count < 0 || !is_type(s.from_type))) return false;
  if (s.to == MPI_IN_PLACE) return at_root;
  return s.to_count >= 0 && is_type(s.to_type);
}

bool takes_over(const Scatter&, Communicator& communicator) {
  if (communicator.between_nodes || communicator.board == nullptr) {
    const bool elsewhere = communicator.local_members < communicator.size;
    const auto why = elsewhere ? &observe::Broadcasts::left_nodes : &observe::Broadcasts::left_boards;
    if (communicator.size > 1) session::note_left(Operation::scatter, why, false);
    return false;
  }
  if (is_asked_about(communicator)) return true;
  session::note_left(Operation::scatter, &observe::Broadcasts::left_choice, false);
  return false;
}

std::optional<int> deliver(const Scatter& scatter, Communicator& communicator, Call* call) {
  return Scattering(scatter, communicator, call).run();
}

}  // namespace steelyard::intercept
