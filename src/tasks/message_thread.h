// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace steelyard::tasks {

/// Answers messages while the primary thread of its process executes a long task. Only where MPI lets any thread call
/// it (MPI_THREAD_MULTIPLE). It sleeps outside of runs, and between two checks of the primary thread.
class MessageThread {
 public:
  /// @param mutex protects what `serve` uses
  /// @param serve called by the thread, with the mutex locked; returns the time until the next call, in ns
  MessageThread(std::mutex& mutex, std::function<std::int64_t()> serve);
  ~MessageThread();
  MessageThread(const MessageThread&) = delete;
  MessageThread& operator=(const MessageThread&) = delete;

  /// By the primary thread, with the mutex locked: from now on the thread serves.
  void begin();
  /// Likewise: it does not serve any more.
  void end() { active_ = false; }

 private:
  void loop();

  std::mutex& mutex_;
  std::function<std::int64_t()> serve_;
  std::condition_variable changed_;
  bool active_ = false, stopping_ = false;
  std::thread thread_;
};

}  // namespace steelyard::tasks
