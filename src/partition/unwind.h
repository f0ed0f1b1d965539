// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "partition/image.h"

namespace steelyard::partition {

/// The unwind table of an image: its functions and their landing pads, from .eh_frame_hdr, .eh_frame and
/// .gcc_except_table (Linux Standard Base 5, "Exception Frames"; Itanium C++ ABI, "Exception Handling Tables").
class UnwindTable {
 public:
  /// @param header address of .eh_frame_hdr; 0: there is none
  UnwindTable(const Image& image, std::uint64_t header);
  /// The function that contains this address.
  Function function_at(std::uint64_t address) const;

 private:
  struct Row {
    std::uint64_t begin, description;  ///< of a function, and of its frame description entry
  };
  Row row(std::uint64_t index) const;
  bool read_description(std::uint64_t address, Function& function) const;
  bool read_landings(std::uint64_t table, Function& function) const;

  const Image& image_;
  std::uint64_t header_;
  std::uint64_t rows_ = 0;  // in the table of .eh_frame_hdr, which is sorted
};

}  // namespace steelyard::partition
