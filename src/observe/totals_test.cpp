// SPDX-License-Identifier: BSD-3-Clause
#include "observe/totals.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

namespace steelyard::observe {
namespace {

Totals distinct(std::int64_t factor) {
  Totals t;
  std::int64_t value = 1;
  for (const TotalsField& field : kTotalsFields) t.*field.value = factor * value++;
  return t;
}

TEST(Totals, TableNamesEveryMemberOnce) {
  std::set<std::string> names;
  for (const TotalsField& field : kTotalsFields) names.insert(field.name);
  EXPECT_EQ(names.size(), std::size(kTotalsFields));
  const Totals t = distinct(1);
  std::int64_t members[std::size(kTotalsFields)];
  static_assert(sizeof members == sizeof t);
  std::memcpy(members, &t, sizeof t);
  for (std::size_t i = 0; i < std::size(members); ++i) EXPECT_EQ(members[i], static_cast<std::int64_t>(i) + 1);
}

TEST(Totals, DifferenceAndSumAreComponentWise) {
  const Totals part = distinct(7) - distinct(5);
  Totals sum = distinct(3);
  sum += part;
  for (const TotalsField& field : kTotalsFields) {
    EXPECT_EQ(part.*field.value, distinct(2).*field.value) << field.name;
    EXPECT_EQ(sum.*field.value, distinct(5).*field.value) << field.name;
  }
}

TEST(Totals, BusyUsefulAndOutsideMpi) {
  Totals t;
  t.serial = 10;
  t.region_wall = 100;
  t.region_useful = 350;
  t.omp_imbalance = 30;
  t.omp_scheduling = 20;
  t.omp_serialisation = 30;
  t.mpi = 1000;
  t.mpi_capacity = 4000;
  EXPECT_EQ(t.busy(), 110);
  EXPECT_EQ(t.useful(), 360);
  EXPECT_EQ(t.outside_mpi(), 440);
}

}  // namespace
}  // namespace steelyard::observe
