// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "base/status.h"

namespace steelyard::observe {

/// A stretch of one rank's time. Neighbouring samples are merged when there are too many (see Timeline).
struct Sample {
  double start = 0;     ///< s since MPI_Init returned at this rank
  double end = 0;       ///< s
  double useful = 0;    ///< thread seconds of computing
  double omp_wait = 0;  ///< thread seconds in barriers, forks and joins, or idle while the primary computes alone
  double mpi_wait = 0;  ///< s of the primary in MPI, or waiting for other ranks elsewhere
  int threads = 0;      ///< threads of the last region in it
  double lent = 0;      ///< core seconds offered to others while it waited
  double quiesced = 0;  ///< s of mpi_wait in which it slept until others ended a phase
  double gpu_wait = 0;  ///< s of the primary waiting for an accelerator; in regions, the mean of the team
};

/// The samples of a rank as they stand in the run record: one column a member, a number a sample, little-endian in
/// base64. 24 bytes a sample, and up to 40 where cores were lent, or processes slept or waited for accelerators: a
/// fifth of what a list takes. A sample begins where the one before it ends.
struct PackedTimeline {
  long samples = 0;
  double start = 0;                                ///< of the first one, s
  std::string length, useful, omp_wait, mpi_wait;  ///< 32-bit floats
  std::string lent, quiesced, gpu_wait;            ///< the same; empty where there was none
  std::string threads;                             ///< 16-bit unsigned integers
  bool operator==(const PackedTimeline&) const = default;
};

/// Samples in order of time. What lies between two of them goes to the second.
PackedTimeline pack(const std::vector<Sample>& samples);
/// Failure: the column at fault and what is wrong with it.
base::Status unpack(const PackedTimeline& packed, std::vector<Sample>& samples);

}  // namespace steelyard::observe
