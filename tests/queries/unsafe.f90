! SPDX-License-Identifier: BSD-3-Clause
! As unsafe.c. The program's own queries are never proved; what follows them must not hide behind the compiler's.
subroutine unsafe_column(a, n, m)
  use omp_lib
  integer, intent(in) :: n, m
  real(8), intent(inout) :: a(n, 0:m)
  integer :: i
  !$omp parallel do
  do i = 1, n
    a(i, omp_get_thread_num()) = a(i, omp_get_thread_num()) + 1
  end do
end subroutine unsafe_column

subroutine unsafe_master(count)
  use omp_lib
  integer, intent(inout) :: count
  !$omp parallel
  if (omp_get_thread_num() == 0) count = count + 1
  !$omp end parallel
end subroutine unsafe_master

program main
end program main
