// SPDX-License-Identifier: BSD-3-Clause
// Sets a variable and executes itself before MPI_Init, as programs do that need another stack limit or library path.
// With two arguments, it tries to execute the program that the second names instead. The first names the function;
// _exit ends the process instead.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char** environ;

// exec and _exit may be called by a signal handler that has interrupted malloc().
static volatile int executing = 0;
#ifdef __GLIBC__
void* __libc_malloc(size_t size);
void* malloc(size_t size) {
  if (executing) abort();
  return __libc_malloc(size);
}
#endif

static void execute(const char* function, char* program, char** arguments) {
  executing = 1;
  if (strcmp(function, "execv") == 0) execv(program, arguments);
  if (strcmp(function, "execve") == 0) execve(program, arguments, environ);
  if (strcmp(function, "execvp") == 0) execvp(program, arguments);
  if (strcmp(function, "execvpe") == 0) execvpe(program, arguments, environ);
  if (strcmp(function, "fexecve") == 0) fexecve(open(program, O_RDONLY | O_CLOEXEC), arguments, environ);
  if (strcmp(function, "execveat") == 0)
    execveat(open(program, O_RDONLY | O_CLOEXEC), "", arguments, environ, AT_EMPTY_PATH);
  if (strcmp(function, "execveat_directory") == 0) execveat(open("/", O_PATH), program + 1, arguments, environ, 0);
  if (strcmp(function, "execl") == 0) execl(program, program, function, (char*)NULL);
  if (strcmp(function, "execle") == 0) execle(program, program, function, (char*)NULL, environ);
  if (strcmp(function, "execlp") == 0) execlp(program, program, function, (char*)NULL);
  if (strcmp(function, "_exit") == 0) _exit(0);
  executing = 0;
}

int main(int argc, char** argv) {
  if (argc > 2) {
    for (int i = 900; i < 1000; ++i) close(i);  // as programs do that close what they have not opened
    execute(argv[1], argv[2], argv + 2);
    if (errno != ENOENT && errno != EACCES) return 1;
  } else if (argc == 2 && getenv("EXECUTED_ITSELF") == NULL) {
    setenv("EXECUTED_ITSELF", "1", 1);
    execute(argv[1], argv[0], argv);
    return 1;
  }
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) printf("ranks %d\n", size);
  MPI_Finalize();
  return 0;
}
