// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "intercept/mpi/call.h"
#include "intercept/mpi/library.h"

// Fortran programs call MPI by other symbols: mpi_wait_ from mpif.h and `use mpi`, mpi_wait_f08_ from `use mpi_f08`. If
// such a binding calls the C wrapper, the call is measured there, and only its place in the program is noted here. If
// it goes round the C wrapper, it is measured here:
//
//                                     mpi_x_           mpi_x_f08_
//   Open MPI                          goes round       goes round
//   MPICH, calls with a data buffer   leads to C       leads to C (mpi_x_f08ts_)
//   MPICH, all others                 leads to C       goes round
//
// All arguments are pointers (array descriptors are, too) and are passed on as they came: MPI_IN_PLACE, MPI_BOTTOM and
// MPI_STATUS_IGNORE are known to the library by their Fortran addresses. From `use mpi_f08`, `ierror` may be null.
namespace steelyard::intercept {

/// The MPI library's function of this name and binding, such as "mpi_wait" and "_f08_". Looked up at its first call,
/// since a program without Fortran has no such library. Ends the process with a message if there is none.
void* library_function(const char* name, const char* binding);

/// Calls the library's function of that binding: next<"mpi_wait", "_f08_">(request, status, ierror).
template <Name name, Name binding, typename... Arguments>
void next(Arguments*... arguments) {
  using Function = void (*)(Arguments*...);
  static const auto function = reinterpret_cast<Function>(library_function(name.text, binding.text));
  function(arguments...);
}

/// The same, for our own use: the last argument is added, its value returned.
template <Name name, Name binding, typename... Arguments>
int ask(Arguments*... arguments) {
  MPI_Fint error = MPI_SUCCESS;
  next<name, binding>(arguments..., &error);
  return error;
}

inline void set_error(MPI_Fint* ierror, int error) {
  if (ierror != nullptr) *ierror = error;
}

}  // namespace steelyard::intercept

// STEELYARD_FORTRAN(name, (parameters), (arguments)) exports MPI_Name to Fortran; it is measured by a template
// measure_name<binding>(site, parameters...) wherever the binding goes round C. The _BUFFER form is for calls with a
// data buffer. NOLINTBEGIN(bugprone-macro-parentheses): the arguments come with their parentheses.
#define STEELYARD_UNWRAP(...) __VA_ARGS__
#define STEELYARD_FORTRAN_MEASURED(name, binding, parameters, arguments)                        \
  extern "C" STEELYARD_EXPORT void mpi_##name##binding parameters {                             \
    steelyard::intercept::measure_##name<#binding>(STEELYARD_SITE, STEELYARD_UNWRAP arguments); \
  }
#define STEELYARD_FORTRAN_PLACED(name, binding, parameters, arguments)          \
  extern "C" STEELYARD_EXPORT void mpi_##name##binding parameters {             \
    const steelyard::intercept::CalledFrom origin(__builtin_return_address(0)); \
    steelyard::intercept::next<"mpi_" #name, #binding> arguments;               \
  }
#ifdef OPEN_MPI
#define STEELYARD_FORTRAN(name, parameters, arguments)       \
  STEELYARD_FORTRAN_MEASURED(name, _, parameters, arguments) \
  STEELYARD_FORTRAN_MEASURED(name, _f08_, parameters, arguments)
#define STEELYARD_FORTRAN_BUFFER STEELYARD_FORTRAN
#else
#define STEELYARD_FORTRAN(name, parameters, arguments)     \
  STEELYARD_FORTRAN_PLACED(name, _, parameters, arguments) \
  STEELYARD_FORTRAN_MEASURED(name, _f08_, parameters, arguments)
#define STEELYARD_FORTRAN_BUFFER(name, parameters, arguments) \
  STEELYARD_FORTRAN_PLACED(name, _, parameters, arguments)    \
  STEELYARD_FORTRAN_PLACED(name, _f08ts_, parameters, arguments)
#endif

// The same for a call that is measured; the MPI library does the waiting.
#define STEELYARD_FORTRAN_TIMES(name, parameters, arguments)     \
  namespace steelyard::intercept {                               \
  template <Name binding>                                        \
  void measure_##name(Site site, STEELYARD_UNWRAP parameters) {  \
    timed(site, [&] { next<"mpi_" #name, binding> arguments; }); \
  }                                                              \
  }
#define STEELYARD_FORTRAN_TIMED(name, parameters, arguments) \
  STEELYARD_FORTRAN_TIMES(name, parameters, arguments)       \
  STEELYARD_FORTRAN(name, parameters, arguments)
#define STEELYARD_FORTRAN_TIMED_BUFFER(name, parameters, arguments) \
  STEELYARD_FORTRAN_TIMES(name, parameters, arguments)              \
  STEELYARD_FORTRAN_BUFFER(name, parameters, arguments)
// NOLINTEND(bugprone-macro-parentheses)
