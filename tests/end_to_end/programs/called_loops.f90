! SPDX-License-Identifier: BSD-3-Clause
! Loops that Fortran divides by calls: each iteration exactly once in any shape, and each mistake a sentence. Prints
! "all once".
include 'steelyard_loops.f90'

module counting
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  integer, parameter :: most = 2000
  integer :: seen(0:most) = 0, wrong = 0
contains
  subroutine mark(i)
    integer(int64), intent(in) :: i
    !$omp atomic
    seen(i) = seen(i) + 1
  end subroutine
  subroutine check(what, count, times)
    character(len=*), intent(in) :: what
    integer, intent(in) :: count, times
    call expect(all(seen(:count - 1) == times) .and. all(seen(count:) == 0), what)
    seen = 0
  end subroutine
  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (holds) return
    !$omp critical
    print '(2a)', 'not so: ', what
    wrong = wrong + 1
    !$omp end critical
  end subroutine
end module

program called_loops
  use, intrinsic :: iso_fortran_env, only: int64
  use omp_lib
  use steelyard
  use steelyard_loops
  use counting
  implicit none
  integer, parameter :: counts(4) = [1, 2, 3, 7]
  integer(int64), parameter :: last = huge(1_int64)
  integer :: t

  call omp_set_max_active_levels(2)
  do t = 1, size(counts)
    call shapes(counts(t))
    call given_up(counts(t))
  end do
  call nested()
  call mistakes()
  call two_teams()
  print '(a)', trim(merge('all once', 'WRONG   ', wrong == 0))
  if (wrong > 0) stop 1

contains

  ! Several loops in a row, and no thread waits between them.
  subroutine shapes(threads)
    integer, intent(in) :: threads
    type(steelyard_iterations_t) :: mine
    integer :: step, status
    integer(int64) :: i
    !$omp parallel num_threads(threads) private(mine, step, status, i)
    do step = 1, 10
      call steelyard_loop_begin(mine, 0_int64, 999_int64, status=status)
      call expect(status == STEELYARD_SUCCESS, 'a loop begins')
      do while (steelyard_loop_next(mine))
        do i = mine%first, mine%last, mine%stride
          call mark(i)
        end do
      end do
      call steelyard_loop_end(mine, status)
      call expect(status == STEELYARD_SUCCESS, 'a loop ends')
      call steelyard_loop_begin(mine, 1300_int64, 1000_int64, -3_int64)
      do while (steelyard_loop_next(mine))
        do i = mine%first, mine%last, mine%stride
          call mark(1000 + (1300 - i) / 3)
        end do
      end do
      call steelyard_loop_end(mine)
      call steelyard_loop_begin(mine, 5_int64, 4_int64)
      call expect(.not. logical(steelyard_loop_next(mine)), 'an empty loop has nothing')
      call steelyard_loop_end(mine)
      call steelyard_loop_begin(mine, 4_int64, 5_int64, -1_int64)
      call expect(.not. logical(steelyard_loop_next(mine)), 'an empty loop that goes down has nothing')
      call steelyard_loop_end(mine)
      ! Up to the last number that there is: a do loop could not stop there.
      call steelyard_loop_begin(mine, last - 98, last, 2_int64)
      do while (steelyard_loop_next(mine))
        do i = (mine%first - (last - 98)) / 2, (mine%last - (last - 98)) / 2
          call mark(1101 + i)
        end do
      end do
      call steelyard_loop_end(mine)
      call steelyard_loop_begin(mine, -last - 1 + 49, -last - 1, -1_int64)
      do while (steelyard_loop_next(mine))
        do i = -last - 1 + 49 - mine%first, -last - 1 + 49 - mine%last
          call mark(1151 + i)
        end do
      end do
      call steelyard_loop_end(mine)
    end do
    !$omp end parallel
    call check('shapes', 1201, 10)
  end subroutine

  ! Cancelled, or ended early: each at most once, and the next loop is whole.
  subroutine given_up(threads)
    integer, intent(in) :: threads
    type(steelyard_iterations_t) :: mine
    integer :: step
    integer(int64) :: i
    do step = 1, 5
      !$omp parallel num_threads(threads) private(mine, i)
      call steelyard_loop_begin(mine, 0_int64, 999_int64)
      do while (steelyard_loop_next(mine))
        do i = mine%first, mine%last
          call mark(i)
        end do
        call steelyard_loop_cancel(mine)
      end do
      call expect(.not. logical(steelyard_loop_next(mine)), 'nothing comes after a cancel')
      call steelyard_loop_end(mine)
      call steelyard_loop_begin(mine, 0_int64, 999_int64)
      if (steelyard_loop_next(mine)) call mark(mine%first)
      call steelyard_loop_end(mine)
      !$omp end parallel
      call expect(all(seen <= 2), 'given up: at most once')
      seen = 0
      !$omp parallel num_threads(threads) private(mine, i)
      call steelyard_loop_begin(mine, 0_int64, 999_int64)
      do while (steelyard_loop_next(mine))
        do i = mine%first, mine%last
          call mark(i)
        end do
      end do
      call steelyard_loop_end(mine)
      !$omp end parallel
      call check('after a loop that was given up', 1000, 1)
    end do
  end subroutine

  subroutine nested()
    type(steelyard_iterations_t) :: mine
    integer(int64) :: i
    !$omp parallel num_threads(3)
    !$omp parallel num_threads(2) private(mine, i)
    call steelyard_loop_begin(mine, 0_int64, 499_int64)
    do while (steelyard_loop_next(mine))
      do i = mine%first, mine%last
        call mark(i)
      end do
    end do
    call steelyard_loop_end(mine)
    !$omp end parallel
    !$omp end parallel
    call check('nested teams have all iterations each', 500, 3)
  end subroutine

  subroutine refused(status, expected, words)
    integer, intent(in) :: status, expected
    character(len=*), intent(in) :: words
    call expect(status == expected, 'refused: ' // words)
    call expect_message(words)
  end subroutine

  subroutine expect_message(words)
    character(len=*), intent(in) :: words
    character(len=400) :: text
    call steelyard_message(text)
    call expect(index(text, words) > 0, 'the sentence says "' // words // '", and not: ' // trim(text))
  end subroutine

  subroutine mistakes()
    type(steelyard_loop_t) :: loop
    type(steelyard_iterations_t) :: mine, never
    integer :: status
    call steelyard_loop_create('x', loop, strategy='guidet', status=status)
    call refused(status, STEELYARD_ERROR_INVALID_ARGUMENT, "unknown strategy 'guidet'; did you mean guided?")
    call steelyard_loop_create('x', loop, strategy='hybrid', static_fraction=1.5d0, status=status)
    call refused(status, STEELYARD_ERROR_INVALID_ARGUMENT, 'the static fraction is 1.5')
    call steelyard_loop_create('x', loop, strategy='hybrid', static_fraction=-0.5d0, status=status)
    call refused(status, STEELYARD_ERROR_INVALID_ARGUMENT, 'the static fraction is -0.5')
    call steelyard_loop_create('x', loop, chunk_size=-5_int64, status=status)
    call refused(status, STEELYARD_ERROR_INVALID_ARGUMENT, 'the chunk size is -5 iterations')
    call steelyard_loop_tie(loop, loop, status)
    call refused(status, STEELYARD_ERROR_INVALID_ARGUMENT, 'null pointer')
    call expect(.not. logical(steelyard_loop_next(never)), 'nothing comes before begin')
    call expect_message('outside a loop')
    call steelyard_loop_end(never, status)
    call refused(status, STEELYARD_ERROR_INVALID_STATE, 'outside a loop')
    call steelyard_loop_begin(mine, 1_int64, 9_int64, 0_int64, status=status)
    call refused(status, STEELYARD_ERROR_INVALID_ARGUMENT, 'stride of 0')
    call expect(.not. logical(steelyard_loop_next(mine)), 'nothing comes after a begin that was refused')
    call steelyard_loop_end(mine, status)
    call steelyard_loop_begin(mine, 1_int64, 9_int64)
    call steelyard_loop_end(mine)
    call steelyard_loop_end(mine, status)
    call refused(status, STEELYARD_ERROR_INVALID_STATE, 'outside a loop')
    call expect(.not. logical(steelyard_loop_next(mine)), 'nothing comes after end')
  end subroutine

  ! The outer team is in the loop when the inner ones come.
  subroutine two_teams()
    type(steelyard_loop_t) :: loop
    type(steelyard_iterations_t) :: outer, inner
    integer :: status
    call steelyard_loop_create('shared', loop)
    !$omp parallel num_threads(2) private(outer)
    call steelyard_loop_begin(outer, 0_int64, 99_int64, loop=loop)
    !$omp barrier
    !$omp parallel num_threads(2) private(inner, status)
    call steelyard_loop_begin(inner, 0_int64, 99_int64, loop=loop, status=status)
    call refused(status, STEELYARD_ERROR_INVALID_STATE, 'executed by two teams at the same time')
    call steelyard_loop_end(inner, status)
    !$omp end parallel
    do while (steelyard_loop_next(outer))
    end do
    call steelyard_loop_end(outer)
    !$omp end parallel
    call steelyard_loop_free(loop)
  end subroutine
end program
