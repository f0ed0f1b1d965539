// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace steelyard::partition {

/// The thread queries of a program or library, read from its file.
struct Summary {
  struct Query {
    std::uint64_t return_address = 0;
    std::uint64_t function = 0;  ///< where it begins
    std::uint64_t size = 0;      ///< bytes of that function
    std::string name;            ///< of that function; "" if the file has no symbol for it
    bool in_body = false;        ///< that function is the body of a region. False: a region may call it
    bool proved = false;
    std::string reason;             ///< why it is not proved: see Proof::reason
    std::uint64_t instruction = 0;  ///< the instruction that is the reason
  };
  std::vector<Query> queries;
  /// The number of queries that are proved.
  std::size_t proved() const;
};
/// Analyses the file at `path`. Nothing if it is no program or library for this machine, or is truncated.
std::optional<Summary> summarise(const std::string& path);

}  // namespace steelyard::partition
