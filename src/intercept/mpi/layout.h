// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>

#include "intercept/mpi/library.h"
#include "port/layout.h"

namespace steelyard::intercept {

/// How `count` elements of a type lie in the program's memory.
class Layout final : public port::Layout {
 public:
  /// What lies in an accelerator's memory is packed by the MPI library.
  Layout(const void* buffer, MPI_Datatype type, MPI_Count count);
  /// `times` of them, one after the other as the elements of one are.
  Layout(const Layout& one, int times);
  /// No elements.
  Layout() : type_(MPI_BYTE) { contiguous_ = true; }

 private:
  bool pack(char* row) const override;
  bool unpack(const char* row, std::size_t bytes) const override;

  void* buffer_ = nullptr;  // as the program passed it
  MPI_Datatype type_;
  MPI_Count count_ = 0;
  std::size_t size_ = 0;  // of an element
};

/// False where the MPI library will refuse it.
bool is_type(MPI_Datatype type);

/// False where the MPI library will refuse it: MPICH takes a null pointer for no buffer, unless the type is absolute.
/// @pre is_type(type)
bool is_buffer(const void* buffer, MPI_Datatype type, MPI_Count count);

/// False where the MPI library will refuse a scatter whose root's own block is to go where it already is: MPICH does.
/// @pre is_type(type), is_buffer(block, type, 1)
bool may_stay(void* block, MPI_Datatype type);

/// Between these two layouts can be used.
void prepare_layouts();
/// Does nothing without prepare_layouts().
void end_layouts();

}  // namespace steelyard::intercept
