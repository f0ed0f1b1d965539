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

! gfortran divides in each branch, and goes on with the quotient and the remainder of the one that was taken (TeaLeaf's
! cheby_iterate).
subroutine safe_after_either_loop(from, to, kind, scale, step, a, b, x, y, z)
  integer, intent(in) :: from, to, kind, step
  real(8), intent(in) :: scale(step)
  real(8), dimension(from - 2:to + 2, from - 2:to + 2), intent(inout) :: a, b, x, y, z
  integer :: i, j
  !$omp parallel
  !$omp do
  do j = from, to
    do i = from, to
      a(i, j) = (1 + y(i, j + 1) + y(i, j) + z(i + 1, j) + z(i, j)) * x(i, j) - y(i, j) * x(i, j - 1)
      b(i, j) = x(i, j) - a(i, j)
    end do
  end do
  if (kind /= 1) then
    if (kind == 2) call safe_matrix(a, x, y, step)
    !$omp do
    do j = from, to
      do i = from, to
        z(i, j) = scale(step) * z(i, j) + scale(1) * y(i, j)
      end do
    end do
    !$omp end do nowait
  else
    !$omp do
    do j = from, to
      do i = from, to
        z(i, j) = scale(step) * z(i, j) + scale(1) * b(i, j)
      end do
    end do
    !$omp end do nowait
  end if
  !$omp do
  do j = from, to
    do i = from, to
      x(i, j) = x(i, j) + z(i, j)
    end do
  end do
  !$omp end do nowait
  !$omp end parallel
end subroutine safe_after_either_loop

! Private variables are passed by their addresses while gcc keeps parts of the division on the stack.
subroutine safe_passes_addresses(a, b, exponents, n, m)
  use, intrinsic :: iso_c_binding, only: c_double, c_int
  implicit none
  interface
    real(c_double) function frexp(x, exponent) bind(c)
      import :: c_double, c_int
      real(c_double), value :: x
      integer(c_int), intent(out) :: exponent
    end function
  end interface
  integer, intent(in) :: n, m
  real(c_double), intent(inout) :: a(n, m), b(n, m)
  integer, intent(out) :: exponents(n, m)
  integer(c_int) :: exponent, several(8)
  integer :: i, j
  !$omp parallel private(exponent, several)
  !$omp do collapse(2)
  do j = 1, m
    do i = 2, n
      a(i, j) = frexp(a(i - 1, j), exponent)
      exponents(i, j) = exponent
    end do
  end do
  !$omp do
  do j = 1, m
    several = 0
    do i = 1, n
      b(i, j) = frexp(b(i, j), several(mod(i, 8) + 1))
    end do
    exponents(1, j) = sum(several)
  end do
  !$omp do
  do j = 1, m
    b(1, j) = frexp(a(1, j), exponent) * exponent
  end do
  !$omp end parallel
end subroutine safe_passes_addresses

subroutine safe_select(a, b, kinds, n)
  integer, intent(in) :: n, kinds(n)
  real(8), intent(inout) :: a(n), b(n)
  integer :: i
  !$omp parallel
  !$omp do
  do i = 1, n
    select case (kinds(i))
    case (1)
      a(i) = 2 * b(i)
    case (2, 9)
      a(i) = sqrt(b(i))
    case (3)
      a(i) = exp(b(i))
    case (4:5)
      a(i) = sin(b(i))
    case (6)
      a(i) = b(i)**3
    case (7)
      a(i) = b(i) - 1
    case default
      a(i) = 0
    end select
  end do
  !$omp do
  do i = 1, n
    b(i) = a(i) + b(i)
  end do
  !$omp end parallel
end subroutine safe_select

program main
end program main
