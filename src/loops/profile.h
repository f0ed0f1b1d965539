// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

namespace steelyard::loops {

/// What the iterations of a loop cost, by their place in it: piecewise constant. Places are fractions of the loop, so
/// that it holds for any count, and for all loops over the same data.
struct Profile {
  std::vector<double> place;  ///< boundaries of the pieces, from 0 to 1; empty: nothing is known
  std::vector<double> cost;   ///< ns in each piece
  bool known() const { return !cost.empty(); }
  double total() const;
  /// ns from the start of the loop to this place.
  double until(double fraction) const;
};

/// The sum of two. Unknown ones count as nothing.
Profile add(const Profile& a, const Profile& b);

/// Boundaries, as fractions, of `parts` parts of equal cost; even ones where nothing is known.
std::vector<double> equal_parts(const Profile& profile, int parts);
std::vector<double> even_parts(int parts);

/// What the dearest of these parts costs more than the mean, as a fraction of the mean; 0 where nothing is known.
double imbalance(const Profile& profile, const std::vector<double>& parts);

}  // namespace steelyard::loops
