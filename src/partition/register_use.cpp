// SPDX-License-Identifier: BSD-3-Clause
#include "partition/register_use.h"

#include <string_view>
#include <utility>
#include <vector>

#include "partition/known_functions.h"
#include "partition/proof.h"

namespace steelyard::partition {

namespace {

// Limit of time: the instructions of a called function.
constexpr int kMostInCallee = kMostInstructions / 10;

std::uint32_t first_arguments(int count) {
  std::uint32_t registers = 0;
  for (int n = 0; n < count; ++n) registers |= 1u << kArguments[n];
  return registers;
}

std::uint32_t caller_saved() {
  std::uint32_t registers = 0;
  for (const int r : kCallerSaved) registers |= 1u << r;
  return registers;
}

}  // namespace

std::optional<std::uint64_t> slot_of_stub(const Image& image, const Decoder& decoder, std::uint64_t address) {
  for (int i = 0; i < 2; ++i) {
    const std::optional<Instruction> there = decoder.at(image, address);
    if (!there) return std::nullopt;
    if (there->kind() == X86_INS_JMP) return there->slot();
    if (there->is_in(CS_GRP_JUMP) || there->is_in(CS_GRP_CALL) || there->next() - address != 4) return std::nullopt;
    address = there->next();  // past an endbr64
  }
  return std::nullopt;
}

RegisterUse RegisterUses::of(std::uint64_t entry) {
  const auto [known, is_new] = known_.try_emplace(entry);
  if (is_new) known->second = find(entry);
  return known->second;
}

/// The register use of a call, or of a jump to another function.
RegisterUse RegisterUses::of_call(const Instruction& call) const {
  std::optional<std::uint64_t> slot = call.slot();
  if (const auto target = call.target()) {
    slot = slot_of_stub(image_, decoder_, *target);
    if (!slot) return {};
  }
  const std::string_view name = slot ? image_.imported(*slot) : std::string_view();
  return {first_arguments(arguments_of(name)), ~caller_saved(), returns(name)};
}

RegisterUse RegisterUses::find(std::uint64_t entry) const {
  RegisterUse use{0, 0, false};
  std::map<std::uint64_t, std::uint32_t> kept_at;  // registers that still hold what they held at the entry
  std::vector<std::pair<std::uint64_t, std::uint32_t>> open{{entry, ~0u}};
  for (int count = 0; !open.empty(); ++count) {
    const auto [address, kept] = open.back();
    open.pop_back();
    std::uint32_t& known = kept_at[address];
    if ((kept & ~known) == 0) continue;
    known |= kept;
    const std::optional<Instruction> i = decoder_.at(image_, address);
    if (!i || count > kMostInCallee) return {};
    use.reads |= i->reads() & kept;
    const bool is_call = i->is_in(CS_GRP_CALL), is_jump = i->is_in(CS_GRP_JUMP);
    const std::optional<std::uint64_t> target = i->target();
    if (is_call || (i->kind() == X86_INS_JMP && (!target || slot_of_stub(image_, decoder_, *target)))) {
      const RegisterUse theirs = of_call(*i);
      use.reads |= kept & theirs.reads;
      if (is_call && theirs.returns) open.emplace_back(i->next(), kept & theirs.keeps);
      if (!is_call && !i->slot() && !target) return {};  // through a table
      if (!is_call) use.keeps |= kept & theirs.keeps;
      if (!is_call) use.returns = use.returns || theirs.returns;
    } else if (i->is_in(CS_GRP_RET)) {
      use.keeps |= kept;
      use.returns = true;
    } else if (is_jump) {
      if (!target) return {};
      open.emplace_back(*target, kept);
      if (i->kind() != X86_INS_JMP) open.emplace_back(i->next(), kept);
    } else if (i->kind() != X86_INS_UD2 && i->kind() != X86_INS_HLT) {
      open.emplace_back(i->next(), kept & ~i->writes());
    }
  }
  return use;
}

}  // namespace steelyard::partition
