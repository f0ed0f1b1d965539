// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/mpi/twin.h"

namespace steelyard::intercept {
namespace {

using session::Dependence;
using session::fake::notes;

/// A communicator in each of the shapes that matter, made for one test.
struct Shape {
  const char* name;
  MPI_Comm comm;
};

class Collectives : public testing::Test {
 protected:
  void SetUp() override {
    const int rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
    MPI_Comm dup, reversed, halves;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reversed);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &halves);
    shapes_ = {
        {"world", MPI_COMM_WORLD}, {"dup", dup}, {"reversed", reversed}, {"halves", halves}, {"self", MPI_COMM_SELF}};
    for (const Shape& shape : shapes_) PMPI_Comm_set_errhandler(shape.comm, MPI_ERRORS_RETURN);
  }
  void TearDown() override {
    for (std::size_t i = 1; i < 4; ++i) MPI_Comm_free(&shapes_[i].comm);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  }
  std::vector<Shape> shapes_;
};

std::vector<double> numbers(unsigned seed, std::size_t count) {
  Random random(seed);
  std::uniform_real_distribution<double> distribution(-1e3, 1e3);
  std::vector<double> values(count);
  for (double& value : values) value = distribution(random);
  return values;
}

// One scenario: the call, its count, root, and whether it works in place, all drawn alike at every rank.
Outcome play(const Api& api, MPI_Comm comm, unsigned seed) {
  Random random(seed);
  const int rank = rank_of(comm), size = size_of(comm);
  const int kind = static_cast<int>(seed % 17);
  const int counts_of[] = {0, 1, 7, 300, 5000};
  const int count = counts_of[draw(random, 5)];
  const int root = draw(random, size);
  const bool in_place = draw(random, 3) == 0;
  const MPI_Op op = draw(random, 2) == 0 ? MPI_SUM : MPI_MAX;
  std::vector<int> counts(static_cast<std::size_t>(size)), places(counts.size());
  int total = 0;
  for (int i = 0; i < size; ++i) {
    counts[static_cast<std::size_t>(i)] = draw(random, 3) == 0 ? 0 : draw(random, 200);
    places[static_cast<std::size_t>(i)] = total;
    total += counts[static_cast<std::size_t>(i)];
  }
  const int mine = counts[static_cast<std::size_t>(rank)];
  const std::size_t room = static_cast<std::size_t>(std::max(count, 200)) * static_cast<std::size_t>(size) + 1;
  std::vector<double> from = numbers(seed * 31U + static_cast<unsigned>(rank), room);
  std::vector<double> to = numbers(seed + 7U, room);
  const MPI_Datatype type = MPI_DOUBLE;
  void* in = in_place ? MPI_IN_PLACE : static_cast<void*>(from.data());
  void* in_at_root = rank == root ? in : from.data();
  void* out_at_root = rank == root && in_place ? MPI_IN_PLACE : static_cast<void*>(to.data());
  Outcome outcome;
  switch (kind) {
    case 0: outcome.add_error(api.Barrier(comm)); break;
    case 1: outcome.add_error(api.Bcast(to.data(), count, type, root, comm)); break;
    // MPICH 4.0 reads MPI_IN_PLACE as an address where the root is another than 0.
    case 2:
      outcome.add_error(api.Reduce(root == 0 ? in_at_root : from.data(), to.data(), count, type, op, root, comm));
      break;
    case 3: outcome.add_error(api.Allreduce(in, to.data(), count, type, op, comm)); break;
    case 4: outcome.add_error(api.Scan(in, to.data(), count, type, op, comm)); break;
    case 5: outcome.add_error(api.Exscan(in, to.data(), count, type, op, comm)); break;
    case 6: outcome.add_error(api.Gather(in_at_root, count, type, to.data(), count, type, root, comm)); break;
    case 7:
      outcome.add_error(api.Gatherv(in_at_root, mine, type, to.data(), counts.data(), places.data(), type, root, comm));
      break;
    case 8: outcome.add_error(api.Scatter(from.data(), count, type, out_at_root, count, type, root, comm)); break;
    case 9:
      outcome.add_error(
          api.Scatterv(from.data(), counts.data(), places.data(), type, out_at_root, mine, type, root, comm));
      break;
    case 10: outcome.add_error(api.Allgather(in, count, type, to.data(), count, type, comm)); break;
    case 11:
      outcome.add_error(api.Allgatherv(in, mine, type, to.data(), counts.data(), places.data(), type, comm));
      break;
    case 12: outcome.add_error(api.Alltoall(in, count, type, to.data(), count, type, comm)); break;
    case 13:
    case 14: {
      // What i sends to j is a function of both.
      std::vector<int> out(counts.size()), out_at(counts.size()), come(counts.size()), come_at(counts.size());
      for (int i = 0, sent = 0, received = 0; i < size; ++i) {
        const auto at = static_cast<std::size_t>(i);
        out[at] = (rank * 5 + i * 3 + count) % 4 * 40;
        come[at] = (i * 5 + rank * 3 + count) % 4 * 40;
        out_at[at] = sent;
        come_at[at] = received;
        sent += out[at];
        received += come[at];
      }
      if (kind == 13) {
        outcome.add_error(api.Alltoallv(from.data(), out.data(), out_at.data(), type, to.data(), come.data(),
                                        come_at.data(), type, comm));
        break;
      }
      for (int& place : out_at) place *= static_cast<int>(sizeof(double));
      for (int& place : come_at) place *= static_cast<int>(sizeof(double));
      const std::vector<MPI_Datatype> types(counts.size(), type);
      outcome.add_error(api.Alltoallw(from.data(), out.data(), out_at.data(), types.data(), to.data(), come.data(),
                                      come_at.data(), types.data(), comm));
      break;
    }
    case 15: outcome.add_error(api.Reduce_scatter(in, to.data(), counts.data(), type, op, comm)); break;
    case 16: outcome.add_error(api.Reduce_scatter_block(in, to.data(), count, type, op, comm)); break;
  }
  outcome.add(to);
  return outcome;
}

TEST_F(Collectives, ComeOutBitForBitAsTheLibrarysOwn) {
  unsigned seed = 0;
  for (const Shape& shape : shapes_) {
    SCOPED_TRACE(shape.name);
    for (const unsigned end = seed + 34; seed < end; ++seed) {  // each call twice
      SCOPED_TRACE(seed);
      expect_twins([&](const Api& api) { return play(api, shape.comm, seed); });
      settle();
    }
  }
}

TEST_F(Collectives, AreMeasuredOnceEach) {
  for (const Shape& shape : shapes_) {
    const long before = notes().calls;
    for (unsigned seed = 1; seed <= 17; ++seed) play(kWrapped, shape.comm, seed);
    EXPECT_EQ(notes().calls - before, 17) << shape.name;
  }
  EXPECT_EQ(notes().most_open, 1);
}

// Which dependence the last call told the runtime; "-" where it did not arrive at all.
template <typename Call>
std::string told(Call call) {
  const long before = notes().arrivals;
  call();
  if (notes().arrivals == before) return "-";
  switch (notes().dependence) {
    case Dependence::all: return "all";
    case Dependence::barrier: return "barrier";
    case Dependence::root: return "root " + std::to_string(notes().root);
    case Dependence::none: return "none";
  }
  return "?";
}

TEST_F(Collectives, WaitForNobodyButThoseWhoseDataTheyNeed) {
  if (size_of(MPI_COMM_WORLD) < 2) GTEST_SKIP() << "one rank waits for no other";
  const MPI_Comm comm = shapes_[2].comm;
  const int size = size_of(comm), rank = rank_of(comm), root = size - 1;
  const std::string at_root = rank == root ? "all" : "none";
  const std::string at_others = rank == root ? "none" : "root " + std::to_string(root);
  const auto places = static_cast<std::size_t>(size);
  std::vector<int> a(places * 2, 1), b(places * 2);
  std::vector<int> ones(places, 1), zeros(places, 0), at(places), one_zero(places, 1);
  for (std::size_t i = 0; i < places; ++i) at[i] = static_cast<int>(i);
  one_zero[0] = 0;
  std::vector<MPI_Datatype> types(places, MPI_INT);
  MPI_Datatype empty;
  PMPI_Type_contiguous(0, MPI_INT, &empty);
  PMPI_Type_commit(&empty);
  int* from = a.data();
  int* to = b.data();

  EXPECT_EQ(told([&] { MPI_Barrier(comm); }), "barrier");
  EXPECT_EQ(told([&] { MPI_Bcast(to, 1, MPI_INT, root, comm); }), at_others);
  EXPECT_EQ(told([&] { MPI_Bcast(to, 0, MPI_INT, root, comm); }), "none");
  EXPECT_EQ(told([&] { MPI_Bcast(to, 1, empty, root, comm); }), "none");
  EXPECT_EQ(told([&] { MPI_Reduce(from, to, 1, MPI_INT, MPI_SUM, root, comm); }), at_root);
  EXPECT_EQ(told([&] { MPI_Reduce(from, to, 0, MPI_INT, MPI_SUM, root, comm); }), "none");
  EXPECT_EQ(told([&] { MPI_Allreduce(from, to, 1, MPI_INT, MPI_SUM, comm); }), "all");
  EXPECT_EQ(told([&] { MPI_Allreduce(from, to, 0, MPI_INT, MPI_SUM, comm); }), "none");
  EXPECT_EQ(told([&] { MPI_Scan(from, to, 1, MPI_INT, MPI_SUM, comm); }), "none");
  EXPECT_EQ(told([&] { MPI_Exscan(from, to, 1, MPI_INT, MPI_SUM, comm); }), "none");
  EXPECT_EQ(told([&] { MPI_Gather(from, 1, MPI_INT, to, 1, MPI_INT, root, comm); }), at_root);
  EXPECT_EQ(told([&] { MPI_Gather(from, 0, MPI_INT, to, 0, MPI_INT, root, comm); }), "none");
  // Not significant but at the root: whatever stands there must not be looked at.
  void* nothing = rank == root ? to : nullptr;
  const MPI_Datatype significant = rank == root ? MPI_INT : MPI_DATATYPE_NULL;
  EXPECT_EQ(told([&] { MPI_Gather(from, 1, MPI_INT, nothing, rank == root ? 1 : -5, significant, root, comm); }),
            at_root);
  const int* counts = rank == root ? ones.data() : nullptr;
  EXPECT_EQ(told([&] { MPI_Gatherv(from, 1, MPI_INT, nothing, counts, at.data(), significant, root, comm); }), at_root);
  EXPECT_EQ(
      told([&] { MPI_Gatherv(from, rank == 0 ? 0 : 1, MPI_INT, to, one_zero.data(), at.data(), MPI_INT, root, comm); }),
      "none");
  EXPECT_EQ(told([&] { MPI_Scatter(from, 1, MPI_INT, to, 1, MPI_INT, root, comm); }), at_others);
  EXPECT_EQ(told([&] { MPI_Scatter(from, 0, MPI_INT, to, 0, MPI_INT, root, comm); }), "none");
  EXPECT_EQ(told([&] { MPI_Scatterv(from, ones.data(), at.data(), MPI_INT, to, 1, MPI_INT, root, comm); }), at_others);
  EXPECT_EQ(told([&] {
              MPI_Scatterv(from, one_zero.data(), at.data(), MPI_INT, to, rank == 0 ? 0 : 1, MPI_INT, root, comm);
            }),
            rank == 0 ? "none" : at_others);
  EXPECT_EQ(told([&] { MPI_Allgather(from, 1, MPI_INT, to, 1, MPI_INT, comm); }), "all");
  EXPECT_EQ(told([&] { MPI_Allgather(from, 0, MPI_INT, to, 0, MPI_INT, comm); }), "none");
  EXPECT_EQ(told([&] { MPI_Allgatherv(from, 1, MPI_INT, to, ones.data(), at.data(), MPI_INT, comm); }), "all");
  EXPECT_EQ(
      told([&] { MPI_Allgatherv(from, rank == 0 ? 0 : 1, MPI_INT, to, one_zero.data(), at.data(), MPI_INT, comm); }),
      "none");
  EXPECT_EQ(told([&] { MPI_Alltoall(from, 1, MPI_INT, to, 1, MPI_INT, comm); }), "all");
  EXPECT_EQ(
      told([&] { MPI_Alltoallv(from, ones.data(), at.data(), MPI_INT, to, ones.data(), at.data(), MPI_INT, comm); }),
      "all");
  EXPECT_EQ(
      told([&] { MPI_Alltoallv(from, zeros.data(), at.data(), MPI_INT, to, zeros.data(), at.data(), MPI_INT, comm); }),
      "none");
  EXPECT_EQ(told([&] {
              MPI_Alltoallw(from, ones.data(), at.data(), types.data(), to, ones.data(), at.data(), types.data(), comm);
            }),
            "all");
  EXPECT_EQ(told([&] { MPI_Reduce_scatter(from, to, one_zero.data(), MPI_INT, MPI_SUM, comm); }),
            rank == 0 ? "none" : "all");
  EXPECT_EQ(told([&] { MPI_Reduce_scatter_block(from, to, 1, MPI_INT, MPI_SUM, comm); }), "all");
  PMPI_Type_free(&empty);
}

TEST_F(Collectives, ThatAreNotMeasuredAreStillCounted) {
  const long before = notes().announcements, calls = notes().calls;
  // Only some ranks measure: those that call from inside of a parallel region do not.
  session::fake::measure(rank_of(MPI_COMM_WORLD) % 2 == 0);
  const long arrived = notes().arrivals;
  int sum = 1;
  for (int i = 0; i < 10; ++i) MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, shapes_[1].comm);
  session::fake::measure(true);
  const bool measured = notes().calls != calls;
  EXPECT_EQ(measured, rank_of(MPI_COMM_WORLD) % 2 == 0);
  const long counted = notes().announcements - before + notes().arrivals - arrived;
  EXPECT_EQ(counted, size_of(MPI_COMM_WORLD) > 1 ? 10 : 0);
}

TEST_F(Collectives, RefusedByTheLibraryAreNotCounted) {
  const long before = notes().arrivals;
  int value = 0;
  for (int root : {-1, -7, size_of(MPI_COMM_WORLD), 1 << 20}) {
    expect_twins([&](const Api& api) {
      Outcome outcome;
      outcome.add_error(api.Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD));
      outcome.add_error(api.Gather(&value, 1, MPI_INT, &value, 1, MPI_INT, root, MPI_COMM_WORLD));
      return outcome;
    });
  }
#ifdef OPEN_MPI  // MPICH reads them, as does Open MPI for MPI_Allgatherv
  expect_twins([&](const Api& api) {
    Outcome outcome;
    const std::vector<int> ones(static_cast<std::size_t>(size_of(MPI_COMM_WORLD)), 1);
    const std::vector<MPI_Datatype> types(ones.size(), MPI_INT);
    std::vector<int> to(ones.size());
    const int* none = nullptr;
    const int me = rank_of(MPI_COMM_WORLD);
    const MPI_Comm comm = MPI_COMM_WORLD;
    outcome.add_error(api.Gatherv(&value, 1, MPI_INT, to.data(), none, ones.data(), MPI_INT, me, comm));
    outcome.add_error(
        api.Alltoallv(ones.data(), ones.data(), ones.data(), MPI_INT, to.data(), none, ones.data(), MPI_INT, comm));
    outcome.add_error(api.Alltoallw(ones.data(), ones.data(), ones.data(), types.data(), to.data(), ones.data(),
                                    ones.data(), nullptr, comm));
    outcome.add_error(api.Reduce_scatter(ones.data(), to.data(), none, MPI_INT, MPI_SUM, comm));
    return outcome;
  });
#endif
  EXPECT_EQ(notes().arrivals, before);
}

TEST_F(Collectives, MarkStepsWhereAllRanksTakePart) {
  const int size = size_of(MPI_COMM_WORLD);
  for (const Shape& shape : shapes_) {
    const long before = notes().step_marks;
    MPI_Barrier(shape.comm);
    EXPECT_EQ(notes().step_marks - before, size_of(shape.comm) == size ? 1 : 0) << shape.name;
  }
}

TEST_F(Collectives, OnAnIntercommunicatorGoStraightThrough) {
  const int rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  if (size < 2) GTEST_SKIP() << "takes two groups";
  MPI_Comm between;
  MPI_Intercomm_create(shapes_[3].comm, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &between);
  const long arrived = notes().arrivals, marked = notes().step_marks, calls = notes().calls;
  expect_twins([&](const Api& api) {
    Outcome outcome;
    int value = rank, sum = 0;
    outcome.add_error(api.Barrier(between));
    outcome.add_error(api.Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, between));
    const int root = rank % 2 == 1 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    outcome.add_error(api.Bcast(&value, 1, MPI_INT, root, between));
    outcome.add(value);
    outcome.add(sum);
    return outcome;
  });
  EXPECT_EQ(notes().arrivals, arrived);
  EXPECT_EQ(notes().step_marks, marked);
  EXPECT_EQ(notes().calls - calls, 3);
  MPI_Comm_free(&between);
}

TEST_F(Collectives, FollowACommunicatorFromItsFirstCollectiveUntilItIsFreed) {
  const int size = size_of(MPI_COMM_WORLD);
  const int before = notes().attached;
  MPI_Comm one, two;
  MPI_Comm_dup(shapes_[2].comm, &one);
  MPI_Comm_dup(one, &two);
  EXPECT_EQ(notes().attached, before);
  MPI_Barrier(one);
  EXPECT_EQ(notes().attached - before, size > 1 ? 1 : 0);
  if (size > 1) {
    std::vector<int> reversed;
    for (int rank = size - 1; rank >= 0; --rank) reversed.push_back(rank);
    EXPECT_EQ(notes().members, reversed);
  }
  MPI_Comm three;  // a copy is a communicator of its own
  MPI_Comm_dup(one, &three);
  MPI_Barrier(three);
  EXPECT_EQ(notes().attached - before, size > 1 ? 2 : 0);
  MPI_Comm_free(&one);
  MPI_Comm_free(&two);
  MPI_Comm_free(&three);
  EXPECT_EQ(notes().attached, before);
}

}  // namespace
}  // namespace steelyard::intercept
