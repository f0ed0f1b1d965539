// SPDX-License-Identifier: BSD-3-Clause
#include "partition/query_summary.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>

namespace steelyard::partition {
namespace {

/// Files that are broken in one way or another: none of them may take this program with it.
class SummaryTest : public testing::Test {
 protected:
  SummaryTest() {
    std::ifstream own("/proc/self/exe", std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(own), {});
  }
  ~SummaryTest() override { std::filesystem::remove(path_); }

  std::optional<Summary> of(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    return summarise(path_);
  }

  std::string bytes_;
  const std::string path_ = testing::TempDir() + "summary-" + std::to_string(getpid());
};

TEST_F(SummaryTest, AProgramWithoutQueriesHasNone) {
  const auto summary = of(bytes_);
  ASSERT_TRUE(summary);
  EXPECT_TRUE(summary->queries.empty());
}

TEST_F(SummaryTest, WhatIsNoProgramHasNoSummary) {
  EXPECT_FALSE(of(""));
  EXPECT_FALSE(of("#!/bin/sh\n"));
  EXPECT_FALSE(of(bytes_.substr(0, 100)));
  EXPECT_FALSE(summarise("/no/such/file"));
}

TEST_F(SummaryTest, SurvivesFilesThatAreCutOff) {
  for (std::size_t size = bytes_.size(); size > 64; size /= 2) of(bytes_.substr(0, size - 1));
}

TEST_F(SummaryTest, SurvivesImportsWithoutNames) {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes_.data(), sizeof header);
  std::string wrong = bytes_;
  int symbols = 0;
  for (int n = 0; n < header.e_shnum; ++n) {
    Elf64_Shdr section;
    std::memcpy(&section, bytes_.data() + header.e_shoff + n * sizeof section, sizeof section);
    if (section.sh_type != SHT_DYNSYM) continue;
    for (std::uint64_t at = 0; at < section.sh_size; at += sizeof(Elf64_Sym), ++symbols) {
      const std::uint32_t outside = 0xF0000000;
      std::memcpy(&wrong[section.sh_offset + at + offsetof(Elf64_Sym, st_name)], &outside, sizeof outside);
    }
  }
  EXPECT_GT(symbols, 10);
  EXPECT_TRUE(of(wrong));
}

TEST_F(SummaryTest, SurvivesFilesWithWrongBytes) {
  const auto seed = std::random_device{}();
  std::cout << "seed " << seed << std::endl;  // also if a sanitizer ends this program
  std::mt19937 random(seed);
  for (int round = 0; round < 60; ++round) {
    std::string wrong = bytes_;
    const std::size_t where = round % 2 == 0 ? 1024 : wrong.size();  // the headers, or anywhere
    for (int n = 0; n < 40; ++n) wrong[random() % where] = static_cast<char>(random());
    std::copy_n(bytes_.begin(), 6, wrong.begin());  // still an ELF file
    of(wrong);
  }
}

}  // namespace
}  // namespace steelyard::partition
