/* SPDX-License-Identifier: BSD-3-Clause */
/* Broadcasts with late ranks, and without.
 *
 *   collectives latency BYTES ROUNDS [binomial]
 *     Blocks of broadcasts through MPI_Bcast and through the library's own PMPI_Bcast in turn, all ranks coming at
 *     once: prints the mean time in the call of either (us) and their ratio, medians over the blocks.
 *   collectives short OPERATION BYTES BLOCKS
 *     Blocks of bcast, allreduce, reduce or barrier without a pause, through MPI_* and through the library's own PMPI_*
 *     in turn: prints the difference and the times of a call (ns), medians over the blocks, means over the ranks.
 *   collectives wait PATTERN BYTES ROUNDS MICROSECONDS [binomial]
 *     Before each broadcast ranks are given a load by PATTERN, which they sleep: prints the mean time in the broadcast
 *     by rank and call (us), from when both the rank and the root have come, for MPI_Bcast or for a plain binomial tree
 *     of messages.
 *       none        nobody
 *       first       the root's first receiver in a binomial tree, as Soga et al.
 *       persistent  each rank but the root its own, at random, always
 *       transient   each rank but the root another one each time
 *       moving      the root's first receiver, then, from the middle on, its second: prints how many rounds it takes
 *                   until the time is down to what it settles to, or nearly, the time just after the move, and the
 *                   settled one
 *   collectives waste OPERATION BYTES ROUNDS MICROSECONDS
 *     The library's own reduce, allreduce, gather, scatter or bcast of so many bytes a rank, with the load of `first`:
 *     prints the mean time in the call by rank (us), and how much of it no rank need have waited: for the last of those
 *     whose data it gets, and for nobody else.
 */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 50, PERIOD = 4, SHORT_BLOCK = 2000 };
static int rank, size;
static MPI_Comm own;

static void sleep_us(double us) {
  const struct timespec t = {(time_t)(us / 1e6), (long)(us * 1e3) % 1000000000L};
  if (us > 0) nanosleep(&t, NULL);
}

static double now(void) {
  struct timespec t; /* one clock for all ranks of a node */
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(double* values, int count) {
  qsort(values, (size_t)count, sizeof *values, compare);
  return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* As MPI libraries do it: the largest subtree first. */
static void binomial(void* data, int bytes) {
  int bit = 1;
  for (; bit < size; bit <<= 1) {
    if (rank & bit) {
      MPI_Recv(data, bytes, MPI_BYTE, rank - bit, 0, own, MPI_STATUS_IGNORE);
      break;
    }
  }
  for (bit >>= 1; bit > 0; bit >>= 1) {
    if (rank + bit < size) MPI_Send(data, bytes, MPI_BYTE, rank + bit, 0, own);
  }
}

/* All sleep until the last has come: ranks that polled here would take the cores from those who are still on their
 * way. */
static struct {
  pthread_barrier_t barrier;
  double root_came; /* to the present round */
}* meeting;

static void open_meeting(void) {
  char name[64];
  if (rank == 0) snprintf(name, sizeof name, "/steelyard-bench-%d", (int)getpid());
  PMPI_Bcast(name, sizeof name, MPI_CHAR, 0, own);
  int file = -1;
  if (rank == 0) {
    file = shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
    if (file < 0 || ftruncate(file, sizeof *meeting) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  PMPI_Barrier(own);
  if (rank != 0) file = shm_open(name, O_RDWR, 0600);
  meeting = mmap(NULL, sizeof *meeting, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (meeting == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 1);
  if (rank == 0) {
    pthread_barrierattr_t shared;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&meeting->barrier, &shared, (unsigned)size);
  }
  PMPI_Barrier(own);
  if (rank == 0) shm_unlink(name);
  close(file);
}

static void meet(void) { pthread_barrier_wait(&meeting->barrier); }

static double mean_of_all(double mine) {
  double sum = 0;
  PMPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, own);
  return sum / size;
}

static void check(const unsigned char* data, int bytes, int round) {
  if (bytes > 0 && (data[0] != (unsigned char)round || data[bytes - 1] != (unsigned char)round)) {
    fprintf(stderr, "rank %d: wrong data in round %d\n", rank, round);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

static double block_of(int native, unsigned char* data, int bytes) {
  double spent = 0;
  for (int i = 0; i < BLOCK; ++i) {
    if (rank == 0) data[0] = data[bytes - 1] = (unsigned char)i;
    PMPI_Barrier(own);
    const double start = MPI_Wtime();
    if (native) {
      PMPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    } else {
      MPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    spent += MPI_Wtime() - start;
    check(data, bytes, i);
  }
  return mean_of_all(spent / BLOCK * 1e6);
}

static void latency(unsigned char* data, int bytes, int blocks) {
  double* ours = malloc((size_t)blocks * 3 * sizeof(double));
  double *theirs = ours + blocks, *ratios = theirs + blocks;
  /* Before what is measured: as many as it takes to choose by measurement. */
  const int before = bytes <= 65536 ? 10 * blocks : blocks;
  for (int i = -before; i < blocks; ++i) {
    const int at = i < 0 ? 0 : i;
    for (int turn = 0; turn < 2; ++turn) {
      const int native = (turn + at) % 2;
      (native ? theirs : ours)[at] = block_of(native, data, bytes);
    }
    ratios[at] = ours[at] / theirs[at];
  }
  if (rank == 0) {
    printf("bytes %d\nratio %.4f\n", bytes, median(ratios, blocks));
    printf("ours %.3f\nnative %.3f\n", median(ours, blocks), median(theirs, blocks));
  }
  free(ours);
}

static void call_once(char operation, int native, unsigned char* in, unsigned char* out, int bytes) {
  const MPI_Comm world = MPI_COMM_WORLD;
  if (operation == 'b') {
    native ? PMPI_Bcast(in, bytes, MPI_BYTE, 0, world) : MPI_Bcast(in, bytes, MPI_BYTE, 0, world);
  } else if (operation == 'a') {
    native ? PMPI_Allreduce(in, out, bytes, MPI_BYTE, MPI_BOR, world)
           : MPI_Allreduce(in, out, bytes, MPI_BYTE, MPI_BOR, world);
  } else if (operation == 'r') {
    native ? PMPI_Reduce(in, out, bytes, MPI_BYTE, MPI_BOR, 0, world)
           : MPI_Reduce(in, out, bytes, MPI_BYTE, MPI_BOR, 0, world);
  } else {
    native ? PMPI_Barrier(world) : MPI_Barrier(world);
  }
}

static double short_block(char operation, int native, unsigned char* in, unsigned char* out, int bytes) {
  PMPI_Barrier(own);
  const double start = now();
  for (int i = 0; i < SHORT_BLOCK; ++i) call_once(operation, native, in, out, bytes);
  return mean_of_all((now() - start) / SHORT_BLOCK * 1e9);
}

static void short_calls(const char* name, unsigned char* in, int bytes, int blocks) {
  const char operation = strcmp(name, "barrier") == 0 ? '|' : name[0];
  unsigned char* out = calloc((size_t)bytes + 1, 1);
  double* added = malloc((size_t)blocks * 3 * sizeof(double));
  double *ours = added + blocks, *theirs = ours + blocks;
  for (int i = -blocks / 4 - 1; i < blocks; ++i) { /* the first ones do not count */
    const int at = i < 0 ? 0 : i;
    for (int turn = 0; turn < 2; ++turn) {
      const int native = (turn + at) % 2;
      (native ? theirs : ours)[at] = short_block(operation, native, in, out, bytes);
    }
    added[at] = ours[at] - theirs[at];
  }
  if (rank == 0) {
    printf("added %.1f\n", median(added, blocks));
    printf("ours %.1f\nnative %.1f\n", median(ours, blocks), median(theirs, blocks));
  }
  free(added);
  free(out);
}

static unsigned hash(unsigned a, unsigned b) {
  unsigned x = a * 2654435761U ^ (b + 1) * 2246822519U;
  x ^= x >> 15;
  x *= 2654435761U;
  return x ^ x >> 13;
}

static double load(const char* pattern, int round, int rounds, double us) {
  int first = 1;
  while (first * 2 < size) first *= 2;
  if (strcmp(pattern, "first") == 0) return rank == first ? us : 0;
  if (strcmp(pattern, "moving") == 0) return rank == (round < rounds / 2 ? first : first / 2) ? us : 0;
  if (rank == 0) return 0; /* all ranks must wait for the root, with any library */
  if (strcmp(pattern, "persistent") == 0) return us * (hash((unsigned)rank, 0) % 1000) / 1000;
  if (strcmp(pattern, "transient") == 0) return us * (hash((unsigned)rank, (unsigned)round + 1) % 1000) / 1000;
  return 0;
}

static double median_of(const double* values, int count) {
  double* copy = malloc((size_t)count * sizeof *copy);
  const double middle = median(memcpy(copy, values, (size_t)count * sizeof *copy), count);
  free(copy);
  return middle;
}

/* Rounds from the middle on until one takes no longer than what the time settles to, or nearly, as most of the next two
   PERIODs do: on few cores, ranks that wait for a core disturb single ones at any time. */
static void tell_adaptation(const double* spent, int rounds) {
  const int middle = rounds / 2, end = rounds * 3 / 4;
  const double moved = median_of(spent + middle, PERIOD), settled = median_of(spent + end, rounds - end);
  const double slower = moved > settled ? moved - settled : 0;
  const double limit = settled + slower / 4 + settled / 4;
  int i = middle;
  while (i < end &&
         (spent[i] > limit || median_of(spent + i, i + 2 * PERIOD < rounds ? 2 * PERIOD : rounds - i) > limit))
    ++i;
  printf("adapted %d\nmoved %.1f\nsettled %.1f\n", i - middle, moved, settled);
}

static void waits(const char* pattern, unsigned char* data, int bytes, int rounds, double us, int plain) {
  const int warm = strcmp(pattern, "moving") == 0 ? 0 : rounds / 2; /* what adapts may */
  double* spent = calloc((size_t)rounds, sizeof(double));
  double sum = 0;
  for (int i = 0; i < rounds; ++i) {
    if (rank == 0) data[0] = data[bytes - 1] = (unsigned char)i;
    meet();
    sleep_us(load(pattern, i, rounds, us));
    const double start = now();
    if (rank == 0) meeting->root_came = start;
    if (plain) {
      binomial(data, bytes);
    } else {
      MPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    /* With any library, no data are available before the root has arrived. */
    const double end = now(), root_came = meeting->root_came;
    spent[i] = end - (root_came > start ? root_came : start);
    check(data, bytes, i);
    if (i >= warm) sum += spent[i];
  }
  /* In one call: where ranks outnumber cores each takes MPICH a third of a second. */
  PMPI_Allreduce(MPI_IN_PLACE, spent, rounds, MPI_DOUBLE, MPI_SUM, own);
  for (int i = 0; i < rounds; ++i) spent[i] *= 1e6 / size;
  const double mean = mean_of_all(sum / (rounds - warm) * 1e6);
  if (rank == 0) printf("wait %.1f\n", mean);
  if (rank == 0 && warm == 0) tell_adaptation(spent, rounds);
  free(spent);
}

static double call_of(const char* operation, double* from, double* to, int count) {
  const double start = MPI_Wtime();
  if (strcmp(operation, "reduce") == 0) MPI_Reduce(from, to, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (strcmp(operation, "allreduce") == 0) MPI_Allreduce(from, to, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (strcmp(operation, "gather") == 0) MPI_Gather(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (strcmp(operation, "scatter") == 0) MPI_Scatter(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (strcmp(operation, "bcast") == 0) MPI_Bcast(from, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return MPI_Wtime() - start;
}

static void waste(const char* operation, int bytes, int rounds, double us) {
  const int count = bytes / (int)sizeof(double);
  double* from = calloc((size_t)count * (size_t)size, sizeof(double));
  double* to = calloc((size_t)count * (size_t)size, sizeof(double));
  double* came = calloc((size_t)size, sizeof(double));
  const int from_all = strcmp(operation, "allreduce") == 0 ||
                       (rank == 0 && (strcmp(operation, "reduce") == 0 || strcmp(operation, "gather") == 0));
  const int from_root = strcmp(operation, "scatter") == 0 || strcmp(operation, "bcast") == 0;
  double spent = 0, wasted = 0;
  for (int i = -rounds; i < rounds; ++i) { /* the first make connections, and show Steelyard what is better */
    meet();
    sleep_us(load("first", i, rounds, us));
    const double start = now();
    const double took = call_of(operation, from, to, count);
    PMPI_Allgather(&start, 1, MPI_DOUBLE, came, 1, MPI_DOUBLE, own);
    double last = start;
    for (int r = 0; r < size; ++r) {
      if ((from_all || (from_root && r == 0)) && came[r] > last) last = came[r];
    }
    if (i < 0) continue;
    spent += took;
    if (took > last - start) wasted += took - (last - start);
  }
  spent = mean_of_all(spent / rounds * 1e6);
  wasted = mean_of_all(wasted / rounds * 1e6);
  if (rank == 0) printf("spent %.1f\nwasted %.1f\n", spent, wasted);
  free(came);
  free(to);
  free(from);
}

int main(int argc, char** argv) {
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  open_meeting();
  const int is_latency = argc >= 4 && strcmp(argv[1], "latency") == 0;
  const int is_short = argc >= 5 && strcmp(argv[1], "short") == 0;
  const int is_wait = argc >= 6 && strcmp(argv[1], "wait") == 0;
  const int is_waste = argc >= 6 && strcmp(argv[1], "waste") == 0;
  if (!is_latency && !is_short && !is_wait && !is_waste) {
    if (rank == 0)
      fprintf(stderr,
              "collectives latency BYTES ROUNDS | short OPERATION BYTES BLOCKS | "
              "wait PATTERN BYTES ROUNDS MICROSECONDS [binomial] | waste OPERATION BYTES ROUNDS MICROSECONDS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int bytes = atoi(argv[is_latency ? 2 : 3]);
  unsigned char* data = calloc((size_t)bytes + 1, 1);
  if (is_latency) {
    latency(data, bytes, atoi(argv[3]));
  } else if (is_short) {
    short_calls(argv[2], data, bytes, atoi(argv[4]));
  } else if (is_waste) {
    waste(argv[2], bytes, atoi(argv[4]), atof(argv[5]));
  } else {
    waits(argv[2], data, bytes, atoi(argv[4]), atof(argv[5]), argc > 6);
  }
  free(data);
  MPI_Comm_free(&own);
  MPI_Finalize();
  return 0;
}
