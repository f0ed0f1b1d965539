! SPDX-License-Identifier: BSD-3-Clause
! triangle.c in Fortran.
include 'steelyard_loops.f90'

program triangle
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi_f08
  use steelyard
  use steelyard_loops
  implicit none
  integer, parameter :: steps = 20
  integer(int64), parameter :: rows = 600, modulus = 1000003
  integer(int64) :: values(0:rows - 1), total, i, j, row
  integer :: provided, rank, step, status
  character(len=300) :: message
  type(steelyard_iterations_t) :: mine

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  values = [(i + rank, i = 0, rows - 1)]

  !$omp parallel private(mine, i, j, row, step, status, message)
  do step = 1, steps
    call steelyard_loop_begin(mine, 0_int64, rows - 1)
    do while (steelyard_loop_next(mine))
      do i = mine%first, mine%last
        row = values(i)
        do j = 0, i
          row = modulo(row * 31 + j, modulus)
        end do
        values(i) = row
      end do
    end do
    call steelyard_loop_end(mine, status)
    if (status /= STEELYARD_SUCCESS) then
      call steelyard_message(message)
      print '(2a)', 'triangle: ', trim(message)
      call MPI_Abort(MPI_COMM_WORLD, 1)
    end if
    !$omp barrier
  end do
  !$omp end parallel

  call MPI_Allreduce(sum(values), total, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(a,i0,a,i0)', 'triangle: steps ', steps, ', checksum ', total
  call MPI_Finalize()
end program
