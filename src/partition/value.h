#pragma once
#include <array>
#include <cstdint>

namespace steelyard::partition {

/// What compiled code holds in a register or in a word of its stack, as far as it depends on the size of the team.
///
/// gcc divides the iterations of a static loop without a chunk size in each thread, from what omp_get_num_threads() and
/// omp_get_thread_num() return:
///
///     quotient = iterations / count, remainder = iterations % count
///     if (id < remainder) { share = quotient + 1, before = 0 } else { share = quotient, before = remainder }
///     first = share * id + before, end = first + share
///
/// Threads of a team of any size share out all iterations in this way, each to one of them. So `first`, `end` and `share`, and
/// all that is computed from nothing but them, is `free`: it may go anywhere.
struct Value {
  enum class Kind : std::uint8_t {
    sum,    ///< of terms with factors, of a constant, and where `other` is set of something that no team has a part in
    frame,  ///< an address in the stack: `constant` from the origin `origin`
    mixed   ///< it depends on the size of the team in a way that is not known
  };
  static constexpr int kSomewhere = -1;  ///< an `origin`: anywhere in the stack
  enum Term { id, count, quotient, remainder, share, before, id_quotient, id_share, kTerms };

  Kind kind = Kind::sum;
  bool other = false;
  bool free_byte = false;     ///< `mixed`, but for the lowest byte, which may go anywhere
  bool remnant = false;       ///< `mixed`, of nothing but what is_remnant() allows
  std::int64_t constant = 0;  ///< valid without `other`
  std::uint64_t identity =
      0;  ///< of a value without terms: where it was made, so that two with the same one are equal; 0: unknown
  std::uint64_t iterations = 0;  ///< of a value with terms of a division: the identity of what is divided
  /// Of which queries of the function it depends, a bit each; the last bit stands for all from the 64th on.
  std::uint64_t sources = 0;
  int origin = 0;
  std::array<std::int32_t, kTerms> factor{};

  static Value any(std::uint64_t identity = 0);
  static Value number(std::int64_t constant);
  static Value term(Term term, std::uint64_t sources, std::uint64_t iterations = 0);
  static Value in_frame(int origin, std::int64_t offset);
  static Value mix(std::uint64_t sources, bool free_byte = false);

  bool has_terms() const;
  bool has_free_byte() const { return free_byte || (kind == Kind::sum && !has_terms()); }
  bool is_number() const { return kind == Kind::sum && !other && !has_terms(); }
  bool is_zero() const { return is_number() && constant == 0; }
  /// The one term, once, and nothing else.
  bool is_just(Term term) const;
  /// True where it is the same in each team, or a part of a division that is right in each team. `one_more`: in a thread that
  /// is known to have one iteration more, where `before` is 0.
  bool is_free(bool one_more) const;
  /// True where it is free, or made of no more than parts of a division in which it is known whether this thread has one iteration
  /// more. No program names these: where such a part is in a register, and nothing but a call comes, it is a remnant.
  bool is_remnant() const;
  friend bool operator==(const Value&, const Value&) = default;
};

Value operator+(const Value& a, const Value& b);
Value operator-(const Value& a, const Value& b);
Value operator*(const Value& a, const Value& b);

/// True where they are equal, whichever queries they come from.
bool are_same(const Value& a, const Value& b);
/// A value where it is known whether the thread is one of those with one iteration more.
Value resolved(Value value, std::uint64_t iterations, bool one_more);
/// One value or the other, both resolved: the first of a thread with one iteration more, the second of one without.
Value either_share(const Value& more, const Value& not_more);
/// What is known of both.
Value joined(const Value& a, const Value& b);

}  // namespace steelyard::partition
