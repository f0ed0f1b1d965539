// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "decide/settings.h"

namespace steelyard::observe {

/// Share of the run, or of the time in regions: less is below what Steelyard may cost, and no line is about it.
inline constexpr double kWorthTelling = decide::Settings{}.exploration;

/// What the summary and the page leave out as too small to matter. In the record, so that every reader of a record says
/// the same. Chosen by hand, all but the run delays.
struct Thresholds {
  double mpi_share = 0.05;            ///< of a rank's time: its time in MPI, from which it is named
  double known_wait_share = 0.25;     ///< of the time in MPI: waits with a known cause, from which causes are named
  double critical_wait_share = 0.75;  ///< of the known waits: so much do the named critical ranks explain
  int critical_ranks = 4;             ///< named, at most
  double judged_wall = 1;             ///< s: runs that are shorter get no warning of run delays
  /// Of a rank's time: run delay of a thread, above which a warning is given. examples/unbalanced.c, 2 ranks on 2 cores
  /// of a virtual machine, with ranks that yield while they wait: 2 to 4 % alone, 32 to 45 % beside a busy loop on a
  /// core. 10 % more time is as much as the smallest gain that README.md names.
  double run_delay = 0.1;
  /// The same with lending, where the owner of a core delays its borrower: 4 to 11 % alone, 51 to 60 % beside the loop.
  double run_delay_lending = 0.25;
  double borrowed_cores = 0.05;     ///< mean number over the run: above it, the run is one with lending
  double printed_core_time = 5e-3;  ///< core s: less would be printed as 0.00
  double stolen_share = 0.0005;     ///< of a loop's iterations: more moved between threads
  double late_share = 0.25;         ///< of a rank's broadcasts: late to at least so many
  double late_ratio = 2;            ///< a rank that is so many times as late as another delays it in a tree
  int described_trees = 4;          ///< described, at most
};

}  // namespace steelyard::observe
