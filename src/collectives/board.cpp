// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/board.h"

#include <algorithm>

#include "decide/estimate.h"

namespace steelyard::collectives {
namespace {

// Encoding: the words of a process. Number of the last broadcast that it has passed; of the last one that it was not
// the root of; smoothed ns from the data to its arrival. Then for each class, its waits in broadcasts by the library
// and through shared memory, each as a sum and a count. The shortest class is in the first cache line.
constexpr std::size_t kDeclined = 1, kCame = 2, kWaits = 3;
constexpr std::size_t kLine = 32;  // Size: words in four cache lines
static_assert(kWaits + std::size_t{4} * SizeClasses::kClasses <= kLine);
// ns that ranks take longer in a broadcast whose waits are added, notice included.
constexpr std::int64_t kMeasuring = 2'000;

std::size_t wait_words(int which, bool by_board) {
  return kWaits + static_cast<std::size_t>(which) * 4 + (by_board ? 2 : 0);
}

}  // namespace

struct Board::Shared {
  Notice notices[kNotices];
  // Here, as a root may not have looked at the broadcasts before its own.
  alignas(64) std::atomic<std::uint64_t> last_use[kCells];  // broadcast that each cell was last taken for
  std::atomic<int> latest;                                  // the one that was taken last
  alignas(64) SizeClasses classes;                          // the present root's
};

Board::Board(Shared& shared, char* cells, std::atomic<std::uint64_t>* passed, std::vector<int> members, int me)
    : shared_(&shared), cells_(cells), passed_(passed), members_(std::move(members)), me_(me) {
  for (int rank = 0; rank < static_cast<int>(members_.size()); ++rank) {
    if (member(rank) >= 0) here_.push_back(rank);
  }
}

Notice& Board::slot() const { return shared_->notices[number_ % kNotices]; }

void Board::pass() { passed_[static_cast<std::size_t>(me_) * kLine].store(number_, std::memory_order_release); }

void Board::decline() {
  passed_[static_cast<std::size_t>(me_) * kLine + kDeclined].store(number_, std::memory_order_release);
}

bool Board::will_not_publish(int node_rank) const {
  const std::atomic<std::uint64_t>* const line = passed_ + static_cast<std::size_t>(node_rank) * kLine;
  return line[0].load(std::memory_order_acquire) >= number_ ||
         line[kDeclined].load(std::memory_order_acquire) == number_;
}

bool Board::none_will_publish() const {
  return std::ranges::all_of(here_, [&](int rank) { return will_not_publish(member(rank)); });
}

// Members only ever go on, so what was seen stays true.
bool Board::all_passed(std::uint64_t number) {
  if (number <= seen_passed_) return true;
  std::uint64_t least = number_;
  for (const int rank : here_) {
    if (member(rank) == me_) continue;
    least = std::min(least, passed_[static_cast<std::size_t>(member(rank)) * kLine].load(std::memory_order_acquire));
  }
  seen_passed_ = least;
  return number <= seen_passed_;
}

bool Board::claim() {
  std::atomic<std::uint64_t>& claimed = slot().claimed;
  std::uint64_t before = claimed.load(std::memory_order_relaxed);
  return before < number_ && claimed.compare_exchange_strong(before, number_);
}

bool Board::vacant(std::size_t bytes) {
  if (number_ > kNotices && !all_passed(number_ - kNotices)) return false;
  if (bytes <= Notice::kSmall || bytes > kCellBytes) return true;
  return take_cell();
}

// False while there is one to wait for. One that was taken for a later broadcast, by a root that did not wait for this
// one, is not: those who have still to read it may be waiting for this one.
bool Board::take_cell() {
  free_ = -1;
  bool any = false;
  const int latest = shared_->latest.load(std::memory_order_relaxed);  // it is still in the caches
  for (int i = 0; i < kCells; ++i) {
    const int cell = (latest + i) % kCells;
    std::uint64_t last = shared_->last_use[cell].load(std::memory_order_acquire);
    if (last > number_) continue;
    any = true;
    if (!all_passed(last) || !shared_->last_use[cell].compare_exchange_strong(last, number_)) continue;
    if (cell != latest) shared_->latest.store(cell, std::memory_order_relaxed);
    free_ = cell;
    return true;
  }
  return !any;
}

char* Board::place(std::size_t bytes) {
  cell_ = -1;
  if (bytes <= Notice::kSmall) return slot().small;
  if (bytes > kCellBytes || free_ < 0) return nullptr;
  char* const at = cells_ + static_cast<std::size_t>(free_) * kCellBytes;
  if (there_[free_] < bytes) {
    if (!node::Segment::commit(at, bytes)) return nullptr;
    there_[free_] = bytes;
  }
  cell_ = free_;
  return at;
}

void Board::publish(Path path, std::size_t bytes, std::int64_t since, std::size_t ready, std::size_t note_bytes,
                    int which, const Comparison::Next& next) {
  Notice& notice = slot();
  if (path != Path::board) cell_ = -1;
  notice.bytes = bytes;
  notice.since = since;
  notice.root = me_;
  notice.path = path;
  notice.cell = cell_;
  notice.note = static_cast<std::uint32_t>(note_bytes);
  notice.left = next.left;
  notice.counted = next.counted;
  notice.which = static_cast<std::int8_t>(which);
  notice.ready.store(ready, std::memory_order_relaxed);
  notice.number.store(number_, std::memory_order_release);
}

void Board::publish_more(std::size_t ready) { slot().ready.store(ready, std::memory_order_release); }

void Board::waited(int which, bool by_board, std::int64_t ns) {
  std::atomic<std::uint64_t>* const words =
      passed_ + static_cast<std::size_t>(me_) * kLine + wait_words(which, by_board);
  words[0].store(words[0].load(std::memory_order_relaxed) + static_cast<std::uint64_t>(std::max<std::int64_t>(0, ns)),
                 std::memory_order_relaxed);
  words[1].store(words[1].load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

Waits Board::waits(int which, bool by_board) const {
  Waits all;
  for (const int rank : here_) {
    const std::atomic<std::uint64_t>* const words =
        passed_ + static_cast<std::size_t>(member(rank)) * kLine + wait_words(which, by_board);
    all += {.ns = static_cast<std::int64_t>(words[0].load(std::memory_order_relaxed)),
            .count = static_cast<std::int64_t>(words[1].load(std::memory_order_relaxed))};
  }
  return all;
}

void Board::arrived(std::int64_t after_ns) {
  std::atomic<std::uint64_t>& mine = passed_[static_cast<std::size_t>(me_) * kLine + kCame];
  const auto before = static_cast<std::int64_t>(mine.load(std::memory_order_relaxed));
  mine.store(static_cast<std::uint64_t>(before + (after_ns - before) / decide::kRecent), std::memory_order_relaxed);
}

Board::Arrivals Board::arrivals() const {
  const auto came = [&](int member) {
    const std::size_t word = static_cast<std::size_t>(member) * kLine + kCame;
    return static_cast<std::int64_t>(passed_[word].load(std::memory_order_relaxed));
  };
  Arrivals found;
  for (const int rank : here_) {
    const std::int64_t after = came(member(rank)), early = came(me_) - after;
    found.late = std::max(found.late, after);
    if (found.first >= 0 && early <= found.early) continue;
    found.first = rank;
    found.early = early;
  }
  return found;
}

Comparison::Next Board::compare(int which, std::int64_t now, const decide::Settings& settings) {
  SizeClasses& classes = shared_->classes;
  Comparison::Seen seen;
  if (classes.asks(which)) seen = {waits(which, false), waits(which, true)};
  return classes.next(which, seen,
                      {.now = now, .ranks = static_cast<int>(here_.size()), .cost = kMeasuring, .settings = settings});
}

Comparison::Next Board::compare_nothing() { return shared_->classes.pass(); }

const Notice* Board::notice() const {
  const Notice& notice = slot();
  return notice.number.load(std::memory_order_acquire) == number_ ? &notice : nullptr;
}

const char* Board::data(const Notice& notice) const {
  return notice.cell < 0 ? notice.small : cells_ + static_cast<std::size_t>(notice.cell) * kCellBytes;
}

std::size_t Boards::footprint(int processes) {
  return node::Segment::footprint<Board::Shared>(kBoards) +
         node::Segment::footprint<std::atomic<std::uint64_t>>(kBoards * kLine * static_cast<std::size_t>(processes));
}

Boards::Boards(node::Segment& segment, int processes, int me)
    : boards_(segment.carve<Board::Shared>(kBoards)),
      passed_(segment.carve<std::atomic<std::uint64_t>>(kBoards * kLine * static_cast<std::size_t>(processes))),
      cells_(segment.spare()),
      processes_(processes),
      me_(me) {}

std::atomic<std::uint64_t>* Boards::passed(int slot) const {
  return passed_ + static_cast<std::size_t>(slot) * static_cast<std::size_t>(processes_) * kLine;
}

std::unique_ptr<Board> Boards::open(int slot, const std::vector<int>& members) {
  if (slot < 0 || slot >= kBoards) return nullptr;
  char* const cells = cells_ + static_cast<std::size_t>(slot) * Board::kCells * Board::kCellBytes;
  return std::unique_ptr<Board>(new Board(boards_[slot], cells, passed(slot), members, me_));
}

void Boards::clear(int slot) {
  if (slot < 0 || slot >= kBoards) return;
  for (Notice& notice : boards_[slot].notices) {
    notice.claimed.store(0);
    notice.number.store(0);
  }
  for (std::atomic<std::uint64_t>& last : boards_[slot].last_use) last.store(0);
  boards_[slot].classes = {};
  for (std::size_t word = 0; word < static_cast<std::size_t>(processes_) * kLine; ++word) passed(slot)[word].store(0);
}

}  // namespace steelyard::collectives
