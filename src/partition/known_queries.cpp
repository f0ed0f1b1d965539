// SPDX-License-Identifier: BSD-3-Clause
#include "partition/known_queries.h"

#include <link.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/hash.h"
#include "partition/image.h"
#include "partition/independence.h"
#include "partition/proof.h"

namespace steelyard::partition {

namespace {

/// Return addresses and answers. Entries are added, and all of them cleared at once, so that it is read without a lock.
class Table {
 public:
  std::optional<bool> find(std::uint64_t address) const {
    for (std::size_t at = place(address), n = 0; n < kSize; ++n, at = (at + 1) % kSize) {
      const std::uint64_t entry = entries_[at].load(std::memory_order_relaxed);
      if (entry >> 1 == address) return (entry & 1) != 0;
      if (entry == 0) return std::nullopt;
    }
    return false;
  }

  /// By one thread at a time. What is not proved once never is. If the table is full, nothing more is proved.
  void add(std::uint64_t address, bool proved) {
    for (std::size_t at = place(address), n = 0; n < kSize; ++n, at = (at + 1) % kSize) {
      const std::uint64_t entry = entries_[at].load(std::memory_order_relaxed);
      if (entry >> 1 == address && proved) return;
      if (entry != 0 && entry >> 1 != address) continue;
      entries_[at].store(address << 1 | (proved ? 1 : 0), std::memory_order_relaxed);
      return;
    }
  }

  void clear() {
    for (std::atomic<std::uint64_t>& entry : entries_) entry.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr int kBits = 13;  // Size: 64 KiB: as many queries as a process may have
  static constexpr std::size_t kSize = std::size_t{1} << kBits;
  static std::size_t place(std::uint64_t address) { return base::spread(address) >> (64 - kBits); }
  std::array<std::atomic<std::uint64_t>, kSize> entries_{};
};

Table g_known;
std::atomic<std::uint32_t> g_generation{0};
std::mutex g_proving;
/// Each of which is read once. Never destroyed: other threads may still ask while the process ends.
std::map<std::uint64_t, Image>& images() {
  static auto& all = *new std::map<std::uint64_t, Image>;
  return all;
}

struct Search {
  std::uint64_t address;
  const Image* found;
};

/// The program or library that this address lies in.
int look_at(dl_phdr_info* loaded, std::size_t, void* data) {
  Search& search = *static_cast<Search*>(data);
  for (int i = 0; i < loaded->dlpi_phnum; ++i) {
    const Elf64_Phdr& segment = loaded->dlpi_phdr[i];
    const std::uint64_t begin = loaded->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || search.address < begin || search.address >= begin + segment.p_filesz) continue;
    search.found = &images()
                        .try_emplace(loaded->dlpi_addr, loaded->dlpi_addr, loaded->dlpi_phdr, loaded->dlpi_phnum)
                        .first->second;
    return 1;
  }
  return 0;
}

/// While g_proving is locked. Null where the address is in no loaded object.
const Image* image_around(std::uint64_t address) {
  Search search{address, nullptr};
  dl_iterate_phdr(look_at, &search);
  return search.found;
}

/// Of a function, by its begin and whether it is the body of a region: whether all its queries are proved.
std::map<std::pair<std::uint64_t, bool>, bool>& functions() {
  static auto& all = *new std::map<std::pair<std::uint64_t, bool>, bool>;
  return all;
}

/// While g_proving is locked. False where the function at `address` (the image's own) has a query that is not proved.
bool add_queries_of(const Image& image, std::uint64_t address, const void* body) {
  const std::uint64_t own_body = reinterpret_cast<std::uint64_t>(body) - image.shift();
  const std::uint64_t begin = image.function_at(address).begin;
  const auto [known, is_new] = functions().try_emplace({begin + image.shift(), begin == own_body}, false);
  if (!is_new) return known->second;
  const Proof proof = prove(image, address, own_body);
  for (const Query& query : proof.queries) g_known.add(query.return_address + image.shift(), query.proved);
  known->second =
      std::all_of(proof.queries.begin(), proof.queries.end(), [](const Query& query) { return query.proved; });
  return known->second;
}

std::atomic<std::int64_t> g_decoding{0};

/// Adds the time on a core for which it lives, so that other threads of this core do not count.
class Decoding {
 public:
  ~Decoding() { g_decoding.fetch_add(base::thread_cpu_ns() - begin_, std::memory_order_relaxed); }

 private:
  std::int64_t begin_ = base::thread_cpu_ns();
};

}  // namespace

bool is_independent(const void* body) {
  const auto address = reinterpret_cast<std::uint64_t>(body);
  const std::scoped_lock lock(g_proving);
  const Decoding decoding;
  const Image* const image = address != 0 ? image_around(address) : nullptr;
  return image != nullptr && why_not_independent(*image, address - image->shift()).empty();
}

bool is_proved(const void* return_address, const void* body) {
  const auto address = reinterpret_cast<std::uint64_t>(return_address);
  if (const std::optional<bool> known = g_known.find(address)) return *known;
  const std::scoped_lock lock(g_proving);
  if (const std::optional<bool> known = g_known.find(address)) return *known;
  const Decoding decoding;
  // The call itself lies before its return address, which may be another function's begin.
  if (const Image* const image = image_around(address)) add_queries_of(*image, address - image->shift() - 1, body);
  if (!g_known.find(address)) g_known.add(address, false);
  return g_known.find(address).value_or(false);
}

bool may_ask(const void* body) {
  const auto address = reinterpret_cast<std::uint64_t>(body);
  const std::scoped_lock lock(g_proving);
  const Decoding decoding;
  const Image* const image = address != 0 ? image_around(address) : nullptr;
  return image != nullptr && !add_queries_of(*image, address - image->shift(), body);
}

void forget_all() {
  const std::scoped_lock lock(g_proving);
  images().clear();
  g_known.clear();
  functions().clear();
  g_generation.fetch_add(1);
}

std::int64_t decoding_ns() { return g_decoding.load(std::memory_order_relaxed); }

std::uint32_t code_generation() { return g_generation.load(std::memory_order_relaxed); }

}  // namespace steelyard::partition
