// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/message_thread.h"

#include <signal.h>

#include <chrono>
#include <utility>

namespace steelyard::tasks {

MessageThread::MessageThread(std::mutex& mutex, std::function<std::int64_t()> serve)
    : mutex_(mutex), serve_(std::move(serve)) {
  // The program's signals are for its own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread(&MessageThread::loop, this);
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

MessageThread::~MessageThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void MessageThread::begin() {
  active_ = true;
  changed_.notify_one();
}

void MessageThread::loop() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (active_) {
      changed_.wait_for(lock, std::chrono::nanoseconds(serve_()));
    } else {
      changed_.wait(lock);
    }
  }
}

}  // namespace steelyard::tasks
