! SPDX-License-Identifier: BSD-3-Clause
!> Steelyard's cores for Fortran 2018: the calls of steelyard/cores.h, which documents them. Compile this file with the
!! program, after the module steelyard, which it needs. Link `-lsteelyard`.
!!
!!     call steelyard_cores_init(0)                ! before MPI_Init
!!     ...
!!     call steelyard_cores_acquire(64)
!!     call steelyard_cores_get(cpus, count)
!!
!! Each subroutine has an optional status at its end: STEELYARD_SUCCESS, or an error of the C function of the same name.
module steelyard_cores
  use, intrinsic :: iso_c_binding
  use steelyard
  implicit none
  private
  public :: steelyard_cores_init, steelyard_cores_movable, steelyard_cores_get, steelyard_cores_lend, &
    steelyard_cores_reclaim, steelyard_cores_acquire, steelyard_cores_release, steelyard_cores_on_change, &
    steelyard_cores_poll, steelyard_cores_callback

  abstract interface
    !> Is told the CPUs on which the program may run from now on: steelyard_cores_callback_t of cores.h.
    !!
    !! @param cpus  the kernel's numbers of CPUs
    !! @param count how many
    !! @param data  as given to steelyard_cores_on_change
    !! @note Called by steelyard_cores_poll, in the primary thread.
    subroutine steelyard_cores_callback(cpus, count, data) bind(c)
      import :: c_int, c_ptr
      integer(c_int), intent(in) :: cpus(*)
      integer(c_int), value :: count
      type(c_ptr), value :: data
    end subroutine
  end interface

  interface
    function c_init(cores) bind(c, name='steelyard_cores_init') result(status)
      import :: c_int
      integer(c_int), value :: cores
      integer(c_int) :: status
    end function
    function c_movable() bind(c, name='steelyard_cores_movable') result(movable)
      import :: c_int
      integer(c_int) :: movable
    end function
    function c_get(cpus, capacity, count) bind(c, name='steelyard_cores_get') result(status)
      import :: c_int
      integer(c_int), intent(inout) :: cpus(*)
      integer(c_int), value :: capacity
      integer(c_int), intent(out) :: count
      integer(c_int) :: status
    end function
    function c_lend(cores, lent) bind(c, name='steelyard_cores_lend') result(status)
      import :: c_int
      integer(c_int), value :: cores
      integer(c_int), intent(out) :: lent
      integer(c_int) :: status
    end function
    function c_reclaim(missing) bind(c, name='steelyard_cores_reclaim') result(status)
      import :: c_int
      integer(c_int), intent(out) :: missing
      integer(c_int) :: status
    end function
    function c_acquire(cores, acquired) bind(c, name='steelyard_cores_acquire') result(status)
      import :: c_int
      integer(c_int), value :: cores
      integer(c_int), intent(out) :: acquired
      integer(c_int) :: status
    end function
    function c_release() bind(c, name='steelyard_cores_release') result(status)
      import :: c_int
      integer(c_int) :: status
    end function
    function c_on_change(callback, data) bind(c, name='steelyard_cores_on_change') result(status)
      import :: c_int, c_ptr, c_funptr
      type(c_funptr), value :: callback
      type(c_ptr), value :: data
      integer(c_int) :: status
    end function
    function c_poll() bind(c, name='steelyard_cores_poll') result(status)
      import :: c_int
      integer(c_int) :: status
    end function
  end interface

contains

  subroutine give(result, status)
    integer(c_int), intent(in) :: result
    integer(c_int), intent(out), optional :: status
    if (present(status)) status = result
  end subroutine

  !> Says before MPI_Init how many threads this rank runs.
  !!
  !! @param      cores  threads of this rank; 0: one for each core of its affinity mask
  !! @param[out] status as the C function returns it
  !! @note Local. Does not block. The thread that calls MPI_Init, before that.
  subroutine steelyard_cores_init(cores, status)
    integer, intent(in) :: cores
    integer(c_int), intent(out), optional :: status
    call give(c_init(int(cores, c_int)), status)
  end subroutine

  !> Tells whether cores can move between this rank and the other ranks of its node now.
  !!
  !! @return .true. if they can; otherwise steelyard_message() says why not
  !! @note Local. Does not block. Primary thread only, outside parallel regions.
  function steelyard_cores_movable() result(movable)
    logical :: movable
    movable = c_movable() /= 0
  end function

  !> Returns the CPUs on which this rank may run threads now, one for each core, its own first.
  !!
  !! @param[out] cpus   the kernel's numbers of CPUs, as many as fit
  !! @param[out] count  how many CPUs there are, which may be more than `cpus` has room for
  !! @param[out] status as the C function returns it
  !! @note Local. Does not block. Primary thread only, outside parallel regions.
  subroutine steelyard_cores_get(cpus, count, status)
    integer(c_int), intent(inout) :: cpus(:)
    integer, intent(out) :: count
    integer(c_int), intent(out), optional :: status
    integer(c_int) :: found
    call give(c_get(cpus, size(cpus, kind=c_int), found), status)
    count = found
  end subroutine

  !> Lends cores of this rank to other ranks of the node, until steelyard_cores_reclaim.
  !!
  !! @param      cores  how many to lend
  !! @param[out] lent   how many were lent
  !! @param[out] status as the C function returns it
  !! @note Local. Does not block. Primary thread only, outside parallel regions.
  subroutine steelyard_cores_lend(cores, lent, status)
    integer, intent(in) :: cores
    integer, intent(out), optional :: lent
    integer(c_int), intent(out), optional :: status
    integer(c_int) :: count
    call give(c_lend(int(cores, c_int), count), status)
    if (present(lent)) lent = count
  end subroutine

  !> Takes back all cores of this rank that are lent.
  !!
  !! @param[out] missing how many cores of this rank others still use
  !! @param[out] status  as the C function returns it
  !! @note Local. Does not block. Primary thread only, outside parallel regions.
  subroutine steelyard_cores_reclaim(missing, status)
    integer, intent(out), optional :: missing
    integer(c_int), intent(out), optional :: status
    integer(c_int) :: count
    call give(c_reclaim(count), status)
    if (present(missing)) missing = count
  end subroutine

  !> Acquires cores of other ranks of the node.
  !!
  !! @param      cores    how many to acquire at most
  !! @param[out] acquired how many were acquired
  !! @param[out] status   as the C function returns it
  !! @note Local. Does not block. Primary thread only, outside parallel regions.
  subroutine steelyard_cores_acquire(cores, acquired, status)
    integer, intent(in) :: cores
    integer, intent(out), optional :: acquired
    integer(c_int), intent(out), optional :: status
    integer(c_int) :: count
    call give(c_acquire(int(cores, c_int), count), status)
    if (present(acquired)) acquired = count
  end subroutine

  !> Returns all cores that this rank has acquired.
  !!
  !! @param[out] status as the C function returns it
  !! @note Local. Does not block. Primary thread only, outside parallel regions.
  subroutine steelyard_cores_release(status)
    integer(c_int), intent(out), optional :: status
    call give(c_release(), status)
  end subroutine

  !> Sets the callback of steelyard_cores_poll.
  !!
  !! @param      callback the subroutine; absent: none, in place of an earlier one
  !! @param      data     what it is passed
  !! @param[out] status   as the C function returns it
  !! @note Local. Does not block. Primary thread only, outside parallel regions.
  subroutine steelyard_cores_on_change(callback, data, status)
    procedure(steelyard_cores_callback), optional :: callback
    type(c_ptr), intent(in), optional :: data
    integer(c_int), intent(out), optional :: status
    type(c_funptr) :: called
    type(c_ptr) :: passed
    called = c_null_funptr
    if (present(callback)) called = c_funloc(callback)
    passed = c_null_ptr
    if (present(data)) passed = data
    call give(c_on_change(called, passed), status)
  end subroutine

  !> A point at which the program can change its threads: calls the callback if its CPUs have changed, and returns the
  !! cores that their owners have asked for.
  !!
  !! @param[out] status as the C function returns it
  !! @note Local. Does not block. Primary thread only, outside parallel regions.
  subroutine steelyard_cores_poll(status)
    integer(c_int), intent(out), optional :: status
    call give(c_poll(), status)
  end subroutine

end module
