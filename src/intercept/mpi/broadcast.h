#pragma once
#include <optional>
#include <utility>

#include "intercept/mpi/collective.h"

// MPI_Bcast by Steelyard: over a board inside a node (collectives/board.h), along a tree between nodes (tree.h).
namespace steelyard::intercept {

/// The arguments of the call, as C has them.
struct Broadcast {
  void* buffer;
  int count;
  MPI_Datatype type;
  int root;
  MPI_Comm comm;
};

/// This thread's next MPI_Bcast was called by Steelyard's name, from Fortran.
inline thread_local bool t_next_is_called = false;

/// At each broadcast on the communicator: whether deliver() is for it. The same at all ranks.
bool takes_over(const Broadcast& broadcast, Communicator& communicator);

/// Gives or takes the data. The error code of the call, of which the communicator's error handler has been told; nothing
/// where the MPI library is to be called after all: then at all ranks. `call` is null where it is not weighed.
std::optional<int> deliver(const Broadcast& broadcast, Communicator& communicator, Call* call);

/// Around the library's own, where deliver() has left it to that: notes how long it took, if that is asked for.
class Looked {
 public:
  Looked(Communicator& communicator, Call* call) : communicator_(communicator), call_(call) {}
  ~Looked();
  Looked(const Looked&) = delete;
  Looked& operator=(const Looked&) = delete;

 private:
  Communicator& communicator_;
  Call* call_;
};

/// The whole wrapper. `called`: by its own name, not as MPI_Bcast. `native()` calls the library, `answer(code)` returns what
/// was done without it.
template <typename Native, typename Answer>
auto broadcast(Site site, const Broadcast& b, bool called, Native native, Answer answer) {
  if (!remembering()) return native();
  Communicator* communicator = at_collective(b.comm);
  const bool asked = called || runtime::takes_every_broadcast() || std::exchange(t_next_is_called, false);
  if (communicator == nullptr || !asked || !takes_over(b, *communicator)) {
    if (asked) note_left(b.comm, communicator);
    return collective(site, communicator, root_to_all(b.root, b.count, b.type), native);
  }
  if (!weighs()) {
    const Looked looked(*communicator, nullptr);
    const std::optional<int> code = deliver(b, *communicator, nullptr);
    return code ? answer(*code) : native();
  }
  Call call(site);
  if (communicator->spans_world) call.is_step_mark();
  const Looked looked(*communicator, &call);
  const std::optional<int> code = deliver(b, *communicator, &call);
  return code ? answer(*code) : native();
}

}  // namespace steelyard::intercept
