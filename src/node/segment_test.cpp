// SPDX-License-Identifier: BSD-3-Clause
#include "node/segment.h"

#include <gtest/gtest.h>

#include <string>

namespace steelyard::node {
namespace {

/// One process, alone on its node.
class OneProcess final : public Bootstrap {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int node_rank() const override { return 0; }
  int node_size() const override { return 1; }
  int node_index() const override { return 0; }
  int node_count() const override { return 1; }
  std::string library() const override { return {}; }
  void broadcast_in_node(void*, std::size_t) override {}
  void barrier_in_node() override {}
  std::vector<std::string> gather(const std::string& bytes) override { return {bytes}; }
  std::uint32_t common_bits(std::uint32_t mine) override { return mine; }
  void progress() override {}
};

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
