// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace steelyard::decide {

/// The two settings of every decision in Steelyard.
struct Settings {
  /// Level of all confidence intervals. An interval of this level contains the true value in at least this share of
  /// all runs, however often it was looked at.
  double confidence = 0.95;
  /// Exploration budget: share of the run time that trials of slower candidates may cost. A gain below this share is
  /// not searched for.
  double exploration = 0.01;
};

}  // namespace steelyard::decide
