// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <mpi.h>

#include <cstddef>

namespace steelyard::intercept {

/// How `count` elements of a type lie in memory, and how they come out of it, and back, as one row of bytes: in the
/// order of the type's signature, whatever its map, so that types with the same signature understand each other.
class Layout {
 public:
  /// `buffer`: the program's. What lies in an accelerator's memory is left to the MPI library to pack.
  Layout(const void* buffer, MPI_Datatype type, MPI_Count count);

  std::size_t bytes() const { return bytes_; }
  /// They lie as they travel: any part of them may be given or taken alone. Otherwise all of them at once.
  bool contiguous() const { return contiguous_; }

  /// From the program's buffer to the same place in the row. False where the MPI library refuses to pack it, or it is
  /// too long for that.
  bool give(const void* buffer, char* row, std::size_t from, std::size_t bytes) const;
  /// The way back. With fewer bytes than all, as many whole elements as they make up.
  bool take(const char* row, void* buffer, std::size_t from, std::size_t bytes) const;

 private:
  MPI_Datatype type_;
  MPI_Count count_;
  std::size_t size_;  // of an element
  std::size_t bytes_;
  bool contiguous_;
};

/// False where the MPI library will refuse it.
bool is_type(MPI_Datatype type);

/// Between these two layouts can be used.
void prepare_layouts();
void end_layouts();

}  // namespace steelyard::intercept
