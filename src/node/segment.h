// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "base/status.h"
#include "node/bootstrap.h"

namespace steelyard::node {

class Segment;

/// What one part of Steelyard keeps in the segment.
struct Footprint {
  std::size_t bytes = 0;
  std::size_t spare = 0;  ///< bytes behind the parts (Segment::spare()); of one part at most
  /// Carves the part. Called at each process once the segment is there, in the order of the parts.
  std::function<void(Segment&)> attach;
};

/// Of a class that is made from a segment, the number of processes and the own one. `part` outlives the call of attach.
template <class Part>
Footprint footprint_of(std::unique_ptr<Part>& part, int processes, int me) {
  return {.bytes = Part::footprint(processes), .attach = [&part, processes, me](Segment& segment) {
            part = std::make_unique<Part>(segment, processes, me);
          }};
}

/// Memory that all processes of a node share. Its name is unlinked as soon as all have attached: a crash leaves nothing
/// behind. The leader keeps the file open, so that the same user finds it under /proc (`steelyard top`). Zero-filled at
/// start, and really there: a full /dev/shm is an error at creation, not a signal later.
class Segment {
 public:
  /// Attaches the parts. Collective over the world: if one process cannot have the segment, all get the failure. All
  /// processes of a node pass the same sizes. Of the spare bytes, only those exist that are commit()ted.
  static base::Status create(Bootstrap& bootstrap, const std::vector<Footprint>& parts,
                             std::unique_ptr<Segment>& segment);
  /// A segment over zero-filled memory of the caller: one view a process, or a thread that plays one in a test.
  static std::unique_ptr<Segment> over(void* memory, std::size_t bytes);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  /// The next `count` objects of type T, on cache lines of their own. Every process carves the same things in the same
  /// order, so that they all see the same objects. Never beyond the size: ask footprint() first.
  template <class T>
  T* carve(std::size_t count) {
    static_assert(alignof(T) <= kLine);
    return static_cast<T*>(take(count * sizeof(T)));
  }
  /// What carve() will use for these objects.
  template <class T>
  static constexpr std::size_t footprint(std::size_t count) {
    return (count * sizeof(T) + kLine - 1) / kLine * kLine;
  }

  /// The start of the spare bytes.
  char* spare() const { return memory_ + bytes_; }
  /// Makes sure that these spare bytes are there. False where the node has no memory left for them, or its kernel
  /// cannot tell (Linux before 5.14).
  static bool commit(char* from, std::size_t bytes);

 private:
  static constexpr std::size_t kLine = 64;  // Size: bytes of a cache line
  Segment(void* memory, std::size_t bytes, std::size_t mapped, int file)
      : memory_(static_cast<char*>(memory)), bytes_(bytes), mapped_(mapped), file_(file) {}
  void* take(std::size_t bytes);

  char* memory_;
  std::size_t bytes_;
  std::size_t used_ = 0;
  std::size_t mapped_;  // bytes to unmap; 0: the memory is another's
  int file_;            // of the leader; -1 elsewhere
};

}  // namespace steelyard::node
