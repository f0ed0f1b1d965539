! SPDX-License-Identifier: BSD-3-Clause
! coupled.c in Fortran.
include 'steelyard_phases.f90'

program coupled
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi_f08
  use steelyard
  use steelyard_phases
  implicit none
  integer, parameter :: steps = 10, cells = 300
  integer(int64), parameter :: modulus = 1000003
  integer(int64), target :: field(cells)
  integer(int64) :: total, found, results
  integer :: rank, ranks, provided, step, i
  logical :: chosen
  type(steelyard_node_t) :: node
  type(steelyard_phase_t) :: wide

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call steelyard_node_create(MPI_COMM_WORLD, node, i)
  call check(i)
  call steelyard_phase_create(node, STEELYARD_NUMA, 1, wide, i)
  call check(i)

  field = [(modulo((int(rank, int64) * cells + i) * 7919_int64, 1000_int64), i = 0, cells - 1)]
  do step = 1, steps
    call transport()
    call chemistry()
  end do
  call MPI_Allreduce(sum(field), total, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)

  ! Caller-driven: the parts of a phase, one by one.
  found = 0
  call steelyard_node_distribute(node, STEELYARD_MACHINE, 1, chosen)
  call steelyard_node_barrier(node)
  if (chosen) then
    call steelyard_binding_push_enclosing(node, STEELYARD_MACHINE, STEELYARD_THREADS_ONE_PER_CORE)
    found = equilibrate(total)
    call steelyard_binding_pop(node)
    call steelyard_node_barrier(node)
  else
    call steelyard_node_quiesce(node)
  end if
  call MPI_Allreduce(found, results, 1, MPI_INTEGER8, MPI_MAX, MPI_COMM_WORLD)

  if (rank == 0) print '(a,i0,a,i0)', 'coupled: steps ', steps, ', checksum ', total + results
  call steelyard_phase_free(wide)
  call steelyard_node_free(node)
  call MPI_Finalize()

contains

  subroutine check(status)
    integer, intent(in) :: status
    character(len=300) :: message
    if (status == STEELYARD_SUCCESS) return
    call steelyard_message(message)
    print '(2a)', 'coupled: ', trim(message)
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  ! MPI-everywhere: each cell takes from its neighbours, on a ring of all ranks.
  subroutine transport()
    integer(int64) :: old(0:cells + 1)
    integer :: next, previous
    next = modulo(rank + 1, ranks)
    previous = modulo(rank - 1, ranks)
    old(1:cells) = field
    call MPI_Sendrecv(field(cells), 1, MPI_INTEGER8, next, 0, old(0), 1, MPI_INTEGER8, previous, 0, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE)
    call MPI_Sendrecv(field(1), 1, MPI_INTEGER8, previous, 1, old(cells + 1), 1, MPI_INTEGER8, next, 1, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    field = modulo(old(0:cells - 1) + 2 * old(1:cells) + old(2:cells + 1), modulus)
  end subroutine

  ! MPI+OpenMP, callee-driven: few ranks work, for all.
  subroutine chemistry()
    type(steelyard_view_t) :: all, mine
    integer(int64), pointer :: state(:)
    integer :: cell
    logical :: works
    call steelyard_phase_gather(wide, c_loc(field), c_sizeof(field), all)
    call steelyard_phase_enter(wide, works)
    if (works) then
      call c_f_pointer(all%data, state, [all%parts * cells])
      !$omp parallel do
      do cell = 1, size(state)
        state(cell) = modulo(state(cell)**2 + 1, modulus)
      end do
    end if
    call steelyard_phase_leave(wide)
    call steelyard_phase_scatter(wide, all%data, all%sizes, mine)
    call c_f_pointer(mine%data, state, [cells])
    field = state
  end subroutine

  ! A threaded function that cannot be changed.
  function equilibrate(start) result(summed)
    integer(int64), intent(in) :: start
    integer(int64) :: summed, k
    summed = 0
    !$omp parallel do reduction(+ : summed)
    do k = 0, 999
      summed = summed + modulo((start + k)**2, modulus)
    end do
  end function

end program
