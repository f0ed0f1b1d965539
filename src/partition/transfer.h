// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

#include "partition/callee.h"
#include "partition/findings.h"
#include "partition/instruction.h"
#include "partition/stack_arguments.h"
#include "partition/state.h"

namespace steelyard::partition {

/// What the control flow of the function says of an instruction.
struct Context {
  Callee callee;
  bool is_tail_jump = false;        ///< a jump to another function, which returns to this function's caller
  bool has_landing_pad = false;     ///< of a call: this function catches its exceptions
  std::uint64_t reconvergence = 0;  ///< of a conditional jump: where both ways meet; 0: nowhere
  KeptWords kept_words;             ///< of a call
};

/// The transfer function of one instruction: from the abstract state before it to that after it.
class TransferFunction {
 public:
  /// @param returns_nothing the function returns no value, and lets no exception out
  /// @param findings gets the uses of values that are not proved; may be null
  TransferFunction(const Instruction& instruction, const Context& context, bool returns_nothing, Findings* findings)
      : i_(instruction), context_(context), returns_nothing_(returns_nothing), findings_(findings) {}
  /// @param state the state before it; becomes the state of the next instruction
  /// @param jumped a copy of `state`; becomes the state at the target of a jump. Null for an instruction that has only
  /// one successor
  void apply(State& state, State* jumped);

 private:
  // Reasons why a query is not proved.
  static constexpr const char* kAddress = "computes an address from the thread ID or the team size";
  static constexpr const char* kStore = "stores a value that depends on the thread ID or the team size";
  static constexpr const char* kArgument =
      "passes a value that depends on the thread ID or the team size to a function";
  static constexpr const char* kBranch = "branches on a value that depends on the thread ID or the team size";
  static constexpr const char* kReturn = "returns a value that depends on the thread ID or the team size";
  static constexpr const char* kUnknown =
      "uses the thread ID or the team size in a computation that Steelyard does not follow";
  static constexpr const char* kSomeThreads = "has code that only some of the threads execute";

  // Checks: they report what is not proved. use() and use_vectors_of(): a value may be used for anything.
  void report(const char* reason, std::uint64_t sources);
  void use(State& state, const Value& value, const char* reason);
  void use_vectors_of(const State& state, std::uint64_t which, const char* reason);
  void check_effect(const State& state);
  void check_own_store(const State& state);
  void check_hidden_store(const State& state, const Value& address);

  // Operands. `operand` and `index` count from 0, in Intel's order: the target comes first.
  Value address_of(const State& state, const x86_op_mem& place);
  Value read(const State& state, int operand);
  Value load(const State& state, const Value& address, int size, std::uint64_t identity);
  Value read_memory(const State& state, const cs_x86_op& operand);
  void write(State& state, int operand, const Value& value);
  void set(State& state, int reg, const Value& value);
  Value named(Value value) const;
  Value with_byte(const Value& former, const Value& byte) const;
  Value extended(Value value, std::uint64_t how) const;
  Value aligned(const Value& address, std::int64_t mask) const;

  // Kinds of instructions. try_*(): false if this instruction is of another kind.
  bool move(State& state);
  bool try_copy(State& state);
  bool try_arithmetic(State& state);
  bool try_pure_operation(State& state);
  bool try_stack_operation(State& state);
  bool try_comparison(State& state);
  void multiply_or_divide(State& state);
  void conditional_jump(State& state, State* jumped);
  void diverge(State& state, DivergentBranch::Side side) const;
  void table_jump(const Value& target);
  void conditional_value(State& state);
  void call(State& state);
  void pass_arguments(State& state);
  void return_values(State& state);
  void use_vectors(State& state);
  void unknown_instruction(State& state);

  void set_flags(State& state, const Value& result);
  void weaken_flags(State& state, const Value& result);
  void use_flags(State& state, bool is_vector);

  const Instruction& i_;
  const Context& context_;
  bool returns_nothing_;
  Findings* findings_;
};

}  // namespace steelyard::partition
