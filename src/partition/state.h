// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <set>

#include "partition/callee.h"
#include "partition/instruction.h"
#include "partition/value.h"

namespace steelyard::partition {

/// A conditional jump whose condition depends on which thread of the team executes it. Only some threads execute the
/// code between it and its reconvergence point, where both ways meet again (the terms of divergence analysis).
struct DivergentBranch {
  /// The threads that take this way: thread 0 or all others; those with one iteration more or those without.
  enum class Side : std::uint8_t { thread_0, other_threads, one_more, none_more, both };
  std::uint64_t reconvergence = 0;  ///< the address where its ways meet; 0: nowhere
  std::uint64_t sources = 0;        ///< the queries that it depends on
  Side side = Side::both;
  friend bool operator==(const DivergentBranch&, const DivergentBranch&) = default;
};

/// The abstract state before an instruction: what is known on every way that leads there.
struct State {
  /// A word of the stack: `offset` from the origin, less up to `span` bytes.
  struct Place {
    int origin;
    std::int64_t offset;
    int span;
    auto operator<=>(const Place&) const = default;
  };
  struct Word {
    int size;
    Value value;
    friend bool operator==(const Word&, const Word&) = default;
  };
  /// The part of the stack that other functions may know (escape analysis): all from the lowest address on that was
  /// passed or stored. A function that gets the address of a variable reads this variable, and elements and members
  /// behind the address. Below the addresses of all variables lies what gcc has spilled, which only the function itself
  /// reads.
  struct Escaped {
    static constexpr std::int64_t kAll = INT64_MIN, kNothing = INT64_MAX;
    int origin = 0;
    std::int64_t from = kNothing;
    /// All that a function may read that gets this address.
    static Escaped from_address(const Value& address) {
      return {address.origin, address.origin == Value::kSomewhere ? kAll : address.constant};
    }
    bool any() const { return from != kNothing; }
    /// True if it may contain a part of this word.
    bool contains(const Place& place, int size) const {
      return any() && (place.origin != origin || place.offset + size > from);
    }
    void add(const Escaped& more);
    friend bool operator==(const Escaped&, const Escaped&) = default;
  };
  /// The flags, as the last comparison or result has set them.
  struct Flags {
    bool depends_on_team = false;
    bool has_carry = false;      ///< they come from a comparison: the carry flag also says whether left < right
    bool of_trip_count = false;  ///< a trip count was compared: what they select may only bound a loop
    int size = 0;                ///< bytes that `cmp` compared; 0: another instruction, or not known
    Value left{}, right{};       ///< what was compared
    friend bool operator==(const Flags&, const Flags&) = default;
  };

  std::array<Value, kRegisters> registers{};
  std::map<Place, Word> words;  ///< those that depend on the team; in a divergent branch all that are written
  std::array<std::uint64_t, kVectorRegisters> vectors{};  ///< the queries that each vector register depends on
  std::uint64_t clobbered_vectors = 0;  ///< overwritten by a call, a bit each; see Value::Kind::clobbered
  std::uint64_t written_vectors = 0;    ///< since the first of `divergent_branches`, a bit each
  std::set<std::uint64_t> one_more;     ///< divisions of which this thread is known to have one iteration more
  std::set<std::uint64_t> none_more;    ///< divisions of which this thread is known to have no iteration more
  std::map<std::uint64_t, DivergentBranch> divergent_branches;  ///< not reconverged so far, by the address of the jump
  Flags flags;
  bool passes_on_stack = false;  ///< a word was stored where the next call finds its first argument on the stack
  Escaped escaped;
  friend bool operator==(const State&, const State&) = default;

  /// The state at the entry of a function.
  /// @param one_argument the function is known to take one argument at most
  static State at_entry(bool one_argument);

  void set(int reg, Value value);
  /// @param identity of the value if nothing is known of it
  /// @return what `size` bytes at `address` hold
  Value load(const Value& address, int size, std::uint64_t identity) const;
  /// Stores `size` bytes.
  /// @return true if `address` is a known place in the function's own part of the stack
  bool store(const Value& address, int size, const Value& value);
  /// This part of the stack is known outside of the function, and what the addresses stored in it lead to.
  void mark_escaped(const Escaped& more);
  /// One of these words of the stack, it is not known which, may have been overwritten.
  void weaken_words(const Escaped& where);
  /// A new value is computed where the value of this identity was computed: values derived from the earlier one become
  /// unknown.
  void invalidate(std::uint64_t made);
  /// Gives a division the identity `made`. Values of another division with that identity become unknown.
  void rename_division(std::uint64_t division, std::uint64_t made);
  /// From here on it is known whether this thread has one iteration more of this division.
  void resolve(std::uint64_t division, bool more);
  void after_call(const Callee& callee);
  /// Gives each value without an identity one, before the ways of a conditional jump part.
  void name_values(std::uint64_t jump);
};

/// If both states hold the same parts of a division each in the same places, gives both divisions one identity: code
/// that is reached in either state continues with the parts of the one or of the other.
/// @param address of this code
void name_divisions(State& a, State& b, std::uint64_t address);
/// The join of two states: what holds for code that is reached in either.
State joined(const State& a, const State& b);
/// The state at the reconvergence point of a divergent branch.
/// @param ends the states in which its ways end, by the last instruction of each way
State after_reconvergence(const std::map<std::uint64_t, State>& ends, std::uint64_t jump);

}  // namespace steelyard::partition
