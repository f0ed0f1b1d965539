// SPDX-License-Identifier: BSD-3-Clause
// For builds without a decoder for this machine's code: nothing is proved.
#include "partition/independence.h"
#include "partition/proof.h"

namespace steelyard::partition {

Proof prove(const Image&, std::uint64_t address, std::uint64_t) {
  return {{}, "was not decoded: this build of Steelyard has no decoder for this machine", address};
}

std::string why_not_independent(const Image&, std::uint64_t) { return "was not decoded"; }

}  // namespace steelyard::partition
