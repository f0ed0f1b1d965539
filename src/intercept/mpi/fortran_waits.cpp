// SPDX-License-Identifier: BSD-3-Clause
// Point-to-point calls and waits for requests from Fortran. As in C, with the library's own non-blocking Fortran calls.
#include <dlfcn.h>

#include <vector>

#include "intercept/mpi/communicator.h"
#include "intercept/mpi/completion.h"
#include "intercept/mpi/fortran.h"
#include "intercept/mpi/point_to_point.h"

using F = MPI_Fint;

namespace steelyard::intercept {

inline bool short_send(const F* count, const F* type, const F* destination) {
  return goes_at_once(*count, PMPI_Type_f2c(*type), *destination);
}

namespace {

template <Name binding>
int complete(Call& call, F* request, F* status) {
  return until_done(call, [&](int* done) { return ask<"mpi_test", binding>(request, done, status); });
}

// Room for a status that the program does not ask for, whatever its size in Fortran.
template <Name binding>
int complete(Call& call, F* request) {
  F unwanted[sizeof(MPI_Status)];
  return complete<binding>(call, request, unwanted);
}

void waited_for(Call& call, F rank, const F* comm) { call.waited_for(world_rank(PMPI_Comm_f2c(*comm), rank)); }

F source_of(const F* status) {
  MPI_Status seen;
  PMPI_Status_f2c(status, &seen);
  return seen.MPI_SOURCE;
}

// Completes a receive. The program's status may be MPI_STATUS_IGNORE, so the source of a message from MPI_ANY_SOURCE
// is asked for before.
template <Name binding>
int receive(Call& call, F* request, F source, const F* comm, F* status) {
  waited_for(call, source, comm);
  if (source == MPI_ANY_SOURCE) {
    F seen[sizeof(MPI_Status)];
    const int error =
        until_done(call, [&](int* done) { return ask<"mpi_request_get_status", binding>(request, done, seen); });
    if (error == MPI_SUCCESS) source = source_of(seen);
  }
  const int error = complete<binding>(call, request, status);
  waited_for(call, error == MPI_SUCCESS ? source : -1, comm);
  return error;
}

// Finds a message by `test`. Its source is asked for before, too: `test` finds another message only if other threads
// receive here, and then the source is asked for again.
template <Name binding, typename Test>
void find(Call& call, F* source, F* tag, F* comm, F* ierror, Test test) {
  F from = *source;
  waited_for(call, from, comm);
  const int error = until_done(call, [&](int* found) {
    if (*source != MPI_ANY_SOURCE) return test(source, found);
    F seen[sizeof(MPI_Status)];
    const int failed = ask<"mpi_iprobe", binding>(source, tag, comm, found, seen);
    if (failed != MPI_SUCCESS || *found == 0) return failed;
    from = source_of(seen);
    return test(&from, found);
  });
  waited_for(call, error == MPI_SUCCESS ? from : -1, comm);
  set_error(ierror, error);
}

#ifndef OPEN_MPI
/// The address of MPI_STATUSES_IGNORE in `use mpi_f08`, a variable of MPICH. nullptr if the library has another name.
const void* statuses_ignored() {
  static const void* const address = dlsym(RTLD_DEFAULT, "MPIR_F08_MPI_STATUSES_IGNORE_OBJ");
  return address;
}

/// As from C: the handles are converted, and MPI_Status has the same fields. Only if statuses_ignored() is known.
int complete_one_by_one(Call& call, int count, F requests[], F statuses[]) {
  constexpr std::size_t kFields = sizeof(MPI_Status) / sizeof(F);
  const bool ignored = statuses == statuses_ignored();
  std::vector<MPI_Request> c_requests(static_cast<std::size_t>(count));
  std::vector<MPI_Status> c_statuses(ignored ? 0 : c_requests.size());
  for (std::size_t i = 0; i < c_requests.size(); ++i) c_requests[i] = PMPI_Request_f2c(requests[i]);
  for (std::size_t i = 0; i < c_statuses.size(); ++i) PMPI_Status_f2c(statuses + i * kFields, &c_statuses[i]);
  const int error =
      complete_one_by_one(call, count, c_requests.data(), ignored ? MPI_STATUSES_IGNORE : c_statuses.data());
  for (std::size_t i = 0; i < c_requests.size(); ++i) requests[i] = PMPI_Request_c2f(c_requests[i]);
  for (std::size_t i = 0; i < c_statuses.size(); ++i) PMPI_Status_c2f(&c_statuses[i], statuses + i * kFields);
  return error;
}
#endif

template <Name binding, Name start>
void send(Site site, void* from, F* count, F* type, F* destination, F* tag, F* comm, F* ierror) {
  Call call(site);
  F request;
  int error = ask<start, binding>(from, count, type, destination, tag, comm, &request);
  waited_for(call, *destination, comm);
  if (error == MPI_SUCCESS) error = complete<binding>(call, &request);
  set_error(ierror, error);
}

}  // namespace

template <Name binding>
void measure_recv(Site site, void* to, F* count, F* type, F* source, F* tag, F* comm, F* status, F* ierror) {
  if (const PassedOn passed_on; passed_on || *source == MPI_PROC_NULL) {
    return next<"mpi_recv", binding>(to, count, type, source, tag, comm, status, ierror);
  }
  Call call(site);
  F request;
  int error = ask<"mpi_irecv", binding>(to, count, type, source, tag, comm, &request);
  if (error == MPI_SUCCESS) error = receive<binding>(call, &request, *source, comm, status);
  set_error(ierror, error);
}

template <Name binding>
void measure_send(Site site, void* from, F* count, F* type, F* destination, F* tag, F* comm, F* ierror) {
  if (const PassedOn passed_on; passed_on || short_send(count, type, destination)) {
    return next<"mpi_send", binding>(from, count, type, destination, tag, comm, ierror);
  }
  send<binding, "mpi_isend">(site, from, count, type, destination, tag, comm, ierror);
}

template <Name binding>
void measure_rsend(Site site, void* from, F* count, F* type, F* destination, F* tag, F* comm, F* ierror) {
  if (const PassedOn passed_on; passed_on || short_send(count, type, destination)) {
    return next<"mpi_rsend", binding>(from, count, type, destination, tag, comm, ierror);
  }
  send<binding, "mpi_irsend">(site, from, count, type, destination, tag, comm, ierror);
}

template <Name binding>
void measure_ssend(Site site, void* from, F* count, F* type, F* destination, F* tag, F* comm, F* ierror) {
  if (const PassedOn passed_on; passed_on || *destination == MPI_PROC_NULL) {
    return next<"mpi_ssend", binding>(from, count, type, destination, tag, comm, ierror);
  }
  send<binding, "mpi_issend">(site, from, count, type, destination, tag, comm, ierror);
}

template <Name binding>
void measure_sendrecv(Site site, void* from, F* from_count, F* from_type, F* destination, F* from_tag, void* to,
                      F* count, F* type, F* source, F* tag, F* comm, F* status, F* ierror) {
  if (const PassedOn passed_on;
      passed_on || *source == MPI_PROC_NULL ||
      !can_send(*from_count, PMPI_Type_f2c(*from_type), *destination, *from_tag, PMPI_Comm_f2c(*comm))) {
    return next<"mpi_sendrecv", binding>(from, from_count, from_type, destination, from_tag, to, count, type, source,
                                         tag, comm, status, ierror);
  }
  Call call(site);
  F coming, going;
  int error = ask<"mpi_irecv", binding>(to, count, type, source, tag, comm, &coming);
  if (error != MPI_SUCCESS) return set_error(ierror, error);
  error = ask<"mpi_isend", binding>(from, from_count, from_type, destination, from_tag, comm, &going);
  if (error != MPI_SUCCESS) {
    ask<"mpi_cancel", binding>(&coming);
    ask<"mpi_request_free", binding>(&coming);
    return set_error(ierror, error);
  }
  const int received = receive<binding>(call, &coming, *source, comm, status);
  const int sent = complete<binding>(call, &going);
  set_error(ierror, received != MPI_SUCCESS ? received : sent);
}

// The library's way of packing the data aside is not available here: the MPI library does the waiting.
template <Name binding>
void measure_sendrecv_replace(Site site, void* data, F* count, F* type, F* destination, F* from_tag, F* source, F* tag,
                              F* comm, F* status, F* ierror) {
  if (const PassedOn passed_on{}) {
    return next<"mpi_sendrecv_replace", binding>(data, count, type, destination, from_tag, source, tag, comm, status,
                                                 ierror);
  }
  Call call(site);
  const int error =
      ask<"mpi_sendrecv_replace", binding>(data, count, type, destination, from_tag, source, tag, comm, status);
  if (error == MPI_SUCCESS) waited_for(call, *source, comm);
  set_error(ierror, error);
}

template <Name binding>
void measure_probe(Site site, F* source, F* tag, F* comm, F* status, F* ierror) {
  if (const PassedOn passed_on; passed_on || *source == MPI_PROC_NULL)
    return next<"mpi_probe", binding>(source, tag, comm, status, ierror);
  Call call(site);
  find<binding>(call, source, tag, comm, ierror,
                [&](F* from, int* found) { return ask<"mpi_iprobe", binding>(from, tag, comm, found, status); });
}

template <Name binding>
void measure_mprobe(Site site, F* source, F* tag, F* comm, F* message, F* status, F* ierror) {
  if (const PassedOn passed_on; passed_on || *source == MPI_PROC_NULL) {
    return next<"mpi_mprobe", binding>(source, tag, comm, message, status, ierror);
  }
  Call call(site);
  find<binding>(call, source, tag, comm, ierror, [&](F* from, int* found) {
    return ask<"mpi_improbe", binding>(from, tag, comm, found, message, status);
  });
}

template <Name binding>
void measure_wait(Site site, F* request, F* status, F* ierror) {
  if (const PassedOn passed_on{}) return next<"mpi_wait", binding>(request, status, ierror);
  Call call(site);
  set_error(ierror, complete<binding>(call, request, status));
}

template <Name binding>
void measure_waitall(Site site, F* count, F* requests, F* statuses, F* ierror) {
  if (const PassedOn passed_on{}) return next<"mpi_waitall", binding>(count, requests, statuses, ierror);
  Call call(site);
#ifdef OPEN_MPI
  set_error(ierror,
            until_done(call, [&](int* done) { return ask<"mpi_testall", binding>(count, requests, done, statuses); }));
#else
  if (*count > 0 && statuses_ignored() != nullptr)
    return set_error(ierror, complete_one_by_one(call, *count, requests, statuses));
  look_for_completion(call, *count, [&](int i) { return PMPI_Request_f2c(requests[i]); });
  set_error(ierror, ask<"mpi_waitall", binding>(count, requests, statuses));
#endif
}

template <Name binding>
void measure_waitany(Site site, F* count, F* requests, F* index, F* status, F* ierror) {
  if (const PassedOn passed_on{}) return next<"mpi_waitany", binding>(count, requests, index, status, ierror);
  Call call(site);
  set_error(ierror, until_done(call, [&](int* done) {
              const int error = ask<"mpi_testany", binding>(count, requests, index, done, status);
              // None was active. MPICH's MPI_Testany leaves the status as it was; its MPI_Waitany empties it.
              const bool none = error == MPI_SUCCESS && *done != 0 && *index == MPI_UNDEFINED;
              return none ? ask<"mpi_waitany", binding>(count, requests, index, status) : error;
            }));
}

template <Name binding>
void measure_waitsome(Site site, F* count, F* requests, F* finished, F* indices, F* statuses, F* ierror) {
  if (const PassedOn passed_on{})
    return next<"mpi_waitsome", binding>(count, requests, finished, indices, statuses, ierror);
  Call call(site);
  set_error(ierror, until_done(call, [&](int* done) {
              const int error = ask<"mpi_testsome", binding>(count, requests, finished, indices, statuses);
              if (error == MPI_SUCCESS) *done = *finished != 0;  // or MPI_UNDEFINED: none was active
              return error;
            }));
}

}  // namespace steelyard::intercept

STEELYARD_FORTRAN_BUFFER(recv, (void* to, F* count, F* type, F* source, F* tag, F* comm, F* status, F* ierror),
                         (to, count, type, source, tag, comm, status, ierror))
STEELYARD_FORTRAN_BUFFER(send, (void* from, F* count, F* type, F* destination, F* tag, F* comm, F* ierror),
                         (from, count, type, destination, tag, comm, ierror))
STEELYARD_FORTRAN_BUFFER(rsend, (void* from, F* count, F* type, F* destination, F* tag, F* comm, F* ierror),
                         (from, count, type, destination, tag, comm, ierror))
STEELYARD_FORTRAN_BUFFER(ssend, (void* from, F* count, F* type, F* destination, F* tag, F* comm, F* ierror),
                         (from, count, type, destination, tag, comm, ierror))
STEELYARD_FORTRAN_BUFFER(sendrecv,
                         (void* from, F* from_count, F* from_type, F* destination, F* from_tag, void* to, F* count,
                          F* type, F* source, F* tag, F* comm, F* status, F* ierror),
                         (from, from_count, from_type, destination, from_tag, to, count, type, source, tag, comm,
                          status, ierror))
STEELYARD_FORTRAN_BUFFER(sendrecv_replace,
                         (void* data, F* count, F* type, F* destination, F* from_tag, F* source, F* tag, F* comm,
                          F* status, F* ierror),
                         (data, count, type, destination, from_tag, source, tag, comm, status, ierror))
STEELYARD_FORTRAN(probe, (F * source, F* tag, F* comm, F* status, F* ierror), (source, tag, comm, status, ierror))
STEELYARD_FORTRAN(mprobe, (F * source, F* tag, F* comm, F* message, F* status, F* ierror),
                  (source, tag, comm, message, status, ierror))
STEELYARD_FORTRAN(wait, (F * request, F* status, F* ierror), (request, status, ierror))
STEELYARD_FORTRAN(waitall, (F * count, F* requests, F* statuses, F* ierror), (count, requests, statuses, ierror))
STEELYARD_FORTRAN(waitany, (F * count, F* requests, F* index, F* status, F* ierror),
                  (count, requests, index, status, ierror))
STEELYARD_FORTRAN(waitsome, (F * count, F* requests, F* finished, F* indices, F* statuses, F* ierror),
                  (count, requests, finished, indices, statuses, ierror))
STEELYARD_FORTRAN_TIMED_BUFFER(mrecv, (void* to, F* count, F* type, F* message, F* status, F* ierror),
                               (to, count, type, message, status, ierror))
