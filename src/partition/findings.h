// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "partition/state.h"

namespace steelyard::partition {

/// What the instructions of a function do with values that depend on the team.
struct Findings {
  std::uint64_t unproved = 0;  ///< queries, a bit each
  std::string reason;          ///< of the first of them
  std::uint64_t instruction = 0;

  /// Notes that these queries serve something else than a loop. 0: any of them may.
  void add(std::uint64_t sources, const char* why, std::uint64_t where);

  /// Notes words of the stack that depend on the team although other functions can read them.
  /// @param where the instruction before which they hold that
  void look_at_words(const State& state, std::uint64_t where);
  /// The function reads a word of the stack.
  void note_read(const Value& address, int size);
  /// When all instructions have been looked at: what gcc spills it reads again. Another word below the exposed ones may
  /// be a member of a structure of which a later member's address is known.
  void look_at_unread_words();

 private:
  struct Kept {
    std::uint64_t sources = 0;
    std::uint64_t where = 0;
  };
  std::map<State::Place, Kept> kept_;  ///< below what is exposed
  std::map<State::Place, int> read_;   ///< with their sizes
};

}  // namespace steelyard::partition
