// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "phases/transport.h"

// What the tests of this folder share: machines that are not here, and real processes that meet without an MPI.
namespace steelyard::phases::testing_support {

/// hwloc reads its variables at each load.
class Emulated {
 public:
  explicit Emulated(const char* machine) { setenv("HWLOC_SYNTHETIC", machine, 1); }
  ~Emulated() { unsetenv("HWLOC_SYNTHETIC"); }
};

class ForkedTransport final : public Transport {
 public:
  struct Table {
    pthread_barrier_t barrier;
    char bytes[64 * 1024];
    int agreed;
  };
  ForkedTransport(Table& table, int rank, int size) : table_(table), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int rank_in_communicator() const override { return 100 + rank_; }
  void broadcast(void* bytes, std::size_t size) override {
    if (rank_ == 0) std::memcpy(table_.bytes, bytes, size);
    pthread_barrier_wait(&table_.barrier);
    std::memcpy(bytes, table_.bytes, size);
    pthread_barrier_wait(&table_.barrier);
  }
  bool all_agree(bool mine) override {
    if (rank_ == 0) table_.agreed = 1;
    pthread_barrier_wait(&table_.barrier);
    if (!mine) __atomic_store_n(&table_.agreed, 0, __ATOMIC_SEQ_CST);
    pthread_barrier_wait(&table_.barrier);
    const bool all = __atomic_load_n(&table_.agreed, __ATOMIC_SEQ_CST) != 0;
    pthread_barrier_wait(&table_.barrier);
    return all;
  }

 private:
  Table& table_;
  int rank_, size_;
};

/// Runs `body` in that many processes, and gives their exit statuses: 0 where it returned true, 1 where false, 128 + n
/// for a signal.
inline std::vector<int> in_processes(int count, const std::function<bool(Transport&)>& body) {
  void* memory =
      mmap(nullptr, sizeof(ForkedTransport::Table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* table = static_cast<ForkedTransport::Table*>(memory);
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&table->barrier, &attributes, static_cast<unsigned>(count));
  std::vector<pid_t> children;
  for (int rank = 0; rank < count; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      ForkedTransport transport(*table, rank, count);
      _exit(body(transport) ? 0 : 1);
    }
    children.push_back(child);
  }
  std::vector<int> statuses;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    statuses.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
  munmap(memory, sizeof(ForkedTransport::Table));
  return statuses;
}

}  // namespace steelyard::phases::testing_support
