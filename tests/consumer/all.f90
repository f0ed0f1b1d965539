! SPDX-License-Identifier: BSD-3-Clause
! all.c in Fortran: the modules that are compiled with the program, over its MPI.
module twice_of
  use, intrinsic :: iso_c_binding
  use steelyard_tasks
  implicit none
contains
  integer(c_int) function twice(task, context) bind(c)
    type(steelyard_task_t), intent(inout) :: task
    type(c_ptr), value :: context
    integer(c_int64_t), pointer :: word
    integer(c_int64_t), target :: doubled
    call c_f_pointer(task%data, word)
    doubled = 2 * word
    call steelyard_task_set_result(task, c_loc(doubled), c_sizeof(doubled))
    twice = merge(0, 1, .not. c_associated(context))
  end function

  subroutine add(result, user) bind(c)
    type(steelyard_task_result_t), intent(in) :: result
    type(c_ptr), value :: user
    integer(c_int64_t), pointer :: sum, word
    call c_f_pointer(user, sum)
    call c_f_pointer(result%data, word)
    sum = sum + word
  end subroutine
end module

program all_modules
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi_f08
  use steelyard
  use steelyard_collectives
  use steelyard_loops
  use steelyard_phases
  use steelyard_regions
  use steelyard_tasks
  use twice_of
  implicit none
  type(steelyard_node_t) :: node
  type(steelyard_phase_t) :: wide
  type(steelyard_iterations_t) :: mine
  logical :: chosen
  type(steelyard_task_pool_t) :: pool
  type(steelyard_task_type_t) :: types(1)
  integer(int64), target :: i, doubled
  integer(int64) :: total

  call MPI_Init()
  call steelyard_region_begin('all')
  call steelyard_node_create(MPI_COMM_WORLD, node)
  call steelyard_phase_create(node, STEELYARD_MACHINE, 1, wide)
  call steelyard_phase_enter(wide, chosen)
  call steelyard_phase_leave(wide)
  call steelyard_phase_free(wide)
  call steelyard_node_free(node)
  total = 0
  call steelyard_loop_begin(mine, 1_int64, 10_int64)
  do while (steelyard_loop_next(mine))
    do i = mine%first, mine%last
      total = total + i
    end do
  end do
  call steelyard_loop_end(mine)
  types(1) = steelyard_task_type_t('twice', c_funloc(twice))
  call steelyard_task_pool_create(MPI_COMM_WORLD, types, pool)
  do i = 1, 10
    call steelyard_task_pool_spawn(pool, 0, i, c_loc(i), c_sizeof(i))
  end do
  doubled = 0
  call steelyard_task_pool_run(pool, add, c_loc(doubled))
  call steelyard_task_pool_free(pool)
  call steelyard_bcast(total, 1, MPI_INTEGER8, 0, MPI_COMM_WORLD)
  call steelyard_region_end('all')
  call MPI_Finalize()
  print '(a, l2, 2i4)', 'consumer of all modules:', chosen, total, doubled
  if (.not. chosen .or. total /= 55 .or. doubled /= 110) error stop 'wrong'
end program
