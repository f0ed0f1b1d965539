// SPDX-License-Identifier: BSD-3-Clause
#include "partition/independence.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "partition/instruction.h"
#include "partition/known_functions.h"
#include "partition/proof.h"
#include "partition/register_use.h"
#include "partition/waiting_loop.h"

namespace steelyard::partition {

namespace {

// A limit of time: the instructions of a body with all that it calls.
constexpr int kMostWithCallees = kMostInstructions / 2;
constexpr std::int64_t kStackProtector =
    0x28;  // Format: gcc on x86-64, the word of thread-local data that gcc's own checks of the stack read

/// True for an instruction whose result differs between threads, or that affects what its thread computes afterwards.
bool is_of_the_thread(x86_insn kind) {
  static constexpr x86_insn kinds[] = {
      X86_INS_SYSCALL,  X86_INS_SYSENTER, X86_INS_INT,      X86_INS_RDFSBASE, X86_INS_RDGSBASE,  X86_INS_WRFSBASE,
      X86_INS_WRGSBASE, X86_INS_RDTSCP,   X86_INS_LDMXCSR,  X86_INS_VLDMXCSR, X86_INS_FLDCW,     X86_INS_FLDENV,
      X86_INS_FRSTOR,   X86_INS_XRSTOR,   X86_INS_XRSTOR64, X86_INS_FXRSTOR,  X86_INS_FXRSTOR64, X86_INS_CPUID};
  return std::find(std::begin(kinds), std::end(kinds), kind) != std::end(kinds);
}

/// True for functions of other objects that are known by their names to wait for no thread.
bool waits_for_no_thread(std::string_view name) {
  static constexpr std::string_view of_openmp[] = {"GOMP_critical_start",      "GOMP_critical_end",
                                                   "GOMP_critical_name_start", "GOMP_critical_name_end",
                                                   "GOMP_atomic_start",        "GOMP_atomic_end"};
  static constexpr std::string_view others[] = {
      "MPI_Abort", "memcmp", "memchr", "strlen",  "strcmp",   "strncmp", "strcpy",    "strncpy",  "calloc",
      "realloc",   "printf", "putc",   "fprintf", "snprintf", "sprintf", "fputs",     "fwrite",   "fputc",
      "sincos",    "rint",   "lrint",  "lround",  "llround",  "ldexp",   "frexp",     "modf",     "nearbyint",
      "copysign",  "tgamma", "lgamma", "fdim",    "fma",      "sincosf", "__powidf2", "__muldc3", "__divdc3"};
  static constexpr std::string_view of_fortran[] = {"_gfortran_internal_", "_gfortran_compare_string",
                                                    "_gfortran_string_",   "_gfortran_pow_",
                                                    "_gfortran_runtime_",  "_gfortran_matmul_"};
  const auto is = [&](std::string_view known) { return known == name; };
  const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
  if (begins("omp_")) return name == "omp_get_wtime" || name == "omp_get_max_threads";
  // Its third argument is a pointer to the destructor of the exception.
  if (name == "__cxa_throw") return false;
  if (begins("GOMP_")) return std::any_of(std::begin(of_openmp), std::end(of_openmp), is);
  return is_known(name) || !returns(name) || std::any_of(std::begin(others), std::end(others), is) ||
         std::any_of(std::begin(of_fortran), std::end(of_fortran), begins);
}

/// Examines a body and what it calls.
class Search {
 public:
  Search(const Image& image, std::uint64_t body) : image_(image), body_(body), open_{body}, seen_{body} {}

  std::string run() {
    while (!open_.empty()) {
      const Function function = image_.function_at(open_.back());
      open_.pop_back();
      if (!function.is_known) return "calls a function that the unwind tables do not show";
      std::vector<Instruction> instructions;
      for (std::uint64_t at = function.begin; at < function.end; at = instructions.back().next()) {
        const std::optional<Instruction> i = decoder_.at(image_, at);
        if (!i) return "has an instruction that cannot be decoded";
        if (++count_ > kMostWithCallees) return "is too long";
        if (std::string reason = why_not(*i, function); !reason.empty()) return reason;
        instructions.push_back(*i);
      }
      if (has_waiting_loop(instructions)) return "may wait in a loop";
    }
    return divides_ ? "" : "has no static loop";
  }

 private:
  std::string why_not(const Instruction& i, const Function& function) {
    for (int n = 0; n < i.operands(); ++n) {
      const cs_x86_op& operand = i.operand(n);
      const bool local =
          operand.type == X86_OP_MEM && (operand.mem.segment == X86_REG_FS || operand.mem.segment == X86_REG_GS);
      const bool elsewhere = operand.mem.base != X86_REG_INVALID || operand.mem.index != X86_REG_INVALID ||
                             operand.mem.disp != kStackProtector;
      if (local && elsewhere) return "has thread-local data";
    }
    if (is_of_the_thread(i.kind())) return "looks at the thread, or changes how it computes";
    const bool is_call = i.is_in(CS_GRP_CALL);
    if (!is_call && !i.is_in(CS_GRP_JUMP)) return "";
    std::optional<std::uint64_t> slot = i.slot();
    const std::optional<std::uint64_t> target = i.target();
    if (target && !is_call && *target >= function.begin && *target < function.end) return "";
    if (target) slot = slot_of_stub(image_, decoder_, *target);
    if (slot) return why_not_calling(image_.imported(*slot), function);
    if (!target) return is_call ? "calls through a pointer" : "jumps to where it cannot be followed";
    const std::uint64_t entry = image_.function_at(*target).begin;
    if (seen_.insert(entry).second) open_.push_back(*target);
    return "";
  }

  std::string why_not_calling(std::string_view callee, const Function& function) {
    if (callee.empty()) return "calls through a pointer";
    if (!is_query(callee)) return waits_for_no_thread(callee) ? "" : fmt::format("calls {}()", callee);
    divides_ = divides_ || callee == "omp_get_num_threads";
    if (!proved_.insert(function.begin).second) return "";
    const Proof proof = prove(image_, function.begin, body_);
    const bool all = std::all_of(proof.queries.begin(), proof.queries.end(), [](const Query& q) { return q.proved; });
    return all && !proof.queries.empty() ? "" : "has a thread query that is not proved";
  }

  const Image& image_;
  std::uint64_t body_;
  Decoder decoder_;
  std::vector<std::uint64_t> open_;        // functions to examine, by their begin
  std::set<std::uint64_t> seen_, proved_;  // functions that were in open_; those whose queries were examined
  int count_ = 0;                          // instructions so far
  bool divides_ = false;                   // it asks for the number of threads
};

}  // namespace

std::string why_not_independent(const Image& image, std::uint64_t body) { return Search(image, body).run(); }

}  // namespace steelyard::partition
