/* SPDX-License-Identifier: BSD-3-Clause */
/* Types at random for programs that compare what Steelyard has taken over with the library's own. */
#pragma once
#include <mpi.h>
#include <stdlib.h>

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

/* For MPI_BOTTOM: elements of `type` from `buffer` on. To be freed. */
static MPI_Datatype at_address(const void* buffer, MPI_Datatype type) {
  MPI_Datatype at;
  MPI_Aint place;
  MPI_Get_address(buffer, &place);
  MPI_Type_create_hindexed(1, (int[]){1}, &place, type, &at);
  return committed(at);
}
