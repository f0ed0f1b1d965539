// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstring>

namespace steelyard::port {

/// The elements of one argument of an MPI call, in the program's memory, and how they become a row of bytes and come
/// back. The row has the order of the type's signature, whatever its map: two types with the same signature have the
/// same row. Elements without gaps are copied here, without a virtual call.
class Layout {
 public:
  /// Bytes of the row.
  std::size_t bytes() const { return bytes_; }
  /// The elements lie in memory as they do in the row: any part can be copied alone. Otherwise all of them at once.
  bool contiguous() const { return contiguous_; }
  /// There are elements, but they have no address.
  bool lacks_address() const { return contiguous_ && at_ == nullptr && bytes_ > 0; }

  /// Copies `bytes` bytes, from the byte `from` on, to the same place in the row.
  /// @pre contiguous(), or all bytes
  /// @return false if the MPI library refuses to pack the elements
  bool give(char* row, std::size_t from, std::size_t bytes) const {
    if (!contiguous_) return pack(row);
    if (bytes > 0) std::memcpy(row + from, at_ + from, bytes);  // no elements may have no address
    return true;
  }
  /// Copies them back.
  /// @pre contiguous(), or `from` is 0. With fewer bytes than all, copies as many whole elements as these make up.
  /// @return false if the MPI library refuses to unpack the elements
  bool take(const char* row, std::size_t from, std::size_t bytes) const {
    if (!contiguous_) return unpack(row, bytes);
    if (bytes > 0) std::memcpy(at_ + from, row + from, bytes);
    return true;
  }

 protected:
  Layout() = default;
  ~Layout() = default;

  char* at_ = nullptr;
  std::size_t bytes_ = 0;
  bool contiguous_ = false;

 private:
  virtual bool pack(char* row) const = 0;
  virtual bool unpack(const char* row, std::size_t bytes) const = 0;
};

}  // namespace steelyard::port
