// SPDX-License-Identifier: BSD-3-Clause
#include "node/segment.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "node/one_process.h"

namespace steelyard::node {
namespace {

struct Numbers {
  static std::size_t footprint(int processes) { return Segment::footprint<int>(static_cast<std::size_t>(processes)); }
  Numbers(Segment& segment, int processes, int me)
      : all(segment.carve<int>(static_cast<std::size_t>(processes))), own(all + me) {}
  int* all;
  int* own;
};

TEST(Segment, AttachesItsPartsInTheirOrder) {
  OneProcess bootstrap;
  std::unique_ptr<Segment> segment;
  std::unique_ptr<Numbers> first, last;
  char* byte = nullptr;
  const std::vector<Footprint> parts = {
      footprint_of(first, 100, 3),
      {.bytes = Segment::footprint<char>(1), .attach = [&](Segment& there) { byte = there.carve<char>(1); }},
      footprint_of(last, 1, 0)};
  ASSERT_TRUE(Segment::create(bootstrap, parts, segment));
  ASSERT_TRUE(first != nullptr && byte != nullptr && last != nullptr);
  EXPECT_EQ(*first->own, 0);
  *first->own = 7;
  EXPECT_EQ(first->all[3], 7);
  EXPECT_EQ(byte, reinterpret_cast<char*>(first->all) + Numbers::footprint(100));
  EXPECT_EQ(reinterpret_cast<char*>(last->all), byte + 64);
}

TEST(Segment, HasItsSpareBytesBehindAllParts) {
  constexpr std::size_t kSpare = 1 << 20;
  OneProcess bootstrap;
  std::unique_ptr<Segment> segment;
  std::unique_ptr<Numbers> first, last;
  std::vector<Footprint> parts = {footprint_of(first, 1, 0), footprint_of(last, 1000, 999)};
  parts.front().spare = kSpare;
  ASSERT_TRUE(Segment::create(bootstrap, parts, segment));
  EXPECT_GE(segment->spare(), reinterpret_cast<char*>(last->own + 1));
  segment->spare()[kSpare - 1] = 1;
}

TEST(Segment, AttachesNothingIfItCannotBeMade) {
  OneProcess bootstrap;
  std::unique_ptr<Segment> segment;
  bool attached = false;
  const std::vector<Footprint> parts = {{.bytes = std::size_t{1} << 60, .attach = [&](Segment&) { attached = true; }}};
  const base::Status status = Segment::create(bootstrap, parts, segment);
  EXPECT_FALSE(status);
  EXPECT_NE(status.sentence().find("shared memory could not be created"), std::string::npos) << status.sentence();
  EXPECT_FALSE(attached);
  EXPECT_EQ(segment, nullptr);
}

}  // namespace
}  // namespace steelyard::node
