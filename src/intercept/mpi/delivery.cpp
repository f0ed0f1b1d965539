// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/mpi/delivery.h"

#include "intercept/mpi/broadcast.h"
#include "intercept/mpi/layout.h"
#include "intercept/mpi/port.h"
#include "intercept/mpi/scatter.h"

namespace steelyard::intercept {
namespace {

using collectives::Outcome;

int error_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::wrong_root: return MPI_ERR_ROOT;
    case Outcome::truncated: return MPI_ERR_TRUNCATE;
    case Outcome::wrong_type: return MPI_ERR_TYPE;
    case Outcome::no_address: return MPI_ERR_BUFFER;
    case Outcome::fewer:
#ifndef OPEN_MPI
      return MPI_ERR_OTHER;  // as MPICH's own broadcast
#endif
    case Outcome::done:
    case Outcome::library: break;
  }
  return MPI_SUCCESS;
}

}  // namespace

std::optional<int> code_of(Outcome outcome, MPI_Comm comm) {
  if (outcome == Outcome::library) return std::nullopt;
  const int code = error_of(outcome);
  if (code != MPI_SUCCESS) PMPI_Comm_call_errhandler(comm, code);
  return code;
}

bool is_valid(const Broadcast& b, const Communicator& communicator) {
  return b.count >= 0 && b.root >= 0 && b.root < communicator.size && b.buffer != MPI_IN_PLACE && is_type(b.type) &&
         is_buffer(b.buffer, b.type, b.count);
}

bool takes_over(const Broadcast& b, Communicator& communicator) {
  MpiExchange ranks(b.comm);
  return collectives::takes_broadcast(communicator, ranks);
}

Outcome run(const Broadcast& b, Communicator& communicator, collectives::Call& call) {
  return collectives::broadcast(communicator, Layout(b.buffer, b.type, b.count), b.root, call);
}

namespace {

/// The root's own block is to go where it already is, as MPICH looks for it: by the type's size, not by its extent.
bool stays(const Scatter& s) {
  if (s.from_count == 0 || s.from_count != s.to_count || s.from_type != s.to_type) return false;
  MPI_Count size = 0;
  PMPI_Type_size_x(s.from_type, &size);
  return static_cast<const char*>(s.from) + static_cast<std::ptrdiff_t>(s.root * s.from_count * size) == s.to;
}

}  // namespace

bool is_valid(const Scatter& s, const Communicator& communicator) {
  if (s.root < 0 || s.root >= communicator.size) return false;
  const bool at_root = communicator.rank == s.root;
  if (at_root && (s.from == MPI_IN_PLACE || s.from_count < 0 || !is_type(s.from_type) ||
                  !is_buffer(s.from, s.from_type, s.from_count))) {
    return false;
  }
  if (s.to == MPI_IN_PLACE) return at_root;
  if (s.to_count < 0 || !is_type(s.to_type) || !is_buffer(s.to, s.to_type, s.to_count)) return false;
  return !at_root || !stays(s) || may_stay(s.to, s.to_type);
}

bool takes_over(const Scatter&, Communicator& communicator) { return collectives::takes_scatter(communicator); }

Outcome run(const Scatter& s, Communicator& communicator, collectives::Call& call) {
  const bool keeps_its_own = s.to == MPI_IN_PLACE;
  const Layout mine = keeps_its_own ? Layout() : Layout(s.to, s.to_type, s.to_count);
  if (communicator.rank != s.root) {
    return collectives::scatter(communicator, {mine, false, nullptr, nullptr}, s.root, call);
  }
  const Layout block(s.from, s.from_type, s.from_count);
  const Layout all(block, communicator.size);
  return collectives::scatter(communicator, {mine, keeps_its_own, &block, &all}, s.root, call);
}

}  // namespace steelyard::intercept
