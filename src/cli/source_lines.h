// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <string>

namespace steelyard::cli {

/// False if this `steelyard` was built without libdw: no line is then known.
bool reads_source_lines();

/// Which line of the source an instruction of an executable comes from, by the executable's debug information (DWARF).
class SourceLines {
 public:
  explicit SourceLines(const std::string& executable);
  ~SourceLines();
  SourceLines(const SourceLines&) = delete;
  SourceLines& operator=(const SourceLines&) = delete;

  /// @param address in the executable's own addresses
  /// @return "solver.c:88"; "" without debug information for it
  std::string at(std::uint64_t address) const;

 private:
  struct DebugInformation;
  std::unique_ptr<DebugInformation> debug_;
};

}  // namespace steelyard::cli
