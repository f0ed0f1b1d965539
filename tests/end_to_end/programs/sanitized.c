/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled with -fsanitize. With an argument, it makes an error that the sanitizer finds. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* ThreadSanitizer may miss two writes at the same time, but not all of these. */
static volatile int shared[64];

static void* writes(void* value) {
  for (size_t i = 0; i < sizeof shared / sizeof *shared; ++i) shared[i] = *(const int*)value;
  return NULL;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 1000; ++i) sum += i;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (argc > 1) {
    int one = 1, two = 2;
    pthread_t thread;
    pthread_create(&thread, NULL, writes, &one);
    writes(&two);
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
