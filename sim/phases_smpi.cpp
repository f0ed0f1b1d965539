// SPDX-License-Identifier: BSD-3-Clause
// The creation of a context of src/phases itself, on the ranks of a simulated machine:
//   smpirun -np N phases_smpi create|nothing
// Prints how long it takes the slowest rank (us), the mean shared memory of a node (KiB), and the fewest and most ranks
// of a node. With `nothing`, the trace has all messages but those of the creation. A binding and a barrier send none:
// they are in shared memory.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#undef sleep  // of SimGrid: Rendezvous has a member of that name
#include "phases/context.h"
#include "phases/transport.h"

using namespace steelyard;

namespace {

int g_rank, g_size;

/// As include/steelyard/detail/phases_mpi.h has it.
class Messages final : public phases::Transport {
 public:
  explicit Messages(MPI_Comm here) : here_(here) {
    MPI_Comm_rank(here, &rank_);
    MPI_Comm_size(here, &size_);
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int rank_in_communicator() const override { return g_rank; }
  void broadcast(void* bytes, std::size_t size) override {
    MPI_Request request;
    MPI_Ibcast(bytes, static_cast<int>(size), MPI_BYTE, 0, here_, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  bool all_agree(bool mine) override {
    const int said = mine ? 1 : 0;
    int agreed = 0;
    MPI_Request request;
    MPI_Iallreduce(&said, &agreed, 1, MPI_INT, MPI_MIN, here_, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return agreed != 0;
  }

 private:
  MPI_Comm here_;
  int rank_ = 0, size_ = 0;
};

/// A model of MPI_Comm_split() in two exchanges of all ranks: an allgather of colour and key, and an agreement on the
/// number of the new communicator. SimGrid's own split sends nothing. What Open MPI sends in fact, up to 32 ranks:
/// bench/phases.py --only creation-messages.
MPI_Comm split_by_node() {
  const int mine[] = {0, g_rank};
  std::vector<int> all(2 * static_cast<std::size_t>(g_size));
  MPI_Allgather(mine, 2, MPI_INT, all.data(), 2, MPI_INT, MPI_COMM_WORLD);
  int number = 0;
  MPI_Allreduce(mine, &number, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Comm here;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, g_rank, MPI_INFO_NULL, &here);
  return here;
}

std::shared_ptr<phases::Context> create() {
  MPI_Comm here = split_by_node();
  Messages messages(here);
  std::shared_ptr<phases::Context> context;
  const base::Status made = phases::Context::create(messages, [](const std::string&) { std::abort(); }, {}, context);
  MPI_Comm_free(&here);
  if (!made) {
    std::fprintf(stderr, "phases_smpi: rank %d: %s\n", g_rank, made.sentence().c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return context;
}

/// All simulated ranks are in one process: what it maps, by mapping.
double shared_kib() {
  double bytes = 0;
  int mappings = 0;
  std::FILE* file = std::fopen("/proc/self/maps", "r");
  for (char line[4096]; file != nullptr && std::fgets(line, sizeof line, file) != nullptr;) {
    unsigned long begin = 0, end = 0;
    if (std::strstr(line, "/steelyard-") == nullptr || std::sscanf(line, "%lx-%lx", &begin, &end) != 2) continue;
    bytes += static_cast<double>(end - begin);
    ++mappings;
  }
  if (file != nullptr) std::fclose(file);
  return mappings > 0 ? bytes / mappings / 1024 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g_size);
  if (argc != 2 || (std::strcmp(argv[1], "create") != 0 && std::strcmp(argv[1], "nothing") != 0)) {
    if (g_rank == 0) std::fprintf(stderr, "phases_smpi create|nothing\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  std::shared_ptr<phases::Context> context;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  if (std::strcmp(argv[1], "create") == 0) context = create();
  const double mine = MPI_Wtime() - start;
  double slowest = 0;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const int here = context ? context->size() : 0;
  int fewest = 0, most = 0;
  MPI_Allreduce(&here, &fewest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&here, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (g_rank == 0) {
    std::printf("create %.1f\nshared %.0f\n", slowest * 1e6, shared_kib());
    std::printf("node %d %d\n", fewest, most);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  context.reset();
  MPI_Barrier(MPI_COMM_WORLD);
  if (g_rank == 0) std::printf("freed\n");
  MPI_Finalize();
  return 0;
}
