// SPDX-License-Identifier: BSD-3-Clause
#include "partition/value.h"

#include <algorithm>
#include <optional>

namespace steelyard::partition {

namespace {

using Kind = Value::Kind;

constexpr std::int64_t kMostFactor = INT32_MAX / 2;  // the sum of two fits a factor

Value sum_of(const Value& a, const Value& b, int sign) {
  const std::uint64_t sources = a.sources | b.sources;
  if (a.division != 0 && b.division != 0 && a.division != b.division) return function_of(a, b);
  Value sum;
  sum.plus_invariant = a.plus_invariant || b.plus_invariant;
  // The machine's numbers wrap as these do.
  const auto first = static_cast<std::uint64_t>(a.constant), second = static_cast<std::uint64_t>(b.constant);
  sum.constant = sum.plus_invariant ? 0 : static_cast<std::int64_t>(sign > 0 ? first + second : first - second);
  for (int t = 0; t < Value::kTerms; ++t) {
    const std::int64_t factor = std::int64_t{a.factor[t]} + sign * std::int64_t{b.factor[t]};
    if (factor > kMostFactor || factor < -kMostFactor) return Value::tainted(sources);
    sum.factor[t] = static_cast<std::int32_t>(factor);
  }
  if (sum.has_terms()) {
    sum.division = a.division != 0 ? a.division : b.division;
    sum.sources = sources;
  }
  return sum;
}

/// An address in the stack, plus a distance (`sign` 1) or minus a distance (-1).
Value moved(const Value& address, const Value& distance, int sign) {
  if (!address.is_place()) {
    const bool stays = address.beyond && distance.is_number() && sign * distance.constant >= 0;
    return stays || (address.beyond && !distance.is_number() && sign > 0) ? address : Value::somewhere();
  }
  if (distance.is_number())
    return Value::in_stack(address.origin, address.constant + sign * distance.constant, address.span);
  return sign > 0 ? Value::in_stack_beyond(address.origin, address.constant) : Value::somewhere();
}

Value plus(const Value& a, const Value& b, int sign) {
  if (a.kind == Kind::sum && b.kind == Kind::sum) return sum_of(a, b, sign);
  if (a.is_stack_address() && !b.is_stack_address() && b.is_free()) return moved(a, b, sign);
  if (b.is_stack_address() && !a.is_stack_address() && a.is_free() && sign > 0) return moved(b, a, sign);
  if (a.is_stack_address() && b.is_stack_address() && sign < 0) return Value::any();  // their distance
  // An index minus a trip count: the part of the share that is left. A sum: the end of the iterations in groups of 4.
  if (a.is_index() && b.is_trip_count()) return Value::of_kind(Kind::index, a.sources | b.sources);
  if (a.is_trip_count() && b.is_index() && sign > 0) return Value::of_kind(Kind::index, a.sources | b.sources);
  return function_of(a, b);
}

Value scaled(const Value& value, std::int64_t by) {
  if (by > INT32_MAX || by < INT32_MIN) return function_of(value, Value::number(by));
  Value result = value;
  result.identity = 0;
  result.constant =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(result.constant) * static_cast<std::uint64_t>(by));
  for (std::int32_t& factor : result.factor) {
    const std::int64_t product = std::int64_t{factor} * by;
    if (product > kMostFactor || product < -kMostFactor) return function_of(value, Value::number(by));
    factor = static_cast<std::int32_t>(product);
  }
  if (!result.has_terms()) result.division = result.sources = 0;
  return result;
}

Value times_id(const Value& id, const Value& value) {
  Value product;
  product.division = value.division;
  product.sources = id.sources | value.sources;
  for (int t = 0; t < Value::kTerms; ++t) {
    if (value.factor[t] == 0) continue;
    if (t == Value::quotient)
      product.factor[Value::id_quotient] = value.factor[t];
    else if (t == Value::share)
      product.factor[Value::id_share] = value.factor[t];
    else
      return Value::tainted(product.sources);
  }
  if (value.plus_invariant) return Value::tainted(product.sources);
  if (value.constant > kMostFactor || value.constant < -kMostFactor) return Value::tainted(product.sources);
  product.factor[Value::id] = static_cast<std::int32_t>(value.constant);
  return product;
}

}  // namespace

Value Value::any(std::uint64_t identity) {
  Value value;
  value.plus_invariant = true;
  value.identity = identity;
  return value;
}

Value Value::number(std::int64_t constant) {
  Value value;
  value.constant = constant;
  return value;
}

Value Value::term(Term term, std::uint64_t sources, std::uint64_t division) {
  Value value;
  value.sources = sources;
  value.factor[term] = 1;
  value.division = division;
  return value;
}

Value Value::in_stack(int origin, std::int64_t offset, int span) {
  Value value = of_kind(Kind::stack_address, 0);
  value.origin = origin;
  if (origin == kSomewhere) return value;
  value.constant = offset;
  value.span = span;
  return value;
}

Value Value::in_stack_beyond(int origin, std::int64_t offset) {
  Value value = in_stack(origin, offset);
  value.beyond = origin != kSomewhere;
  return value;
}

Value Value::of_kind(Kind kind, std::uint64_t sources) {
  Value value;
  value.kind = kind;
  value.sources = sources;
  return value;
}

Value Value::tainted(std::uint64_t sources, bool free_byte) {
  Value value = of_kind(Kind::tainted, sources);
  value.free_byte = free_byte;
  return value;
}

bool Value::has_terms() const {
  return std::any_of(factor.begin(), factor.end(), [](std::int32_t f) { return f != 0; });
}

bool Value::is_just(Term term) const { return *this == Value::term(term, sources, division); }

bool Value::is_index() const {
  if (kind != Kind::sum) return kind == Kind::index;
  const std::int32_t each = factor[id_share];
  // first = share * id + before, end = first + share
  return each != 0 && factor[before] == each && (factor[share] == 0 || factor[share] == each) && factor[id] == 0 &&
         factor[count] == 0 && factor[quotient] == 0 && factor[remainder] == 0 && factor[id_quotient] == 0;
}

bool Value::is_trip_count() const {
  if (kind != Kind::sum || factor[share] == 0) return kind == Kind::trip_count;
  Value rest = *this;
  rest.factor[share] = 0;
  return !rest.has_terms();
}

bool Value::is_free() const { return !low_byte && (is_team_invariant() || is_stack_address() || is_index()); }

bool Value::is_remnant() const {
  if (kind == Kind::tainted) return remnant;
  if (kind != Kind::sum || factor[before] == 0) return false;
  Value rest = *this;
  rest.factor[before] = 0;
  return !rest.has_terms();
}

bool Value::is_certain() const {
  if (identity != 0 || is_place()) return true;
  return kind == Kind::sum && !plus_invariant;
}

Value as_read(const Value& value) {
  if (value.low_byte) return Value::tainted(value.sources);
  if (value.kind != Kind::clobbered) return value;
  return value.sources == 0 ? Value::any() : Value::tainted(value.sources);
}

Value operator+(const Value& a, const Value& b) { return plus(as_read(a), as_read(b), 1); }
Value operator-(const Value& a, const Value& b) { return plus(as_read(a), as_read(b), -1); }

Value operator*(const Value& left, const Value& right) {
  const Value a = as_read(left), b = as_read(right);
  if (b == Value::number(1)) return a;
  if (a.kind == Kind::sum && b.kind == Kind::sum) {
    if (a.is_number()) return scaled(b, a.constant);
    if (b.is_number()) return scaled(a, b.constant);
    if (a.is_just(Value::id)) return times_id(a, b);
    if (b.is_just(Value::id)) return times_id(b, a);
  }
  return function_of(a, b);
}

Value function_of(const Value& left, const Value& right) {
  const Value a = as_read(left), b = as_read(right);
  const std::uint64_t sources = a.sources | b.sources;
  if (!a.may_decide_branch() || !b.may_decide_branch())
    return Value::tainted((a.may_decide_branch() ? 0 : a.sources) | (b.may_decide_branch() ? 0 : b.sources));
  const bool has_trip_count = a.is_trip_count() || b.is_trip_count(), has_index = a.is_index() || b.is_index();
  if (has_trip_count && (has_index || a.is_stack_address() || b.is_stack_address())) return Value::tainted(sources);
  if (a.is_stack_address() || b.is_stack_address()) return Value::somewhere();
  if (has_trip_count) return Value::of_kind(Kind::trip_count, sources);
  return has_index ? Value::of_kind(Kind::index, sources) : Value::any();
}

bool are_same(const Value& a, const Value& b) {
  Value other = a;
  other.sources = b.sources;
  return other == b;
}

Value with_one_more(Value value) {
  if (value.kind == Kind::sum && value.factor[Value::id_share] != 0)
    value.factor[Value::before] = value.factor[Value::id_share];
  return value;
}

Value resolved(Value value, std::uint64_t division, bool one_more) {
  if (value.kind != Kind::sum || value.division != division) return value;
  value.factor[Value::share] += value.factor[Value::quotient];
  value.factor[Value::id_share] += value.factor[Value::id_quotient];
  if (one_more) {  // quotient = share - 1
    if (!value.plus_invariant) value.constant -= value.factor[Value::quotient];
    value.factor[Value::id] -= value.factor[Value::id_quotient];
  } else {
    value.factor[Value::before] += value.factor[Value::remainder];
    value.factor[Value::remainder] = 0;
  }
  value.factor[Value::quotient] = value.factor[Value::id_quotient] = 0;
  return one_more ? with_one_more(value) : value;
}

namespace {

/// The inverse of resolved(): the value that it turns into `more` and into `not_more`. Nothing if there is none.
std::optional<Value> unresolved(const Value& more, const Value& not_more) {
  const std::uint64_t division = more.division != 0 ? more.division : not_more.division;
  if (division == 0 || more.plus_invariant || not_more.plus_invariant) return std::nullopt;
  // quotient = share - 1 in a thread with one more, so the differences of the two are the factors of the quotient.
  const auto quotient = static_cast<std::int64_t>(static_cast<std::uint64_t>(not_more.constant) -
                                                  static_cast<std::uint64_t>(more.constant)),
             id_quotient = std::int64_t{not_more.factor[Value::id]} - more.factor[Value::id];
  for (const std::int64_t factor : {quotient, id_quotient})
    if (factor > kMostFactor || factor < -kMostFactor) return std::nullopt;
  Value value = not_more;
  value.identity = 0;
  value.division = division;
  value.sources |= more.sources;
  value.factor[Value::quotient] = static_cast<std::int32_t>(quotient);
  value.factor[Value::share] -= value.factor[Value::quotient];
  value.factor[Value::id_quotient] = static_cast<std::int32_t>(id_quotient);
  value.factor[Value::id_share] -= value.factor[Value::id_quotient];
  value.factor[Value::remainder] = more.factor[Value::remainder];
  value.factor[Value::before] -= value.factor[Value::remainder];
  const auto is_of = [&](Value made, const Value& known) {
    if (known.division == 0) made.division = 0;
    made.identity = known.identity;
    return are_same(made, known);
  };
  Value with_one = resolved(value, division, true);
  with_one.factor[Value::before] = more.factor[Value::before];  // any multiple of 0
  if (!is_of(with_one, more) || !is_of(resolved(value, division, false), not_more)) return std::nullopt;
  return value;
}

}  // namespace

Value either_share(const Value& more, const Value& other, bool other_has_none_more) {
  if (more.kind != Kind::sum || other.kind != Kind::sum) return joined(more, other);
  // `before` is 0 in a thread with one more, so any multiple of it may be added there.
  Value same = more;
  same.factor[Value::before] = other.factor[Value::before];
  if (same.division == 0 && same.has_terms()) same.division = other.division;
  if (are_same(same, other)) return joined(same, other);
  const std::optional<Value> both = other_has_none_more ? unresolved(more, other) : std::nullopt;
  return both.value_or(joined(more, other));
}

Value joined(const Value& a, const Value& b) {
  if (a.kind == Kind::clobbered || b.kind == Kind::clobbered) {
    // The code that follows is the same for both ways, so it does not read what was clobbered on one of them. It may
    // read it if that way does not exist because the called function never returns.
    return Value::of_kind(Kind::clobbered,
                          (a.kind == Kind::clobbered ? a.sources : 0) | (b.kind == Kind::clobbered ? b.sources : 0));
  }
  const std::uint64_t sources = a.sources | b.sources;
  Value both = a;
  if (a.identity != b.identity) both.identity = 0;
  both.sources = sources;
  Value theirs = b;
  theirs.identity = both.identity;
  if (are_same(both, theirs)) return both;
  if (a.low_byte || b.low_byte || !a.may_decide_branch() || !b.may_decide_branch() ||
      ((a.is_trip_count() || b.is_trip_count()) && (a.is_stack_address() || b.is_stack_address()))) {
    Value mixed = Value::tainted(sources, a.has_free_byte() && b.has_free_byte());
    const auto may_be_left = [](const Value& value) { return value.is_free() || value.is_remnant(); };
    mixed.remnant = may_be_left(a) && may_be_left(b);
    return mixed;
  }
  if (a.is_stack_address() && b.is_stack_address() && a.origin == b.origin)
    return Value::in_stack_beyond(a.origin, std::min(a.constant, b.constant));
  for (const Value& address : {a, b}) {  // the other one is not in the stack, or has another origin
    if (address.is_stack_address()) return Value::in_stack_beyond(address.origin, address.constant);
  }
  if (a.is_trip_count() || b.is_trip_count()) return Value::of_kind(Kind::trip_count, sources);
  return a.is_index() || b.is_index() ? Value::of_kind(Kind::index, sources) : Value::any();
}

Value chosen(const Value& a, const Value& b, std::uint64_t by) {
  if (a.kind == Kind::clobbered && b.kind == Kind::clobbered) return joined(a, b);
  if (a.kind == Kind::clobbered || b.kind == Kind::clobbered)
    return Value::of_kind(Kind::clobbered, a.sources | b.sources | by);
  return are_same(a, b) && a.is_certain() ? joined(a, b) : Value::tainted(a.sources | b.sources | by);
}

}  // namespace steelyard::partition
