! SPDX-License-Identifier: BSD-3-Clause
! late.c in Fortran.
include 'steelyard_collectives.f90'

program late
  use, intrinsic :: iso_c_binding, only: c_int, c_long
  use mpi_f08
  use steelyard_collectives
  implicit none
  integer, parameter :: steps = 20, cells = 10000
  integer :: state(cells), rank, ranks, step, i
  integer(c_long) :: total, all
  interface
    integer(c_int) function usleep(microseconds) bind(c)
      import :: c_int
      integer(c_int), value :: microseconds
    end function
  end interface

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  total = 0
  do step = 0, steps - 1
    if (rank == 0) state = [(modulo(i * 31 + step * 7, 1009), i = 0, cells - 1)]
    if (rank == ranks / 2) i = usleep(1000_c_int)
    call steelyard_bcast(state, cells, MPI_INTEGER, 0, MPI_COMM_WORLD)
    total = total + sum(int(state(rank + 1::ranks + 1), c_long))
  end do
  call MPI_Reduce(total, all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(a,i0,a,i0,a,i0)', 'late: steps ', steps, ', ranks ', ranks, ', checksum ', all
  call MPI_Finalize()
end program
