#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace steelyard::partition {

/// The thread queries of a program or a library that is not loaded.
struct Summary {
  struct Query {
    std::uint64_t return_address = 0;
    std::uint64_t function = 0;  ///< where it begins
    std::string name;            ///< of that; "" where it has none any more
    bool proved = false;
    std::string reason;  ///< why it is not proved
    std::uint64_t instruction = 0;
  };
  std::vector<Query> queries;
  std::size_t proved() const;
};
/// Nothing where the file is none for this machine, or is cut off.
std::optional<Summary> summarise(const std::string& path);

}  // namespace steelyard::partition
