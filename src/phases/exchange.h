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

/// Moves data between the members of each group and its leader, through shared memory that grows. Collective over the
/// node. Data are copied once, into the shared memory, or not at all if they are there already.
class Exchange {
 public:
  Exchange(Shared& shared, std::span<Member> members, int me, SharedFile& file, Rendezvous& rendezvous);

  /// At each leader, `all`: the data of its members in ascending order. Valid until the next gather.
  /// @param what Call::what, the same at all processes
  base::Status gather(const Distribution& distribution, std::uint32_t what, const void* mine, std::size_t bytes,
                      View& all);
  /// Each leader sends `bytes[i]` bytes of `from` to its i-th member. At each member, `mine`: its part, valid until the
  /// next scatter; until the next gather, if the leader passed the memory of its last gather.
  base::Status scatter(const Distribution& distribution, std::uint32_t what, const void* from,
                       std::span<const std::size_t> bytes, View& mine);

 private:
  enum Area { inbox = 0, outbox = 1 };
  base::Status make_room(Area area, std::uint64_t bytes);
  /// A rendezvous after the first of an exchange. Only the first can be refused: by then, all calls are the same.
  base::Status meet() { return rendezvous_.meet({Call::Kind::exchange, 0}, Rendezvous::Wait::brief); }

  Shared& shared_;
  std::span<Member> members_;
  int me_;
  SharedFile& file_;
  Rendezvous& rendezvous_;
};

}  // namespace steelyard::phases
