! SPDX-License-Identifier: BSD-3-Clause
!> Named regions for Fortran 2018: the calls of steelyard/regions.h, which documents them. Compile this file with the
!! program, after the module steelyard, which it needs. Link `-lsteelyard`.
!!
!!     call steelyard_region_begin('solve')
!!     call solve()
!!     call steelyard_region_end('solve')
module steelyard_regions
  use, intrinsic :: iso_c_binding
  use steelyard
  implicit none
  private
  public :: steelyard_region_begin, steelyard_region_end, steelyard_pause, steelyard_resume

  interface
    integer(c_int) function region_begin(name, length) bind(c, name='steelyard_region_begin_f')
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: length
    end function
    integer(c_int) function region_end(name, length) bind(c, name='steelyard_region_end_f')
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: length
    end function

    !> Pauses the measurement: until steelyard_resume(), nothing that this process does is in a figure.
    !!
    !! @param[out] status STEELYARD_SUCCESS; STEELYARD_INACTIVE without `steelyard run`; an error as in C
    !! @note Local. Does not block. Primary thread only, outside parallel regions.
    subroutine steelyard_pause(status) bind(c, name='steelyard_pause_f')
      import :: c_int
      integer(c_int), intent(out), optional :: status
    end subroutine

    !> Resumes the measurement.
    !!
    !! @param[out] status STEELYARD_SUCCESS; STEELYARD_INACTIVE without `steelyard run`; an error as in C
    !! @note Local. Does not block. Primary thread only, outside parallel regions.
    subroutine steelyard_resume(status) bind(c, name='steelyard_resume_f')
      import :: c_int
      integer(c_int), intent(out), optional :: status
    end subroutine
  end interface

contains

  !> Begins a region. Regions may be nested: a region that was begun inside another one ends before it.
  !!
  !! @param      name   name of the region, 1 to 255 characters without trailing blanks
  !! @param[out] status STEELYARD_SUCCESS; STEELYARD_INACTIVE without `steelyard run`; an error as in C
  !! @note Local. Does not block. Primary thread only, outside parallel regions.
  subroutine steelyard_region_begin(name, status)
    character(len=*), intent(in) :: name
    integer(c_int), intent(out), optional :: status
    integer(c_int) :: outcome
    outcome = region_begin(name, len_trim(name))
    if (present(status)) status = outcome
  end subroutine

  !> Ends the innermost open region. MPI_Finalize ends all regions that are open.
  !!
  !! @param      name   its name
  !! @param[out] status STEELYARD_SUCCESS; STEELYARD_INACTIVE without `steelyard run`; an error as in C
  !! @note Local. Does not block. Primary thread only, outside parallel regions.
  subroutine steelyard_region_end(name, status)
    character(len=*), intent(in) :: name
    integer(c_int), intent(out), optional :: status
    integer(c_int) :: outcome
    outcome = region_end(name, len_trim(name))
    if (present(status)) status = outcome
  end subroutine

end module
