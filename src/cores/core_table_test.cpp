// SPDX-License-Identifier: BSD-3-Clause
// All interleavings of the core table's atomic operations, for three processes that play small programs: core_table.cpp
// is compiled with this test, with the atomics of base/explorer.h. Asserts the invariants of core_table.h.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/explorer.h"
#include "cores/core_table.h"

namespace steelyard::cores {
namespace {

using explorer::Explorer;
using explorer::Outcome;
using explorer::Scenario;

constexpr int kProcesses = 3;
constexpr std::int64_t kNow = 10;
// Users of a core.
constexpr int kNone = -1;
constexpr int kGivenUp = -2;

/// What a process does to one core.
enum class Step {
  lend,       ///< its own core, for as long as it waits
  offer,      ///< its own core, without waiting
  reclaim,    ///< the wait is over: it takes its core, or asks for it
  claim,      ///< takes its core, or asks for it
  borrow,     ///< if it can
  give_back,  ///< ends its use of a borrowed core
  hand,       ///< gives its lent core to process 2
  find,       ///< uses a core that was handed to it
  give_up,    ///< leaves a core that is no longer its own to the new owner
  take_back,  ///< a core that is no longer its own, until the new owner asks
  replan,     ///< cores 0 and 1 change owners
};
struct Action {
  Step step;
  int core = 0;
};
using Program = std::vector<Action>;

/// Processes over one table. A violated invariant is noted in `wrong`.
class Run {
 public:
  Run(int cores, const std::array<Program, kProcesses>& programs)
      : bytes_(CoreTable::footprint(cores, kProcesses)), memory_(bytes_ + 64), cores_(cores) {
    void* place = memory_.data();
    std::size_t space = memory_.size();
    place = std::align(64, bytes_, place, space);
    for (int p = 0; p < kProcesses; ++p) {
      segments_.push_back(node::Segment::over(place, bytes_));
      tables_.push_back(std::make_unique<CoreTable>(*segments_.back(), cores, kProcesses, p));
    }
    std::vector<int> owners;
    for (int c = 0; c < cores; ++c) owners.push_back(c < kProcesses ? c : 0);
    tables_[0]->settle(owners);
    for (int c = 0; c < cores; ++c) users_.push_back(std::make_unique<explorer::Atomic<int>>(owners[c]));
    holds_.assign(kProcesses, std::vector<bool>(static_cast<std::size_t>(cores)));
    lacks_ = holds_;
    for (int c = 0; c < cores; ++c) holds_[owners[c]][c] = true;
    programs_ = programs;
  }

  void play(int me) {
    for (const Action& action : programs_[static_cast<std::size_t>(me)]) act(me, action.step, action.core);
  }

  /// After all programs.
  std::string verdict() {
    int lent = 0;
    for (int c = 0; c < cores_; ++c) lent += tables_[0]->is_lent(c);
    if (tables_[0]->lent_idle() != lent) fail("4: lent_idle is " + std::to_string(tables_[0]->lent_idle()));
    for (int p = 0; p < kProcesses; ++p) {
      for (int c = 0; c < cores_; ++c) {
        if ((lacks_[p][c] || holds_[p][c]) && tables_[p]->is_own(c) && tables_[p]->is_offered(c))
          fail("6: core " + std::to_string(c) + " is offered against the will of its owner");
        if (lacks_[p][c] && tables_[p]->is_own(c) && tables_[p]->is_in_use(c) && !tables_[p]->uses(c) &&
            !tables_[p]->is_wanted(c))
          fail("3: core " + std::to_string(c) + " is not marked as wanted");
      }
    }
    for (int p = 0; p < kProcesses; ++p) {
      for (int c = 0; c < cores_; ++c) {
        act(p, Step::find, c);
        if (holds_[p][c]) end_use(p, c, [&] { tables_[p]->lend(c, kNow); });
      }
    }
    for (int c = 0; c < cores_; ++c) {
      for (int p = 0; p < kProcesses; ++p) {
        if (tables_[p]->is_own(c) && !tables_[p]->take_own(c)) fail("5: core " + std::to_string(c) + " is lost");
      }
    }
    if (tables_[0]->lent_idle() != 0) fail("4: cores are lent that are all in use");
    return wrong_;
  }

 private:
  void fail(const std::string& what) {
    if (wrong_.empty()) wrong_ = "invariant " + what;
  }
  void begin_use(int me, int core, bool borrowed = false) {
    const int user = users_[core]->exchange(me);
    if (user == kGivenUp && borrowed) fail("2: core " + std::to_string(core) + " was given up, and is borrowed");
    if (user >= 0)
      fail("1: core " + std::to_string(core) + " is used by " + std::to_string(user) + " and " + std::to_string(me));
    holds_[me][core] = true;
    lacks_[me][core] = false;
  }
  template <class How>
  void end_use(int me, int core, How how, int user = kNone) {
    holds_[me][core] = false;
    users_[core]->exchange(user);
    how();
  }
  void claim(int me, int core) {
    if (holds_[me][core] || !tables_[me]->is_own(core)) return;
    if (tables_[me]->take_own(core)) {
      begin_use(me, core);
    } else {
      lacks_[me][core] = true;
    }
  }
  void act(int me, Step step, int core) {
    CoreTable& table = *tables_[me];
    const bool holds = holds_[me][core];
    switch (step) {
      case Step::lend:
        if (holds) end_use(me, core, [&] { table.lend(core, kNow); });
        table.begin_wait({.until = INT64_MAX});
        return;
      case Step::offer:
        if (holds) end_use(me, core, [&] { table.offer(core, kNow); });
        return;
      case Step::reclaim: table.end_wait(); [[fallthrough]];
      case Step::claim: claim(me, core); return;
      case Step::borrow:
        if (!holds && table.borrow(core, {.until = kNow + 1})) begin_use(me, core, true);
        return;
      case Step::give_back:
        if (!holds) return;
        if (table.asked_back()) table.clear_asked_back();
        if (table.is_wanted(core)) {
          end_use(me, core, [&] { table.give_up(core); }, kGivenUp);
        } else {
          end_use(me, core, [&] { table.lend(core, kNow); });
        }
        return;
      case Step::hand:
        if (!table.may_borrow(2, core, kNow + 1) || !table.retake_lent(core)) return;
        begin_use(me, core);
        end_use(me, core, [&] { table.hand_to(2, core, kNow); });
        return;
      case Step::find:
        if (!holds && table.uses(core)) begin_use(me, core);
        return;
      case Step::give_up:
        if (holds && !table.is_own(core)) end_use(me, core, [&] { table.give_up(core); }, kGivenUp);
        return;
      case Step::take_back:
        if (!holds && !table.is_own(core) && table.take_back(core)) begin_use(me, core);
        return;
      case Step::replan: table.change_owners(cores_ == 2 ? std::vector<int>{1, 0} : std::vector<int>{1, 0, 2}); return;
    }
  }

  std::size_t bytes_;
  std::vector<unsigned char> memory_;
  int cores_;
  std::vector<std::unique_ptr<node::Segment>> segments_;
  std::vector<std::unique_ptr<CoreTable>> tables_;
  std::vector<std::unique_ptr<explorer::Atomic<int>>> users_;  // by core: a process, kNone or kGivenUp
  std::vector<std::vector<bool>> holds_, lacks_;               // by process and core: it uses it; it has asked in vain
  std::array<Program, kProcesses> programs_;
  std::string wrong_;
};

void explore(const char* name, int cores, const std::array<Program, kProcesses>& programs) {
  Explorer explorer;
  const Outcome outcome = explorer.explore(
      [&] {
        auto run = std::make_shared<Run>(cores, programs);
        Scenario scenario;
        for (int p = 0; p < kProcesses; ++p) scenario.threads.emplace_back([run, p] { run->play(p); });
        scenario.verdict = [run] { return run->verdict(); };
        return scenario;
      },
      2'000'000);
  std::string order;
  for (const int process : outcome.schedule) order += " " + std::to_string(process);
  std::printf("  %s: %lu interleavings\n", name, static_cast<unsigned long>(outcome.runs));
  EXPECT_EQ(outcome.wrong, "") << name << ", in the order of processes" << order;
  EXPECT_TRUE(outcome.complete || !outcome.wrong.empty()) << name << " has too many interleavings";
}

using enum Step;

TEST(CoreTableInterleavings, TwoBorrowersOfOneCore) {
  explore("two borrowers", 2, {Program{{lend}, {reclaim}}, {{borrow}, {give_back}}, {{borrow}, {give_back}}});
}

TEST(CoreTableInterleavings, AnOwnerThatAsksTwice) {
  explore("asks twice", 2, {Program{{lend}, {reclaim}, {claim}}, {}, {{borrow}, {give_back}, {borrow}}});
}

TEST(CoreTableInterleavings, ACoreThatIsHandedOver) {
  explore("handed over", 2, {Program{{lend}, {hand}, {reclaim}}, {{borrow}, {give_back}}, {{find}, {give_back}}});
}

TEST(CoreTableInterleavings, ProcessesThatChangePlaces) {
  explore(
      "change places", 2,
      {Program{{replan}, {give_up, 0}, {claim, 1}, {take_back, 0}}, {{give_up, 1}, {claim, 0}, {take_back, 1}}, {}});
}

TEST(CoreTableInterleavings, APlanWhileCoresAreLent) {
  explore("plan", 2, {Program{{lend}, {replan}, {claim, 1}}, {{give_up, 1}, {claim, 0}}, {{borrow}, {give_back}}});
}

TEST(CoreTableInterleavings, AnOfferedCoreThatIsAskedForBack) {
  explore("offered", 2, {Program{{offer}, {claim}, {claim}}, {{borrow}, {give_back}}, {{borrow}, {give_back}}});
}

TEST(CoreTableInterleavings, AnOfferWhileAPlanIsMade) {
  explore("offer and plan", 2, {Program{{offer}, {claim, 1}}, {{replan}, {give_up, 1}, {claim, 0}}, {{borrow}}});
}

TEST(CoreTableInterleavings, ACoreThatIsOfferedTwice) {
  explore("offered twice", 2, {Program{{offer}, {claim}, {offer}, {claim}}, {}, {{borrow}, {give_back}, {borrow}}});
}

TEST(CoreTableInterleavings, ThreeCoresOfThreeProcesses) {
  explore("three cores", 3,
          {Program{{lend, 0}, {reclaim, 0}}, {{borrow, 0}, {borrow, 2}, {give_back, 0}}, {{lend, 2}, {reclaim, 2}}});
}

}  // namespace
}  // namespace steelyard::cores
