// SPDX-License-Identifier: BSD-3-Clause
#include "phases/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace steelyard::phases {
namespace {

constexpr std::uint64_t kLine = 64;  // Size: bytes of a cache line: groups do not share one
// Size: bytes of an area at first. Smaller ones would grow within the first exchanges, at two rendezvous each.
constexpr std::uint64_t kLeast = std::uint64_t{64} * 1024;

std::uint64_t rounded(std::uint64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

// Encoding: of this sum and more, which make_room() refuses. rounded() leaves it alone.
constexpr std::uint64_t kTooMany = std::uint64_t{1} << 63;

std::uint64_t sum_of(std::uint64_t offset, std::uint64_t bytes) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(offset, bytes, &sum) ? kTooMany : std::min(sum, kTooMany);
}

}  // namespace

Exchange::Exchange(Shared& shared, std::span<Member> members, int me, SharedFile& file, Rendezvous& rendezvous)
    : shared_(shared), members_(members), me_(me), file_(file), rendezvous_(rendezvous) {}

// All processes call this with the same number, between two rendezvous.
base::Status Exchange::make_room(Area area, std::uint64_t bytes) {
  if (bytes > SharedFile::kMostBytes)
    return base::Status::failure(
        base::Code::invalid_argument,
        fmt::format("the data between the processes of a node have {} bytes in one call: pass at most {}, in several "
                    "calls",
                    bytes < kTooMany ? fmt::format("{}", bytes) : "2^63 or more", SharedFile::kMostBytes));
  auto& capacity = shared_.capacity[area];
  if (bytes > capacity.load(std::memory_order_relaxed)) {
    base::Status grown;
    if (base::Status met = meet(); !met) return met;  // all have read the old capacity
    if (me_ == 0) {
      const std::uint64_t wanted = std::bit_ceil(std::max(bytes, kLeast));
      grown = file_.grow(area, wanted);
      if (grown) capacity.store(wanted, std::memory_order_relaxed);
    }
    if (base::Status met = meet(); !met) return met;
    if (!grown) return grown;
  }
  const std::uint64_t there = capacity.load(std::memory_order_relaxed);
  if (there < bytes)
    return base::Status::failure(
        base::Code::out_of_memory,
        "shared memory for data between processes could not grow in /dev/shm: free space there (df /dev/shm)");
  if (there > 0 && file_.map(area, there) == nullptr) {
    return base::Status::failure(
        base::Code::out_of_memory,
        "shared memory for data between processes could not be mapped: free memory of this process");
  }
  return {};
}

base::Status Exchange::gather(const Distribution& distribution, std::uint32_t what, const void* mine, std::size_t bytes,
                              View& all) {
  all = {};
  members_[static_cast<std::size_t>(me_)].bytes.store(bytes, std::memory_order_relaxed);
  if (base::Status met = rendezvous_.meet({Call::Kind::gather, what}, Rendezvous::Wait::brief); !met) return met;
  std::uint64_t offset = 0, my_offset = 0, group_offset = 0;
  for (const int leader : distribution.chosen()) {
    offset = rounded(offset);
    if (leader == me_) group_offset = offset;
    for (const int member : distribution.members(leader)) {
      const std::uint64_t offered = members_[static_cast<std::size_t>(member)].bytes.load(std::memory_order_relaxed);
      if (member == me_) my_offset = offset;
      if (leader == me_) {
        all.members.push_back(member);
        all.sizes.push_back(offered);
      }
      offset = sum_of(offset, offered);
    }
  }
  base::Status room = make_room(inbox, offset);
  char* area = room ? file_.map(inbox, 0) : nullptr;
  if (area != nullptr && bytes > 0) std::memcpy(area + my_offset, mine, bytes);
  if (base::Status met = meet(); room) room = met;
  if (!room) all = {};
  if (room && !all.members.empty()) all.data = area == nullptr ? nullptr : area + group_offset;
  return room;
}

base::Status Exchange::scatter(const Distribution& distribution, std::uint32_t what, const void* from,
                               std::span<const std::size_t> bytes, View& mine) {
  mine = {};
  Member& me = members_[static_cast<std::size_t>(me_)];
  std::uint64_t total = 0;
  for (const std::size_t part : bytes) {
    if (__builtin_add_overflow(total, part, &total)) total = ~std::uint64_t{0};
  }
  const std::int64_t gathered_at = file_.offset_in(inbox, from);
  const std::uint64_t gathered = shared_.capacity[inbox].load(std::memory_order_relaxed);
  if (gathered_at >= 0 && total > gathered - static_cast<std::uint64_t>(gathered_at)) {
    // The others get nothing, and are not kept waiting.
    const std::vector<std::size_t> nothing(bytes.size());
    if (base::Status scattered = scatter(distribution, what, nullptr, nothing, mine); !scattered) return scattered;
    return base::Status::failure(
        base::Code::invalid_argument,
        fmt::format("{} bytes are scattered out of gathered data that do not go so far: give the bytes of the gathered "
                    "view, or data of your own",
                    total));
  }
  me.bytes.store(gathered_at >= 0 ? 0 : total, std::memory_order_relaxed);
  if (base::Status met = rendezvous_.meet({Call::Kind::scatter, what}, Rendezvous::Wait::brief); !met) return met;
  std::uint64_t offset = 0, my_offset = 0;
  for (const int leader : distribution.chosen()) {
    offset = rounded(offset);
    if (leader == me_) my_offset = offset;
    offset = sum_of(offset, members_[static_cast<std::size_t>(leader)].bytes.load(std::memory_order_relaxed));
  }
  base::Status room = make_room(outbox, offset);
  if (room && distribution.chosen(me_)) {
    if (gathered_at < 0 && total > 0) std::memcpy(file_.map(outbox, 0) + my_offset, from, total);
    std::uint64_t at = gathered_at >= 0 ? static_cast<std::uint64_t>(gathered_at) : my_offset;
    std::size_t part = 0;
    for (const int member : distribution.members(me_)) {
      Member& to = members_[static_cast<std::size_t>(member)];
      to.part_bytes.store(bytes[part], std::memory_order_relaxed);
      to.part_offset.store(at, std::memory_order_relaxed);
      to.part_area.store(gathered_at >= 0 ? inbox : outbox, std::memory_order_relaxed);
      at += bytes[part++];
    }
  }
  if (base::Status met = meet(); room) room = met;
  if (!room) return room;
  const auto area = static_cast<Area>(me.part_area.load(std::memory_order_relaxed));
  const char* base = file_.map(area, shared_.capacity[area].load(std::memory_order_relaxed));
  mine.sizes = {me.part_bytes.load(std::memory_order_relaxed)};
  mine.members = {me_};
  mine.data = base == nullptr ? nullptr : const_cast<char*>(base) + me.part_offset.load(std::memory_order_relaxed);
  return {};
}

}  // namespace steelyard::phases
