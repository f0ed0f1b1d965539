// SPDX-License-Identifier: BSD-3-Clause
#include "partition/call_scan.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "partition/known_functions.h"

namespace steelyard::partition {

namespace {

enum class Callee { query, fortran_query, region_begin };
using Places = std::unordered_map<std::uint64_t, Callee>;

std::int32_t distance_at(const std::uint8_t* bytes) {
  std::int32_t distance;
  std::memcpy(&distance, bytes, sizeof distance);
  return distance;
}

/// The words through which the image calls functions of interest.
Places slots_of(const Image& image) {
  Places slots;
  for (const auto& [slot, name] : image.imports()) {
    if (is_query(name)) slots[slot] = Callee::query;
    if (name.ends_with('_') && is_query(name.substr(0, name.size() - 1))) slots[slot] = Callee::fortran_query;
    if (name.starts_with("GOMP_parallel")) slots[slot] = Callee::region_begin;
  }
  return slots;
}

/// Finds `call [slot]` and `jmp [slot]` for these slots. Calls `found(index of the instruction in the code, callee, is
/// it a jump)` for each.
/// @param begin address of the code
template <typename Found>
void for_indirect(const Image::Bytes& code, std::uint64_t begin, const Places& slots, const Found& found) {
  for (std::uint64_t at = 0; at + 6 <= code.size; ++at) {
    if (code.data[at] != 0xff || (code.data[at + 1] != 0x25 && code.data[at + 1] != 0x15)) continue;
    const auto slot = slots.find(begin + at + 6 + static_cast<std::uint64_t>(distance_at(code.data + at + 2)));
    if (slot != slots.end()) found(at, slot->second, code.data[at + 1] == 0x25);
  }
}

/// Adds the addresses that a function takes, by `lea address(%rip), register` or `mov $address, register`.
void add_taken(const Image& image, const Function& function, std::set<std::uint64_t>& taken) {
  const Image::Bytes code = image.bytes(function.begin);
  for (std::uint64_t at = 0; at + 7 <= code.size && function.begin + at < function.end; ++at) {
    const std::uint8_t* bytes = code.data + at;
    const bool is_lea = (bytes[0] & 0xfb) == 0x48 && bytes[1] == 0x8d && (bytes[2] & 0xc7) == 0x05;
    const bool is_mov = (bytes[0] & 0xf8) == 0xb8;
    if (is_lea) taken.insert(function.begin + at + 7 + static_cast<std::uint64_t>(distance_at(bytes + 3)));
    if (is_mov) taken.insert(static_cast<std::uint64_t>(distance_at(bytes + 1)));
  }
}

}  // namespace

Calls find_calls(const Image& image) {
  Calls calls;
  const Places slots = slots_of(image);
  if (slots.empty()) return calls;
  Places stubs;
  for (const Image::Segment& segment : image.segments()) {
    if (!segment.executable) continue;
    for_indirect(image.bytes(segment.begin), segment.begin, slots, [&](std::uint64_t at, Callee callee, bool jumps) {
      if (!jumps) return;
      for (const std::uint64_t before : {0, 1, 4, 5})
        stubs.emplace(segment.begin + at - before, callee);  // bnd, endbr64
    });
  }
  Function beginner;  // the last function that was found to begin a region
  std::set<std::uint64_t> taken;
  for (const Image::Segment& segment : image.segments()) {
    if (!segment.executable) continue;
    const Image::Bytes code = image.bytes(segment.begin);
    const auto add = [&](std::uint64_t at, std::uint64_t size, Callee callee) {
      if (callee == Callee::query) calls.queries.push_back(segment.begin + at + size);
      if (callee == Callee::fortran_query) calls.fortran_queries.push_back(segment.begin + at + size);
      if (callee != Callee::region_begin || (segment.begin + at >= beginner.begin && segment.begin + at < beginner.end))
        return;
      beginner = image.function_at(segment.begin + at);
      add_taken(image, beginner, taken);
    };
    for_indirect(code, segment.begin, slots, [&](std::uint64_t at, Callee callee, bool jumps) {
      if (!jumps) add(at, 6, callee);
    });
    for (std::uint64_t at = 0; at + 5 <= code.size; ++at) {
      if (code.data[at] != 0xe8 && code.data[at] != 0xe9) continue;
      const auto stub =
          stubs.find(segment.begin + at + 5 + static_cast<std::uint64_t>(distance_at(code.data + at + 1)));
      if (stub != stubs.end() && (code.data[at] == 0xe8 || stub->second == Callee::region_begin))
        add(at, 5, stub->second);
    }
  }
  std::sort(calls.queries.begin(), calls.queries.end());
  for (const std::vector<std::uint64_t>* const queries : {&calls.queries, &calls.fortran_queries}) {
    for (const std::uint64_t query : *queries) {
      const std::uint64_t begin = image.function_at(query - 1).begin;
      if (taken.contains(begin)) calls.bodies.insert(begin);
    }
  }
  return calls;
}

}  // namespace steelyard::partition
