! SPDX-License-Identifier: BSD-3-Clause
! One program for the three ways of calling MPI from Fortran: mpif.h, `use mpi` (-DUSE_MPI) and `use mpi_f08`
! (-DUSE_MPI_F08). It stops with an error where a result is wrong; how many calls must have been measured, from how many
! places, is said by those who run it. (PMPI_ names are of no use here: MPICH's lead to the C wrappers, too.)
#ifdef USE_MPI_F08
#define HANDLE(kind) type(kind)
#define STATUS(name) type(MPI_Status) :: name
#define STATUSES(name, n) type(MPI_Status) :: name(n)
#define SOURCE_OF(status) status%MPI_SOURCE
#define TAG_OF(status) status%MPI_TAG
#define SECOND_OF(statuses) statuses(2)
#else
#define HANDLE(kind) integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES(name, n) integer :: name(MPI_STATUS_SIZE, n)
#define SOURCE_OF(status) status(MPI_SOURCE)
#define TAG_OF(status) status(MPI_TAG)
#define SECOND_OF(statuses) statuses(:, 2)
#endif
program bindings_test
#if defined(USE_MPI_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#if !defined(USE_MPI_F08) && !defined(USE_MPI)
  include 'mpif.h'
#endif
  integer, parameter :: long = 20000
  integer :: rank, size, left, right, ierror, provided, i, index, finished
  integer :: indices(2)
  integer, allocatable :: counts(:), places(:), from(:), to(:)
  integer :: out(long), in(long), two(2)
  HANDLE(MPI_Comm) :: dup, half
  HANDLE(MPI_Request) :: requests(2)
  HANDLE(MPI_Message) :: matched
  HANDLE(MPI_Comm) :: ring
  HANDLE(MPI_Win) :: window, dynamic
  HANDLE(MPI_File) :: file
  integer(MPI_ADDRESS_KIND) :: bytes, base
  integer(MPI_OFFSET_KIND) :: place
  character(1000) :: name
  STATUS(status)
  STATUSES(statuses, 2)

#ifdef USE_MPI_F08
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)  ! without ierror
#else
  call MPI_Init(ierror)
#endif
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  left = modulo(rank - 1, size)
  right = modulo(rank + 1, size)
  allocate (counts(size), places(size), from(size), to(size))
  counts = 1
  places = [(i, i=0, size - 1)]
  from = rank

  ! Collectives: 17.
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  to = merge(7, 0, rank == 0)
  call MPI_Bcast(to, size, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  call expect('bcast', all(to == 7))
  call MPI_Reduce(from, to, size, MPI_INTEGER, MPI_SUM, size - 1, MPI_COMM_WORLD, ierror)
  call expect('reduce', rank /= size - 1 .or. all(to == size * (size - 1) / 2))
  to = rank
  call MPI_Allreduce(MPI_IN_PLACE, to, size, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierror)
  call expect('allreduce in place', all(to == size - 1))
  call MPI_Scan(1, to(1), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call expect('scan', to(1) == rank + 1)
  to(1) = 0
  call MPI_Exscan(1, to(1), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call expect('exscan', rank == 0 .or. to(1) == rank)
  call MPI_Gather(rank, 1, MPI_INTEGER, to, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  call expect('gather', rank /= 0 .or. all(to == places))
  call MPI_Gatherv(rank, 1, MPI_INTEGER, to, counts, places, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  call expect('gatherv', rank /= 0 .or. all(to == places))
  i = -1
  call MPI_Scatter(places, 1, MPI_INTEGER, i, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  call expect('scatter', i == rank)
  i = -1
  call MPI_Scatterv(places, counts, places, MPI_INTEGER, i, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  call expect('scatterv', i == rank)
  call MPI_Allgather(rank, 1, MPI_INTEGER, to, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  call expect('allgather', all(to == places))
  to = -1
  to(rank + 1) = rank
  call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INTEGER, to, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  call expect('allgatherv in place', all(to == places))
  call MPI_Alltoall(from, 1, MPI_INTEGER, to, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  call expect('alltoall', all(to == places))
  call MPI_Alltoallv(from, counts, places, MPI_INTEGER, to, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  call expect('alltoallv', all(to == places))
  call all_to_all_w
  call MPI_Reduce_scatter(places, i, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call expect('reduce_scatter', i == rank * size)
  call MPI_Reduce_scatter_block(places, i, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call expect('reduce_scatter_block', i == rank * size)

  ! One place called three times.
  do i = 1, 3
    call MPI_Allreduce(MPI_IN_PLACE, to, size, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD, ierror)
  end do

  ! Communicators: 3 calls and 2 collectives on them (the second on a communicator of one).
  call MPI_Comm_dup(MPI_COMM_WORLD, dup, ierror)
  call MPI_Barrier(dup, ierror)
  call MPI_Comm_split(dup, rank, 0, half, ierror)
  call MPI_Barrier(half, ierror)
  call MPI_Comm_free(dup, ierror)

  ! Messages: 10 calls.
  out = rank
  call MPI_Sendrecv(out, long, MPI_INTEGER, right, 1, in, long, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status, ierror)
  call expect('sendrecv', all(in == left) .and. SOURCE_OF(status) == left)
  in = rank
  call MPI_Sendrecv_replace(in, long, MPI_INTEGER, right, 2, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call expect('sendrecv_replace', all(in == left))
  call MPI_Isend(out, long, MPI_INTEGER, right, 3, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Recv(in, long, MPI_INTEGER, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, status, ierror)
  call expect('recv', all(in == left) .and. SOURCE_OF(status) == left)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
  call expect('wait', requests(1) == MPI_REQUEST_NULL)
  call MPI_Irecv(in, long, MPI_INTEGER, left, 4, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Send(out, long, MPI_INTEGER, right, 4, MPI_COMM_WORLD, ierror)
  call finish(requests(1))
  call MPI_Irecv(in(1), 1, MPI_INTEGER, left, 5, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Ssend(out(1), 1, MPI_INTEGER, right, 5, MPI_COMM_WORLD, ierror)
  call finish(requests(1))
  call expect('ssend', in(1) == left)
  call MPI_Isend(out(1), 1, MPI_INTEGER, right, 6, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Probe(left, 6, MPI_COMM_WORLD, status, ierror)
  call expect('probe', SOURCE_OF(status) == left)
  call MPI_Mprobe(left, 6, MPI_COMM_WORLD, matched, MPI_STATUS_IGNORE, ierror)
  call MPI_Mrecv(in(1), 1, MPI_INTEGER, matched, MPI_STATUS_IGNORE, ierror)
  call expect('mprobe', in(1) == left)
  call MPI_Recv(in(1), 1, MPI_INTEGER, MPI_PROC_NULL, 7, MPI_COMM_WORLD, status, ierror)  ! not measured
  call expect('recv from no rank', in(1) == left .and. SOURCE_OF(status) == MPI_PROC_NULL)
  call finish(requests(1))
  call wait_variants

  ! Neighbours: 3 calls.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.true.], .false., ring, ierror)
  call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, two, 1, MPI_INTEGER, ring, ierror)
  call expect('neighbor_allgather', all(two == [left, right]))
  two = -1
  call MPI_Neighbor_alltoallv([rank, rank], [1, 1], [0, 1], MPI_INTEGER, two, [1, 1], [0, 1], MPI_INTEGER, ring, ierror)
  call expect('neighbor_alltoallv', all(two == [left, right]))

  ! Windows: 13 calls.
  bytes = 8
  i = -1
  call MPI_Win_create(i, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, ierror)
  call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, dynamic, ierror)
  call MPI_Win_free(dynamic, ierror)
  call MPI_Win_fence(0, window, ierror)
  call MPI_Win_fence(0, window, ierror)
  call MPI_Win_free(window, ierror)
  call allocate_window
  call MPI_Win_lock_all(0, window, ierror)
  call MPI_Win_flush(right, window, ierror)
  call MPI_Win_flush_local(right, window, ierror)
  call MPI_Win_flush_local_all(window, ierror)
  call MPI_Win_unlock_all(window, ierror)
  call MPI_Win_free(window, ierror)

  ! Files: 4 calls, and 10 of file_requests.
  call get_command_argument(0, name)
  write (name, '(2a,i0,a)') trim(name), '.', size, '.data'
  call MPI_File_open(MPI_COMM_WORLD, name, ior(MPI_MODE_CREATE, ior(MPI_MODE_RDWR, MPI_MODE_DELETE_ON_CLOSE)), &
                     MPI_INFO_NULL, file, ierror)
  call expect('file_open', ierror == MPI_SUCCESS)
  place = 4 * rank
  i = rank + 50
  call MPI_File_write_at_all(file, place, i, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
  call MPI_File_read_all(file, i, 1, MPI_INTEGER, status, ierror)
  call expect('file_read_all', i == 50)
  call file_requests
  call MPI_File_close(file, ierror)

  ! Errors come back as the library's own.
#ifdef USE_MPI_F08
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
#else
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
#endif
  call MPI_Isend(out, 2, MPI_INTEGER, right, 8, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Recv(in, 1, MPI_INTEGER, left, 8, MPI_COMM_WORLD, status, ierror)
  call MPI_Error_class(ierror, i, provided)
  call expect('truncation', i == MPI_ERR_TRUNCATE)
  call finish(requests(1))
  call MPI_Bcast(i, 1, MPI_INTEGER, size, MPI_COMM_WORLD, ierror)
  call expect('a root that does not exist', ierror /= MPI_SUCCESS)

#ifdef USE_MPI_F08
  call MPI_Finalize()
#else
  call MPI_Finalize(ierror)
#endif

contains

  subroutine expect(what, holds)
    character(*), intent(in) :: what
    logical, intent(in) :: holds
    if (holds) return
    print '(2a)', 'wrong: ', what
    error stop 1
  end subroutine

  subroutine all_to_all_w
    HANDLE(MPI_Datatype) :: types(size)
    types = MPI_INTEGER
    call MPI_Alltoallw(from, counts, 4 * places, types, to, counts, 4 * places, types, MPI_COMM_WORLD, ierror)
    call expect('alltoallw', all(to == places))
  end subroutine

  subroutine allocate_window
#ifdef USE_MPI_F08
    use, intrinsic :: iso_c_binding, only: c_ptr, c_associated
    type(c_ptr) :: memory
    call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, memory, window)
    call expect('win_allocate', c_associated(memory))
#else
    call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, window, ierror)
    call expect('win_allocate', base /= 0)
#endif
  end subroutine

  ! 4 calls: Waitall twice, Waitany, Waitsome.
  subroutine wait_variants
    integer :: first
    logical :: done
    two = -1
    call start_two
    call MPI_Waitall(2, requests, statuses, ierror)
    call expect('waitall', all(two == [left, left + 1]))
    call start_two
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    ! What the library calls the first (0 in MPICH 4.0's mpi_f08, though it should be 1) is for it to say.
    call start_two
    done = .false.
    do while (.not. done)
      call MPI_Testany(2, requests, index, done, status, ierror)
    end do
    first = index - (TAG_OF(status) - 11)
    call finish(requests(12 - TAG_OF(status) + 1))
    call start_two
    call MPI_Waitany(2, requests, index, status, ierror)
    call expect('waitany', index - first == TAG_OF(status) - 11 .and. SOURCE_OF(status) == left)
    call expect('waitany finishes one', count([(requests(i) == MPI_REQUEST_NULL, i=1, 2)]) == 1)
    call MPI_Waitsome(2, requests, finished, indices, MPI_STATUSES_IGNORE, ierror)
    call expect('waitsome', finished == 1 .and. indices(1) + index == 2 * first + 1)
  end subroutine

  ! 10 calls from one place. In between, the MPI library alone completes such requests, which shows how long they take
  ! on this machine at present. If Steelyard delays the waits, each takes longer than the longest of the library's own,
  ! even on a busy machine. The margin is half the 50 ms by which look_for_completion() delays a request of a file.
  subroutine file_requests
    double precision, parameter :: margin = 0.025  ! s
    integer :: trial
    double precision :: before, shortest, longest_own
    shortest = huge(shortest)
    longest_own = 0
    do trial = 1, 10
      call start_writes
      before = MPI_Wtime()
      call finish(requests(1))
      call finish(requests(2))
      longest_own = max(longest_own, MPI_Wtime() - before)
      call start_writes
      before = MPI_Wtime()
      call MPI_Waitall(2, requests, statuses, ierror)
      shortest = min(shortest, MPI_Wtime() - before)
      call MPI_Get_count(SECOND_OF(statuses), MPI_INTEGER, index, ierror)
      call expect('file_requests', index == 1 .and. all([(requests(i) == MPI_REQUEST_NULL, i=1, 2)]))
    end do
    call expect('file_requests are not delayed', shortest < longest_own + margin)
  end subroutine

  subroutine start_writes
    two = [rank, rank + 1]
    place = 8 * rank
    call MPI_File_iwrite_at(file, place, two(1), 1, MPI_INTEGER, requests(1), ierror)
    call MPI_File_iwrite_at(file, place + 4, two(2), 1, MPI_INTEGER, requests(2), ierror)
  end subroutine

  ! Without a call that is measured.
  subroutine finish(request)
    HANDLE(MPI_Request), intent(inout) :: request
    logical :: done
    done = .false.
    do while (.not. done)
      call MPI_Test(request, done, MPI_STATUS_IGNORE, ierror)
    end do
  end subroutine

  subroutine start_two
    integer :: k
    do k = 1, 2
      call MPI_Irecv(two(k), 1, MPI_INTEGER, left, 10 + k, MPI_COMM_WORLD, requests(k), ierror)
    end do
    do k = 1, 2
      call MPI_Send(rank + k - 1, 1, MPI_INTEGER, right, 10 + k, MPI_COMM_WORLD, ierror)  ! short: not measured
    end do
  end subroutine
end program
