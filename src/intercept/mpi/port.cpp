// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/mpi/port.h"

#include <cstring>

namespace steelyard::intercept {
namespace {

static_assert(sizeof(MPI_Request) <= sizeof(port::Request::handle));

port::Request started(MPI_Request request) {
  port::Request made;
  std::memcpy(&made.handle, static_cast<const void*>(&request), sizeof(MPI_Request));
  made.started = true;
  return made;
}

MPI_Request handle(const port::Request& request) {
  MPI_Request found;
  std::memcpy(static_cast<void*>(&found), &request.handle, sizeof(MPI_Request));
  return found;
}

}  // namespace

MpiMessages::MpiMessages(MPI_Comm of) {
  PMPI_Comm_dup(of, &comm_);
  PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_ARE_FATAL);
  void* highest = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm_, MPI_TAG_UB, static_cast<void*>(&highest), &found);
  if (found != 0) highest_tag_ = *static_cast<int*>(highest);
}

MpiMessages::~MpiMessages() { PMPI_Comm_free(&comm_); }

port::Request MpiMessages::send(int to, int context, const void* bytes, std::size_t size) {
  MPI_Request request;
  PMPI_Isend(bytes, static_cast<int>(size), MPI_BYTE, to, context, comm_, &request);
  return started(request);
}

port::Request MpiMessages::receive(int from, int context, void* bytes, std::size_t size) {
  MPI_Request request;
  PMPI_Irecv(bytes, static_cast<int>(size), MPI_BYTE, from, context, comm_, &request);
  return started(request);
}

bool MpiMessages::is_done(port::Request& request) {
  if (!request.started) return true;
  MPI_Request asked = handle(request);
  int done = 0;
  PMPI_Test(&asked, &done, MPI_STATUS_IGNORE);
  if (done != 0) request.started = false;
  return done != 0;
}

void MpiMessages::wait(port::Request& request) {
  if (!request.started) return;
  MPI_Request asked = handle(request);
  PMPI_Wait(&asked, MPI_STATUS_IGNORE);
  request.started = false;
}

bool MpiMessages::receive_arrived(int context, void* bytes, std::size_t size) {
  int found = 0;
  PMPI_Iprobe(MPI_ANY_SOURCE, context, comm_, &found, MPI_STATUS_IGNORE);
  if (found != 0) receive_next(context, bytes, size);
  return found != 0;
}

void MpiMessages::receive_next(int context, void* bytes, std::size_t size) {
  PMPI_Recv(bytes, static_cast<int>(size), MPI_BYTE, MPI_ANY_SOURCE, context, comm_, MPI_STATUS_IGNORE);
}

int MpiExchange::rank() const {
  int rank = 0;
  PMPI_Comm_rank(comm_, &rank);
  return rank;
}

int MpiExchange::size() const {
  int size = 0;
  PMPI_Comm_size(comm_, &size);
  return size;
}

void MpiExchange::gather(const std::int64_t* mine, int words, std::int64_t* all) {
  PMPI_Allgather(mine, words, MPI_INT64_T, all, words, MPI_INT64_T, comm_);
}

std::int64_t MpiExchange::sum_for_this_rank(const std::int64_t* by_rank) {
  std::int64_t sum = 0;
  PMPI_Reduce_scatter_block(by_rank, &sum, 1, MPI_INT64_T, MPI_SUM, comm_);
  return sum;
}

}  // namespace steelyard::intercept
