/* SPDX-License-Identifier: BSD-3-Clause */
#include "layout.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES, INTS, LONGS, DOUBLES, PAIRS, MIXED, BLOCK_OF_INTS };

size_t family_size(int family) {
  static const size_t sizes[FAMILIES] = {1, 4, 8, 16, 12, 17, 36, 0};
  return sizes[family];
}

static void add_segment(layout_t* layout, int at, int length) {
  layout->segment[layout->segments].at = at;
  layout->segment[layout->segments++].length = length;
}

static layout_t plain(MPI_Datatype type, int size) {
  layout_t layout = {.type = type};
  add_segment(&layout, 0, size);
  return layout;
}

static layout_t resized(MPI_Datatype type, int size, int extent) {
  layout_t layout = {.made = true};
  MPI_Type_create_resized(type, 0, extent, &layout.type);
  add_segment(&layout, 0, size);
  return layout;
}

static layout_t doubles(unsigned way) {
  layout_t layout = {.made = true};
  MPI_Datatype inner;
  switch (way) {
    case 0:
      MPI_Type_contiguous(2, MPI_DOUBLE, &layout.type);
      add_segment(&layout, 0, 16);
      break;
    case 1:
      MPI_Type_vector(2, 1, 3, MPI_DOUBLE, &layout.type);
      add_segment(&layout, 0, 8);
      add_segment(&layout, 24, 8);
      break;
    case 2:
      MPI_Type_indexed(2, (int[]){1, 1}, (int[]){1, 0}, MPI_DOUBLE, &layout.type);
      add_segment(&layout, 8, 8);
      add_segment(&layout, 0, 8);
      break;
    default:
      MPI_Type_contiguous(2, MPI_DOUBLE, &inner);
      layout = resized(inner, 16, 40);
      MPI_Type_free(&inner);
  }
  return layout;
}

static layout_t mixed_struct(unsigned way) {
  static int lengths[] = {1, 2, 1};
  static MPI_Aint places[4][3] = {{0, 4, 16}, {0, 1, 9}, {24, 8, 0}, {3, 32, 16}};
  MPI_Datatype types[] = {MPI_CHAR, MPI_INT, MPI_DOUBLE};
  layout_t layout = {.made = true};
  MPI_Type_create_struct(3, lengths, places[way], types, &layout.type);
  add_segment(&layout, (int)places[way][0], 1);
  add_segment(&layout, (int)places[way][1], 8);
  add_segment(&layout, (int)places[way][2], 8);
  return layout;
}

static layout_t block_of_ints(unsigned way) { /* three rows of three */
  layout_t layout = {.made = true};
  if (way == 0) {
    MPI_Type_contiguous(9, MPI_INT, &layout.type);
    add_segment(&layout, 0, 36);
  } else if (way == 1) {
    MPI_Type_create_subarray(2, (int[]){4, 5}, (int[]){3, 3}, (int[]){1, 1}, MPI_ORDER_C, MPI_INT, &layout.type);
    for (int row = 0; row < 3; ++row) add_segment(&layout, 4 * (5 * (row + 1) + 1), 12);
  } else if (way == 2) {
    MPI_Type_vector(3, 3, 5, MPI_INT, &layout.type);
    for (int row = 0; row < 3; ++row) add_segment(&layout, 20 * row, 12);
  } else {
    MPI_Type_create_hindexed_block(3, 3, (MPI_Aint[]){40, 0, 20}, MPI_INT, &layout.type);
    add_segment(&layout, 40, 12);
    add_segment(&layout, 0, 12);
    add_segment(&layout, 20, 12);
  }
  return layout;
}

layout_t draw_layout(dice_t* dice, int family) {
  unsigned way = roll(dice, 4);
#ifndef OPEN_MPI
  if (family < DOUBLES) way = 0;
#endif
  layout_t layout;
  switch (family) {
    case BYTES: layout = way < 3 ? plain(MPI_BYTE, 1) : resized(MPI_BYTE, 1, 3); break;
    case INTS: layout = way < 3 ? plain(MPI_INT, 4) : resized(MPI_INT, 4, 12); break;
    case LONGS: layout = plain(MPI_INT64_T, 8); break;
    case DOUBLES: layout = doubles(way); break;
    case PAIRS: layout = plain(MPI_DOUBLE_INT, 12); break;
    case MIXED: layout = mixed_struct(way); break;
    case BLOCK_OF_INTS: layout = block_of_ints(way); break;
    default: layout = (layout_t){.made = true}; MPI_Type_contiguous(0, MPI_INT, &layout.type);
  }
  if (layout.made) MPI_Type_commit(&layout.type);
  MPI_Aint low, extent;
  MPI_Type_get_extent(layout.type, &low, &extent);
  layout.extent = (size_t)extent;
  layout.size = family_size(family);
  return layout;
}

void drop_layout(layout_t* layout) {
  if (layout->made) MPI_Type_free(&layout->type);
  layout->made = false;
}

void keep_layout(call_t* call, const layout_t* layout) {
  if (layout->made) keep_type(call, layout->type);
}

size_t span_of(const layout_t* layout, size_t count) { return layout->extent * count + 64; }

void stream(uint64_t key, unsigned char* to, size_t bytes) {
  uint64_t state = mixed(key);
  for (size_t done = 0; done < bytes; done += 8) {
    state += 0x9e3779b97f4a7c15u;
    const uint64_t value = state ^ (state >> 29) ^ (state << 17);
    memcpy(to + done, &value, bytes - done < 8 ? bytes - done : 8);
  }
}

void lay_out(const layout_t* layout, unsigned char* buffer, const unsigned char* row, size_t count) {
  if (layout->segments == 1 && layout->segment[0].at == 0 && layout->extent == layout->size) {
    memcpy(buffer, row, count * layout->size);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    for (int s = 0; s < layout->segments; ++s) {
      const size_t length = (size_t)layout->segment[s].length;
      memcpy(buffer + i * layout->extent + layout->segment[s].at, row, length);
      row += length;
    }
  }
}

void lay_stream(const layout_t* layout, unsigned char* buffer, uint64_t key, size_t count) {
  const size_t bytes = count * layout->size;
  if (bytes == 0) return;
  unsigned char* row = malloc(bytes);
  stream(key, row, bytes);
  lay_out(layout, buffer, row, count);
  free(row);
}

size_t draw_bytes(dice_t* dice) {
  static const size_t edges[] = {256, 960, 1024, 2048, 4000, 4096, 8192, 32768, 65536, 131072};
  const unsigned kind = roll(dice, 1000);
  if (kind < 80) return 0;
  if (kind < 750) return 1 + roll(dice, kind < 500 ? 64 : 512);
  if (kind < 985) return edges[roll(dice, kind < 940 ? 7 : 10)] + 8 * roll(dice, 3) - 8;
  return 1 + roll(dice, kind < 997 ? 300000 : 1u << 20);
}

size_t draw_count(dice_t* dice, int family) {
  const size_t each = family_size(family);
  size_t bytes = draw_bytes(dice);
  if (each == 0) return bytes % 6;
#ifndef OPEN_MPI
  if (family >= DOUBLES && bytes > 4096) bytes = 4096; /* MPICH 4.0.2 mixes up long rows of elements with gaps */
#endif
  return bytes / each + (bytes > 0 && bytes < each);
}
