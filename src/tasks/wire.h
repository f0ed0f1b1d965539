// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

// The format of what processes exchange: between nodes in messages, inside a node in blocks of shared memory.
namespace steelyard::tasks {

enum class Kind : std::uint16_t {
  request,        ///< for tasks
  early_request,  ///< for tasks, by a process that still has some
  withdrawal,     ///< of a request: its sender got tasks from another process
  tasks,          ///< the answer
  results,        ///< on their way to the owners of their tasks
  acknowledge,    ///< the receiver has forwarded or delivered these results
  report,         ///< of a round, towards the root
  outcome,        ///< of a round, from the root
  policy,         ///< from the policy of one process to that of another
  roll,           ///< ranks that are missing in the run, seen from the sender; see roll_call.h
  leaves,         ///< the sender waits in vain for others to free the pool; `number` is a Breach
  broken          ///< the pool cannot continue; `number` is a Breach
};

struct Header {
  Kind kind;
  std::uint16_t further = 0;  ///< of results: transfers that are left; of tasks: messages of the same answer before; of
                              ///< roll: 1 to be answered
  std::int32_t from = 0;      ///< rank
  std::uint64_t bytes = 0;    ///< behind the header
  std::uint64_t number = 0;   ///< of the run or of the round; or a Breach
};

/// A task or a result, with its bytes behind it.
struct Record {
  std::uint64_t tag;
  std::int32_t owner;
  std::uint32_t bytes;
  std::uint32_t function;
  std::uint32_t failed;  ///< of a result: the bytes are a sentence
};

inline std::size_t size_of(const Record& record) { return sizeof(Record) + (std::size_t{record.bytes} + 7) / 8 * 8; }

inline void append(std::vector<char>& to, const Record& record, const void* bytes) {
  const std::size_t old = to.size();
  to.resize(old + size_of(record));
  std::memcpy(to.data() + old, &record, sizeof(record));
  if (record.bytes > 0) std::memcpy(to.data() + old + sizeof(record), bytes, record.bytes);
}

/// Calls `each(record, bytes)` for all; it returns false to stop. Returns how many bytes of records were gone through.
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
