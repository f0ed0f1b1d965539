#pragma once
#include <cstddef>

namespace steelyard::phases {

/// What is asked of MPI, once, when a context is made: the processes of one node. Calls of the user's own MPI, so that nothing
/// here depends on which MPI it is.
class Meeting {
 public:
  virtual ~Meeting() = default;
  virtual int rank() const = 0;  ///< among the processes of this node
  virtual int size() const = 0;
  virtual int rank_in_communicator() const = 0;
  /// In MPI_COMM_WORLD, for messages.
  virtual int rank_in_world() const { return rank_in_communicator(); }
  /// Collective: the bytes of rank 0, at everybody.
  virtual void broadcast(void* bytes, std::size_t size) = 0;
  /// Collective: true where it is true at all.
  virtual bool all_agree(bool mine) = 0;
};

}  // namespace steelyard::phases
