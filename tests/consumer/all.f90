! all.c in Fortran: the modules that are compiled with the program, over its MPI.
program all_modules
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi_f08
  use steelyard
  use steelyard_collectives
  use steelyard_loops
  use steelyard_phases
  implicit none
  type(steelyard_node_t) :: node
  type(steelyard_phase_t) :: wide
  type(steelyard_iterations_t) :: mine
  logical :: chosen
  integer(int64) :: i, total

  call MPI_Init()
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
  call steelyard_bcast(total, 1, MPI_INTEGER8, 0, MPI_COMM_WORLD)
  call MPI_Finalize()
  print '(a, l2, i4)', 'consumer of all modules:', chosen, total
  if (.not. chosen .or. total /= 55) error stop 'wrong'
end program
