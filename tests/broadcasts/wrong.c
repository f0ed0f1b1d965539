/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program gets wrong must end no worse than with the MPI library alone: with an error, or with data, and never
 * in a wait for ever. Each mistake is made on a communicator of its own. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 25000 };

static int rank, size, failures = 0;
static int large[LONG];

static void expect(int holds, const char* what) {
  if (holds) return;
  ++failures;
  printf("rank %d: %s\n", rank, what);
}

static int class_of(int code) {
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  return error_class;
}

static int handled = 0;
static void on_error(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  ++handled;
}

static MPI_Comm fresh(MPI_Errhandler handler) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, handler);
  return comm;
}

static int data[2000];

static void wrong_lengths(MPI_Errhandler counting) {
  /* Too small a buffer: what fits arrives, the rest is an error, through the handler and not only as a code. */
  MPI_Comm comm = fresh(counting);
  for (int i = 0; i < 2000; ++i) data[i] = rank == 0 ? i : -1;
  int code = MPI_Bcast(data, rank == 0 ? 2000 : 1000, MPI_INT, 0, comm);
  if (rank > 0) expect(class_of(code) == MPI_ERR_TRUNCATE && handled == 1, "a short buffer was no error");
  if (rank > 0) expect(data[999] == 999 && data[1000] == -1, "a short buffer was not filled, or overrun");
  /* Too large a one: what there is arrives. */
  memset(data, -1, sizeof data);
  if (rank == 0) data[0] = 5;
  code = MPI_Bcast(data, rank == 0 ? 1 : 2000, MPI_INT, 0, comm);
#ifdef OPEN_MPI
  expect(code == MPI_SUCCESS, "too large a buffer was an error");
#else
  if (rank > 0) expect(class_of(code) == MPI_ERR_OTHER && handled == 2, "too large a buffer was no error");
#endif
  if (rank > 0) expect(data[0] == 5 && data[1] == -1, "too large a buffer was not filled, or overrun");
  MPI_Comm_free(&comm);
}

static void wrong_roots(void) {
  /* Two call themselves root, another believes in one of them. */
  MPI_Comm comm = fresh(MPI_ERRORS_RETURN);
  int code = MPI_Bcast(data, 10, MPI_INT, rank < 2 ? rank : 0, comm);
  (void)code; /* which of the two came first is open */
  MPI_Comm_free(&comm);

  /* Only the root believes that there is nothing to send; then it is the other way round. */
  comm = fresh(MPI_ERRORS_RETURN);
  code = MPI_Bcast(data, rank == 0 ? 0 : 10, MPI_INT, 0, comm);
  expect(rank == 0 ? code == MPI_SUCCESS : class_of(code) == MPI_ERR_ROOT, "an empty root was no error");
  expect(MPI_Bcast(data, rank == 0 ? 10 : 0, MPI_INT, 0, comm) == MPI_SUCCESS, "an unread broadcast was an error");
  data[0] = rank == 0 ? 7 : -1;
  MPI_Bcast(data, 1, MPI_INT, 0, comm);
  expect(data[0] == 7, "what came after a mistake was wrong");

  /* Refused at one rank, which is not counted: the others know nothing of it. */
  if (rank == 0) {
    expect(MPI_Bcast(data, 1, MPI_INT, size + 5, comm) != MPI_SUCCESS, "a root that does not exist");
    expect(MPI_Bcast(data, -1, MPI_INT, 0, comm) != MPI_SUCCESS, "a negative count");
    expect(MPI_Bcast(data, 1, MPI_DATATYPE_NULL, 0, comm) != MPI_SUCCESS, "no type");
#ifdef OPEN_MPI /* where the other's own crashes */
    expect(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, comm) != MPI_SUCCESS, "a broadcast in place");
#else
    expect(class_of(MPI_Bcast(data, 1, (MPI_Datatype)0x12345678, 0, comm)) == MPI_ERR_TYPE, "a type that is none");
    expect(class_of(MPI_Bcast(NULL, 1, MPI_INT, 0, comm)) == MPI_ERR_BUFFER, "the root's null buffer");
    expect(MPI_Scatter(data, -1, MPI_INT, large, 1, MPI_INT, 0, comm) != MPI_SUCCESS, "a scatter of a negative count");
    expect(class_of(MPI_Scatter(NULL, 1, MPI_INT, large, 1, MPI_INT, 0, comm)) == MPI_ERR_BUFFER, "a null source");
    expect(class_of(MPI_Scatter(data, 1, MPI_INT, NULL, 1, MPI_INT, 0, comm)) == MPI_ERR_BUFFER, "a null target");
    expect(class_of(MPI_Scatter(data, 1, MPI_INT, data, 1, MPI_INT, 0, comm)) == MPI_ERR_BUFFER, "one buffer for both");
#endif
  }
  expect(class_of(MPI_Bcast(NULL, 1, MPI_INT, rank, comm)) == MPI_ERR_BUFFER, "a null buffer");
  data[0] = rank == 0 ? 8 : -1;
  MPI_Bcast(data, 1, MPI_INT, 0, comm);
  expect(data[0] == 8, "what came after refusals was wrong");
  MPI_Comm_free(&comm);
}

/* Two ranks name each other as root: without data, and with data. */
static void two_roots(void) {
  if (size > 1) {
    const int other = rank == 0 ? 1 : 0;
    MPI_Comm comm = fresh(MPI_ERRORS_RETURN);
    expect(MPI_Bcast(data, 0, MPI_INT, other, comm) == MPI_SUCCESS, "two roots of nothing were an error");
    data[0] = rank == 0 ? 9 : -1;
    MPI_Bcast(data, 1, MPI_INT, 0, comm);
    expect(data[0] == 9, "what came after two roots of nothing was wrong");
    expect(class_of(MPI_Bcast(data, 1, MPI_INT, other, comm)) == MPI_ERR_ROOT, "a root that no rank is was no error");
    data[0] = rank == 0 ? 10 : -1;
    MPI_Bcast(data, 1, MPI_INT, 0, comm);
    expect(data[0] == 10, "what came after a root that no rank is was wrong");
    MPI_Comm_free(&comm);
  }
}

/* A rank that expects no data continues and is the next root. The data of the other ranks stay unchanged. */
static void no_data(void) {
  MPI_Comm comm = fresh(MPI_ERRORS_RETURN);
  for (int i = 0; i < 5; ++i) {
    if (rank == size - 1) usleep(20000);
    for (int root = 0; root < 2 && root < size; ++root) {
      for (int j = 0; j < LONG; ++j) large[j] = rank == root ? root + i + j : -1;
      int code = MPI_Bcast(large, root == 0 && rank == 1 ? 0 : LONG, MPI_INT, root, comm);
      if (root == 0 && rank == 1) continue;
      expect(code == MPI_SUCCESS && large[0] == root + i && large[LONG - 1] == root + i + LONG - 1,
             "the data of a later broadcast");
    }
    MPI_Barrier(comm); /* The MPI library's own broadcast would wait for a rank that has continued. */
  }
  MPI_Comm_free(&comm);
}

/* The root runs ahead of a late rank by more broadcasts than the shared-memory broadcast buffer holds. */
static void late_rank(void) {
  MPI_Comm comm = fresh(MPI_ERRORS_RETURN);
  for (int i = 0; i < 500; ++i) {
    if (rank == size - 1 && i % 100 == 0)
      MPI_Sendrecv(&i, 1, MPI_INT, rank, 0, data, 1, MPI_INT, rank, 0, comm, MPI_STATUS_IGNORE);
    for (int j = 0; j < 2000; ++j) data[j] = rank == 0 ? i + j : -1;
    MPI_Bcast(data, i % 3 == 0 ? 2000 : 3, MPI_INT, 0, comm);
    expect(data[0] == i && data[2] == i + 2 && data[1999] == (i % 3 == 0 || rank == 0 ? i + 1999 : -1), "overtaken");
  }
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Errhandler counting;
  MPI_Comm_create_errhandler(on_error, &counting);
  wrong_lengths(counting);
  wrong_roots();
  two_roots();
  no_data();
  late_rank();
  MPI_Errhandler_free(&counting);
  int all = 0;
  MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks, %d wrong\n", size, all);
  MPI_Finalize();
  return 0;
}
