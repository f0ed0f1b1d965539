! SPDX-License-Identifier: BSD-3-Clause
! The loops of loops.cpp as a Fortran program has them. loops KERNEL STEPS [HOW] prints the seconds of all steps but the
! first 20, and a checksum that does not depend on which thread ran what. KERNEL: triangle, mandelbrot or sweep. HOW:
! guided, dynamic, or runtime, which is the default: OMP_SCHEDULE says how loops are divided.
program loops
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use omp_lib
  implicit none
  integer, parameter :: columns = 256, triangle = 1, mandelbrot = 2, sweep = 3
  character(len=20) :: kernel, word, how
  integer :: steps, step, rows, i, j
  real(real64), allocatable :: value(:), u(:, :), w(:, :)
  real(real64) :: start, shift

  if (command_argument_count() < 2 .or. command_argument_count() > 3) &
    error stop 'loops: call it as loops triangle|mandelbrot|sweep STEPS [runtime|guided|dynamic]'
  call get_command_argument(1, kernel)
  call get_command_argument(2, word)
  read (word, *) steps
  how = 'runtime'
  if (command_argument_count() == 3) call get_command_argument(3, how)
  rows = merge(2000, merge(400, 1024, kernel == 'mandelbrot'), kernel == 'triangle')
  allocate (value(rows), u(0:columns + 1, rows), w(0:columns + 1, rows))
  value = 0
  start = 0
  !$omp parallel do schedule(static)
  do i = 1, rows
    u(:, i) = [(mod(i + j, 1000), j = 0, columns + 1)]
    w(:, i) = u(:, i)
  end do
  do step = 1, steps + 20
    if (step == 21) start = omp_get_wtime()
    select case (kernel)
    case ('triangle')
      call divided(triangle)
    case ('mandelbrot')
      shift = merge(0, 1, step <= steps / 2)
      call divided(mandelbrot)
    case ('sweep')
      call divided(sweep)
      call swap(u, w)
    case default
      error stop 'loops: the kernel is triangle, mandelbrot or sweep'
    end select
  end do
  print '(a,f0.6)', 'seconds ', omp_get_wtime() - start
  print '(a,f0.6)', 'checksum ', sum(value) + sum(u)

contains
  ! A schedule that is not `runtime` stands in the source.
  subroutine divided(which)
    integer, intent(in) :: which
    integer :: i
    select case (how)
    case ('runtime')
      !$omp parallel do schedule(runtime)
      do i = 1, rows
        call row(which, i)
      end do
    case ('guided')
      !$omp parallel do schedule(guided)
      do i = 1, rows
        call row(which, i)
      end do
    case ('dynamic')
      !$omp parallel do schedule(dynamic)
      do i = 1, rows
        call row(which, i)
      end do
    case default
      error stop 'loops: it is divided by runtime, guided or dynamic'
    end select
  end subroutine

  subroutine row(which, i)
    integer, intent(in) :: which, i
    select case (which)
    case (triangle)
      call triangle_row(i)
    case (mandelbrot)
      call mandelbrot_row(i)
    case (sweep)
      call sweep_row(i)
    end select
  end subroutine

  subroutine triangle_row(i)
    integer, intent(in) :: i
    integer :: j
    real(real64) :: a
    a = 0
    do j = 0, i - 1
      a = a + 1 / (1 + real(j, real64))
    end do
    value(i) = a
  end subroutine

  subroutine mandelbrot_row(i)
    integer, intent(in) :: i
    integer :: column, n, total
    real(real64) :: x, y, a, b, next
    y = -1.6_real64 + shift + 2.2_real64 * (i - 1) / rows
    total = 0
    do column = 0, 119
      x = -2 + 2.5_real64 * column / 120
      a = 0
      b = 0
      n = 0
      do while (n < 200 .and. a * a + b * b < 4)
        next = a * a - b * b + x
        b = 2 * a * b + y
        a = next
        n = n + 1
      end do
      total = total + n
    end do
    value(i) = total
  end subroutine

  subroutine sweep_row(i)
    integer, intent(in) :: i
    integer :: j
    do j = 1, columns
      w(j, i) = (u(j - 1, i) + u(j, i) + u(j + 1, i)) / 3
    end do
  end subroutine

  subroutine swap(one, other)
    real(real64), allocatable, intent(inout) :: one(:, :), other(:, :)
    real(real64), allocatable :: kept(:, :)
    call move_alloc(one, kept)
    call move_alloc(other, one)
    call move_alloc(kept, other)
  end subroutine
end program
