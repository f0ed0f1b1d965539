! Steelyard's phases for Fortran 2018: the calls and types that steelyard/phases.h documents, under the same names; indices
! count from 0, as there; each call takes an optional status at its end.
!
! Handles of mpi_f08 differ from MPI to MPI, so this file is compiled with the program: name it before the sources that use
! it, or `include 'steelyard_phases.f90'` at the head of one, before its first program unit. It needs the module steelyard.
!
!     call steelyard_node_create(MPI_COMM_WORLD, node)
!     call steelyard_phase_create(node, STEELYARD_NUMA, 1, wide)
!     call steelyard_phase_enter(wide, chosen)
!     if (chosen) call threaded_library()
!     call steelyard_phase_leave(wide)
module steelyard_phases
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use steelyard
  implicit none
  private
  public :: steelyard_node_t, steelyard_phase_t, steelyard_cpus_t, steelyard_process_t, steelyard_machine_t, &
    steelyard_bounds_t, steelyard_grade_t, steelyard_view_t
  public :: steelyard_node_create, steelyard_node_split, steelyard_node_free, steelyard_node_size, &
    steelyard_node_rank, steelyard_node_count, steelyard_node_count_in, steelyard_node_cpus_in, &
    steelyard_node_processes_in, steelyard_node_closest, steelyard_node_process, steelyard_node_machine, &
    steelyard_node_kind, steelyard_push_cpus, steelyard_push_resource, steelyard_push_enclosing, steelyard_pop, &
    steelyard_node_distribute, steelyard_node_barrier, steelyard_node_quiesce, steelyard_phase_create, &
    steelyard_phase_create_graded, steelyard_phase_free, steelyard_phase_enter, steelyard_phase_leave, &
    steelyard_phase_grade, steelyard_phase_gather, steelyard_phase_scatter

  enum, bind(c)
    enumerator :: STEELYARD_MACHINE = 0, STEELYARD_PACKAGE = 1, STEELYARD_NUMA = 2, STEELYARD_L3 = 3, &
      STEELYARD_CORE = 4, STEELYARD_PU = 5
  end enum
  public :: STEELYARD_MACHINE, STEELYARD_PACKAGE, STEELYARD_NUMA, STEELYARD_L3, STEELYARD_CORE, STEELYARD_PU
  integer(c_int), parameter, public :: STEELYARD_SAME_THREADS = -1, STEELYARD_ONE_A_CORE = 0

  type, bind(c) :: steelyard_node_t
    type(c_ptr) :: handle = c_null_ptr
  end type
  type, bind(c) :: steelyard_phase_t
    type(c_ptr) :: handle = c_null_ptr
  end type
  type, bind(c) :: steelyard_cpus_t
    integer(c_int64_t) :: words(64) = 0
  end type
  type, bind(c) :: steelyard_process_t
    integer(c_int) :: rank = 0, pid = 0, bound = 0
    type(steelyard_cpus_t) :: home, now
  end type
  type, bind(c) :: steelyard_machine_t
    integer(c_int) :: threads_per_core = 0, kinds = 0, emulated = 0
    real(c_double) :: quota = 0
    type(steelyard_cpus_t) :: all, job
  end type
  type, bind(c) :: steelyard_bounds_t
    integer(c_int) :: least_processes = 1, most_processes = 0, most_threads = 0
  end type
  type, bind(c) :: steelyard_grade_t
    integer(c_int) :: processes = 0, threads = 0, settled = 0, chosen = 0, works_for_me = 0
    real(c_double) :: seconds = 0
  end type
  ! `bytes` points to integer(c_size_t), `processes` to integer(c_int), both of size `parts`: c_f_pointer makes arrays of all.
  type, bind(c) :: steelyard_view_t
    type(c_ptr) :: data = c_null_ptr
    integer(c_int) :: parts = 0
    type(c_ptr) :: bytes = c_null_ptr, processes = c_null_ptr
  end type

  type, bind(c) :: meeting_type
    type(c_ptr) :: self
    integer(c_int) :: rank, size, rank_in_communicator
    type(c_ptr) :: problem
    type(c_funptr) :: broadcast, all_agree, abort
  end type

  ! Where the processes of a node meet, and what they have agreed on.
  type :: place_type
    integer :: handle
    integer(c_int) :: agreed
  end type

  interface
    integer(c_int) function node_create_by(meeting, node) bind(c, name='steelyard_node_create_by')
      import :: c_int, meeting_type, steelyard_node_t
      type(meeting_type), intent(in) :: meeting
      type(steelyard_node_t), intent(out) :: node
    end function
    subroutine node_free(node) bind(c, name='steelyard_node_free')
      import :: c_ptr
      type(c_ptr), value :: node
    end subroutine
    integer(c_int) function node_size(node) bind(c, name='steelyard_node_size')
      import :: c_int, c_ptr
      type(c_ptr), value :: node
    end function
    integer(c_int) function node_rank(node) bind(c, name='steelyard_node_rank')
      import :: c_int, c_ptr
      type(c_ptr), value :: node
    end function
    integer(c_int) function node_count(node, resource, count) bind(c, name='steelyard_node_count')
      import :: c_int, c_ptr
      type(c_ptr), value :: node
      integer(c_int), value :: resource
      integer(c_int), intent(out) :: count
    end function
    integer(c_int) function node_count_in(node, outer, place, inner, count) bind(c, name='steelyard_node_count_in')
      import :: c_int, c_ptr
      type(c_ptr), value :: node
      integer(c_int), value :: outer, place, inner
      integer(c_int), intent(out) :: count
    end function
    integer(c_int) function node_cpus_in(node, resource, place, cpus) bind(c, name='steelyard_node_cpus_in')
      import :: c_int, c_ptr, steelyard_cpus_t
      type(c_ptr), value :: node
      integer(c_int), value :: resource, place
      type(steelyard_cpus_t), intent(out) :: cpus
    end function
    integer(c_int) function node_processes_in(node, resource, place, processes, room, count) &
        bind(c, name='steelyard_node_processes_in')
      import :: c_int, c_ptr
      type(c_ptr), value :: node
      integer(c_int), value :: resource, place, room
      integer(c_int), intent(out) :: processes(*), count
    end function
    integer(c_int) function node_closest(node, resource, place) bind(c, name='steelyard_node_closest')
      import :: c_int, c_ptr
      type(c_ptr), value :: node
      integer(c_int), value :: resource
      integer(c_int), intent(out) :: place
    end function
    integer(c_int) function node_process(node, process, found) bind(c, name='steelyard_node_process')
      import :: c_int, c_ptr, steelyard_process_t
      type(c_ptr), value :: node
      integer(c_int), value :: process
      type(steelyard_process_t), intent(out) :: found
    end function
    integer(c_int) function node_machine(node, machine) bind(c, name='steelyard_node_machine')
      import :: c_int, c_ptr, steelyard_machine_t
      type(c_ptr), value :: node
      type(steelyard_machine_t), intent(out) :: machine
    end function
    integer(c_int) function node_kind(node, cpu, kind_of_core) bind(c, name='steelyard_node_kind')
      import :: c_int, c_ptr
      type(c_ptr), value :: node
      integer(c_int), value :: cpu
      integer(c_int), intent(out) :: kind_of_core
    end function
    integer(c_int) function push_cpus(node, cpus, threads) bind(c, name='steelyard_push_cpus')
      import :: c_int, c_ptr, steelyard_cpus_t
      type(c_ptr), value :: node
      type(steelyard_cpus_t), intent(in) :: cpus
      integer(c_int), value :: threads
    end function
    integer(c_int) function push_resource(node, resource, place, threads) bind(c, name='steelyard_push_resource')
      import :: c_int, c_ptr
      type(c_ptr), value :: node
      integer(c_int), value :: resource, place, threads
    end function
    integer(c_int) function push_enclosing(node, resource, threads) bind(c, name='steelyard_push_enclosing')
      import :: c_int, c_ptr
      type(c_ptr), value :: node
      integer(c_int), value :: resource, threads
    end function
    integer(c_int) function c_pop(node) bind(c, name='steelyard_pop')
      import :: c_int, c_ptr
      type(c_ptr), value :: node
    end function
    integer(c_int) function node_distribute(node, resource, most, chosen) bind(c, name='steelyard_node_distribute')
      import :: c_int, c_ptr
      type(c_ptr), value :: node
      integer(c_int), value :: resource, most
      integer(c_int), intent(out) :: chosen
    end function
    integer(c_int) function node_barrier(node) bind(c, name='steelyard_node_barrier')
      import :: c_int, c_ptr
      type(c_ptr), value :: node
    end function
    integer(c_int) function node_quiesce(node) bind(c, name='steelyard_node_quiesce')
      import :: c_int, c_ptr
      type(c_ptr), value :: node
    end function
    integer(c_int) function phase_create(node, resource, most, phase) bind(c, name='steelyard_phase_create')
      import :: c_int, c_ptr, steelyard_phase_t
      type(c_ptr), value :: node
      integer(c_int), value :: resource, most
      type(steelyard_phase_t), intent(out) :: phase
    end function
    integer(c_int) function phase_create_graded(node, bounds, phase) bind(c, name='steelyard_phase_create_graded')
      import :: c_int, c_ptr, steelyard_phase_t, steelyard_bounds_t
      type(c_ptr), value :: node
      type(steelyard_bounds_t), intent(in) :: bounds
      type(steelyard_phase_t), intent(out) :: phase
    end function
    subroutine phase_leave_all() bind(c, name='steelyard_phase_leave_all')
    end subroutine
    integer(c_int) function internal_node() bind(c, name='steelyard_internal_node')
      import :: c_int
    end function
    subroutine internal_world_rank(rank) bind(c, name='steelyard_internal_world_rank')
      import :: c_int
      integer(c_int), value :: rank
    end subroutine
    subroutine internal_pause(turn) bind(c, name='steelyard_internal_pause')
      import :: c_int
      integer(c_int), value :: turn
    end subroutine
    subroutine phase_free(phase) bind(c, name='steelyard_phase_free')
      import :: c_ptr
      type(c_ptr), value :: phase
    end subroutine
    integer(c_int) function phase_enter(phase, chosen) bind(c, name='steelyard_phase_enter')
      import :: c_int, c_ptr
      type(c_ptr), value :: phase
      integer(c_int), intent(out) :: chosen
    end function
    integer(c_int) function phase_leave(phase) bind(c, name='steelyard_phase_leave')
      import :: c_int, c_ptr
      type(c_ptr), value :: phase
    end function
    integer(c_int) function phase_grade(phase, grade) bind(c, name='steelyard_phase_grade')
      import :: c_int, c_ptr, steelyard_grade_t
      type(c_ptr), value :: phase
      type(steelyard_grade_t), intent(out) :: grade
    end function
    integer(c_int) function phase_gather(phase, mine, bytes, all) bind(c, name='steelyard_phase_gather')
      import :: c_int, c_ptr, c_size_t, steelyard_view_t
      type(c_ptr), value :: phase, mine
      integer(c_size_t), value :: bytes
      type(steelyard_view_t), intent(out) :: all
    end function
    integer(c_int) function phase_scatter(phase, data, bytes, mine) bind(c, name='steelyard_phase_scatter')
      import :: c_int, c_ptr, steelyard_view_t
      type(c_ptr), value :: phase, data, bytes
      type(steelyard_view_t), intent(out) :: mine
    end function
  end interface

contains

  subroutine give(outcome, status)
    integer(c_int), intent(in) :: outcome
    integer(c_int), intent(out), optional :: status
    if (present(status)) status = outcome
  end subroutine

  ! Collective over an intra-communicator.
  subroutine steelyard_node_create(communicator, node, status)
    type(MPI_Comm), intent(in) :: communicator
    type(steelyard_node_t), intent(out) :: node
    integer(c_int), intent(out), optional :: status
    character(kind=c_char, len=120), target :: problem
    type(place_type), target :: place
    type(MPI_Comm) :: here, several
    type(meeting_type) :: meeting
    integer :: rank, before
    integer(c_int) :: outcome
    logical :: initialized, finalized, inter, by_number

    here = MPI_COMM_NULL
    place = place_type(here%mpi_val, 1_c_int)
    by_number = .false.
    meeting = meeting_type(c_loc(place), 0, 1, 0, c_null_ptr, c_funloc(meet_broadcast), c_funloc(meet_all_agree), &
      c_funloc(meet_abort))
    call MPI_Initialized(initialized)
    call MPI_Finalized(finalized)
    problem = ''
    if (.not. initialized .or. finalized) then
      problem = 'a context needs MPI: make it between MPI_Init and MPI_Finalize' // c_null_char
    else if (communicator == MPI_COMM_NULL) then
      problem = 'a context cannot be made of MPI_COMM_NULL: pass a communicator that this process is in' // c_null_char
    else
      call MPI_Comm_test_inter(communicator, inter)
      if (inter) &
        problem = 'a context cannot be made of an inter-communicator: pass an intra-communicator' // c_null_char
    end if
    if (problem /= '') then
      meeting%problem = c_loc(problem)
    else
      call watch_the_end()
      call MPI_Comm_rank(MPI_COMM_WORLD, rank)
      call internal_world_rank(int(rank, c_int))
      call MPI_Comm_rank(communicator, rank)
      meeting%rank_in_communicator = rank
      by_number = is_mpich()  ! its MPI_Comm_split_type splits twice
      if (by_number) then
        call MPI_Comm_split(communicator, internal_node(), rank, here)
      else
        call MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, here)
      end if
      call take_places()
    end if
    outcome = node_create_by(meeting, node)
    if (by_number .and. place%agreed == 0) then
      ! Two nodes may have the same number. Then all got a failure: files in memory are those of one node.
      several = here
      before = meeting%size
      call MPI_Comm_split_type(several, MPI_COMM_TYPE_SHARED, int(meeting%rank), MPI_INFO_NULL, here)
      call MPI_Comm_free(several)
      call take_places()
      if (meeting%size < before) outcome = node_create_by(meeting, node)
    end if
    call give(outcome, status)
    if (here /= MPI_COMM_NULL) call MPI_Comm_free(here)

  contains

    subroutine take_places()
      place%handle = here%mpi_val
      call MPI_Comm_rank(here, meeting%rank)
      call MPI_Comm_size(here, meeting%size)
    end subroutine
  end subroutine

  logical function is_mpich()
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
    integer :: length
    call MPI_Get_library_version(version, length)
    is_mpich = index(version(:length), 'MPICH') > 0
  end function

  subroutine await(request)
    type(MPI_Request), intent(inout) :: request
    integer(c_int) :: turn
    logical :: done
    turn = 0
    do
      call MPI_Test(request, done, MPI_STATUS_IGNORE)
      if (done) return
      call internal_pause(turn)
      turn = turn + 1
    end do
  end subroutine

  subroutine meet_broadcast(self, bytes, size) bind(c)
    type(c_ptr), value :: self, bytes
    integer(c_size_t), value :: size
    type(place_type), pointer :: place
    character(kind=c_char), pointer :: buffer(:)
    type(MPI_Comm) :: here
    type(MPI_Request) :: request
    call c_f_pointer(self, place)
    call c_f_pointer(bytes, buffer, [size])
    here%mpi_val = place%handle
    call MPI_Ibcast(buffer, int(size), MPI_BYTE, 0, here, request)
    call await(request)
  end subroutine

  integer(c_int) function meet_all_agree(self, mine) bind(c)
    type(c_ptr), value :: self
    integer(c_int), value :: mine
    type(place_type), pointer :: place
    integer(c_int), asynchronous :: one, all
    type(MPI_Comm) :: here
    type(MPI_Request) :: request
    call c_f_pointer(self, place)
    here%mpi_val = place%handle
    one = mine
    call MPI_Iallreduce(one, all, 1, MPI_INT, MPI_MIN, here, request)  ! as in C
    call await(request)
    place%agreed = all
    meet_all_agree = all
  end function

  subroutine meet_abort() bind(c)
    call MPI_Abort(MPI_COMM_WORLD, 1)
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
      call phase_leave_all()
    end associate
    ierror = MPI_SUCCESS
  end subroutine

  ! Collective over the communicator: those who work at the same resource now.
  subroutine steelyard_node_split(node, communicator, resource, part, status)
    type(steelyard_node_t), intent(in) :: node
    type(MPI_Comm), intent(in) :: communicator
    integer(c_int), intent(in) :: resource
    type(MPI_Comm), intent(out) :: part
    integer(c_int), intent(out), optional :: status
    type(MPI_Comm) :: here
    integer(c_int) :: outcome, place
    integer :: rank
    part = MPI_COMM_NULL
    outcome = node_closest(node%handle, resource, place)
    if (outcome == STEELYARD_SUCCESS) then
      call MPI_Comm_rank(communicator, rank)
      call MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, here)
      call MPI_Comm_split(here, place, rank, part)
      call MPI_Comm_free(here)
    end if
    call give(outcome, status)
  end subroutine

  subroutine steelyard_node_free(node)
    type(steelyard_node_t), intent(inout) :: node
    call node_free(node%handle)
    node%handle = c_null_ptr
  end subroutine

  integer(c_int) function steelyard_node_size(node)
    type(steelyard_node_t), intent(in) :: node
    steelyard_node_size = node_size(node%handle)
  end function

  integer(c_int) function steelyard_node_rank(node)
    type(steelyard_node_t), intent(in) :: node
    steelyard_node_rank = node_rank(node%handle)
  end function

  subroutine steelyard_node_count(node, resource, count, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(in) :: resource
    integer(c_int), intent(out) :: count
    integer(c_int), intent(out), optional :: status
    call give(node_count(node%handle, resource, count), status)
  end subroutine

  subroutine steelyard_node_count_in(node, outer, place, inner, count, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(in) :: outer, place, inner
    integer(c_int), intent(out) :: count
    integer(c_int), intent(out), optional :: status
    call give(node_count_in(node%handle, outer, place, inner, count), status)
  end subroutine

  subroutine steelyard_node_cpus_in(node, resource, place, cpus, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(in) :: resource, place
    type(steelyard_cpus_t), intent(out) :: cpus
    integer(c_int), intent(out), optional :: status
    call give(node_cpus_in(node%handle, resource, place, cpus), status)
  end subroutine

  subroutine steelyard_node_closest(node, resource, place, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(in) :: resource
    integer(c_int), intent(out) :: place
    integer(c_int), intent(out), optional :: status
    call give(node_closest(node%handle, resource, place), status)
  end subroutine

  subroutine steelyard_node_process(node, process, found, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(in) :: process
    type(steelyard_process_t), intent(out) :: found
    integer(c_int), intent(out), optional :: status
    call give(node_process(node%handle, process, found), status)
  end subroutine

  subroutine steelyard_node_machine(node, machine, status)
    type(steelyard_node_t), intent(in) :: node
    type(steelyard_machine_t), intent(out) :: machine
    integer(c_int), intent(out), optional :: status
    call give(node_machine(node%handle, machine), status)
  end subroutine

  subroutine steelyard_node_kind(node, cpu, kind_of_core, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(in) :: cpu
    integer(c_int), intent(out) :: kind_of_core
    integer(c_int), intent(out), optional :: status
    call give(node_kind(node%handle, cpu, kind_of_core), status)
  end subroutine

  subroutine steelyard_push_cpus(node, cpus, threads, status)
    type(steelyard_node_t), intent(in) :: node
    type(steelyard_cpus_t), intent(in) :: cpus
    integer(c_int), intent(in) :: threads
    integer(c_int), intent(out), optional :: status
    call give(push_cpus(node%handle, cpus, threads), status)
  end subroutine

  subroutine steelyard_push_resource(node, resource, place, threads, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(in) :: resource, place, threads
    integer(c_int), intent(out), optional :: status
    call give(push_resource(node%handle, resource, place, threads), status)
  end subroutine

  subroutine steelyard_push_enclosing(node, resource, threads, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(in) :: resource, threads
    integer(c_int), intent(out), optional :: status
    call give(push_enclosing(node%handle, resource, threads), status)
  end subroutine

  subroutine steelyard_pop(node, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(out), optional :: status
    call give(c_pop(node%handle), status)
  end subroutine

  subroutine steelyard_node_barrier(node, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(out), optional :: status
    call give(node_barrier(node%handle), status)
  end subroutine

  subroutine steelyard_node_quiesce(node, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(out), optional :: status
    call give(node_quiesce(node%handle), status)
  end subroutine

  subroutine steelyard_phase_create(node, resource, most, phase, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(in) :: resource, most
    type(steelyard_phase_t), intent(out) :: phase
    integer(c_int), intent(out), optional :: status
    call give(phase_create(node%handle, resource, most, phase), status)
  end subroutine

  subroutine steelyard_phase_create_graded(node, bounds, phase, status)
    type(steelyard_node_t), intent(in) :: node
    type(steelyard_bounds_t), intent(in) :: bounds
    type(steelyard_phase_t), intent(out) :: phase
    integer(c_int), intent(out), optional :: status
    call give(phase_create_graded(node%handle, bounds, phase), status)
  end subroutine

  subroutine steelyard_phase_leave(phase, status)
    type(steelyard_phase_t), intent(in) :: phase
    integer(c_int), intent(out), optional :: status
    call give(phase_leave(phase%handle), status)
  end subroutine

  subroutine steelyard_phase_grade(phase, grade, status)
    type(steelyard_phase_t), intent(in) :: phase
    type(steelyard_grade_t), intent(out) :: grade
    integer(c_int), intent(out), optional :: status
    call give(phase_grade(phase%handle, grade), status)
  end subroutine

  ! The processes bound within one resource: their number, and as many of them as `processes` has room for.
  subroutine steelyard_node_processes_in(node, resource, place, processes, count, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(in) :: resource, place
    integer(c_int), intent(out) :: processes(:), count
    integer(c_int), intent(out), optional :: status
    integer(c_int) :: found(size(processes))
    found = -1
    call give(node_processes_in(node%handle, resource, place, found, size(processes), count), status)
    processes = found
  end subroutine

  subroutine steelyard_node_distribute(node, resource, most, chosen, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(in) :: resource, most
    logical, intent(out) :: chosen
    integer(c_int), intent(out), optional :: status
    integer(c_int) :: yes
    call give(node_distribute(node%handle, resource, most, yes), status)
    chosen = yes /= 0
  end subroutine

  subroutine steelyard_phase_free(phase)
    type(steelyard_phase_t), intent(inout) :: phase
    call phase_free(phase%handle)
    phase%handle = c_null_ptr
  end subroutine

  ! Collective over the node.
  subroutine steelyard_phase_enter(phase, chosen, status)
    type(steelyard_phase_t), intent(in) :: phase
    logical, intent(out) :: chosen
    integer(c_int), intent(out), optional :: status
    integer(c_int) :: yes
    call give(phase_enter(phase%handle, yes), status)
    chosen = yes /= 0
  end subroutine

  ! Collective over the node. `mine` is c_loc of a contiguous target of that many bytes.
  subroutine steelyard_phase_gather(phase, mine, bytes, all, status)
    type(steelyard_phase_t), intent(in) :: phase
    type(c_ptr), intent(in) :: mine
    integer(c_size_t), intent(in) :: bytes
    type(steelyard_view_t), intent(out) :: all
    integer(c_int), intent(out), optional :: status
    call give(phase_gather(phase%handle, mine, bytes, all), status)
  end subroutine

  ! Collective over the node. What was gathered goes back by `call steelyard_phase_scatter(phase, all%data, all%bytes, mine)`.
  subroutine steelyard_phase_scatter(phase, data, bytes, mine, status)
    type(steelyard_phase_t), intent(in) :: phase
    type(c_ptr), intent(in) :: data, bytes
    type(steelyard_view_t), intent(out) :: mine
    integer(c_int), intent(out), optional :: status
    call give(phase_scatter(phase%handle, data, bytes, mine), status)
  end subroutine

end module
