// SPDX-License-Identifier: BSD-3-Clause
// Pools with message threads whose ranks are threads of this process: ThreadSanitizer sees all that they share.
#include "tasks/message_thread.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <barrier>
#include <cstring>
#include <deque>
#include <map>
#include <thread>

#include "base/clock.h"
#include "tasks/pool.h"
#include "wait/sleep.h"

namespace steelyard::tasks {
namespace {

/// What the ranks have in place of MPI.
struct World {
  World(int ranks, int on_a_node) : size(ranks), per_node(on_a_node), inboxes(ranks), meeting(ranks) {}
  const int size, per_node;
  struct Inbox {
    std::mutex mutex;
    std::deque<std::pair<int, std::vector<char>>> messages;
  };
  std::vector<Inbox> inboxes;
  std::barrier<> meeting;
  std::atomic<bool> agreed{true};
  std::map<int, const void*> roots;  // by node; -1: of all
  std::mutex mutex;
};

class Link final : public Transport {
 public:
  Link(World& world, int rank) : world_(world), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return world_.size; }
  int node_rank() const override { return rank_ % world_.per_node; }
  int node_size() const override { return world_.per_node; }
  int ranks_per_node() const override { return world_.per_node; }
  std::vector<std::int32_t> nodes() const override { return {}; }
  bool all_agree(bool mine) override {
    if (!mine) world_.agreed = false;
    world_.meeting.arrive_and_wait();
    const bool all = world_.agreed;
    world_.meeting.arrive_and_wait();
    world_.agreed = true;
    world_.meeting.arrive_and_wait();
    return all;
  }
  void broadcast(void* bytes, std::size_t size) override { copy_from_root(-1, rank_ == 0, bytes, size); }
  void broadcast_in_node(void* bytes, std::size_t size) override {
    copy_from_root(rank_ / world_.per_node, node_rank() == 0, bytes, size);
  }
  int send(int to, const void* bytes, std::size_t size) override {
    const char* const first = static_cast<const char*>(bytes);
    World::Inbox& inbox = world_.inboxes[static_cast<std::size_t>(to)];
    const std::lock_guard lock(inbox.mutex);
    inbox.messages.emplace_back(rank_, std::vector<char>(first, first + size));
    return 0;
  }
  bool sent(int) override { return true; }
  bool arrived(int& from, std::size_t& bytes) override {
    World::Inbox& inbox = world_.inboxes[static_cast<std::size_t>(rank_)];
    const std::lock_guard lock(inbox.mutex);
    if (inbox.messages.empty()) return false;
    from = inbox.messages.front().first;
    message_ = std::move(inbox.messages.front().second);
    inbox.messages.pop_front();
    bytes = message_.size();
    return true;
  }
  void receive(void* bytes, std::size_t size) override { std::memcpy(bytes, message_.data(), size); }
  void pause(std::int64_t ns) override { ns > 0 ? wait::sleep_for(ns) : std::this_thread::yield(); }
  std::int64_t now() const override { return base::now_ns(); }
  bool open() const override { return true; }
  void abandon() override {}

 private:
  void copy_from_root(int group, bool is_root, void* bytes, std::size_t size) {
    if (is_root) {
      const std::lock_guard lock(world_.mutex);
      world_.roots[group] = bytes;
    }
    world_.meeting.arrive_and_wait();
    if (!is_root) {
      const std::lock_guard lock(world_.mutex);
      std::memcpy(bytes, world_.roots[group], size);
    }
    world_.meeting.arrive_and_wait();
  }

  World& world_;
  const int rank_;
  std::vector<char> message_;
};

struct Input {
  int node, size;
};
std::atomic<int> g_elsewhere;
thread_local int t_node;

/// Returns its input. Some take long, and one out of five spawns another.
void mixed(void*, Running& task) {
  usleep(task.tag % 8 == 0 ? 12'000 : 300);
  Input input{};
  std::memcpy(&input, task.input, sizeof(input));
  if (input.node != t_node) ++g_elsewhere;
  if (task.tag % 5 == 0 && task.tag < 1000) {
    EXPECT_TRUE(task.worker->spawn(0, task.tag + 1000, task.owner, task.input, task.bytes));
  }
  task.worker->set_result(task.input, task.bytes);
}

/// Ends when another node has executed some tasks, or after long, which is a failure.
void until_others_work(void*, Running& task) {
  for (int ms = 0; ms < 20'000 && g_elsewhere < 3; ++ms) usleep(1000);
  if (g_elsewhere < 3) task.worker->fail("no task has left the node");
}

struct Seen {
  std::map<std::uint64_t, int> times;
  int failures = 0;
};

void run_rank(World& world, int rank) {
  t_node = rank / world.per_node;
  std::unique_ptr<Pool> pool;
  ASSERT_TRUE(Pool::create(std::make_unique<Link>(world, rank),
                           {{mixed, nullptr, true}, {until_others_work, nullptr, true}}, "mixed, until_others_work", {},
                           pool));
  EXPECT_STREQ(pool->transport_in_use(), "messages");
  pool->use_message_thread();
  EXPECT_STREQ(pool->transport_in_use(), "messages and thread");
  for (int step = 0; step < 3; ++step) {
    if (rank == 0) g_elsewhere = 0;
    world.meeting.arrive_and_wait();
    const bool owns = step == 2 || rank == world.per_node - 1;
    for (std::uint64_t tag = 1; owns && tag <= 100; ++tag) {
      std::vector<char> bytes(tag % 13 * 300 + sizeof(Input), 'x');
      const Input input{t_node, static_cast<int>(bytes.size())};
      std::memcpy(bytes.data(), &input, sizeof(input));
      EXPECT_TRUE(pool->spawn(0, tag, bytes.data(), bytes.size()));
    }
    // On each rank of the node that has tasks, so that only the message threads can give them away.
    if (t_node == 0 && step < 2) {
      EXPECT_TRUE(pool->spawn(1, 5000, nullptr, 0));
    }
    world.meeting.arrive_and_wait();
    if (t_node != 0) usleep(3000);  // or another node executes the long task
    Seen seen;
    EXPECT_TRUE(pool->run({[](void* self, const Result& result) {
                             Seen& all = *static_cast<Seen*>(self);
                             ++all.times[result.tag];
                             all.failures += result.failed ? 1 : 0;
                             if (result.failed || result.function != 0) return;
                             Input input{};
                             std::memcpy(&input, result.bytes, sizeof(input));
                             EXPECT_EQ(static_cast<std::size_t>(input.size), result.size);
                           },
                           &seen}));
    EXPECT_EQ(seen.failures, 0);
    EXPECT_EQ(seen.times.size(), (owns ? 120u : 0u) + (t_node == 0 && step < 2 ? 1u : 0u));
    for (const auto& [tag, times] : seen.times) EXPECT_EQ(times, 1) << tag;
  }
  EXPECT_TRUE(pool->leave());
}

TEST(MessageThread, GivesTasksAwayWhileAllRanksOfANodeAreInLongTasks) {
  for (const auto& [ranks, per_node] : {std::pair(2, 1), std::pair(3, 1), std::pair(4, 2)}) {
    World world(ranks, per_node);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(run_rank, std::ref(world), rank);
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace steelyard::tasks
