#pragma once

namespace steelyard::observe {

/// What became of a rank's broadcasts. What was left to the MPI library from the start is not counted.
struct Broadcasts {
  long calls = 0;
  long shared = 0;    ///< given or taken through shared memory alone
  long tree = 0;      ///< that went along the tree between nodes as well
  long library = 0;   ///< given back to the MPI library
  long late = 0;      ///< to which the rank came more than 50 us after the data were there
  double behind = 0;  ///< s, that it came after the data, summed over those
};

}  // namespace steelyard::observe
