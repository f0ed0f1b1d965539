! SPDX-License-Identifier: BSD-3-Clause
!> Steelyard's tasks for Fortran 2018: the calls and types that steelyard/tasks.h documents, under the same names.
!! Ranks, types and owners count from 0, as there.
!!
!! The handles of mpi_f08 differ between MPI libraries, so this file is compiled with the program: name it before the
!! sources that use it, or write `include 'steelyard_tasks.f90'` at the head of one, before its first program unit. It
!! needs the module steelyard. Link `-lsteelyard`.
!!
!!     types(1) = steelyard_task_type_t('integrate', c_funloc(integrate))
!!     call steelyard_task_pool_create(MPI_COMM_WORLD, types, pool)
!!     do i = 1, cells
!!       call steelyard_task_pool_spawn(pool, 0, i, c_loc(cell(i)), c_sizeof(cell(i)))
!!     end do
!!     call steelyard_task_pool_run(pool, keep)
!!
!! where the two procedures are as in C:
!!
!!     integer(c_int) function integrate(task, context) bind(c)
!!       type(steelyard_task_t), intent(inout) :: task
!!       type(c_ptr), value :: context
!!     subroutine keep(result, user) bind(c)
!!       type(steelyard_task_result_t), intent(in) :: result
!!       type(c_ptr), value :: user
!!
!! Each call has an optional status at its end: STEELYARD_SUCCESS, or an error of the C function of the same name.
module steelyard_tasks
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use steelyard
  implicit none
  private
  public :: steelyard_task_pool_t, steelyard_task_t, steelyard_task_type_t, steelyard_task_pool_options_t, &
    steelyard_task_result_t, steelyard_task_pool_statistics_t, steelyard_task_consumer, steelyard_task_pool_create, &
    steelyard_task_pool_free, steelyard_task_pool_spawn, steelyard_task_pool_run, steelyard_task_pool_help, &
    steelyard_task_pool_get_statistics, steelyard_task_set_result, steelyard_task_fail, steelyard_task_spawn, &
    steelyard_task_yield
  !> Bytes that the data of a task may have, and those of its result.
  integer(c_size_t), parameter, public :: STEELYARD_TASK_MAX_SIZE = 2_c_size_t**30

  !> A pool: the tasks of all processes of a communicator.
  type, bind(c) :: steelyard_task_pool_t
    type(c_ptr) :: handle = c_null_ptr
  end type
  !> A task while it runs: steelyard_task_t of tasks.h documents the members. Void when the task's function has
  !! returned.
  type, bind(c) :: steelyard_task_t
    type(c_ptr) :: data
    integer(c_size_t) :: size
    integer(c_int64_t) :: tag
    integer(c_int) :: owner, type
    type(c_ptr), private :: internal
  end type
  !> The result of a task of this process. Void when the consumer has returned. status: STEELYARD_SUCCESS, or
  !! STEELYARD_ERROR_TASK_FAILED; then `message` points to the text, and otherwise it is c_null_ptr.
  type, bind(c) :: steelyard_task_result_t
    integer(c_int64_t) :: tag
    integer(c_int) :: type, status
    type(c_ptr) :: data
    integer(c_size_t) :: size
    type(c_ptr) :: message
  end type
  !> What this process has done since the pool was created: steelyard_task_pool_statistics_t of tasks.h documents the
  !! members.
  type, bind(c) :: steelyard_task_pool_statistics_t
    integer(c_int64_t) :: spawned, executed, stolen_local, stolen_remote, results_sent, hops, messages
    integer(c_int) :: connections, degree
    integer(c_int64_t) :: runs, termination_rounds
    real(c_double) :: busy_seconds, run_seconds
    integer(c_int) :: threads
  end type
  !> A type of tasks: a name that is the same on all ranks, what its tasks do, whether they deliver results, and the
  !! context that the function gets.
  type :: steelyard_task_type_t
    character(len=60) :: name
    type(c_funptr) :: function
    logical :: has_result = .true.
    type(c_ptr) :: context = c_null_ptr
  end type
  !> Options of a pool: steelyard_task_pool_options_t of tasks.h documents the members.
  type :: steelyard_task_pool_options_t
    integer :: threads = 1
    character(len=20) :: policy = ''
    real(c_double) :: steal_fraction = 0
    integer :: degree = 0, ranks_per_node = 0
  end type

  type, bind(c) :: c_options
    integer(c_int) :: threads
    type(c_ptr) :: policy
    real(c_double) :: steal_fraction
    integer(c_int) :: degree, ranks_per_node
  end type
  type, bind(c) :: c_type
    type(c_ptr) :: name
    type(c_funptr) :: function
    type(c_ptr) :: context
    integer(c_int) :: has_result
  end type
  ! steelyard_task_transport_t.
  type, bind(c) :: transport_type
    type(c_ptr) :: self
    integer(c_int) :: rank, size, node_rank, node_size, ranks_per_node
    type(c_ptr) :: nodes
    integer(c_int) :: status
    type(c_ptr) :: message
    type(c_funptr) :: broadcast, all_agree, send, sent, arrived, receive, pause, clock, open, close
  end type

  abstract interface
    !> Takes a result, in the thread that runs the pool.
    !!
    !! @param result the result
    !! @param user   as passed to steelyard_task_pool_run()
    subroutine steelyard_task_consumer(result, user) bind(c)
      import :: steelyard_task_result_t, c_ptr
      type(steelyard_task_result_t), intent(in) :: result
      type(c_ptr), value :: user
    end subroutine
  end interface

  integer, parameter :: slots = 64
  type :: mpi_transport
    type(MPI_Comm) :: all, here
    type(MPI_Message) :: message
    type(MPI_Request) :: sends(slots)
    integer(c_int), allocatable :: nodes(:)
  end type

  interface
    include 'steelyard_tasks_c.inc'

    !> Serves requests of other nodes. To be called every few milliseconds by tasks that take longer.
    !!
    !! @param task the task that runs; ignored if it has ended
    !! @note Local. Does not block. The thread that runs the task, in its function.
    subroutine steelyard_task_yield(task) bind(c, name='steelyard_task_yield')
      import :: steelyard_task_t
      type(steelyard_task_t), intent(inout) :: task
    end subroutine
  end interface

contains

  include 'steelyard_mpi.inc'
  include 'steelyard_tasks_mpi.inc'

  !> Creates a pool.
  !!
  !! @param      communicator an intra-communicator; duplicated
  !! @param      types        types of the tasks, the same on all ranks in the same order
  !! @param[out] pool         the pool; freed with steelyard_task_pool_free()
  !! @param      options      options, the same on all ranks, except for `threads`
  !! @param[out] status       as for steelyard_task_pool_create() in C
  !! @pre MPI is initialised and not finalised.
  !! @note Collective over `communicator`. Blocks until all its ranks have made the call. The thread becomes the pool's
  !!       primary thread.
  subroutine steelyard_task_pool_create(communicator, types, pool, options, status)
    type(MPI_Comm), intent(in) :: communicator
    type(steelyard_task_type_t), intent(in) :: types(:)
    type(steelyard_task_pool_t), intent(out) :: pool
    type(steelyard_task_pool_options_t), intent(in), optional :: options
    integer(c_int), intent(out), optional :: status
    type(steelyard_task_pool_options_t) :: chosen
    character(len=61), allocatable, target :: names(:)
    character(len=21), target :: policy
    character(kind=c_char, len=MPI_MAX_ERROR_STRING + 64), target :: message
    type(c_type) :: passed(size(types))
    type(mpi_transport), pointer :: self
    type(transport_type) :: transport
    integer :: i, level, failed

    if (present(options)) chosen = options
    allocate (names(size(types)))
    do i = 1, size(types)
      names(i) = trim(types(i)%name)//c_null_char
      passed(i) = c_type(c_loc(names(i)), types(i)%function, types(i)%context, merge(1, 0, types(i)%has_result))
    end do
    policy = trim(chosen%policy)//c_null_char
    if (len_trim(chosen%policy) == 0) policy = 'small-world'//c_null_char

    transport = transport_type(c_null_ptr, 0, 1, 0, 1, 1, c_null_ptr, usable(communicator, message), c_loc(message), &
      c_funloc(broadcast), c_funloc(all_agree), c_funloc(send), c_funloc(sent), c_funloc(arrived), c_funloc(receive), &
      c_null_funptr, c_null_funptr, c_funloc(is_open), c_funloc(close_transport))
    if (transport%status == STEELYARD_SUCCESS) then
      allocate (self, stat=failed)
      if (failed /= 0) nullify (self)
      transport%status = join(communicator, chosen%threads, self, message)
      if (transport%status == STEELYARD_SUCCESS) then
        call watch_finalize()
        call MPI_Comm_rank(self%all, transport%rank)
        call MPI_Comm_size(self%all, transport%size)
        transport%status = places(self, chosen%ranks_per_node, transport, message)
        if (transport%status == STEELYARD_SUCCESS) then
          transport%self = c_loc(self)
        else
          call close_transport(c_loc(self), 1)
        end if
      else if (associated(self)) then
        deallocate (self)
      end if
    end if
    call give(create_with_transport(transport, passed, size(types), &
      c_options(chosen%threads, c_loc(policy), chosen%steal_fraction, chosen%degree, chosen%ranks_per_node), pool), &
      status)
    if (.not. c_associated(pool%handle)) return
    call callbacks(pool%handle, c_null_funptr, c_funloc(world_rank))
    call MPI_Query_thread(level)
    if (level == MPI_THREAD_MULTIPLE) call use_threads(pool%handle)
  end subroutine

  !> Frees a pool. Tasks that were spawned after the last run are executed, and their results dropped.
  !!
  !! @param      pool   the pool
  !! @param[out] status as for steelyard_task_pool_free() in C
  !! @pre MPI is not finalised.
  !! @note Collective over the pool. Blocks until all ranks have made the call. The pool's primary thread.
  subroutine steelyard_task_pool_free(pool, status)
    type(steelyard_task_pool_t), intent(inout) :: pool
    integer(c_int), intent(out), optional :: status
    call give(pool_free(pool%handle), status)
  end subroutine

  !> Spawns a task that this process owns.
  !!
  !! @param      pool   the pool
  !! @param      type   index of its type, from 0
  !! @param      tag    any number; delivered with the result
  !! @param      data   input of the task: c_loc of a contiguous target; copied
  !! @param      size   bytes of `data`, at most STEELYARD_TASK_MAX_SIZE
  !! @param[out] status as for steelyard_task_pool_spawn() in C
  !! @note Local. Does not block. The pool's primary thread: before a run, or in a consumer of results.
  subroutine steelyard_task_pool_spawn(pool, type, tag, data, size, status)
    type(steelyard_task_pool_t), intent(in) :: pool
    integer(c_int), intent(in) :: type
    integer(c_int64_t), intent(in) :: tag
    type(c_ptr), intent(in) :: data
    integer(c_size_t), intent(in) :: size
    integer(c_int), intent(out), optional :: status
    call give(pool_spawn(pool%handle, type, tag, data, size), status)
  end subroutine

  !> Executes tasks until none is left in any process and all results are delivered.
  !!
  !! @param      pool     the pool
  !! @param      consumer gets each result as it arrives, in this thread; it may spawn tasks. If left out, results are
  !!                      dropped.
  !! @param      user     passed to the consumer
  !! @param[out] status   as for steelyard_task_pool_run() in C
  !! @note Collective over the pool: all ranks call it equally often. Blocks until the run is over. The pool's primary
  !!       thread.
  subroutine steelyard_task_pool_run(pool, consumer, user, status)
    type(steelyard_task_pool_t), intent(in) :: pool
    procedure(steelyard_task_consumer), optional :: consumer
    type(c_ptr), intent(in), optional :: user
    integer(c_int), intent(out), optional :: status
    type(c_funptr) :: called
    type(c_ptr) :: with
    called = c_null_funptr
    with = c_null_ptr
    if (present(consumer)) called = c_funloc(consumer)
    if (present(user)) with = user
    call give(pool_run(pool%handle, called, with), status)
  end subroutine

  !> Executes tasks in a further thread of the process, until the run is over. If options%threads is more than 1,
  !! up to options%threads - 1 threads other than the primary one call it, once in each run:
  !!
  !!     !$omp parallel
  !!     if (omp_get_thread_num() == 0) then
  !!       call steelyard_task_pool_run(pool, keep)
  !!     else
  !!       call steelyard_task_pool_help(pool)
  !!     end if
  !!     !$omp end parallel
  !!
  !! Under `steelyard run`, a region that queries the thread ID keeps its thread count. That of examples/together.f90
  !! does not query it.
  !!
  !! @param      pool   the pool
  !! @param[out] status as for steelyard_task_pool_help() in C
  !! @note Local. Blocks until the run is over. Any thread other than the pool's primary thread.
  subroutine steelyard_task_pool_help(pool, status)
    type(steelyard_task_pool_t), intent(in) :: pool
    integer(c_int), intent(out), optional :: status
    call give(pool_help(pool%handle), status)
  end subroutine

  !> Returns what this process has done since the pool was created.
  !!
  !! @param      pool       the pool
  !! @param[out] statistics its statistics
  !! @param[out] status     as for steelyard_task_pool_get_statistics() in C
  !! @note Local. Does not block. The pool's primary thread, outside runs.
  subroutine steelyard_task_pool_get_statistics(pool, statistics, status)
    type(steelyard_task_pool_t), intent(in) :: pool
    type(steelyard_task_pool_statistics_t), intent(out) :: statistics
    integer(c_int), intent(out), optional :: status
    call give(pool_get_statistics(pool%handle, statistics), status)
  end subroutine

  !> Sets the result of a task. The last call counts. Without a call the result has 0 bytes.
  !!
  !! @param      task   the task that runs
  !! @param      data   the result: c_loc of a contiguous target; copied
  !! @param      size   bytes of `data`
  !! @param[out] status as for steelyard_task_set_result() in C
  !! @note Local. Does not block. The thread that runs the task, in its function.
  subroutine steelyard_task_set_result(task, data, size, status)
    type(steelyard_task_t), intent(inout) :: task
    type(c_ptr), intent(in) :: data
    integer(c_size_t), intent(in) :: size
    integer(c_int), intent(out), optional :: status
    call give(task_set_result(task, data, size), status)
  end subroutine

  !> Makes a task fail. Its owner gets a result with STEELYARD_ERROR_TASK_FAILED.
  !!
  !! @param      task    the task that runs
  !! @param      message why it fails
  !! @param[out] status  as for steelyard_task_fail() in C
  !! @note Local. Does not block. The thread that runs the task, in its function.
  subroutine steelyard_task_fail(task, message, status)
    type(steelyard_task_t), intent(inout) :: task
    character(len=*), intent(in) :: message
    integer(c_int), intent(out), optional :: status
    call give(task_fail(task, trim(message)//c_null_char), status)
  end subroutine

  !> Spawns a further task. Its result is delivered to the owner of the task that runs.
  !!
  !! @param      task   the task that runs
  !! @param      type   index of the new task's type, from 0
  !! @param      tag    any number; delivered with the result
  !! @param      data   input of the new task: c_loc of a contiguous target; copied
  !! @param      size   bytes of `data`, at most STEELYARD_TASK_MAX_SIZE
  !! @param[out] status as for steelyard_task_spawn() in C
  !! @note Local. Does not block. The thread that runs the task, in its function.
  subroutine steelyard_task_spawn(task, type, tag, data, size, status)
    type(steelyard_task_t), intent(inout) :: task
    integer(c_int), intent(in) :: type
    integer(c_int64_t), intent(in) :: tag
    type(c_ptr), intent(in) :: data
    integer(c_size_t), intent(in) :: size
    integer(c_int), intent(out), optional :: status
    call give(task_spawn(task, type, tag, data, size), status)
  end subroutine

end module
