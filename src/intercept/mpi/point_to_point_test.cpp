// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/mpi/twin.h"

namespace steelyard::intercept {
namespace {

using session::fake::notes;

class PointToPoint : public testing::Test {
 protected:
  void SetUp() override {
    rank_ = rank_of(MPI_COMM_WORLD);
    size_ = size_of(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, 0, size_ - rank_, &reversed_);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(reversed_, MPI_ERRORS_RETURN);
  }
  void TearDown() override {
    MPI_Comm_free(&reversed_);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  }
  int rank_ = 0, size_ = 1;
  MPI_Comm reversed_ = MPI_COMM_NULL;
};

std::vector<int> content(unsigned seed, int count) {
  Random random(seed);
  std::vector<int> values(static_cast<std::size_t>(count));
  for (int& value : values) value = static_cast<int>(random());
  return values;
}

// One message from `from` to `to` in one of the ways of sending and one of receiving.
Outcome message(const Api& api, MPI_Comm comm, unsigned seed) {
  Random random(seed);
  const int rank = rank_of(comm), size = size_of(comm);
  const int counts[] = {0, 1, 100, 1000, 1001, 20000, 100000};
  const int count = counts[draw(random, 7)];
  const int from = draw(random, size), to = draw(random, size), tag = draw(random, 30000);
  const int way_out = draw(random, 2), way_in = draw(random, 4);
  const int source = draw(random, 2) == 0 ? MPI_ANY_SOURCE : from;
  const int wanted = draw(random, 2) == 0 ? MPI_ANY_TAG : tag;
  const bool ignored = draw(random, 4) == 0;
  const std::vector<int> data = content(seed, count);
  std::vector<int> got(static_cast<std::size_t>(count) + 5, -1);
  const int room = static_cast<int>(got.size());
  Outcome outcome;
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == from) {
    if (from == to) {
      PMPI_Isend(data.data(), count, MPI_INT, to, tag, comm, &request);
    } else {
      outcome.add_error((way_out == 0 ? api.Send : api.Ssend)(data.data(), count, MPI_INT, to, tag, comm));
    }
  }
  if (rank == to) {
    MPI_Status status;
    std::memset(&status, 0, sizeof(status));
    status.MPI_ERROR = 77;  // calls that complete one message leave it alone
    MPI_Status* wish = ignored ? MPI_STATUS_IGNORE : &status;
    int from_probe = source, tag_probe = wanted;
    if (way_in == 1) {
      MPI_Status seen;
      outcome.add_error(api.Probe(source, wanted, comm, &seen));
      outcome.add_status(seen, MPI_INT);
      from_probe = seen.MPI_SOURCE;
      tag_probe = seen.MPI_TAG;
    }
    if (way_in == 2) {
      MPI_Message matched;
      outcome.add_error(api.Mprobe(source, wanted, comm, &matched, wish));
      if (!ignored) outcome.add_status(status, MPI_INT);
      PMPI_Mrecv(got.data(), room, MPI_INT, &matched, wish);
    } else if (way_in == 3) {
      MPI_Request incoming;
      PMPI_Irecv(got.data(), room, MPI_INT, source, wanted, comm, &incoming);
      outcome.add_error(api.Wait(&incoming, wish));
      outcome.add(incoming == MPI_REQUEST_NULL);
    } else {
      outcome.add_error(api.Recv(got.data(), room, MPI_INT, from_probe, tag_probe, comm, wish));
    }
    if (!ignored) {
      outcome.add_status(status, MPI_INT);
      outcome.add(status.MPI_ERROR);
    }
    outcome.add(got);
  }
  if (request != MPI_REQUEST_NULL) outcome.add_error(api.Wait(&request, MPI_STATUS_IGNORE));
  settle();  // the next may take a message from any rank
  return outcome;
}

TEST_F(PointToPoint, MessagesArriveAsTheLibrarysOwn) {
  for (unsigned seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    const MPI_Comm comm = seed % 2 == 0 ? MPI_COMM_WORLD : reversed_;
    expect_twins([&](const Api& api) { return message(api, comm, seed); });
  }
}

TEST_F(PointToPoint, ExchangesInARingAsTheLibrarysOwn) {
  const int right = (rank_ + 1) % size_, left = (rank_ + size_ - 1) % size_;
  for (int count : {0, 1, 900, 30000}) {
    for (int edge : {0, 1, 2, 3}) {  // a chain's ends have no neighbour on one side, or on both
      SCOPED_TRACE(count * 10 + edge);
      const int to = (edge & 1) != 0 && rank_ == size_ - 1 ? MPI_PROC_NULL : right;
      const int from = (edge & 1) != 0 && rank_ == 0 ? MPI_PROC_NULL : left;
      expect_twins([&](const Api& api) {
        const std::vector<int> data = content(static_cast<unsigned>(rank_), count);
        std::vector<int> got(data.size() + 1, -1);
        MPI_Status status;
        std::memset(&status, 0, sizeof(status));
        status.MPI_ERROR = 77;
        Outcome outcome;
        if ((edge & 2) != 0) {
          got.assign(data.begin(), data.end());
          outcome.add_error(api.Sendrecv_replace(got.data(), count, MPI_INT, to, 3, from, 3, MPI_COMM_WORLD, &status));
        } else {
          outcome.add_error(api.Sendrecv(data.data(), count, MPI_INT, to, 3, got.data(), count + 1, MPI_INT, from, 3,
                                         MPI_COMM_WORLD, &status));
        }
        outcome.add_status(status, MPI_INT);
        outcome.add(status.MPI_ERROR);
        outcome.add(got);
        return outcome;
      });
    }
  }
}

TEST_F(PointToPoint, StridedDataIsReplacedInPlace) {
  MPI_Datatype column;
  PMPI_Type_vector(50, 3, 7, MPI_INT, &column);
  PMPI_Type_commit(&column);
  const int right = (rank_ + 1) % size_, left = (rank_ + size_ - 1) % size_;
  expect_twins([&](const Api& api) {
    std::vector<int> data = content(static_cast<unsigned>(rank_), 800);
    MPI_Status status;
    Outcome outcome;
    outcome.add_error(api.Sendrecv_replace(data.data(), 2, column, right, 4, left, 4, MPI_COMM_WORLD, &status));
    outcome.add_status(status, column);
    outcome.add(data);
    return outcome;
  });
  PMPI_Type_free(&column);
}

TEST_F(PointToPoint, AnAbsoluteAddressIsReplaced) {
  static int value;
  MPI_Aint address;
  MPI_Datatype absolute;
  PMPI_Get_address(&value, &address);
  const int one = 1;
  PMPI_Type_create_hindexed(1, &one, &address, MPI_INT, &absolute);
  PMPI_Type_commit(&absolute);
  const int right = (rank_ + 1) % size_, left = (rank_ + size_ - 1) % size_;
  expect_twins([&](const Api& api) {
    value = rank_;
    Outcome outcome;
    outcome.add_error(
        api.Sendrecv_replace(MPI_BOTTOM, 1, absolute, right, 4, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    outcome.add(value);
    return outcome;
  });
  PMPI_Type_free(&absolute);
}

TEST_F(PointToPoint, NobodyIsAPeerLikeAnyOther) {
  const long before = notes().pauses;
  expect_twins([&](const Api& api) {
    int value = 5;
    MPI_Status status;
    MPI_Message matched;
    Outcome outcome;
    outcome.add_error(api.Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    outcome.add_status(status, MPI_INT);
    outcome.add_error(api.Probe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    outcome.add_status(status, MPI_INT);
    outcome.add_error(api.Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &matched, &status));
    outcome.add_status(status, MPI_INT);
    outcome.add(matched == MPI_MESSAGE_NO_PROC);
    for (auto send : {api.Send, api.Ssend, api.Rsend}) {
      outcome.add_error(send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    }
    outcome.add(value);
    return outcome;
  });
  EXPECT_EQ(notes().pauses, before);
}

// The handler is called as often, and the same error comes back.
int g_handled = 0;
void on_error(MPI_Comm*, int*, ...) { ++g_handled; }

TEST_F(PointToPoint, ErrorsAreTheLibrarysOwn) {
  MPI_Errhandler counting;
  PMPI_Comm_create_errhandler(on_error, &counting);
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, counting);
  const int right = (rank_ + 1) % size_, left = (rank_ + size_ - 1) % size_;
  std::vector<int> data(10'000, rank_), got(10'000);
  const auto truncated = [&](const Api& api, int count, int way) {
    g_handled = 0;
    Outcome outcome;
    MPI_Request request;
    if (way != 1) PMPI_Isend(data.data(), count, MPI_INT, right, 9, MPI_COMM_WORLD, &request);
    MPI_Status status;
    switch (way) {
      case 0: outcome.add_error(api.Recv(got.data(), count - 1, MPI_INT, left, 9, MPI_COMM_WORLD, &status)); break;
      case 1:
        outcome.add_error(api.Sendrecv(data.data(), count, MPI_INT, right, 9, got.data(), count - 1, MPI_INT, left, 9,
                                       MPI_COMM_WORLD, &status));
        break;
      case 2: {
        MPI_Request incoming;
        PMPI_Irecv(got.data(), count - 1, MPI_INT, left, 9, MPI_COMM_WORLD, &incoming);
        outcome.add_error(api.Wait(&incoming, &status));
        break;
      }
    }
    if (way != 1) PMPI_Wait(&request, MPI_STATUS_IGNORE);
    outcome.add(g_handled);
    return outcome;
  };
  for (int count : {2, 10'000}) {
    for (int way : {0, 1, 2}) {
      SCOPED_TRACE(count * 10 + way);
      expect_twins([&](const Api& api) { return truncated(api, count, way); });
    }
  }
  expect_twins([&](const Api& api) {
    g_handled = 0;
    Outcome outcome;
    int value = 0;
    MPI_Status status;
    for (int peer : {-17, size_}) {
      outcome.add_error(api.Send(&value, 1, MPI_INT, peer, 1, MPI_COMM_WORLD));
      outcome.add_error(api.Ssend(data.data(), 10'000, MPI_INT, peer, 1, MPI_COMM_WORLD));
      outcome.add_error(api.Recv(&value, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &status));
      outcome.add_error(api.Probe(peer, 1, MPI_COMM_WORLD, &status));
      outcome.add_error(
          api.Sendrecv(&value, 1, MPI_INT, peer, 1, &value, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &status));
      outcome.add_error(api.Sendrecv_replace(&value, 1, MPI_INT, left, 1, peer, 1, MPI_COMM_WORLD, &status));
    }
    outcome.add_error(api.Send(&value, -1, MPI_INT, left, 1, MPI_COMM_WORLD));
    outcome.add_error(api.Send(&value, 1, MPI_DATATYPE_NULL, left, 1, MPI_COMM_WORLD));
    outcome.add_error(api.Recv(&value, 1, MPI_INT, left, -55, MPI_COMM_WORLD, &status));
    outcome.add_error(api.Sendrecv_replace(&value, -1, MPI_INT, left, 1, left, 1, MPI_COMM_WORLD, &status));
    outcome.add(g_handled);
    return outcome;
  });
  EXPECT_GT(g_handled, 0);
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  PMPI_Errhandler_free(&counting);
  // A receive that was begun and given up must not take the next message.
  int value = rank_, theirs = -1;
  MPI_Sendrecv(&value, 1, MPI_INT, right, 1, &theirs, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT_EQ(theirs, left);
}

TEST_F(PointToPoint, WaitingLeavesTheCoreAndNamesTheLateOne) {
  if (size_ < 2) GTEST_SKIP() << "one rank waits for no other";
  // The late one is the first of the world and the last of `reversed_`.
  const int late = size_ - 1;
  std::vector<int> data(50'000, 1);
  const int count = static_cast<int>(data.size());
  for (int way = 0; way < 7; ++way) {
    SCOPED_TRACE(way);
    settle();
    const long before = notes().pauses;
    if (rank_ == 0) {
      usleep(20'000);
      for (int peer = 0; peer < late; ++peer) {
        if (way == 5 || way == 6) {
          PMPI_Recv(data.data(), count, MPI_INT, peer, 2, reversed_, MPI_STATUS_IGNORE);
        } else {
          PMPI_Send(data.data(), count, MPI_INT, peer, 2, reversed_);
        }
        if (way == 4) PMPI_Recv(data.data(), count, MPI_INT, peer, 2, reversed_, MPI_STATUS_IGNORE);
      }
      continue;
    }
    MPI_Status status;
    MPI_Message matched;
    std::vector<int> out(data);
    switch (way) {
      case 0: MPI_Recv(data.data(), count, MPI_INT, MPI_ANY_SOURCE, 2, reversed_, MPI_STATUS_IGNORE); break;
      case 1: MPI_Recv(data.data(), count, MPI_INT, late, 2, reversed_, &status); break;
      case 2: MPI_Probe(MPI_ANY_SOURCE, 2, reversed_, MPI_STATUS_IGNORE); break;
      case 3: MPI_Mprobe(late, 2, reversed_, &matched, &status); break;
      case 4:
        MPI_Sendrecv(out.data(), count, MPI_INT, late, 2, data.data(), count, MPI_INT, late, 2, reversed_, &status);
        break;
      case 5: MPI_Send(data.data(), count, MPI_INT, late, 2, reversed_); break;
      case 6: MPI_Ssend(data.data(), 1, MPI_INT, late, 2, reversed_); break;
    }
    EXPECT_GT(notes().pauses, before);
    EXPECT_EQ(notes().waited_for, 0);
    if (way == 2) PMPI_Recv(data.data(), count, MPI_INT, late, 2, reversed_, &status);
    if (way == 3) PMPI_Mrecv(data.data(), count, MPI_INT, &matched, &status);
  }
}

TEST_F(PointToPoint, ShortSendsAreNotMeasured) {
  const long before = notes().calls;
  int value = 1, theirs = 0;
  MPI_Request request;
  PMPI_Irecv(&theirs, 1, MPI_INT, rank_, 1, MPI_COMM_WORLD, &request);
  MPI_Send(&value, 1, MPI_INT, rank_, 1, MPI_COMM_WORLD);
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(notes().calls, before);
}

TEST_F(PointToPoint, ThatTheLibraryHandlesIsBracketedOnce) {
  session::fake::measure(false);
  const long calls = notes().calls, passed_on = notes().passed_on;
  const int next = (rank_ + 1) % size_, previous = (rank_ + size_ - 1) % size_;
  int sent = rank_, got = -1;
  MPI_Sendrecv(&sent, 1, MPI_INT, next, 5, &got, 1, MPI_INT, previous, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT_EQ(got, previous);
  MPI_Barrier(MPI_COMM_WORLD);
  session::fake::measure(true);
  EXPECT_EQ(notes().calls, calls);
  EXPECT_EQ(notes().passed_on - passed_on, 2);
}

}  // namespace
}  // namespace steelyard::intercept
