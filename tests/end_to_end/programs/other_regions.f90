! SPDX-License-Identifier: BSD-3-Clause
! Nested regions of Fortran: as `nested` in other_regions.c. Prints the thread time, in ns, that was computed in them.
program other_regions
  use, intrinsic :: iso_c_binding, only: c_int
  use omp_lib
  use mpi
  implicit none
  interface
    integer(c_int) function usleep(microseconds) bind(c, name="usleep")
      import :: c_int
      integer(c_int), value :: microseconds
    end function usleep
  end interface
  integer, parameter :: regions = 6
  integer :: i, error
  double precision :: computed
  computed = 0
  call MPI_Init(error)
  call omp_set_max_active_levels(2)
  do i = 1, regions
    !$omp parallel num_threads(2)
    call inner()
    !$omp end parallel
  end do
  print '(a, i0)', "computed 0 ", nint(computed * 1d9, kind=8)
  call MPI_Finalize(error)
contains
  subroutine inner()
    double precision :: begin, spent
    integer(c_int) :: ignored
    !$omp parallel num_threads(2) private(begin, spent, ignored)
    begin = omp_get_wtime()
    ignored = usleep(3000_c_int * (1 + 2 * omp_get_thread_num()))
    spent = omp_get_wtime() - begin
    !$omp atomic
    computed = computed + spent
    !$omp end parallel
  end subroutine inner
end program other_regions
