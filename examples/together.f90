! SPDX-License-Identifier: BSD-3-Clause
! together.cpp in Fortran: each step has work for every capability of Steelyard. The same options, loads and checksum.
include 'steelyard_loops.f90'
include 'steelyard_phases.f90'
include 'steelyard_tasks.f90'

! What threads do, and how much each rank has of it.
module work
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi_f08
  implicit none
  integer, parameter :: long = c_int64_t
  integer(long), parameter :: modulus = 1000003
  integer(long) :: steps = 10
  real(c_double) :: work_ms = 10  ! thread time of a rank in each part, on average
  logical :: sleeps = .false., phases = .true., tasks = .true.
  integer :: rank, ranks

  type, bind(c) :: timespec_t
    integer(c_long) :: seconds, nanoseconds
  end type
  integer(c_int), parameter :: monotonic = 1, absolute = 1  ! CLOCK_MONOTONIC and TIMER_ABSTIME of Linux

  interface
    integer(c_int) function clock_gettime(clock, time) bind(c)
      import :: c_int, timespec_t
      integer(c_int), value :: clock
      type(timespec_t), intent(out) :: time
    end function
    integer(c_int) function clock_nanosleep(clock, flags, time, rest) bind(c)
      import :: c_int, c_ptr, timespec_t
      integer(c_int), value :: clock, flags
      type(timespec_t), intent(in) :: time
      type(c_ptr), value :: rest
    end function
  end interface

contains

  integer(long) function work_ns()
    work_ns = int(work_ms * 1e6, long)
  end function

  integer(long) function now_ns()
    type(timespec_t) :: time
    integer(c_int) :: status
    status = clock_gettime(monotonic, time)
    now_ns = time%seconds * 1000000000_long + time%nanoseconds
  end function

  subroutine sleep_until(ns)
    integer(long), value :: ns
    do while (clock_nanosleep(monotonic, absolute, timespec_t(ns / 1000000000, mod(ns, 1000000000_long)), &
                              c_null_ptr) /= 0)
    end do
  end subroutine

  ! A chain of dependent operations that converges to 2, exactly.
  integer(long) function compute(ns)
    integer(long), value :: ns
    real(c_double) :: x
    integer(long) :: i
    x = 1
    do i = 1, max(60_long, ns * 3 / 10)
      x = 0.5_c_double * x + 1
    end do
    compute = int(x, long) / 2
  end function

  ! Takes that time. Returns 1. A thread that sleeps instead does so when it owes a millisecond, as the kernel cannot
  ! time less: it begins with due = now_ns(), and ends with sleep_until(due).
  integer(long) function worked(ns, due)
    integer(long), intent(in) :: ns
    integer(long), intent(inout) :: due
    worked = 1
    if (.not. sleeps) then
      worked = compute(ns)
    else
      due = due + ns
      if (due - now_ns() >= 1000000) call sleep_until(due)
    end if
  end function

  ! Work of a thread alone.
  integer(long) function worked_once(ns)
    integer(long), intent(in) :: ns
    integer(long) :: due
    due = now_ns()
    worked_once = worked(ns, due)
    if (sleeps) call sleep_until(due)
  end function

  ! One rank has twice the mean load, the others share the rest.
  pure real(c_double) function load(of, heaviest)
    integer, intent(in) :: of, heaviest
    load = 2
    if (ranks == 1) then
      load = 1
    else if (of /= heaviest) then
      load = real(ranks - 2, c_double) / (ranks - 1)
    end if
  end function

  ! What iteration i of a part contributes to the checksum.
  elemental integer(long) function token(part, step, i)
    integer, intent(in) :: part
    integer(long), intent(in) :: step, i
    token = mod(part * 31337 + step * 7919 + i * 104729, modulus)
  end function

  subroutine give_up(cause)
    character(len=*), intent(in) :: cause
    write (error_unit, '(a,i0,2a)') 'together: rank ', rank, ': ', cause
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  subroutine compare(part, found, expected)
    character(len=*), intent(in) :: part
    integer(long), intent(in) :: found, expected
    if (found /= expected) call give_up(part//': wrong result')
  end subroutine

end module

! Cells of unknown stiffness: one rank has most of them.
module chemistry
  use work
  use steelyard_tasks
  implicit none
  type, bind(c) :: cell_t
    integer(long) :: state, ns
  end type
  ! The results that a rank has got.
  type :: results_t
    integer(long) :: sum = 0, count = 0
  end type
  interface
    integer(c_intptr_t) function pthread_self() bind(c)
      import :: c_intptr_t
    end function
  end interface

contains

  integer(long) function integrated(cell)
    type(cell_t), intent(in) :: cell
    integrated = mod(cell%state**2 + worked_once(cell%ns), modulus)
  end function

  integer(c_int) function integrate(task, context) bind(c)
    type(steelyard_task_t), intent(inout) :: task
    type(c_ptr), value :: context
    type(cell_t), pointer :: cell
    integer(long), target :: state
    call c_f_pointer(task%data, cell)
    state = integrated(cell)
    call steelyard_task_set_result(task, c_loc(state), c_sizeof(state))
    integrate = 0
    if (c_associated(context)) integrate = 1
  end function

  subroutine keep(result, user) bind(c)
    type(steelyard_task_result_t), intent(in) :: result
    type(c_ptr), value :: user
    type(results_t), pointer :: results
    integer(long), pointer :: state
    call c_f_pointer(user, results)
    call c_f_pointer(result%data, state)
    results%sum = results%sum + state
    results%count = results%count + 1
  end subroutine

  integer(long) function integrated_here(cells)
    type(cell_t), intent(in) :: cells(:)
    integer(long) :: summed
    integer :: i
    summed = 0
    !$omp parallel do schedule(dynamic) reduction(+ : summed)
    do i = 1, size(cells)
      summed = summed + integrated(cells(i))
    end do
    integrated_here = summed
  end function

  integer(long) function integrated_anywhere(cells, pool)
    type(cell_t), intent(in), target :: cells(:)
    type(steelyard_task_pool_t), intent(in) :: pool
    type(results_t), target :: results
    integer(long) :: i
    integer(c_intptr_t) :: primary
    do i = 1, size(cells)
      call steelyard_task_pool_spawn(pool, 0, i, c_loc(cells(i)), c_sizeof(cells(i)))
    end do
    ! Without a query of the thread ID, so that `steelyard run` sees that a team of any size will do.
    primary = pthread_self()
    !$omp parallel
    if (pthread_self() == primary) then
      call steelyard_task_pool_run(pool, keep, c_loc(results))
    else
      call steelyard_task_pool_help(pool)
    end if
    !$omp end parallel
    call compare('results of chemistry', results%count, size(cells, kind=long))
    integrated_anywhere = results%sum
  end function

end module

program together
  use omp_lib, only: omp_get_max_threads
  use steelyard
  use steelyard_loops
  use steelyard_phases
  use chemistry
  implicit none
  integer, parameter :: rows = 96, share = 96, mean_cells = 24, parameters = 32768
  integer(long), parameter :: cell_ns = 50000
  integer(long) :: sums(5) = 0, totals(5), step, checksum
  integer :: provided, part
  real(c_double) :: start, seconds
  type(steelyard_loop_t) :: cracks
  type(steelyard_node_t) :: node
  type(steelyard_phase_t) :: wide
  type(steelyard_task_type_t) :: types(1)
  type(steelyard_task_pool_t) :: pool

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call parse()
  call steelyard_loop_create('cracks', cracks, status=part)
  call check(part)
  if (phases) then
    call steelyard_node_create(MPI_COMM_WORLD, node, part)
    call check(part)
    call steelyard_phase_create(node, STEELYARD_MACHINE, 1, wide, part)
    call check(part)
  end if
  if (tasks) then
    types(1) = steelyard_task_type_t('integrate', c_funloc(integrate))
    call steelyard_task_pool_create(MPI_COMM_WORLD, types, pool, &
      steelyard_task_pool_options_t(threads=omp_get_max_threads()), part)
    call check(part)
  end if

  call MPI_Barrier(MPI_COMM_WORLD)
  start = MPI_Wtime()
  do step = 0, steps - 1
    sums = sums + [read_parameters(), solved(), grown(), radiated(), reacted()]
    call MPI_Allreduce(sums, totals, size(sums), MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
  end do
  seconds = MPI_Wtime() - start
  checksum = 0
  do part = 1, size(totals)
    checksum = mod(checksum * 31 + totals(part), 1000000007_long)
  end do
  if (rank == 0) print '(a,i0,a,f9.4,a,i0)', 'together: steps ', steps, ', seconds', seconds, ', checksum ', checksum
  if (tasks) call steelyard_task_pool_free(pool)
  if (phases) call steelyard_phase_free(wide)
  if (phases) call steelyard_node_free(node)
  call steelyard_loop_free(cracks)
  call MPI_Finalize()

contains

  subroutine check(status)
    integer, intent(in) :: status
    character(len=300) :: message
    if (status == STEELYARD_SUCCESS) return
    call steelyard_message(message)
    call give_up(trim(message))
  end subroutine

  ! collectives: rank 0 needs no other rank for this. But the late rank is one of those that MPI's tree reaches first.
  integer(long) function read_parameters()
    integer :: values(0:parameters - 1)
    integer(long) :: i
    if (rank == 0) then
      values = [(int(token(1, step, i)), i = 0, parameters - 1)]
    else if (rank == ranks / 2) then
      i = worked_once(work_ns() / 4)
    end if
    call MPI_Bcast(values, parameters, MPI_INTEGER, 0, MPI_COMM_WORLD)
    read_parameters = sum(int(values, long))
  end function

  ! cores: a static OpenMP loop. Rank 0 has most of the cells.
  integer(long) function solved()
    integer(long) :: neighbour, i
    integer :: next, previous
    next = modulo(rank + 1, ranks)
    previous = modulo(rank - 1, ranks)
    solved = solved_cells(cells_of(rank), step)
    call MPI_Sendrecv(solved, 1, MPI_INTEGER8, next, 0, neighbour, 1, MPI_INTEGER8, previous, 0, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE)
    call compare('solver of the neighbour', neighbour, sum([(token(2, step, i), i = 0, cells_of(previous) - 1)]))
  end function

  integer(long) function cells_of(rank)
    integer, intent(in) :: rank
    cells_of = int(load(rank, 0) * real(work_ns() / cell_ns, c_double) + 0.5, long)
  end function

  integer(long) function solved_cells(cells, step)
    integer(long), value :: cells, step
    integer(long) :: summed, i, due
    summed = 0
    !$omp parallel private(due) reduction(+ : summed)
    due = now_ns()
    !$omp do schedule(static)
    do i = 0, cells - 1
      summed = summed + token(2, step, i) * worked(cell_ns, due)
    end do
    !$omp end do nowait
    if (sleeps) call sleep_until(due)
    !$omp end parallel
    solved_cells = summed
  end function

  ! loops: a loop whose iterations become longer and longer.
  integer(long) function grown()
    integer(long) :: summed, i, due
    type(steelyard_iterations_t) :: mine
    summed = 0
    !$omp parallel private(mine, i, due) reduction(+ : summed)
    due = now_ns()
    call steelyard_loop_begin(mine, 0_long, rows - 1_long, loop=cracks)
    do while (steelyard_loop_next(mine))
      do i = mine%first, mine%last
        summed = summed + token(3, step, i) * worked(work_ns() * (2 * i + 1) / rows**2, due)
      end do
    end do
    call steelyard_loop_end(mine)
    if (sleeps) call sleep_until(due)
    !$omp end parallel
    grown = summed
  end function

  ! phases: a threaded library, which knows nothing of MPI, computes for all ranks.
  integer(long) function radiated()
    integer(long), target :: field(share)
    integer(long), allocatable :: every(:)
    integer(long), pointer :: state(:)
    type(steelyard_view_t) :: all, mine
    integer(long) :: i
    logical :: chosen
    field = [(token(4, step, rank * 1000 + i), i = 0, share - 1)]
    if (phases) then
      call steelyard_phase_gather(wide, c_loc(field), c_sizeof(field), all)
      call steelyard_phase_enter(wide, chosen)
      if (chosen) then
        call c_f_pointer(all%data, state, [all%parts * share])
        call radiate(state, size(state))
      end if
      call steelyard_phase_leave(wide)
      call steelyard_phase_scatter(wide, all%data, all%sizes, mine)
      call c_f_pointer(mine%data, state, [share])
      field = state
    else
      allocate (every(merge(share * ranks, 0, rank == 0)))
      call MPI_Gather(field, share, MPI_INTEGER8, every, share, MPI_INTEGER8, 0, MPI_COMM_WORLD)
      if (rank == 0) call radiate(every, size(every))
      call MPI_Scatter(every, share, MPI_INTEGER8, field, share, MPI_INTEGER8, 0, MPI_COMM_WORLD)
    end if
    radiated = sum(field)
  end function

  subroutine radiate(field, cells)
    integer, intent(in) :: cells
    integer(long), intent(inout) :: field(cells)
    integer(long) :: each, due
    integer :: i
    each = work_ns() / cells
    !$omp parallel private(due)
    due = now_ns()
    !$omp do
    do i = 1, cells
      field(i) = mod(field(i)**2 + worked(each, due), modulus)
    end do
    !$omp end do nowait
    if (sleeps) call sleep_until(due)
    !$omp end parallel
  end subroutine

  ! tasks: 0.2 to 1.8 times the mean time.
  integer(long) function reacted()
    type(cell_t) :: cells(int(load(rank, ranks - 1) * mean_cells + 0.5))
    integer :: i
    do i = 1, size(cells)
      cells(i)%state = token(5, step, rank * 1000_long + i - 1)
    end do
    cells%ns = work_ns() / mean_cells * (20 + mod(cells%state, 161_long)) / 100
    if (tasks) then
      reacted = integrated_anywhere(cells, pool)
    else
      reacted = integrated_here(cells)
    end if
  end function

  subroutine parse()
    character(len=256) :: word
    integer :: argument, status
    do argument = 1, command_argument_count()
      call get_command_argument(argument, word)
      status = 0
      select case (word)
        case ('--kernel=compute', '--kernel=sleep'); sleeps = word == '--kernel=sleep'
        case ('--phases=on', '--phases=off'); phases = word == '--phases=on'
        case ('--tasks=on', '--tasks=off'); tasks = word == '--tasks=on'
        case default
          status = 1
          if (index(word, '--steps=') == 1) read (word(9:), *, iostat=status) steps
          if (index(word, '--work=') == 1) read (word(8:), *, iostat=status) work_ms
      end select
      if (status /= 0) call give_up(trim(word)//' is not understood. Options: --steps=N --work=MS '// &
        '--kernel=compute|sleep --phases=on|off --tasks=on|off')
    end do
  end subroutine

end program
