// SPDX-License-Identifier: BSD-3-Clause
#include "phases/rendezvous.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "phases/shared_file.h"
#include "phases/test_support.h"
#include "wait/sleep.h"

namespace steelyard::phases {
namespace {

using testing_support::in_processes;

constexpr Call kBarrier{Call::Kind::barrier, 0}, kScatter{Call::Kind::scatter, 0}, kEnter{Call::Kind::enter, 0};

/// What one process sees: the shared head, and a rendezvous over it that ends the process with 42 when a process is
/// lost.
struct Seen {
  explicit Seen(Transport& transport) {
    const auto size = static_cast<std::size_t>(transport.size());
    me = transport.rank();
    const auto fill = [&](void* head) {
      shared = static_cast<Shared*>(head);
      members = {reinterpret_cast<Member*>(shared + 1), size};
      sign(members[static_cast<std::size_t>(me)]);
    };
    if (!SharedFile::create(transport, sizeof(Shared) + size * sizeof(Member), fill, file)) _exit(9);
    rendezvous.emplace(*shared, members, me, [](const std::string& sentence) {
      _exit(sentence.find("has ended") != std::string::npos ? 42 : 43);
    });
  }
  std::unique_ptr<SharedFile> file;
  Shared* shared;
  std::span<Member> members;
  int me;
  std::optional<Rendezvous> rendezvous;
};

TEST(Rendezvous, NobodyGoesOnBeforeAllHaveCome) {
  for (const int count : {1, 2, 3, 5}) {
    const auto statuses = in_processes(count, [&](Transport& transport) {
      Seen seen(transport);
      auto& counter = seen.shared->capacity[0];
      for (int round = 1; round <= 500; ++round) {
        counter.fetch_add(1);
        const auto wait = (round + seen.me) % 7 == 0 ? Rendezvous::Wait::asleep : Rendezvous::Wait::brief;
        if (!seen.rendezvous->meet(kBarrier, wait)) return false;
        if (counter.load() < static_cast<std::uint64_t>(round * count)) return false;
        if (!seen.rendezvous->meet(kScatter, wait)) return false;
      }
      return true;
    });
    EXPECT_EQ(statuses, std::vector<int>(static_cast<std::size_t>(count), 0));
  }
}

TEST(Rendezvous, WhoSleepsUsesNoCpu) {
  const auto statuses = in_processes(3, [](Transport& transport) {
    Seen seen(transport);
    if (seen.me == 0) wait::sleep_for(400'000'000);
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    if (!seen.rendezvous->meet(kBarrier, Rendezvous::Wait::asleep)) return false;
    getrusage(RUSAGE_SELF, &after);
    const auto us = [](const timeval& t) { return t.tv_sec * 1'000'000 + t.tv_usec; };
    return us(after.ru_utime) + us(after.ru_stime) - us(before.ru_utime) - us(before.ru_stime) < 20'000;
  });
  EXPECT_EQ(statuses, std::vector<int>(3, 0));
}

TEST(Rendezvous, ADeadProcessIsNoticed) {
  const std::int64_t start = base::now_ns();
  const auto statuses = in_processes(3, [](Transport& transport) {
    Seen seen(transport);
    if (!seen.rendezvous->meet(kBarrier, Rendezvous::Wait::brief)) return false;
    if (seen.me == 1) std::abort();
    return static_cast<bool>(seen.rendezvous->meet(kBarrier, Rendezvous::Wait::asleep));
  });
  EXPECT_EQ(statuses, (std::vector<int>{42, 128 + SIGABRT, 42}));
  EXPECT_LT(base::seconds(base::now_ns() - start), 5);
}

TEST(Rendezvous, WhoEndedAfterComingIsNotMissed) {
  const auto statuses = in_processes(3, [](Transport& transport) {
    Seen seen(transport);
    if (seen.me == 1) {
      return static_cast<bool>(seen.rendezvous->arrive(kEnter));
    }
    if (seen.me == 2) wait::sleep_for(900'000'000);
    return static_cast<bool>(seen.rendezvous->meet(kEnter, Rendezvous::Wait::asleep));
  });
  EXPECT_EQ(statuses, std::vector<int>(3, 0));
}

TEST(Rendezvous, ATurnWithDifferentCallsIsRefusedAtAllOfThemAndTheNextOnesAreNot) {
  for (const int count : {2, 3, 5}) {
    const auto statuses = in_processes(count, [&](Transport& transport) {
      Seen seen(transport);
      Rendezvous& rendezvous = *seen.rendezvous;
      for (int round = 0; round < 400; ++round) {
        // By the round, one process comes with another call than the others, early or late; or none does.
        const bool other = round % 3 != 0 && round % count == seen.me;
        if ((round + seen.me) % 11 == 0) wait::sleep_for(200'000);
        const auto wait = round % 2 == 0 ? Rendezvous::Wait::asleep : Rendezvous::Wait::brief;
        const base::Status met = rendezvous.meet(other ? Call{Call::Kind::barrier, 1} : kBarrier, wait);
        if (static_cast<bool>(met) != (round % 3 == 0)) return false;
        if (!met &&
            met.sentence().find("calls steelyard_node_barrier() of another phase where rank") == std::string::npos) {
          return false;
        }
      }
      return static_cast<bool>(rendezvous.meet(kScatter, Rendezvous::Wait::brief));
    });
    EXPECT_EQ(statuses, std::vector<int>(static_cast<std::size_t>(count), 0));
  }
}

}  // namespace
}  // namespace steelyard::phases
