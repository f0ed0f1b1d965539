# SPDX-License-Identifier: BSD-3-Clause
"""The main program of several uneven ranks. Before each construct, all ranks but one compute a millisecond longer than
that rank, which waits for them in a collective; after 160 constructs, another rank waits. So cores move and are lent
while the constructs run. A region without a query tells how often the thread count has changed."""

C_MAIN_BEGIN = r"""
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
static long changes;

static void come_uneven(int number) {
  static int step, team;
  int came = 0;
  long sum = 0;
  const long spins = (rank + step++ / 160) % ranks != 0 ? 10000 : 100;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 48; ++i)
    for (volatile long k = 0; k < spins; ++k) sum += i;
  equal("sum of the uneven loop", sum, spins * (48 * 47 / 2));
#pragma omp parallel reduction(+ : came)
  ++came;
  if (team != 0 && came != team) ++changes;
  team = came;
  if (number % 3 == 0) {
    int all = 0;
    MPI_Allreduce(&step, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    equal("MPI_Allreduce", all, step);
  } else if (number % 3 == 1) {
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    int of_root = rank == 0 ? number : -1;
    MPI_Bcast(&of_root, 1, MPI_INT, 0, MPI_COMM_WORLD);
    equal("MPI_Bcast", of_root, number);
  }
}

static void run(int number, const char* kind, void (*construct)(void)) {
  wrong_here = 0;
  if (rank == 0) printf("%d %s:", number, kind);
  fflush(stdout);
  come_uneven(number);
  construct();
  if (rank == 0)
    printf(wrong_here ? " wrong\n" : " right %016llx\n", checksum);
  else if (wrong_here)
    printf("%d %s: WRONG on rank %d: %s\n", number, kind, rank, first_wrong);
  fflush(stdout);
}
int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
"""

C_MAIN_END = r"""  int wrong_anywhere = 0;
  Word together = 0;
  long all_changes = 0;
  MPI_Allreduce(&wrong, &wrong_anywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce(&checksum, &together, 1, MPI_UNSIGNED_LONG_LONG, MPI_BXOR, 0, MPI_COMM_WORLD);
  MPI_Reduce(&changes, &all_changes, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s %016llx\n", wrong_anywhere ? "wrong" : "ok", together), fflush(stdout);
  if (rank == 0) fprintf(stderr, "fuzz: %ld changes of thread counts\n", all_changes);
  MPI_Finalize();
  return wrong_anywhere != 0;
}
"""

# The same in Fortran.
FORTRAN_MAIN = """module uneven
use checks
use mpi
implicit none
integer :: changes = 0, step = 0, team = 0
contains
subroutine come_uneven(number)
integer, intent(in) :: number
integer :: came, i, all, error
integer, volatile :: k
integer(int64) :: sum, spins
came = 0
sum = 0
spins = merge(10000, 100, mod(rank + step / 160, ranks) /= 0)
step = step + 1
!$$omp parallel do reduction(+:sum) private(k)
do i = 1, 48
  k = 0
  do while (k < spins)
    k = k + 1
    sum = sum + i
  end do
end do
call expect(sum == spins * 24 * 49, 'sum of the uneven loop', sum, spins * 24 * 49)
!$$omp parallel reduction(+:came)
came = came + 1
!$$omp end parallel
if (team /= 0 .and. came /= team) changes = changes + 1
team = came
all = merge(number, -1, rank == 0)
if (mod(number, 3) == 0) then
  call MPI_Allreduce(step, all, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
  call equal('MPI_Allreduce', all, step)
else if (mod(number, 3) == 1) then
  call MPI_Barrier(MPI_COMM_WORLD, error)
else
  call MPI_Bcast(all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  call equal('MPI_Bcast', all, number)
end if
end subroutine
end module
program main
use checks
use mpi
use uneven
use iso_fortran_env, only: error_unit
implicit none
integer :: round, error, all_wrong, all_changes, level
integer(int64) :: together
call MPI_Init_thread(MPI_THREAD_FUNNELED, level, error)
call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
do round = 1, $rounds
${calls}end do
call MPI_Allreduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
call MPI_Reduce(checksum, together, 1, MPI_INTEGER8, MPI_BXOR, 0, MPI_COMM_WORLD, error)
call MPI_Reduce(changes, all_changes, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
if (rank == 0) then
  write (output_unit, '(a,1x,z16.16)') trim(merge('wrong', 'ok   ', all_wrong /= 0)), together
  flush(output_unit)
  write (error_unit, '(a,i0,a)') 'fuzz: ', all_changes, ' changes of thread counts'
end if
call MPI_Finalize(error)
if (all_wrong /= 0) stop 1
end program
"""
