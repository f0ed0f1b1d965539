// SPDX-License-Identifier: BSD-3-Clause
// Results on their way to the consumer, through a network whose buffers are as small as can be and whose parcels take
// any time.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tasks/router.h"
#include "tasks/small_world.h"

namespace steelyard::tasks {
namespace {

class Network {
 public:
  Network(int ranks, int a_node, int degree, std::size_t capacity, int outstanding, std::uint64_t seed)
      : routes_(RankPlacement(ranks, a_node, {}),
                std::make_unique<SmallWorld>(RankPlacement(ranks, a_node, {}).nodes(), degree)),
        dice_(seed) {
    for (int rank = 0; rank < ranks; ++rank) {
      ends_.push_back(std::make_unique<End>(*this, rank));
      routers_.push_back(std::make_unique<Router>(rank, *ends_.back(), capacity, outstanding));
    }
    seen_.assign(static_cast<std::size_t>(ranks), {});
  }

  /// Every rank sends to every rank (or to rank 0 alone), at random moments; then until all is there.
  void exchange(int each, bool to_one) {
    const int ranks = static_cast<int>(routers_.size());
    std::vector<std::pair<int, std::uint64_t>> to_post;
    for (int from = 0; from < ranks; ++from) {
      for (int i = 0; i < each; ++i) to_post.push_back({from, static_cast<std::uint64_t>(from * each + i)});
    }
    std::shuffle(to_post.begin(), to_post.end(), dice_);
    std::size_t expected = to_post.size(), steps = 0;
    while (delivered_ < expected) {
      ASSERT_LT(++steps, 2'000'000u) << "a deadlock: " << delivered_ << " of " << expected;
      const std::size_t at = dice_() % routers_.size();
      if (!to_post.empty() && dice_() % 2 == 0 && !routers_[at]->congested()) {
        const auto [from, tag] = to_post.back();
        if (!routers_[static_cast<std::size_t>(from)]->congested()) {
          const int owner = to_one ? 0 : static_cast<int>(dice_() % routers_.size());
          const std::vector<char> bytes(dice_() % 100, static_cast<char>(tag));
          routers_[static_cast<std::size_t>(from)]->post({tag, owner, static_cast<std::uint32_t>(bytes.size()), 0, 0},
                                                         bytes.data());
          to_post.pop_back();
        }
      }
      if (dice_() % 3 == 0) routers_[at]->pump(dice_() % 2 == 0);
      if (!under_way_.empty() && dice_() % 2 == 0) arrive();
      largest_ = std::max(largest_, under_way_.size());
    }
    while (!under_way_.empty()) arrive();
    for (const auto& router : routers_) EXPECT_TRUE(router->empty());
    std::vector<std::uint64_t> all;
    for (const auto& some : seen_) all.insert(all.end(), some.begin(), some.end());
    std::sort(all.begin(), all.end());
    EXPECT_TRUE(std::adjacent_find(all.begin(), all.end()) == all.end()) << "something came twice";
    EXPECT_EQ(all.size(), expected);
  }
  std::size_t parcels() const { return parcels_; }

 private:
  struct Message {
    int to;
    bool acknowledgement;
    int from;
    Router::Parcel parcel;
  };
  struct End final : Router::Carrier {
    End(Network& n, int r) : network(n), rank(r) {}
    Routes::Way way(int owner) override { return network.routes_.way(rank, owner); }
    void carry(int to, int further, std::vector<char>& records) override {
      Router::Parcel parcel;
      parcel.from = rank;
      parcel.further = further;
      parcel.size = records.size();
      parcel.bytes = records;
      ++network.parcels_;
      network.under_way_.push_back({to, false, rank, std::move(parcel)});
    }
    bool deliver(const Record& record, const char* bytes) override {
      if (network.dice_() % 5 == 0) return false;  // in the middle of a task
      for (std::uint32_t i = 0; i < record.bytes; ++i) EXPECT_EQ(bytes[i], static_cast<char>(record.tag));
      EXPECT_EQ(record.owner, rank);
      network.seen_[static_cast<std::size_t>(rank)].push_back(record.tag);
      ++network.delivered_;
      return true;
    }
    void acknowledge(const Router::Parcel& parcel) override {
      Router::Parcel empty;
      empty.further = parcel.further;
      network.under_way_.push_back({parcel.from, true, rank, std::move(empty)});
    }
    Network& network;
    int rank;
  };
  void arrive() {
    const std::size_t which = dice_() % under_way_.size();
    Message message = std::move(under_way_[which]);
    under_way_[which] = std::move(under_way_.back());
    under_way_.pop_back();
    Router& to = *routers_[static_cast<std::size_t>(message.to)];
    if (message.acknowledgement) {
      to.acknowledged(message.from, message.parcel.further);
    } else {
      to.arrive(std::move(message.parcel));
    }
  }

  Routes routes_;
  std::mt19937_64 dice_;
  std::vector<std::unique_ptr<End>> ends_;
  std::vector<std::unique_ptr<Router>> routers_;
  std::vector<Message> under_way_;
  std::vector<std::vector<std::uint64_t>> seen_;
  std::size_t delivered_ = 0, largest_ = 0, parcels_ = 0;
};

TEST(Router, EverythingComesHomeOnceThroughTheSmallestBuffers) {
  std::uint64_t seed = 1;
  for (const int ranks : {1, 2, 5, 12, 24}) {
    for (const int a_node : {1, 3}) {
      for (const bool to_one : {false, true}) {
        Network network(ranks, a_node, 2, 1, 1, seed++);  // a ring, one record a parcel, one parcel under way
        network.exchange(40, to_one);
      }
    }
  }
}

TEST(Router, GathersWhatGoesTheSameWay) {
  Network alone(16, 1, 4, 1, 4, 5), together(16, 1, 4, 4096, 4, 5);
  alone.exchange(100, true);
  together.exchange(100, true);
  EXPECT_LT(together.parcels() * 2, alone.parcels());
}

}  // namespace
}  // namespace steelyard::tasks
