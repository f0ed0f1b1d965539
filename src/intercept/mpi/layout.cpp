#include "intercept/mpi/layout.h"

#include <algorithm>
#include <climits>
#include <cstring>

namespace steelyard::intercept {
namespace {

// Refusals of the library are looked at here, before the program's error handler hears of them.
MPI_Comm g_quiet = MPI_COMM_NULL;

/// What MPI_Pack and MPI_Unpack do, for MPI_BOTTOM: MPICH's take it for a null pointer.
bool through_itself(const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type) {
  return PMPI_Sendrecv(from, count, type, 0, 0, to, to_count, to_type, 0, 0, g_quiet, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

struct Known {
  MPI_Datatype type;
  std::size_t size;
};

/// The size of types without gaps that nobody can free; 0 for all others. The most used come first.
std::size_t plain_size(MPI_Datatype type) {
  static const Known known[] = {
      {MPI_DOUBLE, sizeof(double)},
      {MPI_INT, sizeof(int)},
      {MPI_BYTE, 1},
      {MPI_CHAR, 1},
      {MPI_FLOAT, sizeof(float)},
      {MPI_LONG, sizeof(long)},
      {MPI_LONG_LONG, sizeof(long long)},
      {MPI_UNSIGNED, sizeof(unsigned)},
      {MPI_UNSIGNED_LONG, sizeof(unsigned long)},
      {MPI_UNSIGNED_CHAR, 1},
      {MPI_SIGNED_CHAR, 1},
      {MPI_SHORT, sizeof(short)},
      {MPI_INT32_T, 4},
      {MPI_INT64_T, 8},
      {MPI_UINT32_T, 4},
      {MPI_UINT64_T, 8},
      {MPI_PACKED, 1},
  };
  for (const Known& one : known) {
    if (one.type == type) return one.size;
  }
  return 0;
}

}  // namespace

Layout::Layout(MPI_Datatype type, int count) : type_(type), count_(count), size_(plain_size(type)) {
  contiguous_ = size_ != 0;
  if (!contiguous_) {
    MPI_Count size = 0;
    PMPI_Type_size_x(type, &size);
    size_ = size > 0 ? static_cast<std::size_t>(size) : 0;
  }
  bytes_ = size_ * static_cast<std::size_t>(count);
}

bool Layout::give(const void* buffer, char* row, std::size_t from, std::size_t bytes) const {
  if (contiguous_) {
    std::memcpy(row + from, static_cast<const char*>(buffer) + from, bytes);
    return true;
  }
  if (bytes_ > INT_MAX) return false;
  if (buffer == MPI_BOTTOM) return through_itself(buffer, count_, type_, row, static_cast<int>(bytes_), MPI_PACKED);
  int position = 0;
  const int error = PMPI_Pack(buffer, count_, type_, row, static_cast<int>(bytes_), &position, g_quiet);
  return error == MPI_SUCCESS && static_cast<std::size_t>(position) == bytes_;
}

bool Layout::take(const char* row, void* buffer, std::size_t from, std::size_t bytes) const {
  if (contiguous_) {
    std::memcpy(static_cast<char*>(buffer) + from, row + from, bytes);
    return true;
  }
  const int whole = static_cast<int>(bytes / size_);
  if (buffer == MPI_BOTTOM) {
    return through_itself(row, static_cast<int>(static_cast<std::size_t>(whole) * size_), MPI_PACKED, buffer, whole,
                          type_);
  }
  int position = 0;
  return PMPI_Unpack(row, static_cast<int>(bytes), &position, buffer, whole, type_, g_quiet) == MPI_SUCCESS;
}

void prepare_layouts() {
  PMPI_Comm_dup(MPI_COMM_SELF, &g_quiet);
  PMPI_Comm_set_errhandler(g_quiet, MPI_ERRORS_RETURN);
}

void end_layouts() { PMPI_Comm_free(&g_quiet); }

}  // namespace steelyard::intercept
