// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>
#include <vector>

#include "collectives/size_classes.h"
#include "observe/broadcasts.h"

namespace steelyard::collectives {

/// For the run record: what became of this process's broadcasts and scatters. From the thread that calls them, unless a
/// function says otherwise.
class Account {
 public:
  /// While it is not open, no reasons are noted: Steelyard delivers nothing.
  void open(bool open) { open_ = open; }

  /// The program calls steelyard_bcast().
  void called() { any_called_ = true; }
  bool any_called() const { return any_called_; }
  /// @param late ns from the arrival of the root to that of this rank; negative if this rank came first
  void delivered(Operation operation, bool by_library, bool by_tree, std::int64_t late);
  /// Why the MPI library handles a collective that Steelyard was to deliver.
  /// @param noted delivered() has been told of it
  void left(Operation operation, long observe::Broadcasts::* why, bool noted);
  /// The same if several threads may call MPI. Any thread.
  void left_to_threads(Operation operation);
  /// @param ns in the call since both this rank and the root had come
  void waited(Operation operation, bool by_library, std::int64_t ns);
  /// A tree has ended.
  void tree(observe::Tree tree);

  /// @param confidence level of the intervals of waits
  observe::Broadcasts of(Operation operation, double confidence) const;
  const std::vector<observe::Tree>& trees() const { return trees_; }

 private:
  /// As few sums as a mean and its confidence interval need.
  struct Sums {
    long count = 0;
    double sum = 0;  ///< s
    double squares = 0;
  };
  struct Noted {
    observe::Broadcasts counts;
    std::atomic<long> left_to_threads = 0;
    Sums shared, library;
  };
  Noted& noted(Operation operation) { return noted_[static_cast<std::size_t>(operation)]; }

  bool open_ = false;
  bool any_called_ = false;
  Noted noted_[kOperations];
  std::vector<observe::Tree> trees_;
};

}  // namespace steelyard::collectives
