// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "partition/state.h"

namespace steelyard::partition {

/// What was found against the thread queries of a function: uses of values that depend on the team, other than those
/// that proof.h allows.
struct Findings {
  std::uint64_t unproved = 0;     ///< queries, a bit each
  std::string reason;             ///< what was found first
  std::uint64_t instruction = 0;  ///< where that was

  /// Adds a finding.
  /// @param sources the queries that it concerns, a bit each; 0: all
  /// @param where the instruction
  void add(std::uint64_t sources, const char* why, std::uint64_t where);

  /// Adds words of the stack that depend on the team although they have escaped.
  /// @param where the instruction after which the state is `state`
  void check_words(const State& state, std::uint64_t where);
  /// Notes that the function reads `size` bytes at this address.
  void note_read(const Value& address, int size);
  /// Call it after all instructions: adds words that depend on the team, lie below the escaped part of the stack and
  /// are never read. What gcc spills it reads again. Any other word may belong to a structure of which the address of a
  /// later member has escaped.
  void check_unread_words();

 private:
  struct Held {
    std::uint64_t sources = 0;
    std::uint64_t where = 0;
  };
  std::map<State::Place, Held> held_;  ///< words below the escaped part of the stack that depend on the team
  std::map<State::Place, int> read_;   ///< words that are read, with their sizes
};

}  // namespace steelyard::partition
