! SPDX-License-Identifier: BSD-3-Clause
! The same for Fortran's loops: each iteration exactly once under each schedule, with steps in both directions.
program do_loops
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi
  use omp_lib
  implicit none
  integer, parameter :: most = 3000, counts(4) = [1, 2, 3, 7]
  integer :: seen(most), ierr, rank, t, threads, wrong, loops

  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  wrong = 0
  loops = 0
  seen = 0
  do t = 1, size(counts)
    threads = counts(t)
    call up(1, most, 1)
    call up(7, 2500, 3)
    call up(10, 9, 1)
    call down(most, 1, -1)
    call down(2000, 3, -7)
    call wide(huge(1_int64) - 1000_int64, huge(1_int64) - 1_int64, 1_int64)
    call last_value()
    call inside_of_each_other()
    call in_order()
    call cancelled()
  end do
  call mpi_finalize(ierr)
  if (rank == 0) print '(a, i0, a, i0, a)', trim(merge('all once: ', 'WRONG:    ', wrong == 0)) // ' ', loops, &
    ' loops, ', wrong, ' wrong'
  if (wrong > 0) stop 1

contains

  subroutine mark(i)
    integer, intent(in) :: i
    !$omp atomic
    seen(i) = seen(i) + 1
  end subroutine

  subroutine check(first, last, step)
    integer, intent(in) :: first, last, step
    integer :: i
    do i = first, last, step
      seen(i) = seen(i) - 1
    end do
    if (any(seen /= 0)) wrong = wrong + 1
    loops = loops + 1
    seen = 0
  end subroutine

  subroutine up(first, last, step)
    integer, intent(in) :: first, last, step
    integer :: i
    !$omp parallel do num_threads(threads) schedule(runtime)
    do i = first, last, step
      call mark(i)
    end do
    call check(first, last, step)
    !$omp parallel do num_threads(threads) schedule(dynamic, 5)
    do i = first, last, step
      call mark(i)
    end do
    call check(first, last, step)
  end subroutine

  subroutine down(first, last, step)
    integer, intent(in) :: first, last, step
    integer :: i
    !$omp parallel do num_threads(threads) schedule(guided)
    do i = first, last, step
      call mark(i)
    end do
    call check(first, last, step)
    !$omp parallel num_threads(threads)
    !$omp do schedule(dynamic)
    do i = first, last, step
      call mark(i)
    end do
    !$omp end do nowait
    !$omp do schedule(guided, 4)
    do i = first, last, step
      call mark(i)
    end do
    !$omp end do
    !$omp end parallel
    seen = seen / 2
    call check(first, last, step)
  end subroutine

  subroutine wide(first, last, step)
    integer(int64), intent(in) :: first, last, step
    integer(int64) :: i
    !$omp parallel do num_threads(threads) schedule(dynamic, 2)
    do i = first, last, step
      call mark(int(i - first) + 1)
    end do
    call check(1, 1000, 1)
  end subroutine

  subroutine inside_of_each_other()
    integer :: outer, i
    call omp_set_max_active_levels(2)
    !$omp parallel do num_threads(2) schedule(dynamic) private(i)
    do outer = 0, 4
      !$omp parallel do num_threads(threads) schedule(guided)
      do i = outer * 200 + 1, outer * 200 + 200
        call mark(i)
      end do
    end do
    call check(1, 1000, 1)
  end subroutine

  subroutine in_order()
    integer :: i, next
    next = 1
    !$omp parallel do num_threads(threads) schedule(dynamic) ordered
    do i = 1, 300
      !$omp ordered
      if (i /= next) wrong = wrong + 1
      next = i + 1
      call mark(i)
      !$omp end ordered
    end do
    call check(1, 300, 1)
  end subroutine

  ! Each at most once, and all where nothing may be cancelled; the next loop is whole.
  subroutine cancelled()
    integer :: i
    logical :: cancels
    cancels = omp_get_cancellation()
    !$omp parallel num_threads(threads)
    !$omp do schedule(dynamic)
    do i = 1, 1000
      call mark(i)
      !$omp cancel do if (i == 50)
    end do
    !$omp end do
    !$omp end parallel
    if (any(seen > 1) .or. (.not. cancels .and. any(seen(:1000) /= 1))) wrong = wrong + 1
    if (cancels .and. threads == 1 .and. any(seen(51:) /= 0)) wrong = wrong + 1
    seen = 0
    !$omp parallel do num_threads(threads) schedule(dynamic)
    do i = 1, 1000
      call mark(i)
    end do
    call check(1, 1000, 1)
  end subroutine

  subroutine last_value()
    integer :: i, last
    last = 0
    !$omp parallel do num_threads(threads) schedule(dynamic) lastprivate(last)
    do i = 1, 500
      last = i
      call mark(i)
    end do
    if (last /= 500) wrong = wrong + 1
    call check(1, 500, 1)
  end subroutine
end program
