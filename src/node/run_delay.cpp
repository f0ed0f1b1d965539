// SPDX-License-Identifier: BSD-3-Clause
#include "node/run_delay.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace steelyard::node {

int thread_id() {
  thread_local const int id = gettid();
  return id;
}

std::int64_t run_delay(int thread_id) {
  char path[48] = {};
  std::snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", thread_id);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  char text[64] = {};  // time on the CPU, time ready to run (both in ns), times it was put there
  const ssize_t length = read(file, text, sizeof(text) - 1);
  close(file);
  long long on_cpu = 0, ready = 0;
  // A kernel with the file but without statistics writes zeros. A thread that reads this has been on a CPU.
  return length > 0 && std::sscanf(text, "%lld %lld", &on_cpu, &ready) == 2 && on_cpu > 0 ? ready : -1;
}

std::map<int, std::int64_t> run_delays() {
  std::map<int, std::int64_t> delays;
  const std::unique_ptr<DIR, int (*)(DIR*)> threads(opendir("/proc/self/task"), closedir);
  if (threads == nullptr) return delays;
  while (const dirent* entry = readdir(threads.get())) {
    const int id = std::atoi(entry->d_name);
    if (const std::int64_t delay = id > 0 ? run_delay(id) : -1; delay >= 0) delays[id] = delay;
  }
  if (!delays.contains(thread_id())) delays.clear();
  return delays;
}

}  // namespace steelyard::node
