// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <list>
#include <map>
#include <vector>

#include "tasks/routes.h"
#include "tasks/wire.h"

namespace steelyard::tasks {

/// Brings results home: each process gathers what has the same next step, and hands it on in one parcel.
///
/// Buffers are bounded, and full ones never stop each other for good. Between two processes a parcel waits for others
/// of its own class only, which is the number of transfers that are left to it. It is acknowledged once all of it was
/// handed on, that is, put into buffers of the next lower class; those of class 0 are for their receiver, which always
/// takes them. So, class by class, everything moves.
class Router {
 public:
  /// Encoding: the class of what other threads of this process hand in, above every number of transfers. It may wait
  /// for everything.
  static constexpr int kSource = 1 << 20;
  /// Records on the way, and where they came from.
  struct Parcel {
    int from = -1;            ///< rank that waits for the acknowledgement; -1: none does
    std::uint64_t block = 0;  ///< where they lie in shared memory; 0: in `bytes`
    int further = 0;
    const char* records = nullptr;
    std::size_t size = 0;
    std::vector<char> bytes;
    std::size_t done = 0;
  };
  class Carrier {
   public:
    virtual ~Carrier() = default;
    virtual Routes::Way way(int owner) = 0;
    /// Always possible.
    virtual void carry(int rank, int further, std::vector<char>& records) = 0;
    /// A result of this process's own. False: not now.
    virtual bool deliver(const Record& record, const char* bytes) = 0;
    virtual void acknowledge(const Parcel& parcel) = 0;
  };
  /// `capacity`: bytes that are gathered for one step; `outstanding`: parcels that may be under way in it.
  Router(int rank, Carrier& carrier, std::size_t capacity, int outstanding)
      : rank_(rank), carrier_(carrier), capacity_(capacity), outstanding_(outstanding) {}

  /// A result that came into being here. Where buffers are full it is kept, and congested() says so.
  void post(const Record& record, const char* bytes);
  void arrive(Parcel parcel);
  void acknowledged(int rank, int further);
  /// Hands on what can be handed on; `flush`: also what is not much. True where something moved.
  bool pump(bool flush);

  bool congested() const;
  /// Nothing gathered, nothing waiting, nothing under way.
  bool empty() const;

 private:
  struct Lane {
    std::vector<char> records;
    int under_way = 0;
  };
  bool place(const Record& record, const char* bytes);
  bool send(int rank, int further, Lane& lane);
  bool hand_on(Parcel& parcel);

  int rank_;
  Carrier& carrier_;
  std::size_t capacity_;
  int outstanding_;
  std::map<std::pair<int, int>, Lane> lanes_;  // by class and rank
  std::map<int, std::list<Parcel>> waiting_;   // by class
  std::vector<char> kept_;
  std::size_t kept_done_ = 0;
};

}  // namespace steelyard::tasks
