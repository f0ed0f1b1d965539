// SPDX-License-Identifier: BSD-3-Clause
// Blocking point-to-point calls from C: the library's non-blocking call, then tests between which the core is free.
#include "intercept/mpi/point_to_point.h"

#include <vector>

#include "intercept/mpi/call.h"
#include "intercept/mpi/communicator.h"
#include "intercept/mpi/layout.h"
#include "port/messages.h"

namespace steelyard::intercept {

bool goes_at_once(int count, MPI_Datatype type, int destination) {
  if (destination == MPI_PROC_NULL || count <= 0 || type == MPI_DATATYPE_NULL) return true;
  int size = 0;
  return PMPI_Type_size(type, &size) != MPI_SUCCESS ||
         static_cast<std::size_t>(count) * static_cast<std::size_t>(size) <= port::kEager;
}

bool can_send(int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm) {
  const Communicator* communicator = remembered(comm);
  return communicator != nullptr && count >= 0 && type != MPI_DATATYPE_NULL && tag >= 0 &&
         (destination == MPI_PROC_NULL || (destination >= 0 && destination < communicator->size));
}

namespace {

/// A status that can be read, whether or not the program wants one.
class Seen {
 public:
  explicit Seen(MPI_Status* wanted) : status_(wanted != MPI_STATUS_IGNORE ? wanted : &own_) {}
  MPI_Status* get() { return status_; }
  /// If the call has failed, there is no critical rank.
  void report(Call& call, int error, MPI_Comm comm) const {
    call.waited_for(error == MPI_SUCCESS ? world_rank(comm, status_->MPI_SOURCE) : -1);
  }

 private:
  MPI_Status own_;
  MPI_Status* status_;
};

int complete(Call& call, MPI_Request& request, MPI_Status* status) {
  return until_done(call, [&](int* done) { return PMPI_Test(&request, done, status); });
}

template <typename Start, typename Native>
int send(Site site, int count, MPI_Datatype type, int destination, MPI_Comm comm, Start start, Native native) {
  if (const PassedOn passed_on; passed_on || goes_at_once(count, type, destination)) return native();
  Call call(site);
  MPI_Request request;
  if (const int error = start(&request); error != MPI_SUCCESS) return error;
  call.waited_for(world_rank(comm, destination));
  return complete(call, request, MPI_STATUS_IGNORE);
}

template <typename Test>
int probe(Site site, int source, MPI_Comm comm, MPI_Status* status, Test test) {
  Call call(site);
  call.waited_for(world_rank(comm, source));
  Seen seen(status);
  const int error = until_done(call, [&](int* found) { return test(found, seen.get()); });
  seen.report(call, error, comm);
  return error;
}

// Both at once, so that neither keeps the other from starting. `start_send` is given the second request.
template <typename StartSend>
int exchange(Call& call, void* to, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status,
             StartSend start_send) {
  MPI_Request requests[2];
  if (const int error = PMPI_Irecv(to, count, type, source, tag, comm, &requests[0]); error != MPI_SUCCESS)
    return error;
  if (const int error = start_send(&requests[1]); error != MPI_SUCCESS) {
    PMPI_Cancel(&requests[0]);
    PMPI_Request_free(&requests[0]);
    return error;
  }
  // One after the other, not by MPI_Testall: the error is to be the message's own.
  call.waited_for(world_rank(comm, source));
  Seen seen(status);
  const int received = complete(call, requests[0], seen.get());
  seen.report(call, received, comm);
  const int sent = complete(call, requests[1], MPI_STATUS_IGNORE);
  return received != MPI_SUCCESS ? received : sent;
}

}  // namespace
}  // namespace steelyard::intercept

using namespace steelyard::intercept;

extern "C" {

STEELYARD_EXPORT int MPI_Recv(void* to, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                              MPI_Status* status) {
  if (const PassedOn passed_on; passed_on || source == MPI_PROC_NULL)
    return PMPI_Recv(to, count, type, source, tag, comm, status);
  Call call(STEELYARD_SITE);
  MPI_Request request;
  if (const int error = PMPI_Irecv(to, count, type, source, tag, comm, &request); error != MPI_SUCCESS) return error;
  call.waited_for(world_rank(comm, source));
  Seen seen(status);
  const int error = complete(call, request, seen.get());
  seen.report(call, error, comm);
  return error;
}

STEELYARD_EXPORT int MPI_Send(const void* from, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm) {
  return send(
      STEELYARD_SITE, count, type, destination, comm,
      [&](MPI_Request* request) { return PMPI_Isend(from, count, type, destination, tag, comm, request); },
      [&] { return PMPI_Send(from, count, type, destination, tag, comm); });
}

STEELYARD_EXPORT int MPI_Rsend(const void* from, int count, MPI_Datatype type, int destination, int tag,
                               MPI_Comm comm) {
  return send(
      STEELYARD_SITE, count, type, destination, comm,
      [&](MPI_Request* request) { return PMPI_Irsend(from, count, type, destination, tag, comm, request); },
      [&] { return PMPI_Rsend(from, count, type, destination, tag, comm); });
}

// A synchronous send waits for its receiver, however short it is.
STEELYARD_EXPORT int MPI_Ssend(const void* from, int count, MPI_Datatype type, int destination, int tag,
                               MPI_Comm comm) {
  if (const PassedOn passed_on; passed_on || destination == MPI_PROC_NULL)
    return PMPI_Ssend(from, count, type, destination, tag, comm);
  Call call(STEELYARD_SITE);
  MPI_Request request;
  if (const int error = PMPI_Issend(from, count, type, destination, tag, comm, &request); error != MPI_SUCCESS)
    return error;
  call.waited_for(world_rank(comm, destination));
  return complete(call, request, MPI_STATUS_IGNORE);
}

STEELYARD_EXPORT int MPI_Sendrecv(const void* from, int from_count, MPI_Datatype from_type, int destination,
                                  int from_tag, void* to, int count, MPI_Datatype type, int source, int tag,
                                  MPI_Comm comm, MPI_Status* status) {
  if (const PassedOn passed_on;
      passed_on || source == MPI_PROC_NULL || !can_send(from_count, from_type, destination, from_tag, comm)) {
    return PMPI_Sendrecv(from, from_count, from_type, destination, from_tag, to, count, type, source, tag, comm,
                         status);
  }
  Call call(STEELYARD_SITE);
  return exchange(call, to, count, type, source, tag, comm, status, [&](MPI_Request* request) {
    return PMPI_Isend(from, from_count, from_type, destination, from_tag, comm, request);
  });
}

// What leaves is packed first, as its place is needed for what comes.
STEELYARD_EXPORT int MPI_Sendrecv_replace(void* data, int count, MPI_Datatype type, int destination, int from_tag,
                                          int source, int tag, MPI_Comm comm, MPI_Status* status) {
  int room = 0;
  // MPICH's MPI_Pack takes MPI_BOTTOM for no buffer.
  if (const PassedOn passed_on; passed_on || source == MPI_PROC_NULL || data == MPI_BOTTOM ||
                                !can_send(count, type, destination, from_tag, comm) || !is_type(type) ||
                                PMPI_Pack_size(count, type, comm, &room) != MPI_SUCCESS) {
    return PMPI_Sendrecv_replace(data, count, type, destination, from_tag, source, tag, comm, status);
  }
  Call call(STEELYARD_SITE);
  std::vector<char> packed(static_cast<std::size_t>(room) + 1);  // even nothing must have an address
  int size = 0;
  if (const int error = PMPI_Pack(data, count, type, packed.data(), room, &size, comm); error != MPI_SUCCESS)
    return error;
  const int error = exchange(call, data, count, type, source, tag, comm, status, [&](MPI_Request* request) {
    return PMPI_Isend(packed.data(), size, MPI_PACKED, destination, from_tag, comm, request);
  });
#ifndef OPEN_MPI
  if (error == MPI_SUCCESS && status != MPI_STATUS_IGNORE) status->MPI_ERROR = MPI_SUCCESS;  // as MPICH's own does
#endif
  return error;
}

STEELYARD_EXPORT int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (const PassedOn passed_on; passed_on || source == MPI_PROC_NULL) return PMPI_Probe(source, tag, comm, status);
  return probe(STEELYARD_SITE, source, comm, status,
               [&](int* found, MPI_Status* seen) { return PMPI_Iprobe(source, tag, comm, found, seen); });
}

STEELYARD_EXPORT int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  if (const PassedOn passed_on; passed_on || source == MPI_PROC_NULL)
    return PMPI_Mprobe(source, tag, comm, message, status);
  return probe(STEELYARD_SITE, source, comm, status,
               [&](int* found, MPI_Status* seen) { return PMPI_Improbe(source, tag, comm, found, message, seen); });
}

// Its message is here or on its way: nothing to leave the core for.
STEELYARD_EXPORT int MPI_Mrecv(void* to, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  STEELYARD_TIMED(PMPI_Mrecv(to, count, type, message, status));
}

}  // extern "C"
