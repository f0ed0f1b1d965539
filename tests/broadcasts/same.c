/* Broadcasts at random through MPI_Bcast, which Steelyard may have taken over. Every byte must be as the library's own
 * PMPI_Bcast leaves it, gaps included. As that is slow where ranks outnumber cores, it is asked in one of ten cases; in the
 * others each rank works out by itself what it must get. All ranks draw the same numbers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 1 << 20 };

static unsigned long state = 88172645463325252UL;
static unsigned draw(unsigned below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (unsigned)((state >> 11) % below);
}

/* What a rank calls a type, and whether it must be freed. All of a family have one signature per element. */
typedef struct layout {
  MPI_Datatype type;
  int made;
} layout_t;

enum { BYTES, INTS, DOUBLES, PAIRS, MIXED, FAMILIES };

static MPI_Datatype committed(MPI_Datatype type) {
  MPI_Type_commit(&type);
  return type;
}

/* `way` differs from rank to rank: one signature, other maps. */
static layout_t layout_of(int family, int way) {
  MPI_Datatype type = MPI_BYTE, inner;
  switch (family) {
    case BYTES: return (layout_t){MPI_BYTE, 0};
    case INTS: return (layout_t){MPI_INT, 0};
    case DOUBLES: /* two doubles: side by side, apart, backwards, with a gap behind */
      if (way == 0) MPI_Type_contiguous(2, MPI_DOUBLE, &type);
      if (way == 1) MPI_Type_vector(2, 1, 3, MPI_DOUBLE, &type);
      if (way == 2) MPI_Type_indexed(2, (int[]){1, 1}, (int[]){1, 0}, MPI_DOUBLE, &type);
      if (way == 3) {
        MPI_Type_contiguous(2, MPI_DOUBLE, &inner);
        MPI_Type_create_resized(inner, 0, 40, &type);
        MPI_Type_free(&inner);
      }
      return (layout_t){committed(type), 1};
    case PAIRS: return (layout_t){MPI_DOUBLE_INT, 0}; /* predefined, with a gap */
    default: {                                        /* a char, two ints, a double */
      static const int lengths[] = {1, 2, 1};
      static const MPI_Datatype types[] = {MPI_CHAR, MPI_INT, MPI_DOUBLE};
      static const MPI_Aint places[4][3] = {{0, 4, 16}, {0, 1, 9}, {24, 8, 0}, {3, 32, 16}};
      MPI_Type_create_struct(3, (int*)lengths, (MPI_Aint*)places[way], (MPI_Datatype*)types, &type);
      return (layout_t){committed(type), 1};
    }
  }
}

static void fill(unsigned char* buffer, size_t bytes, unsigned seed) {
  for (size_t i = 0; i < bytes; ++i) buffer[i] = (unsigned char)((i * 2654435761U + seed * 40503U) >> 13);
}

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

static size_t span_of(layout_t layout, int count) {
  MPI_Aint low, extent;
  MPI_Type_get_extent(layout.type, &low, &extent);
  const size_t span = (size_t)extent * (size_t)count + 64;
  if (span > ROOM) abort();
  return span;
}

static void drop(layout_t layout) {
  if (layout.made) MPI_Type_free(&layout.type);
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
    MPI_Datatype at;
    MPI_Aint place;
    MPI_Get_address(ours, &place);
    MPI_Type_create_hindexed(1, (int[]){1}, &place, layout.type, &at);
    MPI_Type_commit(&at);
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
