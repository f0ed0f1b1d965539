#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "partition/callee.h"
#include "partition/instruction.h"
#include "partition/state.h"

namespace steelyard::partition {

/// Addresses of the stack that left the function, by what they are counted from. Objects in memory lie upwards of their address.
class Escapes {
 public:
  void add(const Value& address);
  /// True where the word at this place can be reached from an address that left.
  bool reach(const State::Place& place) const;
  bool operator==(const Escapes&) const = default;

 private:
  std::map<int, std::int64_t> lowest_;
  bool anywhere_ = false;
};

/// What the instructions of a function do with values that depend on the team.
struct Findings {
  std::uint64_t unproved = 0;  ///< queries, a bit each
  std::string reason;          ///< of the first of them
  std::uint64_t instruction = 0;
  /// Of a conditional jump that asks whether this is thread 0: where that one goes.
  enum class Side { none, goes_on, jumps } thread_0 = Side::none;
  std::uint64_t asking = 0;  ///< the queries that it depends on
  void add(std::uint64_t sources, const char* why, std::uint64_t where);
  Escapes escapes;
};

/// One instruction: from what is known before it to what is known after it.
class Transition {
 public:
  /// @param leaves it jumps to another function for good
  /// @param returns_nothing the function returns no value
  /// @param findings where what it does wrong is noted; may be null
  Transition(const Instruction& instruction, const Callee& callee, bool leaves, bool returns_nothing,
             Findings* findings);
  /// @param state before it; then after it, where it does not jump
  /// @param jumped a copy of `state`; then where it jumps. Null for an instruction that has only one way to go on
  void apply(State& state, State* jumped);

 private:
  void complain(const char* reason, std::uint64_t sources);
  void use(const State& state, const Value& value, const char* reason);
  Value address_of(const State& state, const x86_op_mem& place);
  Value read(const State& state, int operand);
  Value read_memory(const State& state, const cs_x86_op& operand);
  void write(State& state, int operand, const Value& value);
  void set(State& state, int reg, const Value& value);
  Value function_of(const State& state, const Value& a, const Value& b) const;
  Value bits_of(const State& state, const Value& a, const Value& b) const;
  Value with_byte(const State& state, const Value& former, const Value& byte) const;

  bool is_arithmetic(State& state);
  bool is_copy(State& state);
  bool is_function(State& state);
  bool is_stack(State& state);
  bool is_comparison(State& state);
  void divide(State& state);
  void choose(State& state, State* jumped);
  void select(State& state);
  void call(State& state);
  void leave(const State& state);
  void unknown(State& state);
  void set_flags(State& state, const Value& result);

  const Instruction& i_;
  const Callee& callee_;
  bool leaves_;
  bool returns_nothing_;
  Findings* findings_;
};

}  // namespace steelyard::partition
