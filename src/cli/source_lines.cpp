// SPDX-License-Identifier: BSD-3-Clause
#include "cli/source_lines.h"

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <string_view>

namespace steelyard::cli {

struct SourceLines::DebugInformation {
  explicit DebugInformation(const std::string& path)
      : file(open(path.c_str(), O_RDONLY | O_CLOEXEC)), dwarf(file >= 0 ? dwarf_begin(file, DWARF_C_READ) : nullptr) {}
  ~DebugInformation() {
    dwarf_end(dwarf);
    if (file >= 0) close(file);
  }
  DebugInformation(const DebugInformation&) = delete;
  DebugInformation& operator=(const DebugInformation&) = delete;

  /// The compilation unit of this address.
  bool find_unit(std::uint64_t address, Dwarf_Die& unit) const {
    if (dwarf_addrdie(dwarf, address, &unit) != nullptr) return true;
    // Clang writes no table of the addresses of all units (.debug_aranges).
    Dwarf_CU* next = nullptr;
    while (dwarf_get_units(dwarf, next, &next, nullptr, nullptr, &unit, nullptr) == 0) {
      if (dwarf_haspc(&unit, address) == 1) return true;
    }
    return false;
  }

  int file;
  Dwarf* dwarf;
};

bool reads_source_lines() { return true; }

SourceLines::SourceLines(const std::string& executable) : debug_(std::make_unique<DebugInformation>(executable)) {}
SourceLines::~SourceLines() = default;

std::string SourceLines::at(std::uint64_t address) const {
  Dwarf_Die unit;
  if (debug_->dwarf == nullptr || !debug_->find_unit(address, unit)) return {};
  Dwarf_Line* const line = dwarf_getsrc_die(&unit, address);
  int number = 0;
  const char* const path = line != nullptr ? dwarf_linesrc(line, nullptr, nullptr) : nullptr;
  if (path == nullptr || dwarf_lineno(line, &number) != 0 || number == 0) return {};
  const std::string_view name = path;
  return fmt::format("{}:{}", name.substr(name.rfind('/') + 1), number);
}

}  // namespace steelyard::cli
