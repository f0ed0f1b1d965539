! SPDX-License-Identifier: BSD-3-Clause
!> Steelyard's phases for Fortran 2018: the calls and types that steelyard/phases.h documents, under the same names.
!! Indices count from 0, as there.
!!
!! The handles of mpi_f08 differ between MPI libraries, so this file is compiled with the program: name it before the
!! sources that use it, or write `include 'steelyard_phases.f90'` at the head of one, before its first program unit. It
!! needs the module steelyard. Link `-lsteelyard`.
!!
!!     call steelyard_node_create(MPI_COMM_WORLD, node)
!!     call steelyard_phase_create(node, STEELYARD_NUMA, 1, wide)
!!     call steelyard_phase_enter(wide, chosen)
!!     if (chosen) call threaded_library()
!!     call steelyard_phase_leave(wide)
!!
!! Each call has an optional status at its end: STEELYARD_SUCCESS, or an error of the C function of the same name. No
!! call is thread-safe. "Collective" calls are made by all processes named there, in the same order.
module steelyard_phases
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use steelyard
  implicit none
  private
  public :: steelyard_node_t, steelyard_phase_t, steelyard_cpuset_t, steelyard_process_info_t, &
    steelyard_machine_info_t, steelyard_phase_bounds_t, steelyard_phase_configuration_t, steelyard_view_t
  public :: steelyard_cpuset_format, steelyard_node_create, steelyard_node_split, steelyard_node_free, &
    steelyard_node_size, steelyard_node_rank, steelyard_node_count_resources, steelyard_node_count_resources_in, &
    steelyard_node_get_cpuset, steelyard_node_get_processes, steelyard_node_find_closest, steelyard_node_get_process, &
    steelyard_node_get_machine, steelyard_node_get_cpu_kind, steelyard_binding_push_cpuset, &
    steelyard_binding_push_resource, steelyard_binding_push_enclosing, steelyard_binding_pop, &
    steelyard_node_distribute, steelyard_node_barrier, steelyard_node_quiesce, steelyard_phase_create, &
    steelyard_phase_create_autotuned, steelyard_phase_free, steelyard_phase_enter, steelyard_phase_leave, &
    steelyard_phase_get_configuration, steelyard_phase_gather, steelyard_phase_scatter

  !> Types of resources of a machine: steelyard_resource_t.
  enum, bind(c)
    enumerator :: STEELYARD_MACHINE = 0, STEELYARD_PACKAGE = 1, STEELYARD_NUMA = 2, STEELYARD_L3 = 3, &
      STEELYARD_CORE = 4, STEELYARD_PU = 5
  end enum
  public :: STEELYARD_MACHINE, STEELYARD_PACKAGE, STEELYARD_NUMA, STEELYARD_L3, STEELYARD_CORE, STEELYARD_PU
  !> Thread counts between a push and its pop, besides the numbers from 1: as it is, and one for each core of the set.
  integer(c_int), parameter, public :: STEELYARD_THREADS_KEEP = -1, STEELYARD_THREADS_ONE_PER_CORE = 0

  !> A context: the processes of one node that share a communicator.
  type, bind(c) :: steelyard_node_t
    type(c_ptr) :: handle = c_null_ptr
  end type
  !> A part of the program that runs with fewer processes and more threads.
  type, bind(c) :: steelyard_phase_t
    type(c_ptr) :: handle = c_null_ptr
  end type
  !> A set of CPUs: CPU n is bit mod(n, 64) of words(n / 64 + 1).
  type, bind(c) :: steelyard_cpuset_t
    integer(c_int64_t) :: words(64) = 0
  end type
  !> A process of the node. bound: 1 if initial_cpuset leaves out a CPU of the machine, otherwise 0.
  type, bind(c) :: steelyard_process_info_t
    integer(c_int) :: rank = 0, pid = 0, bound = 0
    type(steelyard_cpuset_t) :: initial_cpuset, current_cpuset
  end type
  !> The machine of this node: steelyard_machine_info_t of phases.h documents the members.
  type, bind(c) :: steelyard_machine_info_t
    integer(c_int) :: threads_per_core = 0, cpu_kinds = 0, emulated = 0
    real(c_double) :: cpu_quota = 0
    type(steelyard_cpuset_t) :: allowed_cpuset, job_cpuset
  end type
  !> Limits of what an autotuned phase tries. A maximum of 0 is no limit. min_threads from 1: fewer threads are tried.
  type, bind(c) :: steelyard_phase_bounds_t
    integer(c_int) :: min_processes = 1, max_processes = 0, max_threads = 0, min_threads = 0
  end type
  !> How a phase runs next: steelyard_phase_configuration_t of phases.h documents the members.
  type, bind(c) :: steelyard_phase_configuration_t
    integer(c_int) :: processes = 0, threads = 0, settled = 0, chosen = 0, leader = 0
    real(c_double) :: seconds = 0
  end type
  !> Data in the node's shared memory, owned by the phase. `sizes` points to integer(c_size_t), `processes` to
  !! integer(c_int), both of `parts` elements: c_f_pointer makes arrays of them.
  type, bind(c) :: steelyard_view_t
    type(c_ptr) :: data = c_null_ptr
    integer(c_int) :: parts = 0
    type(c_ptr) :: sizes = c_null_ptr, processes = c_null_ptr
  end type
  ! steelyard_node_transport_t.
  type, bind(c) :: transport_type
    type(c_ptr) :: self
    integer(c_int) :: rank, size, rank_in_communicator, status
    type(c_ptr) :: message
    type(c_funptr) :: broadcast, all_agree, abort
  end type
  ! The processes of a node, and what they have agreed on.
  type :: node_type
    integer :: handle
    integer(c_int) :: agreed
  end type
  interface
    include 'steelyard_phases_c.inc'
  end interface
contains

  include 'steelyard_mpi.inc'
  include 'steelyard_phases_mpi.inc'

  !> Writes a set of CPUs as text, such as '0-3,8'.
  !!
  !! @param      cpuset the set
  !! @param[out] text   padded with blanks, or cut to the length of `text`
  !! @note Local. Does not block.
  subroutine steelyard_cpuset_format(cpuset, text)
    type(steelyard_cpuset_t), intent(in) :: cpuset
    character(len=*), intent(out) :: text
    character(kind=c_char) :: words(len(text) + 1)
    integer :: i
    call cpuset_format(cpuset, words, size(words, kind=c_size_t))
    text = ''
    do i = 1, len(text)
      if (words(i) == c_null_char) exit
      text(i:i) = words(i)
    end do
  end subroutine

  !> Creates a context of the processes of this node that are in a communicator.
  !!
  !! @param      communicator an intra-communicator; not kept
  !! @param[out] node         the context; freed with steelyard_node_free()
  !! @param[out] status       as for steelyard_node_create() in C
  !! @pre MPI is initialised and not finalised.
  !! @note Collective over `communicator`. Blocks until all its processes have made the call.
  subroutine steelyard_node_create(communicator, node, status)
    type(MPI_Comm), intent(in) :: communicator
    type(steelyard_node_t), intent(out) :: node
    integer(c_int), intent(out), optional :: status
    character(kind=c_char, len=MPI_MAX_ERROR_STRING + 64), target :: message
    type(node_type), target :: self
    type(MPI_Comm) :: here, several
    type(transport_type) :: transport
    integer :: rank, before, error
    integer(c_int) :: outcome
    logical :: by_number
    here = MPI_COMM_NULL
    self = node_type(here%mpi_val, 1_c_int)
    by_number = .false.
    transport = transport_type(c_loc(self), 0, 1, 0, usable(communicator, message), c_loc(message), &
      c_funloc(node_broadcast), c_funloc(node_all_agree), c_funloc(node_abort))
    if (transport%status == STEELYARD_SUCCESS) then
      call watch_finalize()
      call MPI_Comm_rank(MPI_COMM_WORLD, rank)
      call set_world_rank(int(rank, c_int))
      call MPI_Comm_rank(communicator, rank)
      transport%rank_in_communicator = rank
      by_number = is_mpich()  ! its MPI_Comm_split_type splits twice
      if (by_number) then
        call MPI_Comm_split(communicator, node_id(), rank, here, error)
      else
        call MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, here, error)
      end if
      transport%status = mpi_outcome(error, 'the split of the communicator by nodes', message)
    end if
    if (transport%status == STEELYARD_SUCCESS) call take_places()
    outcome = node_create_with_transport(transport, node)
    if (by_number .and. self%agreed == 0) then
      ! Two nodes may have the same number. Then all got a failure: a file in memory belongs to one node.
      several = here
      before = transport%size
      call MPI_Comm_split_type(several, MPI_COMM_TYPE_SHARED, int(transport%rank), MPI_INFO_NULL, here)
      call MPI_Comm_free(several)
      call take_places()
      if (transport%size < before) outcome = node_create_with_transport(transport, node)
    end if
    call give(outcome, status)
    if (here /= MPI_COMM_NULL) call MPI_Comm_free(here)
  contains
    ! An MPI error in the messages of the library ends the program: no call could report it to all ranks.
    subroutine take_places()
      self%handle = here%mpi_val
      call MPI_Comm_set_errhandler(here, MPI_ERRORS_ARE_FATAL)
      call MPI_Comm_rank(here, transport%rank)
      call MPI_Comm_size(here, transport%size)
    end subroutine
  end subroutine

  !> Splits a communicator into the processes that are bound to the same resource now.
  !!
  !! @param      node         the context
  !! @param      communicator an intra-communicator
  !! @param      resource     type of the resource
  !! @param[out] part         the communicator of the processes at this one's resource; freed with MPI_Comm_free
  !! @param[out] status       as for steelyard_node_split() in C
  !! @pre MPI is initialised and not finalised.
  !! @note Collective over `communicator`. Blocks until all its processes have made the call.
  subroutine steelyard_node_split(node, communicator, resource, part, status)
    type(steelyard_node_t), intent(in) :: node
    type(MPI_Comm), intent(in) :: communicator
    integer(c_int), intent(in) :: resource
    type(MPI_Comm), intent(out) :: part
    integer(c_int), intent(out), optional :: status
    character(kind=c_char, len=MPI_MAX_ERROR_STRING + 64) :: message
    type(MPI_Comm) :: here
    integer(c_int) :: outcome, place
    integer :: rank, error
    part = MPI_COMM_NULL
    outcome = node_find_closest(node%handle, resource, place)
    if (outcome == STEELYARD_SUCCESS) then
      here = MPI_COMM_NULL
      outcome = usable(communicator, message)
      if (outcome == STEELYARD_SUCCESS) then
        call MPI_Comm_rank(communicator, rank)
        call MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, here, error)
        if (error == MPI_SUCCESS) call MPI_Comm_split(here, place, rank, part, error)
        if (here /= MPI_COMM_NULL) call MPI_Comm_free(here)
        outcome = mpi_outcome(error, 'the split of the communicator by resources', message)
      end if
      if (outcome /= STEELYARD_SUCCESS) call set_message(message, index(message, c_null_char) - 1_c_size_t)
    end if
    call give(outcome, status)
  end subroutine

  !> Frees a context, before or after its phases, before or after MPI_Finalize. Pops the bindings that it has pushed.
  !!
  !! @param node the context
  !! @note Local. Does not block.
  subroutine steelyard_node_free(node)
    type(steelyard_node_t), intent(inout) :: node
    call node_free(node%handle)
    node%handle = c_null_ptr
  end subroutine

  !> Returns the number of processes of this node in the context.
  !!
  !! @param node the context
  !! @return the number of processes; 0 if the context was not created
  !! @note Local. Does not block.
  integer(c_int) function steelyard_node_size(node)
    type(steelyard_node_t), intent(in) :: node
    steelyard_node_size = node_size(node%handle)
  end function

  !> Returns the number of this process in the context.
  !!
  !! @param node the context
  !! @return the number, from 0
  !! @note Local. Does not block.
  integer(c_int) function steelyard_node_rank(node)
    type(steelyard_node_t), intent(in) :: node
    steelyard_node_rank = node_rank(node%handle)
  end function

  !> Counts the resources of a type on this node.
  !!
  !! @param      node     the context
  !! @param      resource type of the resource
  !! @param[out] count    their number; 0 if the machine has none of this type
  !! @param[out] status   as for steelyard_node_count_resources() in C
  !! @note Local. Does not block.
  subroutine steelyard_node_count_resources(node, resource, count, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(in) :: resource
    integer(c_int), intent(out) :: count
    integer(c_int), intent(out), optional :: status
    call give(node_count_resources(node%handle, resource, count), status)
  end subroutine

  !> Counts the resources of a type inside another resource.
  !!
  !! @param      node   the context
  !! @param      outer  type of the resource that contains them
  !! @param      index  which of that type, from 0
  !! @param      inner  type of the resources to be counted
  !! @param[out] count  their number
  !! @param[out] status as for steelyard_node_count_resources_in() in C
  !! @note Local. Does not block.
  subroutine steelyard_node_count_resources_in(node, outer, index, inner, count, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(in) :: outer
    integer(c_int), intent(in) :: index
    integer(c_int), intent(in) :: inner
    integer(c_int), intent(out) :: count
    integer(c_int), intent(out), optional :: status
    call give(node_count_resources_in(node%handle, outer, index, inner, count), status)
  end subroutine

  !> Returns the CPUs of a resource.
  !!
  !! @param      node     the context
  !! @param      resource type of the resource
  !! @param      index    which of that type, from 0
  !! @param[out] cpuset   its CPUs
  !! @param[out] status   as for steelyard_node_get_cpuset() in C
  !! @note Local. Does not block.
  subroutine steelyard_node_get_cpuset(node, resource, index, cpuset, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(in) :: resource
    integer(c_int), intent(in) :: index
    type(steelyard_cpuset_t), intent(out) :: cpuset
    integer(c_int), intent(out), optional :: status
    call give(node_get_cpuset(node%handle, resource, index, cpuset), status)
  end subroutine

  !> Finds the resource that contains most of the CPUs to which the calling thread is bound now.
  !!
  !! @param      node     the context
  !! @param      resource type of the resource
  !! @param[out] index    which of that type, from 0
  !! @param[out] status   as for steelyard_node_find_closest() in C
  !! @note Local. Does not block.
  subroutine steelyard_node_find_closest(node, resource, index, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(in) :: resource
    integer(c_int), intent(out) :: index
    integer(c_int), intent(out), optional :: status
    call give(node_find_closest(node%handle, resource, index), status)
  end subroutine

  !> Returns what is known about a process of the node.
  !!
  !! @param      node    the context
  !! @param      process number of the process in the context, from 0
  !! @param[out] info    the process
  !! @param[out] status  as for steelyard_node_get_process() in C
  !! @note Local. Does not block.
  subroutine steelyard_node_get_process(node, process, info, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(in) :: process
    type(steelyard_process_info_t), intent(out) :: info
    integer(c_int), intent(out), optional :: status
    call give(node_get_process(node%handle, process, info), status)
  end subroutine

  !> Returns what is known about the machine of this node.
  !!
  !! @param      node   the context
  !! @param[out] info   the machine
  !! @param[out] status as for steelyard_node_get_machine() in C
  !! @note Local. Does not block.
  subroutine steelyard_node_get_machine(node, info, status)
    type(steelyard_node_t), intent(in) :: node
    type(steelyard_machine_info_t), intent(out) :: info
    integer(c_int), intent(out), optional :: status
    call give(node_get_machine(node%handle, info), status)
  end subroutine

  !> Returns the kind of the core of a CPU, on machines with different cores.
  !!
  !! @param      node     the context
  !! @param      cpu      the kernel's number of the CPU
  !! @param[out] cpu_kind 0 for the most energy-efficient kind, up to cpu_kinds - 1
  !! @param[out] status   as for steelyard_node_get_cpu_kind() in C
  !! @note Local. Does not block.
  subroutine steelyard_node_get_cpu_kind(node, cpu, cpu_kind, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(in) :: cpu
    integer(c_int), intent(out) :: cpu_kind
    integer(c_int), intent(out), optional :: status
    call give(node_get_cpu_kind(node%handle, cpu, cpu_kind), status)
  end subroutine

  !> Binds the calling thread and its OpenMP workers to a set of CPUs, until the pop.
  !!
  !! @param      node    the context
  !! @param      cpuset  CPUs to bind to
  !! @param      threads threads of the next parallel regions: a number from 1, STEELYARD_THREADS_KEEP or
  !!                     STEELYARD_THREADS_ONE_PER_CORE
  !! @param[out] status  as for steelyard_binding_push_cpuset() in C
  !! @pre Outside parallel regions.
  !! @note Local. Does not block on other processes.
  subroutine steelyard_binding_push_cpuset(node, cpuset, threads, status)
    type(steelyard_node_t), intent(in) :: node
    type(steelyard_cpuset_t), intent(in) :: cpuset
    integer(c_int), intent(in) :: threads
    integer(c_int), intent(out), optional :: status
    call give(push_cpuset(node%handle, cpuset, threads), status)
  end subroutine

  !> Binds to the CPUs of a resource, until the pop.
  !!
  !! @param      node     the context
  !! @param      resource type of the resource
  !! @param      index    which of that type, from 0
  !! @param      threads  threads of the next parallel regions: a number from 1, STEELYARD_THREADS_KEEP or
  !!                      STEELYARD_THREADS_ONE_PER_CORE
  !! @param[out] status   as for steelyard_binding_push_resource() in C
  !! @pre Outside parallel regions.
  !! @note Local. Does not block on other processes.
  subroutine steelyard_binding_push_resource(node, resource, index, threads, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(in) :: resource
    integer(c_int), intent(in) :: index
    integer(c_int), intent(in) :: threads
    integer(c_int), intent(out), optional :: status
    call give(push_resource(node%handle, resource, index, threads), status)
  end subroutine

  !> Binds to the smallest resource that contains all CPUs to which the calling thread is bound now, until the pop.
  !!
  !! @param      node     the context
  !! @param      resource type of the resource
  !! @param      threads  threads of the next parallel regions: a number from 1, STEELYARD_THREADS_KEEP or
  !!                      STEELYARD_THREADS_ONE_PER_CORE
  !! @param[out] status   as for steelyard_binding_push_enclosing() in C
  !! @pre Outside parallel regions.
  !! @note Local. Does not block on other processes.
  subroutine steelyard_binding_push_enclosing(node, resource, threads, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(in) :: resource
    integer(c_int), intent(in) :: threads
    integer(c_int), intent(out), optional :: status
    call give(push_enclosing(node%handle, resource, threads), status)
  end subroutine

  !> Restores binding and thread count as they were before this context's last push.
  !!
  !! @param      node   the context
  !! @param[out] status as for steelyard_binding_pop() in C
  !! @pre Outside parallel regions.
  !! @note Local. Does not block on other processes.
  subroutine steelyard_binding_pop(node, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(out), optional :: status
    call give(c_pop(node%handle), status)
  end subroutine

  !> Waits until all processes of the node have made the call.
  !!
  !! @param      node   the context
  !! @param[out] status as for steelyard_node_barrier() in C
  !! @note Collective over the node. Blocks.
  subroutine steelyard_node_barrier(node, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(out), optional :: status
    call give(node_barrier(node%handle), status)
  end subroutine

  !> steelyard_node_barrier() for processes that have nothing to do: sleeps at once.
  !!
  !! @param      node   the context
  !! @param[out] status as for steelyard_node_quiesce() in C
  !! @note Collective over the node. Blocks.
  subroutine steelyard_node_quiesce(node, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(out), optional :: status
    call give(node_quiesce(node%handle), status)
  end subroutine

  !> Creates a phase in which chosen processes work, as steelyard_node_distribute() chooses them.
  !!
  !! @param      node          the context
  !! @param      resource      type of the resource
  !! @param      max_processes processes for each resource, at most; from 1
  !! @param[out] phase         the phase; freed with steelyard_phase_free()
  !! @param[out] status        as for steelyard_phase_create() in C
  !! @pre All processes of the node pass the same arguments.
  !! @note Local. Does not block.
  subroutine steelyard_phase_create(node, resource, max_processes, phase, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(in) :: resource
    integer(c_int), intent(in) :: max_processes
    type(steelyard_phase_t), intent(out) :: phase
    integer(c_int), intent(out), optional :: status
    call give(phase_create(node%handle, resource, max_processes, phase), status)
  end subroutine

  !> Creates a phase that finds the fastest number of processes and threads by measurement.
  !!
  !! @param      node   the context
  !! @param      bounds limits of what it tries
  !! @param[out] phase  the phase; freed with steelyard_phase_free()
  !! @param[out] status as for steelyard_phase_create_autotuned() in C
  !! @pre All processes of the node pass the same bounds.
  !! @note Local. Does not block.
  subroutine steelyard_phase_create_autotuned(node, bounds, phase, status)
    type(steelyard_node_t), intent(in) :: node
    type(steelyard_phase_bounds_t), intent(in) :: bounds
    type(steelyard_phase_t), intent(out) :: phase
    integer(c_int), intent(out), optional :: status
    call give(phase_create_autotuned(node%handle, bounds, phase), status)
  end subroutine

  !> Leaves a phase, with the binding and thread count as before. Processes that are not chosen sleep here.
  !!
  !! @param      phase  the phase
  !! @param[out] status as for steelyard_phase_leave() in C
  !! @pre Outside parallel regions.
  !! @note Collective over the node. Blocks until the chosen processes have left.
  subroutine steelyard_phase_leave(phase, status)
    type(steelyard_phase_t), intent(in) :: phase
    integer(c_int), intent(out), optional :: status
    call give(phase_leave(phase%handle), status)
  end subroutine

  !> Tells how a phase runs next.
  !!
  !! @param      phase         the phase
  !! @param[out] configuration its configuration
  !! @param[out] status        as for steelyard_phase_get_configuration() in C
  !! @note Local. Does not block.
  subroutine steelyard_phase_get_configuration(phase, configuration, status)
    type(steelyard_phase_t), intent(in) :: phase
    type(steelyard_phase_configuration_t), intent(out) :: configuration
    integer(c_int), intent(out), optional :: status
    call give(phase_get_configuration(phase%handle, configuration), status)
  end subroutine

  !> Returns the processes that were bound within a resource when the context was created.
  !!
  !! @param      node      the context
  !! @param      resource  type of the resource
  !! @param      index     which of that type, from 0
  !! @param[out] processes as many of them as fit, by their numbers in the context; -1 in the other elements
  !! @param[out] count     how many there are
  !! @param[out] status    as for steelyard_node_get_processes() in C
  !! @note Local. Does not block.
  subroutine steelyard_node_get_processes(node, resource, index, processes, count, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(in) :: resource, index
    integer(c_int), intent(out) :: processes(:), count
    integer(c_int), intent(out), optional :: status
    integer(c_int) :: found(size(processes))
    found = -1
    call give(node_get_processes(node%handle, resource, index, found, size(processes), count), status)
    processes = found
  end subroutine

  !> Chooses processes for each resource of a type. All processes get the same answer, without a message.
  !!
  !! @param      node          the context
  !! @param      resource      type of the resources
  !! @param      max_processes processes for each resource, at most; from 1
  !! @param[out] chosen        .true. if this process is chosen
  !! @param[out] status        as for steelyard_node_distribute() in C
  !! @note Local. Does not block.
  subroutine steelyard_node_distribute(node, resource, max_processes, chosen, status)
    type(steelyard_node_t), intent(in) :: node
    integer(c_int), intent(in) :: resource, max_processes
    logical, intent(out) :: chosen
    integer(c_int), intent(out), optional :: status
    integer(c_int) :: yes
    call give(node_distribute(node%handle, resource, max_processes, yes), status)
    chosen = yes /= 0
  end subroutine

  !> Frees a phase. A phase that is still entered is left, with a warning.
  !!
  !! @param phase the phase
  !! @note Local. Does not block, unless the phase is entered: then as steelyard_phase_leave().
  subroutine steelyard_phase_free(phase)
    type(steelyard_phase_t), intent(inout) :: phase
    call phase_free(phase%handle)
    phase%handle = c_null_ptr
  end subroutine

  !> Enters a phase. A chosen process returns when all processes have entered, bound to its resource and with its thread
  !! count set. Any other process returns at once and should call steelyard_phase_leave().
  !!
  !! @param      phase  the phase
  !! @param[out] chosen .true. if this process works
  !! @param[out] status as for steelyard_phase_enter() in C
  !! @pre Outside parallel regions.
  !! @note Collective over the node. A chosen process blocks until all have entered.
  subroutine steelyard_phase_enter(phase, chosen, status)
    type(steelyard_phase_t), intent(in) :: phase
    logical, intent(out) :: chosen
    integer(c_int), intent(out), optional :: status
    integer(c_int) :: yes
    call give(phase_enter(phase%handle, yes), status)
    chosen = yes /= 0
  end subroutine

  !> Brings data of each process to its leader.
  !!
  !! @param      phase  the phase
  !! @param      data   this process's data: c_loc of a contiguous target; c_null_ptr: none
  !! @param      size   bytes of `data`
  !! @param[out] all    at a leader, the data of its processes; elsewhere without parts. Valid until the next gather.
  !! @param[out] status as for steelyard_phase_gather() in C
  !! @note Collective over the node. Blocks until all have made the call.
  subroutine steelyard_phase_gather(phase, data, size, all, status)
    type(steelyard_phase_t), intent(in) :: phase
    type(c_ptr), intent(in) :: data
    integer(c_size_t), intent(in) :: size
    type(steelyard_view_t), intent(out) :: all
    integer(c_int), intent(out), optional :: status
    call give(phase_gather(phase%handle, data, size, all), status)
  end subroutine

  !> Brings data from each leader back to its processes. What was gathered goes back by `call
  !! steelyard_phase_scatter(phase, all%data, all%sizes, mine)`.
  !!
  !! @param      phase  the phase
  !! @param      data   at a leader: the data of its processes, one part after the other; ignored elsewhere
  !! @param      sizes  at a leader: c_loc of the bytes for each of its processes, integer(c_size_t); ignored elsewhere
  !! @param[out] mine   this process's part. Valid until the next scatter or gather.
  !! @param[out] status as for steelyard_phase_scatter() in C
  !! @note Collective over the node. Blocks until all have made the call.
  subroutine steelyard_phase_scatter(phase, data, sizes, mine, status)
    type(steelyard_phase_t), intent(in) :: phase
    type(c_ptr), intent(in) :: data, sizes
    type(steelyard_view_t), intent(out) :: mine
    integer(c_int), intent(out), optional :: status
    call give(phase_scatter(phase%handle, data, sizes, mine), status)
  end subroutine

end module
