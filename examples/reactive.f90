! SPDX-License-Identifier: BSD-3-Clause
! reactive.c in Fortran.
include 'steelyard_tasks.f90'

module chemistry
  use, intrinsic :: iso_c_binding
  use steelyard_tasks
  implicit none
  integer, parameter :: steps = 5, cells = 200
  integer(c_int64_t), parameter :: modulus = 1000003
  type, bind(c) :: cell_t
    integer(c_int64_t) :: state, stiffness
  end type
contains
  integer(c_int) function integrate(task, context) bind(c)
    type(steelyard_task_t), intent(inout) :: task
    type(c_ptr), value :: context
    type(cell_t), pointer :: cell
    integer(c_int64_t), target :: state
    integer(c_int64_t) :: i
    call c_f_pointer(task%data, cell)
    state = cell%state
    do i = 1, 1000 * cell%stiffness
      state = modulo(state * state + 1, modulus)
    end do
    call steelyard_task_set_result(task, c_loc(state), c_sizeof(state))
    integrate = 0
    if (c_associated(context)) integrate = 1
  end function

  subroutine keep(result, user) bind(c)
    type(steelyard_task_result_t), intent(in) :: result
    type(c_ptr), value :: user
    type(cell_t), pointer :: field(:)
    integer(c_int64_t), pointer :: state
    call c_f_pointer(user, field, [cells])
    call c_f_pointer(result%data, state)
    field(result%tag)%state = state
  end subroutine
end module

program reactive
  use mpi_f08
  use steelyard
  use chemistry
  implicit none
  type(cell_t), target :: field(cells)
  type(steelyard_task_type_t) :: types(1)
  type(steelyard_task_pool_t) :: pool
  integer :: rank, provided, step, status
  integer(c_int64_t) :: i, total
  character(len=300) :: message

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  types(1) = steelyard_task_type_t('integrate', c_funloc(integrate))
  call steelyard_task_pool_create(MPI_COMM_WORLD, types, pool, status=status)
  if (status /= STEELYARD_SUCCESS) then
    call steelyard_message(message)
    print '(2a)', 'reactive: ', trim(message)
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end if
  do i = 1, cells
    field(i) = cell_t(modulo((int(rank, c_int64_t) * cells + i - 1) * 7919, modulus), merge(20, 1, rank == 0))
  end do
  do step = 1, steps
    do i = 1, cells
      call steelyard_task_pool_spawn(pool, 0, i, c_loc(field(i)), c_sizeof(field(i)))
    end do
    call steelyard_task_pool_run(pool, keep, c_loc(field))
  end do
  call MPI_Allreduce(sum(field%state), total, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(a,i0,a,i0)', 'reactive: steps ', steps, ', checksum ', total
  call steelyard_task_pool_free(pool)
  call MPI_Finalize()
end program
