// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "phases/binding_stack.h"
#include "phases/distribution.h"
#include "phases/exchange.h"
#include "phases/rendezvous.h"
#include "phases/shared_file.h"
#include "phases/transport.h"

namespace steelyard::phases {

/// What all processes may know of a process of the node.
struct ProcessInfo {
  int rank = 0;  ///< in the communicator that the context was made from
  int pid = 0;
  CpuSet home;         ///< when the context was made
  CpuSet now;          ///< by the kernel; on an emulated node, the last pushed binding
  bool bound = false;  ///< home leaves out a CPU of the machine
};

/// The processes of one node that share a communicator: their CPUs, their rendezvous and their exchange of data. Any
/// number of contexts may exist, over the same or other communicators. Each is freed on its own, at any time, without
/// MPI.
class Context {
 public:
  /// Collective over the processes of the transport; a small broadcast and a reduction inside the node.
  /// @param decision of autotuned phases: all processes take those of the first one
  static base::Status create(Transport& transport, Rendezvous::Lost lost, const decide::Settings& decision,
                             std::shared_ptr<Context>& context);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int me() const { return me_; }
  int size() const { return static_cast<int>(members_.size()); }
  const Machine& machine() const { return machine_; }
  bool emulated() const { return emulated_; }
  const decide::Settings& decision() const { return shared_->decision; }
  /// All CPUs of the processes of this context. No binding goes beyond them.
  const CpuSet& job() const { return job_; }
  ProcessInfo process(int member) const;
  /// Processes whose home lies within the resource.
  std::vector<int> processes_in(Resource resource, int index) const;
  /// The resource, or the closest above it that this machine has. A replacement is logged once.
  Resource settle(Resource resource) const;

  /// From the affinity masks at creation. Pushes do not change the result, so it needs no message.
  Distribution distribute(Resource resource, int max_processes) const;
  base::Status push(const CpuSet& set, int threads);
  base::Status push(Resource resource, int index, int threads);
  /// Pushes the smallest resource of that kind that contains all CPUs of this thread's binding. If there is none,
  /// pushes one of the next kind above.
  base::Status push_enclosing(Resource resource, int threads);
  /// In a phase, fails for a binding that was pushed before the phase, or by it.
  base::Status pop();
  /// The index of the resource that contains this thread's binding, or most CPUs of it.
  int closest(Resource resource) const;
  CpuSet now() const;

  /// For all contexts of this process: it calls MPI_Finalize, and no collective call follows.
  static void finalize_all();

  /// Blocks until all processes have called it.
  base::Status barrier(Rendezvous::Wait wait);
  Rendezvous& rendezvous() { return *rendezvous_; }
  Shared& shared() { return *shared_; }
  Exchange& exchange() { return *exchange_; }

  bool in_phase = false;  ///< one phase of a context at a time
  int phase_depth = 0;    ///< pushes that a pop in the phase must leave
  /// An error if a phase is entered. `call` begins its sentence.
  base::Status outside(const char* call) const;

 private:
  Context(Machine machine, std::unique_ptr<SharedFile> file, int me, int size);

  Machine machine_;
  std::unique_ptr<SharedFile> file_;
  Shared* shared_;
  bool emulated_;
  std::span<Member> members_;
  int me_;
  CpuSet job_;
  std::unique_ptr<Rendezvous> rendezvous_;
  std::unique_ptr<Exchange> exchange_;
};

}  // namespace steelyard::phases
