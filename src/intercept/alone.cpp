// SPDX-License-Identifier: BSD-3-Clause
// A program without MPI: the Session begins with the first parallel region and ends with the process.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/options.h"
#include "intercept/first_region.h"
#include "loops/registry.h"
#include "node/bootstrap.h"
#include "session/session.h"

namespace steelyard::intercept {
namespace {

class Alone : public node::Bootstrap {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int node_rank() const override { return 0; }
  int node_size() const override { return 1; }
  int node_index() const override { return 0; }
  int node_count() const override { return 1; }
  std::string library() const override { return "no MPI"; }
  void broadcast_in_node(void*, std::size_t) override {}
  void barrier_in_node() override {}
  std::vector<std::string> gather(const std::string& bytes) override { return {bytes}; }
  std::uint32_t common_bits(std::uint32_t mine) override { return mine; }
  void progress() override {}
};

void begin() {
  loops::registry().waits_stay_unheard();
  session::start(std::make_unique<Alone>(), "none");
  std::atexit(session::finish);
}

__attribute__((constructor)) void wait_for_first_region() {
  if (base::options().launched) on_first_region(begin);
}

}  // namespace
}  // namespace steelyard::intercept
