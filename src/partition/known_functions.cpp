// SPDX-License-Identifier: BSD-3-Clause
#include "partition/known_functions.h"

#include <algorithm>
#include <iterator>

namespace steelyard::partition {

namespace {

/// True for vector variants of functions whose arguments are all vectors, e.g. _ZGVbN2v_sin: the instruction set (b),
/// not masked (N), values per vector (2), and a v for each argument (Vector Function ABI). Vectors of integers are not
/// in general registers either.
bool takes_vectors_only(std::string_view name) {
  if (!name.starts_with("_ZGV") || name.size() < 8) return false;
  std::size_t at = 6;
  while (at < name.size() && name[at] >= '0' && name[at] <= '9') ++at;
  const std::size_t end = name.find('_', at);
  return end != std::string_view::npos && end > at &&
         name.substr(at, end - at).find_first_not_of('v') == std::string_view::npos;
}

}  // namespace

int arguments_of(std::string_view name) {
  struct Known {
    std::string_view name;
    int arguments;
  };
  static constexpr Known known[] = {{"GOMP_barrier", 0},
                                    {"GOMP_taskwait", 0},
                                    {"GOMP_taskyield", 0},
                                    {"GOMP_critical_start", 0},
                                    {"GOMP_critical_end", 0},
                                    {"GOMP_critical_name_start", 1},
                                    {"GOMP_critical_name_end", 1},
                                    {"GOMP_atomic_start", 0},
                                    {"GOMP_atomic_end", 0},
                                    {"GOMP_single_start", 0},
                                    {"GOMP_loop_end", 0},
                                    {"GOMP_loop_end_nowait", 0},
                                    {"GOMP_ordered_start", 0},
                                    {"GOMP_ordered_end", 0},
                                    {"GOMP_sections_start", 1},
                                    {"GOMP_sections_next", 0},
                                    {"GOMP_sections_end", 0},
                                    {"GOMP_sections_end_nowait", 0},
                                    {"GOMP_taskgroup_start", 0},
                                    {"GOMP_taskgroup_end", 0},
                                    {"omp_get_thread_num", 0},
                                    {"omp_get_num_threads", 0},
                                    {"omp_get_max_threads", 0},
                                    {"omp_in_parallel", 0},
                                    {"omp_get_level", 0},
                                    {"omp_get_wtime", 0},
                                    {"memset", 3},
                                    {"memcpy", 3},
                                    {"memmove", 3},
                                    {"malloc", 1},
                                    {"free", 1},
                                    {"abort", 0},
                                    {"exit", 1},
                                    {"puts", 1},
                                    {"putchar", 1},
                                    {"_Unwind_Resume", 1},
                                    {"_Znwm", 1},
                                    {"_Znam", 1},
                                    {"_ZdlPv", 1},
                                    {"_ZdlPvm", 2},
                                    {"_ZdaPv", 1},
                                    {"__cxa_begin_catch", 1},
                                    {"__cxa_end_catch", 0},
                                    {"__cxa_allocate_exception", 1},
                                    {"__cxa_throw", 3},
                                    {"__cxa_rethrow", 0},
                                    {"__cxa_free_exception", 1},
                                    {"_ZSt9terminatev", 0},
                                    {"_ZSt17__throw_bad_allocv", 0},
                                    {"_ZSt20__throw_length_errorPKc", 1},
                                    {"_ZSt28__throw_bad_array_new_lengthv", 0},
                                    {"__stack_chk_fail", 0}};
  static constexpr std::string_view math_functions[] = {
      "sqrt", "cbrt",  "exp",   "exp2", "expm1", "log",   "log2",  "log10", "log1p", "pow",  "sin",
      "cos",  "tan",   "asin",  "acos", "atan",  "atan2", "sinh",  "cosh",  "tanh",  "fabs", "floor",
      "ceil", "round", "trunc", "fmod", "fmin",  "fmax",  "hypot", "erf",   "erfc"};
  for (const Known& function : known) {
    if (function.name == name) return function.arguments;
  }
  const std::string_view single = name.ends_with('f') && name != "erf" ? name.substr(0, name.size() - 1) : name;
  const bool is_math =
      std::find(std::begin(math_functions), std::end(math_functions), single) != std::end(math_functions);
  return is_math || takes_vectors_only(name) ? 0 : kMostArguments;
}

bool throws(std::string_view name) {
  return name == "__cxa_throw" || name == "__cxa_rethrow" || name == "_Unwind_Resume" ||
         (name.starts_with("_ZSt") && name.find("__throw_") != std::string_view::npos);
}

bool returns(std::string_view name) {
  static constexpr std::string_view no_return[] = {"abort",
                                                   "exit",
                                                   "_exit",
                                                   "_Exit",
                                                   "quick_exit",
                                                   "__assert_fail",
                                                   "__stack_chk_fail",
                                                   "_ZSt9terminatev",
                                                   "longjmp",
                                                   "siglongjmp",
                                                   "_longjmp",
                                                   "__longjmp_chk",
                                                   "pthread_exit",
                                                   "__cxa_throw_bad_array_new_length",
                                                   "__cxa_bad_cast",
                                                   "__cxa_bad_typeid"};
  static constexpr std::string_view no_return_in_fortran[] = {"_gfortran_stop", "_gfortran_error_stop",
                                                              "_gfortran_runtime_error", "_gfortran_os_error"};
  const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
  if (std::find(std::begin(no_return), std::end(no_return), name) != std::end(no_return)) return false;
  return !throws(name) && std::none_of(std::begin(no_return_in_fortran), std::end(no_return_in_fortran), begins);
}

bool may_never_return(std::string_view name) {
  return name == "err" || name == "errx" || name == "verr" || name == "verrx";
}

bool takes_length(std::string_view name) { return name == "memset" || name == "memcpy" || name == "memmove"; }

}  // namespace steelyard::partition
