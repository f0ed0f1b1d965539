// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/mpi/layout.h"

#include <algorithm>
#include <array>
#include <climits>
#include <tuple>
#include <utility>

#include "node/host_memory.h"

namespace steelyard::intercept {
namespace {

// Refusals of the library are looked at here, before the program's error handler hears of them.
MPI_Comm g_quiet{};
bool g_prepared = false;

/// What MPI_Pack and MPI_Unpack do, for MPI_BOTTOM: MPICH's take it for a null pointer.
bool through_itself(const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type) {
  return PMPI_Sendrecv(from, count, type, 0, 0, to, to_count, to_type, 0, 0, g_quiet, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

struct Plain {
  MPI_Datatype type;
  std::size_t size;
};

/// Types without gaps that a program cannot free; those most used come first.
auto plain_types() {
  return std::array{MPI_DOUBLE,
                    MPI_INT,
                    MPI_BYTE,
                    MPI_CHAR,
                    MPI_DOUBLE_PRECISION,
                    MPI_INTEGER,
                    MPI_FLOAT,
                    MPI_REAL,
                    MPI_LONG,
                    MPI_LOGICAL,
                    MPI_CHARACTER,
                    MPI_INT64_T,
                    MPI_INT32_T,
                    MPI_UINT64_T,
                    MPI_UINT32_T,
                    MPI_INT8_T,
                    MPI_UINT8_T,
                    MPI_INT16_T,
                    MPI_UINT16_T,
                    MPI_LONG_LONG,
                    MPI_UNSIGNED,
                    MPI_UNSIGNED_LONG,
                    MPI_UNSIGNED_LONG_LONG,
                    MPI_UNSIGNED_CHAR,
                    MPI_SIGNED_CHAR,
                    MPI_SHORT,
                    MPI_UNSIGNED_SHORT,
                    MPI_C_BOOL,
                    MPI_C_FLOAT_COMPLEX,
                    MPI_C_DOUBLE_COMPLEX,
                    MPI_COMPLEX,
                    MPI_DOUBLE_COMPLEX,
                    MPI_INTEGER4,
                    MPI_INTEGER8,
                    MPI_REAL4,
                    MPI_REAL8,
                    MPI_PACKED};
}

// With their sizes. Empty until the MPI library is there.
std::array<Plain, std::tuple_size_v<decltype(plain_types())>> g_plain;

/// 0 where the type is none of them.
std::size_t plain_size(MPI_Datatype type) {
  for (const Plain& one : g_plain) {
    if (one.type == type) return one.size;
  }
  return 0;
}

}  // namespace

// What the library says of a type that is none goes to the handler of MPI_COMM_WORLD, unless it is asked on a
// communicator.
bool is_type(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return false;
  int size = 0;
  return plain_size(type) != 0 || PMPI_Pack_size(0, type, g_quiet, &size) == MPI_SUCCESS;
}

// A broadcast among one moves nothing, and is refused as one among several.
bool is_buffer(const void* buffer, MPI_Datatype type, MPI_Count count) {
  return buffer != nullptr || count == 0 || PMPI_Bcast(const_cast<void*>(buffer), 1, type, 0, g_quiet) == MPI_SUCCESS;
}

// One element: where the library does not refuse it, no byte changes.
bool may_stay(void* block, MPI_Datatype type) {
  return PMPI_Scatter(block, 1, type, block, 1, type, 0, g_quiet) == MPI_SUCCESS;
}

Layout::Layout(const void* buffer, MPI_Datatype type, MPI_Count count)
    : buffer_(const_cast<void*>(buffer)), type_(type), count_(count), size_(plain_size(type)) {
  contiguous_ = size_ != 0 && (buffer == MPI_BOTTOM || count == 0 || node::is_host_memory(buffer));
  if (buffer != MPI_BOTTOM) at_ = static_cast<char*>(buffer_);
  if (size_ == 0) {
    MPI_Count size = 0;
    PMPI_Type_size_x(type, &size);
    size_ = size > 0 ? static_cast<std::size_t>(size) : 0;
  }
  bytes_ = size_ * static_cast<std::size_t>(count);
}

Layout::Layout(const Layout& one, int times) : Layout(one) {
  count_ *= times;
  bytes_ *= static_cast<std::size_t>(times);
}

bool Layout::pack(char* row) const {
  if (bytes_ > INT_MAX) return false;
  const int count = static_cast<int>(count_);
  if (buffer_ == MPI_BOTTOM) return through_itself(buffer_, count, type_, row, static_cast<int>(bytes_), MPI_PACKED);
  int position = 0;
  const int error = PMPI_Pack(buffer_, count, type_, row, static_cast<int>(bytes_), &position, g_quiet);
  return error == MPI_SUCCESS && static_cast<std::size_t>(position) == bytes_;
}

bool Layout::unpack(const char* row, std::size_t bytes) const {
  const int whole = static_cast<int>(bytes / size_);
  if (buffer_ == MPI_BOTTOM) {
    return through_itself(row, static_cast<int>(static_cast<std::size_t>(whole) * size_), MPI_PACKED, buffer_, whole,
                          type_);
  }
  int position = 0;
  return PMPI_Unpack(row, static_cast<int>(bytes), &position, buffer_, whole, type_, g_quiet) == MPI_SUCCESS;
}

void prepare_layouts() {
  std::ranges::transform(plain_types(), g_plain.begin(), [](MPI_Datatype type) {
    int size = 0;
    // Where the MPI library knows no Fortran, some are no types.
    if (type != MPI_DATATYPE_NULL) PMPI_Type_size(type, &size);
    return Plain{type, static_cast<std::size_t>(std::max(0, size))};
  });
  PMPI_Comm_dup(MPI_COMM_SELF, &g_quiet);
  PMPI_Comm_set_errhandler(g_quiet, MPI_ERRORS_RETURN);
  g_prepared = true;
}

// A program that calls PMPI_Init was not seen to initialise MPI.
void end_layouts() {
  if (std::exchange(g_prepared, false)) PMPI_Comm_free(&g_quiet);
}

}  // namespace steelyard::intercept
