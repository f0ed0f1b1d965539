! SPDX-License-Identifier: BSD-3-Clause
! Named regions from Fortran: names with trailing blanks, with and without a status.
include 'steelyard_regions.f90'
program regions
  use mpi
  use steelyard
  use steelyard_regions
  implicit none
  character(len=20) :: name = 'solve'
  character(len=512) :: text
  integer :: status, error, i

  call MPI_Init(error)
  do i = 1, 3
    call steelyard_region_begin(name)
    call steelyard_region_begin('exchange', status)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call steelyard_region_end('solve', status)
    if (status == STEELYARD_ERROR_INVALID_STATE) then
      call steelyard_message(text)
      if (i == 1) print '(a)', trim(text)
    end if
    call steelyard_region_end('exchange')
    call steelyard_region_end('solve', status)
  end do
  print '(a, i0)', 'status ', status
  call steelyard_pause()
  call steelyard_resume(status)
  if (status /= STEELYARD_SUCCESS) error stop 'not resumed'
  call MPI_Finalize(error)
end program
