// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "partition/image.h"
#include "partition/instruction.h"
#include "partition/register_use.h"
#include "partition/stack_arguments.h"
#include "partition/transfer.h"

namespace steelyard::partition {

/// The control-flow graph of a function: all instructions that can be reached from its entry, with their successors.
class ControlFlowGraph {
 public:
  struct Node {
    Instruction instruction;
    std::vector<std::uint64_t> successors;     ///< first the instruction after it, then the targets of a jump
    std::optional<std::uint64_t> landing_pad;  ///< where an exception of this call continues
    Context context;
    const Node* next = nullptr;   ///< the first of `successors`
    bool is_merge_point = false;  ///< several ways lead to it
    std::size_t order = 0;        ///< in reverse postorder: successors have a greater one, except of jumps backwards
  };

  ControlFlowGraph(const Image& image, const Decoder& decoder)
      : image_(image), decoder_(decoder), register_uses_(image, decoder) {}

  /// Decodes the function that begins at `entry`. Without thread queries, only queries() is valid afterwards.
  /// @return false if some way cannot be followed: see reason() and instruction()
  bool build(std::uint64_t entry);
  /// Why the graph could not be built: what the function does.
  const std::string& reason() const { return reason_; }
  /// The instruction that was examined last.
  std::uint64_t instruction() const { return instruction_; }

  const std::map<std::uint64_t, Node>& nodes() const { return nodes_; }
  /// Return addresses of the thread queries, in the order of Callee::query.
  const std::vector<std::uint64_t>& queries() const { return queries_; }
  /// Node::order of the instruction at `address`; 0 if there is none.
  std::size_t order(std::uint64_t address) const;
  /// True if it jumps to another function, which returns to this function's caller.
  bool has_tail_jump() const { return has_tail_jump_; }

 private:
  struct Numbered;
  bool fail(const char* reason);
  bool decode_from(std::deque<std::uint64_t>& open);
  bool find_successors(Node& node);
  bool find_jump_targets(Node& node);
  bool find_callee(Node& node);
  bool follow_tables(std::uint64_t entry, std::deque<std::uint64_t>& open);
  void merge_duplicated_jumps(std::uint64_t entry);
  std::uint64_t behind_jump(std::uint64_t address) const;
  void find_kept_words();
  void find_reconvergence(const Numbered& graph);
  CodePoint point_at(std::uint64_t address) const;
  const Function& function_of(std::uint64_t address);

  const Image& image_;
  const Decoder& decoder_;
  std::map<std::uint64_t, Node> nodes_;  // by address
  std::set<std::uint64_t> merge_points_;
  std::vector<std::uint64_t> queries_;
  std::vector<std::uint64_t> table_jumps_;
  std::deque<Function> functions_;
  RegisterUses register_uses_;
  bool has_tail_jump_ = false;
  std::string reason_;
  std::uint64_t instruction_ = 0;
};

}  // namespace steelyard::partition
