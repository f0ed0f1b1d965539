! SPDX-License-Identifier: BSD-3-Clause
!> Steelyard's loops for Fortran 2018: the calls of steelyard/loops.h, which documents them. Bounds are those of a do
!! loop: the last iteration is included. Compile this file with the program, after the module steelyard, which it needs.
!! Link `-lsteelyard`.
!!
!!     !$omp parallel private(mine, i)
!!     call steelyard_loop_begin(mine, 1_int64, n)
!!     do while (steelyard_loop_next(mine))
!!       do i = mine%first, mine%last, mine%stride
!!         y(i) = f(i)
!!       end do
!!     end do
!!     call steelyard_loop_end(mine)
!!     !$omp barrier
!!     !$omp end parallel
module steelyard_loops
  use, intrinsic :: iso_c_binding
  use steelyard
  implicit none
  private
  public :: steelyard_loop_t, steelyard_iterations_t, steelyard_loop_state_t, steelyard_loop_create, &
    steelyard_loop_free, steelyard_loop_set_options, steelyard_loop_tie, steelyard_loop_begin, steelyard_loop_next, &
    steelyard_loop_end, steelyard_loop_cancel, steelyard_loop_get_state, steelyard_loops_save, steelyard_loops_load

  !> A loop of the program, with what was learnt about it. Needed only to name it, to choose its strategy or to tie it
  !! to another.
  type, bind(c) :: steelyard_loop_t
    type(c_ptr) :: handle = c_null_ptr
  end type

  !> One thread's execution of a loop, and the iterations that it is to run now: do i = first, last, stride. Must not be
  !! copied between steelyard_loop_begin() and steelyard_loop_end().
  type, bind(c) :: steelyard_iterations_t
    integer(c_int64_t) :: first, last, stride
    type(c_ptr), private :: seat, member
    integer(c_int64_t), private :: start, end, count, check
    integer(c_int), private :: inclusive, status
  end type

  !> How a loop is executed now.
  type :: steelyard_loop_state_t
    character(len=16) :: strategy = ''       !< the strategy in use; blank before the first execution
    logical :: settled = .false.             !< .true.: 'auto' has chosen; .false.: it still compares strategies
    integer(c_long) :: executions = 0        !< executions that were measured; of a short loop only some are
    real(c_double) :: seconds = 0            !< time of an execution, recent mean, in s
    real(c_double) :: stolen_fraction = 0    !< fraction of iterations that moved to another thread in the last one
  end type

  type, bind(c) :: c_state
    type(c_ptr) :: strategy
    integer(c_int) :: settled
    integer(c_long) :: executions
    real(c_double) :: seconds, stolen_fraction
  end type

  interface
    integer(c_int) function create(name, name_length, strategy, strategy_length, static_fraction, chunk_size, loop) &
        bind(c, name='steelyard_loop_create_f')
      import :: c_char, c_double, c_int, c_int64_t, steelyard_loop_t
      character(kind=c_char), intent(in) :: name(*), strategy(*)
      integer(c_int), value :: name_length, strategy_length
      real(c_double), intent(in), optional :: static_fraction
      integer(c_int64_t), intent(in), optional :: chunk_size
      type(steelyard_loop_t), intent(out) :: loop
    end function
    integer(c_int) function set_options(loop, strategy, strategy_length, static_fraction, chunk_size) &
        bind(c, name='steelyard_loop_set_options_f')
      import :: c_char, c_double, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: loop
      character(kind=c_char), intent(in) :: strategy(*)
      integer(c_int), value :: strategy_length
      real(c_double), intent(in), optional :: static_fraction
      integer(c_int64_t), intent(in), optional :: chunk_size
    end function
    integer(c_int) function get_state(loop, state) bind(c, name='steelyard_loop_get_state')
      import :: c_int, c_ptr, c_state
      type(c_ptr), value :: loop
      type(c_state), intent(out) :: state
    end function
    integer(c_int) function save(path, length) bind(c, name='steelyard_loops_save_f')
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: length
    end function
    integer(c_int) function load(path, length) bind(c, name='steelyard_loops_load_f')
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: length
    end function

    !> Frees a loop. What was learnt about it is kept under its name.
    !!
    !! @param loop the loop
    !! @pre No thread executes the loop.
    !! @note Local. Does not block. Any thread.
    subroutine steelyard_loop_free(loop) bind(c, name='steelyard_loop_free_f')
      import :: steelyard_loop_t
      type(steelyard_loop_t), intent(inout) :: loop
    end subroutine

    !> Ties two loops over the same data: both are divided alike, by the sum of their loads.
    !!
    !! @param      loop   a loop
    !! @param      other  the loop that it is tied to
    !! @param[out] status STEELYARD_SUCCESS; STEELYARD_ERROR_INVALID_ARGUMENT if a loop was not created
    !! @note Local. Does not block. Any thread, at any time.
    subroutine steelyard_loop_tie(loop, other, status) bind(c, name='steelyard_loop_tie_f')
      import :: c_int, steelyard_loop_t
      type(steelyard_loop_t), intent(in) :: loop, other
      integer(c_int), intent(out), optional :: status
    end subroutine

    ! The place of the call in the program is the name of a loop without a handle: so this is an interface, not a
    ! wrapper.
    !> Begins an execution of the loop do i = first, last, stride. Outside parallel regions the calling thread gets all
    !! iterations.
    !!
    !! @param[out] mine   the thread's execution
    !! @param      first  first iteration
    !! @param      last   bound of the iterations, included
    !! @param      stride distance between two iterations, not 0; 1 if left out
    !! @param      loop   the loop; if left out, the loop at this place of the program
    !! @param[out] status as for steelyard_loop_begin() in C
    !! @pre All threads of the region call it, in the same order of loops.
    !! @note Local. Returns at once, unless this thread is four loops ahead of another thread of its team. Any thread.
    subroutine steelyard_loop_begin(mine, first, last, stride, loop, status) bind(c, name='steelyard_loop_begin_f')
      import :: c_int, c_int64_t, steelyard_iterations_t, steelyard_loop_t
      type(steelyard_iterations_t), intent(out) :: mine
      integer(c_int64_t), value :: first, last
      integer(c_int64_t), intent(in), optional :: stride
      type(steelyard_loop_t), intent(in), optional :: loop
      integer(c_int), intent(out), optional :: status
    end subroutine

    !> Gets the next iterations of this thread.
    !!
    !! @param mine the thread's execution; first, last and stride are set
    !! @return .true.: there are iterations to run; .false.: none are left, or the call was wrong
    !! @pre Between steelyard_loop_begin() and steelyard_loop_end().
    !! @note Local. Does not block. The thread that has begun the execution.
    logical(c_bool) function steelyard_loop_next(mine) bind(c, name='steelyard_loop_next_f')
      import :: c_bool, steelyard_iterations_t
      type(steelyard_iterations_t), intent(inout) :: mine
    end function

    !> Ends an execution. There is no barrier: other threads may still run their iterations.
    !!
    !! @param      mine   the thread's execution
    !! @param[out] status STEELYARD_SUCCESS, or the error of steelyard_loop_begin(); STEELYARD_ERROR_INVALID_STATE if
    !!                    the execution was not begun
    !! @pre Called once after each steelyard_loop_begin().
    !! @note Local. Does not block. The thread that has begun the execution.
    subroutine steelyard_loop_end(mine, status) bind(c, name='steelyard_loop_end_f')
      import :: c_int, steelyard_iterations_t
      type(steelyard_iterations_t), intent(inout) :: mine
      integer(c_int), intent(out), optional :: status
    end subroutine

    !> Cancels an execution: no thread of the team gets further iterations of it.
    !!
    !! @param mine the thread's execution
    !! @pre Between steelyard_loop_begin() and steelyard_loop_end(), which must still be called.
    !! @note Local. Does not block. Any thread of the team.
    subroutine steelyard_loop_cancel(mine) bind(c, name='steelyard_loop_cancel')
      import :: steelyard_iterations_t
      type(steelyard_iterations_t), intent(inout) :: mine
    end subroutine
  end interface

contains

  subroutine give(outcome, status)
    integer(c_int), intent(in) :: outcome
    integer(c_int), intent(out), optional :: status
    if (present(status)) status = outcome
  end subroutine

  !> Creates a loop.
  !!
  !! @param      name            name under which the loop is found again in a later run
  !! @param[out] loop            the loop; freed with steelyard_loop_free()
  !! @param      strategy        a strategy of steelyard_loop_options_t; if left out, the option `loops`
  !! @param      static_fraction static part of the iterations, up to 1; if left out, the option `loops-static-percent`
  !! @param      chunk_size      iterations that a thread takes at a time, at least; if left out, the option
  !!                             `loops-chunk`
  !! @param[out] status          STEELYARD_SUCCESS; STEELYARD_ERROR_INVALID_ARGUMENT if an option is wrong
  !! @note Local. Does not block. Any thread, at any time.
  subroutine steelyard_loop_create(name, loop, strategy, static_fraction, chunk_size, status)
    character(len=*), intent(in) :: name
    type(steelyard_loop_t), intent(out) :: loop
    character(len=*), intent(in), optional :: strategy
    real(c_double), intent(in), optional :: static_fraction
    integer(c_int64_t), intent(in), optional :: chunk_size
    integer(c_int), intent(out), optional :: status
    if (present(strategy)) then
      call give(create(name, len_trim(name), strategy, len_trim(strategy), static_fraction, chunk_size, loop), status)
    else
      call give(create(name, len_trim(name), '', 0, static_fraction, chunk_size, loop), status)
    end if
  end subroutine

  !> Changes the options of a loop, from its next execution on.
  !!
  !! @param      loop            the loop
  !! @param      strategy        as for steelyard_loop_create()
  !! @param      static_fraction as for steelyard_loop_create()
  !! @param      chunk_size      as for steelyard_loop_create()
  !! @param[out] status          STEELYARD_SUCCESS; STEELYARD_ERROR_INVALID_ARGUMENT if an option is wrong
  !! @note Local. Does not block. Any thread, at any time.
  subroutine steelyard_loop_set_options(loop, strategy, static_fraction, chunk_size, status)
    type(steelyard_loop_t), intent(in) :: loop
    character(len=*), intent(in), optional :: strategy
    real(c_double), intent(in), optional :: static_fraction
    integer(c_int64_t), intent(in), optional :: chunk_size
    integer(c_int), intent(out), optional :: status
    if (present(strategy)) then
      call give(set_options(loop%handle, strategy, len_trim(strategy), static_fraction, chunk_size), status)
    else
      call give(set_options(loop%handle, '', 0, static_fraction, chunk_size), status)
    end if
  end subroutine

  !> Tells how a loop is executed.
  !!
  !! @param      loop   the loop
  !! @param[out] state  its state
  !! @param[out] status STEELYARD_SUCCESS; STEELYARD_ERROR_INVALID_ARGUMENT if the loop was not created
  !! @note Local. Does not block. Any thread, at any time.
  subroutine steelyard_loop_get_state(loop, state, status)
    type(steelyard_loop_t), intent(in) :: loop
    type(steelyard_loop_state_t), intent(out) :: state
    integer(c_int), intent(out), optional :: status
    type(c_state) :: found
    character(kind=c_char), pointer :: text(:)
    integer :: i
    call give(get_state(loop%handle, found), status)
    state%settled = found%settled /= 0
    state%executions = found%executions
    state%seconds = found%seconds
    state%stolen_fraction = found%stolen_fraction
    call c_f_pointer(found%strategy, text, [len(state%strategy)])
    do i = 1, len(state%strategy)
      if (text(i) == c_null_char) exit
      state%strategy(i:i) = text(i)
    end do
  end subroutine

  !> Writes what was learnt about all loops of this process to a file (JSON).
  !!
  !! @param      path   the file; each process of a run needs one of its own
  !! @param[out] status STEELYARD_SUCCESS; STEELYARD_ERROR_SYSTEM if the file cannot be written
  !! @note Local. Blocks while the file is written. Any thread, at any time.
  subroutine steelyard_loops_save(path, status)
    character(len=*), intent(in) :: path
    integer(c_int), intent(out), optional :: status
    call give(save(path, len_trim(path)), status)
  end subroutine

  !> Reads what an earlier run has learnt.
  !!
  !! @param      path   a file that steelyard_loops_save() or the option `loops-learn` has written
  !! @param[out] status STEELYARD_SUCCESS; STEELYARD_ERROR_SYSTEM if the file cannot be read;
  !!                    STEELYARD_ERROR_INVALID_ARGUMENT if it is no such file
  !! @note Local. Blocks while the file is read. Any thread, at any time.
  subroutine steelyard_loops_load(path, status)
    character(len=*), intent(in) :: path
    integer(c_int), intent(out), optional :: status
    call give(load(path, len_trim(path)), status)
  end subroutine

end module
