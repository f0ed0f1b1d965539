// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <list>
#include <map>
#include <vector>

#include "tasks/routes.h"
#include "tasks/wire.h"

namespace steelyard::tasks {

/// Sends results to the owners of their tasks. Each process gathers those with the same next process, and sends them in
/// one parcel.
///
/// Buffers are bounded, and cannot deadlock. The class of a parcel is the number of transfers that are left to it.
/// Between two processes, a parcel waits for parcels of its own class only. It is acknowledged when all of its results
/// have been put into buffers of the next lower class; those of class 0 are for their receiver, which always takes
/// them. So parcels of each class make progress, from the lowest class up.
class Router {
 public:
  /// Encoding: the class of results from other threads of this process. It is above all numbers of transfers, so these
  /// results may wait for all others.
  static constexpr int kSource = 1 << 20;
  /// Results on their way, and where they came from.
  struct Parcel {
    int from = -1;            ///< rank that waits for the acknowledgement; -1: none does
    std::uint64_t block = 0;  ///< the block of shared memory that contains them; 0: they are in `bytes`
    int further = 0;          ///< transfers that are left: its class
    const char* records = nullptr;
    std::size_t size = 0;
    std::vector<char> bytes;
    std::size_t done = 0;  ///< bytes of `records` that were handed on
  };
  class Carrier {
   public:
    virtual ~Carrier() = default;
    /// The next process on the way to an owner.
    virtual Routes::Way way(int owner) = 0;
    /// Sends records to the next process. Cannot fail.
    virtual void carry(int rank, int further, std::vector<char>& records) = 0;
    /// Delivers a result that this process owns. False if it cannot at present.
    virtual bool deliver(const Record& record, const char* bytes) = 0;
    /// Tells the sender of a parcel that it was handed on.
    virtual void acknowledge(const Parcel& parcel) = 0;
  };
  /// @param capacity bytes that are gathered for one parcel
  /// @param outstanding parcels of one class that may be under way to one process
  Router(int rank, Carrier& carrier, std::size_t capacity, int outstanding)
      : rank_(rank), carrier_(carrier), capacity_(capacity), outstanding_(outstanding) {}

  /// A result of this process. If buffers are full it is kept, and congested() becomes true.
  void post(const Record& record, const char* bytes);
  /// A parcel has arrived.
  void arrive(Parcel parcel);
  /// A process has acknowledged a parcel.
  void acknowledged(int rank, int further);
  /// Hands on what can be handed on.
  /// @param flush also results that do not fill a parcel
  void pump(bool flush);

  /// True if no further results should be computed before pump() has handed on some.
  bool congested() const;
  /// True if nothing is gathered, waits or is under way.
  bool empty() const;

 private:
  /// The results of one class for one process.
  struct Lane {
    std::vector<char> records;
    int under_way = 0;  ///< parcels that are not acknowledged
  };
  bool place(const Record& record, const char* bytes);
  /// False if too many parcels are under way to that process.
  bool send(int rank, int further, Lane& lane);
  void hand_on(Parcel& parcel);

  int rank_;
  Carrier& carrier_;
  std::size_t capacity_;
  int outstanding_;
  std::map<std::pair<int, int>, Lane> lanes_;  // by class and rank
  std::map<int, std::list<Parcel>> waiting_;   // by class
  std::vector<char> kept_;                     // results of this process that found buffers full
  std::size_t kept_done_ = 0;                  // bytes of them that were handed on
};

}  // namespace steelyard::tasks
