! Steelyard for Fortran 2018: interfaces of the functions that steelyard.h documents, and no code. Link with -lsteelyard.
! The names are those of C; what C returns comes as an argument, which may be left out where a default makes sense:
!
!     use steelyard
!     call steelyard_step()            ! at the end of each time step
module steelyard
  use, intrinsic :: iso_c_binding, only: c_bool, c_char, c_int
  implicit none
  private :: c_bool, c_char, c_int

  enum, bind(c)
    enumerator :: STEELYARD_SUCCESS = 0
    enumerator :: STEELYARD_INACTIVE = 1  ! nothing was done, and nothing needs to be: see steelyard_message()
    enumerator :: STEELYARD_ERROR = 2     ! the call was wrong: see steelyard_message()
  end enum

  interface

    ! The end of a phase of computing. By the primary thread, outside of parallel regions; not collective.
    subroutine steelyard_step(status) bind(c, name='steelyard_step_f')
      import :: c_int
      integer(c_int), intent(out), optional :: status
    end subroutine

    ! .true. where this process is being balanced now; otherwise steelyard_message() says why not. Any thread.
    function steelyard_active() bind(c, name='steelyard_active_f') result(active)
      import :: c_bool
      logical(c_bool) :: active
    end function

    ! The sentence of this thread's last call that was no success, padded with blanks or cut to `length` characters:
    !     character(len=200) :: text
    !     call steelyard_message(text, len(text))
    subroutine steelyard_message(text, length) bind(c, name='steelyard_message_f')
      import :: c_char, c_int
      integer(c_int), value :: length
      character(kind=c_char), intent(out) :: text(length)
    end subroutine

    ! The version of the library in use, in the same way. Any thread.
    subroutine steelyard_version(text, length) bind(c, name='steelyard_version_f')
      import :: c_char, c_int
      integer(c_int), value :: length
      character(kind=c_char), intent(out) :: text(length)
    end subroutine

    ! steelyard_step() under the name that the SABO paper gave it.
    subroutine omp_balanced() bind(c, name='omp_balanced')
    end subroutine

  end interface
end module
