! SPDX-License-Identifier: BSD-3-Clause
! A task pool of which one rank has no memory. Linked with --wrap=malloc: rank 1 gets no memory for the description of
! the pool. All ranks must return from the call, each with its reason.
include 'steelyard_tasks.f90'

module memory
  use, intrinsic :: iso_c_binding
  implicit none
  logical :: exhausted = .false.
  interface
    type(c_ptr) function real_malloc(size) bind(c, name='__real_malloc')
      import :: c_ptr, c_size_t
      integer(c_size_t), value :: size
    end function
  end interface
contains
  type(c_ptr) function malloc(size) bind(c, name='__wrap_malloc')
    integer(c_size_t), value :: size
    malloc = c_null_ptr
    if (.not. exhausted .or. size < 256) malloc = real_malloc(size)
  end function

  integer(c_int) function nothing(task, context) bind(c)
    type(c_ptr), value :: task, context
    nothing = 0
    if (c_associated(task, context)) nothing = 1
  end function
end module

program main
  use mpi_f08
  use steelyard
  use steelyard_tasks
  use memory
  implicit none
  type(steelyard_task_type_t) :: types(1)
  type(steelyard_task_pool_t) :: pool
  integer :: rank, status
  character(len=40) :: name
  character(len=120) :: message

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  types(1) = steelyard_task_type_t('nothing', c_funloc(nothing))
  exhausted = rank == 1
  call steelyard_task_pool_create(MPI_COMM_WORLD, types, pool, status=status)
  exhausted = .false.
  call steelyard_status_name(status, name)
  call steelyard_message(message)
  print '(a,i0,4a)', 'rank ', rank, ' ', trim(name), ': ', trim(message)
  call MPI_Finalize()
end program
