// SPDX-License-Identifier: BSD-3-Clause
#include "partition/transfer.h"

#include <algorithm>

#include "partition/condition.h"

namespace steelyard::partition {

namespace {

constexpr std::uint64_t kAllQueries = ~std::uint64_t{0};  // Encoding: a bit for each query.

}  // namespace

void TransferFunction::report(const char* reason, std::uint64_t sources) {
  if (findings_ != nullptr) findings_->add(sources, reason, i_.address());
}

void TransferFunction::use(State& state, const Value& value, const char* reason) {
  if (!as_read(value).is_free()) report(reason, value.sources);
  if (value.is_stack_address()) state.mark_escaped(State::Escaped::from_address(value));
}

/// For an effect that other threads can see: only thread 0 may have it.
void TransferFunction::check_effect(const State& state) {
  for (const auto& [jump, branch] : state.divergent_branches) {
    if (branch.side != DivergentBranch::Side::thread_0) report(kSomeThreads, branch.sources);
  }
}

/// For a store of some threads at an unknown place, if that may be in the function's own part of the stack.
void TransferFunction::check_hidden_store(const State& state, const Value& address) {
  if (address.is_stack_address() || state.escaped.any()) check_own_store(state);
}

/// For a store in memory that each thread has for itself: its content would differ between threads.
void TransferFunction::check_own_store(const State& state) {
  for (const auto& [jump, branch] : state.divergent_branches) report(kSomeThreads, branch.sources);
}

/// Gives a value the identity of this instruction if nothing more exact is known of it.
Value TransferFunction::named(Value value) const {
  if (!value.is_certain()) value.identity = i_.address();
  return value;
}

Value TransferFunction::address_of(const State& state, const x86_op_mem& place) {
  if (place.base == X86_REG_RIP) return Value::number(static_cast<std::int64_t>(i_.next()) + place.disp);
  Value address = Value::number(place.disp);
  for (const auto& [name, scale] : {std::pair{place.base, 1}, std::pair{place.index, place.scale}}) {
    if (name == X86_REG_INVALID || name == X86_REG_RIZ || name == X86_REG_EIZ) continue;
    const int reg = number_of(name);
    address = address + (reg < 0 ? Value::any() : state.registers[reg] * Value::number(scale));
  }
  return address;
}

Value TransferFunction::load(const State& state, const Value& address, int size, std::uint64_t identity) {
  if (findings_ != nullptr) findings_->note_read(address, size);
  return state.load(address, size, identity);
}

Value TransferFunction::read_memory(const State& state, const cs_x86_op& operand) {
  const Value address = address_of(state, operand.mem);
  if (!address.is_free()) report(kAddress, address.sources);
  if (operand.mem.segment == X86_REG_FS || operand.mem.segment == X86_REG_GS) return Value::any(i_.address());
  return load(state, address, operand.size, i_.address());
}

Value TransferFunction::read(const State& state, int index) {
  const cs_x86_op& operand = i_.operand(index);
  if (operand.type == X86_OP_IMM) return Value::number(operand.imm);
  if (operand.type == X86_OP_REG && number_of(operand.reg) < 0) return Value::any();  // see use_vectors()
  const Value held = operand.type == X86_OP_MEM ? read_memory(state, operand) : state.registers[number_of(operand.reg)];
  if (operand.size == 1 && operand.type == X86_OP_REG && !is_second_byte(operand.reg) && held.has_free_byte())
    return Value::any();
  const Value value = as_read(held);
  return operand.size >= 4 || value.is_number() ? value : function_of(value, Value{});
}

/// What a register holds after `byte` was written into its lowest byte.
Value TransferFunction::with_byte(const Value& former, const Value& byte) const {
  const Value whole = function_of(former, byte);
  return whole.kind == Value::Kind::tainted ? Value::tainted(whole.sources, byte.is_free()) : named(whole);
}

void TransferFunction::set(State& state, int reg, const Value& value) {
  if (identity::is_of(value.identity, i_.address())) state.invalidate(i_.address());
  state.set(reg, value);
}

void TransferFunction::write(State& state, int index, const Value& value) {
  const cs_x86_op& operand = i_.operand(index);
  if (operand.type == X86_OP_REG) {
    const int reg = number_of(operand.reg);
    if (reg < 0) return use(state, value, kUnknown);
    if (operand.size >= 4) return set(state, reg, value);
    const bool is_lowest = operand.size == 1 && !is_second_byte(operand.reg);
    set(state, reg,
        is_lowest ? with_byte(state.registers[reg], value) : named(function_of(value, state.registers[reg])));
    return;
  }
  const Value address = address_of(state, operand.mem);
  if (!address.is_free()) report(kAddress, address.sources);
  const bool is_local = operand.mem.segment != X86_REG_FS && operand.mem.segment != X86_REG_GS;
  if (is_local && state.store(address, operand.size, value)) return;
  use(state, value, kStore);
  check_effect(state);
  if (is_local)
    check_hidden_store(state, address);
  else
    check_own_store(state);
}

/// A value that is the extension (`how`: an identity::Flag) of the lower half of `value`.
Value TransferFunction::extended(Value value, std::uint64_t how) const {
  if (value.identity != 0) value.identity |= how;
  return value;
}

void TransferFunction::set_flags(State& state, const Value& result) {
  state.flags = {};
  state.flags.of_trip_count = result.is_trip_count();
  if (!result.may_decide_branch()) state.flags = {.depends_on_team = true, .left = result, .right = Value::number(0)};
}

/// For an instruction that sets some of the flags, or may leave them alone.
void TransferFunction::weaken_flags(State& state, const Value& result) {
  const State::Flags before = state.flags;
  set_flags(state, result);
  state.flags.of_trip_count = state.flags.of_trip_count || before.of_trip_count;
  if (!before.depends_on_team) return;
  const Value mixed = Value::tainted(sources_of(before) | result.sources);
  state.flags = {.depends_on_team = true, .left = mixed, .right = mixed};
}

bool TransferFunction::move(State& state) {
  const cs_x86_op &to = i_.operand(0), &from = i_.operand(1);
  const int source = from.type == X86_OP_REG ? number_of(from.reg) : -1;
  // A byte that a comparison has set to 0 or 1.
  if (source >= 0 && from.size == 1 && to.size >= 4 && !is_second_byte(from.reg)) {
    Value whole = state.registers[source];
    whole.low_byte = false;
    if (are_same(whole, one_if_more(0, whole.division))) return write(state, 0, whole), true;
  }
  Value value = read(state, 1);
  if (to.type == X86_OP_REG && source >= 0 && from.size == 4)
    value = extended(value, i_.kind() == X86_INS_MOVSXD ? identity::kSignExtended : identity::kZeroExtended);
  write(state, 0, from.size >= 4 ? value : named(value));
  return true;
}

bool TransferFunction::try_copy(State& state) {
  switch (i_.kind()) {
    case X86_INS_MOV:
    case X86_INS_MOVABS:
    case X86_INS_MOVSXD:
    case X86_INS_MOVZX:
    case X86_INS_MOVSX:
      if (i_.operands() != 2) return false;
      return move(state);
    case X86_INS_LEA: {
      write(state, 0, named(address_of(state, i_.operand(1).mem)));
      return true;
    }
    case X86_INS_CDQE: set(state, kRax, extended(as_read(state.registers[kRax]), identity::kSignExtended)); return true;
    case X86_INS_CWDE: set(state, kRax, named(function_of(state.registers[kRax], Value{}))); return true;
    case X86_INS_CDQ:
    case X86_INS_CQO: set(state, kRdx, named(function_of(state.registers[kRax], Value{}))); return true;
    case X86_INS_XCHG: {
      const Value first = read(state, 0), second = read(state, 1);
      write(state, 0, second);
      write(state, 1, first);
      return true;
    }
    default: return false;
  }
}

/// An address in the stack that `and` with `mask` rounds down. From here on it has an origin of its own.
Value TransferFunction::aligned(const Value& address, std::int64_t mask) const {
  const std::int64_t span = ~mask;
  if (span < 0 || span > 4096 || (span & (span + 1)) != 0) return Value::somewhere();
  const auto origin =
      static_cast<int>((i_.address() * 64 + static_cast<std::uint64_t>(address.constant)) & INT32_MAX) | 1;
  return Value::in_stack(origin, address.constant, address.span + static_cast<int>(span));
}

bool TransferFunction::try_arithmetic(State& state) {
  const auto compute = [&](const Value& result) {
    write(state, 0, named(result));
    set_flags(state, result);
    return true;
  };
  const auto compute_and_weaken_flags = [&](const Value& result) {
    write(state, 0, named(result));
    weaken_flags(state, result);
    return true;
  };
  // The result of a bitwise operation: its lowest byte depends on the lowest bytes only.
  const auto bits_of = [](const Value& a, const Value& b) {
    const Value result = function_of(a, b);
    const bool has_free_byte = (a.is_free() || a.has_free_byte()) && (b.is_free() || b.has_free_byte());
    return result.kind == Value::Kind::tainted ? Value::tainted(result.sources, has_free_byte) : result;
  };
  const bool same = i_.names_one_register_twice();
  const Value first = i_.operands() > 0 ? read(state, 0) : Value{};
  const Value second = i_.operands() > 1 ? read(state, 1) : Value{};
  switch (i_.kind()) {
    case X86_INS_ADD: return compute(first + second);
    case X86_INS_SUB: return compute(same ? Value::number(0) : first - second);
    case X86_INS_INC: return compute_and_weaken_flags(first + Value::number(1));  // the carry stays
    case X86_INS_DEC: return compute_and_weaken_flags(first - Value::number(1));
    case X86_INS_NEG: return compute(Value::number(0) - first);
    case X86_INS_XOR: return compute(same ? Value::number(0) : bits_of(first, second));
    case X86_INS_SHL:
    case X86_INS_SAL: {
      const bool constant = i_.operands() == 2 && i_.operand(1).type == X86_OP_IMM && i_.operand(1).imm < 31;
      if (constant) return compute(first * Value::number(std::int64_t{1} << i_.operand(1).imm));
      return compute_and_weaken_flags(function_of(first, i_.operands() == 2 ? second : state.registers[kRcx]));
    }
    case X86_INS_AND:
      if (second.is_zero()) return compute(second);
      if (first.is_place() && second.is_number()) return compute(aligned(first, second.constant));
      return compute(bits_of(first, second));
    case X86_INS_OR:
      if (second == Value::number(-1)) return compute(second);
      return compute(bits_of(first, second));
    case X86_INS_NOT:
    case X86_INS_BSWAP: return write(state, 0, named(function_of(first, Value{}))), true;
    case X86_INS_SHR:
    case X86_INS_SAR:
    case X86_INS_ROL:
    case X86_INS_ROR:
      // By 0 bits it leaves the flags alone; a rotation, most of them.
      return compute_and_weaken_flags(function_of(first, i_.operands() > 1 ? second : state.registers[kRcx]));
    case X86_INS_ADC:
    case X86_INS_SBB: {
      const bool adds = i_.kind() == X86_INS_ADC;
      Value carry = state.flags.depends_on_team ? Value::tainted(sources_of(state.flags)) : Value::any();
      if (state.flags.has_carry && meaning_of(state, Relation::less) == Meaning::one_more)
        carry = one_if_more(sources_of(state.flags), division_of(state.flags));
      const Value other = same && !adds ? Value::number(0) : adds ? first + second : first - second;
      return compute(adds ? other + carry : other - carry);
    }
    case X86_INS_IMUL: {
      if (i_.operands() == 1) break;
      const Value& right = i_.operands() == 3 ? read(state, 2) : second;
      const Value& left = i_.operands() == 3 ? second : first;
      return compute(left * right);
    }
    default: return false;
  }
  return false;
}

void TransferFunction::multiply_or_divide(State& state) {
  const bool divides = i_.kind() == X86_INS_DIV || i_.kind() == X86_INS_IDIV;
  const Value by = read(state, 0), dividend = as_read(state.registers[kRax]);
  const Value upper = divides ? as_read(state.registers[kRdx]) : Value{};  // a product only writes it
  const int size = i_.operand(0).size;
  state.flags = {};
  if (!divides || !by.is_just(Value::count) || !dividend.is_team_invariant() || !upper.is_team_invariant() ||
      size < 4) {
    const Value result = function_of(function_of(by, dividend), upper);
    set(state, kRax, named(result));
    state.set(kRdx, result);
    if (!divides) set_flags(state, result);
    return;
  }
  const bool has_name = dividend.identity != 0 ||
                        (dividend.is_number() && static_cast<std::uint64_t>(dividend.constant) < identity::kSigned);
  std::uint64_t division = identity::kDivision | i_.address();
  if (dividend.identity != 0)
    division = dividend.identity;
  else if (has_name)
    division = identity::kConstant | static_cast<std::uint64_t>(dividend.constant);
  else
    state.invalidate(division);
  if (i_.kind() == X86_INS_IDIV) division |= identity::kSigned;
  if (size == 8) division |= identity::kWide;
  state.set(kRax, Value::term(Value::quotient, by.sources, division));
  state.set(kRdx, Value::term(Value::remainder, by.sources, division));
}

bool TransferFunction::try_comparison(State& state) {
  if (i_.kind() != X86_INS_CMP && i_.kind() != X86_INS_TEST) return false;
  const Value left = read(state, 0);
  Value right = read(state, 1);
  if (i_.kind() == X86_INS_TEST) {
    if (!i_.names_one_register_twice()) {
      set_flags(state, function_of(left, right));
      return true;
    }
    right = Value::number(0);
  }
  const bool depends_on_team = !left.may_decide_branch() || !right.may_decide_branch();
  state.flags = {.depends_on_team = depends_on_team,
                 .has_carry = depends_on_team,
                 .of_trip_count = !depends_on_team && (left.is_trip_count() || right.is_trip_count()),
                 .size = i_.kind() == X86_INS_CMP ? i_.operand(0).size : 0,
                 .left = left,
                 .right = right};
  return true;
}

void TransferFunction::diverge(State& state, DivergentBranch::Side side) const {
  state.divergent_branches[i_.address()] = {context_.reconvergence, sources_of(state.flags), side};
}

void TransferFunction::conditional_jump(State& state, State* jumped) {
  const Meaning meaning = meaning_of(state, relation_of(i_.kind()));
  if (meaning == Meaning::depends) report(kBranch, sources_of(state.flags));
  if (jumped == nullptr || meaning == Meaning::no_matter || meaning == Meaning::depends) return;
  state.name_values(i_.address());
  jumped->name_values(i_.address());
  if (meaning == Meaning::thread_0 || meaning == Meaning::not_thread_0) {
    diverge(state,
            meaning == Meaning::thread_0 ? DivergentBranch::Side::other_threads : DivergentBranch::Side::thread_0);
    diverge(*jumped,
            meaning == Meaning::thread_0 ? DivergentBranch::Side::thread_0 : DivergentBranch::Side::other_threads);
    return;
  }
  const bool more = meaning == Meaning::one_more;  // where it jumps
  diverge(state, more ? DivergentBranch::Side::none_more : DivergentBranch::Side::one_more);
  diverge(*jumped, more ? DivergentBranch::Side::one_more : DivergentBranch::Side::none_more);
  const std::uint64_t division = division_of(state.flags);
  state.resolve(division, !more);
  jumped->resolve(division, more);
}

void TransferFunction::table_jump(const Value& target) {
  if (!target.is_free()) report(kBranch, target.sources);
}

// cmovcc and setcc.
void TransferFunction::conditional_value(State& state) {
  const Meaning meaning = meaning_of(state, relation_of(i_.kind()));
  const std::uint64_t division = division_of(state.flags), sources = sources_of(state.flags);
  const bool is_move = i_.operands() == 2;
  const Value otherwise = is_move ? read(state, 0) : Value::number(0),
              chosen = is_move ? read(state, 1) : Value::number(1);
  Value value = Value::tainted(sources | otherwise.sources | chosen.sources);
  if (meaning == Meaning::no_matter) {
    value = joined(otherwise, chosen);
    if (state.flags.of_trip_count && !are_same(otherwise, chosen))
      value = function_of(value, Value::of_kind(Value::Kind::trip_count, kAllQueries));
  } else if (meaning == Meaning::one_more || meaning == Meaning::not_one_more) {
    const bool more = meaning == Meaning::one_more;
    const Value with = more ? chosen : otherwise, without = more ? otherwise : chosen;
    value = is_move ? either_share(resolved(with, division, true), resolved(without, division, false), true)
            : more  ? one_if_more(sources, division)
                    : Value::number(1) - one_if_more(sources, division);
    if (!value.is_certain()) value = Value::tainted(sources | value.sources);
  }
  if (is_move || i_.operand(0).type != X86_OP_REG) return write(state, 0, named(value));
  // gcc clears the other bytes before or after it.
  const int reg = number_of(i_.operand(0).reg);
  if (!value.has_terms()) return set(state, reg, with_byte(state.registers[reg], value));
  value.low_byte = !state.registers[reg].is_zero();
  set(state, reg, value);
}

bool TransferFunction::try_stack_operation(State& state) {
  Value& top = state.registers[kRsp];
  switch (i_.kind()) {
    case X86_INS_PUSH: {
      const Value value = read(state, 0);
      top = top + Value::number(-8);
      if (!state.store(top, 8, value)) use(state, value, kStore);
      return true;
    }
    case X86_INS_POP: {
      const Value value = load(state, top, 8, i_.address());
      top = top + Value::number(8);
      write(state, 0, value);
      return true;
    }
    case X86_INS_LEAVE:
      top = state.registers[kRbp];
      set(state, kRbp, load(state, top, 8, i_.address()));
      top = top + Value::number(8);
      return true;
    case X86_INS_NOP:
    case X86_INS_ENDBR64:
    case X86_INS_VZEROUPPER:
    case X86_INS_PAUSE:
    case X86_INS_UD2:
    case X86_INS_HLT: return true;
    default: return false;
  }
}

// Instructions that write their first operand, and otherwise only read their operands.
bool TransferFunction::try_pure_operation(State& state) {
  static constexpr std::string_view names[] = {"movd",    "movq",    "vmovd",    "vmovq", "cvt",    "vcvt", "movmsk",
                                               "vmovmsk", "pmovmsk", "vpmovmsk", "pextr", "vpextr", "kmov", "popcnt",
                                               "lzcnt",   "tzcnt",   "rorx",     "sarx",  "shlx",   "shrx"};
  const std::string_view name = i_.name();
  const bool known =
      std::any_of(std::begin(names), std::end(names), [&](std::string_view n) { return name.starts_with(n); });
  if (!known || i_.operands() < 2) return false;
  Value result = Value::any();
  for (int n = 1; n < i_.operands(); ++n) result = function_of(result, read(state, n));
  write(state, 0, named(result));
  if (name.ends_with("cnt")) set_flags(state, result);
  return true;
}

// An instruction that may do anything with its operands.
void TransferFunction::unknown_instruction(State& state) {
  const std::string_view name = i_.name();
  const bool stores = (name.starts_with("mov") || name.starts_with("vmov")) && i_.operands() == 2 &&
                      i_.operand(0).type == X86_OP_MEM && i_.operand(1).type == X86_OP_REG &&
                      number_of(i_.operand(1).reg) < 0;
  if (stores) return write(state, 0, Value::any());
  for (int n = 0; n < i_.operands(); ++n) {
    const cs_x86_op& operand = i_.operand(n);
    if (operand.type == X86_OP_MEM) {
      Value address = address_of(state, operand.mem);
      if (name.starts_with("rep") && address.is_stack_address()) address = Value::somewhere();
      if (!address.is_free()) report(kAddress, address.sources);
      use(state, load(state, address, operand.size, 0), kUnknown);
      if (n > 0) continue;
      check_effect(state);
      if (!state.store(address, operand.size, Value::any())) check_hidden_store(state, address);
    } else if (operand.type == X86_OP_REG && number_of(operand.reg) >= 0) {
      use(state, state.registers[number_of(operand.reg)], kUnknown);
      state.registers[number_of(operand.reg)] = Value::any();
    }
  }
  i_.for_implicit([&](int reg, bool) {
    if (reg < 0 || reg == kRsp) return;
    const bool is_length = reg == kRcx && name.starts_with("rep");
    if (!is_length || !state.registers[reg].may_decide_branch()) use(state, state.registers[reg], kUnknown);
    state.registers[reg] = Value::any();
  });
  if (name == "syscall" || name.starts_with("int")) {
    for (Value& value : state.registers) use(state, Value(value), kArgument);
  }
  bool has_vectors = name[0] == 'f';
  for (int n = 0; n < i_.operands(); ++n)
    has_vectors = has_vectors || (i_.operand(n).type == X86_OP_REG && vector_of(i_.operand(n).reg) >= 0);
  use_flags(state, has_vectors);
}

/// The flags that an unknown instruction reads and writes. It writes nothing that depends on the team.
void TransferFunction::use_flags(State& state, bool is_vector) {
  static constexpr std::string_view readers[] = {"fcmov", "rcl", "rcr", "adcx", "adox", "pushf", "lahf", "cmc"};
  const std::string_view name = i_.name();
  const auto starts = [&](std::string_view word) { return name.starts_with(word); };
  if (state.flags.depends_on_team && std::any_of(std::begin(readers), std::end(readers), starts))
    report(kUnknown, sources_of(state.flags));
  if (is_vector && (i_.compares_vectors() || i_.compares_strings()))
    state.flags = {};
  else if (!is_vector || i_.sets_flags())
    weaken_flags(state, Value::any());
}

void TransferFunction::apply(State& state, State* jumped) {
  if (i_.is_in(CS_GRP_CALL)) return call(state);
  if (i_.is_in(CS_GRP_RET)) return return_values(state);
  if (i_.is_in(CS_GRP_JUMP)) {
    if (context_.is_tail_jump) return pass_arguments(state);
    const bool reads_rcx = i_.kind() == X86_INS_JRCXZ || i_.kind() == X86_INS_JECXZ || i_.kind() == X86_INS_LOOP ||
                           i_.kind() == X86_INS_LOOPE || i_.kind() == X86_INS_LOOPNE;
    if (reads_rcx && !as_read(state.registers[kRcx]).may_decide_branch())
      report(kBranch, state.registers[kRcx].sources);
    if (i_.kind() != X86_INS_JMP)
      conditional_jump(state, jumped);
    else if (!i_.target())  // through a table
      table_jump(read(state, 0));
    return;
  }
  use_vectors(state);
  const std::string_view name = i_.name();
  if (name.starts_with("cmov") || name.starts_with("set")) return conditional_value(state);
  if (try_comparison(state) || try_copy(state) || try_stack_operation(state)) return;
  if (i_.kind() == X86_INS_DIV || i_.kind() == X86_INS_IDIV || i_.kind() == X86_INS_MUL ||
      (i_.kind() == X86_INS_IMUL && i_.operands() == 1))
    return multiply_or_divide(state);
  if (!try_pure_operation(state) && !try_arithmetic(state)) unknown_instruction(state);
}

}  // namespace steelyard::partition
