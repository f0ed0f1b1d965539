#include "intercept/mpi/broadcast.h"

#include <algorithm>
#include <vector>

#include "base/clock.h"
#include "intercept/mpi/layout.h"
#include "intercept/mpi/turns.h"

namespace steelyard::intercept {
namespace {

using collectives::Board;
using collectives::Notice;
using collectives::Path;

// Long messages are put up and taken in pieces, so that the two overlap, and stay in a core's own cache.
constexpr std::size_t kPiece = 128U << 10;

std::int64_t began(Call* call) { return call != nullptr ? call->began() : base::now_ns(); }
std::int64_t ended(Call* call) { return call != nullptr ? call->ended() : base::now_ns(); }

/// One broadcast on a communicator, at this rank.
class Delivery {
 public:
  Delivery(const Broadcast& broadcast, Communicator& communicator, Call* call)
      : b_(broadcast), communicator_(communicator), call_(call), layout_(b_.buffer, b_.type, b_.count), turns_(call) {}

  std::optional<int> run();

 private:
  bool root() const { return communicator_.rank == b_.root; }
  std::optional<int> by_library(bool after_root);
  void note_why_library() const;
  void pass_over();
  std::optional<int> give();
  std::optional<int> take(int from);
  int lead();

  /// This rank is at the collective, whoever weighs it.
  void arrive(const Flow& flow);
  /// A leader's or root's: those who sleep wake up to data.
  void arrive_with_data() { arrive({runtime::Dependence::nobody, b_.root}); }
  int refused(int code);
  /// How the next broadcasts go, as a root has told it.
  void learn(const Notice& notice) { communicator_.left = notice.left; }
  void look_at_library(std::int64_t since, bool counted) {
    if (communicator_.compares && counted) communicator_.looked_at = since;
  }
  /// Through shared memory.
  int measured(std::int64_t since, bool counted, int code);
  /// From a row that holds `bytes` bytes to the program. MPI_SUCCESS or the error.
  int compared(std::size_t bytes);
  int hand_out(const char* row, std::size_t bytes);

  const Broadcast& b_;
  Communicator& communicator_;
  Call* call_;
  Layout layout_;
  Turns turns_;
  std::int64_t late_ = 0;
};

void Delivery::arrive(const Flow& flow) {
  if (communicator_.on_node == nullptr) return;
  if (call_ == nullptr) return announce(communicator_);
  runtime::arrive(*call_, communicator_.on_node, flow.dependence, flow.root);
}

int Delivery::refused(int code) {
  PMPI_Comm_call_errhandler(b_.comm, code);
  return code;
}

/// With what the root has given. Where it gave fewer bytes than are asked for, MPICH's own broadcast is an error, too.
int Delivery::compared(std::size_t bytes) {
  if (bytes > layout_.bytes()) return refused(MPI_ERR_TRUNCATE);
#ifndef OPEN_MPI
  if (bytes < layout_.bytes()) return refused(MPI_ERR_OTHER);
#endif
  return MPI_SUCCESS;
}

int Delivery::hand_out(const char* row, std::size_t bytes) {
  if (!layout_.take(row, b_.buffer, 0, std::min(bytes, layout_.bytes()))) return refused(MPI_ERR_TYPE);
  return compared(bytes);
}

std::optional<int> Delivery::by_library(bool after_root) {
  const bool waits = after_root && !root();
  arrive({waits ? runtime::Dependence::root : runtime::Dependence::nobody, b_.root});
  return std::nullopt;
}

void Delivery::note_why_library() const {
  using observe::Broadcasts;
  if (layout_.bytes() == 0) return;
  const std::size_t most = communicator_.tree != nullptr ? Tree::kMostBytes : Board::kCellBytes;
  runtime::note_left(layout_.bytes() > most   ? &Broadcasts::left_length
                     : communicator_.compares ? &Broadcasts::left_choice
                                              : &Broadcasts::left_memory,
                     true);
}

int Delivery::measured(std::int64_t since, bool counted, int code) {
  if (!communicator_.compares || !counted) return code;
  const std::int64_t waited = ended(call_) - since;
  communicator_.board->waited(true, waited);
  runtime::note_wait_in_broadcast(false, waited);
  return code;
}

std::optional<int> Delivery::run() {
  Board* const board = communicator_.board.get();
  Tree* const tree = communicator_.tree.get();
  if (board != nullptr) board->next();
  std::optional<int> code;
  if (b_.count == 0) {
    pass_over();
    code = by_library(false);
  } else if (layout_.bytes() == 0) {
    // Some libraries send a message of nothing here, which a rank that says "no elements" would not receive.
    pass_over();
    arrive_with_data();
    code = MPI_SUCCESS;
  } else if (b_.buffer == MPI_BOTTOM && layout_.contiguous()) {
    pass_over();
    arrive_with_data();
    code = refused(MPI_ERR_BUFFER);
  } else if (tree == nullptr) {
    code = root() ? give() : take(b_.root);
  } else if (!tree->next(layout_.bytes())) {
    code = by_library(true);
  } else {
    const int leader = tree->leader(b_.root);
    code = leader == communicator_.rank ? lead() : take(leader);
    communicator_.left = tree->left_to_library();
  }
  if (board != nullptr && communicator_.untold < 0) board->pass();
  runtime::note_broadcast(!code, tree != nullptr, late_);
  if (!code) note_why_library();
  return code;
}

/// Nothing to give or to take, and so nobody to wait for. What the root tells is put up, or heard at the next broadcast.
void Delivery::pass_over() {
  if (!communicator_.compares) return;
  Board& board = *communicator_.board;
  if (!root() || !board.claim()) {
    if (!root()) board.decline();
    communicator_.untold = b_.root;
    return;
  }
  while (!board.vacant(0)) turns_.next();
  const std::int64_t now = base::now_ns();
  const collectives::Comparison::Next next = board.compare(now);
  communicator_.left = next.left;
  board.put_up(Path::nothing, 0, now, 0, 0, next);
}

std::optional<int> Delivery::give() {
  Board& board = *communicator_.board;
  const std::size_t bytes = layout_.bytes();
  const std::int64_t came = began(call_);
  if (!board.claim()) {
    arrive_with_data();
    const Notice* notice = board.notice();
    for (; communicator_.compares && notice == nullptr; notice = board.notice()) turns_.next();
    if (notice != nullptr) learn(*notice);
    return refused(MPI_ERR_ROOT);
  }
  const collectives::Comparison::Next next =
      communicator_.compares ? board.compare(came) : collectives::Comparison::Next{};
  communicator_.left = next.left;
  while (!board.vacant(next.by_board ? bytes : 0)) turns_.next();
  char* const row = next.by_board ? board.place(bytes) : nullptr;
  const std::size_t first = layout_.contiguous() ? std::min(bytes, kPiece) : bytes;
  if (row == nullptr || !layout_.give(b_.buffer, row, 0, first)) {
    collectives::Comparison::Next told = next;
    if (next.by_board) told.counted = false;  // the board could not have it: nothing is compared
    board.put_up(Path::library, bytes, came, 0, 0, told);
    look_at_library(came, told.counted);
    return by_library(false);
  }
  board.put_up(Path::board, bytes, came, first, 0, next);
  arrive_with_data();
  for (std::size_t done = first; done < bytes;) {
    const std::size_t piece = std::min(bytes - done, kPiece);
    layout_.give(b_.buffer, row, done, piece);
    done += piece;
    board.more(done);
  }
  return measured(came, next.counted, MPI_SUCCESS);
}

std::optional<int> Delivery::take(int from) {
  Board& board = *communicator_.board;
  const std::int64_t came = began(call_);
  arrive({runtime::Dependence::root, from});
  const int root = board.member(from);
  board.decline();
  const Notice* notice = board.notice();
  for (; notice == nullptr; notice = board.notice()) {
    // That rank does not take itself for the root. Nobody will ever bring the data; the library might wait for it for ever.
    if (board.will_not_give(root) && board.notice() == nullptr) {
      // Another may be the root, and tell how the next ones go.
      if (communicator_.compares) communicator_.untold = b_.root;
      return refused(MPI_ERR_ROOT);
    }
    turns_.next();
  }
  learn(*notice);
  if (notice->root != root || notice->path == Path::nothing) return refused(MPI_ERR_ROOT);
  const std::int64_t since = std::max(came, notice->since);
  if (notice->path == Path::library) {
    look_at_library(since, notice->counted);
    return std::nullopt;
  }
  late_ = came - notice->since;
  if (communicator_.tree != nullptr) board.came(late_);
  const std::size_t bytes = notice->bytes;
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
  if (communicator_.tree != nullptr) communicator_.tree->learn(row + bytes, notice->note);
  const bool counted = notice->counted;
  if (!layout_.contiguous()) return measured(since, counted, hand_out(row, bytes));
  return measured(since, counted, compared(bytes));
}

int Delivery::lead() {
  Tree& tree = *communicator_.tree;
  Board* const board = communicator_.board.get();
  const std::int64_t came = began(call_);
  std::vector<int> note;
  const bool asks = board != nullptr && (!root() || tree.plans());
  const Board::Arrivals arrivals = asks ? board->arrivals() : Board::Arrivals{};
  const Tree::Head head =
      root() ? tree.begin(layout_.bytes(), came, arrivals, note) : tree.receive(b_.root, came, arrivals, turns_);
  if (!root()) late_ = tree.late();
  const bool claimed = board != nullptr && board->claim();
  if (claimed) {
    while (!board->vacant(head.total())) turns_.next();
  }
  char* row = claimed ? board->place(head.total()) : nullptr;
  std::vector<char> own;
  const Path path = row != nullptr ? Path::board : Path::message;
  if (row == nullptr) {
    own.resize(head.total());
    row = own.data();
  }
  if (!root()) {
    tree.receive_row(head, b_.root, row, turns_);
  } else if (layout_.give(b_.buffer, row, 0, layout_.bytes())) {
    std::copy_n(reinterpret_cast<const char*>(note.data()), head.note, row + head.bytes);
  } else {
    return refused(MPI_ERR_TYPE);
  }
  if (claimed) {
    const std::int64_t now = base::now_ns();
    board->put_up(path, head.bytes, now, head.total(), head.note);
    board->came(came - now);
  }
  arrive_with_data();
  tree.send(head, b_.root, row, turns_);
  const int code = root() ? MPI_SUCCESS : hand_out(row, head.bytes);
  if (claimed && path == Path::message) {
    for (const int rank : tree.local()) {
      if (rank != communicator_.rank) tree.hand_over(rank, row, head.total(), turns_);
    }
  }
  tree.finish(turns_);
  tree.learn(row + head.bytes, head.note);
  return code;
}

}  // namespace

namespace {

/// What has a meaning without asking the others. The rest is the library's to refuse, at this rank alone.
bool is_valid(const Broadcast& b, const Communicator& communicator) {
  return b.count >= 0 && b.root >= 0 && b.root < communicator.size && b.type != MPI_DATATYPE_NULL;
}

/// With what the last broadcast's root has told, which this rank had no reason to wait for then.
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

}  // namespace

Looked::~Looked() {
  if (communicator_.looked_at == 0) return;
  const std::int64_t waited = ended(call_) - communicator_.looked_at;
  communicator_.looked_at = 0;
  communicator_.board->waited(false, waited);
  runtime::note_wait_in_broadcast(true, waited);
}

bool takes_over(const Broadcast& b, Communicator& communicator) {
  if (!is_valid(b, communicator)) return false;
  if (communicator.untold >= 0) catch_up(communicator);
  if (communicator.left > 0) {
    --communicator.left;
    runtime::note_left(&observe::Broadcasts::left_choice, false);
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
