// SPDX-License-Identifier: BSD-3-Clause
#include "partition/value.h"

#include <gtest/gtest.h>

namespace steelyard::partition {
namespace {

constexpr std::uint64_t kDivision = 7, kQuery = 1;

Value term(Value::Term which) { return Value::term(which, kQuery, kDivision); }
Value id() { return Value::term(Value::id, kQuery); }

/// As gcc divides: in a thread with one iteration more, and in one without.
Value first(bool more) {
  const Value quotient = resolved(term(Value::quotient) + Value::number(more ? 1 : 0), kDivision, more);
  const Value before = more ? Value::number(0) : resolved(term(Value::remainder), kDivision, more);
  const Value sum = quotient * id() + before;
  return more ? with_one_more(sum) : sum;
}

TEST(Value, TheFirstIterationOfAThreadIsFree) {
  EXPECT_TRUE(first(true).is_free());
  EXPECT_TRUE(first(false).is_free());
  EXPECT_FALSE((term(Value::share) * id()).is_free()) << "unless it is known that the thread has one more";
}

TEST(Value, WhicheverWayTheCodeCameThere) {
  const Value both = either_share(first(true), first(false), true);
  EXPECT_TRUE(both.is_free());
  EXPECT_TRUE((both * Value::number(8) + Value::any()).is_free()) << "an address computed from it";
  EXPECT_TRUE((both + term(Value::share)).is_free()) << "the end";
  Value from_here = first(true) + Value::any(), from_there = first(false) + Value::any();
  from_here.identity = 1, from_there.identity = 2;
  EXPECT_FALSE(either_share(from_here, from_there, true).is_certain()) << "each way has added another value";
}

TEST(Value, QuotientAndRemainderAreKeptForTheNextLoop) {
  const auto both = [](const Value& more, const Value& not_more) {
    return either_share(resolved(more, kDivision, true), resolved(not_more, kDivision, false), true);
  };
  const Value quotient = term(Value::quotient), remainder = term(Value::remainder);
  for (const Value& kept : {quotient, remainder, quotient * id(), quotient * Value::number(4) + Value::number(1)})
    EXPECT_EQ(both(kept, kept), kept);
  EXPECT_FALSE(both(quotient, quotient).may_decide_branch()) << "it is not the share";
  EXPECT_EQ(both(quotient + Value::number(1), quotient), term(Value::share));
  EXPECT_EQ(both(remainder, quotient).kind, Value::Kind::tainted);
  EXPECT_FALSE(both(remainder + Value::number(1), remainder).may_decide_branch());
  EXPECT_EQ(both(Value::number(5), Value::number(3)), joined(Value::number(5), Value::number(3)));
  EXPECT_FALSE(both(quotient * id(), quotient * id() + remainder).is_free()) << "without one for each thread before";
}

TEST(Value, AQuotientOfOneWayIsNotTheShareOfAllThreads) {
  const Value share = term(Value::share), quotient = resolved(term(Value::quotient), kDivision, true);
  EXPECT_EQ(either_share(quotient, share, true), term(Value::quotient));
  EXPECT_FALSE(either_share(quotient, share, false).is_certain());
  EXPECT_TRUE(either_share(first(true), first(false), false).is_free());
}

TEST(Value, PartsOfTheDivisionAreNotFree) {
  for (const auto part : {Value::id, Value::count, Value::quotient, Value::remainder, Value::before}) {
    EXPECT_FALSE(term(part).is_free()) << part;
    EXPECT_FALSE((term(part) * Value::number(8) + Value::any()).is_free()) << part;
  }
  EXPECT_FALSE((term(Value::share) * id()).is_free()) << "without those that the first threads have more";
  EXPECT_FALSE((term(Value::quotient) * id() + term(Value::remainder)).is_free());
}

TEST(Value, NearMissesAreNotFree) {
  const Value share = term(Value::share), before = term(Value::before);
  EXPECT_FALSE((share * id() + before * Value::number(2)).is_free());
  EXPECT_FALSE((share * (id() + Value::number(1)) + before + id()).is_free());
  const Value of_another = Value::term(Value::before, kQuery, kDivision + 1);
  EXPECT_FALSE((share * id() + of_another).is_free()) << "two divisions are mixed";
  EXPECT_FALSE((id() * id()).is_free());
  EXPECT_FALSE((id() * Value::any()).is_free());
}

TEST(Value, AShareIsNoMoreThanABound) {
  const Value share = term(Value::share), first_one = first(false);
  EXPECT_FALSE(share.is_free());
  EXPECT_TRUE(share.may_decide_branch());
  EXPECT_TRUE(function_of(share, Value::number(4)).is_trip_count()) << "as many groups";
  EXPECT_TRUE((first_one + function_of(share, Value::number(4))).is_index()) << "where the groups end";
  EXPECT_FALSE((first_one + share + share).is_free());
  EXPECT_FALSE((first_one + first_one + share).is_free());
  EXPECT_FALSE((Value::in_stack(0, -64) + share).is_free());
}

TEST(Value, WhichOfTwoItIsMayDependOnTheTeam) {
  EXPECT_EQ(chosen(Value::number(1), Value::number(2), kQuery).kind, Value::Kind::tainted);
  EXPECT_EQ(chosen(Value::any(), Value::any(), kQuery).kind, Value::Kind::tainted)
      << "it is not known that they are the same";
  EXPECT_TRUE(chosen(Value::any(16), Value::any(16), kQuery).is_free());
  EXPECT_TRUE(chosen(first(false), first(false), kQuery).is_free());
  EXPECT_EQ(chosen(Value::of_kind(Value::Kind::clobbered, 0), Value::number(1), kQuery).kind, Value::Kind::clobbered);
}

TEST(Value, ADifferenceOfEqualTermsIsANumber) {
  EXPECT_TRUE((id() - id()).is_zero());
  EXPECT_TRUE((Value::any() - Value::any()).is_free());
  EXPECT_FALSE((Value::any() - Value::any()).is_number()) << "it is not known that they are the same";
}

TEST(Value, AJoinDependsOnWhatBothDo) {
  EXPECT_EQ(joined(id(), Value::number(0)).kind, Value::Kind::tainted);
  EXPECT_EQ(joined(term(Value::share), first(false)).kind, Value::Kind::trip_count)
      << "as many as are left of one or the other";
  EXPECT_EQ(joined(term(Value::share), Value::in_stack(0, 8)).kind, Value::Kind::tainted);
  EXPECT_EQ(joined(id(), Value::term(Value::id, 2)).sources, 3U) << "of two queries";
  EXPECT_TRUE(joined(Value::number(1), Value::number(2)).is_free());
  EXPECT_EQ(joined(Value::in_stack(0, 8), Value::in_stack(0, 16)), Value::in_stack_beyond(0, 8));
}

TEST(Value, AddressesOfTheStackKeepTheirPlace) {
  EXPECT_EQ(Value::in_stack(0, -8) + Value::number(-24), Value::in_stack(0, -32));
  EXPECT_EQ(Value::in_stack(0, -8) + Value::any(), Value::in_stack_beyond(0, -8));
  EXPECT_EQ(Value::in_stack_beyond(0, -8) + Value::number(8), Value::in_stack_beyond(0, -8));
  EXPECT_EQ(Value::in_stack_beyond(0, -8) - Value::number(8), Value::somewhere());
  EXPECT_EQ(Value::in_stack(0, -8) - Value::any(), Value::somewhere());
  EXPECT_EQ((Value::in_stack(0, -8) + id()).kind, Value::Kind::tainted);
}

}  // namespace
}  // namespace steelyard::partition
