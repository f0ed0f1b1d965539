// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <vector>

#include "base/status.h"
#include "phases/distribution.h"
#include "phases/rendezvous.h"
#include "phases/shared_file.h"

namespace steelyard::phases {

/// Data in shared memory, one part for each process. Empty if a process has no part.
struct View {
  char* data = nullptr;
  std::vector<std::size_t> sizes;  ///< by part, in bytes
  std::vector<int> members;        ///< by part: the process that it belongs to
};

/// Carries data between the members of each group and its leader, through shared memory that grows. Collective over the
/// node. Data are copied once, into the shared memory, or not at all where they are there already.
class Exchange {
 public:
  Exchange(Shared& shared, std::span<Member> members, int me, SharedFile& file, Rendezvous& rendezvous);

  /// At each leader: what its members offer, one after the other in ascending order. Valid until the next gather.
  /// `what`: of the call, the same at all processes.
  base::Status gather(const Distribution& distribution, std::uint32_t what, const void* mine, std::size_t bytes,
                      View& all);
  /// From each leader: `bytes[i]` to its i-th member, out of `from`. At each member: its part, valid until the next
  /// scatter, or until the next gather where the leader gave what it had gathered.
  base::Status scatter(const Distribution& distribution, std::uint32_t what, const void* from,
                       std::span<const std::size_t> bytes, View& mine);

 private:
  enum Area { inbox = 0, outbox = 1 };
  base::Status make_room(Area area, std::uint64_t bytes);
  /// After the first rendezvous of an exchange, which can be refused: all are in the same one.
  base::Status meet() { return rendezvous_.meet({Call::Kind::exchange, 0}, Rendezvous::Wait::brief); }

  Shared& shared_;
  std::span<Member> members_;
  int me_;
  SharedFile& file_;
  Rendezvous& rendezvous_;
};

}  // namespace steelyard::phases
