! SPDX-License-Identifier: BSD-3-Clause
! Broadcasts and scatters from Fortran, by each of its ways of calling MPI: elements, array sections, MPI_BOTTOM,
! MPI_IN_PLACE, with and without ierror.
program broadcasts
#ifdef USE_MPI_F08
  use mpi_f08
#define OF(kind) type(kind)
#else
  use mpi
#define OF(kind) integer
#endif
  implicit none
  integer, parameter :: rounds = 30
  integer :: rank, ranks, root, i, j, error, wrong, all
  integer :: numbers(1000), strided(40)
  double precision :: scalar
  integer(kind=MPI_ADDRESS_KIND) :: place(1)
  OF(MPI_Datatype) :: absolute
  OF(MPI_Comm) :: reversed

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, reversed, error)
  wrong = 0
  do i = 1, rounds
    root = modulo(i, ranks)

    numbers = -1
    if (rank == root) numbers = [(i * j, j = 1, size(numbers))]
    call MPI_Bcast(numbers, size(numbers), MPI_INTEGER, root, MPI_COMM_WORLD, error)
    if (error /= MPI_SUCCESS .or. any(numbers /= [(i * j, j = 1, size(numbers))])) wrong = wrong + 1

    scalar = -1
    if (rank == ranks - 1 - root) scalar = i
    call MPI_Bcast(scalar, 1, MPI_DOUBLE_PRECISION, root, reversed, error)
    if (error /= MPI_SUCCESS .or. scalar /= i) wrong = wrong + 1

    strided = -1
    if (rank == root) strided = [(i + j, j = 1, size(strided))]
    call MPI_Bcast(strided(1:39:2), 20, MPI_INTEGER, root, MPI_COMM_WORLD, error)
    if (any(strided(1:39:2) /= [(i + j, j = 1, 39, 2)])) wrong = wrong + 1
    if (rank /= root .and. any(strided(2:40:2) /= -1)) wrong = wrong + 1

    numbers = -1
    if (rank == root) numbers(:10) = i
    call MPI_Get_address(numbers, place(1), error)
    call MPI_Type_create_hindexed(1, [10], place, MPI_INTEGER, absolute, error)
    call MPI_Type_commit(absolute, error)
    call MPI_Bcast(MPI_BOTTOM, 1, absolute, root, MPI_COMM_WORLD, error)
    call MPI_Type_free(absolute, error)
    call look(numbers, i)

    numbers = -1
    if (rank == root) numbers = [(i * j, j = 1, size(numbers))]
    strided = -1
    call MPI_Scatter(numbers, 20, MPI_INTEGER, strided, 20, MPI_INTEGER, root, MPI_COMM_WORLD, error)
    if (error /= MPI_SUCCESS .or. any(strided(:20) /= [(i * (20 * rank + j), j = 1, 20)])) wrong = wrong + 1
    strided = -1
    if (rank == root) then
      call MPI_Scatter(numbers, 20, MPI_INTEGER, MPI_IN_PLACE, 20, MPI_INTEGER, root, MPI_COMM_WORLD, error)
      if (any(numbers /= [(i * j, j = 1, size(numbers))]) .or. any(strided /= -1)) wrong = wrong + 1
    else
      call MPI_Scatter(numbers, 20, MPI_INTEGER, strided, 20, MPI_INTEGER, root, MPI_COMM_WORLD, error)
      if (any(strided(:20) /= [(i * (20 * rank + j), j = 1, 20)])) wrong = wrong + 1
    end if

#ifdef USE_MPI_F08
    numbers(1) = merge(i, -1, rank == root)
    call MPI_Bcast(numbers, 1, MPI_INTEGER, root, MPI_COMM_WORLD)
    if (numbers(1) /= i) wrong = wrong + 1
#endif
  end do
  call MPI_Allreduce(wrong, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (rank == 0) print '(a,i0,a,i0,a)', 'Fortran on ', ranks, ' ranks, ', all, ' wrong'
  call MPI_Comm_free(reversed, error)
  call MPI_Finalize(error)

contains

  ! The compiler does not know that a broadcast from MPI_BOTTOM has changed them.
  subroutine look(values, expected)
    integer, volatile, intent(inout) :: values(:)
    integer, intent(in) :: expected
    if (any(values(:10) /= expected) .or. any(values(11:) /= -1)) wrong = wrong + 1
  end subroutine
end program
