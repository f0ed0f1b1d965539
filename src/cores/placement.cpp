// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>

#include "cores/plan.h"

namespace steelyard::cores {
namespace {

using Held = std::vector<std::vector<int>>;

struct Value {
  int missing = 0;
  int moved = 0;
  auto operator<=>(const Value&) const = default;
};

/// Processes in decreasing order of what they want, as they go into domains one by one.
class Packing {
 public:
  Packing(const std::vector<int>& wanted, const std::vector<int>& capacity, const Held& held)
      : capacity_(capacity), used_(capacity.size(), 0), count_(capacity.size(), 0) {
    const int largest = *std::max_element(capacity.begin(), capacity.end());
    for (std::size_t p = 0; p < wanted.size(); ++p) items_.push_back({p, std::clamp(wanted[p], 1, largest), held[p]});
    std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
      return std::tie(b.wanted, a.held, a.process) < std::tie(a.wanted, b.held, b.process);
    });
    rest_.assign(items_.size() + 1, {});
    for (std::size_t i = items_.size(); i-- > 0;) {
      int cheapest = gain(i, 0);
      for (std::size_t d = 1; d < domains(); ++d) cheapest = std::min(cheapest, gain(i, d));
      rest_[i] = {rest_[i + 1].wanted + items_[i].wanted, rest_[i + 1].moved + cheapest};
    }
    for (int cores : capacity) free_ += cores;
  }

  std::size_t size() const { return items_.size(); }
  std::size_t domains() const { return capacity_.size(); }
  std::size_t process(std::size_t i) const { return items_[i].process; }
  int wanted(std::size_t i) const { return items_[i].wanted; }
  /// Cores of domain d that item i would have to be given by others.
  int gain(std::size_t i, std::size_t d) const { return std::max(0, items_[i].wanted - items_[i].held[d]); }
  bool same(std::size_t i, std::size_t j) const {
    return items_[i].wanted == items_[j].wanted && items_[i].held == items_[j].held;
  }
  bool held_by_rest(std::size_t i, std::size_t d) const {
    return std::any_of(items_.begin() + static_cast<std::ptrdiff_t>(i), items_.end(),
                       [d](const Item& item) { return item.held[d] > 0; });
  }
  bool takes_one_more(std::size_t d) const { return count_[d] < capacity_[d]; }
  bool alike(std::size_t d, std::size_t e) const {
    return used_[d] == used_[e] && count_[d] == count_[e] && capacity_[d] == capacity_[e];
  }
  int room(std::size_t d) const { return capacity_[d] - used_[d]; }
  /// Cores that would be missing in domain d with `more` asked for.
  int over(std::size_t d, int more) const { return std::max(0, used_[d] + more - capacity_[d]); }

  void put(std::size_t i, std::size_t d) { change(i, d, 1); }
  void remove(std::size_t i, std::size_t d) { change(i, d, -1); }

  Value value() const { return value_; }
  /// No completion by items i... is better than this.
  Value bound(std::size_t i) const {
    return {value_.missing + std::max(0, rest_[i].wanted - free_), value_.moved + rest_[i].moved};
  }
  /// Equal for partial packings of the same items with the same futures (up to a collision once in 2^64).
  std::uint64_t key() const {
    std::uint64_t sum = 0;
    for (std::size_t d = 0; d < domains(); ++d)
      sum += mix((static_cast<std::uint64_t>(d) << 48) + (static_cast<std::uint64_t>(count_[d]) << 32) +
                 static_cast<std::uint32_t>(used_[d]));
    return sum;
  }
  static std::uint64_t mix(std::uint64_t x) {
    x = (x + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 29)) * 0x94d049bb133111eb;
    return x ^ (x >> 32);
  }

 private:
  struct Item {
    std::size_t process;
    int wanted;
    std::vector<int> held;
  };
  struct Rest {
    int wanted = 0;
    int moved = 0;
  };

  void change(std::size_t i, std::size_t d, int sign) {
    const int before = over(d, 0), room_before = std::max(0, room(d));
    used_[d] += sign * items_[i].wanted;
    count_[d] += sign;
    value_.missing += over(d, 0) - before;
    value_.moved += sign * gain(i, d);
    free_ += std::max(0, room(d)) - room_before;
  }

  std::vector<Item> items_;
  const std::vector<int>& capacity_;
  std::vector<int> used_, count_;
  std::vector<Rest> rest_;  ///< sums over the items from i on
  int free_ = 0;
  Value value_;
};

using Domains = std::vector<std::size_t>;  // by item

/// Each item where it is cheapest now: first by missing cores, then by moved ones, then where it fits most tightly.
void descend(Packing& packing, Domains& at) {
  for (std::size_t i = 0; i < packing.size(); ++i) {
    std::tuple<bool, int, int, int> best{};
    for (std::size_t d = 0; d < packing.domains(); ++d) {
      const std::tuple price{!packing.takes_one_more(d), packing.over(d, packing.wanted(i)) - packing.over(d, 0),
                             packing.gain(i, d), packing.room(d)};
      if (d > 0 && price >= best) continue;
      best = price;
      at[i] = d;
    }
    packing.put(i, at[i]);
  }
}

/// Moves single items and swaps pairs for as long as that helps.
void improve(Packing& packing, Domains& at) {
  const auto relocate = [&](std::size_t i, std::size_t d) {
    packing.remove(i, at[i]);
    packing.put(i, d);
    at[i] = d;
  };
  bool better = true;
  for (int pass = 0; better && pass < 6; ++pass) {
    better = false;
    for (std::size_t i = 0; i < packing.size(); ++i) {
      for (std::size_t d = 0; d < packing.domains(); ++d) {
        const std::size_t origin = at[i];
        if (d == origin || !packing.takes_one_more(d)) continue;
        const Value before = packing.value();
        relocate(i, d);
        if (packing.value() < before)
          better = true;
        else
          relocate(i, origin);
      }
      for (std::size_t j = 0; j < i; ++j) {
        const std::size_t a = at[i], b = at[j];
        if (a == b || packing.same(i, j)) continue;
        const Value before = packing.value();
        relocate(i, b);
        relocate(j, a);
        if (packing.value() < before) {
          better = true;
        } else {
          relocate(i, a);
          relocate(j, b);
        }
      }
    }
  }
}

/// Depth first over the items. Three kinds of branches are cut: the bound is not better than the best leaf so far; the
/// branch only exchanges like domains or like processes; the same state was reached before with no more moved.
class Search {
 public:
  Search(Packing& packing, Domains best, Value value, int effort)
      : packing_(packing), best_(std::move(best)), best_value_(value), at_(packing.size()), effort_(effort) {}

  void run() { visit(0); }
  const Domains& best() const { return best_; }
  bool exact() const { return effort_ > 0; }

 private:
  struct Seen {
    std::uint64_t key = 0;
    int moved = 0;
  };
  struct Child {
    int missing, moved, room;
    std::size_t domain;
    auto operator<=>(const Child&) const = default;
  };

  void visit(std::size_t i) {
    if (packing_.bound(i) >= best_value_) return;
    if (i == packing_.size()) {
      best_ = at_;
      best_value_ = packing_.value();
      return;
    }
    if (--effort_ <= 0 || seen_before(i)) return;
    std::vector<Child> children;
    children.reserve(packing_.domains());
    const bool like_last = i > 0 && packing_.same(i, i - 1);
    for (std::size_t d = like_last ? at_[i - 1] : 0; d < packing_.domains(); ++d) {
      if (!packing_.takes_one_more(d) || like_an_earlier_one(i, d)) continue;
      const int wanted = packing_.wanted(i);
      children.push_back({packing_.over(d, wanted) - packing_.over(d, 0), packing_.gain(i, d), packing_.room(d), d});
    }
    std::sort(children.begin(), children.end());
    for (const Child& child : children) {
      at_[i] = child.domain;
      packing_.put(i, child.domain);
      visit(i + 1);
      packing_.remove(i, child.domain);
      if (effort_ <= 0) return;
    }
  }

  bool like_an_earlier_one(std::size_t i, std::size_t d) const {
    for (std::size_t e = 0; e < d; ++e)
      if (packing_.alike(d, e) && !packing_.held_by_rest(i, d) && !packing_.held_by_rest(i, e)) return true;
    return false;
  }

  bool seen_before(std::size_t i) {
    if (++visited_ < 256) return false;  // small searches do without a table
    if (seen_.empty()) seen_.resize(8192);
    const bool like_last = i > 0 && packing_.same(i, i - 1);
    const std::uint64_t key = Packing::mix(packing_.key() + (i << 20) + (like_last ? at_[i - 1] + 1 : 0));
    Seen& slot = seen_[key % seen_.size()];
    const int moved = packing_.value().moved;
    if (slot.key == key && slot.moved <= moved) return true;
    slot = {key, moved};
    return false;
  }

  Packing& packing_;
  Domains best_;
  Value best_value_;
  Domains at_;
  int effort_;
  int visited_ = 0;
  std::vector<Seen> seen_;
};

/// Takes the missing cores of each domain from its largest processes.
void cut(Placement& placement, std::vector<int> room) {
  for (std::size_t p = 0; p < placement.domain.size(); ++p) room[placement.domain[p]] -= placement.threads[p];
  for (std::size_t d = 0; d < room.size(); ++d) {
    for (; room[d] < 0; ++room[d]) {
      int* largest = nullptr;
      for (std::size_t p = 0; p < placement.domain.size(); ++p)
        if (placement.domain[p] == static_cast<int>(d) && (!largest || placement.threads[p] > *largest))
          largest = &placement.threads[p];
      if (!largest || *largest <= 1) break;
      --*largest;
    }
  }
}

}  // namespace

Placement place(const std::vector<int>& wanted, const std::vector<int>& capacity, const Held& held, int effort) {
  Placement placement;
  if (wanted.empty() || capacity.empty()) return placement;
  Packing packing(wanted, capacity, held);
  const Value ideal = packing.bound(0);

  Domains at(packing.size());
  descend(packing, at);
  improve(packing, at);
  const Value found = packing.value();
  for (std::size_t i = 0; i < packing.size(); ++i) packing.remove(i, at[i]);

  if (found != ideal) {
    Search search(packing, std::move(at), found, effort);
    search.run();
    at = search.best();
    placement.exact = search.exact();
  }
  placement.domain.resize(wanted.size());
  placement.threads.resize(wanted.size());
  for (std::size_t i = 0; i < packing.size(); ++i) {
    packing.put(i, at[i]);
    placement.domain[packing.process(i)] = static_cast<int>(at[i]);
    placement.threads[packing.process(i)] = packing.wanted(i);
  }
  const int asked = std::accumulate(wanted.begin(), wanted.end(), 0);
  cut(placement, capacity);
  placement.missing = asked - std::accumulate(placement.threads.begin(), placement.threads.end(), 0);
  placement.moved = packing.value().moved;
  return placement;
}

}  // namespace steelyard::cores
