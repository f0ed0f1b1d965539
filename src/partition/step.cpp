#include "partition/step.h"

#include <algorithm>

namespace steelyard::partition {

namespace {

/// What a condition code says of the last comparison, or of the last result and 0.
enum class Relation { less, not_less, greater, not_greater, equal, not_equal, unknown };

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

/// What it means for a thread that a condition holds.
enum class Meaning { no_matter, thread_0, not_thread_0, one_more, not_one_more, depends };

Meaning meaning_of(const State& state, Relation relation) {
  const State::Flags& flags = state.flags;
  if (!flags.matter || (state.is_free(flags.left) && state.is_free(flags.right))) return Meaning::no_matter;
  if (flags.left.is_just(Value::id) && flags.right.is_zero()) {
    if (relation == Relation::equal || relation == Relation::not_greater) return Meaning::thread_0;
    if (relation == Relation::not_equal || relation == Relation::greater) return Meaning::not_thread_0;
  }
  if (!flags.carries) return Meaning::depends;
  const auto is_remainder = [](const Value& value) { return value.is_just(Value::remainder); };
  if (flags.left.is_just(Value::id) && is_remainder(flags.right)) {
    if (relation == Relation::less) return Meaning::one_more;
    if (relation == Relation::not_less) return Meaning::not_one_more;
  }
  if (is_remainder(flags.left) && flags.right.is_just(Value::id)) {
    if (relation == Relation::greater) return Meaning::one_more;
    if (relation == Relation::not_greater) return Meaning::not_one_more;
  }
  return Meaning::depends;
}

std::uint64_t sources_of(const State::Flags& flags) {
  return flags.matter ? flags.left.sources | flags.right.sources : 0;
}

std::uint64_t division_of(const State::Flags& flags) {
  return flags.left.iterations != 0 ? flags.left.iterations : flags.right.iterations;
}

/// 1 in a thread with one iteration more, else 0.
Value one_if_more(std::uint64_t sources, std::uint64_t iterations) {
  return Value::term(Value::share, sources, iterations) - Value::term(Value::quotient, sources, iterations);
}

// Registers of a call's arguments (System V ABI).
constexpr int kArguments[] = {kRdi, kRsi, kRdx, kRcx, 8, 9};

bool is_second_byte(x86_reg name) {
  return name == X86_REG_AH || name == X86_REG_BH || name == X86_REG_CH || name == X86_REG_DH;
}

constexpr const char* kAddress = "computes an address from what depends on the team";
constexpr const char* kStore = "stores what depends on the team";
constexpr const char* kArgument = "passes on what depends on the team";
constexpr const char* kBranch = "branches by what depends on the team";
constexpr const char* kReturn = "returns what depends on the team";
constexpr const char* kUnknown = "is an instruction that is not known, on what depends on the team";

// Of a constant that is divided.
constexpr std::uint64_t kConstant = std::uint64_t{1} << 63;
// Of a dividend without an identity of its own: the division's address.
constexpr std::uint64_t kDivision = std::uint64_t{1} << 62;

}  // namespace

void Escapes::add(const Value& address) {
  if (address.kind != Value::Kind::frame) return;
  if (address.origin == Value::kSomewhere) {
    anywhere_ = true;
    return;
  }
  const auto [lowest, is_new] = lowest_.try_emplace(address.origin, address.constant);
  if (!is_new) lowest->second = std::min(lowest->second, address.constant);
}

bool Escapes::reach(const State::Place& place) const {
  const auto lowest = lowest_.find(place.origin);
  return anywhere_ || (lowest != lowest_.end() && place.offset >= lowest->second);
}

Transition::Transition(const Instruction& instruction, const Callee& callee, bool leaves, bool returns_nothing,
                       Findings* findings)
    : i_(instruction), callee_(callee), leaves_(leaves), returns_nothing_(returns_nothing), findings_(findings) {}

void Findings::add(std::uint64_t sources, const char* why, std::uint64_t where) {
  unproved |= sources != 0 ? sources : ~std::uint64_t{0};
  if (!reason.empty()) return;
  reason = why;
  instruction = where;
}

void Transition::complain(const char* reason, std::uint64_t sources) {
  if (findings_ != nullptr) findings_->add(sources, reason, i_.address());
}

void Transition::use(const State& state, const Value& value, const char* reason) {
  if (!state.is_free(value)) complain(reason, value.sources);
  if (findings_ != nullptr) findings_->escapes.add(value);
}

Value Transition::function_of(const State& state, const Value& a, const Value& b) const {
  if (state.is_free(a) && state.is_free(b)) return Value::any(i_.address());
  return Value::mix((state.is_free(a) ? 0 : a.sources) | (state.is_free(b) ? 0 : b.sources));
}

/// Of two values bit by bit.
Value Transition::bits_of(const State& state, const Value& a, const Value& b) const {
  const auto free_byte = [&](const Value& value) { return state.is_free(value) || value.has_free_byte(); };
  const Value result = function_of(state, a, b);
  return result.has_terms() ? Value::mix(result.sources, free_byte(a) && free_byte(b)) : result;
}

Value Transition::address_of(const State& state, const x86_op_mem& place) {
  if (place.base == X86_REG_RIP) return Value::number(static_cast<std::int64_t>(i_.next()) + place.disp);
  Value address = Value::number(place.disp);
  for (const auto& [name, scale] : {std::pair{place.base, 1}, std::pair{place.index, place.scale}}) {
    if (name == X86_REG_INVALID) continue;
    const int reg = number_of(name);
    if (reg < 0) return name == X86_REG_RIZ || name == X86_REG_EIZ ? address : Value::any();
    Value sum = address + state.registers[reg] * Value::number(scale);
    if (sum.kind == Value::Kind::mixed && state.is_free(address))
      sum = function_of(state, state.registers[reg], Value{});
    address = sum;
  }
  return address;
}

Value Transition::read_memory(const State& state, const cs_x86_op& operand) {
  const Value address = address_of(state, operand.mem);
  if (!state.is_free(address)) complain(kAddress, address.sources);
  if (operand.mem.segment == X86_REG_FS || operand.mem.segment == X86_REG_GS) return Value::any(i_.address());
  return state.load(address, operand.size, i_.address());
}

Value Transition::read(const State& state, int index) {
  const cs_x86_op& operand = i_.operand(index);
  if (operand.type == X86_OP_IMM) return Value::number(operand.imm);
  const Value value = [&] {
    if (operand.type == X86_OP_MEM) return read_memory(state, operand);
    const int reg = number_of(operand.reg);
    return reg < 0 ? Value::any() : state.registers[reg];
  }();
  if (operand.size >= 2 || value.is_number()) return value;
  if (operand.size == 1 && operand.type == X86_OP_REG && !is_second_byte(operand.reg) && value.has_free_byte())
    return Value::any();
  return function_of(state, value, Value{});
}

/// What a register holds after its lowest byte was written.
Value Transition::with_byte(const State& state, const Value& former, const Value& byte) const {
  const Value whole = function_of(state, former, byte);
  return whole.has_terms() ? Value::mix(whole.sources, state.is_free(byte)) : whole;
}

void Transition::set(State& state, int reg, const Value& value) {
  if (value.identity == i_.address()) state.forget(i_.address());
  state.registers[reg] = value;
}

void Transition::write(State& state, int index, const Value& value) {
  const cs_x86_op& operand = i_.operand(index);
  if (operand.type == X86_OP_REG) {
    const int reg = number_of(operand.reg);
    if (reg < 0) return use(state, value, kUnknown);
    if (operand.size == 1 && !is_second_byte(operand.reg))
      set(state, reg, with_byte(state, state.registers[reg], value));
    else
      set(state, reg, operand.size >= 2 ? value : function_of(state, value, state.registers[reg]));
    return;
  }
  const Value address = address_of(state, operand.mem);
  if (!state.is_free(address)) complain(kAddress, address.sources);
  const bool is_local = operand.mem.segment != X86_REG_FS && operand.mem.segment != X86_REG_GS;
  if (!is_local || !state.store(address, operand.size, value)) use(state, value, kStore);
}

void Transition::set_flags(State& state, const Value& result) {
  state.flags = {!state.is_free(result), false, result, Value::number(0)};
}

bool Transition::is_copy(State& state) {
  switch (i_.kind()) {
    case X86_INS_MOV:
    case X86_INS_MOVABS:
    case X86_INS_MOVSXD:
    case X86_INS_MOVZX:
    case X86_INS_MOVSX:
      if (i_.operands() != 2) return false;
      // A byte that holds 0 or 1 by a comparison.
      if (i_.operand(1).type == X86_OP_REG && i_.operand(1).size == 1 && i_.operand(0).size >= 4) {
        const int reg = number_of(i_.operand(1).reg);
        if (reg >= 0 && are_same(state.registers[reg], one_if_more(0, state.registers[reg].iterations))) {
          write(state, 0, state.registers[reg]);
          return true;
        }
      }
      write(state, 0, read(state, 1));
      return true;
    case X86_INS_LEA: {
      Value address = address_of(state, i_.operand(1).mem);
      if (address.kind == Value::Kind::sum && address.other && !address.has_terms()) address.identity = i_.address();
      write(state, 0, address);
      return true;
    }
    case X86_INS_CDQE:
    case X86_INS_CWDE: return true;
    case X86_INS_CDQ:
    case X86_INS_CQO: set(state, kRdx, function_of(state, state.registers[kRax], Value{})); return true;
    case X86_INS_XCHG: {
      const Value first = read(state, 0), second = read(state, 1);
      write(state, 0, second);
      write(state, 1, first);
      return true;
    }
    default: return false;
  }
}

bool Transition::is_arithmetic(State& state) {
  const auto compute = [&](const Value& a, const Value& b, Value result) {
    if (result.kind == Value::Kind::mixed && !result.free_byte) result = function_of(state, a, b);
    if (result.kind == Value::Kind::sum && result.other && !result.has_terms()) result.identity = i_.address();
    write(state, 0, result);
    set_flags(state, result);
    return true;
  };
  const bool same = i_.names_one_register_twice();
  const Value first = i_.operands() > 0 ? read(state, 0) : Value{};
  const Value second = i_.operands() > 1 ? read(state, 1) : Value{};
  switch (i_.kind()) {
    case X86_INS_ADD: return compute(first, second, first + second);
    case X86_INS_SUB: return compute(first, second, same ? Value::number(0) : first - second);
    case X86_INS_INC: return compute(first, second, first + Value::number(1));
    case X86_INS_DEC: return compute(first, second, first - Value::number(1));
    case X86_INS_NEG: return compute(first, second, Value::number(0) - first);
    case X86_INS_XOR: return compute(first, second, same ? Value::number(0) : bits_of(state, first, second));
    case X86_INS_SHL:
    case X86_INS_SAL: {
      const bool constant = i_.operands() == 2 && i_.operand(1).type == X86_OP_IMM && i_.operand(1).imm < 31;
      return compute(first, second,
                     constant ? first * Value::number(std::int64_t{1} << i_.operand(1).imm)
                              : function_of(state, first, i_.operands() == 2 ? second : state.registers[kRcx]));
    }
    case X86_INS_AND:
      if (second.is_zero()) return compute(first, second, second);
      if (first.kind == Value::Kind::frame) {  // aligned: counted from another origin from here on
        write(state, 0, Value::in_frame(static_cast<int>(i_.address()), 0));
        state.flags = {};
        return true;
      }
      return compute(first, second, bits_of(state, first, second));
    case X86_INS_OR:
      if (second == Value::number(-1)) return compute(first, second, second);
      return compute(first, second, bits_of(state, first, second));
    case X86_INS_NOT:
    case X86_INS_SHR:
    case X86_INS_SAR:
    case X86_INS_ROL:
    case X86_INS_ROR:
    case X86_INS_BSWAP:
      return compute(first, second, function_of(state, first, i_.operands() > 1 ? second : state.registers[kRcx]));
    case X86_INS_ADC:
    case X86_INS_SBB: {
      const bool adds = i_.kind() == X86_INS_ADC;
      Value carry = state.flags.matter ? Value::mix(sources_of(state.flags)) : Value::any();
      if (state.flags.carries && meaning_of(state, Relation::less) == Meaning::one_more)
        carry = one_if_more(sources_of(state.flags), division_of(state.flags));
      const Value other = same && !adds ? Value::number(0) : adds ? first + second : first - second;
      return compute(first, second, adds ? other + carry : other - carry);
    }
    case X86_INS_IMUL: {
      if (i_.operands() == 1) break;
      const Value& right = i_.operands() == 3 ? read(state, 2) : second;
      const Value& left = i_.operands() == 3 ? second : first;
      return compute(left, right, left * right);
    }
    default: return false;
  }
  return false;
}

void Transition::divide(State& state) {
  const bool divides = i_.kind() == X86_INS_DIV || i_.kind() == X86_INS_IDIV;
  const Value by = read(state, 0), dividend = state.registers[kRax];
  const bool whole = state.is_free(dividend) && state.is_free(state.registers[kRdx]);
  state.flags = {};
  if (!divides || !by.is_just(Value::count) || !whole || i_.operand(0).size < 2) {
    const Value result = whole ? function_of(state, by, Value{})
                               : Value::mix(by.sources | dividend.sources | state.registers[kRdx].sources);
    set(state, kRax, result);
    set(state, kRdx, result.has_terms() ? result : Value::any());
    return;
  }
  std::uint64_t iterations = kDivision | i_.address();
  if (dividend.is_number())
    iterations = kConstant | static_cast<std::uint64_t>(dividend.constant);
  else if (dividend.identity != 0)
    iterations = dividend.identity;
  else
    state.forget(iterations);
  state.registers[kRax] = Value::term(Value::quotient, by.sources, iterations);
  state.registers[kRdx] = Value::term(Value::remainder, by.sources, iterations);
}

bool Transition::is_comparison(State& state) {
  if (i_.kind() != X86_INS_CMP && i_.kind() != X86_INS_TEST) return false;
  const Value left = read(state, 0);
  Value right = read(state, 1);
  if (i_.kind() == X86_INS_TEST) {
    if (!i_.names_one_register_twice()) {
      const Value both = function_of(state, left, right);
      state.flags = {both.has_terms(), false, both, Value::number(0)};
      return true;
    }
    right = Value::number(0);
  }
  const bool matter = !(state.is_free(left) && state.is_free(right));
  state.flags = matter ? State::Flags{true, true, left, right} : State::Flags{};
  return true;
}

// A conditional jump.
void Transition::choose(State& state, State* jumped) {
  const Meaning meaning = meaning_of(state, relation_of(i_.kind()));
  if (meaning == Meaning::depends) complain(kBranch, sources_of(state.flags));
  if (findings_ != nullptr) findings_->asking = sources_of(state.flags);
  if (findings_ != nullptr && meaning == Meaning::thread_0) findings_->thread_0 = Findings::Side::jumps;
  if (findings_ != nullptr && meaning == Meaning::not_thread_0) findings_->thread_0 = Findings::Side::goes_on;
  if (jumped == nullptr || (meaning != Meaning::one_more && meaning != Meaning::not_one_more)) return;
  const std::uint64_t iterations = division_of(state.flags);
  state.resolve(iterations, meaning == Meaning::not_one_more);
  jumped->resolve(iterations, meaning == Meaning::one_more);
}

// A value by a condition: cmovcc, setcc.
void Transition::select(State& state) {
  const Meaning meaning = meaning_of(state, relation_of(i_.kind()));
  const std::uint64_t iterations = division_of(state.flags);
  const bool is_move = i_.operands() == 2;
  const Value otherwise = is_move ? read(state, 0) : Value::number(0),
              chosen = is_move ? read(state, 1) : Value::number(1);
  const bool free = state.is_free(otherwise) && state.is_free(chosen);
  Value value = Value::mix(sources_of(state.flags) | otherwise.sources | chosen.sources);
  if (meaning == Meaning::no_matter) {
    value = free ? otherwise == chosen ? chosen : Value::any(i_.address()) : joined(otherwise, chosen);
  } else if (meaning == Meaning::one_more || meaning == Meaning::not_one_more) {
    const bool more = meaning == Meaning::one_more;
    value = is_move ? either_share(resolved(more ? chosen : otherwise, iterations, true),
                                   resolved(more ? otherwise : chosen, iterations, false))
            : more  ? one_if_more(sources_of(state.flags), iterations)
                    : Value::number(1) - one_if_more(sources_of(state.flags), iterations);
  }
  const int reg = i_.operand(0).type == X86_OP_REG ? number_of(i_.operand(0).reg) : -1;
  // A register whose other bytes are cleared before or after holds what its first byte does.
  if (!is_move && reg >= 0)
    set(state, reg, value.has_terms() ? value : with_byte(state, state.registers[reg], value));
  else
    write(state, 0, value);
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
      const Value value = state.load(top, 8, i_.address());
      top = top + Value::number(8);
      write(state, 0, value);
      return true;
    }
    case X86_INS_LEAVE:
      top = state.registers[kRbp];
      state.registers[kRbp] = state.load(top, 8, i_.address());
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

void Transition::leave(const State& state) {
  const int arguments = arguments_of(callee_.name);
  for (int n = 0; n < arguments; ++n) {
    const Value& value = state.registers[kArguments[n]];
    if ((callee_.reads >> kArguments[n] & 1) != 0 && !value.is_remnant()) use(state, value, kArgument);
    if (findings_ != nullptr) findings_->escapes.add(value);
  }
  if (arguments < 6) return;
  const Value& top = state.registers[kRsp];
  if (!state.passes_on_stack) return;
  for (const auto& [place, word] : state.words) {
    const bool passed = top.kind == Value::Kind::frame && place.origin == top.origin && place.offset >= top.constant &&
                        place.offset < top.constant + 256;
    if (passed) use(state, word.value, kArgument);
  }
}

void Transition::call(State& state) {
  if (i_.operands() == 1 && i_.operand(0).type != X86_OP_IMM) use(state, read(state, 0), kAddress);
  leave(state);
  state.after_call();
  const std::uint64_t query = std::uint64_t{1} << std::clamp(callee_.query, 0, 63);
  if (callee_.name == "omp_get_thread_num") state.registers[kRax] = Value::term(Value::id, query);
  if (callee_.name == "omp_get_num_threads") state.registers[kRax] = Value::term(Value::count, query);
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
  for (int n = 1; n < i_.operands(); ++n) result = function_of(state, result, read(state, n));
  write(state, 0, result);
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
      if (name.starts_with("rep") && address.kind == Value::Kind::frame)
        address = Value::in_frame(Value::kSomewhere, 0);
      if (!state.is_free(address)) complain(kAddress, address.sources);
      use(state, state.load(address, operand.size, 0), kUnknown);
      state.store(address, operand.size, Value::any());
    } else if (operand.type == X86_OP_REG && number_of(operand.reg) >= 0) {
      use(state, state.registers[number_of(operand.reg)], kUnknown);
      state.registers[number_of(operand.reg)] = Value::any();
    }
  }
  i_.for_implicit([&](int reg, bool) {
    if (reg < 0 || reg == kRsp) return;
    use(state, state.registers[reg], kUnknown);
    state.registers[reg] = Value::any();
  });
  state.flags = {};
}

void Transition::apply(State& state, State* jumped) {
  if (i_.is_in(CS_GRP_CALL)) return call(state);
  if (i_.is_in(CS_GRP_RET)) {
    for (const int r : {kRax, kRdx}) {
      if (!returns_nothing_ && !state.registers[r].is_remnant()) use(state, state.registers[r], kReturn);
    }
    return;
  }
  if (i_.is_in(CS_GRP_JUMP)) {
    if (leaves_) return leave(state);
    const bool counts = i_.kind() == X86_INS_JRCXZ || i_.kind() == X86_INS_JECXZ || i_.kind() == X86_INS_LOOP ||
                        i_.kind() == X86_INS_LOOPE || i_.kind() == X86_INS_LOOPNE;
    if (counts && !state.is_free(state.registers[kRcx])) complain(kBranch, state.registers[kRcx].sources);
    if (i_.kind() != X86_INS_JMP) choose(state, jumped);
    return;
  }
  const std::string_view name = i_.name();
  if (name.starts_with("cmov") || name.starts_with("set")) return select(state);
  if (is_comparison(state) || is_copy(state) || is_stack(state)) return;
  if (i_.kind() == X86_INS_DIV || i_.kind() == X86_INS_IDIV || i_.kind() == X86_INS_MUL ||
      (i_.kind() == X86_INS_IMUL && i_.operands() == 1))
    return divide(state);
  if (!is_function(state) && !is_arithmetic(state)) unknown(state);
}

}  // namespace steelyard::partition
