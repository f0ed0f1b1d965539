// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "collectives/board.h"
#include "collectives/call.h"
#include "collectives/policy.h"
#include "collectives/post.h"
#include "port/agreement.h"
#include "port/messages.h"

namespace steelyard::collectives {

/// The part of a broadcast that goes from node to node: from leader to leader along a binomial tree, in which a virtual
/// rank table gives each leader its position. The root leads its own node. The lowest rank leads another node, until
/// that rank is late and a neighbour is not. A change travels in a note behind the data, so that all ranks of the
/// communicator change at the same broadcast.
class Tree {
 public:
  /// Bytes. The MPI library handles longer messages. The root's head announces this, and all other ranks wait for the
  /// head, whatever length they assume.
  static constexpr std::size_t kMostBytes = 1U << 20;

  /// Collective over `ranks`, which are `world_ranks` to the post. `node`: of this rank; `ready`: it can take part.
  Tree(port::Exchange& ranks, Post& post, std::vector<int> world_ranks, int node, bool ready, const Settings& settings,
       bool may_leave_to_library);
  /// Blocks until its messages have arrived. A receiver that has not called its receive yet would block it.
  ~Tree();
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  /// Every rank takes part; otherwise no other function may be called.
  bool usable() const { return usable_; }
  /// Counts a broadcast. Every rank.
  void next(int root);
  /// The rank that leads this rank's node in a broadcast from `root`.
  int leader(int root) const;
  /// The leaders by their positions, for no root in particular.
  std::vector<int> order() const;
  /// What has been planned so far. The same at every rank.
  struct Planned {
    std::int64_t broadcasts = 0;  ///< over the tree, or announced along it
    std::int64_t plans = 0;
    std::int64_t changes = 0;  ///< plans that changed the table or a leader
    int optimiser = -1;        ///< Policy::soga: the rank that plans; -1 before the first broadcast, and otherwise
  };
  Planned planned() const { return {number_, plans_, changes_, optimiser_rank_}; }
  /// Ranks of this node.
  const std::vector<int>& local() const { return local_; }

  /// What goes in front of a message.
  struct Head {
    std::uint64_t bytes = 0;
    std::uint32_t note = 0;  ///< bytes of it, behind the data
    std::uint32_t left = 0;  ///< the library handles so many broadcasts after this one; they are not counted
    std::int64_t since = 0;  ///< when the root arrived, by its clock
    bool by_library = false;
    bool counted = false;   ///< waits in this broadcast count in the comparison with the MPI library
    std::int8_t which = 0;  ///< its size class, where it counts
    std::size_t total() const { return by_library ? 0 : bytes + note; }  ///< that follow
  };

  // By leaders, in this order.

  /// True if the root of this broadcast plans, provided that the broadcast goes over the tree.
  bool plans() const { return number_ >= plan_at_ && (settings_.policy != Policy::soga || optimiser_rank_ == rank_); }
  /// At the root: makes the head, and the note that travels behind the data.
  /// @param arrivals on this node, in earlier broadcasts; read only if plans()
  Head begin(std::size_t bytes, std::int64_t now, const Board::Arrivals& arrivals, std::vector<int>& note);
  /// At the other leaders: blocks until the head arrives.
  /// @param came when this rank arrived, ns
  Head receive(int root, std::int64_t came, const Board::Arrivals& arrivals, Call& call);
  /// How late this rank was, ns: from the time at which the data could have been here to its call.
  std::int64_t late() const { return late_; }
  /// At all leaders but the root: receives the `head.total()` bytes that follow.
  void receive_row(const Head& head, int root, char* row, Call& call);
  void send(const Head& head, int root, const char* row, Call& call);
  /// Waits until `row` may be written again. A short row has been copied, and is on its way however late a receiver is.
  void finish(Call& call);

  /// By every rank: applies the note of a broadcast.
  void learn(const char* note, std::size_t bytes);

  /// From now on, the MPI library handles the classes in which measurements show shorter waits with it.
  /// `board`: the shared-memory broadcast buffer of this node, in which its ranks add their waits; may be null
  void compare(const Board* board);
  /// Without a shared-memory broadcast buffer: the wait in a broadcast that counts.
  void waited(int which, bool by_tree, std::int64_t ns);
  /// By a leader, after a broadcast that counts.
  void report_waits(int root, int which);
  /// At a root: a report has arrived.
  void add_report(const Report& report);
  /// This rank has no further broadcast. Does not call the MPI library; messages under way are not cancelled.
  void end();
  /// True if all its sends are complete.
  bool is_finished();

  /// Data to and from a rank of this node, if the node is out of shared memory.
  void send_locally(int rank, const char* row, std::size_t bytes, Call& call);
  void receive_locally(int leader, char* row, std::size_t bytes, Call& call);

 private:
  // ns that a root and a leader spend on the report of a leader's waits: about one short message.
  static constexpr std::int64_t kReporting = 1'000;
  // Size: short messages that may be on their way at once. Some libraries (Open MPI in shared memory, above 256 bytes)
  // complete a send only when the receiver calls MPI, so a late rank would delay the rank that sends to it.
  static constexpr std::size_t kOnTheirWay = 8;
  struct Packet;
  struct Reported {
    Reported(const Settings& settings, bool late) : reporter(settings), others(late) {}
    Reporter reporter;
    bool successor = false;
    bool others;
  };
  struct Sending {
    Report report;
    port::Request request;
  };
  using Compared = Comparison::Seen;
  using AllCompared = std::array<Compared, SizeClasses::kClasses>;
  struct Outgoing {
    std::vector<char> packet;
    std::vector<port::Request> sends;
  };
  void wait(std::vector<port::Request>& requests, Call& call);
  void wait(port::Request& request, Call& call);
  void measure(int root, std::int64_t came, std::int64_t got, std::int64_t since, const Board::Arrivals& arrivals);
  bool is_late(const Board::Arrivals& arrivals) const;
  bool any_rank_late() const;
  Compared waits_here(int which) const;
  Compared waits_of_all(int which) const;
  std::vector<int> next_leaders() const;
  int parent(int root) const;
  int to_post(int rank) const { return world_ranks_[static_cast<std::size_t>(rank)]; }
  int context(Post::Kind kind) const { return Post::context(tree_, kind); }
  void receive_from(int rank, Post::Kind kind, char* at, std::size_t bytes, Call& call);

  Post& post_;
  port::Messages& messages_;
  std::vector<int> world_ranks_;  // by rank
  std::int64_t tree_ = 0;         // its number
  int rank_ = 0;
  int node_ = 0;              // among the communicator's
  std::vector<int> node_of_;  // by rank
  std::vector<int> leaders_;  // by node
  std::vector<int> local_;
  bool usable_ = false;
  bool may_leave_to_library_;

  Settings settings_;
  VirtualRanks table_;
  Optimiser optimiser_;
  int optimiser_rank_ = -1;  // Policy::soga: the root of the first broadcast
  std::int64_t plans_ = 0, changes_ = 0;
  std::map<int, Reported> reported_;  // by root: each gets reports on its own broadcasts
  std::vector<int> successors_;       // by node: a rank that arrives earlier than its leader; or -1
  std::vector<bool> others_;          // by node: see Report
  std::int64_t number_ = 0;           // broadcasts over the tree so far
  std::int64_t plan_at_;              // number at which the root plans
  std::uint32_t share_;  // at a root: the library handles so many broadcasts before the next one, while no rank is late

  std::vector<char> packet_;  // received last
  std::vector<Outgoing> outgoing_;
  std::size_t sent_ = 0;              // packets so far
  std::vector<port::Request> sends_;  // of a row
  Sending lateness_, waits_;
  bool follows_ = false;  // this node had another leader before
  std::int64_t late_ = 0;

  bool compares_ = false;
  const Board* board_ = nullptr;
  SizeClasses classes_ = {};  // at a root
  // By class, ns: mean wait over the tree. Announcing that the library delivers takes about as long, or less.
  std::array<std::int64_t, SizeClasses::kClasses> announcing_ = {};
  std::vector<AllCompared> known_;  // by node, as they have told
  AllCompared own_ = {};            // without a shared-memory broadcast buffer
};

}  // namespace steelyard::collectives
