// SPDX-License-Identifier: BSD-3-Clause
#include "partition/condition.h"

namespace steelyard::partition {

Relation relation_of(x86_insn kind) {
  switch (kind) {
    case X86_INS_JL:
    case X86_INS_JB:
    case X86_INS_CMOVL:
    case X86_INS_CMOVB:
    case X86_INS_SETL:
    case X86_INS_SETB: return Relation::less;
    case X86_INS_JGE:
    case X86_INS_JAE:
    case X86_INS_CMOVGE:
    case X86_INS_CMOVAE:
    case X86_INS_SETGE:
    case X86_INS_SETAE: return Relation::not_less;
    case X86_INS_JG:
    case X86_INS_JA:
    case X86_INS_CMOVG:
    case X86_INS_CMOVA:
    case X86_INS_SETG:
    case X86_INS_SETA: return Relation::greater;
    case X86_INS_JLE:
    case X86_INS_JBE:
    case X86_INS_CMOVLE:
    case X86_INS_CMOVBE:
    case X86_INS_SETLE:
    case X86_INS_SETBE: return Relation::not_greater;
    case X86_INS_JE:
    case X86_INS_CMOVE:
    case X86_INS_SETE: return Relation::equal;
    case X86_INS_JNE:
    case X86_INS_CMOVNE:
    case X86_INS_SETNE: return Relation::not_equal;
    default: return Relation::unknown;
  }
}

Meaning meaning_of(const State& state, Relation relation) {
  const State::Flags& flags = state.flags;
  if (!flags.depends_on_team) return Meaning::no_matter;
  if (flags.left.is_just(Value::id) && flags.right.is_zero()) {
    if (relation == Relation::equal || (flags.has_carry && relation == Relation::not_greater)) return Meaning::thread_0;
    if (relation == Relation::not_equal || (flags.has_carry && relation == Relation::greater))
      return Meaning::not_thread_0;
  }
  if (!flags.has_carry) return Meaning::depends;
  if (flags.left.is_just(Value::id) && flags.right.is_just(Value::remainder)) {
    if (relation == Relation::less) return Meaning::one_more;
    if (relation == Relation::not_less) return Meaning::not_one_more;
  }
  if (flags.left.is_just(Value::remainder) && flags.right.is_just(Value::id)) {
    if (relation == Relation::greater) return Meaning::one_more;
    if (relation == Relation::not_greater) return Meaning::not_one_more;
  }
  return Meaning::depends;
}

std::uint64_t sources_of(const State::Flags& flags) {
  return flags.depends_on_team ? flags.left.sources | flags.right.sources : 0;
}

std::uint64_t division_of(const State::Flags& flags) {
  return flags.left.division != 0 ? flags.left.division : flags.right.division;
}

Value one_if_more(std::uint64_t sources, std::uint64_t division) {
  return Value::term(Value::share, sources, division) - Value::term(Value::quotient, sources, division);
}

}  // namespace steelyard::partition
