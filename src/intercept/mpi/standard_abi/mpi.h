// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

// Of the ABI that the MPI standard defines since version 5.0 (its chapter on the ABI, and annex A), the part that the
// wrappers use. An MPI with this ABI installs it as libmpi_abi.so.1 (MPICH 5.0.0: libmpi_abi.so.0), beside the library
// that has its own ABI. As these declarations are here, the preload library is built on every machine.
// tests/packaging/check-pypi-mpis.sh compares them with MPICH's. NOLINTBEGIN: the values are the standard's.
#define STEELYARD_STANDARD_ABI
#define MPI_VERSION 5
#define MPI_ABI_VERSION 1

using MPI_Aint = std::intptr_t;
using MPI_Offset = std::int64_t;
using MPI_Count = MPI_Offset;

struct MPI_Status {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int MPI_internal[5];
};

using MPI_Comm = struct MPI_ABI_Comm*;
using MPI_Datatype = struct MPI_ABI_Datatype*;
using MPI_Errhandler = struct MPI_ABI_Errhandler*;
using MPI_File = struct MPI_ABI_File*;
using MPI_Group = struct MPI_ABI_Group*;
using MPI_Info = struct MPI_ABI_Info*;
using MPI_Message = struct MPI_ABI_Message*;
using MPI_Op = struct MPI_ABI_Op*;
using MPI_Request = struct MPI_ABI_Request*;
using MPI_Win = struct MPI_ABI_Win*;

using MPI_Comm_copy_attr_function = int(MPI_Comm comm, int keyval, void* extra_state, void* attribute_val_in,
                                        void* attribute_val_out, int* flag);
using MPI_Comm_delete_attr_function = int(MPI_Comm comm, int keyval, void* attribute_val, void* extra_state);
using MPI_Win_copy_attr_function = int(MPI_Win win, int keyval, void* extra_state, void* attribute_val_in,
                                       void* attribute_val_out, int* flag);
using MPI_Win_delete_attr_function = int(MPI_Win win, int keyval, void* attribute_val, void* extra_state);

enum {
  MPI_ANY_SOURCE = -1,
  MPI_COMM_TYPE_SHARED = 221,
  MPI_ERR_BUFFER = 1,
  MPI_ERR_IN_STATUS = 19,
  MPI_ERR_OTHER = 16,
  MPI_ERR_PENDING = 18,
  MPI_ERR_ROOT = 8,
  MPI_ERR_TRUNCATE = 15,
  MPI_ERR_TYPE = 3,
  MPI_KEYVAL_INVALID = 0,
  MPI_PROC_NULL = -3,
  MPI_SUCCESS = 0,
  MPI_TAG_UB = 501,
  MPI_THREAD_MULTIPLE = 4096,
  MPI_THREAD_SINGLE = 0,
  MPI_UNDEFINED = -32766,
  MPI_WIN_CREATE_FLAVOR = 604,
  MPI_WIN_FLAVOR_SHARED = 314,
};
#define MPI_BAND ((MPI_Op)0x00000028)
#define MPI_BOTTOM ((void*)0)
#define MPI_BYTE ((MPI_Datatype)0x00000247)
#define MPI_CHAR ((MPI_Datatype)0x00000243)
#define MPI_CHARACTER ((MPI_Datatype)0x0000021e)
#define MPI_COMM_NULL ((MPI_Comm)0x00000100)
#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function*)0x0)
#define MPI_COMM_SELF ((MPI_Comm)0x00000102)
#define MPI_COMM_WORLD ((MPI_Comm)0x00000101)
#define MPI_COMPLEX ((MPI_Datatype)0x0000021b)
#define MPI_C_BOOL ((MPI_Datatype)0x00000238)
#define MPI_C_DOUBLE_COMPLEX ((MPI_Datatype)0x00000216)
#define MPI_C_FLOAT_COMPLEX ((MPI_Datatype)0x00000212)
#define MPI_DATATYPE_NULL ((MPI_Datatype)0x00000200)
#define MPI_DOUBLE ((MPI_Datatype)0x00000214)
#define MPI_DOUBLE_COMPLEX ((MPI_Datatype)0x0000021d)
#define MPI_DOUBLE_PRECISION ((MPI_Datatype)0x0000021c)
#define MPI_ERRORS_ARE_FATAL ((MPI_Errhandler)0x00000141)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)0x00000143)
#define MPI_FLOAT ((MPI_Datatype)0x00000210)
#define MPI_INFO_NULL ((MPI_Info)0x00000130)
#define MPI_INT ((MPI_Datatype)0x00000209)
#define MPI_INT16_T ((MPI_Datatype)0x00000248)
#define MPI_INT32_T ((MPI_Datatype)0x00000250)
#define MPI_INT64_T ((MPI_Datatype)0x00000258)
#define MPI_INT8_T ((MPI_Datatype)0x00000240)
#define MPI_INTEGER ((MPI_Datatype)0x00000219)
#define MPI_INTEGER4 ((MPI_Datatype)0x000002d1)
#define MPI_INTEGER8 ((MPI_Datatype)0x000002d9)
#define MPI_IN_PLACE ((void*)1)
#define MPI_LOGICAL ((MPI_Datatype)0x00000218)
#define MPI_LONG ((MPI_Datatype)0x0000020a)
#define MPI_LONG_LONG ((MPI_Datatype)0x0000020b)
#define MPI_MAX_LIBRARY_VERSION_STRING 8192
#define MPI_MIN ((MPI_Op)0x00000022)
#define MPI_PACKED ((MPI_Datatype)0x00000207)
#define MPI_REAL ((MPI_Datatype)0x0000021a)
#define MPI_REAL4 ((MPI_Datatype)0x000002d2)
#define MPI_REAL8 ((MPI_Datatype)0x000002da)
#define MPI_REQUEST_NULL ((MPI_Request)0x00000180)
#define MPI_SHORT ((MPI_Datatype)0x00000208)
#define MPI_SIGNED_CHAR ((MPI_Datatype)0x00000244)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_SUM ((MPI_Op)0x00000021)
#define MPI_UINT16_T ((MPI_Datatype)0x00000249)
#define MPI_UINT32_T ((MPI_Datatype)0x00000251)
#define MPI_UINT64_T ((MPI_Datatype)0x00000259)
#define MPI_UINT8_T ((MPI_Datatype)0x00000241)
#define MPI_UNSIGNED ((MPI_Datatype)0x0000020d)
#define MPI_UNSIGNED_CHAR ((MPI_Datatype)0x00000245)
#define MPI_UNSIGNED_LONG ((MPI_Datatype)0x0000020e)
#define MPI_UNSIGNED_LONG_LONG ((MPI_Datatype)0x0000020f)
#define MPI_UNSIGNED_SHORT ((MPI_Datatype)0x0000020c)
#define MPI_WIN_NULL_COPY_FN ((MPI_Win_copy_attr_function*)0x0)

#define STEELYARD_MPI(name, parameters) \
  int MPI_##name parameters;            \
  int PMPI_##name parameters

extern "C" {
STEELYARD_MPI(Abort, (MPI_Comm comm, int errorcode));
STEELYARD_MPI(Allgather, (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                          MPI_Datatype recvtype, MPI_Comm comm));
STEELYARD_MPI(Allgather_c, (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                            MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm));
STEELYARD_MPI(Allgatherv, (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm));
STEELYARD_MPI(Allgatherv_c,
              (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm));
STEELYARD_MPI(Allreduce,
              (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm));
STEELYARD_MPI(Allreduce_c,
              (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm));
STEELYARD_MPI(Alltoall, (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                         MPI_Datatype recvtype, MPI_Comm comm));
STEELYARD_MPI(Alltoall_c, (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm));
STEELYARD_MPI(Alltoallv,
              (const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
               const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm));
STEELYARD_MPI(Alltoallv_c, (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                            MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                            const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm));
STEELYARD_MPI(Alltoallw, (const void* sendbuf, const int sendcounts[], const int sdispls[],
                          const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const int rdispls[],
                          const MPI_Datatype recvtypes[], MPI_Comm comm));
STEELYARD_MPI(Alltoallw_c, (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm));
STEELYARD_MPI(Barrier, (MPI_Comm comm));
STEELYARD_MPI(Bcast, (void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm));
STEELYARD_MPI(Bcast_c, (void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm));
STEELYARD_MPI(Cancel, (MPI_Request * request));
STEELYARD_MPI(Cart_create,
              (MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm* comm_cart));
STEELYARD_MPI(Cart_sub, (MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm));
STEELYARD_MPI(Comm_call_errhandler, (MPI_Comm comm, int errorcode));
STEELYARD_MPI(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm));
STEELYARD_MPI(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm));
STEELYARD_MPI(Comm_create_keyval,
              (MPI_Comm_copy_attr_function * comm_copy_attr_fn, MPI_Comm_delete_attr_function* comm_delete_attr_fn,
               int* comm_keyval, void* extra_state));
STEELYARD_MPI(Comm_delete_attr, (MPI_Comm comm, int comm_keyval));
STEELYARD_MPI(Comm_dup, (MPI_Comm comm, MPI_Comm* newcomm));
STEELYARD_MPI(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm));
STEELYARD_MPI(Comm_free, (MPI_Comm * comm));
STEELYARD_MPI(Comm_free_keyval, (int* comm_keyval));
STEELYARD_MPI(Comm_get_attr, (MPI_Comm comm, int comm_keyval, void* attribute_val, int* flag));
STEELYARD_MPI(Comm_group, (MPI_Comm comm, MPI_Group* group));
STEELYARD_MPI(Comm_idup, (MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request));
STEELYARD_MPI(Comm_rank, (MPI_Comm comm, int* rank));
STEELYARD_MPI(Comm_set_attr, (MPI_Comm comm, int comm_keyval, void* attribute_val));
STEELYARD_MPI(Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler errhandler));
STEELYARD_MPI(Comm_size, (MPI_Comm comm, int* size));
STEELYARD_MPI(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* newcomm));
STEELYARD_MPI(Comm_split_type, (MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm));
STEELYARD_MPI(Comm_test_inter, (MPI_Comm comm, int* flag));
STEELYARD_MPI(Exscan, (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm));
STEELYARD_MPI(Exscan_c,
              (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm));
STEELYARD_MPI(File_close, (MPI_File * fh));
STEELYARD_MPI(File_open, (MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh));
STEELYARD_MPI(File_read_all, (MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Status* status));
STEELYARD_MPI(File_read_all_c, (MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Status* status));
STEELYARD_MPI(File_read_at_all,
              (MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype, MPI_Status* status));
STEELYARD_MPI(File_read_at_all_c,
              (MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Status* status));
STEELYARD_MPI(File_write_all, (MPI_File fh, const void* buf, int count, MPI_Datatype datatype, MPI_Status* status));
STEELYARD_MPI(File_write_all_c,
              (MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Status* status));
STEELYARD_MPI(File_write_at_all,
              (MPI_File fh, MPI_Offset offset, const void* buf, int count, MPI_Datatype datatype, MPI_Status* status));
STEELYARD_MPI(File_write_at_all_c, (MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                                    MPI_Datatype datatype, MPI_Status* status));
STEELYARD_MPI(Finalize, (void));
STEELYARD_MPI(Gather, (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                       MPI_Datatype recvtype, int root, MPI_Comm comm));
STEELYARD_MPI(Gather_c, (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                         MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm));
STEELYARD_MPI(Gatherv, (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                        const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm));
STEELYARD_MPI(Gatherv_c,
              (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm));
STEELYARD_MPI(Get_count, (const MPI_Status* status, MPI_Datatype datatype, int* count));
STEELYARD_MPI(Get_library_version, (char* version, int* resultlen));
STEELYARD_MPI(Group_free, (MPI_Group * group));
STEELYARD_MPI(Group_translate_ranks, (MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]));
STEELYARD_MPI(Iallreduce, (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm, MPI_Request* request));
STEELYARD_MPI(Ibarrier, (MPI_Comm comm, MPI_Request* request));
STEELYARD_MPI(Ibcast, (void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request* request));
STEELYARD_MPI(Improbe, (int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status));
STEELYARD_MPI(Init, (int* argc, char*** argv));
STEELYARD_MPI(Init_thread, (int* argc, char*** argv, int required, int* provided));
STEELYARD_MPI(Intercomm_create, (MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
                                 MPI_Comm* newintercomm));
STEELYARD_MPI(Intercomm_merge, (MPI_Comm intercomm, int high, MPI_Comm* newintracomm));
STEELYARD_MPI(Iprobe, (int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status));
STEELYARD_MPI(Irecv,
              (void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request* request));
STEELYARD_MPI(Irsend, (const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                       MPI_Request* request));
STEELYARD_MPI(Isend, (const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                      MPI_Request* request));
STEELYARD_MPI(Issend, (const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                       MPI_Request* request));
STEELYARD_MPI(Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status));
STEELYARD_MPI(Mrecv, (void* buf, int count, MPI_Datatype datatype, MPI_Message* message, MPI_Status* status));
STEELYARD_MPI(Mrecv_c, (void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message, MPI_Status* status));
STEELYARD_MPI(Neighbor_allgather, (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm));
STEELYARD_MPI(Neighbor_allgather_c, (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm));
STEELYARD_MPI(Neighbor_allgatherv, (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm));
STEELYARD_MPI(Neighbor_allgatherv_c,
              (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm));
STEELYARD_MPI(Neighbor_alltoall, (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm));
STEELYARD_MPI(Neighbor_alltoall_c, (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm));
STEELYARD_MPI(Neighbor_alltoallv,
              (const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
               const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm));
STEELYARD_MPI(Neighbor_alltoallv_c, (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                     MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                                     const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm));
STEELYARD_MPI(Neighbor_alltoallw, (const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                                   const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                                   const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm));
STEELYARD_MPI(Neighbor_alltoallw_c, (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                     const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm));
STEELYARD_MPI(Pack, (const void* inbuf, int incount, MPI_Datatype datatype, void* outbuf, int outsize, int* position,
                     MPI_Comm comm));
STEELYARD_MPI(Pack_size, (int incount, MPI_Datatype datatype, MPI_Comm comm, int* size));
STEELYARD_MPI(Probe, (int source, int tag, MPI_Comm comm, MPI_Status* status));
STEELYARD_MPI(Query_thread, (int* provided));
STEELYARD_MPI(Recv,
              (void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status));
STEELYARD_MPI(Recv_c, (void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                       MPI_Status* status));
STEELYARD_MPI(Reduce, (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                       MPI_Comm comm));
STEELYARD_MPI(Reduce_c, (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                         int root, MPI_Comm comm));
STEELYARD_MPI(Reduce_scatter, (const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype,
                               MPI_Op op, MPI_Comm comm));
STEELYARD_MPI(Reduce_scatter_block,
              (const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm));
STEELYARD_MPI(Reduce_scatter_block_c, (const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                                       MPI_Op op, MPI_Comm comm));
STEELYARD_MPI(Reduce_scatter_c, (const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm));
STEELYARD_MPI(Request_free, (MPI_Request * request));
STEELYARD_MPI(Request_get_status, (MPI_Request request, int* flag, MPI_Status* status));
STEELYARD_MPI(Rsend, (const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm));
STEELYARD_MPI(Rsend_c, (const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm));
STEELYARD_MPI(Scan, (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm));
STEELYARD_MPI(Scan_c,
              (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm));
STEELYARD_MPI(Scatter, (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                        MPI_Datatype recvtype, int root, MPI_Comm comm));
STEELYARD_MPI(Scatter_c, (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                          MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm));
STEELYARD_MPI(Scatterv, (const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                         void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm));
STEELYARD_MPI(Scatterv_c,
              (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype,
               void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm));
STEELYARD_MPI(Send, (const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm));
STEELYARD_MPI(Send_c, (const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm));
STEELYARD_MPI(Sendrecv,
              (const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
               int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status* status));
STEELYARD_MPI(Sendrecv_c,
              (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
               MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status* status));
STEELYARD_MPI(Sendrecv_replace, (void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                                 int recvtag, MPI_Comm comm, MPI_Status* status));
STEELYARD_MPI(Sendrecv_replace_c, (void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
                                   int recvtag, MPI_Comm comm, MPI_Status* status));
STEELYARD_MPI(Ssend, (const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm));
STEELYARD_MPI(Ssend_c, (const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm));
STEELYARD_MPI(Test, (MPI_Request * request, int* flag, MPI_Status* status));
STEELYARD_MPI(Testall, (int count, MPI_Request array_of_requests[], int* flag, MPI_Status* array_of_statuses));
STEELYARD_MPI(Testany, (int count, MPI_Request array_of_requests[], int* indx, int* flag, MPI_Status* status));
STEELYARD_MPI(Testsome, (int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
                         MPI_Status* array_of_statuses));
STEELYARD_MPI(Type_size, (MPI_Datatype datatype, int* size));
STEELYARD_MPI(Type_size_x, (MPI_Datatype datatype, MPI_Count* size));
STEELYARD_MPI(Unpack, (const void* inbuf, int insize, int* position, void* outbuf, int outcount, MPI_Datatype datatype,
                       MPI_Comm comm));
STEELYARD_MPI(Wait, (MPI_Request * request, MPI_Status* status));
STEELYARD_MPI(Waitall, (int count, MPI_Request array_of_requests[], MPI_Status* array_of_statuses));
STEELYARD_MPI(Waitany, (int count, MPI_Request array_of_requests[], int* indx, MPI_Status* status));
STEELYARD_MPI(Waitsome, (int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
                         MPI_Status* array_of_statuses));
STEELYARD_MPI(Win_allocate, (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win));
STEELYARD_MPI(Win_allocate_c,
              (MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win));
STEELYARD_MPI(Win_allocate_shared,
              (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win));
STEELYARD_MPI(Win_allocate_shared_c,
              (MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win));
STEELYARD_MPI(Win_complete, (MPI_Win win));
STEELYARD_MPI(Win_create, (void* base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win));
STEELYARD_MPI(Win_create_c,
              (void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win));
STEELYARD_MPI(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win* win));
STEELYARD_MPI(Win_create_keyval,
              (MPI_Win_copy_attr_function * win_copy_attr_fn, MPI_Win_delete_attr_function* win_delete_attr_fn,
               int* win_keyval, void* extra_state));
STEELYARD_MPI(Win_fence, (int assert, MPI_Win win));
STEELYARD_MPI(Win_flush, (int rank, MPI_Win win));
STEELYARD_MPI(Win_flush_all, (MPI_Win win));
STEELYARD_MPI(Win_flush_local, (int rank, MPI_Win win));
STEELYARD_MPI(Win_flush_local_all, (MPI_Win win));
STEELYARD_MPI(Win_free, (MPI_Win * win));
STEELYARD_MPI(Win_free_keyval, (int* win_keyval));
STEELYARD_MPI(Win_get_attr, (MPI_Win win, int win_keyval, void* attribute_val, int* flag));
STEELYARD_MPI(Win_lock, (int lock_type, int rank, int assert, MPI_Win win));
STEELYARD_MPI(Win_lock_all, (int assert, MPI_Win win));
STEELYARD_MPI(Win_set_attr, (MPI_Win win, int win_keyval, void* attribute_val));
STEELYARD_MPI(Win_start, (MPI_Group group, int assert, MPI_Win win));
STEELYARD_MPI(Win_unlock, (int rank, MPI_Win win));
STEELYARD_MPI(Win_unlock_all, (MPI_Win win));
STEELYARD_MPI(Win_wait, (MPI_Win win));
}

#undef STEELYARD_MPI
// NOLINTEND
