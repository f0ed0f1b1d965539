/* SPDX-License-Identifier: BSD-3-Clause */
/* Scatters at random through MPI_Scatter, among broadcasts, which Steelyard may have taken over. Every byte must be as
 * the library's own PMPI_Scatter leaves it, gaps included. As that is slow where ranks outnumber cores, it is asked in
 * one of ten cases; in the others each rank works out by itself what it must get. All ranks draw the same numbers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layouts.h"

static int failures = 0;
static unsigned char given[ROOM], packed[ROOM], kept[ROOM];

/* `buffer` as the root's block for this rank leaves it. */
static void work_out(unsigned char* buffer, layout_t mine, layout_t roots, int rank, int size, int count) {
  int position = 0, element = 0;
  MPI_Type_size(mine.type, &element);
  MPI_Pack(given, count * size, roots.type, packed, ROOM, &position, MPI_COMM_SELF);
  position = element * count * rank;
  MPI_Unpack(packed, ROOM, &position, buffer, count, mine.type, MPI_COMM_SELF);
}

static void one(MPI_Comm comm, unsigned char* ours, unsigned char* theirs, int case_number, int longest) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int family = (int)draw(FAMILIES), root = (int)draw((unsigned)size);
  const unsigned ways = draw(1 << 16), late = draw(40), who = draw((unsigned)size), absolute = draw(1 << 16);
  const int in_place = draw(3) == 0 && rank == root;
  static const int counts[] = {0, 1, 2, 3, 17, 60, 100, 250, 1000, 2000};
  const int count = counts[draw((unsigned)longest)];
  const layout_t layout = layout_of(family, (int)((ways >> (2 * (rank % 8))) % 4));
  const layout_t roots = layout_of(family, (int)((ways >> (2 * (root % 8))) % 4));
  const size_t span = span_of(layout, count), all = span_of(roots, count * size);
  fill(given, all, (unsigned)(case_number * 31 + root));
  memcpy(kept, given, all);
  fill(ours, span, (unsigned)(case_number * 37 + rank));
  memcpy(theirs, ours, span);
  if (late == 0 && who == (unsigned)rank) usleep(300);
  void* const to = in_place ? MPI_IN_PLACE : ours;
  /* What the others pass for the root's arguments means nothing. */
  const void* const source = rank == root ? given : NULL;
  const MPI_Datatype source_type = rank == root ? roots.type : MPI_DATATYPE_NULL;
  const int source_count = rank == root ? count : -1;
  int error;
  if (!in_place && (absolute >> rank % 8) % 8 == 0) { /* by addresses, from MPI_BOTTOM */
    MPI_Datatype at = at_address(ours, layout.type);
    error = MPI_Scatter(source, source_count, source_type, MPI_BOTTOM, count, at, root, comm);
    MPI_Type_free(&at);
  } else {
    error = MPI_Scatter(source, source_count, source_type, to, count, layout.type, root, comm);
  }
  if (case_number % 10 == 0) {
    error |= PMPI_Scatter(given, count, roots.type, in_place ? MPI_IN_PLACE : theirs, count, layout.type, root, comm);
  } else if (!in_place) {
    work_out(theirs, layout, roots, rank, size, count);
  }
  if ((error != MPI_SUCCESS || memcmp(ours, theirs, span) != 0 || memcmp(given, kept, all) != 0) && failures++ < 3) {
    printf(
        "case %d: rank %d of %d, root %d, family %d, ways %x, count %d, in place %d, absolute %x, error %d: differs\n",
        case_number, rank, size, root, family, ways, count, in_place, absolute, error);
  }
  if (draw(3) == 0) { /* between them, broadcasts over the same buffer */
    int told = rank == root ? case_number : -1;
    MPI_Bcast(&told, 1, MPI_INT, root, comm);
    if (told != case_number) ++failures;
  }
  drop(layout);
  drop(roots);
}

static int class_of(int code) {
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  return error_class;
}

static void expect(int holds, const char* what) {
  if (holds) return;
  ++failures;
  printf("%s\n", what);
}

/* What a program gets wrong ends no worse than with the MPI library alone. */
static void mistakes(void) {
  int rank, size, data[4000], mine[40] = {0};
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < 4000; ++i) data[i] = i;
  /* Too small a buffer: what fits arrives, the rest is an error. */
  int code = MPI_Scatter(data, 30, MPI_INT, mine, rank == 0 ? 30 : 20, MPI_INT, 0, comm);
  if (rank > 0) expect(class_of(code) == MPI_ERR_TRUNCATE, "a short buffer was no error");
  if (rank > 0) expect(mine[19] == 30 * rank + 19 && mine[20] == 0, "a short buffer was not filled, or overrun");
  /* One that asks for more than it is given is no error to either library. */
  code = MPI_Scatter(data, 4, MPI_INT, mine, rank == 0 ? 4 : 10, MPI_INT, 0, comm);
  expect(code == MPI_SUCCESS && mine[0] == 4 * rank && mine[3] == 4 * rank + 3, "a long buffer was an error");
  /* Refused at one rank, which is not counted: the others know nothing of it. */
  if (rank == 0) {
    expect(MPI_Scatter(data, 1, MPI_INT, mine, 1, MPI_INT, size + 5, comm) != MPI_SUCCESS,
           "a root that does not exist");
#ifndef OPEN_MPI /* whose own crashes */
    expect(MPI_Scatter(data, -1, MPI_INT, mine, 1, MPI_INT, 0, comm) != MPI_SUCCESS, "a negative count");
#endif
  }
  MPI_Comm_free(&comm);
}

/* Blocks that lie between each other, reach in front of their address, or have no address but their own. */
static void odd_types(MPI_Comm comm, int rounds) {
  enum { LENGTH = 40, MOST = 16 };
  static int data[LENGTH * MOST * 8], ours[LENGTH * 8], theirs[LENGTH * 8];
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Datatype column, between, pair, before, at, absolute;
  MPI_Aint place;
  MPI_Type_vector(LENGTH, 1, size, MPI_INT, &column);
  MPI_Type_create_resized(column, 0, sizeof(int), &between);
  MPI_Type_create_hindexed(2, (int[]){1, 1}, (MPI_Aint[]){-8, 4}, MPI_INT, &pair);
  MPI_Type_create_resized(pair, -12, 20, &before);
  MPI_Get_address(data, &place);
  place += 16;
  MPI_Type_create_hindexed(1, (int[]){1}, &place, before, &at);
  MPI_Type_create_resized(at, place, 20, &absolute);
  MPI_Datatype types[] = {between, before, absolute};
  static const int counts[] = {1, 3, 2}, wanted[] = {LENGTH, 6, 4};
  for (int i = 0; i < 3; ++i) MPI_Type_commit(&types[i]);
  for (int round = 0; round < rounds; ++round) {
    const int root = round * 7 % size, which = round % 3;
    void* const from = which == 2 ? MPI_BOTTOM : data + 4;
    for (int i = 0; i < LENGTH * size * 8; ++i) data[i] = round * 100000 + i;
    memset(ours, 0xff, sizeof ours);
    memset(theirs, 0xff, sizeof theirs);
    MPI_Scatter(from, counts[which], types[which], ours, wanted[which], MPI_INT, root, comm);
    PMPI_Scatter(from, counts[which], types[which], theirs, wanted[which], MPI_INT, root, comm);
    expect(memcmp(ours, theirs, sizeof ours) == 0, "an odd type differs");
  }
  for (int i = 0; i < 3; ++i) MPI_Type_free(&types[i]);
  MPI_Type_free(&column);
  MPI_Type_free(&pair);
  MPI_Type_free(&at);
}

/* In several pieces, and too long for a cell; and with counts that mean nothing where they do not fit. */
static void long_rows(MPI_Comm comm) {
  enum { LONGEST = 600000 };
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int* const numbers = malloc(sizeof(int) * LONGEST * (size_t)size);
  int* const mine = malloc(sizeof(int) * LONGEST);
  static const int lengths[] = {20000, 60000, 100000, LONGEST};
  for (int i = 0; i < 4; ++i) {
    const int root = i % size, length = lengths[i];
    for (int j = 0; j < length * size; ++j) numbers[j] = rank == root ? i + j : -1;
    MPI_Scatter(numbers, length, MPI_INT, mine, length, MPI_INT, root, comm);
    int right = 1;
    for (int j = 0; j < length; ++j) right = right && mine[j] == i + rank * length + j;
    expect(right, "a long numbers differs");
  }
#if MPI_VERSION >= 4
  const MPI_Count nothing = (MPI_Count)0x5555555555555555, count = rank == 0 ? 1 : nothing;
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < size; ++j) numbers[j] = 1000 * i + j;
    mine[0] = -1;
    if (rank == 0) {
      MPI_Scatter_c(numbers, count, MPI_INT, MPI_IN_PLACE, nothing, MPI_INT, 0, comm);
    } else {
      MPI_Scatter_c(numbers, count, MPI_INT, mine, 1, MPI_INT, 0, comm);
      expect(mine[0] == 1000 * i + rank, "a large count differs");
    }
  }
#endif
  free(mine);
  free(numbers);
}

int main(int argc, char** argv) {
  const int cases = argc > 1 ? atoi(argv[1]) : 2000;
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  unsigned char* ours = malloc(ROOM);
  unsigned char* theirs = malloc(ROOM);
  MPI_Comm comms[4] = {MPI_COMM_WORLD, MPI_COMM_SELF};
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &comms[2]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[3]);
  for (int i = 0; i < cases; ++i) one(comms[draw(4)], ours, theirs, i, draw(20) == 0 ? 10 : 8);
  odd_types(MPI_COMM_WORLD, cases / 20 + 3);
  long_rows(comms[2]);
  if (argc > 2) mistakes();
  int all = 0;
  MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d scatters on %d ranks, %d differ\n", cases, size, all);
  MPI_Comm_free(&comms[2]);
  MPI_Comm_free(&comms[3]);
  MPI_Finalize();
  free(ours);
  free(theirs);
  return failures != 0;
}
