// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <utility>

#include "steelyard/phases.h"
#include "steelyard/steelyard.hpp"

/// @file
/// The phases of steelyard/phases.h for C++17, header only; that header documents each call. Handles free themselves.
/// What a scope has entered or pushed is left or popped at its end.
///
///     steelyard::Node node(MPI_COMM_WORLD);
///     steelyard::Phase wide(node, STEELYARD_NUMA, 1);
///     if (steelyard::ScopedPhase scope(wide); scope.chosen()) threaded_library();   // all processes leave at the end
///                                                                                   of the if
///
/// Exceptions: the policy of steelyard.hpp. No class of this header is thread-safe. Resources are named by the
/// enumerators of steelyard_resource_t.
namespace steelyard {

/// A context: the processes of this node that share a communicator. See steelyard_node_t.
class Node {
 public:
#ifndef STEELYARD_WITHOUT_MPI
  /// Collective over the communicator. See steelyard_node_create().
  /// @param communicator an intra-communicator; not kept
  /// @throws Error
  explicit Node(MPI_Comm communicator) { detail::check(steelyard_node_create(communicator, &node_)); }
  /// The processes of `communicator` that are bound to the same resource as this one. Collective over it. See
  /// steelyard_node_split().
  /// @return a communicator; the caller frees it
  /// @throws Error
  MPI_Comm split(MPI_Comm communicator, steelyard_resource_t resource) const {
    MPI_Comm part = MPI_COMM_NULL;
    detail::check(steelyard_node_split(node_, communicator, resource, &part));
    return part;
  }
#endif
  ~Node() { steelyard_node_free(node_); }
  Node(Node&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Node& operator=(Node&& other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }

  /// The context for calls of phases.h; owned by this object.
  steelyard_node_t* handle() const noexcept { return node_; }
  /// Processes of this node in the context. Local.
  int size() const noexcept { return steelyard_node_size(node_); }
  /// Number of this process among them. Local.
  int rank() const noexcept { return steelyard_node_rank(node_); }
  /// Resources of a type on this node; 0 if the machine has none of this type. Local. See
  /// steelyard_node_count_resources().
  /// @throws Error if the type is unknown
  int count_resources(steelyard_resource_t resource) const {
    int count = 0;
    detail::check(steelyard_node_count_resources(node_, resource, &count));
    return count;
  }
  /// What is known about the machine. Local. See steelyard_node_get_machine().
  steelyard_machine_info_t machine() const {
    steelyard_machine_info_t info;
    detail::check(steelyard_node_get_machine(node_, &info));
    return info;
  }
  /// What is known about a process of the node. Local. See steelyard_node_get_process().
  /// @throws Error if there is no such process
  steelyard_process_info_t process(int process) const {
    steelyard_process_info_t info;
    detail::check(steelyard_node_get_process(node_, process, &info));
    return info;
  }
  /// True if this process is one of at most `max_processes` that are chosen for each resource. Local. See
  /// steelyard_node_distribute().
  /// @throws Error if the type is unknown, or if `max_processes` is below 1
  bool distribute(steelyard_resource_t resource, int max_processes) const {
    int chosen = 0;
    detail::check(steelyard_node_distribute(node_, resource, max_processes, &chosen));
    return chosen != 0;
  }
  /// Waits for all processes of the node. Collective over the node; blocks. See steelyard_node_barrier().
  /// @throws Error
  void barrier() { detail::check(steelyard_node_barrier(node_)); }
  /// barrier() for processes that have nothing to do: sleeps at once. Collective over the node; blocks. See
  /// steelyard_node_quiesce().
  /// @throws Error
  void quiesce() { detail::check(steelyard_node_quiesce(node_)); }

 private:
  steelyard_node_t* node_ = nullptr;
};

/// A binding in force until the end of its scope. Local.
class ScopedBinding {
 public:
  /// Binds to the smallest resource of the type that contains the CPUs of this thread. See
  /// steelyard_binding_push_enclosing().
  /// @param node     the context; outlives this object
  /// @param resource type of the resource
  /// @param threads  threads of the next parallel regions
  /// @throws Error
  ScopedBinding(Node& node, steelyard_resource_t resource, int threads = STEELYARD_THREADS_ONE_PER_CORE)
      : node_(node.handle()) {
    detail::check(steelyard_binding_push_enclosing(node_, resource, threads));
  }
  /// Binds to a set of CPUs. See steelyard_binding_push_cpuset().
  /// @param node    the context; outlives this object
  /// @param cpuset  CPUs to bind to
  /// @param threads threads of the next parallel regions
  /// @throws Error
  ScopedBinding(Node& node, const steelyard_cpuset_t& cpuset, int threads = STEELYARD_THREADS_ONE_PER_CORE)
      : node_(node.handle()) {
    detail::check(steelyard_binding_push_cpuset(node_, &cpuset, threads));
  }
  ~ScopedBinding() {
    if (node_ != nullptr) steelyard_binding_pop(node_);
  }
  ScopedBinding(const ScopedBinding&) = delete;
  ScopedBinding& operator=(const ScopedBinding&) = delete;
  /// Ends the binding before the end of the scope. See steelyard_binding_pop().
  /// @throws Error; the binding stays in force then
  void pop() {
    detail::check(steelyard_binding_pop(node_));
    node_ = nullptr;
  }

 private:
  steelyard_node_t* node_;
};

/// Elements in the node's shared memory, owned by the phase. See steelyard_view_t.
template <class T>
class Span {
 public:
  Span() = default;
  Span(T* data, std::size_t size) : data_(data), size_(size) {}
  T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T* begin() const noexcept { return data_; }
  T* end() const noexcept { return data_ + size_; }
  T& operator[](std::size_t i) const noexcept { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A part of the program in which some processes of the node work with more threads while the others sleep. See
/// steelyard_phase_t.
class Phase {
 public:
  /// At most `max_processes` processes work for each resource of the type. Local. See steelyard_phase_create().
  /// @param node          the context; may be destroyed before the phase
  /// @param resource      type of the resources
  /// @param max_processes processes for each resource, at most; from 1
  /// @throws Error
  Phase(Node& node, steelyard_resource_t resource, int max_processes) {
    detail::check(steelyard_phase_create(node.handle(), resource, max_processes, &phase_));
  }
  /// Autotuned: finds the fastest number of processes and threads. Local. See steelyard_phase_create_autotuned().
  /// @param node   the context; may be destroyed before the phase
  /// @param bounds limits of what it tries
  /// @throws Error
  explicit Phase(Node& node, steelyard_phase_bounds_t bounds = STEELYARD_PHASE_BOUNDS_DEFAULT) {
    detail::check(steelyard_phase_create_autotuned(node.handle(), &bounds, &phase_));
  }
  ~Phase() { steelyard_phase_free(phase_); }
  Phase(Phase&& other) noexcept : phase_(std::exchange(other.phase_, nullptr)), all_(other.all_) {}
  Phase& operator=(Phase&& other) noexcept {
    std::swap(phase_, other.phase_);
    std::swap(all_, other.all_);
    return *this;
  }

  /// The phase for calls of phases.h; owned by this object.
  steelyard_phase_t* handle() const noexcept { return phase_; }
  /// How the phase runs next. Local. See steelyard_phase_get_configuration().
  steelyard_phase_configuration_t configuration() const {
    steelyard_phase_configuration_t configuration;
    detail::check(steelyard_phase_get_configuration(phase_, &configuration));
    return configuration;
  }
  /// Brings the elements of each process to its leader. Collective over the node, before the phase is entered; blocks.
  /// See steelyard_phase_gather().
  /// @param data  this process's elements
  /// @param count number of its elements
  /// @return at a leader, the elements of all its processes; elsewhere empty. Valid until the next gather.
  /// @throws Error
  template <class T>
  Span<T> gather(const T* data, std::size_t count) {
    detail::check(steelyard_phase_gather(phase_, data, count * sizeof(T), &all_));
    std::size_t bytes = 0;
    for (int part = 0; part < all_.parts; ++part) bytes += all_.sizes[part];
    return {static_cast<T*>(all_.data), bytes / sizeof(T)};
  }
  /// Brings the gathered elements, as they are now, back to their processes. Collective over the node, after the phase
  /// was left; blocks. See steelyard_phase_scatter().
  /// @return this process's elements. Valid until the next gather.
  /// @throws Error
  template <class T>
  Span<T> scatter_back() {
    steelyard_view_t mine;
    detail::check(steelyard_phase_scatter(phase_, all_.data, all_.sizes, &mine));
    return {static_cast<T*>(mine.data), mine.sizes[0] / sizeof(T)};
  }

 private:
  steelyard_phase_t* phase_ = nullptr;
  steelyard_view_t all_ = {};
};

/// In a phase until the end of its scope. Collective over the node at both ends, for chosen processes and for the
/// others.
class ScopedPhase {
 public:
  /// Enters the phase. A chosen process blocks until all have entered. See steelyard_phase_enter().
  /// @param phase the phase; outlives this object
  /// @throws Error; the phase is not entered then
  explicit ScopedPhase(Phase& phase) : phase_(phase.handle()) {
    detail::check(steelyard_phase_enter(phase_, &chosen_));
  }
  ~ScopedPhase() {
    if (phase_ != nullptr) steelyard_phase_leave(phase_);
  }
  ScopedPhase(const ScopedPhase&) = delete;
  ScopedPhase& operator=(const ScopedPhase&) = delete;
  /// True if this process works in the phase.
  bool chosen() const noexcept { return chosen_ != 0; }
  /// Leaves the phase before the end of the scope. Blocks until the chosen processes have left. See
  /// steelyard_phase_leave().
  /// @throws Error; the phase is left nevertheless
  void leave() { detail::check(steelyard_phase_leave(std::exchange(phase_, nullptr))); }

 private:
  steelyard_phase_t* phase_;
  int chosen_ = 0;
};

}  // namespace steelyard
