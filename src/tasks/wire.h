// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

// The format of messages between nodes, and of blocks of shared memory that processes of a node send each other.
namespace steelyard::tasks {

enum class Kind : std::uint16_t {
  request,        ///< a request for tasks
  early_request,  ///< a request for tasks by a process that still has some
  withdrawal,     ///< withdraws a request: its sender got tasks from another process
  tasks,          ///< the answer to a request
  results,        ///< on their way to the owners of their tasks
  acknowledge,    ///< the receiver has forwarded or delivered these results
  report,         ///< counts of a termination round, towards the root
  outcome,        ///< the outcome of a termination round, from the root
  policy,         ///< from the policy of one process to that of another
  missing_ranks,  ///< ranks that are missing in the run on the sender's side; see missing_ranks.h
  leaves,         ///< the sender frees the pool, and waits for others to do so; `number` is a PoolFailure
  broken          ///< the pool cannot continue; `number` is a PoolFailure
};

struct Header {
  Kind kind;
  /// Of results: transfers that are left. Of tasks: earlier messages of the same answer. Of missing ranks: 1 if an
  /// answer is expected.
  std::uint16_t further = 0;
  std::int32_t from = 0;     ///< rank
  std::uint64_t bytes = 0;   ///< bytes behind the header
  std::uint64_t number = 0;  ///< of the run or of the round; or a PoolFailure
};

/// A task or a result, with its bytes behind it.
struct Record {
  std::uint64_t tag;
  std::int32_t owner;
  std::uint32_t bytes;
  std::uint32_t function;
  std::uint32_t failed;  ///< of a result: the task has failed, and the bytes are a sentence that says why
};

/// Bytes of a record with what lies behind it, which is padded to multiples of 8.
inline std::size_t size_of(const Record& record) { return sizeof(Record) + (std::size_t{record.bytes} + 7) / 8 * 8; }

inline void append(std::vector<char>& to, const Record& record, const void* bytes) {
  const std::size_t old = to.size();
  to.resize(old + size_of(record));
  std::memcpy(to.data() + old, &record, sizeof(record));
  if (record.bytes > 0) std::memcpy(to.data() + old + sizeof(record), bytes, record.bytes);
}

/// Calls `each(record, bytes)` for all records, until it returns false.
/// @return the size of the records for which it returned true
template <class Each>
std::size_t for_each_record(const char* records, std::size_t bytes, Each&& each) {
  std::size_t at = 0;
  while (at < bytes) {
    Record record;
    std::memcpy(&record, records + at, sizeof(record));
    if (!each(record, records + at + sizeof(record))) break;
    at += size_of(record);
  }
  return at;
}

}  // namespace steelyard::tasks
