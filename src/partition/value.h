// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>

namespace steelyard::partition {

/// Names of values and of divisions. A value is named after the instruction that made it, by its address, which has
/// less than kSigned (x86-64: 47 bits in a user's process); a constant that is divided, by itself, if it has less.
namespace identity {
enum Flag : std::uint64_t {
  kSigned = std::uint64_t{1} << 55,  ///< of a division: how it divides
  kWide = std::uint64_t{1} << 56,
  kNamed = std::uint64_t{1} << 58,  ///< of a value: it is one of those that were there before a jump
  kSignExtended = std::uint64_t{1} << 59,
  kZeroExtended = std::uint64_t{1} << 60,
  kJoined = std::uint64_t{1} << 61,    ///< of a division: one or the other of two that meet at this address
  kDivision = std::uint64_t{1} << 62,  ///< what is divided has no name: the address is the division's
  kConstant = std::uint64_t{1} << 63   ///< what is divided is this constant
};
constexpr int kNumberBits = 7;  // Encoding: how many values before one jump have names, as a power of 2.
/// Of the `number`th value that is there before a jump.
constexpr std::uint64_t named(std::uint64_t jump, int number) {
  return kNamed | ((jump << kNumberBits | static_cast<unsigned>(number)) & (kSigned - 1));
}
/// True if this value or division is named after what was made there.
constexpr bool is_of(std::uint64_t name, std::uint64_t made) {
  return name != 0 && (name & ~(kSignExtended | kZeroExtended | kSigned | kWide)) == made;
}
}  // namespace identity

/// What compiled code holds in a register or in a word of its stack, as far as it depends on the size of the team.
///
/// gcc divides the iterations of a static loop without a chunk size in each thread, from what omp_get_num_threads() and
/// omp_get_thread_num() return:
///
///     quotient = iterations / count, remainder = iterations % count
///     if (id < remainder) { share = quotient + 1, before = 0 } else { share = quotient, before = remainder }
///     first = share * id + before, end = first + share
///
/// Threads of a team of any size execute all iterations in this way, each iteration in one thread. An iteration's index
/// may be used for anything. The share decides only how often a loop runs.
struct Value {
  enum class Kind : std::uint8_t {
    sum,  ///< of terms with factors, of a constant, and if `other` is set of something that does not depend on the team
    index,  ///< computed from the index of an iteration of this thread
    size,   ///< computed from this thread's share
    frame,  ///< an address in the stack: `constant` from the origin `origin`, less up to `span` bytes
    lost,   ///< what a call has left: not the function's to read, unless `sources` are set
    mixed   ///< it depends on the size of the team in a way that is not known
  };
  static constexpr int kSomewhere = -1;  ///< Encoding: an `origin`, anywhere in the stack.
  enum Term { id, count, quotient, remainder, share, before, id_quotient, id_share, kTerms };

  Kind kind = Kind::sum;
  bool other = false;
  bool free_byte = false;     ///< `mixed` except for the lowest byte, which may be used for anything
  bool remnant = false;       ///< `mixed`, of nothing but remnants and what is free
  bool low_byte = false;      ///< known of the lowest byte alone
  std::int64_t constant = 0;  ///< valid without `other`
  /// Names the instruction that made it: two values with one identity are equal. 0: unknown.
  std::uint64_t identity = 0;
  std::uint64_t iterations = 0;  ///< of a value with terms of a division: names the division
  /// On which queries of the function it depends, a bit each; the last bit stands for all from the 64th on.
  std::uint64_t sources = 0;
  int origin = 0, span = 0;
  bool beyond = false;  ///< `frame`, of an element or a member at an unknown distance from there
  std::array<std::int32_t, kTerms> factor{};

  static Value any(std::uint64_t identity = 0);
  static Value number(std::int64_t constant);
  static Value term(Term term, std::uint64_t sources, std::uint64_t iterations = 0);
  static Value in_frame(int origin, std::int64_t offset, int span = 0);
  static Value in_frame_beyond(int origin, std::int64_t offset);
  static Value somewhere() { return in_frame(kSomewhere, 0); }
  static Value of_kind(Kind kind, std::uint64_t sources);
  static Value mix(std::uint64_t sources, bool free_byte = false);

  bool has_terms() const;
  bool is_public() const { return kind == Kind::sum && !has_terms(); }
  bool has_free_byte() const { return free_byte || is_public(); }
  bool is_number() const { return is_public() && !other; }
  bool is_zero() const { return is_number() && constant == 0; }
  bool is_frame() const { return kind == Kind::frame; }
  /// A known address in the stack.
  bool is_place() const { return is_frame() && origin != kSomewhere && !beyond; }
  /// The one term, once, and nothing else.
  bool is_just(Term term) const;
  /// An iteration's index or the end of the iterations, or computed from these.
  bool is_index() const;
  bool is_size() const;
  /// True if it may be used for anything.
  bool is_free() const;
  /// True if a branch may depend on it.
  bool is_bound() const { return is_free() || is_size(); }
  /// True for `before` alone, which gcc leaves in a register when it has computed `first`.
  bool is_remnant() const;
  /// True if two values that equal this one are known to be the same.
  bool is_certain() const;
  friend bool operator==(const Value&, const Value&) = default;
};

/// As code finds it that reads it: what is lost is read by nothing but a function that knows what its callee has left
/// alone.
Value as_read(const Value& value);
Value operator+(const Value& a, const Value& b);
Value operator-(const Value& a, const Value& b);
Value operator*(const Value& a, const Value& b);
/// What an operation makes of two values if only that is known: of which kinds they are.
Value function_of(const Value& a, const Value& b);

/// True if they are equal, whichever queries they come from.
bool are_same(const Value& a, const Value& b);
/// In a thread with one iteration more, where `before` is 0: any multiple of it may be added.
Value with_one_more(Value value);
/// A value once it is known whether the thread is one of those with one iteration more.
Value resolved(Value value, std::uint64_t iterations, bool one_more);
/// One value or the other, both resolved: the first of a thread with one iteration more, the second of one without, or
/// of any thread.
Value either_share(const Value& more, const Value& other, bool other_has_none_more);
/// What is known of both.
Value joined(const Value& a, const Value& b);
/// What is known of both if it depends on the queries `by` which of them it is.
Value chosen(const Value& a, const Value& b, std::uint64_t by);

}  // namespace steelyard::partition
