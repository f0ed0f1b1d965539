/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled with -fsanitize. With an argument, it makes an error that the sanitizer finds. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int shared;

static void* writes(void* unused) {
  (void)unused;
  shared = 1;
  return NULL;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 1000; ++i) sum += i;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (argc > 1) {
    pthread_t thread;
    pthread_create(&thread, NULL, writes, NULL);
    shared = 2;
    pthread_join(thread, NULL);
    volatile char* const byte = malloc(1);
    byte[argc - 1] = 1;
    free((void*)byte);
  }
  puts("the end");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
