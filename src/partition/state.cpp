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

/// The join of what a register or a word holds in two states. If the queries `by` decide in which of them the code is
/// reached, the result depends on these queries, too.
Value join_values(const Value& a, const State& a_state, const Value& b, const State& b_state, std::uint64_t by) {
  const std::uint64_t division = a.division != 0 ? a.division : b.division;
  const bool a_has = a_state.one_more.contains(division), b_has = b_state.one_more.contains(division);
  if (a_has != b_has) {
    const bool has_none_more = (a_has ? b_state : a_state).none_more.contains(division);
    const Value both = a_has ? either_share(a, b, has_none_more) : either_share(b, a, has_none_more);
    if (both.kind == Value::Kind::sum && both.is_certain()) return both;
  }
  return by != 0 ? chosen(a, b, by) : joined(a, b);
}

bool overlap(const State::Place& a, int a_size, const State::Place& b, int b_size) {
  // Two places of one origin are off by the same number of bytes.
  const int a_span = a.origin == b.origin ? 0 : a.span, b_span = a.origin == b.origin ? 0 : b.span;
  return a.offset - a_span < b.offset + b_size && b.offset - b_span < a.offset + a_size;
}

/// What is left of a value that may have been overwritten by a value of the same kind.
Value weakened(const Value& value) {
  if (value.is_stack_address()) return Value::somewhere();
  if (value.is_team_invariant()) return Value::any();
  if (value.is_index()) return Value::of_kind(Value::Kind::index, value.sources);
  return value.is_trip_count() ? Value::of_kind(Value::Kind::trip_count, value.sources) : Value::tainted(value.sources);
}

}  // namespace

State State::at_entry(bool one_argument) {
  State state;
  state.registers.fill(Value::any());
  if (one_argument) {
    for (const int r : {kRsi, kRdx, kRcx, kR8, kR9}) state.registers[r] = Value::of_kind(Value::Kind::clobbered, 0);
    state.clobbered_vectors = kAllVectors;
  }
  state.registers[kRsp] = Value::in_stack(0, 0);
  return state;
}

void State::set(int reg, Value value) {
  if (one_more.contains(value.division)) value = with_one_more(value);
  registers[reg] = value;
}

Value State::load(const Value& address, int size, std::uint64_t identity) const {
  if (!address.is_stack_address()) return Value::any(identity);
  const bool is_known = address.is_place();
  const Escaped behind = Escaped::from_address(address);
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
    has_address = has_address || word.value.is_stack_address();
  }
  if (whole != nullptr && met == 1) return whole->value;
  if (sources != 0) return Value::tainted(sources);
  return has_address ? Value::somewhere() : Value::any(identity);
}

bool State::store(const Value& address, int size, const Value& value) {
  const bool is_known = address.is_place();
  // At 0 lies the return address; above it, what is the caller's.
  if (!is_known || (address.origin == 0 && address.constant + size > 0)) {
    weaken_words(address.is_stack_address() ? Escaped::from_address(address) : escaped);
    return false;
  }
  const Place place{address.origin, address.constant, address.span};
  Word rest{0, {}};  // the rest of a longer word that begins here
  for (auto word = words.begin(); word != words.end();) {
    const auto& [other, was] = *word;
    const bool meets = overlap(place, size, other, was.size);
    const bool covered = meets && other.origin == place.origin && other.offset >= place.offset &&
                         other.offset + was.size <= place.offset + size;
    if (meets && !covered) {
      const bool free = was.value.is_free() && value.is_free();
      word->second.value = free ? Value::any() : Value::tainted(was.value.sources | value.sources);
      if (other == place) rest = {was.size - size, word->second.value};
    }
    word = covered ? words.erase(word) : std::next(word);
  }
  if (rest.size > 0) {
    words.erase(place);
    words[{place.origin, place.offset + size, place.span}] = rest;
  }
  if (!value.is_team_invariant() || !divergent_branches.empty()) words[place] = {size, value};
  const Value& top = registers[kRsp];
  if (top.is_stack_address() && top.origin == address.origin && top.constant == address.constant)
    passes_on_stack = true;
  if (value.is_stack_address() && escaped.contains(place, size)) mark_escaped(Escaped::from_address(value));
  return true;
}

void State::Escaped::add(const Escaped& more) {
  if (!any())
    *this = more;
  else if (more.any() && more.origin != origin)
    *this = {Value::kSomewhere, kAll};
  else
    from = std::min(from, more.from);
}

void State::mark_escaped(const Escaped& more) {
  const Escaped before = escaped;
  Escaped all = escaped;
  all.add(more);
  while (all != escaped) {
    escaped = all;
    for (const auto& [place, word] : words) {
      const bool is_new = escaped.contains(place, word.size) && !before.contains(place, word.size);
      if (is_new && word.value.is_stack_address()) all.add(Escaped::from_address(word.value));
    }
  }
}

void State::weaken_words(const Escaped& where) {
  for (auto& [place, word] : words) {
    if (where.contains(place, word.size)) word.value = weakened(word.value);
  }
}

void State::invalidate(std::uint64_t made) {
  const auto outdated = [&](Value& value) {
    if (identity::is_of(value.division, made)) value = weakened(value);
    if (identity::is_of(value.identity, made)) value.identity = 0;
  };
  for_each_value(*this, outdated);
  outdated(flags.left);
  outdated(flags.right);
  for (auto* const divisions : {&one_more, &none_more})
    std::erase_if(*divisions, [&](std::uint64_t division) { return identity::is_of(division, made); });
}

void State::rename_division(std::uint64_t division, std::uint64_t made) {
  const std::uint64_t name = made | (division & (identity::kSigned | identity::kWide));
  if (name == division) return;
  invalidate(made);
  const auto rename = [&](Value& value) {
    if (value.division == division) value.division = name;
  };
  for_each_value(*this, rename);
  rename(flags.left);
  rename(flags.right);
  for (auto* const divisions : {&one_more, &none_more}) {
    if (divisions->erase(division) != 0) divisions->insert(name);
  }
}

void State::resolve(std::uint64_t division, bool more) {
  for_each_value(*this, [&](Value& value) { value = resolved(value, division, more); });
  (more ? one_more : none_more).insert(division);
}

void State::after_call(const Callee& callee) {
  for (const int r : kCallerSaved) {
    Value& value = registers[r];
    const bool is_tainted = !as_read(value).is_free();
    // gcc knows which registers a function of the same file leaves alone (-fipa-ra). A call through a pointer may reach
    // a function that keeps all of them (that of a TLS descriptor).
    const bool is_clobbered =
        callee.is_imported ? !callee.is_pointer || !is_tainted : (callee.registers.keeps >> r & 1) == 0;
    if (is_clobbered)
      value = Value::of_kind(Value::Kind::clobbered, 0);
    else if (value.kind != Value::Kind::clobbered && !value.is_remnant())
      value = weakened(as_read(value));
  }
  if (callee.is_imported && !callee.is_pointer) vectors = {}, written_vectors = 0, clobbered_vectors = kAllVectors;
  weaken_words(escaped);
  flags = {};
  passes_on_stack = false;
}

void State::name_values(std::uint64_t jump) {
  int name = 0;
  const auto give_name = [&](Value& value) {
    if (name < kMostNames && !value.is_certain() && value.kind != Value::Kind::clobbered) {
      const std::uint64_t made = identity::named(jump, name);
      invalidate(made);
      value.identity = made;
    }
    ++name;
  };
  for_each_value(*this, give_name);
}

namespace {

using Words = std::map<State::Place, State::Word>;

/// The join of a word of both states. Null for a state that knows nothing of it.
State::Word join_words(const State& a, const State::Word* ours, const State& b, const State::Word* theirs,
                       std::uint64_t by) {
  const int size = std::max(ours != nullptr ? ours->size : 0, theirs != nullptr ? theirs->size : 0);
  const Value first = ours != nullptr ? ours->value : Value::any(),
              second = theirs != nullptr ? theirs->value : Value::any();
  if (ours != nullptr && theirs != nullptr && ours->size != theirs->size)
    return {size, first.is_free() && second.is_free() && by == 0 ? Value::any()
                                                                 : Value::tainted(first.sources | second.sources | by)};
  return {size, join_values(first, a, second, b, by)};
}

const State::Word* word_at(const Words& words, const State::Place& place) {
  const auto found = words.find(place);
  return found == words.end() ? nullptr : &found->second;
}

State::Flags join_flags(const State& a_state, const State& b_state, std::uint64_t by) {
  const State::Flags &a = a_state.flags, &b = b_state.flags;
  if (by == 0 && a == b) return a;
  const bool of_trip_count = a.of_trip_count || b.of_trip_count;
  if (by == 0 && !a.depends_on_team && !b.depends_on_team) return {.of_trip_count = of_trip_count};
  // gcc may have duplicated one comparison, so that each way has a copy.
  if (by != 0 && a.size != 0 && a.size == b.size && !a.depends_on_team && !b.depends_on_team) {
    const Value left = join_values(a.left, a_state, b.left, b_state, by),
                right = join_values(a.right, a_state, b.right, b_state, by);
    if (left.may_decide_branch() && right.may_decide_branch())
      return {.of_trip_count = of_trip_count, .size = a.size, .left = left, .right = right};
  }
  const Value mixed = Value::tainted(a.left.sources | a.right.sources | b.left.sources | b.right.sources | by);
  return {.depends_on_team = true, .of_trip_count = of_trip_count, .left = mixed, .right = mixed};
}

State join(const State& a, const State& b, std::uint64_t by) {
  if (a.escaped != b.escaped) {
    State one = a, other = b;
    while (one.escaped != other.escaped) {
      one.mark_escaped(other.escaped);
      other.mark_escaped(one.escaped);
    }
    return join(one, other, by);
  }
  State both;
  both.divergent_branches = a.divergent_branches;
  for (const auto& [jump, branch] : b.divergent_branches) {
    DivergentBranch& kept = both.divergent_branches.try_emplace(jump, branch).first->second;
    kept.sources |= branch.sources;
    if (kept.side != branch.side) kept.side = DivergentBranch::Side::both;
  }
  for (int r = 0; r < kRegisters; ++r) both.registers[r] = join_values(a.registers[r], a, b.registers[r], b, by);
  for (const Words* words : {&a.words, &b.words}) {
    for (const auto& [place, word] : *words) {
      if (both.words.contains(place)) continue;
      const State::Word joined_word = join_words(a, word_at(a.words, place), b, word_at(b.words, place), by);
      if (!joined_word.value.is_team_invariant() || !both.divergent_branches.empty())
        both.words.emplace(place, joined_word);
    }
  }
  both.written_vectors = a.written_vectors | b.written_vectors;
  both.clobbered_vectors = a.clobbered_vectors & b.clobbered_vectors;
  for (int v = 0; v < kVectorRegisters; ++v) {
    const bool differs = (both.written_vectors >> v & 1) != 0 && (both.clobbered_vectors >> v & 1) == 0;
    both.vectors[v] = a.vectors[v] | b.vectors[v] | (differs ? by : 0);
  }
  std::set_intersection(a.one_more.begin(), a.one_more.end(), b.one_more.begin(), b.one_more.end(),
                        std::inserter(both.one_more, both.one_more.end()));
  std::set_intersection(a.none_more.begin(), a.none_more.end(), b.none_more.begin(), b.none_more.end(),
                        std::inserter(both.none_more, both.none_more.end()));
  both.flags = join_flags(a, b, by);
  both.passes_on_stack = a.passes_on_stack || b.passes_on_stack;
  both.escaped = a.escaped;
  return both;
}

/// Pairs of a division of one state and a division of another that have the same part in the same place.
using Pairs = std::set<std::pair<std::uint64_t, std::uint64_t>>;

void add_pair(Pairs& pairs, const Value& a, const Value& b) {
  if (a.kind != Value::Kind::sum || a.division == 0 || b.division == 0) return;
  Value same = b;
  same.division = a.division;
  same.identity = a.identity;
  if (are_same(a, same)) pairs.emplace(a.division, b.division);
}

}  // namespace

void name_divisions(State& a, State& b, std::uint64_t address) {
  if (!a.divergent_branches.empty() || !b.divergent_branches.empty()) return;
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
  for (const auto& [jump, branch] : a.divergent_branches) {
    const auto theirs = b.divergent_branches.find(jump);
    if (theirs == b.divergent_branches.end()) continue;
    const bool is_same_way = theirs->second.side == branch.side && branch.side != DivergentBranch::Side::both;
    if (!is_same_way) by |= branch.sources | theirs->second.sources;
  }
  return join(a, b, by);
}

State after_reconvergence(const std::map<std::uint64_t, State>& ends, std::uint64_t jump) {
  State state = ends.begin()->second;
  for (auto end = std::next(ends.begin()); end != ends.end(); ++end) state = joined(state, end->second);
  state.divergent_branches.erase(jump);
  if (!state.divergent_branches.empty()) return state;
  state.written_vectors = 0;
  std::erase_if(state.words, [](const auto& word) { return word.second.value.is_team_invariant(); });
  return state;
}

}  // namespace steelyard::partition
