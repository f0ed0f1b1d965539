// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>

namespace steelyard::partition {

/// How values and divisions are identified. A value is identified by the address of the instruction that computed it,
/// which is less than kSigned (x86-64: 47 bits in a user's process). A division is identified by the value that it
/// divides; if that is a constant less than kSigned, by the constant.
namespace identity {
enum Flag : std::uint64_t {
  kSigned = std::uint64_t{1} << 55,  ///< of a division: it is signed
  kWide = std::uint64_t{1} << 56,    ///< of a division: it has 64 bits
  kNamed = std::uint64_t{1} << 58,   ///< of a value: it existed before a conditional jump, see named()
  kSignExtended = std::uint64_t{1} << 59,
  kZeroExtended = std::uint64_t{1} << 60,
  kJoined = std::uint64_t{1} << 61,    ///< of a division: one of two whose states are joined at this address
  kDivision = std::uint64_t{1} << 62,  ///< the dividend has no identity: this is the division's own address
  kConstant = std::uint64_t{1} << 63   ///< the dividend is this constant
};
constexpr int kNumberBits = 7;  // Encoding: how many values before one jump have an identity, as a power of 2.
/// The identity of the `number`th value that exists before a conditional jump.
constexpr std::uint64_t named(std::uint64_t jump, int number) {
  return kNamed | ((jump << kNumberBits | static_cast<unsigned>(number)) & (kSigned - 1));
}
/// True if this value or division is identified by what was computed at `made`, extended or not.
constexpr bool is_of(std::uint64_t identity, std::uint64_t made) {
  return identity != 0 && (identity & ~(kSignExtended | kZeroExtended | kSigned | kWide)) == made;
}
}  // namespace identity

/// An abstract value: what is known of a register or of a word of the stack, as far as it depends on the team.
///
/// gcc divides the iterations of a static loop without a chunk size in each thread, from what omp_get_num_threads()
/// (`count`) and omp_get_thread_num() (`id`) return:
///
///     quotient = iterations / count, remainder = iterations % count
///     if (id < remainder) { share = quotient + 1, before = 0 } else { share = quotient, before = remainder }
///     first = share * id + before, end = first + share
///
/// Threads of a team of any size execute all iterations in this way, each iteration in one thread. An iteration's index
/// (`first` to `end`) may be used for anything. The share, which is the trip count of the thread's loop, may only
/// decide how often a loop runs.
struct Value {
  enum class Kind : std::uint8_t {
    /// A linear combination of Terms, plus a constant, plus (`plus_invariant`) something unknown that does not depend
    /// on the team.
    sum,
    index,          ///< computed from the index of an iteration of this thread
    trip_count,     ///< computed from this thread's share
    stack_address,  ///< an address in the stack: `constant` bytes from `origin`, less up to `span` bytes
    clobbered,      ///< overwritten by a call: the function does not read it, unless `sources` are set
    tainted         ///< depends on the team in a way that is not known
  };
  static constexpr int kSomewhere = -1;  ///< Encoding: an `origin`, anywhere in the stack.
  /// What the formulas above compute, and two products. Values of one division belong together: see `division`.
  enum Term { id, count, quotient, remainder, share, before, id_quotient, id_share, kTerms };

  Kind kind = Kind::sum;
  bool plus_invariant = false;
  bool free_byte = false;     ///< `tainted` except for the lowest byte, which is_free()
  bool remnant = false;       ///< `tainted`, but on each way either is_remnant() or is_free()
  bool low_byte = false;      ///< only the lowest byte is known; the value describes that byte
  std::int64_t constant = 0;  ///< valid without `plus_invariant`
  /// The instruction that computed it: two values with one identity are equal. 0: unknown.
  std::uint64_t identity = 0;
  std::uint64_t division = 0;  ///< the identity of the division that the terms come from; 0: it has no such terms
  /// The queries of the function on which it depends, a bit each; the last bit stands for all from the 64th on.
  std::uint64_t sources = 0;
  int origin = 0, span = 0;
  bool beyond = false;  ///< `stack_address`: at or above that place, at an unknown distance (an element or a member)
  std::array<std::int32_t, kTerms> factor{};  ///< of each term of a `sum`

  /// Something unknown that does not depend on the team.
  static Value any(std::uint64_t identity = 0);
  static Value number(std::int64_t constant);
  static Value term(Term term, std::uint64_t sources, std::uint64_t division = 0);
  /// An address `offset` bytes from `origin`, less up to `span` bytes.
  static Value in_stack(int origin, std::int64_t offset, int span = 0);
  /// An address at or above `offset` bytes from `origin`.
  static Value in_stack_beyond(int origin, std::int64_t offset);
  static Value somewhere() { return in_stack(kSomewhere, 0); }
  static Value of_kind(Kind kind, std::uint64_t sources);
  static Value tainted(std::uint64_t sources, bool free_byte = false);

  bool has_terms() const;
  /// True if it does not depend on the team.
  bool is_team_invariant() const { return kind == Kind::sum && !has_terms(); }
  bool has_free_byte() const { return free_byte || is_team_invariant(); }
  bool is_number() const { return is_team_invariant() && !plus_invariant; }
  bool is_zero() const { return is_number() && constant == 0; }
  bool is_stack_address() const { return kind == Kind::stack_address; }
  /// True for a known address in the stack.
  bool is_place() const { return is_stack_address() && origin != kSomewhere && !beyond; }
  /// True for this term alone, with the factor 1.
  bool is_just(Term term) const;
  /// True for an iteration's index, the end of the iterations, and what is computed from these.
  bool is_index() const;
  /// True for this thread's share, and what is computed from it.
  bool is_trip_count() const;
  /// True if the program may use it for anything.
  bool is_free() const;
  /// True if a branch may depend on it.
  bool may_decide_branch() const { return is_free() || is_trip_count(); }
  /// True for a multiple of `before` alone, which gcc leaves in a register after it has computed `first`.
  bool is_remnant() const;
  /// True if two such values that compare equal are equal when the program runs, too.
  bool is_certain() const;
  friend bool operator==(const Value&, const Value&) = default;
};

/// The value for an instruction that reads it. The only code that reads a clobbered register is that of a function
/// whose compiler knew that the callee leaves this register alone.
Value as_read(const Value& value);
Value operator+(const Value& a, const Value& b);
Value operator-(const Value& a, const Value& b);
Value operator*(const Value& a, const Value& b);
/// The result of an operation of which nothing is known but its operands.
Value function_of(const Value& a, const Value& b);

/// True if they are equal, whichever queries they come from.
bool are_same(const Value& a, const Value& b);
/// The value in a thread that has one iteration more. There, `before` is 0, so any multiple of it may be added.
Value with_one_more(Value value);
/// The value once it is known whether the thread has one iteration more: in terms of the share, not of the quotient.
Value resolved(Value value, std::uint64_t division, bool one_more);
/// The join of two resolved values of one division.
/// @param more of a thread with one iteration more
/// @param other of a thread without (`other_has_none_more`), or of any thread
Value either_share(const Value& more, const Value& other, bool other_has_none_more);
/// The join: what is known if it may be the one or the other.
Value joined(const Value& a, const Value& b);
/// The join if it depends on the queries `by` which of them it is.
Value chosen(const Value& a, const Value& b, std::uint64_t by);

}  // namespace steelyard::partition
