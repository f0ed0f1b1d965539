/* SPDX-License-Identifier: BSD-3-Clause */
/* One file of all ranks of a communicator, written and read by collectives. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layout.h"
#include "player.h"

static const char* folder(void) {
  const char* named = getenv("FUZZ_FOLDER");
  return named != NULL ? named : "/tmp";
}

void play_file(scene_t* scene) {
  const int rank = scene->slot->rank, size = scene->slot->size;
  const size_t bytes = 1 + roll(&scene->dice, 5000);
  const unsigned kind = roll(&scene->dice, 2);
  char name[256];
  int id = (int)getpid();
  MPI_Status status;
  MPI_File file;
  doing(scene->player, scene->operation, "file");
  MPI_Bcast(&id, 1, MPI_INT, 0, scene->slot->comm);
  snprintf(name, sizeof name, "%s/fuzz-%d-%d-%ld", folder(), id, scene->player->number, scene->operation);
  unsigned char* row = malloc(bytes);
  unsigned char* wanted = malloc(bytes);
  stream(mixed((uint64_t)scene->operation) + (uint64_t)rank, row, bytes);
  const int from = (rank + 1) % size;
  stream(mixed((uint64_t)scene->operation) + (uint64_t)from, wanted, bytes);
  const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
  if (MPI_File_open(scene->slot->comm, name, mode, MPI_INFO_NULL, &file) == MPI_SUCCESS) {
    const MPI_Offset at = (MPI_Offset)bytes * rank;
    if (kind == 0)
      MPI_File_write_at_all(file, at, row, (int)bytes, MPI_BYTE, &status);
    else
      MPI_File_write_at(file, at, row, (int)bytes, MPI_BYTE, &status);
    MPI_File_sync(file);
    MPI_Barrier(scene->slot->comm);
    MPI_File_sync(file);
    memset(row, 0, bytes);
    MPI_File_read_at_all(file, (MPI_Offset)bytes * from, row, (int)bytes, MPI_BYTE, &status);
    expect(scene, memcmp(row, wanted, bytes) == 0, "content of a file", from, (long)bytes);
    MPI_File_close(&file);
  } else {
    expect(scene, false, "File_open", 0, 0);
  }
  free(row);
  free(wanted);
}
