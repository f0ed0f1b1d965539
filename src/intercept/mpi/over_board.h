// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>

#include "intercept/mpi/collective.h"
#include "intercept/mpi/layout.h"
#include "intercept/mpi/turns.h"

// What a collective that Steelyard has taken over does at a board (collectives/board.h), whatever goes over it.
namespace steelyard::intercept {

/// One collective on a communicator in which the others take from a root, at this rank.
class OverBoard {
 protected:
  using Next = collectives::Comparison::Next;

  OverBoard(collectives::Operation operation, MPI_Comm handle, int root, Communicator& communicator, Call* call)
      : communicator_(communicator), call_(call), turns_(call), operation_(operation), handle_(handle), root_(root) {}

  bool is_root() const { return communicator_.rank == root_; }
  std::int64_t began() const;

  /// This rank is at the collective, whoever weighs it.
  void arrive(const Flow& flow);
  /// A leader's or root's: those who sleep wake up to data.
  void arrive_with_data() { arrive({session::Dependence::nobody, root_}); }
  /// The error code, of which the communicator's error handler has been told.
  int refused(int code) const;
  /// To the MPI library, which is called next.
  std::optional<int> by_library(bool after_root);
  /// Nothing to give or to take, and so nobody to wait for. What the root tells is put up, or heard at the next
  /// collective.
  void pass_over();
  /// The same at a call that ends with that: its code, of which the error handler is told where it is an error.
  int without_data(int code);

  /// The root, which came at `came` to give `bytes` bytes: claims the collective, and waits for the memory. Nothing
  /// where somebody else has claimed it: refused(MPI_ERR_ROOT) is next.
  struct Begun {
    Next next;
    int which = 0;
    char* row = nullptr;  ///< null: the library is to have it
  };
  std::optional<Begun> begin(std::size_t bytes, std::int64_t came);
  /// Puts up all that `layout` says of `buffer`, in pieces, so that giving and taking overlap and stay in a core's own
  /// cache. False where it cannot be had: nothing is up.
  bool give_all(const Begun& begun, const Layout& layout, const void* buffer, std::int64_t came);
  /// Instead of that: all are to call the library.
  std::optional<int> leave(const Begun& begun, std::size_t bytes, std::int64_t came);

  /// Who waits for `from` (a rank of the communicator): what that one has put up. nullptr where nobody ever will, or
  /// another has, or nothing: refused(MPI_ERR_ROOT) is next.
  const collectives::Notice* hear(int from);
  /// Then, where the notice says so: to the library.
  void look_at_library(std::int64_t since, bool counted, int which);
  /// For the record, once it has been left to the library, which had so many bytes; `most`: that we could take.
  void note_why_library(std::size_t bytes, std::size_t most) const;
  /// Through shared memory or along a tree, in the time since `since`: `code`.
  int measured(std::int64_t since, bool counted, int which, int code);
  bool is_compared() const { return communicator_.compares || communicator_.tree != nullptr; }

  Communicator& communicator_;
  Call* call_;
  Turns turns_;

 private:
  collectives::Operation operation_;
  MPI_Comm handle_;
  int root_;
};

/// Around the library's own, where a collective has been left to that: notes how long it took, if that is asked for.
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

/// The wrapper of a collective (a Broadcast, a Scatter) for which takes_over() was true. `native()` calls the library,
/// `answer(code)` returns what was done without it.
template <typename Arguments, typename Native, typename Answer>
auto over_board(Site site, const Arguments& arguments, Communicator& communicator, Native native, Answer answer) {
  if (!weighs()) {
    const Looked looked(communicator, nullptr);
    const std::optional<int> code = deliver(arguments, communicator, nullptr);
    return code ? answer(*code) : native();
  }
  Call call(site);
  if (communicator.spans_world) call.is_step_mark();
  const Looked looked(communicator, &call);
  const std::optional<int> code = deliver(arguments, communicator, &call);
  return code ? answer(*code) : native();
}

/// At each collective on the communicator that may be taken over, at all ranks alike: false where it is one of those
/// that a root has left to the library.
bool is_asked_about(Communicator& communicator);

}  // namespace steelyard::intercept
