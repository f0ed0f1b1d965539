// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "partition/image.h"

namespace steelyard::partition {

/// Functions and their landing pads as .eh_frame_hdr, .eh_frame and .gcc_except_table say (Linux Standard Base 5,
/// "Exception Frames"; Itanium C++ ABI, "Exception Handling Tables").
class Unwind {
 public:
  /// @param header address of .eh_frame_hdr in the image; 0: there is none
  Unwind(const Image& image, std::uint64_t header);
  Function function_at(std::uint64_t address) const;

 private:
  struct Row {
    std::uint64_t begin, description;
  };
  Row row(std::uint64_t index) const;
  bool read_description(std::uint64_t address, Function& function) const;
  bool read_landings(std::uint64_t table, Function& function) const;

  const Image& image_;
  std::uint64_t header_;
  std::uint64_t rows_ = 0;  // in the table for binary search
};

}  // namespace steelyard::partition
