! SPDX-License-Identifier: BSD-3-Clause
! stepped.c in Fortran: a step ends with `call steelyard_step()`.
program stepped
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use steelyard
  implicit none
  integer, parameter :: steps = 20, iterations = 200, rounds = 15000
  integer :: rank, ranks, provided, step, region, status
  integer(int64) :: summed, total
  character(len=200) :: message

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)

  summed = 0
  do step = 1, steps
    do region = 0, rank
      summed = summed + run_region()
    end do
    call MPI_Sendrecv_replace(summed, 1, MPI_INTEGER8, modulo(rank + 1, ranks), 0, modulo(rank - 1, ranks), 0, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call steelyard_step(status)
  end do

  call MPI_Reduce(summed, total, 1, MPI_INTEGER8, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) then
    print '(a,i0,a,i0)', 'stepped: steps ', steps, ', checksum ', total
    if (status /= STEELYARD_SUCCESS) then
      call steelyard_message(message)
      print '(2a)', 'stepped: ', trim(message)
    end if
  end if
  call MPI_Finalize()

contains

  ! A chain of dependent operations that converges to 2, exactly.
  pure function compute(first) result(two)
    integer, intent(in) :: first
    integer(int64) :: two
    real(real64) :: x
    integer :: i
    x = real(first, real64)
    do i = 1, rounds
      x = 0.5_real64 * x + 1
    end do
    two = int(x, int64)
  end function

  function run_region() result(summed)
    integer(int64) :: summed
    integer :: i
    summed = 0
    !$omp parallel do schedule(dynamic) reduction(+ : summed)
    do i = 0, iterations - 1
      summed = summed + i * compute(i) / 2
    end do
  end function

end program
