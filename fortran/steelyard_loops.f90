! Steelyard's loops for Fortran 2018: the calls of steelyard/loops.h, which documents them, and no code. Bounds are those of a
! do loop, the last belongs to it. Compile it with the program, after the module steelyard, which it needs; link -lsteelyard.
!
!     !$omp parallel private(mine, i)
!     call steelyard_loop_begin(mine, 1_int64, n)
!     do while (steelyard_loop_next(mine))
!       do i = mine%first, mine%last, mine%stride
!         y(i) = f(i)
!       end do
!     end do
!     call steelyard_loop_end(mine)
!     !$omp barrier
!     !$omp end parallel
module steelyard_loops
  use, intrinsic :: iso_c_binding
  use steelyard
  implicit none
  private
  public :: steelyard_loop_t, steelyard_iterations_t, steelyard_loop_create, steelyard_loop_free, steelyard_loop_tie, &
    steelyard_loop_begin, steelyard_loop_next, steelyard_loop_end, steelyard_loop_cancel

  type, bind(c) :: steelyard_loop_t
    type(c_ptr) :: handle = c_null_ptr
  end type

  type, bind(c) :: steelyard_iterations_t
    integer(c_int64_t) :: first, last, stride
    type(c_ptr), private :: seat, member
    integer(c_int64_t), private :: start, end, count, check
    integer(c_int), private :: inclusive
  end type

  interface
    ! `name` and `strategy` of so many characters; a strategy of length 0 is that of the options. `fraction` 0 and `chunk` 0,
    ! or none given, likewise.
    subroutine create(name, name_length, strategy, strategy_length, loop, fraction, chunk, status) &
        bind(c, name='steelyard_loop_create_f')
      import :: c_char, c_double, c_int, c_int64_t, steelyard_loop_t
      character(kind=c_char), intent(in) :: name(*), strategy(*)
      integer(c_int), value :: name_length, strategy_length
      type(steelyard_loop_t), intent(out) :: loop
      real(c_double), intent(in), optional :: fraction
      integer(c_int64_t), intent(in), optional :: chunk
      integer(c_int), intent(out), optional :: status
    end subroutine
    subroutine steelyard_loop_free(loop) bind(c, name='steelyard_loop_free_f')
      import :: steelyard_loop_t
      type(steelyard_loop_t), intent(inout) :: loop
    end subroutine
    subroutine steelyard_loop_tie(loop, other, status) bind(c, name='steelyard_loop_tie_f')
      import :: c_int, steelyard_loop_t
      type(steelyard_loop_t), intent(in) :: loop, other
      integer(c_int), intent(out), optional :: status
    end subroutine

    ! Without a loop: the one of this place in the program. That is why this is no wrapper.
    subroutine steelyard_loop_begin(mine, first, last, stride, loop, status) bind(c, name='steelyard_loop_begin_f')
      import :: c_int, c_int64_t, steelyard_iterations_t, steelyard_loop_t
      type(steelyard_iterations_t), intent(out) :: mine
      integer(c_int64_t), value :: first, last
      integer(c_int64_t), intent(in), optional :: stride
      type(steelyard_loop_t), intent(in), optional :: loop
      integer(c_int), intent(out), optional :: status
    end subroutine
    logical(c_bool) function steelyard_loop_next(mine) bind(c, name='steelyard_loop_next_f')
      import :: c_bool, steelyard_iterations_t
      type(steelyard_iterations_t), intent(inout) :: mine
    end function
    subroutine steelyard_loop_end(mine, status) bind(c, name='steelyard_loop_end_f')
      import :: c_int, steelyard_iterations_t
      type(steelyard_iterations_t), intent(inout) :: mine
      integer(c_int), intent(out), optional :: status
    end subroutine
    subroutine steelyard_loop_cancel(mine) bind(c, name='steelyard_loop_cancel')
      import :: steelyard_iterations_t
      type(steelyard_iterations_t), intent(inout) :: mine
    end subroutine
  end interface

contains

  subroutine steelyard_loop_create(name, loop, strategy, fraction, chunk, status)
    character(len=*), intent(in) :: name
    type(steelyard_loop_t), intent(out) :: loop
    character(len=*), intent(in), optional :: strategy
    real(c_double), intent(in), optional :: fraction
    integer(c_int64_t), intent(in), optional :: chunk
    integer(c_int), intent(out), optional :: status
    if (present(strategy)) then
      call create(name, len_trim(name), strategy, len_trim(strategy), loop, fraction, chunk, status)
    else
      call create(name, len_trim(name), '', 0, loop, fraction, chunk, status)
    end if
  end subroutine

end module
