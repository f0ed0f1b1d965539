// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include "base/clock.h"
#include "intercept/mpi/call.h"

// MPI_Waitall for MPICH, whose MPI_Testall fails for persistent collectives (seen with 4.0.2). Open MPI's does not.
namespace steelyard::intercept {

/// By MPI_Test, which also advances requests that only go on when they are asked for: those of files.
class OneByOne {
 public:
  OneByOne(int count, MPI_Request requests[], MPI_Status statuses[])
      : count_(count), requests_(requests), statuses_(statuses) {}

  int complete(Call& call) {
    for (int i = 0; i < count_; ++i) {
      until_done(call, [&](int* done) {
        *done = test(i);
        if (*done == 0) test_another(i);
        return MPI_SUCCESS;
      });
    }
    return failed_ ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
  }

 private:
  /// True if request `i` is complete or has failed: it is not tested again, since a persistent one would have lost its
  /// status.
  bool test(int i) {
    if (!complete_.empty() && complete_[static_cast<std::size_t>(i)]) return true;
    const bool ignored = statuses_ == MPI_STATUSES_IGNORE;
    const bool null = requests_[i] == MPI_REQUEST_NULL;
    int done = 0;
    const int error = PMPI_Test(&requests_[i], &done, ignored ? MPI_STATUS_IGNORE : &statuses_[i]);
    if (error == MPI_SUCCESS && done == 0) return false;
    failed_ = failed_ || error != MPI_SUCCESS;
    // MPI_Test writes no MPI_ERROR. MPICH's MPI_Waitall does for each request that is not null, even if none failed.
    if (!ignored && !null) statuses_[i].MPI_ERROR = error;
    return true;
  }

  /// Another rank may send the message of request `awaited` only after a collective file operation, which a later
  /// request here has to advance. A different one each time.
  void test_another(int awaited) {
    if (awaited + 1 >= count_) return;
    if (complete_.empty()) complete_.resize(static_cast<std::size_t>(count_));
    another_ = another_ > awaited && another_ + 1 < count_ ? another_ + 1 : awaited + 1;
    if (test(another_)) complete_[static_cast<std::size_t>(another_)] = true;
  }

  int count_;
  MPI_Request* requests_;
  MPI_Status* statuses_;
  bool failed_ = false;
  std::vector<bool> complete_;  ///< of those that were tested before their turn; empty if none was
  int another_ = -1;
};

inline int complete_one_by_one(Call& call, int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (count < 0 || (statuses == nullptr && statuses != MPI_STATUSES_IGNORE))
    return PMPI_Waitall(count, requests, statuses);  // which refuses it
  return OneByOne(count, requests, statuses).complete(call);
}

/// For a while at most: until each of `count` requests is complete; completes none. For a library with MPICH's ABI
/// whose Fortran constants have other names: MPI_Test cannot be called with the program's statuses then. It does not
/// advance requests of files: the caller goes on to the library's own MPI_Waitall, which does.
template <typename RequestAt>
void look_for_completion(Call& call, int count, RequestAt request_at) {
  constexpr std::int64_t kPatience =
      50'000'000;  // ns: as long as a test that never succeeds may delay a file's request
  for (int i = 0; i < count; ++i) {
    const int error = until_done(call, [&](int* done) {
      const int failed = PMPI_Request_get_status(request_at(i), done, MPI_STATUS_IGNORE);
      return failed == MPI_SUCCESS && base::now_ns() - call.began() > kPatience ? MPI_ERR_PENDING : failed;
    });
    if (error != MPI_SUCCESS) return;
  }
}

}  // namespace steelyard::intercept
