#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <set>

#include "partition/instruction.h"
#include "partition/value.h"

namespace steelyard::partition {

/// What is known before an instruction, whichever way the code came there.
struct State {
  /// A word of the stack: where from, and how many bytes.
  struct Place {
    int origin;
    std::int64_t offset;
    auto operator<=>(const Place&) const = default;
  };
  struct Word {
    int size;
    Value value;
    friend bool operator==(const Word&, const Word&) = default;
  };
  /// What the last comparison was between; nothing where its result is the same in each team.
  struct Flags {
    bool matter = false;
    bool carries = false;  ///< a comparison: left < right is also in the carry flag
    Value left, right;
    friend bool operator==(const Flags&, const Flags&) = default;
  };

  std::array<Value, kRegisters> registers{};
  std::map<Place, Word> words;       ///< those that hold terms, or addresses of the stack
  std::set<std::uint64_t> one_more;  ///< divisions of which this thread is known to have one iteration more
  Flags flags;
  bool passes_on_stack = false;  ///< a word was put where the next call would find its first argument on the stack
  friend bool operator==(const State&, const State&) = default;

  /// At the entry of a function.
  static State at_entry();
  bool is_free(const Value& value) const { return value.is_free(one_more.contains(value.iterations)); }
  /// Queries that words depend on which are not free.
  std::uint64_t sources_in_words() const;

  Value load(const Value& address, int size, std::uint64_t identity) const;
  /// Into the stack. True where `address` is a known place in it.
  bool store(const Value& address, int size, const Value& value);
  /// A value is made anew where the one of this identity was made: what was computed from that one is so no more.
  void forget(std::uint64_t identity);
  /// It is known now whether this thread has one iteration more.
  void resolve(std::uint64_t iterations, bool more);
  void after_call();
};

/// What holds whether the code came in this state or in that one.
State joined(const State& a, const State& b);

}  // namespace steelyard::partition
