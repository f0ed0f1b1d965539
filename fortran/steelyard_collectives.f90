! Steelyard's broadcast for Fortran 2018: the call that steelyard/collectives.h documents, with the arguments of MPI_Bcast.
!
! Handles of mpi_f08 differ from MPI to MPI, so this file is compiled with the program: name it before the sources that use
! it, or `include 'steelyard_collectives.f90'` at the head of one, before its first program unit. Link with -lsteelyard.
!
!     call steelyard_bcast(state, size(state), MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
module steelyard_collectives
  use mpi_f08, only: MPI_Datatype, MPI_Comm, MPI_Bcast
  implicit none
  private
  public :: steelyard_bcast

  interface
    ! This thread's next MPI_Bcast is one that was asked for by name.
    subroutine next_bcast() bind(c, name='steelyard_internal_next_bcast')
    end subroutine
  end interface

contains

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
