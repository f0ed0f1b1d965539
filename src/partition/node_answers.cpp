// SPDX-License-Identifier: BSD-3-Clause
#include "partition/node_answers.h"

namespace steelyard::partition {

namespace {

constexpr std::uint64_t kAnswer = 3;  // Encoding: the bits of the Answer in an entry

std::uint64_t entry_of(std::uint64_t key, NodeAnswers::Answer answer) {
  return (key & ~kAnswer) | static_cast<std::uint64_t>(answer);
}

bool is_of(std::uint64_t entry, std::uint64_t key) { return ((entry ^ key) & ~kAnswer) == 0; }

}  // namespace

// Entries are never removed, so a key lies before the first free entry.
const NodeAnswers::Entry* NodeAnswers::place_of(std::uint64_t key) const {
  for (std::size_t n = 0; n < kEntries; ++n) {
    const Entry& entry = entries_[((key >> 2) + n) % kEntries];
    const std::uint64_t value = entry.load(std::memory_order_acquire);
    if (value == 0) return nullptr;
    if (is_of(value, key)) return &entry;
  }
  return nullptr;
}

NodeAnswers::Entry* NodeAnswers::place_for(std::uint64_t key) {
  for (std::size_t n = 0; n < kEntries; ++n) {
    Entry& entry = entries_[((key >> 2) + n) % kEntries];
    std::uint64_t value = entry.load(std::memory_order_acquire);
    if (value == 0 && entry.compare_exchange_strong(value, entry_of(key, Answer::none))) return &entry;
    if (is_of(value, key)) return &entry;
  }
  return nullptr;
}

NodeAnswers::Answer NodeAnswers::find(std::uint64_t key) const {
  const Entry* const entry = place_of(key);
  if (entry == nullptr) return Answer::none;
  return static_cast<Answer>(entry->load(std::memory_order_acquire) & kAnswer);
}

bool NodeAnswers::claim(std::uint64_t key) {
  Entry* const entry = place_for(key);
  if (entry == nullptr) return true;
  std::uint64_t value = entry_of(key, Answer::none);
  return entry->compare_exchange_strong(value, entry_of(key, Answer::awaited)) ||
         value != entry_of(key, Answer::awaited);
}

void NodeAnswers::release(std::uint64_t key) {
  Entry* const entry = place_for(key);
  std::uint64_t value = entry_of(key, Answer::awaited);
  if (entry != nullptr) entry->compare_exchange_strong(value, entry_of(key, Answer::none));
}

bool NodeAnswers::add(std::uint64_t key, bool proved) {
  Entry* const entry = place_for(key);
  if (entry != nullptr) entry->store(entry_of(key, proved ? Answer::proved : Answer::unproved));
  return entry != nullptr;
}

}  // namespace steelyard::partition
