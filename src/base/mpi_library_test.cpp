// SPDX-License-Identifier: BSD-3-Clause
#include "base/mpi_library.h"

#include <gtest/gtest.h>

namespace steelyard::base {
namespace {

TEST(IsMpiLibrary, GoesByTheName) {
  for (const auto* name : {"libmpi.so.40", "libmpi.so", "libmpich.so.12", "libmpi_cray.so.12", "libmpi_abi.so.1"})
    EXPECT_TRUE(is_mpi_library(name)) << name;
  for (const auto* name : {"libmpi_cxx.so.40", "libmpifort.so.12", "libsteelyard-preload-openmpi.so", ""})
    EXPECT_FALSE(is_mpi_library(name)) << name;
}

}  // namespace
}  // namespace steelyard::base
