! SPDX-License-Identifier: BSD-3-Clause
! fuzz SEED OPERATIONS [--keep FROM-TO,...] [options that mean nothing here]
! Random collectives and messages through Fortran's bindings, and OpenMP loops between them, each with a check of its
! content. Numbers of an operation depend on the seed and on the operation only, so that any can be left out.
program fuzz
#ifdef USE_MPI_F08
  use mpi_f08
#else
  use mpi
#endif
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
#ifdef USE_MPI_F08
#define COMMUNICATOR type(MPI_Comm)
#define REQUEST_TYPE type(MPI_Request)
#define STATUS_DECLARED type(MPI_Status) :: status
#define SOURCE_OF_STATUS status%MPI_SOURCE
#else
#define COMMUNICATOR integer
#define REQUEST_TYPE integer
#define STATUS_DECLARED integer :: status(MPI_STATUS_SIZE)
#define SOURCE_OF_STATUS status(MPI_SOURCE)
#endif
  integer, parameter :: most = 20000
  integer(int64) :: seed, operations, operation, state, from(512), to(512)
  integer :: ranges, rank, size, error, differences, all_differences, executed
  integer, allocatable :: a(:), b(:), counts(:), places(:)
  real(real64), allocatable :: x(:), y(:)
  COMMUNICATOR :: comms(3)

  call read_arguments()
  call MPI_Init(error)
  comms(1) = MPI_COMM_WORLD
  call MPI_Comm_dup(MPI_COMM_WORLD, comms(2), error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, comms(3), error)
  allocate (a(16 * most), b(16 * most), x(most), y(most), counts(64), places(64))
  differences = 0
  executed = 0
  do operation = 0, operations - 1
    if (.not. is_kept(operation)) cycle
    executed = executed + 1
    state = seed * 1000003_int64 + operation * 7919_int64
    call play(comms(1 + roll(3)))
  end do
  call MPI_Reduce(differences, all_differences, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  if (rank == 0) print '(a,i0,a,i0,a)', 'fuzz: ', executed, ' operations, ', all_differences, ' differences'
  call MPI_Comm_free(comms(3), error)
  call MPI_Comm_free(comms(2), error)
  call MPI_Finalize(error)
  if (differences /= 0) stop 1

contains

  subroutine read_arguments()
    character(len=4096) :: word
    integer :: i, at, comma, dash
    call get_command_argument(1, word)
    read (word, *) seed
    call get_command_argument(2, word)
    read (word, *) operations
    ranges = 0
    do i = 3, command_argument_count() - 1
      call get_command_argument(i, word)
      if (word /= '--keep') cycle
      call get_command_argument(i + 1, word)
      at = 1
      do while (len_trim(word(at:)) > 0 .and. ranges < 512)
        comma = index(word(at:), ',')
        if (comma == 0) comma = len_trim(word(at:)) + 1
        dash = index(word(at:at + comma - 2), '-')
        ranges = ranges + 1
        read (word(at:at + dash - 2), *) from(ranges)
        read (word(at + dash:at + comma - 2), *) to(ranges)
        at = at + comma
      end do
    end do
  end subroutine

  logical function is_kept(number)
    integer(int64), intent(in) :: number
    is_kept = ranges == 0
    if (ranges > 0) is_kept = any(number >= from(1:ranges) .and. number <= to(1:ranges))
  end function

  ! The same at all ranks.
  integer function roll(below)
    integer, intent(in) :: below
    integer :: i
    do i = 1, 3
      state = iand(state * 1103515245_int64 + 12345_int64, 1125899906842623_int64)
    end do
    roll = int(mod(ishft(state, -16), int(below, int64)))
  end function

  integer function value(source, i)
    integer, intent(in) :: source, i
    value = int(mod(operation * 31 + source * 1009 + int(i, int64) * 17, 1000003_int64))
  end function

  subroutine expect(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    differences = differences + 1
    if (differences < 5) print '(a,i0,a,i0,2a)', 'differs: rank ', rank, ', operation ', operation, ', ', what
  end subroutine

  ! Loops of gfortran between the calls, longer on one rank than on others: each iteration must be run once.
  subroutine region(comm)
    COMMUNICATOR, intent(in) :: comm
    integer :: runs(300), count, heavy, i, k, total
    real(real64) :: spun
    count = 1 + roll(300)
    heavy = roll(size)
    runs = 0
    total = 0
    spun = 0
    !$omp parallel reduction(+:total)
    !$omp do schedule(static) reduction(+:spun)
    do i = count, 1, -1
      runs(i) = runs(i) + 1
      total = total + i
      if (rank == heavy) then
        do k = 1, 2000
          spun = spun + sqrt(real(k + i, real64))
        end do
      end if
    end do
    !$omp end do nowait
    !$omp do schedule(dynamic, 3)
    do i = 1, count
      total = total + 2 * i
    end do
    !$omp end parallel
    call expect(all(runs(1:count) == 1), 'iterations of a region')
    call expect(total == 3 * count * (count + 1) / 2, 'sum of a region')
    call expect((spun > 0) .eqv. (rank == heavy), 'work of a region')
    call MPI_Barrier(comm, error)
  end subroutine

  subroutine play(comm)
    COMMUNICATOR, intent(in) :: comm
    REQUEST_TYPE :: requests(2)
    STATUS_DECLARED
    integer :: root, count, i, r, kind, next, before, wanted
    integer, parameter :: lengths(8) = [0, 1, 2, 17, 240, 241, 1024, most]
    call MPI_Comm_rank(comm, rank, error)
    call MPI_Comm_size(comm, size, error)
    root = roll(size)
    count = lengths(1 + roll(8))
    if (count > 2000 .and. roll(8) > 0) count = 3
    if (size > 16) count = min(count, 100)
    kind = roll(13)
    a(1:count) = [(value(rank, i), i=1, count)]
    b(1:count * size + 1) = -7
    next = mod(rank + 1, size)
    before = mod(rank - 1 + size, size)
    select case (kind)
    case (0, 1)
      call MPI_Bcast(a, count, MPI_INTEGER, root, comm, error)
      call expect(all(a(1:count) == [(value(root, i), i=1, count)]), 'Bcast')
    case (2)
      x(1:count) = real(a(1:count), real64)
      call MPI_Allreduce(x, y, count, MPI_DOUBLE_PRECISION, MPI_SUM, comm, error)
      do i = 1, count
        wanted = sum([(value(r, i), r=0, size - 1)])
        if (nint(y(i)) /= wanted) exit
      end do
      call expect(i > count, 'Allreduce')
    case (3)
      if (rank == root) b(1:count * size) = [((value(r, i), i=1, count), r=0, size - 1)]
      call MPI_Scatter(b, count, MPI_INTEGER, a, count, MPI_INTEGER, root, comm, error)
      call expect(all(a(1:count) == [(value(rank, i), i=1, count)]), 'Scatter')
    case (4)
      call MPI_Gather(a, count, MPI_INTEGER, b, count, MPI_INTEGER, root, comm, error)
      if (rank == root) call expect(all(b(1:count * size) == [((value(r, i), i=1, count), r=0, size - 1)]), 'Gather')
      if (rank /= root) call expect(all(b(1:count) == -7), 'Gather elsewhere')
    case (5)
      call MPI_Allgather(a, count, MPI_INTEGER, b, count, MPI_INTEGER, comm, error)
      call expect(all(b(1:count * size) == [((value(r, i), i=1, count), r=0, size - 1)]), 'Allgather')
    case (6)
      counts(1:size) = [(mod(count + r, 5), r=0, size - 1)]
      places(1) = 0
      do r = 2, size
        places(r) = places(r - 1) + counts(r - 1)
      end do
      a(1:5) = [(value(rank, i), i=1, 5)]
      b(1:5 * size) = -7
      call MPI_Allgatherv(a, counts(rank + 1), MPI_INTEGER, b, counts, places, MPI_INTEGER, comm, error)
      do r = 0, size - 1
        call expect(all(b(places(r + 1) + 1:places(r + 1) + counts(r + 1)) == [(value(r, i), i=1, counts(r + 1))]), &
          'Allgatherv')
      end do
    case (7)
      call MPI_Ibcast(a, count, MPI_INTEGER, root, comm, requests(1), error)
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
      call expect(all(a(1:count) == [(value(root, i), i=1, count)]), 'Ibcast')
    case (8)
      call MPI_Irecv(b, count, MPI_INTEGER, before, 5, comm, requests(1), error)
      call MPI_Isend(a, count, MPI_INTEGER, next, 5, comm, requests(2), error)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
      call expect(all(b(1:count) == [(value(before, i), i=1, count)]), 'Irecv')
    case (9)
      call MPI_Sendrecv(a, count, MPI_INTEGER, next, 6, b, count, MPI_INTEGER, before, MPI_ANY_TAG, comm, status, error)
      call expect(SOURCE_OF_STATUS == before, 'source of Sendrecv')
      call expect(all(b(1:count) == [(value(before, i), i=1, count)]), 'Sendrecv')
    case (10)
      if (size > 1 .and. rank == root) then
        call MPI_Ssend(a, count, MPI_INTEGER, next, 7, comm, error)
      else if (size > 1 .and. before == root) then
        call MPI_Probe(MPI_ANY_SOURCE, 7, comm, status, error)
        call MPI_Recv(b, count, MPI_INTEGER, SOURCE_OF_STATUS, 7, comm, status, error)
        call expect(all(b(1:count) == [(value(before, i), i=1, count)]), 'Recv')
      end if
    case (11)
      call region(comm)
    case default
      call MPI_Scan(a, b, count, MPI_INTEGER, MPI_MAX, comm, error)
      do i = 1, count
        wanted = maxval([(value(r, i), r=0, rank)])
        if (b(i) /= wanted) exit
      end do
      call expect(i > count, 'Scan')
    end select
  end subroutine
end program
