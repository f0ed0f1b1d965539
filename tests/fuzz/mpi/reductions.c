/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions: the result is worked out rank by rank, with values that no order of additions rounds. */
#include <stdlib.h>
#include <string.h>

#include "forms.h"
#include "layout.h"
#include "player.h"

typedef struct pair {
  uint32_t first, second;
} pair_t;

static MPI_Op g_compose, g_mix;
static MPI_Datatype g_pair;

/* First x -> first.first * x + first.second, then the other: associative, and not commutative. */
static pair_t composed(pair_t f, pair_t g) { return (pair_t){f.first * g.first, g.first * f.second + g.second}; }
static void compose(void* in, void* in_out, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((pair_t*)in_out)[i] = composed(((pair_t*)in)[i], ((pair_t*)in_out)[i]);
}
static pair_t mixture(pair_t f, pair_t g) { return (pair_t){f.first + g.first, f.second ^ g.second}; }
static void mix(void* in, void* in_out, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((pair_t*)in_out)[i] = mixture(((pair_t*)in)[i], ((pair_t*)in_out)[i]);
}

void prepare_operators(void) {
  MPI_Type_contiguous(2, MPI_UINT32_T, &g_pair);
  MPI_Type_commit(&g_pair);
  MPI_Op_create(compose, 0, &g_compose);
  MPI_Op_create(mix, 1, &g_mix);
}

void free_operators(void) {
  MPI_Op_free(&g_compose);
  MPI_Op_free(&g_mix);
  MPI_Type_free(&g_pair);
}

enum {
  INT_SUM,
  INT_MAX_OF,
  INT_XOR,
  DOUBLE_SUM,
  DOUBLE_MIN,
  LONG_SUM,
  PAIR_COMPOSED,
  PAIR_MIXED,
  INTS_MINLOC,
  OPERATORS
};

static size_t size_of(int kind) { return kind <= INT_XOR ? 4 : 8; }

static MPI_Datatype type_of(int kind) {
  switch (kind) {
    case DOUBLE_SUM:
    case DOUBLE_MIN: return MPI_DOUBLE;
    case LONG_SUM: return MPI_INT64_T;
    case PAIR_COMPOSED:
    case PAIR_MIXED: return g_pair;
    case INTS_MINLOC: return MPI_2INT;
    default: return MPI_INT;
  }
}

static MPI_Op operator_of(int kind) {
  switch (kind) {
    case INT_MAX_OF: return MPI_MAX;
    case INT_XOR: return MPI_BXOR;
    case DOUBLE_MIN: return MPI_MIN;
    case PAIR_COMPOSED: return g_compose;
    case PAIR_MIXED: return g_mix;
    case INTS_MINLOC: return MPI_MINLOC;
    default: return MPI_SUM;
  }
}

static void contribution(const scene_t* scene, int kind, int rank, unsigned char* to, size_t count) {
  stream(mixed(scene->player->seed + 7) + (uint64_t)scene->operation * 64 + (uint64_t)rank, to, count * size_of(kind));
  for (size_t i = 0; i < count; ++i) {
    if (kind <= INT_XOR) {
      int32_t value;
      memcpy(&value, to + 4 * i, 4);
      value = kind == INT_SUM ? value % 100000 : value;
      memcpy(to + 4 * i, &value, 4);
    } else if (kind == DOUBLE_SUM || kind == DOUBLE_MIN || kind == LONG_SUM) {
      int64_t value;
      memcpy(&value, to + 8 * i, 8);
      value %= 1000000;
      const double real = (double)value;
      memcpy(to + 8 * i, kind == LONG_SUM ? (const void*)&value : (const void*)&real, 8);
    } else if (kind == INTS_MINLOC) {
      int32_t values[2];
      memcpy(values, to + 8 * i, 8);
      values[0] %= 5;
      values[1] = rank;
      memcpy(to + 8 * i, values, 8);
    }
  }
}

#define FOLD(type, expression)          \
  do {                                  \
    type a, b;                          \
    memcpy(&a, left + i * each, each);  \
    memcpy(&b, right + i * each, each); \
    a = (expression);                   \
    memcpy(left + i * each, &a, each);  \
  } while (0)

static void fold(int kind, unsigned char* left, const unsigned char* right, size_t count) {
  const size_t each = size_of(kind);
  for (size_t i = 0; i < count; ++i) {
    switch (kind) {
      case INT_SUM: FOLD(int32_t, a + b); break;
      case INT_MAX_OF: FOLD(int32_t, a > b ? a : b); break;
      case INT_XOR: FOLD(int32_t, a ^ b); break;
      case DOUBLE_SUM: FOLD(double, a + b); break;
      case DOUBLE_MIN: FOLD(double, a < b ? a : b); break;
      case LONG_SUM: FOLD(int64_t, a + b); break;
      case PAIR_COMPOSED: FOLD(pair_t, composed(a, b)); break;
      case PAIR_MIXED: FOLD(pair_t, mixture(a, b)); break;
      default: FOLD(pair_t, (int32_t)b.first < (int32_t)a.first ? b : a);
    }
  }
}

/* Of the ranks before `end`, in their order. */
static void reduced(const scene_t* scene, int kind, int end, unsigned char* to, size_t count) {
  unsigned char* next = malloc(count * size_of(kind) + 1);
  contribution(scene, kind, 0, to, count);
  for (int rank = 1; rank < end; ++rank) {
    contribution(scene, kind, rank, next, count);
    fold(kind, to, next, count);
  }
  free(next);
}

enum { REDUCE, ALLREDUCE, SCAN, EXSCAN, SCATTERED, SCATTERED_BLOCK, REDUCTIONS };

void play_reduction(scene_t* scene) {
  static const char* const names[] = {"Reduce", "Allreduce",      "Scan",
                                      "Exscan", "Reduce_scatter", "Reduce_scatter_block"};
  const MPI_Comm comm = scene->slot->comm;
  const int rank = scene->slot->rank, size = scene->slot->size;
  const int which = (int)roll(&scene->dice, REDUCTIONS), kind = (int)roll(&scene->dice, OPERATORS);
  int root = (int)roll(&scene->dice, (unsigned)size);
  const size_t each = size_of(kind);
  size_t count = draw_bytes(&scene->dice) / each;
  if (count > 20000) count /= (size_t)size;
  const bool scatters = which == SCATTERED || which == SCATTERED_BLOCK;
  const bool asked = chance(&scene->dice, 25);
#ifndef OPEN_MPI /* MPICH 4.0.2's MPI_Reduce of over 2 KiB crashes where a root other than rank 0 has its result in \
                    place. */
  if (asked) root = 0;
#endif
  const bool in_place = asked && (which != REDUCE || rank == root);
  /* What is undefined behind the result would have to be written again before another start. */
  const how_t how = draw_how(scene, !(asked && (scatters || which == EXSCAN)), which != SCATTERED);
  call_t* call = new_call(scene, names[which]);

  int* counts = keep(call, (size_t)size * sizeof(int));
  size_t total = count, before = 0, mine = count;
  if (scatters) {
    total = 0;
    for (int i = 0; i < size; ++i) {
      counts[i] = which == SCATTERED ? (int)roll(&scene->dice, (unsigned)(count / (size_t)size) + 2)
                                     : (int)(count / (size_t)size);
      if (i == rank) before = total;
      total += (size_t)counts[i];
    }
    mine = (size_t)counts[rank];
  }
  image_t* from = new_image(call, total * each);
  image_t* to = new_image(call, (in_place ? total : mine) * each);
  contribution(scene, kind, rank, from->now, total);
  memcpy(from->wanted, from->now, from->bytes);
  if (in_place) memcpy(to->now, from->now, to->bytes);
  if (which == EXSCAN && rank == 0) {
    if (in_place) memcpy(to->wanted, to->now, to->bytes); /* stays */
  } else if (which != REDUCE || rank == root) {
    const int end = which == SCAN ? rank + 1 : which == EXSCAN ? rank : size;
    unsigned char* result = malloc(total * each + 1);
    reduced(scene, kind, end, result, total);
    memcpy(to->wanted, result + before * each, mine * each);
    free(result);
  }
  /* The rest of an in-place buffer of a scattered reduction is the library's to use. */
  if (scatters && in_place) to->bytes = mine * each;
  const void* buffer = in_place ? MPI_IN_PLACE : from->now;
  const MPI_Datatype type = type_of(kind);
  const MPI_Op op = operator_of(kind);
  const int number = (int)(scatters ? count / (size_t)size : count);
  int error = MPI_SUCCESS;
  switch (which) {
    case REDUCE: error = ISSUE(Reduce, reduce, buffer, to->now, number, type, op, root); break;
    case ALLREDUCE: error = ISSUE(Allreduce, allreduce, buffer, to->now, number, type, op); break;
    case SCAN: error = ISSUE(Scan, scan, buffer, to->now, number, type, op); break;
    case EXSCAN:
      error = ISSUE(Exscan, exscan, buffer, to->now, number, type, op);
      if (rank == 0) to->bytes = 0; /* undefined */
      break;
    case SCATTERED:
      error = ISSUE_WITHOUT_LARGE(Reduce_scatter, reduce_scatter, buffer, to->now, counts, type, op);
      break;
    default: error = ISSUE(Reduce_scatter_block, reduce_scatter_block, buffer, to->now, number, type, op);
  }
  called(scene, call, how, error);
}
