/* SPDX-License-Identifier: BSD-3-Clause */
// Programs of different shapes. shapes SHAPE prints one line, the same with Steelyard as without:
//   split        collectives over halves of the world, of different numbers in each half
//   multiple     MPI_THREAD_MULTIPLE, and every thread of a region talks to its peer
//   late         the last rank sleeps for a quarter of a second before its first collective, and before some others
//   nonblocking  a ring of MPI_Isend and MPI_Irecv, completed by Waitall, Waitany, Wait and Test
//   empty        regions of loops without iterations
//   rooted       broadcasts, reductions, gathers and scatters from changing roots
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks;

static long work(long iterations) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < iterations; ++i) sum += i % 7;
  return sum;
}

static long sum_over(long value, MPI_Comm comm) {
  long sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_LONG, MPI_SUM, comm);
  return sum;
}

static long split(void) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  long sum = 0;
  for (int step = 0; step < 50; ++step) {
    for (int i = 0; i <= rank % 2; ++i) sum = sum_over(sum % 1000 + work(1000 * (rank + 1)), half);
    if (step % 10 == 9) sum = sum_over(sum % 1000, MPI_COMM_WORLD);
  }
  MPI_Comm_free(&half);
  return sum;
}

static long multiple(void) {
  enum { peers = 2 };
  MPI_Comm comms[peers];
  for (int t = 0; t < peers; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
  long sum = 0;
  for (int step = 0; step < 20; ++step) {
#pragma omp parallel for num_threads(peers) reduction(+ : sum) schedule(static, 1)
    for (int t = 0; t < peers; ++t) {
      long mine = rank + 10 * t + step, other = 0;
      MPI_Sendrecv(&mine, 1, MPI_LONG, (rank + 1) % ranks, 0, &other, 1, MPI_LONG, (rank + ranks - 1) % ranks, 0,
                   comms[t], MPI_STATUS_IGNORE);
      MPI_Barrier(comms[t]);
      sum += other;
    }
  }
  for (int t = 0; t < peers; ++t) MPI_Comm_free(&comms[t]);
  return sum;
}

static long late(void) {
  long sum = 0;
  for (int step = 0; step < 20; ++step) {
    if (rank == ranks - 1 && step % 5 == 0) usleep(250000);
    sum = sum_over(sum % 1000 + work(1000), MPI_COMM_WORLD);
  }
  return sum;
}

static long nonblocking(void) {
  enum { messages = 4, length = 20000 };  // longer than what MPI sends eagerly
  static long out[messages][length], in[messages][length];
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  long sum = 0;
  for (int step = 0; step < 20; ++step) {
    MPI_Request receives[messages], sends[messages];
    MPI_Status statuses[messages];
    for (int m = 0; m < messages; ++m) {
      out[m][0] = out[m][length - 1] = sum % 1000 + rank + m;
      MPI_Irecv(in[m], length, MPI_LONG, previous, m, MPI_COMM_WORLD, &receives[m]);
    }
    if (rank == step % ranks) work(200000);
    for (int m = 0; m < messages; ++m) MPI_Isend(out[m], length, MPI_LONG, next, m, MPI_COMM_WORLD, &sends[m]);
    if (step % 3 == 0) {
      MPI_Waitall(messages, receives, statuses);
    } else if (step % 3 == 1) {
      for (int done = 0, which; done < messages; ++done) MPI_Waitany(messages, receives, &which, MPI_STATUS_IGNORE);
    } else {
      for (int m = 0, flag = 0; m < messages; ++m, flag = 0) {
        while (!flag) MPI_Test(&receives[m], &flag, MPI_STATUS_IGNORE);
      }
    }
    for (int m = 0; m < messages; ++m) MPI_Wait(&sends[m], MPI_STATUS_IGNORE);
    for (int m = 0; m < messages; ++m) sum += in[m][0] + in[m][length - 1];
  }
  return sum_over(sum % 1000, MPI_COMM_WORLD);
}

static long empty(void) {
  long sum = 0;
  for (int step = 0; step < 200; ++step) sum = sum_over(sum + work(0) + 1, MPI_COMM_WORLD) % 1000;
  return sum;
}

static long rooted(void) {
  long* all = malloc((size_t)ranks * sizeof(long));
  long sum = 0;
  for (int step = 0; step < 50; ++step) {
    const int root = step % ranks;
    long value = sum % 1000 + rank + work(500 * (rank + 1)), total = 0;
    MPI_Bcast(&sum, 1, MPI_LONG, root, MPI_COMM_WORLD);
    MPI_Reduce(&value, &total, 1, MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD);
    MPI_Gather(&value, 1, MPI_LONG, all, 1, MPI_LONG, root, MPI_COMM_WORLD);
    if (rank == root) all[0] += total;
    MPI_Scatter(all, 1, MPI_LONG, &value, 1, MPI_LONG, root, MPI_COMM_WORLD);
    sum = (sum + value) % 100000;
  }
  free(all);
  return sum_over(sum, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    long (*run)(void);
  } shapes[] = {{"split", split}, {"multiple", multiple}, {"late", late}, {"nonblocking", nonblocking},
                {"empty", empty}, {"rooted", rooted}};
  const char* name = argc > 1 ? argv[1] : "";
  int provided = 0;
  MPI_Init_thread(&argc, &argv, strcmp(name, "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int status = 2;
  for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i) {
    if (strcmp(shapes[i].name, name) != 0) continue;
    const long result = shapes[i].run();
    if (rank == 0) printf("shapes: %s %ld, threads %d\n", name, result, provided);
    status = 0;
  }
  MPI_Finalize();
  return status;
}
