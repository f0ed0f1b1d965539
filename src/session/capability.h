// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "node/segment.h"
#include "observe/record.h"

namespace steelyard::session {

struct Session;

/// A capability as the Session knows it, from the start to the record. One that is off is deleted at the start. Regions
/// and waits call what they need of a capability directly, by the pointers in Session.
class Capability {
 public:
  static constexpr int kBits = 4;          ///< Encoding: what all ranks agree on of one capability
  static constexpr std::uint32_t kOn = 1;  ///< Encoding: the first of them

  virtual ~Capability() = default;
  /// The bits that this rank wants.
  virtual std::uint32_t wanted(const Session&) const { return kOn; }
  /// The bits that all ranks want. Called only if kOn is among them.
  virtual void agreed(std::uint32_t /*bits*/, Session&) {}
  /// Its part of the segment; without `attach` if it has none. If there is no segment, a capability with such a part is
  /// off.
  virtual node::Footprint footprint(Session&) { return {}; }
  /// Its words in the header line; empty if there are none.
  virtual std::string header(const Session&) const { return {}; }
  /// Adds its part of this rank's record, and remarks on what it did not do.
  virtual void contribute(const Session&, observe::Contribution& part) const = 0;
};

std::unique_ptr<Capability> make_cores();
std::unique_ptr<Capability> make_loops();
std::unique_ptr<Capability> make_collectives();

/// Why no core of this node can move or be lent; empty if cores can.
std::string immovable_reason(const Session& session);
/// The value of an option as the user writes it.
std::string text_of_option(std::string_view name);

}  // namespace steelyard::session
