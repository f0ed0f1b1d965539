! SPDX-License-Identifier: BSD-3-Clause
! unbalanced.c in Fortran, reduced to the options --steps=N --work=MS --imbalance=PERCENT: the same loads, the same
! checksum. It takes MPI by `use mpi`; stepped.f90 by `use mpi_f08`.
program unbalanced
  use, intrinsic :: iso_fortran_env, only: int64, real64, error_unit
  use mpi
  implicit none
  real(real64), parameter :: iteration_ms = 0.05_real64
  integer, parameter :: rounds = 15000  ! about 50 us
  real(real64) :: work_ms = 40, imbalance = 100, steps = 20, heaviest, load, start, mine, seconds
  integer(int64) :: iterations, total, summed, step
  integer :: provided, rank, ranks, error

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call parse()
  heaviest = merge(1 + imbalance / 100, 1.0_real64, ranks > 1)
  if (heaviest > ranks) call give_up('--imbalance: at most 100 x (ranks - 1)')
  load = heaviest
  if (rank > 0) load = (ranks - heaviest) / (ranks - 1)
  iterations = nint(load * work_ms / iteration_ms, int64)

  call MPI_Barrier(MPI_COMM_WORLD, error)
  start = MPI_Wtime()
  summed = 0
  do step = 0, nint(steps, int64) - 1
    summed = summed + run_step(step)
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  mine = MPI_Wtime() - start

  call MPI_Reduce(summed, total, 1, MPI_INTEGER8, MPI_SUM, 0, MPI_COMM_WORLD, error)
  call MPI_Allreduce(mine, seconds, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, error)
  if (rank == 0) print '(a,i0,a,f9.4,a,i0)', 'unbalanced: steps ', nint(steps), ', seconds', seconds, &
    ', checksum ', total
  call MPI_Finalize(error)

contains

  ! A chain of dependent operations that converges to 2, exactly.
  pure function compute(first) result(two)
    integer(int64), intent(in) :: first
    integer(int64) :: two
    real(real64) :: x
    integer :: i
    x = real(first, real64)
    do i = 1, rounds
      x = 0.5_real64 * x + 1
    end do
    two = int(x, int64)
  end function

  function run_step(step) result(summed)
    integer(int64), intent(in) :: step
    integer(int64) :: summed, i
    summed = 0
    !$omp parallel do schedule(dynamic) reduction(+ : summed)
    do i = 0, iterations - 1
      summed = summed + mod(step * 7919 + i * 104729, 1000003_int64) * compute(i) / 2
    end do
  end function

  subroutine parse()
    character(len=256) :: word
    integer :: argument, equals, status
    do argument = 1, command_argument_count()
      call get_command_argument(argument, word)
      equals = index(word, '=')
      status = 1
      select case (word(:max(equals, 1)))
        case ('--steps='); read (word(equals + 1:), *, iostat=status) steps
        case ('--work='); read (word(equals + 1:), *, iostat=status) work_ms
        case ('--imbalance='); read (word(equals + 1:), *, iostat=status) imbalance
      end select
      if (status /= 0) call give_up(trim(word))
    end do
  end subroutine

  subroutine give_up(cause)
    character(len=*), intent(in) :: cause
    if (rank == 0) write (error_unit, '(2a)') 'unbalanced: not understood: ', cause
    call MPI_Finalize(error)
    stop 2, quiet=.true.
  end subroutine

end program
