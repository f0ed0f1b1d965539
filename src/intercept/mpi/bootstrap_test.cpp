// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/mpi/bootstrap.h"

#include <algorithm>

#include "intercept/mpi/twin.h"

namespace steelyard::intercept {
namespace {

TEST(Bootstrap, KnowsWhereThisProcessStands) {
  const MpiBootstrap bootstrap;
  EXPECT_EQ(bootstrap.rank(), rank_of(MPI_COMM_WORLD));
  EXPECT_EQ(bootstrap.size(), size_of(MPI_COMM_WORLD));
  // All ranks of a test are on one machine.
  EXPECT_EQ(bootstrap.node_rank(), bootstrap.rank());
  EXPECT_EQ(bootstrap.node_size(), bootstrap.size());
  EXPECT_EQ(bootstrap.node_index(), 0);
  EXPECT_EQ(bootstrap.node_count(), 1);
}

TEST(Bootstrap, BroadcastsTheBytesOfTheFirst) {
  MpiBootstrap bootstrap;
  std::vector<int> values(100'000, bootstrap.node_rank() + 1);
  bootstrap.broadcast_in_node(values.data(), values.size() * sizeof(int));
  EXPECT_TRUE(std::ranges::all_of(values, [](int value) { return value == 1; }));
}

TEST(Bootstrap, GathersTextsOfAnyLength) {
  MpiBootstrap bootstrap;
  const auto text_of = [](int rank) {
    return std::string(static_cast<std::size_t>(rank) * static_cast<std::size_t>(rank) * 5000,
                       static_cast<char>('a' + rank));
  };
  const std::vector<std::string> all = bootstrap.gather(text_of(bootstrap.rank()));
  ASSERT_EQ(static_cast<int>(all.size()), bootstrap.rank() == 0 ? bootstrap.size() : 0);
  for (std::size_t rank = 0; rank < all.size(); ++rank) EXPECT_EQ(all[rank], text_of(static_cast<int>(rank)));
}

TEST(Bootstrap, FindsTheBitsThatAllRanksHave) {
  MpiBootstrap bootstrap;
  const std::uint32_t own = std::uint32_t{1} << bootstrap.rank();
  EXPECT_EQ(bootstrap.common_bits(0x80000000 | own), 0x80000000 | (bootstrap.size() == 1 ? own : 0));
}

TEST(Bootstrap, AgreesOnlyWhereAllDo) {
  MpiBootstrap bootstrap;
  EXPECT_TRUE(bootstrap.all_agree(true));
  EXPECT_FALSE(bootstrap.all_agree(bootstrap.rank() != bootstrap.size() - 1));
}

TEST(Bootstrap, KnowsWhetherAllHaveTheSame) {
  MpiBootstrap bootstrap;
  for (const std::uint32_t value : {0U, 7U, ~0U}) {
    EXPECT_TRUE(bootstrap.all_equal(value)) << value;
    const bool last = bootstrap.size() > 1 && bootstrap.rank() == bootstrap.size() - 1;
    EXPECT_EQ(bootstrap.all_equal(last ? value ^ 4U : value), bootstrap.size() == 1) << value;
  }
}

TEST(Bootstrap, DoesNotMeetTheProgramsMessages) {
  MpiBootstrap bootstrap;
  const int size = bootstrap.size(), rank = bootstrap.rank();
  int mine = rank, theirs = -1;
  MPI_Request request;
  PMPI_Irecv(&theirs, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  std::ignore = bootstrap.gather(std::to_string(rank));
  bootstrap.progress();
  PMPI_Send(&mine, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD);
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(theirs, (rank + size - 1) % size);
}

TEST(LibraryName, IsTheNameAndTheVersion) {
  EXPECT_EQ(library_name("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022"),
            "Open MPI 4.1.4");
  EXPECT_EQ(library_name("MPICH Version:      4.0.2\nMPICH Release date: Thu Apr  7 12:34:45 CDT 2022\n"),
            "MPICH 4.0.2");
  EXPECT_EQ(library_name("Another MPI 3\nand more"), "Another MPI 3");
  EXPECT_EQ(library_name("Open MPI"), "Open MPI");
  EXPECT_EQ(library_name(""), "");
}

}  // namespace
}  // namespace steelyard::intercept
