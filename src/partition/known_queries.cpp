// SPDX-License-Identifier: BSD-3-Clause
#include "partition/known_queries.h"

#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/hash.h"
#include "base/loaded_library.h"
#include "partition/image.h"
#include "partition/independence.h"
#include "partition/node_answers.h"
#include "partition/proof.h"

namespace steelyard::partition {

namespace {

/// Answers by return address. Can be read without a lock: entries are only added, or all cleared at once.
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

  /// One thread at a time. A query that was added as unproved can only stay so. If the table is full, find() returns
  /// false for further queries.
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

/// A program or library in memory.
struct Loaded {
  Image image;
  std::uint64_t file;  // a hash that identifies its file on this node; 0: not known
};
/// All that were needed so far, by their shift. Never destroyed: other threads may still ask while the process ends.
std::map<std::uint64_t, Loaded>& images() {
  static auto& all = *new std::map<std::uint64_t, Loaded>;
  return all;
}

/// The programs and libraries of which code is known, here or elsewhere (follow_code()): their shifts and names.
using Objects = std::set<std::pair<std::uint64_t, std::string>>;
Objects& followed() {
  static auto& all = *new Objects;
  return all;
}

template <class... Part>
std::uint64_t hash_of(Part... part) {
  const std::array<std::uint64_t, sizeof...(Part)> parts{static_cast<std::uint64_t>(part)...};
  return base::fnv1a(std::as_bytes(std::span(parts)));
}

/// A hash that identifies a file on this node: processes that have loaded the same file have the same code.
std::uint64_t file_of(const char* path) {
  struct stat file = {};
  if (stat(*path != '\0' ? path : "/proc/self/exe", &file) != 0) return 0;
  return hash_of(file.st_dev, file.st_ino, file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
}

struct Search {
  std::uint64_t address;
  std::optional<dl_phdr_info> found;
};

/// For dl_iterate_phdr(): stops at the program or library that contains Search::address.
int find_object(dl_phdr_info* object, std::size_t, void* data) {
  Search& search = *static_cast<Search*>(data);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const Elf64_Phdr& segment = object->dlpi_phdr[i];
    const std::uint64_t begin = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || search.address < begin || search.address >= begin + segment.p_filesz) continue;
    search.found = *object;
    return 1;
  }
  return 0;
}

std::optional<dl_phdr_info> find_object_around(std::uint64_t address) {
  Search search{address, {}};
  dl_iterate_phdr(find_object, &search);
  return search.found;
}

/// From now on, library_closed() asks whether this program or library is still loaded. g_proving must be locked.
void follow(const dl_phdr_info& object) { followed().emplace(object.dlpi_addr, object.dlpi_name); }

/// The program or library that contains an address; null if there is none. g_proving must be locked.
const Loaded* object_around(std::uint64_t address) {
  const std::optional<dl_phdr_info> object = find_object_around(address);
  if (!object) return nullptr;
  auto known = images().find(object->dlpi_addr);
  if (known == images().end()) {
    follow(*object);
    Image image(object->dlpi_addr, object->dlpi_phdr, object->dlpi_phnum);
    known = images().emplace(object->dlpi_addr, Loaded{std::move(image), file_of(object->dlpi_name)}).first;
  }
  return &known->second;
}

std::atomic<NodeAnswers*> g_node = nullptr;  // written while g_proving is locked; null: this process decodes for itself

/// A function of a program or library.
struct Place {
  const Loaded& object;
  Function function;
  bool is_body;  // of the present region
};
/// The function at an address of the image.
Place place_of(const Loaded& object, std::uint64_t address, const void* body) {
  const Function function = object.image.function_at(address);
  return {object, function, function.begin + object.image.shift() == reinterpret_cast<std::uint64_t>(body)};
}

std::uint64_t size_of(const Function& function) {
  return function.is_known && function.end > function.begin ? function.end - function.begin : 0;
}

/// Of the node if answers are shared, else of this process.
ProofTime& proof_time() {
  static ProofTime own;
  NodeAnswers* const node = g_node.load();
  return node != nullptr ? node->proof_time() : own;
}

/// The key of a function in NodeAnswers; 0 if nothing is shared or it is not known whether other processes have it.
std::uint64_t node_key(const Place& place) {
  const auto& [object, function, is_body] = place;
  const std::uint64_t size = size_of(function);
  if (g_node.load() == nullptr || object.file == 0 || size == 0) return 0;
  const Image::Bytes there = object.image.bytes(function.begin);
  if (there.size < size) return 0;
  return hash_of(object.file, function.begin, is_body, base::fnv1a(std::as_bytes(std::span(there.data, size))));
}
/// The key of a query of that function.
std::uint64_t node_key(std::uint64_t function_key, std::uint64_t query) { return hash_of(function_key, query); }

/// What is known of a function.
struct Known {
  bool all_proved = false;     // all of its queries
  std::uint64_t node_key = 0;  // its key if NodeAnswers has its queries; 0: they are in g_known
};
/// All functions that were asked about, by where they begin and whether they are the body of a region.
std::map<std::pair<std::uint64_t, bool>, Known>& functions() {
  static auto& all = *new std::map<std::pair<std::uint64_t, bool>, Known>;
  return all;
}

/// Looks up the answer of another process. True if that is enough. A body with a query that is not proved keeps its
/// thread count, so its other queries do not matter.
bool has_node_answer(std::uint64_t key, bool is_body, Known& known) {
  if (key == 0) return false;
  const NodeAnswers::Answer answer = g_node.load()->find(key);
  known.all_proved = answer == NodeAnswers::Answer::proved;
  known.node_key = key;
  return known.all_proved || (is_body && answer == NodeAnswers::Answer::unproved);
}

/// What is known of the function at an address of the image; decodes it if necessary. g_proving must be locked.
const Known& known_function(const Loaded& object, std::uint64_t address, const void* body) {
  const Image& image = object.image;
  const Place place = place_of(object, address, body);
  const auto [entry, is_new] = functions().try_emplace({place.function.begin + image.shift(), place.is_body});
  Known& known = entry->second;
  const std::uint64_t key = is_new ? node_key(place) : 0;
  if (!is_new || has_node_answer(key, place.is_body, known)) return known;
  NodeAnswers* const node = g_node.load();
  const std::int64_t begin = base::thread_cpu_ns();
  const Proof proof = prove(image, address, reinterpret_cast<std::uint64_t>(body) - image.shift());
  known = {std::all_of(proof.queries.begin(), proof.queries.end(), [](const Query& query) { return query.proved; })};
  if (const std::uint64_t bytes = size_of(place.function); bytes > 0 && !proof.queries.empty())
    proof_time().add(base::thread_cpu_ns() - begin, bytes);
  bool all_added = key != 0;
  for (const Query& query : proof.queries) {
    g_known.add(query.return_address + image.shift(), query.proved);
    all_added = all_added && node->add(node_key(key, query.return_address), query.proved);
  }
  // The function comes last: a process that finds it finds its queries, too.
  if (all_added) node->add(key, known.all_proved);
  return known;
}

/// The body of a region.
struct Body {
  std::uint64_t bytes = 0;     // of code; 0: not known
  std::uint64_t node_key = 0;  // see node_key()
};
/// Those that were asked about. g_proving must be locked.
std::map<const void*, Body>& bodies() {
  static auto& all = *new std::map<const void*, Body>;
  return all;
}

/// What is known of a region's body, found out once. g_proving must be locked.
const Body& known_body(const void* body) {
  const auto [known, is_new] = bodies().try_emplace(body);
  const auto address = reinterpret_cast<std::uint64_t>(body);
  if (const Loaded* const object = is_new && address != 0 ? object_around(address) : nullptr) {
    const Place place = place_of(*object, address - object->image.shift(), body);
    known->second = {size_of(place.function), node_key(place)};
  }
  return known->second;
}

std::atomic<std::int64_t> g_decoding_ns{0};

/// Adds the CPU time of this thread, from its construction to its destruction, to the time for decoding.
class DecodingTimer {
 public:
  ~DecodingTimer() {
    const std::int64_t time = base::thread_cpu_ns() - begin_;
    g_decoding_ns.fetch_add(time, std::memory_order_relaxed);
    if (NodeAnswers* const node = g_node.load()) node->add_decoding(time);
  }

 private:
  std::int64_t begin_ = base::thread_cpu_ns();
};

}  // namespace

std::string why_not_independent(const void* body) {
  const auto address = reinterpret_cast<std::uint64_t>(body);
  const std::scoped_lock lock(g_proving);
  const DecodingTimer timer;
  const Loaded* const object = address != 0 ? object_around(address) : nullptr;
  return object != nullptr ? why_not_independent(object->image, address - object->image.shift()) : "has unknown code";
}

bool is_proved(const void* return_address, const void* body) {
  const auto address = reinterpret_cast<std::uint64_t>(return_address);
  if (const std::optional<bool> known = g_known.find(address)) return *known;
  const std::scoped_lock lock(g_proving);
  if (const std::optional<bool> known = g_known.find(address)) return *known;
  const DecodingTimer timer;
  // The call itself lies before its return address, which may be another function's begin.
  bool proved = false;
  if (const Loaded* const object = object_around(address)) {
    const std::uint64_t own = address - object->image.shift();
    const Known& function = known_function(*object, own - 1, body);
    const NodeAnswers* const node = g_node.load();
    proved = function.node_key != 0 && node != nullptr &&
             node->find(node_key(function.node_key, own)) == NodeAnswers::Answer::proved;
  }
  if (!g_known.find(address)) g_known.add(address, proved);
  return g_known.find(address).value_or(false);
}

bool has_unproved_query(const void* body) {
  const auto address = reinterpret_cast<std::uint64_t>(body);
  const std::scoped_lock lock(g_proving);
  const DecodingTimer timer;
  const Loaded* const object = address != 0 ? object_around(address) : nullptr;
  return object != nullptr && !known_function(*object, address - object->image.shift(), body).all_proved;
}

std::int64_t expected_decoding_ns(const void* body, std::int64_t prior) {
  const std::scoped_lock lock(g_proving);
  const auto [bytes, key] = known_body(body);
  const NodeAnswers::Answer answer = key != 0 ? g_node.load()->find(key) : NodeAnswers::Answer::none;
  const bool is_answered = answer == NodeAnswers::Answer::proved || answer == NodeAnswers::Answer::unproved;
  return is_answered ? 0 : proof_time().expected(bytes, prior);
}

void share_answers(NodeAnswers* answers) {
  const std::scoped_lock lock(g_proving);
  g_node = answers;
  for (auto& [place, known] : functions()) known.node_key = 0;
  bodies().clear();
}

bool claim_decoding(const void* body) {
  const std::scoped_lock lock(g_proving);
  const std::uint64_t key = known_body(body).node_key;
  return key == 0 || g_node.load()->claim(key);
}

void release_decoding(const void* body) {
  const std::scoped_lock lock(g_proving);
  if (const std::uint64_t key = known_body(body).node_key; key != 0) g_node.load()->release(key);
}

void follow_code(std::uint64_t address) {
  const std::scoped_lock lock(g_proving);
  if (const std::optional<dl_phdr_info> object = find_object_around(address)) follow(*object);
}

void library_closed() {
  static std::atomic<unsigned long long> unloaded{0};
  const unsigned long long count = base::unloaded_libraries();
  if (unloaded.exchange(count) == count) return;
  const std::scoped_lock lock(g_proving);
  Objects gone = followed();
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* objects) {
        static_cast<Objects*>(objects)->erase({object->dlpi_addr, object->dlpi_name});
        return 0;
      },
      &gone);
  if (gone.empty()) return;
  followed().clear();
  images().clear();
  g_known.clear();
  functions().clear();
  bodies().clear();
  g_generation.fetch_add(1);
}

std::int64_t decoding_ns() { return g_decoding_ns.load(std::memory_order_relaxed); }

std::int64_t decoding_on_node_ns() {
  const NodeAnswers* const node = g_node.load();
  return node != nullptr ? node->decoding_ns() : decoding_ns();
}

std::uint32_t code_generation() { return g_generation.load(std::memory_order_relaxed); }

}  // namespace steelyard::partition
