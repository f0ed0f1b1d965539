// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace steelyard::port {

/// Size: bytes of a message that every MPI library sends without a handshake, the library's own head not included.
/// With that head, they stay below the smallest limit in use, Open MPI's 4096 in shared memory.
inline constexpr std::size_t kEager = 3900;

/// A send or a receive that was started. Copying it is free; only one copy may be asked about.
struct Request {
  std::uint64_t handle = 0;  ///< of the implementation
  bool started = false;      ///< false before the start and after the end
};

/// Bytes from rank to rank. A message has a context, a number that the two sides agree on: a receive matches only
/// messages of its context.
///
/// 1. Messages with the same sender, receiver and context arrive in the order in which they were sent. No other order
///    is promised.
/// 2. A send may end only when its receiver receives, whatever its size. A rank that waits for a send must therefore
///    not be one that its receiver waits for.
/// 3. No call blocks unless it says so. Messages may travel only while their sender and receiver call these functions
///    or Progress.
///
/// All calls come from one thread. An error ends the program.
class Messages {
 public:
  virtual ~Messages() = default;
  /// Contexts from 0 to this number can be used.
  virtual std::int64_t highest_context() const = 0;

  /// Starts a send. The bytes must stay in place until the request is done.
  virtual Request send(int to, int context, const void* bytes, std::size_t size) = 0;
  /// Starts a receive of at most `size` bytes. They are in place when the request is done.
  virtual Request receive(int from, int context, void* bytes, std::size_t size) = 0;
  /// True if the request is done, or was never started.
  virtual bool is_done(Request& request) = 0;
  /// Blocks until the request is done.
  virtual void wait(Request& request) = 0;

  /// Receives a message of the context from any rank, if one has arrived.
  /// @param size of the message, which is known
  /// @return false if none has arrived
  virtual bool receive_arrived(int context, void* bytes, std::size_t size) = 0;
  /// The same, but blocks until one has arrived.
  virtual void receive_next(int context, void* bytes, std::size_t size) = 0;

  /// True if all of them are done.
  bool are_done(std::vector<Request>& requests) {
    for (Request& request : requests) {
      if (!is_done(request)) return false;
    }
    return true;
  }
};

}  // namespace steelyard::port
