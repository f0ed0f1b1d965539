// SPDX-License-Identifier: BSD-3-Clause
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
    std::uint64_t size = 0;      ///< bytes of that function
    std::string name;            ///< of that function; "" if the file has no symbol for it
    bool in_body = false;        ///< that function is the body of a region, not one that a region may call
    bool proved = false;
    std::string reason;  ///< why not: a verb and more, whose subject is the function
    std::uint64_t instruction = 0;
  };
  std::vector<Query> queries;
  std::size_t proved() const;
};
/// Nothing where the file is none for this machine, or is cut off.
std::optional<Summary> summarise(const std::string& path);

}  // namespace steelyard::partition
