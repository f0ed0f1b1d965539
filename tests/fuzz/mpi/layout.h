/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes with a map that is known here, so that what a call must leave in a buffer can be worked out without MPI. */
#pragma once
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "player.h"

typedef struct layout {
  MPI_Datatype type;
  bool made;
  int segments;
  struct {
    int at, length;
  } segment[12];
  size_t extent, size; /* bytes */
} layout_t;

/* Layouts of a family have one signature, and so one size. The last one is of no bytes at all. */
enum { FAMILIES = 8, EMPTY = FAMILIES - 1 };
size_t family_size(int family);
layout_t draw_layout(dice_t* dice, int family);
void drop_layout(layout_t* layout);
/* The same once the call is complete. */
void keep_layout(call_t* call, const layout_t* layout);
size_t span_of(const layout_t* layout, size_t count);

/* Pseudo-random bytes that belong to `key`. */
void stream(uint64_t key, unsigned char* to, size_t bytes);
/* A row of bytes becomes `count` elements from `buffer` on. */
void lay_out(const layout_t* layout, unsigned char* buffer, const unsigned char* row, size_t count);
/* The stream of a key as `count` elements. */
void lay_stream(const layout_t* layout, unsigned char* buffer, uint64_t key, size_t count);

/* A number of bytes: mostly few, sometimes at the edges of size classes, up to a megabyte. */
size_t draw_bytes(dice_t* dice);
/* A number of elements of a family. */
size_t draw_count(dice_t* dice, int family);
