! SPDX-License-Identifier: BSD-3-Clause
! As safe.c: gfortran's own queries have other names than a program's.
subroutine safe_array(a, n)
  integer, intent(in) :: n
  real(8), intent(inout) :: a(n)
  integer :: i
  !$omp parallel do
  do i = 1, n
    a(i) = 2 * a(i)
  end do
end subroutine safe_array

subroutine safe_matrix(a, b, c, n)
  integer, intent(in) :: n
  real(8), intent(in) :: a(n, n), b(n, n)
  real(8), intent(inout) :: c(n, n)
  integer :: i, j, k
  !$omp parallel do collapse(2) private(k)
  do j = 1, n
    do i = 1, n
      do k = 1, n
        c(i, j) = c(i, j) + a(i, k) * b(k, j)
      end do
    end do
  end do
end subroutine safe_matrix

subroutine safe_sum(a, n, s)
  integer, intent(in) :: n
  real(8), intent(in) :: a(n)
  real(8), intent(out) :: s
  integer :: i
  s = 0
  !$omp parallel do reduction(+:s)
  do i = 1, n
    s = s + sqrt(a(i))
  end do
end subroutine safe_sum

subroutine safe_assumed_shape(a)
  real(8), intent(inout) :: a(:, :)
  integer :: i, j
  !$omp parallel do private(i)
  do j = 2, size(a, 2) - 1
    do i = 1, size(a, 1)
      a(i, j) = a(i, j) + 0.5d0 * a(i, j) ** 2
    end do
  end do
end subroutine safe_assumed_shape

subroutine safe_workshare(a, b, n)
  integer, intent(in) :: n
  real(8), intent(inout) :: a(n), b(n)
  !$omp parallel workshare
  a = b + 1
  b = 2 * a
  !$omp end parallel workshare
end subroutine safe_workshare

subroutine safe_step_and_master(a, n, count)
  integer, intent(in) :: n
  integer, intent(inout) :: count
  real(8), intent(inout) :: a(n)
  integer :: i
  !$omp parallel
  !$omp do
  do i = n, 1, -2
    a(i) = a(i) + 1
  end do
  !$omp master
  count = count + 1
  !$omp end master
  !$omp barrier
  !$omp do
  do i = 1, n
    a(i) = a(i) * count
  end do
  !$omp end parallel
end subroutine safe_step_and_master

program main
end program main
