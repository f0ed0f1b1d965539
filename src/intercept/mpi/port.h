// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "intercept/mpi/library.h"
#include "port/agreement.h"
#include "port/messages.h"

// What capabilities ask of MPI (src/port), by the MPI library's own calls.
namespace steelyard::intercept {

/// Messages on a copy of a communicator: the program's messages are never met. A context is a tag.
class MpiMessages final : public port::Messages {
 public:
  /// Collective over the communicator, as is the end.
  explicit MpiMessages(MPI_Comm of);
  ~MpiMessages() override;
  MpiMessages(const MpiMessages&) = delete;
  MpiMessages& operator=(const MpiMessages&) = delete;

  MPI_Comm comm() const { return comm_; }

  std::int64_t highest_context() const override { return highest_tag_; }
  port::Request send(int to, int context, const void* bytes, std::size_t size) override;
  port::Request receive(int from, int context, void* bytes, std::size_t size) override;
  bool is_done(port::Request& request) override;
  void wait(port::Request& request) override;
  bool receive_arrived(int context, void* bytes, std::size_t size) override;
  void receive_next(int context, void* bytes, std::size_t size) override;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::int64_t highest_tag_ = 32767;  // the least that MPI allows
};

/// By collectives on the communicator itself.
class MpiExchange final : public port::Exchange {
 public:
  explicit MpiExchange(MPI_Comm comm) : comm_(comm) {}
  int rank() const override;
  int size() const override;
  void gather(const std::int64_t* mine, int words, std::int64_t* all) override;
  std::int64_t sum_for_this_rank(const std::int64_t* by_rank) override;

 private:
  MPI_Comm comm_;
};

}  // namespace steelyard::intercept
