// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

namespace steelyard::collectives {

/// A binomial tree over positions 0 (the root) to size - 1, as MPI libraries build it: position p receives from p
/// without its lowest bit, and sends to p + 2^k for all 2^k below that bit, the largest subtree first.
namespace tree {
int parent(int position);                           ///< of 0: -1
std::vector<int> children(int position, int size);  ///< in the order in which they are sent to
int subtree(int position, int size);                ///< positions that get the data through this one, itself included
/// All positions, those first through which most others get the data; among equals those that get it earlier.
std::vector<int> by_importance(int size);
}  // namespace tree

/// The position of each rank in the tree: the virtual rank table of Soga et al. Always a permutation. Independent of
/// the root: for a broadcast, its root and the rank at position 0 exchange positions.
class VirtualRanks {
 public:
  explicit VirtualRanks(int size);
  /// The table that gives position i to ranks[i]. Has no effect and returns false if `ranks` is no permutation.
  bool assign(const std::vector<int>& ranks);

  int size() const { return static_cast<int>(rank_at_.size()); }
  int position(int rank, int root) const;
  int rank(int position, int root) const;
  /// By position, for no root in particular.
  const std::vector<int>& ranks() const { return rank_at_; }

  void exchange(int rank, int other);

 private:
  std::vector<int> rank_at_;
  std::vector<int> position_of_;
};

}  // namespace steelyard::collectives
