// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/tree.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "base/clock.h"
#include "wait/back_off.h"

namespace steelyard::collectives {
namespace {

using Kind = Post::Kind;

// ns: as long as processes that run need to meet. A shorter receive may have found its message there.
constexpr std::int64_t kWaited = wait::kMeeting.spin;

// While no rank is late, the library handles so many broadcasts before the next one over the tree: at first, all but
// one from one plan to the next. The number doubles up to the longest pause between plans, or to the most that one
// answer leaves to the library.
std::uint32_t least_share(const Settings& settings) {
  return std::clamp(static_cast<std::uint32_t>(settings.every), 2U, Comparison::kMost) - 1;
}
std::uint32_t most_share(const Settings& settings) {
  return std::min(static_cast<std::uint32_t>(settings.every) * kMostPatience, Comparison::kMost);
}

}  // namespace

/// A head, and the row where it is short.
struct Tree::Packet {
  Head head;
  char row[port::kEager - sizeof(Head)];
};

Tree::Tree(port::Exchange& ranks, Post& post, std::vector<int> world_ranks, int node, bool ready,
           const Settings& settings, bool may_leave_to_library)
    : post_(post),
      messages_(post.messages()),
      world_ranks_(std::move(world_ranks)),
      may_leave_to_library_(may_leave_to_library),
      settings_(settings),
      table_(1),
      optimiser_(1, settings),
      plan_at_(settings.every),
      share_(least_share(settings)),
      packet_(sizeof(Packet)),
      outgoing_(kOnTheirWay) {
  rank_ = ranks.rank();
  struct Member {
    std::int64_t node, ready, number;
  };
  const Member mine{node, ready ? 1 : 0, post.next_number()};
  std::vector<Member> all(world_ranks_.size());
  constexpr int kWords = sizeof(Member) / sizeof(std::int64_t);
  ranks.gather(&mine.node, kWords, &all.data()->node);
  std::map<int, int> index;
  usable_ = true;
  for (int rank = 0; rank < static_cast<int>(all.size()); ++rank) {
    const Member& member = all[static_cast<std::size_t>(rank)];
    const int of = static_cast<int>(member.node);
    usable_ = usable_ && member.ready != 0;
    tree_ = std::max(tree_, member.number);
    const auto [found, is_new] = index.emplace(of, static_cast<int>(index.size()));
    if (is_new) leaders_.push_back(rank);
    node_of_.push_back(found->second);
    if (of == node) local_.push_back(rank);
  }
  node_ = node_of_[static_cast<std::size_t>(rank_)];
  const int nodes = static_cast<int>(leaders_.size());
  table_ = VirtualRanks(nodes);
  optimiser_ = Optimiser(nodes, settings);
  successors_.assign(leaders_.size(), -1);
  others_.assign(leaders_.size(), false);
  usable_ = usable_ && !post.is_too_high(tree_);
  if (!usable_) return;
  post.used(tree_);
  post.open(tree_, *this);
}

Tree::~Tree() {
  end();
  messages_.wait(lateness_.request);
  messages_.wait(waits_.request);
  for (Outgoing& out : outgoing_) {
    for (port::Request& send : out.sends) messages_.wait(send);
  }
}

void Tree::end() {
  if (std::exchange(usable_, false)) post_.close(tree_);
}

bool Tree::is_finished() {
  const auto is_sent = [this](Outgoing& out) { return messages_.are_done(out.sends); };
  return messages_.is_done(lateness_.request) && messages_.is_done(waits_.request) &&
         std::ranges::all_of(outgoing_, is_sent);
}

void Tree::next(int root) {
  ++number_;
  if (settings_.policy != Policy::soga) return;
  if (optimiser_rank_ < 0) optimiser_rank_ = root;
  // The optimiser gets the reports on the broadcasts of every root. If it is not a root again, they must not pile up.
  if (optimiser_rank_ == rank_) post_.take_reports();
}

int Tree::leader(int root) const {
  return node_of_[static_cast<std::size_t>(root)] == node_ ? root : leaders_[static_cast<std::size_t>(node_)];
}

std::vector<int> Tree::order() const {
  std::vector<int> ranks;
  for (const int node : table_.ranks()) ranks.push_back(leaders_[static_cast<std::size_t>(node)]);
  return ranks;
}

int Tree::parent(int root) const {
  const int root_node = node_of_[static_cast<std::size_t>(root)];
  const int node = table_.rank(tree::parent(table_.position(node_, root_node)), root_node);
  return node == root_node ? root : leaders_[static_cast<std::size_t>(node)];
}

Tree::Head Tree::begin(std::size_t bytes, std::int64_t now, const Board::Arrivals& arrivals, std::vector<int>& note) {
  note.clear();
  post_.take_reports();  // each time: with several roots, those who do not plan would gather them
  Head head{.bytes = bytes, .since = now, .by_library = bytes > kMostBytes};
  if (plans()) {
    others_[static_cast<std::size_t>(node_)] = is_late(arrivals);
    const std::vector<int> leaders = next_leaders();
    const bool idle = may_leave_to_library_ && !any_rank_late();
    if (idle) head.left = share_;
    share_ = idle ? std::min(2 * share_, most_share(settings_)) : least_share(settings_);
    if (head.by_library) return head;
    const Plan plan = optimiser_.plan(table_, node_, leaders != leaders_);
    note = {idle ? 1 : plan.next};
    if (plan.changed || leaders != leaders_) {
      const std::vector<int>& table = plan.changed ? plan.ranks : table_.ranks();
      note.insert(note.end(), table.begin(), table.end());
      note.insert(note.end(), leaders.begin(), leaders.end());
    }
  } else if (compares_ && !head.by_library && any_rank_late()) {
    const int which = SizeClasses::of(Operation::broadcast, bytes);
    Compared seen;
    if (classes_.asks(which)) {
      seen = waits_of_all(which);
      if (seen.board.count > 0) announcing_[static_cast<std::size_t>(which)] = seen.board.ns / seen.board.count;
    }
    const std::int64_t reports = kReporting * static_cast<std::int64_t>(leaders_.size());
    const Comparison::Next next = classes_.next(which, seen,
                                                {.now = now,
                                                 .ranks = static_cast<int>(node_of_.size()),
                                                 .cost = reports,
                                                 .announcing = announcing_[static_cast<std::size_t>(which)],
                                                 .settings = settings_.decision});
    head.by_library = !next.by_board;
    head.counted = next.counted;
    head.which = static_cast<std::int8_t>(which);
    head.left = next.left;
  }
  head.note = static_cast<std::uint32_t>(note.size() * sizeof(int));
  return head;
}

Tree::Head Tree::receive(int root, std::int64_t came, const Board::Arrivals& arrivals, Call& call) {
  receive_from(parent(root), Kind::head, packet_.data(), sizeof(Packet), call);
  Head head;
  std::memcpy(&head, packet_.data(), sizeof head);
  measure(root, came, base::now_ns(), head.since, arrivals);
  return head;
}

void Tree::receive_row(const Head& head, int root, char* row, Call& call) {
  if (head.total() <= sizeof(Packet::row)) {
    std::memcpy(row, packet_.data() + offsetof(Packet, row), head.total());
    return;
  }
  receive_from(parent(root), Kind::row, row, head.total(), call);
}

void Tree::receive_from(int rank, Kind kind, char* at, std::size_t bytes, Call& call) {
  port::Request request = messages_.receive(to_post(rank), context(kind), at, bytes);
  wait(request, call);
}

// The table is that of before the note, at all ranks.
void Tree::send(const Head& head, int root, const char* row, Call& call) {
  const int root_node = node_of_[static_cast<std::size_t>(root)];
  const std::vector<int> children = tree::children(table_.position(node_, root_node), table_.size());
  if (children.empty()) return;
  Outgoing& out = outgoing_[sent_++ % kOnTheirWay];
  wait(out.sends, call);
  const bool is_short = head.total() <= sizeof(Packet::row);
  const std::size_t bytes = offsetof(Packet, row) + (is_short ? head.total() : 0);
  out.packet.resize(bytes);
  std::memcpy(out.packet.data(), &head, sizeof head);
  if (bytes > offsetof(Packet, row)) std::memcpy(out.packet.data() + offsetof(Packet, row), row, head.total());
  for (const int child : children) {
    const int to = to_post(leaders_[static_cast<std::size_t>(table_.rank(child, root_node))]);
    out.sends.push_back(messages_.send(to, context(Kind::head), out.packet.data(), bytes));
    if (is_short) continue;
    sends_.push_back(messages_.send(to, context(Kind::row), row, head.total()));
  }
}

void Tree::finish(Call& call) { wait(sends_, call); }

void Tree::learn(const char* note, std::size_t bytes) {
  if (bytes < sizeof(int)) return;
  std::vector<int> words(bytes / sizeof(int));
  std::memcpy(words.data(), note, words.size() * sizeof(int));
  plan_at_ = number_ + words[0];
  ++plans_;
  if (words.size() == 1) return;
  ++changes_;
  const auto leaders = words.begin() + 1 + table_.size();
  table_.assign({words.begin() + 1, leaders});
  // What every root knows of a new leader: that it is on time, until it tells otherwise, and that another rank is
  // late.
  for (std::size_t node = 0; node < leaders_.size(); ++node) {
    const int leader = *(leaders + static_cast<std::ptrdiff_t>(node));
    if (leader == leaders_[node]) continue;
    leaders_[node] = leader;
    optimiser_.report(static_cast<int>(node), 0);
    successors_[node] = -1;
    others_[node] = true;
    if (static_cast<int>(node) != node_) continue;
    reported_.clear();
    follows_ = true;
  }
}

void Tree::send_locally(int rank, const char* row, std::size_t bytes, Call& call) {
  port::Request request = messages_.send(to_post(rank), context(Kind::local), row, bytes);
  wait(request, call);
}

void Tree::receive_locally(int leader, char* row, std::size_t bytes, Call& call) {
  receive_from(leader, Kind::local, row, bytes, call);
}

void Tree::wait(std::vector<port::Request>& requests, Call& call) {
  for (port::Request& request : requests) wait(request, call);
  requests.clear();
}

void Tree::wait(port::Request& request, Call& call) {
  while (!messages_.is_done(request)) call.turn();
}

// The data could have been here when the root had sent them: that is when it came, by our clock.
void Tree::measure(int root, std::int64_t came, std::int64_t got, std::int64_t since, const Board::Arrivals& arrivals) {
  ClockOffset& clock = post_.clock(to_post(root));
  clock.add_message(since, got, got - came > kWaited);
  late_ = came - since - clock.ns();
  const int to = settings_.policy == Policy::soga ? optimiser_rank_ : root;
  Reported& last = reported_.try_emplace(to, settings_, follows_).first->second;
  const bool news = last.reporter.measured({got - came, late_});
  const std::int64_t value = last.reporter.value();
  const bool has_successor = settings_.policy == Policy::sort && value > settings_.threshold &&
                             arrivals.early > std::max(settings_.threshold, value / 4);
  const bool others = settings_.policy != Policy::soga && is_late(arrivals);
  if (!news && others == last.others && has_successor == last.successor) return;
  if (!messages_.is_done(lateness_.request)) return;  // the next will be reported
  last.reporter.reported();
  last.successor = has_successor;
  last.others = others;
  if (to == rank_) return optimiser_.report(node_, value);
  lateness_.report = {tree_, rank_, -1, {}, {}, value, has_successor ? arrivals.first : -1, others ? 1 : 0};
  post_.send(lateness_.report, to_post(to), lateness_.request);
}

bool Tree::is_late(const Board::Arrivals& arrivals) const { return arrivals.late > settings_.threshold; }

void Tree::add_report(const Report& report) {
  const auto node = static_cast<std::size_t>(node_of_[static_cast<std::size_t>(report.leader)]);
  if (report.which >= 0 && compares_) {
    known_[node][static_cast<std::size_t>(report.which)] = {report.library, report.by_tree};
    return;
  }
  if (leaders_[node] != report.leader) return;  // it leads no longer
  optimiser_.report(static_cast<int>(node), report.value);
  successors_[node] = static_cast<int>(report.successor);
  others_[node] = report.others != 0;
}

bool Tree::any_rank_late() const {
  return optimiser_.any_rank_late() || std::ranges::count(others_, true) != 0 ||
         std::ranges::any_of(successors_, [](int rank) { return rank >= 0; });
}

void Tree::compare(const Board* board) {
  compares_ = true;
  board_ = board;
  known_.resize(leaders_.size());
  // A rank is late when they are compared: the tree is probably better then.
  classes_.begin_by_board();
}

void Tree::waited(int which, bool by_tree, std::int64_t ns) {
  Compared& own = own_[static_cast<std::size_t>(which)];
  Waits& waits = by_tree ? own.board : own.library;
  waits += {.ns = std::max<std::int64_t>(0, ns), .count = 1};
}

Tree::Compared Tree::waits_here(int which) const {
  if (board_ == nullptr) return own_[static_cast<std::size_t>(which)];
  return {board_->waits(which, false), board_->waits(which, true)};
}

Tree::Compared Tree::waits_of_all(int which) const {
  Compared all = waits_here(which);
  for (std::size_t node = 0; node < known_.size(); ++node) {
    if (static_cast<int>(node) == node_) continue;
    const Compared& known = known_[node][static_cast<std::size_t>(which)];
    all.library += known.library;
    all.board += known.board;
  }
  return all;
}

// Sums only grow, so a report that was not sent is part of the next.
void Tree::report_waits(int root, int which) {
  if (root == rank_ || !compares_) return;
  if (!messages_.is_done(waits_.request)) return;
  const Compared here = waits_here(which);
  waits_.report = {.tree = tree_, .leader = rank_, .which = which, .library = here.library, .by_tree = here.board};
  post_.send(waits_.report, to_post(root), waits_.request);
}

// A late leader holds its whole node up, and need not.
std::vector<int> Tree::next_leaders() const {
  std::vector<int> leaders = leaders_;
  for (std::size_t node = 0; node < leaders.size(); ++node) {
    if (successors_[node] >= 0) leaders[node] = successors_[node];
  }
  return leaders;
}

}  // namespace steelyard::collectives
