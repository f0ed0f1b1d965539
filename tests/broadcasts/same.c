/* SPDX-License-Identifier: BSD-3-Clause */
/* Broadcasts at random through MPI_Bcast, which Steelyard may have taken over. Every byte must be as the library's own
 * PMPI_Bcast leaves it, gaps included. As that is slow where ranks outnumber cores, it is asked in one of ten cases; in
 * the others each rank works out by itself what it must get. All ranks draw the same numbers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layouts.h"

static int failures = 0;

/* As if by a broadcast: the root's elements by the root's layout, into `buffer` by this rank's. */
static void work_out(unsigned char* buffer, layout_t mine, layout_t roots, int count, size_t roots_span,
                     unsigned seed) {
  static unsigned char from[ROOM], row[ROOM];
  int position = 0;
  fill(from, roots_span, seed);
  MPI_Pack(from, count, roots.type, row, ROOM, &position, MPI_COMM_SELF);
  position = 0;
  MPI_Unpack(row, ROOM, &position, buffer, count, mine.type, MPI_COMM_SELF);
}

static void one(MPI_Comm comm, unsigned char* ours, unsigned char* theirs, int case_number, int longest) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int family = (int)draw(FAMILIES), root = (int)draw((unsigned)size);
  const unsigned ways = draw(1 << 16), late = draw(40), who = draw((unsigned)size), absolute = draw(1 << 16);
  static const int counts[] = {0, 1, 2, 3, 17, 100, 250, 1000, 4000, 20000};
  const int count = counts[draw((unsigned)longest)];
  const layout_t layout = layout_of(family, (int)((ways >> (2 * (rank % 8))) % 4));
  const layout_t roots = layout_of(family, (int)((ways >> (2 * (root % 8))) % 4));
  const size_t span = span_of(layout, count);
  fill(ours, span, (unsigned)(case_number * 31 + rank));
  memcpy(theirs, ours, span);
  if (late == 0 && who == (unsigned)rank) usleep(300);
  int error;
  if ((absolute >> rank % 8) % 8 == 0) { /* by addresses, from MPI_BOTTOM */
    MPI_Datatype at = at_address(ours, layout.type);
    error = MPI_Bcast(MPI_BOTTOM, count, at, root, comm);
    MPI_Type_free(&at);
  } else {
    error = MPI_Bcast(ours, count, layout.type, root, comm);
  }
  if (case_number % 10 == 0) {
    error |= PMPI_Bcast(theirs, count, layout.type, root, comm);
  } else if (rank != root) {
    work_out(theirs, layout, roots, count, span_of(roots, count), (unsigned)(case_number * 31 + root));
  }
  if ((error != MPI_SUCCESS || memcmp(ours, theirs, span) != 0) && failures++ < 3) {
    printf("case %d: rank %d of %d, root %d, family %d, ways %x, count %d, absolute %x, error %d: differs\n",
           case_number, rank, size, root, family, ways, count, absolute, error);
  }
  drop(layout);
  drop(roots);
}

/* The program's own messages, with any tag and source, are in flight around broadcasts. */
static void among_messages(MPI_Comm comm, int rounds) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < rounds; ++i) {
    const int next = (rank + 1) % size, root = i % size;
    int sent = rank * 1000 + i, got = -1, told = rank == root ? i : -1;
    MPI_Request request;
    MPI_Isend(&sent, 1, MPI_INT, next, i, comm, &request);
    MPI_Bcast(&told, 1, MPI_INT, root, comm);
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
    if (told != i || got % 1000 != i) ++failures;
  }
}

/* No elements, and elements of nothing, have one signature. */
static void nothing(MPI_Comm comm, int rounds) {
  int rank, size;
  MPI_Datatype empty;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  for (int i = 0; i < rounds; ++i) {
    unsigned ways = draw(1 << 16);
#ifdef OPEN_MPI /* whose own takes part in one of the two only */
    ways = ways % 2 ? 0xffff : 0;
#endif
    const int none = (ways >> rank % 16) % 2 != 0, root = i % size;
    int told = rank == root ? i : -1, untouched = 7;
    const int error = MPI_Bcast(&untouched, none ? 0 : 5, none ? MPI_INT : empty, root, comm);
    MPI_Bcast(&told, 1, MPI_INT, root, comm);
    if (error != MPI_SUCCESS || untouched != 7 || told != i) ++failures;
  }
  MPI_Type_free(&empty);
}

/* Each rank cuts the same row into elements in a way of its own, and counts them as it likes. */
static void large_counts(MPI_Comm comm, int rounds) {
#if MPI_VERSION >= 4
  enum { INTS_IN_ROW = 840 };
  int rank, size, ours[INTS_IN_ROW], theirs[INTS_IN_ROW];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < rounds; ++i) {
    const int part = 1 + (rank + i) % 8, root = i % size;
    MPI_Datatype parts;
    MPI_Type_contiguous_c(part, MPI_INT, &parts);
    MPI_Type_commit(&parts);
    for (int j = 0; j < INTS_IN_ROW; ++j) ours[j] = theirs[j] = rank == root ? i + j : -1;
    int error = MPI_SUCCESS;
    if ((rank + i) % 3 == 0) {
      error = MPI_Bcast(ours, INTS_IN_ROW, MPI_INT, root, comm);
    } else {
      error = MPI_Bcast_c(ours, INTS_IN_ROW / part, parts, root, comm);
    }
    PMPI_Bcast_c(theirs, INTS_IN_ROW / part, parts, root, comm);
    if (error != MPI_SUCCESS || memcmp(ours, theirs, sizeof ours) != 0 || ours[INTS_IN_ROW - 1] != i + INTS_IN_ROW - 1)
      ++failures;
    MPI_Type_free(&parts);
  }
#else
  (void)comm;
  (void)rounds;
#endif
}

int main(int argc, char** argv) {
  const int cases = argc > 1 ? atoi(argv[1]) : 2000;
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  unsigned char* ours = malloc(ROOM);
  unsigned char* theirs = malloc(ROOM);
  MPI_Comm comms[5] = {MPI_COMM_WORLD, MPI_COMM_SELF};
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &comms[3]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[4]);
  for (int i = 0; i < cases; ++i) {
    if (i % 100 == 99) { /* a communicator that lives for a few broadcasts, and one that gets none */
      MPI_Comm brief, idle;
      MPI_Comm_dup(comms[2], &brief);
      MPI_Comm_dup(brief, &idle);
      for (int j = 0; j < 3; ++j) one(brief, ours, theirs, i, 9);
      MPI_Comm_free(&idle);
      MPI_Comm_free(&brief);
    }
    one(comms[draw(5)], ours, theirs, i, draw(20) == 0 ? 10 : 8);
  }
  among_messages(comms[3], cases / 20 + 2);
  nothing(comms[2], cases / 20 + 10);
  large_counts(comms[2], cases / 20 + 5);
  int all = 0;
  MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d broadcasts on %d ranks, %d differ\n", cases, size, all);
  for (int i = 2; i < 4; ++i)
    MPI_Comm_free(&comms[i]); /* the last is never freed: a program may leave that to its end */
  MPI_Finalize();
  free(ours);
  free(theirs);
  return failures != 0;
}
