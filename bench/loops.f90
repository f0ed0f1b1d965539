! The loops of loops.cpp as a Fortran program has them. loops KERNEL STEPS prints the seconds of all steps but the first 20, and a
! checksum that does not depend on who ran what. KERNEL: triangle, mandelbrot or sweep; OMP_SCHEDULE says how they are divided.
program loops
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use omp_lib
  implicit none
  integer, parameter :: columns = 256
  character(len=20) :: kernel, word
  integer :: steps, step, rows, i, j, n, total, column
  real(real64), allocatable :: value(:), u(:, :), w(:, :)
  real(real64) :: start, shift, y, x, a, b, next

  if (command_argument_count() /= 2) error stop 'loops: call it as loops triangle|mandelbrot|sweep STEPS'
  call get_command_argument(1, kernel)
  call get_command_argument(2, word)
  read (word, *) steps
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
      !$omp parallel do schedule(runtime) private(a, j)
      do i = 1, rows
        a = 0
        do j = 0, i - 1
          a = a + 1 / (1 + real(j, real64))
        end do
        value(i) = a
      end do
    case ('mandelbrot')
      shift = merge(0, 1, step <= steps / 2)
      !$omp parallel do schedule(runtime) private(x, y, a, b, next, n, total, column)
      do i = 1, rows
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
      end do
    case ('sweep')
      !$omp parallel do schedule(runtime) private(j)
      do i = 1, rows
        do j = 1, columns
          w(j, i) = (u(j - 1, i) + u(j, i) + u(j + 1, i)) / 3
        end do
      end do
      call swap(u, w)
    case default
      error stop 'loops: the kernel is triangle, mandelbrot or sweep'
    end select
  end do
  print '(a,f0.6)', 'seconds ', omp_get_wtime() - start
  print '(a,f0.6)', 'checksum ', sum(value) + sum(u)

contains
  subroutine swap(one, other)
    real(real64), allocatable, intent(inout) :: one(:, :), other(:, :)
    real(real64), allocatable :: kept(:, :)
    call move_alloc(one, kept)
    call move_alloc(other, one)
    call move_alloc(kept, other)
  end subroutine
end program
