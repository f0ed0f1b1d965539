#include "partition/value.h"

#include <algorithm>

namespace steelyard::partition {

namespace {

constexpr std::int64_t kMostFactor = 1 << 28;  // two of them can be added

Value plus(const Value& a, const Value& b, int sign) {
  const std::uint64_t sources = a.sources | b.sources;
  if (a.kind == Value::Kind::mixed || b.kind == Value::Kind::mixed) return Value::mix(sources);
  if (a.kind == Value::Kind::frame || b.kind == Value::Kind::frame) {
    if (a.kind == Value::Kind::frame && b.is_number()) return Value::in_frame(a.origin, a.constant + sign * b.constant);
    if (b.kind == Value::Kind::frame && a.is_number() && sign > 0)
      return Value::in_frame(b.origin, b.constant + a.constant);
    if (a.has_terms() || b.has_terms()) return Value::mix(sources);
    // The distance of two addresses is a number; anything else points somewhere into the stack.
    return a.kind == b.kind && sign < 0 ? Value::any() : Value::in_frame(Value::kSomewhere, 0);
  }
  if (a.iterations != 0 && b.iterations != 0 && a.iterations != b.iterations) return Value::mix(sources);
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

Value scaled(const Value& value, std::int64_t by) {
  if (by > INT32_MAX || by < INT32_MIN) return value.has_terms() ? Value::mix(value.sources) : Value::any();
  Value result = value;
  result.identity = 0;
  result.constant =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(result.constant) * static_cast<std::uint64_t>(by));
  for (std::int32_t& factor : result.factor) {
    const std::int64_t product = std::int64_t{factor} * by;
    if (product > kMostFactor || product < -kMostFactor) return Value::mix(value.sources);
    factor = static_cast<std::int32_t>(product);
  }
  if (!result.has_terms()) result.iterations = result.sources = 0;
  return result;
}

// An exact multiple of the thread's number.
bool is_id(const Value& value) { return value.is_just(Value::id); }

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

Value Value::in_frame(int origin, std::int64_t offset) {
  Value value;
  value.kind = Kind::frame;
  value.origin = origin;
  value.constant = origin == kSomewhere ? 0 : offset;
  return value;
}

Value Value::mix(std::uint64_t sources, bool free_byte) {
  Value value;
  value.sources = sources;
  value.kind = Kind::mixed;
  value.free_byte = free_byte;
  return value;
}

bool Value::has_terms() const {
  return kind == Kind::mixed || std::any_of(factor.begin(), factor.end(), [](std::int32_t f) { return f != 0; });
}

bool Value::is_just(Term term) const { return *this == Value::term(term, sources, iterations); }

bool Value::is_remnant() const {
  if (kind != Kind::sum) return kind == Kind::frame || remnant;
  for (const Term term : {id, count, quotient, remainder, id_quotient}) {
    if (factor[term] != 0) return false;
  }
  return true;
}

bool Value::is_free(bool one_more) const {
  // first = share * id + before
  return kind != Kind::mixed && is_remnant() && (one_more || factor[id_share] == factor[before]);
}

Value operator+(const Value& a, const Value& b) { return plus(a, b, 1); }
Value operator-(const Value& a, const Value& b) { return plus(a, b, -1); }

Value operator*(const Value& a, const Value& b) {
  if (b == Value::number(1)) return a;
  if (a.kind != Value::Kind::sum || b.kind != Value::Kind::sum)
    return a.has_terms() || b.has_terms() ? Value::mix(a.sources | b.sources) : Value::any();
  if (a.is_number()) return scaled(b, a.constant);
  if (b.is_number()) return scaled(a, b.constant);
  if (is_id(a)) return times_id(a, b);
  if (is_id(b)) return times_id(b, a);
  return a.has_terms() || b.has_terms() ? Value::mix(a.sources | b.sources) : Value::any();
}

bool are_same(const Value& a, const Value& b) {
  Value other = a;
  other.sources = b.sources;
  return other == b;
}

Value resolved(Value value, std::uint64_t iterations, bool one_more) {
  if (value.kind != Value::Kind::sum || value.iterations != iterations) return value;
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
  return value;
}

Value either_share(const Value& more, const Value& not_more) {
  if (more.kind != Value::Kind::sum || not_more.kind != Value::Kind::sum) return joined(more, not_more);
  // `before` is 0 in a thread with one more, so any multiple of it may be added there.
  Value same = more;
  same.factor[Value::before] = not_more.factor[Value::before];
  if (same.iterations == 0 && same.has_terms()) same.iterations = not_more.iterations;
  same.identity = not_more.identity;
  return are_same(same, not_more) ? joined(same, not_more) : joined(more, not_more);
}

Value joined(const Value& a, const Value& b) {
  if (are_same(a, b)) {
    Value both = a;
    both.sources |= b.sources;
    return both;
  }
  if (a.has_terms() || b.has_terms()) {
    Value mixed = Value::mix(a.sources | b.sources, a.has_free_byte() && b.has_free_byte());
    mixed.remnant = a.is_remnant() && b.is_remnant();
    return mixed;
  }
  if (a.kind == Value::Kind::frame || b.kind == Value::Kind::frame) return Value::in_frame(Value::kSomewhere, 0);
  return Value::any();
}

}  // namespace steelyard::partition
