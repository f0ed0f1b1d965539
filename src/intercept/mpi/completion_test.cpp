// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include "intercept/mpi/twin.h"

namespace steelyard::intercept {
namespace {

using session::fake::notes;

constexpr int kMessages = 12;

// Every rank receives kMessages from its left neighbour, which sends them in another order than they are awaited.
struct Traffic {
  explicit Traffic(unsigned seed) : order(kMessages) {
    const int rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
    std::iota(order.begin(), order.end(), 0);
    Random random(seed);
    std::shuffle(order.begin(), order.end(), random);
    for (int i = 0; i < kMessages; ++i) {
      out.emplace_back(static_cast<std::size_t>(i) * 700, rank + i);
      in.emplace_back(out.back().size(), -1);
    }
    for (int i = 0; i < kMessages; ++i) {
      std::vector<int>& to = in[static_cast<std::size_t>(i)];
      PMPI_Irecv(to.data(), static_cast<int>(to.size()), MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD,
                 &requests[i]);
    }
    for (int k = 0; k < kMessages; ++k) {
      const int i = order[static_cast<std::size_t>(k)];
      const std::vector<int>& from = out[static_cast<std::size_t>(i)];
      PMPI_Isend(from.data(), static_cast<int>(from.size()), MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD, &sends[k]);
    }
  }
  ~Traffic() { PMPI_Waitall(kMessages, sends, MPI_STATUSES_IGNORE); }
  void add_to(Outcome& outcome) const {
    for (const std::vector<int>& values : in) outcome.add(values);
    for (MPI_Request request : requests) outcome.add(request == MPI_REQUEST_NULL);
  }

  std::vector<int> order;
  std::vector<std::vector<int>> out, in;
  MPI_Request requests[kMessages], sends[kMessages];
};

void add(Outcome& outcome, MPI_Status (&statuses)[kMessages]) {
  for (MPI_Status& status : statuses) outcome.add_status(status, MPI_INT);
}

TEST(Waitall, IsTheLibrarysOwn) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    expect_twins([&](const Api& api) {
      Traffic traffic(seed);
      MPI_Status statuses[kMessages];
      for (MPI_Status& status : statuses) status.MPI_ERROR = 77;
      Outcome outcome;
      const bool ignored = seed % 3 == 0;
      if (seed % 2 == 0) PMPI_Wait(&traffic.requests[seed], MPI_STATUS_IGNORE);  // it is null then
      outcome.add_error(api.Waitall(kMessages, traffic.requests, ignored ? MPI_STATUSES_IGNORE : statuses));
      if (!ignored) add(outcome, statuses);
      for (const MPI_Status& status : statuses) outcome.add(status.MPI_ERROR);
      traffic.add_to(outcome);
      return outcome;
    });
  }
}

TEST(Waitany, FindsEachOnce) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    expect_twins([&](const Api& api) {
      Traffic traffic(seed);
      MPI_Status statuses[kMessages];
      Outcome outcome;
      for (int i = 0; i < kMessages; ++i) {
        int index = -1;
        MPI_Status status;
        outcome.add_error(api.Waitany(kMessages, traffic.requests, &index, &status));
        if (index < 0 || index >= kMessages) return outcome;
        statuses[index] = status;
      }
      int index = -1;
      outcome.add_error(api.Waitany(kMessages, traffic.requests, &index, MPI_STATUS_IGNORE));
      outcome.add(index);  // none is left
      add(outcome, statuses);
      traffic.add_to(outcome);
      return outcome;
    });
  }
}

TEST(Waitsome, FindsAllOnce) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    expect_twins([&](const Api& api) {
      Traffic traffic(seed);
      MPI_Status some[kMessages], statuses[kMessages];
      int indices[kMessages], finished = 0, found = 0;
      Outcome outcome;
      while (found < kMessages) {
        outcome.add_error(api.Waitsome(kMessages, traffic.requests, &finished, indices, some));
        if (finished <= 0) return Outcome();
        for (int k = 0; k < finished; ++k) statuses[indices[k]] = some[k];
        found += finished;
      }
      outcome = Outcome();  // how many at a time is the library's to choose
      outcome.add(found);
      outcome.add_error(api.Waitsome(kMessages, traffic.requests, &finished, indices, MPI_STATUSES_IGNORE));
      outcome.add(finished);
      add(outcome, statuses);
      traffic.add_to(outcome);
      return outcome;
    });
  }
}

TEST(Waits, OfNothingEndAtOnce) {
  expect_twins([&](const Api& api) {
    Outcome outcome;
    MPI_Request none[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Request idle;  // persistent and not started
    int value = 0, index = 7, finished = 7, indices[3];
    PMPI_Recv_init(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &idle);
    MPI_Status status, statuses[3];
    outcome.add_error(api.Wait(&none[0], &status));
    outcome.add_status(status, MPI_INT);
    outcome.add_error(api.Wait(&idle, &status));
    outcome.add_status(status, MPI_INT);
    outcome.add(idle != MPI_REQUEST_NULL);
    outcome.add_error(api.Waitall(3, none, statuses));
    for (MPI_Status& each : statuses) outcome.add_status(each, MPI_INT);
    outcome.add_error(api.Waitall(0, nullptr, MPI_STATUSES_IGNORE));
    none[1] = idle;
    std::memset(&status, 0x5a, sizeof(status));
    outcome.add_error(api.Waitany(3, none, &index, &status));
    outcome.add(index);
    outcome.add_status(status, MPI_INT);
    outcome.add_error(api.Waitsome(3, none, &finished, indices, statuses));
    outcome.add(finished);
    outcome.add_error(api.Waitany(0, nullptr, &index, &status));
    outcome.add(index);
    PMPI_Request_free(&idle);
    return outcome;
  });
}

TEST(Waits, LeavePersistentRequestsForTheNextStart) {
  const int rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  expect_twins([&](const Api& api) {
    Outcome outcome;
    int out = 0, in = -1;
    MPI_Request requests[2];
    PMPI_Recv_init(&in, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &requests[0]);
    PMPI_Send_init(&out, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 5; ++round) {
      out = rank * 100 + round;
      PMPI_Startall(2, requests);
      if (round % 2 == 0) {
        outcome.add_error(api.Waitall(2, requests, MPI_STATUSES_IGNORE));
      } else {
        outcome.add_error(api.Wait(&requests[0], MPI_STATUS_IGNORE));
        outcome.add_error(api.Wait(&requests[1], MPI_STATUS_IGNORE));
      }
      outcome.add(in);
    }
    PMPI_Request_free(&requests[0]);
    PMPI_Request_free(&requests[1]);
    return outcome;
  });
}

TEST(Waits, CompleteNonBlockingCollectives) {
  expect_twins([&](const Api& api) {
    Outcome outcome;
    int sums[4] = {1, 2, 3, 4};
    MPI_Request requests[4];
    for (int i = 0; i < 4; ++i) {
      PMPI_Iallreduce(MPI_IN_PLACE, &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
    }
    outcome.add_error(api.Wait(&requests[3], MPI_STATUS_IGNORE));
    outcome.add_error(api.Waitall(4, requests, MPI_STATUSES_IGNORE));
    for (int sum : sums) outcome.add(sum);
    return outcome;
  });
}

#if MPI_VERSION >= 4
#define STEELYARD_ALLREDUCE_INIT PMPI_Allreduce_init
#elif defined(OPEN_MPI)
#define STEELYARD_ALLREDUCE_INIT PMPIX_Allreduce_init
#endif
#ifdef STEELYARD_ALLREDUCE_INIT
TEST(Waits, CompletePersistentCollectives) {
  expect_twins([&](const Api& api) {
    Outcome outcome;
    int sums[3] = {1, 2, 3};
    MPI_Request requests[3];
    for (int i = 0; i < 3; ++i) {
      STEELYARD_ALLREDUCE_INIT(MPI_IN_PLACE, &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                               &requests[i]);
    }
    for (int round = 0; round < 5; ++round) {
      PMPI_Startall(3, requests);
      MPI_Status statuses[3];
      if (round % 2 == 0) {
        outcome.add_error(api.Waitall(3, requests, round == 0 ? MPI_STATUSES_IGNORE : statuses));
      } else {
        for (MPI_Request& request : requests) outcome.add_error(api.Wait(&request, MPI_STATUS_IGNORE));
      }
      for (int sum : sums) outcome.add(sum);
    }
    for (MPI_Request& request : requests) PMPI_Request_free(&request);
    return outcome;
  });
}
#endif

TEST(Waits, CompleteRequestsOfFiles) {
  expect_twins([&](const Api& api) {
    Outcome outcome;
    MPI_File file;
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    PMPI_File_open(MPI_COMM_SELF, ("steelyard-test." + std::to_string(getpid())).c_str(), mode, MPI_INFO_NULL, &file);
    int out[2] = {4, 5}, in[2] = {};
    MPI_Request requests[2];
    for (int i = 0; i < 2; ++i) PMPI_File_iwrite_at(file, i * 4, &out[i], 1, MPI_INT, &requests[i]);
    outcome.add_error(api.Waitall(2, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 2; ++i) PMPI_File_iread_at(file, i * 4, &in[i], 1, MPI_INT, &requests[i]);
    outcome.add_error(api.Waitall(2, requests, MPI_STATUSES_IGNORE));
    for (const int value : in) outcome.add(value);
    PMPI_File_close(&file);
    return outcome;
  });
}

// The last rank sends its message only after its part of a collective access to a file, which MPICH advances at the
// first rank if that one's request is tested.
TEST(Waits, AdvanceAllTheirRequests) {
  const int rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  expect_twins([&](const Api& api) {
    Outcome outcome;
    MPI_File file;
    MPI_Info collective;
    PMPI_Info_create(&collective);
    PMPI_Info_set(collective, "romio_cb_write", "enable");
    int parent = static_cast<int>(getpid());
    PMPI_Bcast(&parent, 1, MPI_INT, 0, MPI_COMM_WORLD);
    const std::string name = "steelyard-test." + std::to_string(parent);
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    PMPI_File_open(MPI_COMM_WORLD, name.c_str(), mode, collective, &file);
    PMPI_Info_free(&collective);
    int message = -1;
    MPI_Request requests[3];
    MPI_Status statuses[3];
    const int from = rank == 0 && size > 1 ? size - 1 : MPI_PROC_NULL;
    PMPI_Recv_init(&message, 1, MPI_INT, from, 0, MPI_COMM_WORLD, &requests[0]);
    PMPI_Start(&requests[0]);
    PMPI_File_iwrite_at_all(file, rank * 4, &rank, 1, MPI_INT, &requests[1]);
    requests[2] = MPI_REQUEST_NULL;
    outcome.add_error(api.Waitall(3, requests, statuses));
    if (rank == size - 1) PMPI_Send(&rank, 1, MPI_INT, size > 1 ? 0 : MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    outcome.add(message);
    for (MPI_Status& status : statuses) outcome.add_status(status, MPI_INT);
    for (MPI_Request request : requests) outcome.add(request == MPI_REQUEST_NULL);
    PMPI_Request_free(&requests[0]);
    PMPI_File_close(&file);
    return outcome;
  });
}

TEST(Waits, ReportTheErrorsOfEachMessage) {
  const int rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int way : {0, 1, 2}) {
    SCOPED_TRACE(way);
    expect_twins([&](const Api& api) {
      Outcome outcome;
      int out[4] = {rank, rank, rank, rank}, in[2][4] = {};
      MPI_Request requests[2], sends[2];
      for (int i = 0; i < 2; ++i) {  // the second is too long for its place
        PMPI_Irecv(in[i], 4 - 2 * i, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD, &requests[i]);
        PMPI_Isend(out, 4, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD, &sends[i]);
      }
      PMPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
      settle();
      MPI_Status statuses[2];
      for (MPI_Status& status : statuses) status.MPI_ERROR = MPI_SUCCESS;
      if (way == 0) {
        outcome.add_error(api.Waitall(2, requests, statuses));
        for (MPI_Status& status : statuses) outcome.add_error(status.MPI_ERROR);
      } else if (way == 1) {
        int errors = 0;
        for (int i = 0; i < 2; ++i) {
          int index = -1;
          MPI_Status status;
          if (api.Waitany(2, requests, &index, &status) != MPI_SUCCESS) ++errors;
        }
        outcome.add(errors);
      } else {
        outcome.add_error(api.Wait(&requests[0], &statuses[0]));
        outcome.add_error(api.Wait(&requests[1], &statuses[1]));
      }
      for (int value : in[0]) outcome.add(value);
      return outcome;
    });
  }
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

TEST(Waits, LeaveTheCore) {
  const int rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  if (size < 2) GTEST_SKIP() << "one rank waits for no other";
  for (int way = 0; way < 4; ++way) {
    SCOPED_TRACE(way);
    settle();
    int value = 1, index = 0, finished = 0, indices[1];
    if (rank == 0) {
      usleep(100'000);
      for (int peer = 1; peer < size; ++peer) PMPI_Send(&value, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);
      continue;
    }
    MPI_Request request;
    PMPI_Irecv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
    const long before = notes().pauses;
    switch (way) {
      case 0: MPI_Wait(&request, MPI_STATUS_IGNORE); break;
      case 1: MPI_Waitall(1, &request, MPI_STATUSES_IGNORE); break;
      case 2: MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE); break;
      case 3: MPI_Waitsome(1, &request, &finished, indices, MPI_STATUSES_IGNORE); break;
    }
    EXPECT_GT(notes().pauses, before);
    EXPECT_EQ(request, MPI_REQUEST_NULL);
  }
}

}  // namespace
}  // namespace steelyard::intercept
