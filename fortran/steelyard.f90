! SPDX-License-Identifier: BSD-3-Clause
!> Steelyard for Fortran 2018: interfaces of the functions that steelyard.h documents, and no code. Link `-lsteelyard`.
!!
!!     use steelyard
!!     call steelyard_step()            ! at the end of each time step
!!
!! The names are those of C. A value that C returns is an argument here. A status comes last and may be left out. After
!! a status other than STEELYARD_SUCCESS, steelyard_message() returns the message. No call ends the program.
module steelyard
  use, intrinsic :: iso_c_binding, only: c_bool, c_int
  implicit none
  private :: c_bool, c_int

  !> The outcome of a call: steelyard_status_t documents each value.
  enum, bind(c)
    enumerator :: STEELYARD_SUCCESS = 0
    enumerator :: STEELYARD_INACTIVE = 1
    enumerator :: STEELYARD_ERROR_INVALID_ARGUMENT = 2
    enumerator :: STEELYARD_ERROR_INVALID_STATE = 3
    enumerator :: STEELYARD_ERROR_MISMATCH = 4
    enumerator :: STEELYARD_ERROR_PEER = 5
    enumerator :: STEELYARD_ERROR_UNSUPPORTED = 6
    enumerator :: STEELYARD_ERROR_OUT_OF_MEMORY = 7
    enumerator :: STEELYARD_ERROR_SYSTEM = 8
    enumerator :: STEELYARD_ERROR_MPI = 9
    enumerator :: STEELYARD_ERROR_TASK_FAILED = 10
    enumerator :: STEELYARD_ERROR_INTERNAL = 11
  end enum

  !> Version of this module; steelyard_version() returns the version of the library in use.
  integer(c_int), parameter :: STEELYARD_VERSION_MAJOR = 0, STEELYARD_VERSION_MINOR = 1, STEELYARD_VERSION_PATCH = 0

  interface

    !> Marks the end of a step (an iteration of the program's main loop). Needed only if the ranks of a node run
    !! different numbers of parallel regions or collectives in a step.
    !!
    !! @param[out] status STEELYARD_SUCCESS; STEELYARD_INACTIVE if this process is not being balanced;
    !!                    STEELYARD_ERROR_INVALID_STATE in another thread or inside a parallel region
    !! @pre MPI is initialised and not finalised. All ranks call this equally often.
    !! @note Local. Does not block. Primary thread only, outside parallel regions.
    subroutine steelyard_step(status) bind(c, name='steelyard_step_f')
      import :: c_int
      integer(c_int), intent(out), optional :: status
    end subroutine

    !> Tells whether this process is being balanced.
    !!
    !! @return .true. if this process is being balanced now; otherwise steelyard_message() says why not
    !! @note Local. Does not block. Any thread, at any time.
    function steelyard_active() bind(c, name='steelyard_active_f') result(active)
      import :: c_bool
      logical(c_bool) :: active
    end function

    !> Returns the message of the calling thread's last call that was not a success.
    !!
    !!     character(len=512) :: text
    !!     call steelyard_message(text)
    !!
    !! @param[out] text the message, padded with blanks, or cut to the length of `text`; blank before the first such
    !!                  call
    !! @note Local. Does not block. Any thread, at any time.
    subroutine steelyard_message(text)
      character(len=*), intent(out) :: text
    end subroutine

    !> Returns the name of a status, for logs.
    !!
    !! @param      status a status that a call has returned
    !! @param[out] text   such as 'STEELYARD_ERROR_MISMATCH'; padded with blanks, or cut to the length of `text`
    !! @note Local. Does not block. Any thread, at any time.
    subroutine steelyard_status_name(status, text)
      import :: c_int
      integer(c_int), intent(in) :: status
      character(len=*), intent(out) :: text
    end subroutine

    !> Returns the version of the library in use, such as '0.1.0'.
    !!
    !! @param[out] text the version; padded with blanks, or cut to the length of `text`
    !! @note Local. Does not block. Any thread, at any time.
    subroutine steelyard_version(text)
      character(len=*), intent(out) :: text
    end subroutine

    !> Returns the version of the library in use as one number.
    !!
    !! @return 10000 * major + 100 * minor + patch
    !! @note Local. Does not block. Any thread, at any time.
    function steelyard_version_number() bind(c, name='steelyard_version_number') result(number)
      import :: c_int
      integer(c_int) :: number
    end function

    !> steelyard_step() under the name that the SABO paper gave it.
    !!
    !! @note As steelyard_step().
    subroutine omp_balanced() bind(c, name='omp_balanced')
    end subroutine

  end interface
end module
