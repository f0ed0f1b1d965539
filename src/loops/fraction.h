// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include "loops/plan.h"

// The static fraction f_s = 1 - f_d: what uSched and slackSched compute.
namespace steelyard::loops {

// The model. N iterations of t ns, p threads, q ns more for each iteration that is dynamic: for the loss of locality,
// and its part of the cost of taking a chunk. Thread i is held up for d_i ns (noise); d_max and d_avg are the largest
// and the mean. Each thread has its static part, (1 - f_d) N t / p, and then takes dynamic work, f_d N (t + q) in all,
// until there is none left.
//
// Until the slowest thread ends its static part, at (1 - f_d) N t / p + d_max, the others have
//     sum over i of (d_max - d_i) = p (d_max - d_avg)
// ns to fill. With less dynamic work than that, the slowest thread alone decides:
//     T = (1 - f_d) N t / p + d_max,                falls with f_d at N t / p;
// with more, all end together:
//     T = (N t + f_d N q) / p + d_avg,              rises with f_d at N q / p.
// So T is least where both meet:
//     f_d = p (d_max - d_avg) / (N (t + q)).
// With one thread held up by d this is (p - 1) d / (N (t + q)). The talk's p d / (N (t + q)), with d the spread, is a
// bound above it. Its f_s <= 1 - (d_max - d_avg) / T_p is the same with q = 0 and T_p = N t / p.
//
// Slack. If the process waits S ns in the next collective anyway, T may be larger by S. Left of the optimum T rises by
// N t / p for each unit by which f_d is smaller. So
//     f_d' = max(0, f_d - S p / (N t)).
// The text of the talk has no formula for slack to compare with.

/// The dynamic fraction that makes the loop shortest; in [0, 1]. @param extra_ns q
double dynamic_fraction(double count, int threads, double iteration_ns, double extra_ns, double spread_ns);

/// The same less what `slack_ns` pays for.
double less_slack(double dynamic, double count, int threads, double iteration_ns, double slack_ns);

}  // namespace steelyard::loops
