#pragma once
#include <vector>

namespace steelyard::observe {

/// What became of a rank's broadcasts. A wait is the time in the call since both the rank and the root had come.
struct Broadcasts {
  long calls = 0;
  long shared = 0;    ///< given or taken through shared memory alone
  long tree = 0;      ///< that went along the tree between nodes as well
  long library = 0;   ///< left or given back to the MPI library
  long late = 0;      ///< to which the rank came more than 50 us after the data were there
  double behind = 0;  ///< s, that it came after the data, summed over those
  // Where the two were compared; what one wins over the other is not known elsewhere.
  long shared_looks = 0;    ///< broadcasts through shared memory whose wait was measured
  double shared_wait = 0;   ///< s, mean of these
  double shared_noise = 0;  ///< half width of its noise band
  long library_looks = 0;   ///< the same of the MPI library's own
  double library_wait = 0;
  double library_noise = 0;
};

/// The order of a tree's ranks between nodes, by position, the root first: at its beginning and at its end.
struct Tree {
  std::vector<int> first;
  std::vector<int> last;
};

}  // namespace steelyard::observe
