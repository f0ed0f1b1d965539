! Steelyard's tasks for Fortran 2018: the calls and types that steelyard/tasks.h documents, under the same names; ranks, types
! and owners count from 0, as there; each call takes an optional status at its end.
!
! Handles of mpi_f08 differ from MPI to MPI, so this file is compiled with the program: name it before the sources that use
! it, or `include 'steelyard_tasks.f90'` at the head of one, before its first program unit. It needs the module steelyard.
!
!     types(1) = steelyard_task_type_t('integrate', c_funloc(integrate))
!     call steelyard_tasks_create(MPI_COMM_WORLD, types, pool)
!     do i = 1, cells
!       call steelyard_tasks_spawn(pool, 0, i, c_loc(cell(i)), c_sizeof(cell(i)))
!     end do
!     call steelyard_tasks_run(pool, keep)
!
! where the two are as in C:
!
!     integer(c_int) function integrate(task, context) bind(c)
!       type(steelyard_task_t), intent(inout) :: task
!       type(c_ptr), value :: context
!     subroutine keep(result, user) bind(c)
!       type(steelyard_result_t), intent(in) :: result
!       type(c_ptr), value :: user
module steelyard_tasks
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use steelyard
  implicit none
  private
  public :: steelyard_tasks_t, steelyard_task_t, steelyard_task_type_t, steelyard_tasks_options_t, steelyard_result_t, &
    steelyard_tasks_statistics_t, steelyard_consumer, steelyard_tasks_create, steelyard_tasks_free, &
    steelyard_tasks_spawn, steelyard_tasks_run, &
    steelyard_tasks_help, steelyard_tasks_inspect, steelyard_task_result, steelyard_task_fail, steelyard_task_spawn, &
    steelyard_task_yield

  type, bind(c) :: steelyard_tasks_t
    type(c_ptr) :: handle = c_null_ptr
  end type
  type, bind(c) :: steelyard_task_t
    type(c_ptr) :: input
    integer(c_size_t) :: bytes
    integer(c_int64_t) :: tag
    integer(c_int) :: owner, type
    type(c_ptr), private :: inside
  end type
  type, bind(c) :: steelyard_result_t
    integer(c_int64_t) :: tag
    integer(c_int) :: type
    type(c_ptr) :: bytes
    integer(c_size_t) :: size
    type(c_ptr) :: message ! c_null_ptr: it went well
  end type
  type, bind(c) :: steelyard_tasks_statistics_t
    integer(c_int64_t) :: spawned, executed, stolen_here, stolen_far, results_sent, hops, messages
    integer(c_int) :: connections, degree
    integer(c_int64_t) :: runs, waves
    real(c_double) :: busy, inside
    integer(c_int) :: threads
  end type
  type :: steelyard_task_type_t
    character(len=60) :: name
    type(c_funptr) :: function
    logical :: returns = .true.
    type(c_ptr) :: context = c_null_ptr
  end type
  type :: steelyard_tasks_options_t
    integer :: threads = 1
    character(len=20) :: policy = ''
    real(c_double) :: fraction = 0
    integer :: degree = 0, ranks_a_node = 0
  end type

  type, bind(c) :: c_options
    integer(c_int) :: threads
    type(c_ptr) :: policy
    real(c_double) :: fraction
    integer(c_int) :: degree, ranks_a_node
  end type
  type, bind(c) :: c_type
    type(c_ptr) :: name
    type(c_funptr) :: function
    type(c_ptr) :: context
    integer(c_int) :: returns
  end type
  type, bind(c) :: c_mail
    type(c_ptr) :: self
    integer(c_int) :: rank, size, node_rank, node_size, ranks_a_node
    type(c_ptr) :: nodes, problem
    type(c_funptr) :: broadcast, all_agree, send, sent, arrived, receive, pause, clock, open, close
  end type

  abstract interface
    subroutine steelyard_consumer(result, user) bind(c)
      import :: steelyard_result_t, c_ptr
      type(steelyard_result_t), intent(in) :: result
      type(c_ptr), value :: user
    end subroutine
  end interface

  integer, parameter :: slots = 64
  type :: mailbox
    type(MPI_Comm) :: all, here
    type(MPI_Message) :: message
    type(MPI_Request) :: sends(slots)
    integer(c_int), allocatable :: nodes(:)
  end type

  interface
    integer(c_int) function create_by(mail, types, count, options, pool) bind(c, name='steelyard_tasks_create_by')
      import :: c_int, c_mail, c_type, c_options, steelyard_tasks_t
      type(c_mail), intent(in) :: mail
      type(c_type), intent(in) :: types(*)
      integer(c_int), value :: count
      type(c_options), intent(in) :: options
      type(steelyard_tasks_t), intent(out) :: pool
    end function
    integer(c_int) function tasks_free(pool) bind(c, name='steelyard_tasks_free_handle')
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: pool
    end function
    integer(c_int) function tasks_spawn(pool, type, tag, input, bytes) bind(c, name='steelyard_tasks_spawn')
      import :: c_int, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: pool, input
      integer(c_int), value :: type
      integer(c_int64_t), value :: tag
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function tasks_run(pool, consumer, user) bind(c, name='steelyard_tasks_run')
      import :: c_int, c_ptr, c_funptr
      type(c_ptr), value :: pool, user
      type(c_funptr), value :: consumer
    end function
    integer(c_int) function tasks_help(pool) bind(c, name='steelyard_tasks_help')
      import :: c_int, c_ptr
      type(c_ptr), value :: pool
    end function
    integer(c_int) function tasks_inspect(pool, statistics) bind(c, name='steelyard_tasks_inspect')
      import :: c_int, c_ptr, steelyard_tasks_statistics_t
      type(c_ptr), value :: pool
      type(steelyard_tasks_statistics_t), intent(out) :: statistics
    end function
    integer(c_int) function task_result(task, bytes, size) bind(c, name='steelyard_task_result')
      import :: c_int, c_ptr, c_size_t, steelyard_task_t
      type(steelyard_task_t), intent(inout) :: task
      type(c_ptr), value :: bytes
      integer(c_size_t), value :: size
    end function
    integer(c_int) function task_fail(task, sentence) bind(c, name='steelyard_task_fail')
      import :: c_int, c_char, steelyard_task_t
      type(steelyard_task_t), intent(inout) :: task
      character(kind=c_char), intent(in) :: sentence(*)
    end function
    integer(c_int) function task_spawn(task, type, tag, input, bytes) bind(c, name='steelyard_task_spawn')
      import :: c_int, c_int64_t, c_ptr, c_size_t, steelyard_task_t
      type(steelyard_task_t), intent(inout) :: task
      integer(c_int), value :: type
      integer(c_int64_t), value :: tag
      type(c_ptr), value :: input
      integer(c_size_t), value :: bytes
    end function
    subroutine tasks_callbacks(pool, call, world_rank) bind(c, name='steelyard_internal_tasks_callbacks')
      import :: c_ptr, c_funptr
      type(c_ptr), value :: pool
      type(c_funptr), value :: call, world_rank
    end subroutine
    subroutine tasks_finalize_all() bind(c, name='steelyard_tasks_finalize_all')
    end subroutine
    subroutine steelyard_task_yield(task) bind(c, name='steelyard_task_yield')
      import :: steelyard_task_t
      type(steelyard_task_t), intent(inout) :: task
    end subroutine
  end interface

contains

  subroutine give(result, status)
    integer(c_int), intent(in) :: result
    integer(c_int), intent(out), optional :: status
    if (present(status)) status = result
  end subroutine

  ! Collective over the communicator, which is duplicated.
  subroutine steelyard_tasks_create(communicator, types, pool, options, status)
    type(MPI_Comm), intent(in) :: communicator
    type(steelyard_task_type_t), intent(in) :: types(:)
    type(steelyard_tasks_t), intent(out) :: pool
    type(steelyard_tasks_options_t), intent(in), optional :: options
    integer(c_int), intent(out), optional :: status
    type(steelyard_tasks_options_t) :: chosen
    character(len=61), allocatable, target :: names(:)
    character(len=21), target :: policy
    character(len=100), target :: problem
    type(c_type) :: passed(size(types))
    type(mailbox), pointer :: self
    type(c_mail) :: mail
    integer :: i

    if (present(options)) chosen = options
    allocate (names(size(types)))
    do i = 1, size(types)
      names(i) = trim(types(i)%name)//c_null_char
      passed(i) = c_type(c_loc(names(i)), types(i)%function, types(i)%context, merge(1, 0, types(i)%returns))
    end do
    policy = trim(chosen%policy)//c_null_char
    if (len_trim(chosen%policy) == 0) policy = 'small-world'//c_null_char

    mail = c_mail(c_null_ptr, 0, 1, 0, 1, 1, c_null_ptr, c_null_ptr, c_funloc(broadcast), c_funloc(all_agree), &
      c_funloc(send), c_funloc(sent), c_funloc(arrived), c_funloc(receive), c_null_funptr, c_null_funptr, &
      c_funloc(is_open), c_funloc(close_mail))
    problem = unusable(communicator)
    if (len_trim(problem) == 0) problem = agreed_problem(communicator, chosen%threads)
    if (len_trim(problem) > 0) then
      problem = trim(problem)//c_null_char
      mail%problem = c_loc(problem)
    else
      allocate (self)
      self%sends = MPI_REQUEST_NULL
      call watch_the_end()
      call MPI_Comm_dup(communicator, self%all)
      call MPI_Comm_rank(self%all, mail%rank)
      call MPI_Comm_size(self%all, mail%size)
      mail%self = c_loc(self)
      call find_places(self, chosen%ranks_a_node, mail)
    end if
    call give(create_by(mail, passed, size(types), &
      c_options(chosen%threads, c_loc(policy), chosen%fraction, chosen%degree, chosen%ranks_a_node), pool), status)
    if (c_associated(pool%handle)) call tasks_callbacks(pool%handle, c_null_funptr, c_funloc(world_rank))
  end subroutine

  ! The first that MPI_Finalize does is to delete the attributes of MPI_COMM_SELF.
  subroutine watch_the_end()
    integer, save :: key = MPI_KEYVAL_INVALID
    if (key /= MPI_KEYVAL_INVALID) return
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, mpi_ends, key, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_SELF, key, 0_MPI_ADDRESS_KIND)
  end subroutine

  subroutine mpi_ends(self, key, value, state, ierror)
    type(MPI_Comm) :: self
    integer :: key, ierror
    integer(MPI_ADDRESS_KIND) :: value, state
    associate (not_asked => [self%mpi_val, key, int(value), int(state)])
      call tasks_finalize_all()
    end associate
    ierror = MPI_SUCCESS
  end subroutine

  ! For messages.
  integer(c_int) function world_rank(self, rank) bind(c, name='')
    type(c_ptr), value :: self
    integer(c_int), value :: rank
    type(mailbox), pointer :: mail
    type(MPI_Group) :: here, world
    integer :: found(1)
    call c_f_pointer(self, mail)
    call MPI_Comm_group(mail%all, here)
    call MPI_Comm_group(MPI_COMM_WORLD, world)
    call MPI_Group_translate_ranks(here, 1, [int(rank)], world, found)
    call MPI_Group_free(here)
    call MPI_Group_free(world)
    world_rank = merge(rank, int(found(1), c_int), found(1) == MPI_UNDEFINED)
  end function

  ! Why nobody can be spoken with there: at all of its ranks, or at one that the others do not wait for.
  function unusable(communicator) result(problem)
    type(MPI_Comm), intent(in) :: communicator
    character(len=99) :: problem
    logical :: initialized, finalized, inter
    problem = ''
    call MPI_Initialized(initialized)
    call MPI_Finalized(finalized)
    if (.not. initialized .or. finalized) then
      problem = 'a task pool needs MPI: make it between MPI_Init and MPI_Finalize'
    else if (communicator == MPI_COMM_NULL) then
      problem = 'a task pool cannot be made of MPI_COMM_NULL: pass a communicator that this process is in'
    else
      call MPI_Comm_test_inter(communicator, inter)
      if (inter) problem = 'a task pool cannot be made of an inter-communicator: pass an intra-communicator'
    end if
  end function

  ! Whoever is refused tells the others, who would wait for it otherwise.
  function agreed_problem(communicator, threads) result(problem)
    type(MPI_Comm), intent(in) :: communicator
    integer, intent(in) :: threads
    character(len=99) :: problem
    integer :: level
    logical :: good, all
    call MPI_Query_thread(level)
    good = threads <= 1 .or. level >= MPI_THREAD_FUNNELED
    call MPI_Allreduce(good, all, 1, MPI_LOGICAL, MPI_LAND, communicator)
    problem = ''
    if (.not. good) then
      problem = 'a task pool of several threads a process needs MPI_Init_thread with MPI_THREAD_FUNNELED'
    else if (.not. all) then
      problem = 'another rank was refused the task pool, by its threads: see its message'
    end if
  end function

  ! Which ranks share memory, and how they are numbered.
  subroutine find_places(self, ranks_a_node, mail)
    type(mailbox), intent(inout), target :: self
    integer, intent(in) :: ranks_a_node
    type(c_mail), intent(inout) :: mail
    type(MPI_Comm) :: whole, leaders
    integer :: local, node, part
    logical :: regular, all
    call MPI_Comm_split_type(self%all, MPI_COMM_TYPE_SHARED, mail%rank, MPI_INFO_NULL, whole)
    call MPI_Comm_rank(whole, local)
    part = 0
    if (ranks_a_node > 0) part = local / ranks_a_node
    call MPI_Comm_split(whole, part, mail%rank, self%here)
    call MPI_Comm_free(whole)
    call MPI_Comm_rank(self%here, mail%node_rank)
    call MPI_Comm_size(self%here, mail%node_size)
    part = MPI_UNDEFINED
    if (mail%node_rank == 0) part = 0
    call MPI_Comm_split(self%all, part, mail%rank, leaders)
    node = 0
    if (leaders /= MPI_COMM_NULL) then
      call MPI_Comm_rank(leaders, node)
      call MPI_Comm_free(leaders)
    end if
    call MPI_Bcast(node, 1, MPI_INTEGER, 0, self%here)
    mail%ranks_a_node = mail%node_size
    call MPI_Bcast(mail%ranks_a_node, 1, MPI_INTEGER, 0, self%all)
    regular = mail%rank == node * mail%ranks_a_node + mail%node_rank .and. &
      mail%node_size == min(mail%ranks_a_node, mail%size - node * mail%ranks_a_node)
    call MPI_Allreduce(regular, all, 1, MPI_LOGICAL, MPI_LAND, self%all)
    if (all) return
    allocate (self%nodes(mail%size))
    call MPI_Allgather(node, 1, MPI_INTEGER, self%nodes, 1, MPI_INTEGER, self%all)
    mail%nodes = c_loc(self%nodes)
  end subroutine

  ! What the library asks of MPI.
  subroutine broadcast(self, bytes, size, in_node) bind(c, name='') ! no name that could take that of another
    type(c_ptr), value :: self, bytes
    integer(c_size_t), value :: size
    integer(c_int), value :: in_node
    type(mailbox), pointer :: mail
    integer(c_int8_t), pointer, contiguous :: buffer(:)
    call c_f_pointer(self, mail)
    call c_f_pointer(bytes, buffer, [size])
    if (in_node /= 0) then
      call MPI_Bcast(buffer, int(size), MPI_BYTE, 0, mail%here)
    else
      call MPI_Bcast(buffer, int(size), MPI_BYTE, 0, mail%all)
    end if
  end subroutine

  integer(c_int) function all_agree(self, mine) bind(c, name='')
    type(c_ptr), value :: self
    integer(c_int), value :: mine
    type(mailbox), pointer :: mail
    integer :: said, all
    call c_f_pointer(self, mail)
    said = merge(1, 0, mine /= 0)
    call MPI_Allreduce(said, all, 1, MPI_INTEGER, MPI_MIN, mail%all)
    all_agree = all
  end function

  integer(c_int) function send(self, to, bytes, size) bind(c, name='')
    type(c_ptr), value :: self, bytes
    integer(c_int), value :: to
    integer(c_size_t), value :: size
    type(mailbox), pointer :: mail
    integer(c_int8_t), pointer, contiguous :: buffer(:)
    integer :: slot
    call c_f_pointer(self, mail)
    call c_f_pointer(bytes, buffer, [size])
    send = -1
    do slot = 1, slots
      if (mail%sends(slot) /= MPI_REQUEST_NULL) cycle
      call MPI_Isend(buffer, int(size), MPI_BYTE, to, 0, mail%all, mail%sends(slot))
      send = slot
      return
    end do
  end function

  integer(c_int) function sent(self, slot) bind(c, name='')
    type(c_ptr), value :: self
    integer(c_int), value :: slot
    type(mailbox), pointer :: mail
    logical :: done
    call c_f_pointer(self, mail)
    call MPI_Test(mail%sends(slot), done, MPI_STATUS_IGNORE)
    sent = merge(1, 0, done)
  end function

  integer(c_int) function arrived(self, from, bytes) bind(c, name='')
    type(c_ptr), value :: self
    integer(c_int), intent(out) :: from
    integer(c_size_t), intent(out) :: bytes
    type(mailbox), pointer :: mail
    type(MPI_Status) :: status
    integer :: count
    logical :: there
    call c_f_pointer(self, mail)
    from = 0
    bytes = 0
    call MPI_Improbe(MPI_ANY_SOURCE, 0, mail%all, there, mail%message, status)
    arrived = merge(1, 0, there)
    if (.not. there) return
    call MPI_Get_count(status, MPI_BYTE, count)
    from = status%MPI_SOURCE
    bytes = count
  end function

  subroutine receive(self, bytes, size) bind(c, name='')
    type(c_ptr), value :: self, bytes
    integer(c_size_t), value :: size
    type(mailbox), pointer :: mail
    integer(c_int8_t), pointer, contiguous :: buffer(:)
    call c_f_pointer(self, mail)
    call c_f_pointer(bytes, buffer, [size])
    call MPI_Mrecv(buffer, int(size), MPI_BYTE, mail%message, MPI_STATUS_IGNORE)
  end subroutine

  integer(c_int) function is_open(self) bind(c, name='')
    type(c_ptr), value :: self
    logical :: finalized
    is_open = 0
    call MPI_Finalized(finalized)
    if (c_associated(self) .and. .not. finalized) is_open = 1
  end function

  subroutine close_mail(self, clean) bind(c, name='')
    type(c_ptr), value :: self
    integer(c_int), value :: clean
    type(mailbox), pointer :: mail
    logical :: finalized
    call c_f_pointer(self, mail)
    call MPI_Finalized(finalized)
    if (clean /= 0 .and. .not. finalized) then
      call MPI_Comm_free(mail%here)
      call MPI_Comm_free(mail%all)
    end if
    deallocate (mail)
  end subroutine

  subroutine steelyard_tasks_free(pool, status)
    type(steelyard_tasks_t), intent(inout) :: pool
    integer(c_int), intent(out), optional :: status
    call give(tasks_free(pool%handle), status)
  end subroutine

  ! `input` is c_loc of a contiguous target of that many bytes.
  subroutine steelyard_tasks_spawn(pool, type, tag, input, bytes, status)
    type(steelyard_tasks_t), intent(in) :: pool
    integer(c_int), intent(in) :: type
    integer(c_int64_t), intent(in) :: tag
    type(c_ptr), intent(in) :: input
    integer(c_size_t), intent(in) :: bytes
    integer(c_int), intent(out), optional :: status
    call give(tasks_spawn(pool%handle, type, tag, input, bytes), status)
  end subroutine

  ! Collective. Without a consumer, results are dropped.
  subroutine steelyard_tasks_run(pool, consumer, user, status)
    type(steelyard_tasks_t), intent(in) :: pool
    procedure(steelyard_consumer), optional :: consumer
    type(c_ptr), intent(in), optional :: user
    integer(c_int), intent(out), optional :: status
    type(c_funptr) :: called
    type(c_ptr) :: with
    called = c_null_funptr
    with = c_null_ptr
    if (present(consumer)) called = c_funloc(consumer)
    if (present(user)) with = user
    call give(tasks_run(pool%handle, called, with), status)
  end subroutine

  subroutine steelyard_tasks_help(pool, status)
    type(steelyard_tasks_t), intent(in) :: pool
    integer(c_int), intent(out), optional :: status
    call give(tasks_help(pool%handle), status)
  end subroutine

  subroutine steelyard_tasks_inspect(pool, statistics, status)
    type(steelyard_tasks_t), intent(in) :: pool
    type(steelyard_tasks_statistics_t), intent(out) :: statistics
    integer(c_int), intent(out), optional :: status
    call give(tasks_inspect(pool%handle, statistics), status)
  end subroutine

  subroutine steelyard_task_result(task, bytes, size, status)
    type(steelyard_task_t), intent(inout) :: task
    type(c_ptr), intent(in) :: bytes
    integer(c_size_t), intent(in) :: size
    integer(c_int), intent(out), optional :: status
    call give(task_result(task, bytes, size), status)
  end subroutine

  subroutine steelyard_task_fail(task, sentence, status)
    type(steelyard_task_t), intent(inout) :: task
    character(len=*), intent(in) :: sentence
    integer(c_int), intent(out), optional :: status
    call give(task_fail(task, trim(sentence)//c_null_char), status)
  end subroutine

  subroutine steelyard_task_spawn(task, type, tag, input, bytes, status)
    type(steelyard_task_t), intent(inout) :: task
    integer(c_int), intent(in) :: type
    integer(c_int64_t), intent(in) :: tag
    type(c_ptr), intent(in) :: input
    integer(c_size_t), intent(in) :: bytes
    integer(c_int), intent(out), optional :: status
    call give(task_spawn(task, type, tag, input, bytes), status)
  end subroutine

end module
