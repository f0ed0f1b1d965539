// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <mpi.h>

#include <cstddef>

// The MPI library's own functions and handles, found in the process at their first use. The preload library is not
// linked with an MPI library: a program may load MPI later (mpi4py, plug-ins), privately (RTLD_LOCAL), or never.
// Include this header in place of mpi.h. If a use of PMPI_X is missing below, the preload library does not link.
// STEELYARD_MPI_IS_LINKED is defined for a program that is linked with MPI: mpi.h is all that it needs.
#ifndef STEELYARD_MPI_IS_LINKED
namespace steelyard::intercept {

/// A text as a template argument.
template <std::size_t size>
struct Name {
  char text[size];
  constexpr Name(const char (&literal)[size]) {
    for (std::size_t i = 0; i < size; ++i) text[i] = literal[i];
  }
};

/// The symbol of this name in the MPI library of this process. Ends the process with a message if there is none.
void* in_library(const char* name);

/// True if the MPI library of this process has the ABI that this file is compiled for, or if there is none.
bool library_has_our_abi();

template <typename Symbol, Name name>
Symbol* library_symbol() {
  static auto* const symbol = static_cast<Symbol*>(in_library(name.text));
  return symbol;
}

template <typename Function, Name name>
Function* library_call() {
  static auto* const function = reinterpret_cast<Function*>(in_library(name.text));
  return function;
}

}  // namespace steelyard::intercept

#define STEELYARD_LIBRARY_CALL(name) (::steelyard::intercept::library_call<decltype(name), #name>())

#ifdef OPEN_MPI
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) \
  (reinterpret_cast<type>(::steelyard::intercept::library_symbol<decltype(global), #global>()))
#define OMPI_C_MPI_COMM_NULL_COPY_FN STEELYARD_LIBRARY_CALL(OMPI_C_MPI_COMM_NULL_COPY_FN)
#define OMPI_C_MPI_WIN_NULL_COPY_FN STEELYARD_LIBRARY_CALL(OMPI_C_MPI_WIN_NULL_COPY_FN)
#define PMPI_Comm_f2c STEELYARD_LIBRARY_CALL(PMPI_Comm_f2c)
#define PMPI_Type_f2c STEELYARD_LIBRARY_CALL(PMPI_Type_f2c)
#define PMPI_Win_f2c STEELYARD_LIBRARY_CALL(PMPI_Win_f2c)
#endif

#define PMPI_Abort STEELYARD_LIBRARY_CALL(PMPI_Abort)
#define PMPI_Allgather STEELYARD_LIBRARY_CALL(PMPI_Allgather)
#define PMPI_Allgatherv STEELYARD_LIBRARY_CALL(PMPI_Allgatherv)
#define PMPI_Allreduce STEELYARD_LIBRARY_CALL(PMPI_Allreduce)
#define PMPI_Alltoall STEELYARD_LIBRARY_CALL(PMPI_Alltoall)
#define PMPI_Alltoallv STEELYARD_LIBRARY_CALL(PMPI_Alltoallv)
#define PMPI_Alltoallw STEELYARD_LIBRARY_CALL(PMPI_Alltoallw)
#define PMPI_Barrier STEELYARD_LIBRARY_CALL(PMPI_Barrier)
#define PMPI_Bcast STEELYARD_LIBRARY_CALL(PMPI_Bcast)
#define PMPI_Cancel STEELYARD_LIBRARY_CALL(PMPI_Cancel)
#define PMPI_Cart_create STEELYARD_LIBRARY_CALL(PMPI_Cart_create)
#define PMPI_Cart_sub STEELYARD_LIBRARY_CALL(PMPI_Cart_sub)
#define PMPI_Comm_call_errhandler STEELYARD_LIBRARY_CALL(PMPI_Comm_call_errhandler)
#define PMPI_Comm_create STEELYARD_LIBRARY_CALL(PMPI_Comm_create)
#define PMPI_Comm_create_group STEELYARD_LIBRARY_CALL(PMPI_Comm_create_group)
#define PMPI_Comm_create_keyval STEELYARD_LIBRARY_CALL(PMPI_Comm_create_keyval)
#define PMPI_Comm_delete_attr STEELYARD_LIBRARY_CALL(PMPI_Comm_delete_attr)
#define PMPI_Comm_dup STEELYARD_LIBRARY_CALL(PMPI_Comm_dup)
#define PMPI_Comm_dup_with_info STEELYARD_LIBRARY_CALL(PMPI_Comm_dup_with_info)
#define PMPI_Comm_free STEELYARD_LIBRARY_CALL(PMPI_Comm_free)
#define PMPI_Comm_free_keyval STEELYARD_LIBRARY_CALL(PMPI_Comm_free_keyval)
#define PMPI_Comm_get_attr STEELYARD_LIBRARY_CALL(PMPI_Comm_get_attr)
#define PMPI_Comm_group STEELYARD_LIBRARY_CALL(PMPI_Comm_group)
#define PMPI_Comm_idup STEELYARD_LIBRARY_CALL(PMPI_Comm_idup)
#define PMPI_Comm_rank STEELYARD_LIBRARY_CALL(PMPI_Comm_rank)
#define PMPI_Comm_set_attr STEELYARD_LIBRARY_CALL(PMPI_Comm_set_attr)
#define PMPI_Comm_set_errhandler STEELYARD_LIBRARY_CALL(PMPI_Comm_set_errhandler)
#define PMPI_Comm_size STEELYARD_LIBRARY_CALL(PMPI_Comm_size)
#define PMPI_Comm_split STEELYARD_LIBRARY_CALL(PMPI_Comm_split)
#define PMPI_Comm_split_type STEELYARD_LIBRARY_CALL(PMPI_Comm_split_type)
#define PMPI_Comm_test_inter STEELYARD_LIBRARY_CALL(PMPI_Comm_test_inter)
#define PMPI_Exscan STEELYARD_LIBRARY_CALL(PMPI_Exscan)
#define PMPI_File_close STEELYARD_LIBRARY_CALL(PMPI_File_close)
#define PMPI_File_open STEELYARD_LIBRARY_CALL(PMPI_File_open)
#define PMPI_File_read_all STEELYARD_LIBRARY_CALL(PMPI_File_read_all)
#define PMPI_File_read_at_all STEELYARD_LIBRARY_CALL(PMPI_File_read_at_all)
#define PMPI_File_write_all STEELYARD_LIBRARY_CALL(PMPI_File_write_all)
#define PMPI_File_write_at_all STEELYARD_LIBRARY_CALL(PMPI_File_write_at_all)
#define PMPI_Finalize STEELYARD_LIBRARY_CALL(PMPI_Finalize)
#define PMPI_Gather STEELYARD_LIBRARY_CALL(PMPI_Gather)
#define PMPI_Gatherv STEELYARD_LIBRARY_CALL(PMPI_Gatherv)
#define PMPI_Get_count STEELYARD_LIBRARY_CALL(PMPI_Get_count)
#define PMPI_Get_library_version STEELYARD_LIBRARY_CALL(PMPI_Get_library_version)
#define PMPI_Group_free STEELYARD_LIBRARY_CALL(PMPI_Group_free)
#define PMPI_Group_translate_ranks STEELYARD_LIBRARY_CALL(PMPI_Group_translate_ranks)
#define PMPI_Iallreduce STEELYARD_LIBRARY_CALL(PMPI_Iallreduce)
#define PMPI_Ibarrier STEELYARD_LIBRARY_CALL(PMPI_Ibarrier)
#define PMPI_Ibcast STEELYARD_LIBRARY_CALL(PMPI_Ibcast)
#define PMPI_Improbe STEELYARD_LIBRARY_CALL(PMPI_Improbe)
#define PMPI_Init STEELYARD_LIBRARY_CALL(PMPI_Init)
#define PMPI_Init_thread STEELYARD_LIBRARY_CALL(PMPI_Init_thread)
#define PMPI_Intercomm_create STEELYARD_LIBRARY_CALL(PMPI_Intercomm_create)
#define PMPI_Intercomm_merge STEELYARD_LIBRARY_CALL(PMPI_Intercomm_merge)
#define PMPI_Iprobe STEELYARD_LIBRARY_CALL(PMPI_Iprobe)
#define PMPI_Irecv STEELYARD_LIBRARY_CALL(PMPI_Irecv)
#define PMPI_Irsend STEELYARD_LIBRARY_CALL(PMPI_Irsend)
#define PMPI_Isend STEELYARD_LIBRARY_CALL(PMPI_Isend)
#define PMPI_Issend STEELYARD_LIBRARY_CALL(PMPI_Issend)
#define PMPI_Mprobe STEELYARD_LIBRARY_CALL(PMPI_Mprobe)
#define PMPI_Mrecv STEELYARD_LIBRARY_CALL(PMPI_Mrecv)
#define PMPI_Neighbor_allgather STEELYARD_LIBRARY_CALL(PMPI_Neighbor_allgather)
#define PMPI_Neighbor_allgatherv STEELYARD_LIBRARY_CALL(PMPI_Neighbor_allgatherv)
#define PMPI_Neighbor_alltoall STEELYARD_LIBRARY_CALL(PMPI_Neighbor_alltoall)
#define PMPI_Neighbor_alltoallv STEELYARD_LIBRARY_CALL(PMPI_Neighbor_alltoallv)
#define PMPI_Neighbor_alltoallw STEELYARD_LIBRARY_CALL(PMPI_Neighbor_alltoallw)
#define PMPI_Pack STEELYARD_LIBRARY_CALL(PMPI_Pack)
#define PMPI_Pack_size STEELYARD_LIBRARY_CALL(PMPI_Pack_size)
#define PMPI_Probe STEELYARD_LIBRARY_CALL(PMPI_Probe)
#define PMPI_Query_thread STEELYARD_LIBRARY_CALL(PMPI_Query_thread)
#define PMPI_Recv STEELYARD_LIBRARY_CALL(PMPI_Recv)
#define PMPI_Reduce STEELYARD_LIBRARY_CALL(PMPI_Reduce)
#define PMPI_Reduce_scatter STEELYARD_LIBRARY_CALL(PMPI_Reduce_scatter)
#define PMPI_Reduce_scatter_block STEELYARD_LIBRARY_CALL(PMPI_Reduce_scatter_block)
#define PMPI_Request_free STEELYARD_LIBRARY_CALL(PMPI_Request_free)
#define PMPI_Request_get_status STEELYARD_LIBRARY_CALL(PMPI_Request_get_status)
#define PMPI_Rsend STEELYARD_LIBRARY_CALL(PMPI_Rsend)
#define PMPI_Scan STEELYARD_LIBRARY_CALL(PMPI_Scan)
#define PMPI_Scatter STEELYARD_LIBRARY_CALL(PMPI_Scatter)
#define PMPI_Scatterv STEELYARD_LIBRARY_CALL(PMPI_Scatterv)
#define PMPI_Send STEELYARD_LIBRARY_CALL(PMPI_Send)
#define PMPI_Sendrecv STEELYARD_LIBRARY_CALL(PMPI_Sendrecv)
#define PMPI_Sendrecv_replace STEELYARD_LIBRARY_CALL(PMPI_Sendrecv_replace)
#define PMPI_Ssend STEELYARD_LIBRARY_CALL(PMPI_Ssend)
#define PMPI_Status_c2f STEELYARD_LIBRARY_CALL(PMPI_Status_c2f)
#define PMPI_Status_f2c STEELYARD_LIBRARY_CALL(PMPI_Status_f2c)
#define PMPI_Test STEELYARD_LIBRARY_CALL(PMPI_Test)
#define PMPI_Testall STEELYARD_LIBRARY_CALL(PMPI_Testall)
#define PMPI_Testany STEELYARD_LIBRARY_CALL(PMPI_Testany)
#define PMPI_Testsome STEELYARD_LIBRARY_CALL(PMPI_Testsome)
#define PMPI_Type_size STEELYARD_LIBRARY_CALL(PMPI_Type_size)
#define PMPI_Type_size_x STEELYARD_LIBRARY_CALL(PMPI_Type_size_x)
#define PMPI_Unpack STEELYARD_LIBRARY_CALL(PMPI_Unpack)
#define PMPI_Wait STEELYARD_LIBRARY_CALL(PMPI_Wait)
#define PMPI_Waitall STEELYARD_LIBRARY_CALL(PMPI_Waitall)
#define PMPI_Waitany STEELYARD_LIBRARY_CALL(PMPI_Waitany)
#define PMPI_Waitsome STEELYARD_LIBRARY_CALL(PMPI_Waitsome)
#define PMPI_Win_allocate STEELYARD_LIBRARY_CALL(PMPI_Win_allocate)
#define PMPI_Win_allocate_shared STEELYARD_LIBRARY_CALL(PMPI_Win_allocate_shared)
#define PMPI_Win_complete STEELYARD_LIBRARY_CALL(PMPI_Win_complete)
#define PMPI_Win_create STEELYARD_LIBRARY_CALL(PMPI_Win_create)
#define PMPI_Win_create_dynamic STEELYARD_LIBRARY_CALL(PMPI_Win_create_dynamic)
#define PMPI_Win_create_keyval STEELYARD_LIBRARY_CALL(PMPI_Win_create_keyval)
#define PMPI_Win_fence STEELYARD_LIBRARY_CALL(PMPI_Win_fence)
#define PMPI_Win_flush STEELYARD_LIBRARY_CALL(PMPI_Win_flush)
#define PMPI_Win_flush_all STEELYARD_LIBRARY_CALL(PMPI_Win_flush_all)
#define PMPI_Win_flush_local STEELYARD_LIBRARY_CALL(PMPI_Win_flush_local)
#define PMPI_Win_flush_local_all STEELYARD_LIBRARY_CALL(PMPI_Win_flush_local_all)
#define PMPI_Win_free STEELYARD_LIBRARY_CALL(PMPI_Win_free)
#define PMPI_Win_free_keyval STEELYARD_LIBRARY_CALL(PMPI_Win_free_keyval)
#define PMPI_Win_get_attr STEELYARD_LIBRARY_CALL(PMPI_Win_get_attr)
#define PMPI_Win_lock STEELYARD_LIBRARY_CALL(PMPI_Win_lock)
#define PMPI_Win_lock_all STEELYARD_LIBRARY_CALL(PMPI_Win_lock_all)
#define PMPI_Win_set_attr STEELYARD_LIBRARY_CALL(PMPI_Win_set_attr)
#define PMPI_Win_start STEELYARD_LIBRARY_CALL(PMPI_Win_start)
#define PMPI_Win_unlock STEELYARD_LIBRARY_CALL(PMPI_Win_unlock)
#define PMPI_Win_unlock_all STEELYARD_LIBRARY_CALL(PMPI_Win_unlock_all)
#define PMPI_Win_wait STEELYARD_LIBRARY_CALL(PMPI_Win_wait)

#if MPI_VERSION >= 4
#define PMPI_Allgather_c STEELYARD_LIBRARY_CALL(PMPI_Allgather_c)
#define PMPI_Allgatherv_c STEELYARD_LIBRARY_CALL(PMPI_Allgatherv_c)
#define PMPI_Allreduce_c STEELYARD_LIBRARY_CALL(PMPI_Allreduce_c)
#define PMPI_Alltoall_c STEELYARD_LIBRARY_CALL(PMPI_Alltoall_c)
#define PMPI_Alltoallv_c STEELYARD_LIBRARY_CALL(PMPI_Alltoallv_c)
#define PMPI_Alltoallw_c STEELYARD_LIBRARY_CALL(PMPI_Alltoallw_c)
#define PMPI_Bcast_c STEELYARD_LIBRARY_CALL(PMPI_Bcast_c)
#define PMPI_Exscan_c STEELYARD_LIBRARY_CALL(PMPI_Exscan_c)
#define PMPI_File_read_all_c STEELYARD_LIBRARY_CALL(PMPI_File_read_all_c)
#define PMPI_File_read_at_all_c STEELYARD_LIBRARY_CALL(PMPI_File_read_at_all_c)
#define PMPI_File_write_all_c STEELYARD_LIBRARY_CALL(PMPI_File_write_all_c)
#define PMPI_File_write_at_all_c STEELYARD_LIBRARY_CALL(PMPI_File_write_at_all_c)
#define PMPI_Gather_c STEELYARD_LIBRARY_CALL(PMPI_Gather_c)
#define PMPI_Gatherv_c STEELYARD_LIBRARY_CALL(PMPI_Gatherv_c)
#define PMPI_Mrecv_c STEELYARD_LIBRARY_CALL(PMPI_Mrecv_c)
#define PMPI_Neighbor_allgather_c STEELYARD_LIBRARY_CALL(PMPI_Neighbor_allgather_c)
#define PMPI_Neighbor_allgatherv_c STEELYARD_LIBRARY_CALL(PMPI_Neighbor_allgatherv_c)
#define PMPI_Neighbor_alltoall_c STEELYARD_LIBRARY_CALL(PMPI_Neighbor_alltoall_c)
#define PMPI_Neighbor_alltoallv_c STEELYARD_LIBRARY_CALL(PMPI_Neighbor_alltoallv_c)
#define PMPI_Neighbor_alltoallw_c STEELYARD_LIBRARY_CALL(PMPI_Neighbor_alltoallw_c)
#define PMPI_Recv_c STEELYARD_LIBRARY_CALL(PMPI_Recv_c)
#define PMPI_Reduce_c STEELYARD_LIBRARY_CALL(PMPI_Reduce_c)
#define PMPI_Reduce_scatter_block_c STEELYARD_LIBRARY_CALL(PMPI_Reduce_scatter_block_c)
#define PMPI_Reduce_scatter_c STEELYARD_LIBRARY_CALL(PMPI_Reduce_scatter_c)
#define PMPI_Rsend_c STEELYARD_LIBRARY_CALL(PMPI_Rsend_c)
#define PMPI_Scan_c STEELYARD_LIBRARY_CALL(PMPI_Scan_c)
#define PMPI_Scatter_c STEELYARD_LIBRARY_CALL(PMPI_Scatter_c)
#define PMPI_Scatterv_c STEELYARD_LIBRARY_CALL(PMPI_Scatterv_c)
#define PMPI_Send_c STEELYARD_LIBRARY_CALL(PMPI_Send_c)
#define PMPI_Sendrecv_c STEELYARD_LIBRARY_CALL(PMPI_Sendrecv_c)
#define PMPI_Sendrecv_replace_c STEELYARD_LIBRARY_CALL(PMPI_Sendrecv_replace_c)
#define PMPI_Ssend_c STEELYARD_LIBRARY_CALL(PMPI_Ssend_c)
#define PMPI_Win_allocate_c STEELYARD_LIBRARY_CALL(PMPI_Win_allocate_c)
#define PMPI_Win_allocate_shared_c STEELYARD_LIBRARY_CALL(PMPI_Win_allocate_shared_c)
#define PMPI_Win_create_c STEELYARD_LIBRARY_CALL(PMPI_Win_create_c)
#endif
#endif
