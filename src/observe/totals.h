// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <iterator>
#include <type_traits>

namespace steelyard::observe {

/// What one process has done since MPI_Init, cumulative, in nanoseconds. "Thread time" is the sum over threads.
/// The identity that every reader may rely on (outside of lending):
///   capacity = region_useful + omp_imbalance + omp_scheduling + serial + omp_serialisation + mpi_capacity +
///              gpu_capacity
struct Totals {
  std::int64_t wall = 0;               ///< wall time since MPI_Init returned
  std::int64_t serial = 0;             ///< wall time of the primary thread computing outside regions
  std::int64_t mpi = 0;                ///< wall time of the primary thread in blocking MPI calls, or waiting elsewhere;
                                       ///< in regions, the time for which such calls kept all threads from computing
  std::int64_t region_wall = 0;        ///< wall time inside outermost regions, without their parts of `mpi` and `gpu`
  std::int64_t region_useful = 0;      ///< thread time of computing inside regions
  std::int64_t omp_imbalance = 0;      ///< thread time of waiting at barriers inside regions
  std::int64_t omp_scheduling = 0;     ///< thread time of forking, waking and joining
  std::int64_t omp_serialisation = 0;  ///< thread time of owned cores without a thread: the primary alone, small teams
  std::int64_t mpi_capacity = 0;       ///< thread time of all threads while the primary is in MPI; in regions, of
                                       ///< threads in MPI, and of those that wait while no thread computes
  std::int64_t capacity = 0;           ///< thread time that the process could have used
  std::int64_t lent = 0;               ///< core time lent to others: offered in waits or by calls, or used by them
  std::int64_t lent_by_call = 0;       ///< of lent: by steelyard_cores_lend()
  std::int64_t borrowed = 0;           ///< core time used of cores that others own and have lent
  std::int64_t came_late = 0;          ///< of borrowed: on cores that came while the region ran already
  std::int64_t borrowing_wall = 0;     ///< of region_wall: executions with more threads than owned cores, of regions
                                       ///< whose length without is known
  std::int64_t borrowing_own = 0;      ///< what these executions would have taken without, by their regions' mean
  std::int64_t quiesced = 0;           ///< of mpi: asleep until others have ended a phase
  std::int64_t regions = 0;            ///< outermost parallel regions, of all threads
  std::int64_t virtual_regions = 0;    ///< of regions: with more virtual threads than threads
  std::int64_t mpi_calls = 0;          ///< blocking MPI calls of the primary thread
  std::int64_t gpu = 0;                ///< wall time of waiting for an accelerator; in regions, the mean of the team
  std::int64_t gpu_capacity = 0;       ///< thread time of the same: of all owned cores outside regions
  std::int64_t gpu_waits = 0;          ///< calls that waited for an accelerator
  std::int64_t omp_tasks = 0;          ///< explicit OpenMP tasks executed in regions
  std::int64_t mpi_overlapped = 0;     ///< of mpi: while other threads of the process ran regions
  std::int64_t beyond_owned = 0;       ///< of capacity: threads of nested regions, and of those of other threads, for
                                       ///< which the process owned no core that was idle otherwise

  /// Wall time not only in MPI: what the others may be waiting for.
  std::int64_t busy() const { return serial + region_wall + gpu + mpi_overlapped; }
  /// Thread time of useful work, in regions and outside.
  std::int64_t useful() const { return region_useful + serial; }
  /// Thread time spent outside of MPI: useful work, and what OpenMP and waits for accelerators took from it.
  std::int64_t outside_mpi() const {
    return useful() + omp_imbalance + omp_scheduling + omp_serialisation + gpu_capacity;
  }
};
static_assert(std::is_trivially_copyable_v<Totals>, "lives in the node's shared segment");

/// Every member under the name that it has in the run record, in the order of the declaration.
struct TotalsField {
  const char* name;
  std::int64_t Totals::* value;
  bool later = false;  ///< older records lack it
};
inline constexpr TotalsField kTotalsFields[] = {
    {"wall", &Totals::wall},
    {"serial", &Totals::serial},
    {"mpi", &Totals::mpi},
    {"region_wall", &Totals::region_wall},
    {"region_useful", &Totals::region_useful},
    {"omp_imbalance", &Totals::omp_imbalance},
    {"omp_scheduling", &Totals::omp_scheduling},
    {"omp_serialisation", &Totals::omp_serialisation},
    {"mpi_capacity", &Totals::mpi_capacity},
    {"capacity", &Totals::capacity},
    {"lent", &Totals::lent},
    {"lent_by_call", &Totals::lent_by_call, true},
    {"borrowed", &Totals::borrowed},
    {"came_late", &Totals::came_late, true},
    {"borrowing_wall", &Totals::borrowing_wall, true},
    {"borrowing_own", &Totals::borrowing_own, true},
    {"quiesced", &Totals::quiesced, true},
    {"regions", &Totals::regions},
    {"virtual_regions", &Totals::virtual_regions, true},
    {"mpi_calls", &Totals::mpi_calls},
    {"gpu", &Totals::gpu, true},
    {"gpu_capacity", &Totals::gpu_capacity, true},
    {"gpu_waits", &Totals::gpu_waits, true},
    {"omp_tasks", &Totals::omp_tasks, true},
    {"mpi_overlapped", &Totals::mpi_overlapped, true},
    {"beyond_owned", &Totals::beyond_owned, true},
};
static_assert(sizeof(Totals) == sizeof(std::int64_t) * std::size(kTotalsFields), "a member is missing in the table");

/// Component-wise difference: what happened between two readings.
Totals operator-(const Totals& later, const Totals& earlier);
Totals& operator+=(Totals& sum, const Totals& part);

}  // namespace steelyard::observe
