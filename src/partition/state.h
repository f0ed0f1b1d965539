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

/// A conditional jump whose condition depends on which thread of the team asks. What lies between it and the place
/// where its two ways meet is done by some threads only.
struct Control {
  enum class Way : std::uint8_t { thread_0, others, more, not_more, both };
  std::uint64_t meeting = 0;  ///< where its ways meet; 0: nowhere
  std::uint64_t sources = 0;  ///< the queries that it depends on
  Way way = Way::both;
  friend bool operator==(const Control&, const Control&) = default;
};

/// What is known before an instruction, whichever way the code came there.
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
  /// What other functions may know of the stack: all from an address on that was passed or stored. A function that gets
  /// the address of a variable reads this variable, and elements and members behind the address. Below the addresses of
  /// all variables lies what gcc has spilled, which only the function itself reads.
  struct Exposed {
    static constexpr std::int64_t kAll = INT64_MIN, kNothing = INT64_MAX;
    int origin = 0;
    std::int64_t from = kNothing;
    static Exposed behind(const Value& address) {
      return {address.origin, address.origin == Value::kSomewhere ? kAll : address.constant};
    }
    bool any() const { return from != kNothing; }
    bool contains(const Place& place, int size) const {
      return any() && (place.origin != origin || place.offset + size > from);
    }
    void add(const Exposed& more);
    friend bool operator==(const Exposed&, const Exposed&) = default;
  };
  /// What the last comparison was between. `matter`: its result may differ between teams.
  struct Flags {
    bool matter = false;
    bool carries = false;  ///< a comparison: left < right is also in the carry flag
    bool of_size = false;  ///< it was with a share: what is chosen by it may only bound a loop
    int size = 0;          ///< of what `cmp` compared, in bytes; 0: another instruction, or not known
    Value left{}, right{};
    friend bool operator==(const Flags&, const Flags&) = default;
  };

  std::array<Value, kRegisters> registers{};
  std::map<Place, Word> words;                            ///< those that hold something that is not public
  std::array<std::uint64_t, kVectorRegisters> vectors{};  ///< the queries that they depend on
  std::uint64_t lost_vectors = 0;     ///< overwritten by a call, a bit each: nothing reads them (Value::Kind::lost)
  std::uint64_t written_vectors = 0;  ///< since the first of `controls`, a bit each
  std::set<std::uint64_t> one_more;   ///< divisions of which this thread is known to have one iteration more
  std::set<std::uint64_t> none_more;  ///< and those of which it is known to have none more
  std::map<std::uint64_t, Control> controls;  ///< those whose ways have not met yet, by the address of the jump
  Flags flags;
  bool passes_on_stack = false;  ///< a word was put where the next call would find its first argument on the stack
  Exposed exposed;
  friend bool operator==(const State&, const State&) = default;

  /// At the entry of a function. `one_argument`: it is known to have no more.
  static State at_entry(bool one_argument);

  void set(int reg, Value value);
  Value load(const Value& address, int size, std::uint64_t identity) const;
  /// True where `address` is a known place in the function's own part of the stack.
  bool store(const Value& address, int size, const Value& value);
  /// The stack from this address on is known outside of the function, and what addresses in it lead to.
  void expose(const Exposed& more);
  /// Something was written to one of these words of the stack; which one is not known.
  void blur_words(const Exposed& where);
  /// A value is made anew where the value of this identity was made: values computed from the earlier one are invalid.
  void forget(std::uint64_t made);
  /// Gives a division the name `made`. What was named so is forgotten.
  void rename_division(std::uint64_t iterations, std::uint64_t made);
  /// It is known now whether this thread has one iteration more.
  void resolve(std::uint64_t iterations, bool more);
  void after_call(const Callee& callee);
  /// Names all that is known before the ways of a conditional jump part.
  void name_values(std::uint64_t jump);
};

/// Gives one name to a division of `a` and one of `b` if both states hold the same parts of it in the same places: code
/// that is reached in either goes on with the one or the other, whose parts belong together.
/// @param address of this code
void name_divisions(State& a, State& b, std::uint64_t address);
/// What holds in both states: for code that is reached in either.
State joined(const State& a, const State& b);
/// What holds where the ways of a jump have met, of what holds at their ends.
State after_control(const std::map<std::uint64_t, State>& ends, std::uint64_t jump);

}  // namespace steelyard::partition
