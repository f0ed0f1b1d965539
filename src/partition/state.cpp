#include "partition/state.h"

#include <algorithm>

namespace steelyard::partition {

namespace {

// Of registers: both are what a register holds, in states that know `a_more` and `b_more`.
Value join_values(const Value& a, const std::set<std::uint64_t>& a_more, const Value& b,
                  const std::set<std::uint64_t>& b_more) {
  if (are_same(a, b)) return joined(a, b);
  const std::uint64_t iterations = a.iterations != 0 ? a.iterations : b.iterations;
  const bool a_has = a_more.contains(iterations), b_has = b_more.contains(iterations);
  if (a_has != b_has) {
    const Value both = a_has ? either_share(a, b) : either_share(b, a);
    if (both.kind != Value::Kind::mixed) return both;
  }
  // What may go anywhere in both is something that may go anywhere, but it is no sum of these terms any more.
  if (a.is_free(a_has) && b.is_free(b_has) && (a.has_terms() || b.has_terms())) return Value::any();
  return joined(a, b);
}

}  // namespace

State State::at_entry() {
  State state;
  state.registers.fill(Value::any());
  state.registers[kRsp] = Value::in_frame(0, 0);
  return state;
}

std::uint64_t State::sources_in_words() const {
  std::uint64_t sources = 0;
  for (const auto& [place, word] : words) {
    if (!is_free(word.value)) sources |= word.value.sources;
  }
  return sources;
}

Value State::load(const Value& address, int size, std::uint64_t identity) const {
  if (address.kind != Value::Kind::frame) return Value::any(identity);
  if (address.origin == Value::kSomewhere) {
    const std::uint64_t sources = sources_in_words();
    return sources == 0 ? Value::any(identity) : Value::mix(sources);
  }
  for (const auto& [place, word] : words) {
    if (place.origin != address.origin) {
      if (!is_free(word.value)) return Value::mix(word.value.sources);  // the same word may have another name
      continue;
    }
    if (place.offset >= address.constant + size || place.offset + word.size <= address.constant) continue;
    const bool whole = place.offset == address.constant && (size == word.size || (size >= 4 && size < word.size));
    if (whole) return word.value;
    if (!is_free(word.value)) return Value::mix(word.value.sources);
  }
  return Value::any(identity);
}

bool State::store(const Value& address, int size, const Value& value) {
  if (address.kind != Value::Kind::frame || address.origin == Value::kSomewhere) return false;
  const std::int64_t from = address.constant, to = from + size;
  for (auto word = words.begin(); word != words.end();) {
    const auto& [place, was] = *word;
    const bool meets = place.origin == address.origin && place.offset < to && place.offset + was.size > from;
    const bool covered = meets && place.offset >= from && place.offset + was.size <= to;
    if (meets && !covered && !is_free(was.value)) word->second.value = Value::mix(was.value.sources);
    word = covered ? words.erase(word) : std::next(word);
  }
  if (value.has_terms() || value.kind == Value::Kind::frame) words[{address.origin, from}] = {size, value};
  const Value& top = registers[kRsp];
  if (top.kind == Value::Kind::frame && top.origin == address.origin && top.constant == from) passes_on_stack = true;
  return true;
}

void State::forget(std::uint64_t identity) {
  const auto outdated = [&](Value& value) {
    if (value.iterations == identity) value = Value::mix(value.sources);
    if (value.identity == identity) value.identity = 0;
  };
  for (Value& value : registers) outdated(value);
  for (auto& [place, word] : words) outdated(word.value);
  outdated(flags.left);
  outdated(flags.right);
  one_more.erase(identity);
}

void State::resolve(std::uint64_t iterations, bool more) {
  for (Value& value : registers) value = resolved(value, iterations, more);
  for (auto& [place, word] : words) word.value = resolved(word.value, iterations, more);
  if (more) one_more.insert(iterations);
}

void State::after_call() {
  for (const int r : {kRax, kRcx, kRdx, kRsi, kRdi, 8, 9, 10, 11}) registers[r] = Value::any();
  flags = {};
  passes_on_stack = false;
}

State joined(const State& a, const State& b) {
  State both;
  for (int r = 0; r < kRegisters; ++r)
    both.registers[r] = join_values(a.registers[r], a.one_more, b.registers[r], b.one_more);
  for (const State* state : {&a, &b}) {
    const State& other = state == &a ? b : a;
    for (const auto& [place, word] : state->words) {
      const auto there = other.words.find(place);
      const bool same = there != other.words.end() && there->second.size == word.size;
      const Value theirs = same ? there->second.value : Value::any();
      const Value value = join_values(word.value, state->one_more, theirs, other.one_more);
      if (!value.has_terms() && value.kind != Value::Kind::frame) continue;
      State::Word& kept = both.words.try_emplace(place, State::Word{word.size, value}).first->second;
      if (kept.size != word.size)
        kept = {std::max(kept.size, word.size), Value::mix(kept.value.sources | word.value.sources)};
    }
  }
  std::set_intersection(a.one_more.begin(), a.one_more.end(), b.one_more.begin(), b.one_more.end(),
                        std::inserter(both.one_more, both.one_more.end()));
  if (a.flags == b.flags) {
    both.flags = a.flags;
  } else if (a.flags.matter || b.flags.matter) {
    const Value mixed =
        Value::mix(a.flags.left.sources | a.flags.right.sources | b.flags.left.sources | b.flags.right.sources);
    both.flags = {true, false, mixed, mixed};
  }
  both.passes_on_stack = a.passes_on_stack || b.passes_on_stack;
  return both;
}

}  // namespace steelyard::partition
