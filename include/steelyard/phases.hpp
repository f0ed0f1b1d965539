#pragma once
#include <cstddef>
#include <string>
#include <utility>

#include "steelyard/phases.h"
#include "steelyard/steelyard.hpp"

// The phases of steelyard/phases.h for C++17, header only; that header documents each call. Handles free themselves, and
// what was entered or pushed is left or popped at the end of its scope. Nothing here throws: ask a handle whether it is
// there, and message() why not.
//
//     steelyard::Node node(MPI_COMM_WORLD);
//     steelyard::Phase wide(node, STEELYARD_NUMA, 1);
//     if (steelyard::InPhase in(wide); in.chosen()) threaded_library();     // all leave at the end of the if
namespace steelyard {

/// The processes of this node that share a communicator.
class Node {
 public:
#ifndef STEELYARD_WITHOUT_MPI
  /// Collective over an intra-communicator.
  explicit Node(MPI_Comm communicator) noexcept { steelyard_node_create(communicator, &node_); }
#endif
  ~Node() { steelyard_node_free(node_); }
  Node(Node&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Node& operator=(Node&& other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }

  explicit operator bool() const noexcept { return node_ != nullptr; }
  steelyard_node_t* handle() const noexcept { return node_; }
  int size() const noexcept { return steelyard_node_size(node_); }
  int rank() const noexcept { return steelyard_node_rank(node_); }
  /// How many there are; 0 where the machine knows no such thing.
  int count(steelyard_resource_t resource) const noexcept {
    int number = 0;
    steelyard_node_count(node_, resource, &number);
    return number;
  }
  bool distribute(steelyard_resource_t resource, int most) const noexcept {
    int chosen = 0;
    steelyard_node_distribute(node_, resource, most, &chosen);
    return chosen != 0;
  }
  /// Collective over the node.
  Status barrier() noexcept { return static_cast<Status>(steelyard_node_barrier(node_)); }
  Status quiesce() noexcept { return static_cast<Status>(steelyard_node_quiesce(node_)); }

 private:
  steelyard_node_t* node_ = nullptr;
};

/// A binding in force until the end of its scope.
class Binding {
 public:
  /// The smallest resource of that kind that holds what this thread is bound to.
  Binding(Node& node, steelyard_resource_t resource, int threads = STEELYARD_ONE_A_CORE) noexcept
      : node_(node.handle()), pushed_(steelyard_push_enclosing(node_, resource, threads) == STEELYARD_SUCCESS) {}
  Binding(Node& node, const steelyard_cpus_t& cpus, int threads = STEELYARD_ONE_A_CORE) noexcept
      : node_(node.handle()), pushed_(steelyard_push_cpus(node_, &cpus, threads) == STEELYARD_SUCCESS) {}
  ~Binding() {
    if (pushed_) steelyard_pop(node_);
  }
  Binding(const Binding&) = delete;
  Binding& operator=(const Binding&) = delete;
  explicit operator bool() const noexcept { return pushed_; }

 private:
  steelyard_node_t* node_;
  bool pushed_;
};

/// Elements in shared memory; see steelyard_view_t.
template <class T>
struct Part {
  T* data = nullptr;
  std::size_t size = 0;
  T* begin() const noexcept { return data; }
  T* end() const noexcept { return data + size; }
  T& operator[](std::size_t i) const noexcept { return data[i]; }
};

/// A part of the program in which some processes work with more threads and the others sleep.
class Phase {
 public:
  /// At most `most` processes for each resource of that kind.
  Phase(Node& node, steelyard_resource_t resource, int most) noexcept {
    steelyard_phase_create(node.handle(), resource, most, &phase_);
  }
  /// Finds the best number of processes and threads by itself.
  explicit Phase(Node& node, steelyard_bounds_t bounds = STEELYARD_BOUNDS_DEFAULT) noexcept {
    steelyard_phase_create_graded(node.handle(), &bounds, &phase_);
  }
  ~Phase() { steelyard_phase_free(phase_); }
  Phase(Phase&& other) noexcept : phase_(std::exchange(other.phase_, nullptr)) {}
  Phase& operator=(Phase&& other) noexcept {
    std::swap(phase_, other.phase_);
    return *this;
  }

  explicit operator bool() const noexcept { return phase_ != nullptr; }
  steelyard_phase_t* handle() const noexcept { return phase_; }
  steelyard_grade_t grade() const noexcept {
    steelyard_grade_t grade;
    steelyard_phase_grade(phase_, &grade);
    return grade;
  }
  /// Collective, before the phase is entered: the elements of all its processes, at the one that works for them.
  template <class T>
  Part<T> gather(const T* mine, std::size_t count) noexcept {
    steelyard_phase_gather(phase_, mine, count * sizeof(T), &all_);
    std::size_t bytes = 0;
    for (int part = 0; part < all_.parts; ++part) bytes += all_.bytes[part];
    return {static_cast<T*>(all_.data), bytes / sizeof(T)};
  }
  /// Collective, after it was left: what was gathered goes back, as it is now.
  template <class T>
  Part<T> scatter_back() noexcept {
    steelyard_view_t mine;
    if (steelyard_phase_scatter(phase_, all_.data, all_.bytes, &mine) != STEELYARD_SUCCESS) return {};
    return {static_cast<T*>(mine.data), mine.bytes[0] / sizeof(T)};
  }

 private:
  steelyard_phase_t* phase_ = nullptr;
  steelyard_view_t all_ = {};
};

/// In a phase until the end of its scope. Collective at both ends, for the chosen and for the others.
class InPhase {
 public:
  explicit InPhase(Phase& phase) noexcept : phase_(phase.handle()) {
    entered_ = steelyard_phase_enter(phase_, &chosen_) == STEELYARD_SUCCESS;
  }
  ~InPhase() {
    if (entered_) steelyard_phase_leave(phase_);
  }
  InPhase(const InPhase&) = delete;
  InPhase& operator=(const InPhase&) = delete;
  bool chosen() const noexcept { return chosen_ != 0; }
  explicit operator bool() const noexcept { return entered_; }

 private:
  steelyard_phase_t* phase_;
  int chosen_ = 0;
  bool entered_ = false;
};

}  // namespace steelyard
