! SPDX-License-Identifier: BSD-3-Clause
! MPI by `use mpi_f08`: reductions in place, a broadcast of an array section, a ring of messages, OpenMP regions of
! unequal load.
program modern
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi_f08
  implicit none
  integer(int64) :: total, summed, i
  integer :: rank, ranks, step, table(10, 10)
  type(MPI_Request) :: requests(2)
  integer :: token, received

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  total = 0
  table = rank
  received = 0
  do step = 1, 30
    summed = 0
    !$omp parallel do reduction(+:summed)
    do i = 1, 100000_int64 * (rank + 1)
      summed = summed + mod(i, 3_int64)
    end do
    total = mod(total, 1000_int64) + summed
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
    if (rank == 0) table(3, :) = step
    call MPI_Bcast(table(3, :), 10, MPI_INTEGER, 0, MPI_COMM_WORLD)
    token = rank + step
    call MPI_Irecv(received, 1, MPI_INTEGER, modulo(rank - 1, ranks), 0, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(token, 1, MPI_INTEGER, modulo(rank + 1, ranks), 0, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    total = total + received + sum(table(3, :))
    call MPI_Barrier(MPI_COMM_WORLD)
  end do
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(a,i0)', 'modern: ', total
  call MPI_Finalize()
end program modern
