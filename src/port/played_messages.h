// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

#include "port/agreement.h"
#include "port/messages.h"

// For tests: the port without MPI. Ranks are threads of one process. Messages take any time and any order that
// port::Messages allows, and sends end as late as it allows.
namespace steelyard::port {

/// What the ranks share.
class PlayedNetwork {
 public:
  explicit PlayedNetwork(unsigned seed) : dice_(seed) {}

  /// Ends the program, with a line for each rank that says where it is, if the test has taken too long.
  void watch(const char* what, int rank) const {
    if (std::chrono::steady_clock::now() < deadline_) return;
    std::fprintf(stderr, "a deadlock: rank %d, in %s\n", rank, what);
    std::this_thread::sleep_for(std::chrono::seconds(1));  // the other ranks, too
    std::abort();
  }

 private:
  friend class PlayedMessages;
  friend class PlayedExchange;
  using Stream = std::tuple<int, int, int>;  // from, to, context
  struct Message {
    const void* bytes;       // the sender's
    std::vector<char> copy;  // an eager send's
    bool eager;
    std::size_t size;
    int looks;  // of the receiver that do not see it yet
    std::uint64_t send;
  };
  struct Receive {
    Stream stream;
    void* bytes;
    std::size_t size;
  };
  struct Gathering {
    std::vector<std::int64_t> words;
    int come = 0, gone = 0;
  };

  bool is_visible(std::deque<Message>& messages) { return !messages.empty() && messages.front().looks-- <= 0; }
  bool take(std::deque<Message>& messages, void* bytes, std::size_t size) {
    if (!is_visible(messages)) return false;
    const Message& message = messages.front();
    if (message.size > size) std::abort();
    if (message.size > 0) std::memcpy(bytes, message.eager ? message.copy.data() : message.bytes, message.size);
    if (!message.eager) sending_.erase(message.send);
    messages.pop_front();
    return true;
  }

  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::mutex mutex_;
  std::condition_variable gathered_;
  std::mt19937 dice_;
  std::uint64_t next_ = 1;
  std::map<Stream, std::deque<Message>> streams_;
  std::map<std::uint64_t, bool> sending_;  // sends that have not ended
  std::map<std::uint64_t, Receive> receiving_;
  std::map<std::pair<int, int>, Gathering> gatherings_;  // by group and number
};

class PlayedMessages final : public Messages {
 public:
  PlayedMessages(PlayedNetwork& network, int rank, std::int64_t highest = 1 << 20)
      : network_(network), rank_(rank), highest_(highest) {}
  std::int64_t highest_context() const override { return highest_; }

  Request send(int to, int context, const void* bytes, std::size_t size) override {
    const std::lock_guard lock(network_.mutex_);
    PlayedNetwork::Message message{bytes, {}, network_.dice_() % 2 == 0, size, 0, network_.next_++};
    message.looks = network_.dice_() % 3 == 0 ? static_cast<int>(network_.dice_() % 200) : 0;
    const std::uint64_t handle = message.send;
    const bool eager = message.eager;
    if (eager) {
      message.copy.assign(static_cast<const char*>(bytes), static_cast<const char*>(bytes) + size);
    } else {
      network_.sending_[handle] = true;
    }
    network_.streams_[{rank_, to, context}].push_back(std::move(message));
    return {handle, true};
  }
  Request receive(int from, int context, void* bytes, std::size_t size) override {
    const std::lock_guard lock(network_.mutex_);
    const std::uint64_t handle = network_.next_++;
    network_.receiving_[handle] = {{from, rank_, context}, bytes, size};
    return {handle, true};
  }
  bool is_done(Request& request) override {
    if (!request.started) return true;
    network_.watch("a message", rank_);
    const std::lock_guard lock(network_.mutex_);
    if (const auto found = network_.receiving_.find(request.handle); found != network_.receiving_.end()) {
      const PlayedNetwork::Receive& receive = found->second;
      if (!network_.take(network_.streams_[receive.stream], receive.bytes, receive.size)) return false;
      network_.receiving_.erase(found);
    } else if (network_.sending_.contains(request.handle)) {
      return false;
    }
    request.started = false;
    return true;
  }
  void wait(Request& request) override {
    while (!is_done(request)) std::this_thread::yield();
  }
  bool receive_arrived(int context, void* bytes, std::size_t size) override {
    const std::lock_guard lock(network_.mutex_);
    std::vector<std::deque<PlayedNetwork::Message>*> found;
    for (auto& [stream, messages] : network_.streams_) {
      if (std::get<1>(stream) == rank_ && std::get<2>(stream) == context && !messages.empty())
        found.push_back(&messages);
    }
    return !found.empty() && network_.take(*found[network_.dice_() % found.size()], bytes, size);
  }
  void receive_next(int context, void* bytes, std::size_t size) override {
    while (!receive_arrived(context, bytes, size)) {
      network_.watch("a message from any rank", rank_);
      std::this_thread::yield();
    }
  }

 private:
  PlayedNetwork& network_;
  int rank_;
  std::int64_t highest_;
};

/// The ranks of one group. Counts what it is asked, as every rank does.
class PlayedExchange final : public Exchange {
 public:
  PlayedExchange(PlayedNetwork& network, int group, int rank, int size)
      : network_(network), group_(group), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void gather(const std::int64_t* mine, int words, std::int64_t* all) override {
    std::unique_lock lock(network_.mutex_);
    const std::pair<int, int> key{group_, number_++};
    PlayedNetwork::Gathering& gathering = network_.gatherings_[key];
    gathering.words.resize(static_cast<std::size_t>(words * size_));
    std::copy_n(mine, words, gathering.words.begin() + rank_ * words);
    ++gathering.come;
    network_.gathered_.notify_all();
    while (gathering.come < size_) {
      network_.gathered_.wait_for(lock, std::chrono::seconds(1));
      network_.watch("an exchange", rank_);
    }
    std::copy(gathering.words.begin(), gathering.words.end(), all);
    if (++gathering.gone == size_) network_.gatherings_.erase(key);
  }
  std::int64_t sum_for_this_rank(const std::int64_t* by_rank) override {
    std::vector<std::int64_t> all(static_cast<std::size_t>(size_ * size_));
    gather(by_rank, size_, all.data());
    std::int64_t sum = 0;
    for (int from = 0; from < size_; ++from) sum += all[static_cast<std::size_t>(from * size_ + rank_)];
    return sum;
  }

 private:
  PlayedNetwork& network_;
  int group_, rank_, size_, number_ = 0;
};

}  // namespace steelyard::port
