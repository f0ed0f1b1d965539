#include "phases/rendezvous.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "node/sleep.h"
#include "phases/shared_file.h"
#include "phases/test_support.h"

namespace steelyard::phases {
namespace {

using testing_support::in_processes;

/// What one process sees: the shared head, and a rendezvous over it that ends the process with 42 when somebody is lost.
struct Seen {
  explicit Seen(Meeting& meeting) {
    const auto size = static_cast<std::size_t>(meeting.size());
    me = meeting.rank();
    const auto fill = [&](void* head) {
      shared = static_cast<Shared*>(head);
      members = {reinterpret_cast<Member*>(shared + 1), size};
      sign(members[static_cast<std::size_t>(me)]);
    };
    if (!SharedFile::create(meeting, sizeof(Shared) + size * sizeof(Member), fill, file)) _exit(9);
    rendezvous.emplace(members, me, [](const std::string& sentence) {
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
    const auto statuses = in_processes(count, [&](Meeting& meeting) {
      Seen seen(meeting);
      auto& counter = seen.shared->capacity[0];
      for (int round = 1; round <= 500; ++round) {
        counter.fetch_add(1);
        const auto wait = (round + seen.me) % 7 == 0 ? Rendezvous::Wait::asleep : Rendezvous::Wait::brief;
        seen.rendezvous->meet(seen.shared->barrier, wait);
        if (counter.load() < static_cast<std::uint64_t>(round * count)) return false;
        seen.rendezvous->meet(seen.shared->end, wait);
      }
      return true;
    });
    EXPECT_EQ(statuses, std::vector<int>(static_cast<std::size_t>(count), 0));
  }
}

TEST(Rendezvous, WhoSleepsUsesNoCpu) {
  const auto statuses = in_processes(3, [](Meeting& meeting) {
    Seen seen(meeting);
    if (seen.me == 0) node::sleep_for(400'000'000);
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    seen.rendezvous->meet(seen.shared->end, Rendezvous::Wait::asleep);
    getrusage(RUSAGE_SELF, &after);
    const auto us = [](const timeval& t) { return t.tv_sec * 1'000'000 + t.tv_usec; };
    return us(after.ru_utime) + us(after.ru_stime) - us(before.ru_utime) - us(before.ru_stime) < 20'000;
  });
  EXPECT_EQ(statuses, std::vector<int>(3, 0));
}

TEST(Rendezvous, ADeadProcessIsNoticed) {
  const std::int64_t start = base::now_ns();
  const auto statuses = in_processes(3, [](Meeting& meeting) {
    Seen seen(meeting);
    seen.rendezvous->meet(seen.shared->barrier, Rendezvous::Wait::brief);
    if (seen.me == 1) std::abort();
    seen.rendezvous->meet(seen.shared->barrier, Rendezvous::Wait::asleep);
    return true;
  });
  EXPECT_EQ(statuses, (std::vector<int>{42, 128 + SIGABRT, 42}));
  EXPECT_LT(base::seconds(base::now_ns() - start), 5);
}

TEST(Rendezvous, WhoEndedAfterComingIsNotMissed) {
  const auto statuses = in_processes(3, [](Meeting& meeting) {
    Seen seen(meeting);
    if (seen.me == 1) {
      seen.rendezvous->arrive(seen.shared->begin);
      return true;
    }
    if (seen.me == 2) node::sleep_for(900'000'000);
    seen.rendezvous->meet(seen.shared->begin, Rendezvous::Wait::asleep);
    return true;
  });
  EXPECT_EQ(statuses, std::vector<int>(3, 0));
}

TEST(Alive, TellsTheLivingFromTheDead) {
  Member member = {};
  sign(member);
  EXPECT_TRUE(alive(member, member.pid_namespace));
  member.started += 1;
  EXPECT_FALSE(alive(member, member.pid_namespace)) << "another process with the same PID";
  EXPECT_TRUE(alive(member, member.pid_namespace + 1)) << "cannot be told";
}

}  // namespace
}  // namespace steelyard::phases
