// SPDX-License-Identifier: BSD-3-Clause
// The transfer function of calls and returns, and of vector registers, in which numbers are passed and returned.
#include <algorithm>

#include "partition/known_functions.h"
#include "partition/transfer.h"

namespace steelyard::partition {

namespace {

// Sets of OtherRegisters, a bit each (System V ABI): those of results, and those of arguments, xmm0 to xmm7.
constexpr std::uint64_t kReturnedVectors =
    std::uint64_t{1} << kXmm0 | std::uint64_t{1} << kXmm1 | std::uint64_t{1} << kX87;
constexpr std::uint64_t kArgumentVectors = (std::uint64_t{1} << kXmm8) - 1;

}  // namespace

void TransferFunction::pass_arguments(State& state) {
  const Callee& callee = context_.callee;
  check_effect(state);
  use_vectors_of(state, kArgumentVectors, kArgument);
  if (throws(callee.name) && !context_.has_landing_pad && !returns_nothing_) {
    for (const auto& [jump, branch] : state.divergent_branches) report(kReturn, branch.sources);
  }
  const auto pass = [&](const Value& value, bool surely) {
    if (surely || !value.is_remnant()) use(state, value, kArgument);
  };
  const bool known = callee.is_imported && is_known(callee.name);
  const int most = callee.is_imported ? arguments_of(callee.name) : kMostArguments;
  for (int n = 0; n < most; ++n) {
    const Value& value = state.registers[kArguments[n]];
    const bool is_clobbered = value.kind == Value::Kind::clobbered && value.sources == 0;
    if (is_clobbered) break;  // the next ones are no arguments either
    if (!callee.is_imported && (callee.registers.reads >> kArguments[n] & 1) == 0) continue;
    const bool is_length = n == 2 && takes_length(callee.name) && value.is_trip_count();
    if (!is_length) pass(value, known || (!callee.is_imported && callee.registers.reads != ~0u));
  }
  if (known) return;
  const Value& chain = state.registers[kR10];  // the static chain of a nested function (System V ABI)
  const bool has_chain = !callee.is_imported && (callee.registers.reads >> kR10 & 1) != 0;
  if (has_chain) pass(chain, true);
  if (!state.passes_on_stack) return;
  const Value &top = state.registers[kRsp], &frame = state.registers[kRbp];
  const bool has_frame = top.is_stack_address() && frame.is_stack_address() && frame.origin == top.origin;
  const std::int64_t end =
      has_frame ? context_.kept_words.lowest_with(frame.constant - top.constant) : context_.kept_words.lowest;
  for (const auto& [place, word] : state.words) {
    const bool is_above = top.is_stack_address() && top.origin == place.origin && place.offset - top.constant >= end;
    if (!is_above) use(state, Value(word.value), kArgument);
  }
}

void TransferFunction::call(State& state) {
  if (i_.operands() == 1 && i_.operand(0).type != X86_OP_IMM) use(state, read(state, 0), kAddress);
  const bool is_query_or_barrier = context_.callee.query >= 0 || context_.callee.name == "GOMP_barrier";
  if (!is_query_or_barrier) pass_arguments(state);
  if (state.escaped.any() && !is_query_or_barrier) {
    for (const auto& [jump, branch] : state.divergent_branches) report(kSomeThreads, branch.sources);
  }
  state.after_call(context_.callee);
  // The registers that may hold a result.
  if (as_read(state.registers[kRax]).is_free()) set(state, kRax, Value::any(i_.address()));
  if (as_read(state.registers[kRdx]).is_free() && !is_known(context_.callee.name)) set(state, kRdx, Value::any());
  if (!is_query_or_barrier) state.clobbered_vectors &= ~kReturnedVectors;
  if (!is_query_or_barrier && !state.divergent_branches.empty()) state.written_vectors |= kReturnedVectors;
  const std::uint64_t query = std::uint64_t{1} << std::clamp(context_.callee.query, 0, 63);
  if (context_.callee.name == "omp_get_thread_num") state.registers[kRax] = Value::term(Value::id, query);
  if (context_.callee.name == "omp_get_num_threads") state.registers[kRax] = Value::term(Value::count, query);
}

void TransferFunction::return_values(State& state) {
  if (returns_nothing_) return;
  use_vectors_of(state, kReturnedVectors, kReturn);
  for (const int r : {kRax, kRdx}) {
    const Value& value = state.registers[r];
    if (!value.is_remnant()) use(state, value, kReturn);
  }
  // On the other way of a divergent branch, it may return another value.
  for (const auto& [jump, branch] : state.divergent_branches) report(kReturn, branch.sources);
}

/// An OtherRegister holds a value that depends on the team only if it is written on one way of a divergent branch.
void TransferFunction::use_vectors(State& state) {
  const std::string_view name = i_.name();
  const bool is_x87 = name[0] == 'f';  // its registers are a stack
  const auto vector_at = [&](int n) { return i_.operand(n).type == X86_OP_REG ? vector_of(i_.operand(n).reg) : -1; };
  const bool makes_mask = i_.compares_strings() && name.ends_with("m");
  const int target = is_x87 ? kX87 : makes_mask ? kXmm0 : i_.operands() > 0 ? vector_at(0) : -1;
  const bool writes = target >= 0 && !i_.compares_vectors();
  const bool reads_target = !writes || !i_.overwrites_vector();
  std::uint64_t sources = is_x87 ? state.vectors[target] : 0;
  for (int n = reads_target ? 0 : 1; n < i_.operands(); ++n) {
    if (const int vector = vector_at(n); vector >= 0) sources |= state.vectors[vector];
  }
  for (int n = 0; n < i_.operands(); ++n) {  // addresses that are gathered
    const int index = i_.operand(n).type == X86_OP_MEM ? vector_of(i_.operand(n).mem.index) : -1;
    if (index >= 0 && state.vectors[index] != 0) report(kAddress, state.vectors[index]);
  }
  if (writes) {
    state.vectors[target] = sources;
    state.clobbered_vectors &= ~(std::uint64_t{1} << target);
    if (!state.divergent_branches.empty()) state.written_vectors |= std::uint64_t{1} << target;
  }
  if (sources != 0 && (!writes || is_x87)) report(kUnknown, sources);
}

void TransferFunction::use_vectors_of(const State& state, std::uint64_t which, const char* reason) {
  for (int v = 0; v < kVectorRegisters; ++v) {
    if (((which & ~state.clobbered_vectors) >> v & 1) != 0 && state.vectors[v] != 0) report(reason, state.vectors[v]);
  }
}

}  // namespace steelyard::partition
