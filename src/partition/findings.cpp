// SPDX-License-Identifier: BSD-3-Clause
#include "partition/findings.h"

#include <algorithm>

namespace steelyard::partition {

namespace {
constexpr const char* kHeld =
    "keeps a value that depends on the thread ID or the team size where other functions can read it";
}

void Findings::add(std::uint64_t sources, const char* why, std::uint64_t where) {
  unproved |= sources != 0 ? sources : ~std::uint64_t{0};
  if (!reason.empty()) return;
  reason = why;
  instruction = where;
}

void Findings::check_words(const State& state, std::uint64_t where) {
  if (!state.escaped.any()) return;
  for (const auto& [place, word] : state.words) {
    if (word.value.is_free()) continue;
    if (state.escaped.contains(place, word.size))
      add(word.value.sources, kHeld, where);
    else
      held_.try_emplace(place, Held{0, where}).first->second.sources |= word.value.sources;
  }
}

void Findings::note_read(const Value& address, int size) {
  if (!address.is_place()) return;
  int& longest = read_[{address.origin, address.constant, address.span}];
  longest = std::max(longest, size);
}

void Findings::check_unread_words() {
  // Both maps are in the order of their places, so one pass over the reads serves all words.
  auto read = read_.begin();
  int origin = 0;                    // of the reads passed last ...
  std::int64_t read_to = INT64_MIN;  // ... and the end of what they have read
  for (const auto& [place, word] : held_) {
    for (; read != read_.end() &&
           std::pair(read->first.origin, read->first.offset) <= std::pair(place.origin, place.offset);
         ++read) {
      const std::int64_t end = read->first.offset + read->second;
      read_to = read->first.origin == origin ? std::max(read_to, end) : end;
      origin = read->first.origin;
    }
    if (origin != place.origin || read_to <= place.offset) add(word.sources, kHeld, word.where);
  }
}

}  // namespace steelyard::partition
