// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "partition/image.h"
#include "partition/instruction.h"

namespace steelyard::partition {

/// What a function does with general registers, a bit each.
struct RegisterUse {
  std::uint32_t reads = ~0u;  ///< it may read what these hold at its entry
  std::uint32_t keeps = ~0u;  ///< these may hold the same when it returns
  bool returns = true;        ///< false: it never does
};

/// The word through which this code jumps at once: a stub of the procedure linkage table. Nothing if it is no stub.
std::optional<std::uint64_t> slot_behind(const Image& image, const Decoder& decoder, std::uint64_t address);

/// Of the functions of an image that call no deeper than a few levels, all else as if they used everything.
class RegisterUses {
 public:
  RegisterUses(const Image& image, const Decoder& decoder) : image_(image), decoder_(decoder) {}
  RegisterUse of(std::uint64_t entry, int depth = 0);

 private:
  RegisterUse find(std::uint64_t entry, int depth);
  RegisterUse of_call(const Instruction& call, int depth, std::string_view& name);

  const Image& image_;
  const Decoder& decoder_;
  std::map<std::uint64_t, RegisterUse> known_;
};

}  // namespace steelyard::partition
