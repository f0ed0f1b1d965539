// SPDX-License-Identifier: BSD-3-Clause
#include "partition/state.h"

#include <algorithm>

namespace steelyard::partition {

namespace {

/// Registers and words, in this order.
template <class Visit>
void for_each_value(State& state, const Visit& visit) {
  for (Value& value : state.registers) visit(value);
  for (auto& [place, word] : state.words) visit(word.value);
}

constexpr std::uint64_t kAllVectors = (std::uint64_t{1} << kVectorRegisters) - 1;
constexpr int kMostNames = 1 << identity::kNumberBits;

// Of registers and words: what they hold in states that know `a_more` and `b_more`, where it depends on `by` which of
// them it is.
Value join_values(const Value& a, const State& a_state, const Value& b, const State& b_state, std::uint64_t by) {
  const std::uint64_t iterations = a.iterations != 0 ? a.iterations : b.iterations;
  const bool a_has = a_state.one_more.contains(iterations), b_has = b_state.one_more.contains(iterations);
  if (a_has != b_has) {
    const bool has_none_more = (a_has ? b_state : a_state).none_more.contains(iterations);
    const Value both = a_has ? either_share(a, b, has_none_more) : either_share(b, a, has_none_more);
    if (both.kind == Value::Kind::sum && both.is_certain()) return both;
  }
  return by != 0 ? chosen(a, b, by) : joined(a, b);
}

bool overlap(const State::Place& a, int a_size, const State::Place& b, int b_size) {
  // Of one origin both are off by the same number of bytes.
  const int a_span = a.origin == b.origin ? 0 : a.span, b_span = a.origin == b.origin ? 0 : b.span;
  return a.offset - a_span < b.offset + b_size && b.offset - b_span < a.offset + a_size;
}

Value blurred(const Value& value) {
  if (value.is_frame()) return Value::somewhere();
  if (value.is_public()) return Value::any();
  if (value.is_index()) return Value::of_kind(Value::Kind::index, value.sources);
  return value.is_size() ? Value::of_kind(Value::Kind::size, value.sources) : Value::mix(value.sources);
}

}  // namespace

State State::at_entry(bool one_argument) {
  State state;
  state.registers.fill(Value::any());
  if (one_argument) {
    for (const int r : {kRsi, kRdx, kRcx, kR8, kR9}) state.registers[r] = Value::of_kind(Value::Kind::lost, 0);
    state.lost_vectors = kAllVectors;
  }
  state.registers[kRsp] = Value::in_frame(0, 0);
  return state;
}

void State::set(int reg, Value value) {
  if (one_more.contains(value.iterations)) value = with_one_more(value);
  registers[reg] = value;
}

Value State::load(const Value& address, int size, std::uint64_t identity) const {
  if (!address.is_frame()) return Value::any(identity);
  const bool is_known = address.is_place();
  const Exposed behind = Exposed::behind(address);
  const Place place{address.origin, address.constant, address.span};
  const Word* whole = nullptr;
  int met = 0;
  std::uint64_t sources = 0;
  bool has_address = false;
  for (const auto& [other, word] : words) {
    if (is_known ? !overlap(place, size, other, word.size) : !behind.contains(other, word.size)) continue;
    ++met;
    if (is_known && place == other && (size == word.size || (size >= 4 && size < word.size))) whole = &word;
    if (!word.value.is_free()) sources |= word.value.sources;
    has_address = has_address || word.value.is_frame();
  }
  if (whole != nullptr && met == 1) return whole->value;
  if (sources != 0) return Value::mix(sources);
  return has_address ? Value::somewhere() : Value::any(identity);
}

bool State::store(const Value& address, int size, const Value& value) {
  const bool is_known = address.is_place();
  // At 0 lies the return address; above it, what is the caller's.
  if (!is_known || (address.origin == 0 && address.constant + size > 0)) {
    blur_words(address.is_frame() ? Exposed::behind(address) : exposed);
    return false;
  }
  const Place place{address.origin, address.constant, address.span};
  Word rest{0, {}};  // of a longer word that begins here
  for (auto word = words.begin(); word != words.end();) {
    const auto& [other, was] = *word;
    const bool meets = overlap(place, size, other, was.size);
    const bool covered = meets && other.origin == place.origin && other.offset >= place.offset &&
                         other.offset + was.size <= place.offset + size;
    if (meets && !covered) {
      const bool free = was.value.is_free() && value.is_free();
      word->second.value = free ? Value::any() : Value::mix(was.value.sources | value.sources);
      if (other == place) rest = {was.size - size, word->second.value};
    }
    word = covered ? words.erase(word) : std::next(word);
  }
  if (rest.size > 0) {
    words.erase(place);
    words[{place.origin, place.offset + size, place.span}] = rest;
  }
  if (!value.is_public() || !controls.empty()) words[place] = {size, value};
  const Value& top = registers[kRsp];
  if (top.is_frame() && top.origin == address.origin && top.constant == address.constant) passes_on_stack = true;
  if (value.is_frame() && exposed.contains(place, size)) expose(Exposed::behind(value));
  return true;
}

void State::Exposed::add(const Exposed& more) {
  if (!any())
    *this = more;
  else if (more.any() && more.origin != origin)
    *this = {Value::kSomewhere, kAll};
  else
    from = std::min(from, more.from);
}

void State::expose(const Exposed& more) {
  const Exposed before = exposed;
  Exposed all = exposed;
  all.add(more);
  while (all != exposed) {
    exposed = all;
    for (const auto& [place, word] : words) {
      const bool is_new = exposed.contains(place, word.size) && !before.contains(place, word.size);
      if (is_new && word.value.is_frame()) all.add(Exposed::behind(word.value));
    }
  }
}

void State::blur_words(const Exposed& where) {
  for (auto& [place, word] : words) {
    if (where.contains(place, word.size)) word.value = blurred(word.value);
  }
}

void State::forget(std::uint64_t made) {
  const auto outdated = [&](Value& value) {
    if (identity::is_of(value.iterations, made)) value = blurred(value);
    if (identity::is_of(value.identity, made)) value.identity = 0;
  };
  for_each_value(*this, outdated);
  outdated(flags.left);
  outdated(flags.right);
  for (auto* const divisions : {&one_more, &none_more})
    std::erase_if(*divisions, [&](std::uint64_t iterations) { return identity::is_of(iterations, made); });
}

void State::rename_division(std::uint64_t iterations, std::uint64_t made) {
  const std::uint64_t name = made | (iterations & (identity::kSigned | identity::kWide));
  if (name == iterations) return;
  forget(made);
  const auto rename = [&](Value& value) {
    if (value.iterations == iterations) value.iterations = name;
  };
  for_each_value(*this, rename);
  rename(flags.left);
  rename(flags.right);
  for (auto* const divisions : {&one_more, &none_more}) {
    if (divisions->erase(iterations) != 0) divisions->insert(name);
  }
}

void State::resolve(std::uint64_t iterations, bool more) {
  for_each_value(*this, [&](Value& value) { value = resolved(value, iterations, more); });
  (more ? one_more : none_more).insert(iterations);
}

void State::after_call(const Callee& callee) {
  for (const int r : kCallerSaved) {
    Value& value = registers[r];
    const bool is_tainted = !as_read(value).is_free();
    // gcc knows which registers a function of the same file leaves alone (-fipa-ra). Behind a pointer may be one that
    // keeps all of them (of a TLS descriptor).
    const bool is_lost =
        callee.is_imported ? !callee.is_pointer || !is_tainted : (callee.registers.keeps >> r & 1) == 0;
    if (is_lost)
      value = Value::of_kind(Value::Kind::lost, 0);
    else if (value.kind != Value::Kind::lost && !value.is_remnant())
      value = blurred(as_read(value));
  }
  if (callee.is_imported && !callee.is_pointer) vectors = {}, written_vectors = 0, lost_vectors = kAllVectors;
  blur_words(exposed);
  flags = {};
  passes_on_stack = false;
}

void State::name_values(std::uint64_t jump) {
  int name = 0;
  const auto give_name = [&](Value& value) {
    if (name < kMostNames && !value.is_certain() && value.kind != Value::Kind::lost) {
      const std::uint64_t made = identity::named(jump, name);
      forget(made);
      value.identity = made;
    }
    ++name;
  };
  for_each_value(*this, give_name);
}

namespace {

using Words = std::map<State::Place, State::Word>;

// What both say of a word, one of them perhaps nothing.
State::Word join_words(const State& a, const State::Word* ours, const State& b, const State::Word* theirs,
                       std::uint64_t by) {
  const int size = std::max(ours != nullptr ? ours->size : 0, theirs != nullptr ? theirs->size : 0);
  const Value first = ours != nullptr ? ours->value : Value::any(),
              second = theirs != nullptr ? theirs->value : Value::any();
  if (ours != nullptr && theirs != nullptr && ours->size != theirs->size)
    return {size, first.is_free() && second.is_free() && by == 0 ? Value::any()
                                                                 : Value::mix(first.sources | second.sources | by)};
  return {size, join_values(first, a, second, b, by)};
}

const State::Word* word_at(const Words& words, const State::Place& place) {
  const auto found = words.find(place);
  return found == words.end() ? nullptr : &found->second;
}

State::Flags join_flags(const State& a_state, const State& b_state, std::uint64_t by) {
  const State::Flags &a = a_state.flags, &b = b_state.flags;
  if (by == 0 && a == b) return a;
  const bool of_size = a.of_size || b.of_size;
  if (by == 0 && !a.matter && !b.matter) return {.of_size = of_size};
  // Each way has its copy of one comparison.
  if (by != 0 && a.size != 0 && a.size == b.size && !a.matter && !b.matter) {
    const Value left = join_values(a.left, a_state, b.left, b_state, by),
                right = join_values(a.right, a_state, b.right, b_state, by);
    if (left.is_bound() && right.is_bound()) return {.of_size = of_size, .size = a.size, .left = left, .right = right};
  }
  const Value mixed = Value::mix(a.left.sources | a.right.sources | b.left.sources | b.right.sources | by);
  return {.matter = true, .of_size = of_size, .left = mixed, .right = mixed};
}

State join(const State& a, const State& b, std::uint64_t by) {
  if (a.exposed != b.exposed) {
    State one = a, other = b;
    while (one.exposed != other.exposed) {
      one.expose(other.exposed);
      other.expose(one.exposed);
    }
    return join(one, other, by);
  }
  State both;
  both.controls = a.controls;
  for (const auto& [jump, control] : b.controls) {
    Control& kept = both.controls.try_emplace(jump, control).first->second;
    kept.sources |= control.sources;
    if (kept.way != control.way) kept.way = Control::Way::both;
  }
  for (int r = 0; r < kRegisters; ++r) both.registers[r] = join_values(a.registers[r], a, b.registers[r], b, by);
  for (const Words* words : {&a.words, &b.words}) {
    for (const auto& [place, word] : *words) {
      if (both.words.contains(place)) continue;
      const State::Word joined_word = join_words(a, word_at(a.words, place), b, word_at(b.words, place), by);
      if (!joined_word.value.is_public() || !both.controls.empty()) both.words.emplace(place, joined_word);
    }
  }
  both.written_vectors = a.written_vectors | b.written_vectors;
  both.lost_vectors = a.lost_vectors & b.lost_vectors;
  for (int v = 0; v < kVectorRegisters; ++v) {
    const bool differs = (both.written_vectors >> v & 1) != 0 && (both.lost_vectors >> v & 1) == 0;
    both.vectors[v] = a.vectors[v] | b.vectors[v] | (differs ? by : 0);
  }
  std::set_intersection(a.one_more.begin(), a.one_more.end(), b.one_more.begin(), b.one_more.end(),
                        std::inserter(both.one_more, both.one_more.end()));
  std::set_intersection(a.none_more.begin(), a.none_more.end(), b.none_more.begin(), b.none_more.end(),
                        std::inserter(both.none_more, both.none_more.end()));
  both.flags = join_flags(a, b, by);
  both.passes_on_stack = a.passes_on_stack || b.passes_on_stack;
  both.exposed = a.exposed;
  return both;
}

/// Of divisions of two states: both hold the same part of them in the same place.
using Pairs = std::set<std::pair<std::uint64_t, std::uint64_t>>;

void add_pair(Pairs& pairs, const Value& a, const Value& b) {
  if (a.kind != Value::Kind::sum || a.iterations == 0 || b.iterations == 0) return;
  Value same = b;
  same.iterations = a.iterations;
  same.identity = a.identity;
  if (are_same(a, same)) pairs.emplace(a.iterations, b.iterations);
}

}  // namespace

void name_divisions(State& a, State& b, std::uint64_t address) {
  if (!a.controls.empty() || !b.controls.empty()) return;
  Pairs pairs;
  for (int r = 0; r < kRegisters; ++r) add_pair(pairs, a.registers[r], b.registers[r]);
  for (const auto& [place, word] : a.words) {
    const State::Word* const theirs = word_at(b.words, place);
    if (theirs != nullptr && theirs->size == word.size) add_pair(pairs, word.value, theirs->value);
  }
  constexpr std::uint64_t how = identity::kSigned | identity::kWide;
  for (const auto& named : pairs) {
    const std::uint64_t one = named.first, other = named.second;
    const auto meets = [&](const auto& pair) {
      return pair.first == one || pair.second == other || pair.first == other || pair.second == one;
    };
    if (one == other || ((one ^ other) & how) != 0 || std::count_if(pairs.begin(), pairs.end(), meets) != 1) continue;
    const std::uint64_t made = identity::kJoined | address;
    a.rename_division(one, made);
    b.rename_division(other, made);
    return;
  }
}

State joined(const State& a, const State& b) {
  std::uint64_t by = 0;
  for (const auto& [jump, control] : a.controls) {
    const auto theirs = b.controls.find(jump);
    if (theirs == b.controls.end()) continue;
    const bool is_same_way = theirs->second.way == control.way && control.way != Control::Way::both;
    if (!is_same_way) by |= control.sources | theirs->second.sources;
  }
  return join(a, b, by);
}

State after_control(const std::map<std::uint64_t, State>& ends, std::uint64_t jump) {
  State state = ends.begin()->second;
  for (auto end = std::next(ends.begin()); end != ends.end(); ++end) state = joined(state, end->second);
  state.controls.erase(jump);
  if (!state.controls.empty()) return state;
  state.written_vectors = 0;
  std::erase_if(state.words, [](const auto& word) { return word.second.value.is_public(); });
  return state;
}

}  // namespace steelyard::partition
