// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>

#include "node/segment.h"
#include "observe/record.h"

namespace steelyard::session {

struct Session;

/// A capability as the Session knows it, from the start to the record. One that is off is deleted at the start. Regions
/// and waits call what they need of a capability directly, by the pointers in Session.
class Capability {
 public:
  virtual ~Capability() = default;

  static constexpr int kBits = 4;          ///< what all ranks agree on of one capability
  static constexpr std::uint32_t kOn = 1;  ///< the first of them
  /// The bits that this rank wants.
  virtual std::uint32_t wanted(const Session&) const { return kOn; }
  /// What all ranks want. Only if kOn is among the bits.
  virtual void agreed(std::uint32_t /*bits*/, const Session&) {}
  /// Its part of the segment; without `attach` if it has none. If there is no segment, a capability with such a part is
  /// off.
  virtual node::Footprint footprint(Session&) { return {}; }
  /// Its words in the header line; empty if there are none.
  virtual std::string header(const Session&) const { return {}; }
  /// Adds its part of this rank's record, and remarks on what it did not do.
  virtual void contribute(const Session&, observe::Contribution& part) const = 0;
};

}  // namespace steelyard::session
