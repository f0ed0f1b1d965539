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
  if (a.iterations != 0 && b.iterations != 0 && a.iterations != b.iterations) return function_of(a, b);
  Value sum;
  sum.other = a.other || b.other;
  // The machine's numbers wrap as these do.
  const auto first = static_cast<std::uint64_t>(a.constant), second = static_cast<std::uint64_t>(b.constant);
  sum.constant = sum.other ? 0 : static_cast<std::int64_t>(sign > 0 ? first + second : first - second);
  for (int t = 0; t < Value::kTerms; ++t) {
    const std::int64_t factor = std::int64_t{a.factor[t]} + sign * std::int64_t{b.factor[t]};
    if (factor > kMostFactor || factor < -kMostFactor) return Value::mix(sources);
    sum.factor[t] = static_cast<std::int32_t>(factor);
  }
  if (sum.has_terms()) {
    sum.iterations = a.iterations != 0 ? a.iterations : b.iterations;
    sum.sources = sources;
  }
  return sum;
}

/// Of an address in the stack.
Value moved(const Value& address, const Value& distance, int sign) {
  if (!address.is_place()) {
    const bool stays = address.beyond && distance.is_number() && sign * distance.constant >= 0;
    return stays || (address.beyond && !distance.is_number() && sign > 0) ? address : Value::somewhere();
  }
  if (distance.is_number())
    return Value::in_frame(address.origin, address.constant + sign * distance.constant, address.span);
  return sign > 0 ? Value::in_frame_beyond(address.origin, address.constant) : Value::somewhere();
}

Value plus(const Value& a, const Value& b, int sign) {
  if (a.kind == Kind::sum && b.kind == Kind::sum) return sum_of(a, b, sign);
  if (a.is_frame() && !b.is_frame() && b.is_free()) return moved(a, b, sign);
  if (b.is_frame() && !a.is_frame() && a.is_free() && sign > 0) return moved(b, a, sign);
  if (a.is_frame() && b.is_frame() && sign < 0) return Value::any();  // their distance
  // What is left of a share after so many iterations, or the end of those that come in groups.
  if (a.is_index() && b.is_size()) return Value::of_kind(Kind::index, a.sources | b.sources);
  if (a.is_size() && b.is_index() && sign > 0) return Value::of_kind(Kind::index, a.sources | b.sources);
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
  if (!result.has_terms()) result.iterations = result.sources = 0;
  return result;
}

Value times_id(const Value& id, const Value& value) {
  Value product;
  product.iterations = value.iterations;
  product.sources = id.sources | value.sources;
  for (int t = 0; t < Value::kTerms; ++t) {
    if (value.factor[t] == 0) continue;
    if (t == Value::quotient)
      product.factor[Value::id_quotient] = value.factor[t];
    else if (t == Value::share)
      product.factor[Value::id_share] = value.factor[t];
    else
      return Value::mix(product.sources);
  }
  if (value.other) return Value::mix(product.sources);
  if (value.constant > kMostFactor || value.constant < -kMostFactor) return Value::mix(product.sources);
  product.factor[Value::id] = static_cast<std::int32_t>(value.constant);
  return product;
}

}  // namespace

Value Value::any(std::uint64_t identity) {
  Value value;
  value.other = true;
  value.identity = identity;
  return value;
}

Value Value::number(std::int64_t constant) {
  Value value;
  value.constant = constant;
  return value;
}

Value Value::term(Term term, std::uint64_t sources, std::uint64_t iterations) {
  Value value;
  value.sources = sources;
  value.factor[term] = 1;
  value.iterations = iterations;
  return value;
}

Value Value::in_frame(int origin, std::int64_t offset, int span) {
  Value value = of_kind(Kind::frame, 0);
  value.origin = origin;
  if (origin == kSomewhere) return value;
  value.constant = offset;
  value.span = span;
  return value;
}

Value Value::in_frame_beyond(int origin, std::int64_t offset) {
  Value value = in_frame(origin, offset);
  value.beyond = origin != kSomewhere;
  return value;
}

Value Value::of_kind(Kind kind, std::uint64_t sources) {
  Value value;
  value.kind = kind;
  value.sources = sources;
  return value;
}

Value Value::mix(std::uint64_t sources, bool free_byte) {
  Value value = of_kind(Kind::mixed, sources);
  value.free_byte = free_byte;
  return value;
}

bool Value::has_terms() const {
  return std::any_of(factor.begin(), factor.end(), [](std::int32_t f) { return f != 0; });
}

bool Value::is_just(Term term) const { return *this == Value::term(term, sources, iterations); }

bool Value::is_index() const {
  if (kind != Kind::sum) return kind == Kind::index;
  const std::int32_t each = factor[id_share];
  // first = share * id + before, end = first + share
  return each != 0 && factor[before] == each && (factor[share] == 0 || factor[share] == each) && factor[id] == 0 &&
         factor[count] == 0 && factor[quotient] == 0 && factor[remainder] == 0 && factor[id_quotient] == 0;
}

bool Value::is_size() const {
  if (kind != Kind::sum || factor[share] == 0) return kind == Kind::size;
  Value rest = *this;
  rest.factor[share] = 0;
  return !rest.has_terms();
}

bool Value::is_free() const { return !low_byte && (is_public() || is_frame() || is_index()); }

bool Value::is_remnant() const {
  if (kind == Kind::mixed) return remnant;
  if (kind != Kind::sum || factor[before] == 0) return false;
  Value rest = *this;
  rest.factor[before] = 0;
  return !rest.has_terms();
}

bool Value::is_certain() const {
  if (identity != 0 || is_place()) return true;
  return kind == Kind::sum && !other;
}

Value as_read(const Value& value) {
  if (value.low_byte) return Value::mix(value.sources);
  if (value.kind != Kind::lost) return value;
  return value.sources == 0 ? Value::any() : Value::mix(value.sources);
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
  if (!a.is_bound() || !b.is_bound())
    return Value::mix((a.is_bound() ? 0 : a.sources) | (b.is_bound() ? 0 : b.sources));
  const bool has_size = a.is_size() || b.is_size(), has_index = a.is_index() || b.is_index();
  if (has_size && (has_index || a.is_frame() || b.is_frame())) return Value::mix(sources);
  if (a.is_frame() || b.is_frame()) return Value::somewhere();
  if (has_size) return Value::of_kind(Kind::size, sources);
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

Value resolved(Value value, std::uint64_t iterations, bool one_more) {
  if (value.kind != Kind::sum || value.iterations != iterations) return value;
  value.factor[Value::share] += value.factor[Value::quotient];
  value.factor[Value::id_share] += value.factor[Value::id_quotient];
  if (one_more) {  // quotient = share - 1
    if (!value.other) value.constant -= value.factor[Value::quotient];
    value.factor[Value::id] -= value.factor[Value::id_quotient];
  } else {
    value.factor[Value::before] += value.factor[Value::remainder];
    value.factor[Value::remainder] = 0;
  }
  value.factor[Value::quotient] = value.factor[Value::id_quotient] = 0;
  return one_more ? with_one_more(value) : value;
}

namespace {

/// The value of which resolved() makes both. Nothing if there is none.
std::optional<Value> unresolved(const Value& more, const Value& not_more) {
  const std::uint64_t iterations = more.iterations != 0 ? more.iterations : not_more.iterations;
  if (iterations == 0 || more.other || not_more.other) return std::nullopt;
  // quotient = share - 1 in a thread with one more: the differences tell their factors.
  const auto quotient = static_cast<std::int64_t>(static_cast<std::uint64_t>(not_more.constant) -
                                                  static_cast<std::uint64_t>(more.constant)),
             id_quotient = std::int64_t{not_more.factor[Value::id]} - more.factor[Value::id];
  for (const std::int64_t factor : {quotient, id_quotient})
    if (factor > kMostFactor || factor < -kMostFactor) return std::nullopt;
  Value value = not_more;
  value.identity = 0;
  value.iterations = iterations;
  value.sources |= more.sources;
  value.factor[Value::quotient] = static_cast<std::int32_t>(quotient);
  value.factor[Value::share] -= value.factor[Value::quotient];
  value.factor[Value::id_quotient] = static_cast<std::int32_t>(id_quotient);
  value.factor[Value::id_share] -= value.factor[Value::id_quotient];
  value.factor[Value::remainder] = more.factor[Value::remainder];
  value.factor[Value::before] -= value.factor[Value::remainder];
  const auto is_of = [&](Value made, const Value& known) {
    if (known.iterations == 0) made.iterations = 0;
    made.identity = known.identity;
    return are_same(made, known);
  };
  Value with_one = resolved(value, iterations, true);
  with_one.factor[Value::before] = more.factor[Value::before];  // any multiple of 0
  if (!is_of(with_one, more) || !is_of(resolved(value, iterations, false), not_more)) return std::nullopt;
  return value;
}

}  // namespace

Value either_share(const Value& more, const Value& other, bool other_has_none_more) {
  if (more.kind != Kind::sum || other.kind != Kind::sum) return joined(more, other);
  // `before` is 0 in a thread with one more, so any multiple of it may be added there.
  Value same = more;
  same.factor[Value::before] = other.factor[Value::before];
  if (same.iterations == 0 && same.has_terms()) same.iterations = other.iterations;
  if (are_same(same, other)) return joined(same, other);
  const std::optional<Value> both = other_has_none_more ? unresolved(more, other) : std::nullopt;
  return both.value_or(joined(more, other));
}

Value joined(const Value& a, const Value& b) {
  if (a.kind == Kind::lost || b.kind == Kind::lost) {
    // The code that follows is the same for both, so it does not read what one of them has lost; unless that way does
    // not exist, since the function that was called never returns.
    return Value::of_kind(Kind::lost, (a.kind == Kind::lost ? a.sources : 0) | (b.kind == Kind::lost ? b.sources : 0));
  }
  const std::uint64_t sources = a.sources | b.sources;
  Value both = a;
  if (a.identity != b.identity) both.identity = 0;
  both.sources = sources;
  Value theirs = b;
  theirs.identity = both.identity;
  if (are_same(both, theirs)) return both;
  if (a.low_byte || b.low_byte || !a.is_bound() || !b.is_bound() ||
      ((a.is_size() || b.is_size()) && (a.is_frame() || b.is_frame()))) {
    Value mixed = Value::mix(sources, a.has_free_byte() && b.has_free_byte());
    const auto may_be_left = [](const Value& value) { return value.is_free() || value.is_remnant(); };
    mixed.remnant = may_be_left(a) && may_be_left(b);
    return mixed;
  }
  if (a.is_frame() && b.is_frame() && a.origin == b.origin)
    return Value::in_frame_beyond(a.origin, std::min(a.constant, b.constant));
  for (const Value& address : {a, b}) {  // the other one is none of the stack
    if (address.is_frame()) return Value::in_frame_beyond(address.origin, address.constant);
  }
  if (a.is_size() || b.is_size()) return Value::of_kind(Kind::size, sources);
  return a.is_index() || b.is_index() ? Value::of_kind(Kind::index, sources) : Value::any();
}

Value chosen(const Value& a, const Value& b, std::uint64_t by) {
  if (a.kind == Kind::lost && b.kind == Kind::lost) return joined(a, b);
  if (a.kind == Kind::lost || b.kind == Kind::lost) return Value::of_kind(Kind::lost, a.sources | b.sources | by);
  return are_same(a, b) && a.is_certain() ? joined(a, b) : Value::mix(a.sources | b.sources | by);
}

}  // namespace steelyard::partition
