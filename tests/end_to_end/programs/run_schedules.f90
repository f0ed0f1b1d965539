! SPDX-License-Identifier: BSD-3-Clause
! The same in Fortran.
program run_schedules
  use omp_lib
  implicit none
  integer, parameter :: n = 1000
  integer :: by(n), i, chunk
  integer(omp_sched_kind) :: kind
  logical :: right

  call omp_set_max_active_levels(1) ! from here on there is an OpenMP runtime
  right = .true.
  !$omp parallel do num_threads(2) schedule(runtime)
  do i = 1, n
    call work(i)
  end do

  call omp_set_schedule(omp_sched_static, 0)
  call omp_get_schedule(kind, chunk)
  right = right .and. kind == omp_sched_static
  !$omp parallel num_threads(2) reduction(.and.: right)
  !$omp do schedule(runtime)
  do i = 1, n
    by(i) = omp_get_thread_num()
    call work(i)
  end do
  !$omp end do nowait
  !$omp do schedule(runtime)
  do i = 1, n
    right = right .and. by(i) == omp_get_thread_num()
  end do
  !$omp end do
  !$omp end parallel
  right = right .and. all(by(:n / 2) == 0) .and. all(by(n / 2 + 1:) == 1)

  call omp_set_schedule(omp_sched_dynamic, 4)
  call omp_get_schedule(kind, chunk)
  right = right .and. kind == omp_sched_dynamic .and. chunk == 4
  !$omp parallel do num_threads(2) schedule(runtime)
  do i = 1, n
    call work(i)
  end do

  !$omp parallel num_threads(2)
  call omp_set_schedule(omp_sched_static, 0)
  !$omp do schedule(runtime)
  do i = 1, n
    call work(i)
  end do
  !$omp end do
  !$omp end parallel

  print '(a)', trim(merge('as asked', 'WRONG   ', right))
  if (.not. right) stop 1

contains

  subroutine work(i)
    integer, intent(in) :: i
    integer, volatile :: done
    integer :: j
    done = 0
    do j = 1, merge(2000, 0, i <= n / 2)
      done = done + 1
    end do
  end subroutine
end program
