// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

#include "partition/callee.h"
#include "partition/findings.h"
#include "partition/instruction.h"
#include "partition/stack_arguments.h"
#include "partition/state.h"

namespace steelyard::partition {

/// What an instruction's place in the function says of it.
struct Surroundings {
  Callee callee;
  bool leaves = false;        ///< it jumps to another function for good
  bool lands = false;         ///< of a call: an exception goes on in this function
  std::uint64_t meeting = 0;  ///< of a conditional jump: where both ways meet; 0: nowhere
  KeptWords kept;             ///< over a call
};

/// One instruction: from what is known before it to what is known after it.
class Transition {
 public:
  /// @param returns_nothing the function returns no value, and lets no exception out
  /// @param findings where what it does wrong is noted; may be null
  Transition(const Instruction& instruction, const Surroundings& around, bool returns_nothing, Findings* findings)
      : i_(instruction), around_(around), returns_nothing_(returns_nothing), findings_(findings) {}
  /// @param state before it; then after it, where it does not jump
  /// @param jumped a copy of `state`; then where it jumps. Null for an instruction that has only one way to go on
  void apply(State& state, State* jumped);

 private:
  void complain(const char* reason, std::uint64_t sources);
  void use(State& state, const Value& value, const char* reason);
  void check_effect(const State& state);
  void check_own_store(const State& state);
  void check_hidden_store(const State& state, const Value& address);
  void use_vectors_of(const State& state, std::uint64_t which, const char* reason);
  Value address_of(const State& state, const x86_op_mem& place);
  Value read(const State& state, int operand);
  Value load(const State& state, const Value& address, int size, std::uint64_t identity);
  Value read_memory(const State& state, const cs_x86_op& operand);
  void write(State& state, int operand, const Value& value);
  void set(State& state, int reg, const Value& value);
  Value made(Value value) const;
  Value with_byte(const Value& former, const Value& byte) const;

  Value extended(Value value, std::uint64_t how) const;
  Value aligned(const Value& address, std::int64_t mask) const;

  bool copy(State& state);
  bool is_arithmetic(State& state);
  bool is_copy(State& state);
  bool is_function(State& state);
  bool is_stack(State& state);
  bool is_comparison(State& state);
  void divide(State& state);
  void choose(State& state, State* jumped);
  void branch(const Value& target);
  void select(State& state);
  void call(State& state);
  void enter(State& state, Control::Way way) const;
  void pass_arguments(State& state);
  void return_values(State& state);
  void use_vectors(State& state);
  void unknown(State& state);
  void set_flags(State& state, const Value& result);
  void blur_flags(State& state, const Value& result);
  void use_flags(State& state, bool is_vector);

  const Instruction& i_;
  const Surroundings& around_;
  bool returns_nothing_;
  Findings* findings_;
};

}  // namespace steelyard::partition
