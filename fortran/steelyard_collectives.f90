! SPDX-License-Identifier: BSD-3-Clause
!> Steelyard's broadcast for Fortran 2018: the call that steelyard/collectives.h documents.
!!
!! The handles of mpi_f08 differ between MPI libraries, so this file is compiled with the program: name it before the
!! sources that use it, or write `include 'steelyard_collectives.f90'` at the head of one, before its first program
!! unit. Link `-lsteelyard`.
!!
!!     call steelyard_bcast(state, size(state), MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
module steelyard_collectives
  use mpi_f08, only: MPI_Datatype, MPI_Comm, MPI_Bcast
  implicit none
  private
  public :: steelyard_bcast

  interface
    ! The next MPI_Bcast of this thread counts as a call of steelyard_bcast.
    subroutine next_bcast() bind(c, name='steelyard_internal_next_bcast')
    end subroutine
  end interface

contains

  !> Broadcasts from one rank to all ranks of a communicator: MPI_Bcast, with the same arguments, results and errors.
  !!
  !! @param      buffer   data to be sent at the root, to be received elsewhere
  !! @param      count    elements of `datatype` in `buffer`
  !! @param      datatype type of the elements
  !! @param      root     rank that sends
  !! @param      comm     communicator
  !! @param[out] ierror   MPI_SUCCESS, or the error code of MPI
  !! @pre All ranks of the communicator call this subroutine, or all call MPI_Bcast.
  !! @note Collective over `comm`. Blocks as MPI_Bcast may. Threads as for MPI_Bcast.
  subroutine steelyard_bcast(buffer, count, datatype, root, comm, ierror)
    type(*), dimension(..) :: buffer
    integer, intent(in) :: count, root
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Comm), intent(in) :: comm
    integer, intent(out), optional :: ierror
    call next_bcast()
    call MPI_Bcast(buffer, count, datatype, root, comm, ierror)
  end subroutine

end module
