// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>

#include "collectives/call.h"
#include "collectives/engine.h"
#include "intercept/mpi/collective.h"

// Between the wrapper of a collective and the engine that delivers it (collectives/engine.h).
namespace steelyard::intercept {

/// A call that is not measured. The other ranks must not wait for this one.
class AnnouncedCall final : public collectives::Call {
 public:
  explicit AnnouncedCall(const Communicator& communicator)
      : collectives::Call(communicator.engine->library()), communicator_(communicator) {}
  void arrive(int, bool) override {
    if (communicator_.on_node != nullptr) announce(communicator_);
  }

 private:
  const Communicator& communicator_;
};

/// A measured call, whose waits lend this rank's cores.
class MeasuredCall final : public collectives::Call {
 public:
  MeasuredCall(const Communicator& communicator, session::BlockingCall& call)
      : collectives::Call(communicator.engine->library()), communicator_(communicator), call_(call) {}
  std::int64_t began() const override { return call_.began(); }
  std::int64_t ended() override { return call_.ended(); }
  void arrive(int root, bool waits) override {
    const auto dependence = waits ? session::Dependence::root : session::Dependence::none;
    if (communicator_.on_node != nullptr) call_.arrive(communicator_.on_node, dependence, root);
  }

 private:
  bool pause() override { return call_.pause(); }

  const Communicator& communicator_;
  session::BlockingCall& call_;
};

/// The error code of an outcome, of which the communicator's error handler has been told. Nothing if the MPI library is
/// to be called.
std::optional<int> code_of(collectives::Outcome outcome, MPI_Comm comm);

/// The wrapper of a collective (a Broadcast, a Scatter) for which takes_over() was true. `native()` calls the library,
/// `answer(code)` makes the wrapper's result if the library is not called.
template <typename Arguments, typename Native, typename Answer>
auto deliver(Site site, const Arguments& arguments, Communicator& communicator, Native native, Answer answer) {
  const auto delivered = [&](collectives::Call& call) {
    const collectives::LibraryTimer timer(communicator, call);
    const std::optional<int> code = code_of(run(arguments, communicator, call), arguments.comm);
    return code ? answer(*code) : native();
  };
  if (const PassedOn passed_on{}) {
    AnnouncedCall call(communicator);
    return delivered(call);
  }
  Call measured(site);
  if (communicator.spans_world) measured.is_step_mark();
  MeasuredCall call(communicator, measured);
  return delivered(call);
}

}  // namespace steelyard::intercept
