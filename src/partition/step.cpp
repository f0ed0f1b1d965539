// SPDX-License-Identifier: BSD-3-Clause
#include "partition/step.h"

#include <algorithm>

#include "partition/condition.h"

namespace steelyard::partition {

namespace {

// Sets of registers that are no general ones, a bit each (System V ABI): of results, and of arguments, xmm0 to xmm7.
constexpr std::uint64_t kReturnedVectors =
    std::uint64_t{1} << kXmm0 | std::uint64_t{1} << kXmm1 | std::uint64_t{1} << kX87;
constexpr std::uint64_t kArgumentVectors = (std::uint64_t{1} << kXmm8) - 1;

constexpr std::uint64_t kAllQueries = ~std::uint64_t{0};  // Encoding: a bit for each query.

constexpr const char* kAddress = "computes an address from the thread ID or the team size";
constexpr const char* kStore = "stores a value that depends on the thread ID or the team size";
constexpr const char* kArgument = "passes a value that depends on the thread ID or the team size to a function";
constexpr const char* kBranch = "branches on a value that depends on the thread ID or the team size";
constexpr const char* kReturn = "returns a value that depends on the thread ID or the team size";
constexpr const char* kUnknown = "uses the thread ID or the team size in an instruction that Steelyard does not know";
constexpr const char* kSomeThreads = "has code that only some of the threads execute";

}  // namespace

void Transition::complain(const char* reason, std::uint64_t sources) {
  if (findings_ != nullptr) findings_->add(sources, reason, i_.address());
}

void Transition::use(State& state, const Value& value, const char* reason) {
  if (!as_read(value).is_free()) complain(reason, value.sources);
  if (value.is_frame()) state.expose(State::Exposed::behind(value));
}

/// Only thread 0 may do what another thread, or a later one, can see.
void Transition::check_effect(const State& state) {
  for (const auto& [jump, control] : state.controls) {
    if (control.way != Control::Way::thread_0) complain(kSomeThreads, control.sources);
  }
}

/// A store of some threads somewhere in the function's own part of the stack, which then differs between threads.
void Transition::check_hidden_store(const State& state, const Value& address) {
  if (address.is_frame() || state.exposed.any()) check_own_store(state);
}

/// A store of some threads in what each thread has for itself.
void Transition::check_own_store(const State& state) {
  for (const auto& [jump, control] : state.controls) complain(kSomeThreads, control.sources);
}

/// Named after this instruction if nothing more exact is known.
Value Transition::made(Value value) const {
  if (!value.is_certain()) value.identity = i_.address();
  return value;
}

Value Transition::address_of(const State& state, const x86_op_mem& place) {
  if (place.base == X86_REG_RIP) return Value::number(static_cast<std::int64_t>(i_.next()) + place.disp);
  Value address = Value::number(place.disp);
  for (const auto& [name, scale] : {std::pair{place.base, 1}, std::pair{place.index, place.scale}}) {
    if (name == X86_REG_INVALID || name == X86_REG_RIZ || name == X86_REG_EIZ) continue;
    const int reg = number_of(name);
    address = address + (reg < 0 ? Value::any() : state.registers[reg] * Value::number(scale));
  }
  return address;
}

Value Transition::load(const State& state, const Value& address, int size, std::uint64_t identity) {
  if (findings_ != nullptr) findings_->note_read(address, size);
  return state.load(address, size, identity);
}

Value Transition::read_memory(const State& state, const cs_x86_op& operand) {
  const Value address = address_of(state, operand.mem);
  if (!address.is_free()) complain(kAddress, address.sources);
  if (operand.mem.segment == X86_REG_FS || operand.mem.segment == X86_REG_GS) return Value::any(i_.address());
  return load(state, address, operand.size, i_.address());
}

Value Transition::read(const State& state, int index) {
  const cs_x86_op& operand = i_.operand(index);
  if (operand.type == X86_OP_IMM) return Value::number(operand.imm);
  if (operand.type == X86_OP_REG && number_of(operand.reg) < 0) return Value::any();  // see use_vectors()
  const Value held = operand.type == X86_OP_MEM ? read_memory(state, operand) : state.registers[number_of(operand.reg)];
  if (operand.size == 1 && operand.type == X86_OP_REG && !is_second_byte(operand.reg) && held.has_free_byte())
    return Value::any();
  const Value value = as_read(held);
  return operand.size >= 4 || value.is_number() ? value : function_of(value, Value{});
}

/// What a register holds after its lowest byte was written.
Value Transition::with_byte(const Value& former, const Value& byte) const {
  const Value whole = function_of(former, byte);
  return whole.kind == Value::Kind::mixed ? Value::mix(whole.sources, byte.is_free()) : made(whole);
}

void Transition::set(State& state, int reg, const Value& value) {
  if (identity::is_of(value.identity, i_.address())) state.forget(i_.address());
  state.set(reg, value);
}

void Transition::write(State& state, int index, const Value& value) {
  const cs_x86_op& operand = i_.operand(index);
  if (operand.type == X86_OP_REG) {
    const int reg = number_of(operand.reg);
    if (reg < 0) return use(state, value, kUnknown);
    if (operand.size >= 4) return set(state, reg, value);
    const bool is_lowest = operand.size == 1 && !is_second_byte(operand.reg);
    set(state, reg,
        is_lowest ? with_byte(state.registers[reg], value) : made(function_of(value, state.registers[reg])));
    return;
  }
  const Value address = address_of(state, operand.mem);
  if (!address.is_free()) complain(kAddress, address.sources);
  const bool is_local = operand.mem.segment != X86_REG_FS && operand.mem.segment != X86_REG_GS;
  if (is_local && state.store(address, operand.size, value)) return;
  use(state, value, kStore);
  check_effect(state);
  if (is_local)
    check_hidden_store(state, address);
  else
    check_own_store(state);
}

/// Of its lower half.
Value Transition::extended(Value value, std::uint64_t how) const {
  if (value.identity != 0) value.identity |= how;
  return value;
}

void Transition::set_flags(State& state, const Value& result) {
  state.flags = {};
  state.flags.of_size = result.is_size();
  if (!result.is_bound()) state.flags = {.matter = true, .left = result, .right = Value::number(0)};
}

/// Some of them may be as they were.
void Transition::blur_flags(State& state, const Value& result) {
  const State::Flags before = state.flags;
  set_flags(state, result);
  state.flags.of_size = state.flags.of_size || before.of_size;
  if (!before.matter) return;
  const Value mixed = Value::mix(sources_of(before) | result.sources);
  state.flags = {.matter = true, .left = mixed, .right = mixed};
}

bool Transition::copy(State& state) {
  const cs_x86_op &to = i_.operand(0), &from = i_.operand(1);
  const int source = from.type == X86_OP_REG ? number_of(from.reg) : -1;
  // A byte that holds 0 or 1 by a comparison.
  if (source >= 0 && from.size == 1 && to.size >= 4 && !is_second_byte(from.reg)) {
    Value whole = state.registers[source];
    whole.low_byte = false;
    if (are_same(whole, one_if_more(0, whole.iterations))) return write(state, 0, whole), true;
  }
  Value value = read(state, 1);
  if (to.type == X86_OP_REG && source >= 0 && from.size == 4)
    value = extended(value, i_.kind() == X86_INS_MOVSXD ? identity::kSignExtended : identity::kZeroExtended);
  write(state, 0, from.size >= 4 ? value : made(value));
  return true;
}

bool Transition::is_copy(State& state) {
  switch (i_.kind()) {
    case X86_INS_MOV:
    case X86_INS_MOVABS:
    case X86_INS_MOVSXD:
    case X86_INS_MOVZX:
    case X86_INS_MOVSX:
      if (i_.operands() != 2) return false;
      return copy(state);
    case X86_INS_LEA: {
      write(state, 0, made(address_of(state, i_.operand(1).mem)));
      return true;
    }
    case X86_INS_CDQE: set(state, kRax, extended(as_read(state.registers[kRax]), identity::kSignExtended)); return true;
    case X86_INS_CWDE: set(state, kRax, made(function_of(state.registers[kRax], Value{}))); return true;
    case X86_INS_CDQ:
    case X86_INS_CQO: set(state, kRdx, made(function_of(state.registers[kRax], Value{}))); return true;
    case X86_INS_XCHG: {
      const Value first = read(state, 0), second = read(state, 1);
      write(state, 0, second);
      write(state, 1, first);
      return true;
    }
    default: return false;
  }
}

/// An address of the stack that is rounded down. It is counted from another origin from here on.
Value Transition::aligned(const Value& address, std::int64_t mask) const {
  const std::int64_t span = ~mask;
  if (span < 0 || span > 4096 || (span & (span + 1)) != 0) return Value::somewhere();
  const auto origin =
      static_cast<int>((i_.address() * 64 + static_cast<std::uint64_t>(address.constant)) & INT32_MAX) | 1;
  return Value::in_frame(origin, address.constant, address.span + static_cast<int>(span));
}

bool Transition::is_arithmetic(State& state) {
  const auto compute = [&](const Value& result) {
    write(state, 0, made(result));
    set_flags(state, result);
    return true;
  };
  const auto compute_and_blur = [&](const Value& result) {
    write(state, 0, made(result));
    blur_flags(state, result);
    return true;
  };
  // Bit by bit.
  const auto bits_of = [](const Value& a, const Value& b) {
    const Value result = function_of(a, b);
    const bool has_free_byte = (a.is_free() || a.has_free_byte()) && (b.is_free() || b.has_free_byte());
    return result.kind == Value::Kind::mixed ? Value::mix(result.sources, has_free_byte) : result;
  };
  const bool same = i_.names_one_register_twice();
  const Value first = i_.operands() > 0 ? read(state, 0) : Value{};
  const Value second = i_.operands() > 1 ? read(state, 1) : Value{};
  switch (i_.kind()) {
    case X86_INS_ADD: return compute(first + second);
    case X86_INS_SUB: return compute(same ? Value::number(0) : first - second);
    case X86_INS_INC: return compute_and_blur(first + Value::number(1));  // the carry stays
    case X86_INS_DEC: return compute_and_blur(first - Value::number(1));
    case X86_INS_NEG: return compute(Value::number(0) - first);
    case X86_INS_XOR: return compute(same ? Value::number(0) : bits_of(first, second));
    case X86_INS_SHL:
    case X86_INS_SAL: {
      const bool constant = i_.operands() == 2 && i_.operand(1).type == X86_OP_IMM && i_.operand(1).imm < 31;
      if (constant) return compute(first * Value::number(std::int64_t{1} << i_.operand(1).imm));
      return compute_and_blur(function_of(first, i_.operands() == 2 ? second : state.registers[kRcx]));
    }
    case X86_INS_AND:
      if (second.is_zero()) return compute(second);
      if (first.is_place() && second.is_number()) return compute(aligned(first, second.constant));
      return compute(bits_of(first, second));
    case X86_INS_OR:
      if (second == Value::number(-1)) return compute(second);
      return compute(bits_of(first, second));
    case X86_INS_NOT:
    case X86_INS_BSWAP: return write(state, 0, made(function_of(first, Value{}))), true;
    case X86_INS_SHR:
    case X86_INS_SAR:
    case X86_INS_ROL:
    case X86_INS_ROR:
      // By 0 bits it leaves the flags alone; a rotation, most of them.
      return compute_and_blur(function_of(first, i_.operands() > 1 ? second : state.registers[kRcx]));
    case X86_INS_ADC:
    case X86_INS_SBB: {
      const bool adds = i_.kind() == X86_INS_ADC;
      Value carry = state.flags.matter ? Value::mix(sources_of(state.flags)) : Value::any();
      if (state.flags.carries && meaning_of(state, Relation::less) == Meaning::one_more)
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

void Transition::divide(State& state) {
  const bool divides = i_.kind() == X86_INS_DIV || i_.kind() == X86_INS_IDIV;
  const Value by = read(state, 0), dividend = as_read(state.registers[kRax]);
  const Value upper = divides ? as_read(state.registers[kRdx]) : Value{};  // a product only writes it
  const int size = i_.operand(0).size;
  state.flags = {};
  if (!divides || !by.is_just(Value::count) || !dividend.is_public() || !upper.is_public() || size < 4) {
    const Value result = function_of(function_of(by, dividend), upper);
    set(state, kRax, made(result));
    state.set(kRdx, result);
    if (!divides) set_flags(state, result);
    return;
  }
  const bool has_name = dividend.identity != 0 ||
                        (dividend.is_number() && static_cast<std::uint64_t>(dividend.constant) < identity::kSigned);
  std::uint64_t iterations = identity::kDivision | i_.address();
  if (dividend.identity != 0)
    iterations = dividend.identity;
  else if (has_name)
    iterations = identity::kConstant | static_cast<std::uint64_t>(dividend.constant);
  else
    state.forget(iterations);
  if (i_.kind() == X86_INS_IDIV) iterations |= identity::kSigned;
  if (size == 8) iterations |= identity::kWide;
  state.set(kRax, Value::term(Value::quotient, by.sources, iterations));
  state.set(kRdx, Value::term(Value::remainder, by.sources, iterations));
}

bool Transition::is_comparison(State& state) {
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
  const bool matter = !left.is_bound() || !right.is_bound();
  state.flags = {.matter = matter,
                 .carries = matter,
                 .of_size = !matter && (left.is_size() || right.is_size()),
                 .size = i_.kind() == X86_INS_CMP ? i_.operand(0).size : 0,
                 .left = left,
                 .right = right};
  return true;
}

void Transition::enter(State& state, Control::Way way) const {
  state.controls[i_.address()] = {around_.meeting, sources_of(state.flags), way};
}

// A conditional jump.
void Transition::choose(State& state, State* jumped) {
  const Meaning meaning = meaning_of(state, relation_of(i_.kind()));
  if (meaning == Meaning::depends) complain(kBranch, sources_of(state.flags));
  if (jumped == nullptr || meaning == Meaning::no_matter || meaning == Meaning::depends) return;
  state.name_values(i_.address());
  jumped->name_values(i_.address());
  if (meaning == Meaning::thread_0 || meaning == Meaning::not_thread_0) {
    enter(state, meaning == Meaning::thread_0 ? Control::Way::others : Control::Way::thread_0);
    enter(*jumped, meaning == Meaning::thread_0 ? Control::Way::thread_0 : Control::Way::others);
    return;
  }
  const bool more = meaning == Meaning::one_more;  // where it jumps
  enter(state, more ? Control::Way::not_more : Control::Way::more);
  enter(*jumped, more ? Control::Way::more : Control::Way::not_more);
  const std::uint64_t iterations = division_of(state.flags);
  state.resolve(iterations, !more);
  jumped->resolve(iterations, more);
}

void Transition::branch(const Value& target) {
  if (!target.is_free()) complain(kBranch, target.sources);
}

// A value by a condition: cmovcc, setcc.
void Transition::select(State& state) {
  const Meaning meaning = meaning_of(state, relation_of(i_.kind()));
  const std::uint64_t iterations = division_of(state.flags), sources = sources_of(state.flags);
  const bool is_move = i_.operands() == 2;
  const Value otherwise = is_move ? read(state, 0) : Value::number(0),
              chosen = is_move ? read(state, 1) : Value::number(1);
  Value value = Value::mix(sources | otherwise.sources | chosen.sources);
  if (meaning == Meaning::no_matter) {
    value = joined(otherwise, chosen);
    if (state.flags.of_size && !are_same(otherwise, chosen))
      value = function_of(value, Value::of_kind(Value::Kind::size, kAllQueries));
  } else if (meaning == Meaning::one_more || meaning == Meaning::not_one_more) {
    const bool more = meaning == Meaning::one_more;
    const Value with = more ? chosen : otherwise, without = more ? otherwise : chosen;
    value = is_move ? either_share(resolved(with, iterations, true), resolved(without, iterations, false), true)
            : more  ? one_if_more(sources, iterations)
                    : Value::number(1) - one_if_more(sources, iterations);
    if (!value.is_certain()) value = Value::mix(sources | value.sources);
  }
  if (is_move || i_.operand(0).type != X86_OP_REG) return write(state, 0, made(value));
  // Its other bytes were cleared before, or will be.
  const int reg = number_of(i_.operand(0).reg);
  if (!value.has_terms()) return set(state, reg, with_byte(state.registers[reg], value));
  value.low_byte = !state.registers[reg].is_zero();
  set(state, reg, value);
}

bool Transition::is_stack(State& state) {
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

void Transition::pass_arguments(State& state) {
  const Callee& callee = around_.callee;
  check_effect(state);
  use_vectors_of(state, kArgumentVectors, kArgument);
  if (throws(callee.name) && !around_.lands && !returns_nothing_) {
    for (const auto& [jump, control] : state.controls) complain(kReturn, control.sources);
  }
  const auto pass = [&](const Value& value, bool surely) {
    if (surely || !value.is_remnant()) use(state, value, kArgument);
  };
  const bool known = callee.is_imported && is_known(callee.name);
  const int most = callee.is_imported ? arguments_of(callee.name) : kMostArguments;
  for (int n = 0; n < most; ++n) {
    const Value& value = state.registers[kArguments[n]];
    const bool is_lost = value.kind == Value::Kind::lost && value.sources == 0;
    if (is_lost) break;  // the next ones are no arguments either
    if (!callee.is_imported && (callee.registers.reads >> kArguments[n] & 1) == 0) continue;
    const bool is_length = n == 2 && takes_length(callee.name) && value.is_size();
    if (!is_length) pass(value, known || (!callee.is_imported && callee.registers.reads != ~0u));
  }
  if (known) return;
  const Value& chain = state.registers[kR10];  // the static chain of a nested function (System V ABI)
  const bool has_chain = !callee.is_imported && (callee.registers.reads >> kR10 & 1) != 0;
  if (has_chain) pass(chain, true);
  if (!state.passes_on_stack) return;
  const Value &top = state.registers[kRsp], &frame = state.registers[kRbp];
  const bool has_frame = top.is_frame() && frame.is_frame() && frame.origin == top.origin;
  const std::int64_t end = has_frame ? around_.kept.lowest_with(frame.constant - top.constant) : around_.kept.lowest;
  for (const auto& [place, word] : state.words) {
    const bool is_above = top.is_frame() && top.origin == place.origin && place.offset - top.constant >= end;
    if (!is_above) use(state, Value(word.value), kArgument);
  }
}

void Transition::call(State& state) {
  if (i_.operands() == 1 && i_.operand(0).type != X86_OP_IMM) use(state, read(state, 0), kAddress);
  const bool is_harmless = around_.callee.query >= 0 || around_.callee.name == "GOMP_barrier";
  if (!is_harmless) pass_arguments(state);
  if (state.exposed.any() && !is_harmless) {
    for (const auto& [jump, control] : state.controls) complain(kSomeThreads, control.sources);
  }
  state.after_call(around_.callee);
  // What it returns.
  if (as_read(state.registers[kRax]).is_free()) set(state, kRax, Value::any(i_.address()));
  if (as_read(state.registers[kRdx]).is_free() && !is_known(around_.callee.name)) set(state, kRdx, Value::any());
  if (!is_harmless) state.lost_vectors &= ~kReturnedVectors;
  if (!is_harmless && !state.controls.empty()) state.written_vectors |= kReturnedVectors;
  const std::uint64_t query = std::uint64_t{1} << std::clamp(around_.callee.query, 0, 63);
  if (around_.callee.name == "omp_get_thread_num") state.registers[kRax] = Value::term(Value::id, query);
  if (around_.callee.name == "omp_get_num_threads") state.registers[kRax] = Value::term(Value::count, query);
}

void Transition::return_values(State& state) {
  if (returns_nothing_) return;
  use_vectors_of(state, kReturnedVectors, kReturn);
  for (const int r : {kRax, kRdx}) {
    const Value& value = state.registers[r];
    if (!value.is_remnant()) use(state, value, kReturn);
  }
  // What it returns may be another value on the other way.
  for (const auto& [jump, control] : state.controls) complain(kReturn, control.sources);
}

/// Registers of other kinds hold nothing that depends on the team but what is written on one way of a jump alone.
void Transition::use_vectors(State& state) {
  const std::string_view name = i_.name();
  const bool is_older = name[0] == 'f';  // its registers are a stack
  const auto vector_at = [&](int n) { return i_.operand(n).type == X86_OP_REG ? vector_of(i_.operand(n).reg) : -1; };
  const bool makes_mask = i_.compares_strings() && name.ends_with("m");
  const int target = is_older ? kVectorRegisters - 1 : makes_mask ? kXmm0 : i_.operands() > 0 ? vector_at(0) : -1;
  const bool writes = target >= 0 && !i_.compares_vectors();
  const bool reads_target = !writes || !i_.overwrites_vector();
  std::uint64_t sources = is_older ? state.vectors[target] : 0;
  for (int n = reads_target ? 0 : 1; n < i_.operands(); ++n) {
    if (const int vector = vector_at(n); vector >= 0) sources |= state.vectors[vector];
  }
  for (int n = 0; n < i_.operands(); ++n) {  // addresses that are gathered
    const int index = i_.operand(n).type == X86_OP_MEM ? vector_of(i_.operand(n).mem.index) : -1;
    if (index >= 0 && state.vectors[index] != 0) complain(kAddress, state.vectors[index]);
  }
  if (writes) {
    state.vectors[target] = sources;
    state.lost_vectors &= ~(std::uint64_t{1} << target);
    if (!state.controls.empty()) state.written_vectors |= std::uint64_t{1} << target;
  }
  if (sources != 0 && (!writes || is_older)) complain(kUnknown, sources);
}

void Transition::use_vectors_of(const State& state, std::uint64_t which, const char* reason) {
  for (int v = 0; v < kVectorRegisters; ++v) {
    if (((which & ~state.lost_vectors) >> v & 1) != 0 && state.vectors[v] != 0) complain(reason, state.vectors[v]);
  }
}

// It writes its first operand, and reads the others.
bool Transition::is_function(State& state) {
  static constexpr std::string_view names[] = {"movd",    "movq",    "vmovd",    "vmovq", "cvt",    "vcvt", "movmsk",
                                               "vmovmsk", "pmovmsk", "vpmovmsk", "pextr", "vpextr", "kmov", "popcnt",
                                               "lzcnt",   "tzcnt",   "rorx",     "sarx",  "shlx",   "shrx"};
  const std::string_view name = i_.name();
  const bool known =
      std::any_of(std::begin(names), std::end(names), [&](std::string_view n) { return name.starts_with(n); });
  if (!known || i_.operands() < 2) return false;
  Value result = Value::any();
  for (int n = 1; n < i_.operands(); ++n) result = function_of(result, read(state, n));
  write(state, 0, made(result));
  if (name.ends_with("cnt")) set_flags(state, result);
  return true;
}

// It may do anything with the registers that it names.
void Transition::unknown(State& state) {
  const std::string_view name = i_.name();
  const bool stores = (name.starts_with("mov") || name.starts_with("vmov")) && i_.operands() == 2 &&
                      i_.operand(0).type == X86_OP_MEM && i_.operand(1).type == X86_OP_REG &&
                      number_of(i_.operand(1).reg) < 0;
  if (stores) return write(state, 0, Value::any());
  for (int n = 0; n < i_.operands(); ++n) {
    const cs_x86_op& operand = i_.operand(n);
    if (operand.type == X86_OP_MEM) {
      Value address = address_of(state, operand.mem);
      if (name.starts_with("rep") && address.is_frame()) address = Value::somewhere();
      if (!address.is_free()) complain(kAddress, address.sources);
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
    if (!is_length || !state.registers[reg].is_bound()) use(state, state.registers[reg], kUnknown);
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

/// By an instruction that is not known. What it writes depends on nothing that depends on the team.
void Transition::use_flags(State& state, bool is_vector) {
  static constexpr std::string_view readers[] = {"fcmov", "rcl", "rcr", "adcx", "adox", "pushf", "lahf", "cmc"};
  const std::string_view name = i_.name();
  const auto starts = [&](std::string_view word) { return name.starts_with(word); };
  if (state.flags.matter && std::any_of(std::begin(readers), std::end(readers), starts))
    complain(kUnknown, sources_of(state.flags));
  if (is_vector && (i_.compares_vectors() || i_.compares_strings()))
    state.flags = {};
  else if (!is_vector || i_.sets_flags())
    blur_flags(state, Value::any());
}

void Transition::apply(State& state, State* jumped) {
  if (i_.is_in(CS_GRP_CALL)) return call(state);
  if (i_.is_in(CS_GRP_RET)) return return_values(state);
  if (i_.is_in(CS_GRP_JUMP)) {
    if (around_.leaves) return pass_arguments(state);
    const bool counts = i_.kind() == X86_INS_JRCXZ || i_.kind() == X86_INS_JECXZ || i_.kind() == X86_INS_LOOP ||
                        i_.kind() == X86_INS_LOOPE || i_.kind() == X86_INS_LOOPNE;
    if (counts && !as_read(state.registers[kRcx]).is_bound()) complain(kBranch, state.registers[kRcx].sources);
    if (i_.kind() != X86_INS_JMP)
      choose(state, jumped);
    else if (!i_.target())  // through a table
      branch(read(state, 0));
    return;
  }
  use_vectors(state);
  const std::string_view name = i_.name();
  if (name.starts_with("cmov") || name.starts_with("set")) return select(state);
  if (is_comparison(state) || is_copy(state) || is_stack(state)) return;
  if (i_.kind() == X86_INS_DIV || i_.kind() == X86_INS_IDIV || i_.kind() == X86_INS_MUL ||
      (i_.kind() == X86_INS_IMUL && i_.operands() == 1))
    return divide(state);
  if (!is_function(state) && !is_arithmetic(state)) unknown(state);
}

}  // namespace steelyard::partition
