#pragma once
#include <cstdint>
#include <vector>

namespace steelyard::observe {

/// What is known of one place in the program, by its return address: a parallel region, or a blocking MPI call.
struct Site {
  std::uint64_t address = 0;
  std::uint32_t executions = 0;
  bool asks = false;  ///< a region whose threads asked for their number, or for how many they are
  float mean_ns = 0;  ///< recent length of the region, or of the wait
  void add(std::int64_t ns) {
    const float length = static_cast<float>(ns);
    mean_ns = executions == 0 ? length : mean_ns + (length - mean_ns) / 8;
    ++executions;
  }
};

/// Sites by address: open addressing, about 5 ns a look-up. Never shrinks; one thread.
class Sites {
 public:
  Sites() : table_(256) {}
  Site& at(std::uint64_t address) {
    std::size_t mask = table_.size() - 1;
    for (std::size_t i = hash(address) & mask;; i = (i + 1) & mask) {
      if (table_[i].address == address) return table_[i];
      if (table_[i].address == 0) {
        if (++used_ * 2 > table_.size()) {
          grow();
          return at(address);
        }
        table_[i].address = address;
        return table_[i];
      }
    }
  }

 private:
  static std::size_t hash(std::uint64_t address) {
    return static_cast<std::size_t>(address * 0x9e3779b97f4a7c15ULL >> 20);
  }
  void grow() {
    std::vector<Site> old(table_.size() * 2);
    old.swap(table_);
    used_ = 0;
    for (const Site& site : old) {
      if (site.address != 0) at(site.address) = site;
    }
  }

  std::vector<Site> table_;
  std::size_t used_ = 0;
};

}  // namespace steelyard::observe
