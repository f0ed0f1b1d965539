// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "phases/transport.h"

namespace steelyard::phases {

/// A file in memory that the processes of a node share: a head of fixed size, and areas that grow. The file has no name
/// any more when create() returns, so a crash leaves nothing behind.
class SharedFile {
 public:
  static constexpr int kAreas = 2;  ///< Size: what goes to the chosen processes, and what comes back
  /// Encoding: bytes from the begin of one area to that of the next. A file in memory takes only what is really there.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 42;

  /// Collective over the processes of the transport. `head`: bytes, as rank 0 passes them. `fill` writes each process's
  /// own data: on rank 0 before the others map the file, on the others before any process returns. If one process
  /// cannot map the file, all get the failure.
  using Fill = std::function<void(void* head)>;
  static base::Status create(Transport& transport, std::size_t head, const Fill& fill,
                             std::unique_ptr<SharedFile>& file);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  void* head() const { return head_; }

  /// Makes room for `bytes` in an area, at most kMostBytes; by one process of the node. The others map() it afterwards.
  base::Status grow(int area, std::size_t bytes);
  /// The first `bytes` of an area, mapped into this process; nullptr if they cannot be mapped. Invalidates the address
  /// of an earlier call for fewer bytes.
  char* map(int area, std::size_t bytes);
  /// Offset of `address` in a mapped area; -1 if it is not in it.
  std::int64_t offset_in(int area, const void* address) const;

 private:
  SharedFile(int fd, void* head, std::size_t bytes) : fd_(fd), head_(head), head_bytes_(bytes) {}

  int fd_;
  void* head_;
  std::size_t head_bytes_;
  char* areas_[kAreas] = {};
  std::size_t area_bytes_[kAreas] = {};
};

}  // namespace steelyard::phases
