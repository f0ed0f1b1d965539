// SPDX-License-Identifier: BSD-3-Clause
#include "observe/packed.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/options.h"

namespace steelyard::observe {
namespace {

std::vector<Sample> some(int count) {
  std::vector<Sample> samples;
  for (int i = 0; i < count; ++i) {
    const double start = 0.5 + 0.01 * i;
    samples.push_back({start, start + 0.01, 0.04 + 0.001 * (i % 7), 0.002, 0.003, 4 + i % 3, 0.001 * (i % 2), 0});
  }
  return samples;
}

TEST(Packed, ComesBackToSevenDigits) {
  for (const int count : {0, 1, 2, 3, 10'000}) {
    const std::vector<Sample> samples = some(count);
    std::vector<Sample> back;
    const base::Status status = unpack(pack(samples), back);
    ASSERT_TRUE(status) << status.sentence();
    ASSERT_EQ(back.size(), samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      EXPECT_NEAR(back[i].start, samples[i].start, 1e-9) << "rounding does not add up";
      EXPECT_NEAR(back[i].end, samples[i].end, 1e-9);
      EXPECT_FLOAT_EQ(static_cast<float>(back[i].useful), static_cast<float>(samples[i].useful));
      EXPECT_EQ(back[i].omp_wait, static_cast<float>(samples[i].omp_wait));
      EXPECT_EQ(back[i].mpi_wait, static_cast<float>(samples[i].mpi_wait));
      EXPECT_EQ(back[i].lent, static_cast<float>(samples[i].lent));
      EXPECT_EQ(back[i].quiesced, 0);
      EXPECT_EQ(back[i].threads, samples[i].threads);
    }
  }
}

TEST(Packed, IsWhatPythonReads) {
  // base64 of the little-endian floats 0.25 and 2, and of the 16-bit numbers 6 and 300
  const PackedTimeline packed = pack({{0, 0.25, 0.25, 0, 0, 6}, {0.25, 2.25, 2, 0, 0, 300}});
  EXPECT_EQ(packed.length, "AACAPgAAAEA=");
  EXPECT_EQ(packed.useful, "AACAPgAAAEA=");
  EXPECT_EQ(packed.threads, "BgAsAQ==");
  EXPECT_TRUE(packed.lent.empty()) << "nothing was lent";
}

TEST(Packed, TakesAsManyBytesAsTheOptionSays) {
  constexpr long kSamples = 3000;
  const auto bytes = [](const Sample& sample) {
    const PackedTimeline packed = pack(std::vector<Sample>(kSamples, sample));
    std::size_t sum = 0;
    for (const auto* column : {&packed.length, &packed.useful, &packed.omp_wait, &packed.mpi_wait, &packed.lent,
                               &packed.quiesced, &packed.gpu_wait, &packed.threads})
      sum += column->size();
    return sum / kSamples;
  };
  Sample sample{.start = 0, .end = 1, .useful = 1, .threads = 1};
  const auto fewest = bytes(sample);
  sample.lent = sample.quiesced = sample.gpu_wait = 1;
  EXPECT_NE(base::find_option("timeline-samples")
                ->doc.find(fmt::format("takes {} bytes of the rank's memory, and {} to {} bytes of the run record",
                                       sizeof(Sample), fewest, bytes(sample))),
            std::string_view::npos);
}

TEST(Packed, TakesWhatNoFileCanHold) {
  const double infinite = std::numeric_limits<double>::infinity();
  std::vector<Sample> back;
  ASSERT_TRUE(unpack(pack({{-1, 1, infinite, -3, std::nan(""), -5}, {1, 0.5, 1, 1, 1, 1 << 20}}), back));
  EXPECT_EQ(back[0].start, 0);
  EXPECT_EQ(back[0].useful, 0);
  EXPECT_EQ(back[0].omp_wait, 0);
  EXPECT_EQ(back[0].mpi_wait, 0);
  EXPECT_EQ(back[0].threads, 0);
  EXPECT_EQ(back[1].end, back[1].start) << "time does not go back";
  EXPECT_EQ(back[1].threads, 65535);
}

TEST(Packed, GapsGoToTheNextSample) {
  std::vector<Sample> back;
  ASSERT_TRUE(unpack(pack({{1, 2, 1, 0, 0, 1}, {3, 4, 1, 0, 0, 1}}), back));
  EXPECT_EQ(back[0].start, 1);
  EXPECT_EQ(back[1].start, 2);
  EXPECT_EQ(back[1].end, 4);
}

TEST(Packed, SaysWhatIsWrong) {
  const PackedTimeline good = pack(some(5));
  const auto told = [](const PackedTimeline& packed) {
    std::vector<Sample> samples(1);
    const base::Status status = unpack(packed, samples);
    EXPECT_EQ(samples.size(), 1u) << "left as it was";
    return status ? std::string() : status.sentence();
  };
  PackedTimeline bad = good;
  bad.useful.resize(bad.useful.size() - 1);
  EXPECT_EQ(told(bad), "useful: not base64");
  bad = good;
  bad.lent.resize(bad.lent.size() - 4);
  EXPECT_EQ(told(bad), "lent: expected 20 bytes for 5 samples, found 18");
  bad = good;
  bad.threads = "";
  EXPECT_EQ(told(bad), "samples: 5 are not in the columns");
  bad = good;
  bad.start = -1;
  EXPECT_EQ(told(bad), "start: negative or not finite");
}

}  // namespace
}  // namespace steelyard::observe
