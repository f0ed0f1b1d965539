// SPDX-License-Identifier: BSD-3-Clause
#include "phases/phase.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "node/binding.h"
#include "phases/hold.h"
#include "phases/test_support.h"
#include "wait/sleep.h"

namespace steelyard::phases {
namespace {

using testing_support::Emulated;
using testing_support::in_processes;

std::shared_ptr<Context> create(Transport& transport, const decide::Settings& decision = {}) {
  std::shared_ptr<Context> context;
  if (!Context::create(transport, [](const std::string&) { _exit(42); }, decision, context)) _exit(9);
  return context;
}

/// A context on an emulated machine whose processes are bound to a core each.
std::shared_ptr<Context> create_bound(Transport& transport, std::shared_ptr<Context>& outer) {
  outer = create(transport);
  if (!outer->push(Resource::core, transport.rank(), 1)) _exit(8);
  return create(transport);
}

TEST(Phase, TheChosenWorkWhileTheOthersSleep) {
  const Emulated machine("package:2 core:2 pu:1");
  for (const int count : {1, 2, 3, 4}) {
    const auto statuses = in_processes(count, [](Transport& transport) {
      std::shared_ptr<Context> outer;
      const auto context = create_bound(transport, outer);
      Phase phase(context, Resource::package, 1);
      for (int round = 0; round < 20; ++round) {
        bool chosen = false;
        if (!phase.enter(chosen)) return false;
        if (chosen != (transport.rank() % 2 == 0)) return false;
        if (chosen && to_text(context->now()) != (transport.rank() == 0  ? transport.size() > 1 ? "0-1" : "0"
                                                  : transport.size() > 3 ? "2-3"
                                                                         : "2")) {
          return false;
        }
        if (!phase.leave()) return false;
        if (context->now() != context->machine().cpus(Resource::core, transport.rank())) return false;
      }
      return true;
    });
    EXPECT_EQ(statuses, std::vector<int>(static_cast<std::size_t>(count), 0)) << count;
  }
}

int holds = 0, ended = 0;
std::int64_t in_phases = 0;

TEST(Phase, ItHoldsTheCoresOfAllItsProcessesFromEnterToLeave) {
  const Emulated machine("core:2 pu:1");
  const auto statuses = in_processes(2, [](Transport& transport) {
    const auto context = create(transport);
    Hold::tell({[] { ++holds; }, [](std::int64_t phases) { ++ended, in_phases = phases; }});
    Phase phase(context, Resource::machine, 1);
    bool chosen = false;
    if (!phase.enter(chosen) || holds != 1 || ended != 0) return false;
    // Nested: the phase lasts.
    if (chosen && (!context->push(Resource::core, 0, 1) || !context->pop() || holds != 1 || ended != 0)) return false;
    if (chosen) wait::sleep_for(2'000'000);
    if (!phase.leave() || holds != 1 || ended != 1 || in_phases < 2'000'000) return false;
    if (!context->push(Resource::core, 0, 1) || holds != 2 || ended != 1) return false;
    if (!context->pop() || ended != 2 || in_phases != -1) return false;
    // Refused: nothing is held.
    if (context->push(CpuSet{}, 1) || phase.leave() || context->pop()) return false;
    return holds == 2 && ended == 2;
  });
  EXPECT_EQ(statuses, std::vector<int>(2, 0));
}

TEST(Phase, DataGoToTheChosenAndBack) {
  const Emulated machine("package:2 core:4 pu:1");
  for (const int count : {1, 2, 3, 5, 8}) {
    const auto statuses = in_processes(count, [](Transport& transport) {
      std::shared_ptr<Context> outer;
      const auto context = create_bound(transport, outer);
      Phase phase(context, Resource::package, 1);
      for (int round = 0; round < 30; ++round) {
        // Of any length, and growing beyond all that was there.
        const auto length = static_cast<std::size_t>((transport.rank() * 37 + round * 911) % (10 << (round % 18)));
        std::vector<int> mine(length);
        std::iota(mine.begin(), mine.end(), transport.rank() * 1000 + round);
        View all;
        if (!phase.gather(mine.data(), length * sizeof(int), all)) return false;
        if (phase.chosen() == all.members.empty()) return false;
        std::vector<int> own;
        const bool in_place = round % 2 == 0;
        auto* data = reinterpret_cast<int*>(all.data);
        std::size_t at = 0;
        for (std::size_t part = 0; part < all.members.size(); ++part) {
          const std::size_t ints = all.sizes[part] / sizeof(int);
          for (std::size_t i = 0; i < ints; ++i) {
            if (data[at + i] != all.members[part] * 1000 + round + static_cast<int>(i)) return false;
            data[at + i] *= 2;
          }
          at += ints;
        }
        if (!in_place) own.assign(data, data + at);
        View back;
        if (!phase.scatter(in_place ? data : own.data(), all.sizes, back)) return false;
        if (back.sizes[0] != length * sizeof(int)) return false;
        for (std::size_t i = 0; i < length; ++i) {
          if (reinterpret_cast<int*>(back.data)[i] != 2 * mine[i]) return false;
        }
      }
      return true;
    });
    EXPECT_EQ(statuses, std::vector<int>(static_cast<std::size_t>(count), 0)) << count;
  }
}

TEST(Phase, MistakesAreSentences) {
  const Emulated machine("package:2 core:2 pu:1");
  const auto statuses = in_processes(1, [](Transport& transport) {
    const auto context = create(transport);
    Phase phase(context, Resource::package, 1), other(context, Resource::machine, 1);
    bool chosen = false;
    View view;
    const auto says = [](const base::Status& status, const char* words) {
      return !status && status.sentence().find(words) != std::string::npos;
    };
    if (!says(phase.leave(), "not entered")) return false;
    if (!phase.enter(chosen)) return false;
    if (!says(phase.enter(chosen), "not left") || !says(other.enter(chosen), "not left")) return false;
    if (!says(phase.gather(nullptr, 0, view), "not left")) return false;
    if (!says(context->barrier(Rendezvous::Wait::asleep), "not left")) return false;
    if (!context->push(Resource::core, 0, 1)) return false;
    if (!says(phase.leave(), "did not pop") || !says(context->pop(), "without a push")) return false;
    if (!phase.enter(chosen) || !phase.leave()) return false;
    if (!says(context->push(Resource::package, 2, 1), "counted from 0")) return false;
    if (!says(context->push(CpuSet{}, 1), "(none) are not among those")) return false;
    const auto second = create(transport);
    if (!context->push(Resource::core, 1, 1) || !second->push(Resource::core, 2, 1)) return false;
    if (!says(context->pop(), "out of order")) return false;
    return static_cast<bool>(second->pop()) && static_cast<bool>(context->pop());
  });
  EXPECT_EQ(statuses, std::vector<int>{0});
}

TEST(Phase, WhoForgetsToLeaveKeepsNobodyWaiting) {
  for (const int forgetful : {0, 1, 2}) {
    const auto statuses = in_processes(3, [forgetful](Transport& transport) {
      const auto context = create(transport);
      for (const bool freed : {true, false}) {
        Phase last(context, Resource::machine, 1);
        auto phase = std::make_unique<Phase>(context, Resource::machine, 1);
        bool chosen = false;
        if (!phase->enter(chosen)) return false;
        if (transport.rank() != forgetful) {
          if (!phase->leave()) return false;
        } else if (freed) {
          phase.reset();
        } else {
          Phase::leave_all("the test ended");
        }
        if (!context->barrier(Rendezvous::Wait::brief) || !last.enter(chosen) || !last.leave()) return false;
      }
      return true;
    });
    EXPECT_EQ(statuses, std::vector<int>(3, 0));
  }
}

/// Enters and leaves; the first failure of the two.
base::Status pass(Phase& phase) {
  bool chosen = false;
  base::Status entered = phase.enter(chosen);
  return entered ? phase.leave() : entered;
}

TEST(Phase, WhoCallsSomethingElseIsRefusedAsAreAllOthers) {
  const Emulated machine("package:2 core:2 pu:1");
  for (const int count : {2, 3, 5}) {
    const auto statuses = in_processes(count, [count](Transport& transport) {
      std::shared_ptr<Context> context = create(transport);
      Phase wide(context, Resource::machine, 1), other(context, Resource::package, 1);
      for (int round = 0; round < 30 * count; ++round) {
        const bool deviates = round % count == transport.rank();
        // First, last, and in the midst of the others.
        if (deviates ? round % 4 == 0 : round % 4 == 1) wait::sleep_for(3'000'000);
        View all;
        const base::Status refused = !deviates        ? pass(wide)
                                     : round % 3 == 0 ? pass(other)
                                     : round % 3 == 1 ? context->barrier(Rendezvous::Wait::brief)
                                                      : wide.gather(nullptr, 0, all);
        const char* words = round % 3 == 0   ? "steelyard_phase_enter() of another phase where rank"
                            : round % 3 == 1 ? "steelyard_node_barrier()"
                                             : "steelyard_phase_gather()";
        if (refused || refused.sentence().find(words) == std::string::npos) return false;
        if (round % 2 == 0 && !pass(round % 5 == 0 ? other : wide)) return false;
      }
      return context->barrier(Rendezvous::Wait::asleep) && pass(other);
    });
    EXPECT_EQ(statuses, std::vector<int>(static_cast<std::size_t>(count), 0)) << count;
  }
}

TEST(Phase, APopOfWhatThePhaseOrTheProgramBeforeItHasPushedIsRefusedAtOnce) {
  const Emulated machine("package:2 core:2 pu:1");
  const auto statuses = in_processes(3, [](Transport& transport) {
    const auto context = create(transport);
    Phase phase(context, Resource::machine, 1);
    bool chosen = false;
    if (!context->push(Resource::package, 0, 1) || !phase.enter(chosen)) return false;
    const base::Status refused = context->pop();
    if (refused || refused.sentence().find("in a phase") == std::string::npos) return false;
    if (!context->push(Resource::core, 0, 1) || !context->pop()) return false;
    if (context->pop()) return false;
    if (chosen && context->now() != context->machine().all()) return false;
    return phase.leave() && context->pop() && !context->pop();
  });
  EXPECT_EQ(statuses, std::vector<int>(3, 0));
}

TEST(Phase, WhoHasFinalizedIsNamedAndNotWaitedFor) {
  for (const int leaver : {0, 1, 2}) {
    const auto statuses = in_processes(3, [leaver](Transport& transport) {
      const auto context = create(transport);
      Phase phase(context, Resource::machine, 1);
      if (!pass(phase)) return false;
      if (transport.rank() == leaver) {
        wait::sleep_for(20'000'000);
        Context::finalize_all();
        return true;
      }
      const auto words = "rank " + std::to_string(100 + leaver) + " has called MPI_Finalize";
      for (int round = 0; round < 3; ++round) {
        const base::Status refused = round < 2 ? pass(phase) : context->barrier(Rendezvous::Wait::asleep);
        if (refused || refused.sentence().find(words) == std::string::npos) return false;
      }
      return true;
    });
    EXPECT_EQ(statuses, std::vector<int>(3, 0));
  }
}

TEST(Phase, AllWhoWaitSayWhoIsMissingAndGoOnWhenItComes) {
  const auto statuses = in_processes(4, [](Transport& transport) {
    const auto context = create(transport);
    Phase phase(context, Resource::machine, 1);
    testing::internal::CaptureStderr();
    if (transport.rank() == 2) wait::sleep_for(12'500'000'000);
    if (transport.rank() == 3) wait::sleep_for(1'000'000'000);
    if (!pass(phase)) return false;
    const std::string said = testing::internal::GetCapturedStderr();
    const std::string me = "rank " + std::to_string(100 + transport.rank()) + " has been waiting in steelyard_phase_";
    const auto first = said.find(me), last = said.rfind(me);
    if (transport.rank() == 2) return first == std::string::npos;
    return first != std::string::npos && first == last &&
           said.find(" for rank 102 for 10 s: all processes of the node must make") != std::string::npos;
  });
  EXPECT_EQ(statuses, std::vector<int>(4, 0));
}

TEST(Phase, MoreThanWasGatheredCannotBeScattered) {
  const auto statuses = in_processes(3, [](Transport& transport) {
    const auto context = create(transport);
    Phase phase(context, Resource::machine, 1);
    const double mine = transport.rank();
    View all, back;
    if (!phase.gather(&mine, sizeof(mine), all)) return false;
    std::vector<std::size_t> bytes(all.sizes.size(), std::size_t{1} << 40);
    const base::Status scattered = phase.scatter(all.data, bytes, back);
    if (static_cast<bool>(scattered) == phase.chosen() || back.sizes != std::vector<std::size_t>{0}) return false;
    bytes = all.sizes;
    return phase.scatter(all.data, bytes, back) && back.sizes[0] == sizeof(mine) &&
           *reinterpret_cast<double*>(back.data) == mine;
  });
  EXPECT_EQ(statuses, std::vector<int>(3, 0));
}

// Nothing is read of data that are refused.
TEST(Phase, MoreThanAnAreaCanHoldIsRefusedAtAllProcesses) {
  const auto statuses = in_processes(3, [](Transport& transport) {
    const auto context = create(transport);
    Phase phase(context, Resource::machine, 1);
    const double mine = transport.rank();
    View view;
    for (const std::size_t huge : {std::size_t{1} << 43, SIZE_MAX / 2, SIZE_MAX}) {
      const base::Status gathered = phase.gather(&mine, transport.rank() == 1 ? huge : sizeof(mine), view);
      if (gathered || gathered.code() != base::Code::invalid_argument) return false;
      const char* seen = huge == std::size_t{1} << 43 ? " 8796093022224 bytes" : " 2^63 or more bytes";
      if (gathered.sentence().find(seen) == std::string::npos) return false;
      const std::vector<std::size_t> bytes(phase.chosen() ? 3 : 0, huge);
      const base::Status scattered = phase.scatter(&mine, bytes, view);
      if (scattered || scattered.code() != base::Code::invalid_argument) return false;
    }
    return static_cast<bool>(phase.gather(&mine, sizeof(mine), view));
  });
  EXPECT_EQ(statuses, std::vector<int>(3, 0));
}

TEST(Phase, ContextsComeAndGoInAnyOrder) {
  const auto statuses = in_processes(3, [](Transport& transport) {
    auto first = create(transport), second = create(transport);
    auto phase = std::make_unique<Phase>(first, Resource::machine, 1);
    first.reset();
    bool chosen = false;
    if (!phase->enter(chosen) || !phase->leave()) return false;
    second.reset();
    if (!phase->enter(chosen) || !phase->leave()) return false;
    phase.reset();
    return true;
  });
  EXPECT_EQ(statuses, std::vector<int>(3, 0));
}

TEST(Context, IsRefusedOnAMachineWithMoreCpusThanItCanShare) {
  const Emulated machine("core:4097 pu:1");
  const auto statuses = in_processes(2, [](Transport& transport) {
    std::shared_ptr<Context> context;
    const base::Status made = Context::create(transport, [](const std::string&) { _exit(42); }, {}, context);
    return made.code() == base::Code::unsupported && made.sentence().find("CPU 4096") != std::string::npos;
  });
  EXPECT_EQ(statuses, std::vector<int>(2, 0));
}

TEST(Phase, ThePushReachesTheKernel) {
  const CpuSet before = node::affinity_mask();
  const auto statuses = in_processes(1, [](Transport& transport) {
    const auto context = create(transport);
    const CpuSet all = node::affinity_mask();
    if (!context->push(Resource::core, 0, BindingStack::kSameThreads)) return false;
    if (node::affinity_mask() != (context->machine().cpus(Resource::core, 0) & all)) return false;
    if (context->process(0).now != node::affinity_mask()) return false;
    if (!context->push_enclosing(Resource::package, BindingStack::kSameThreads)) return false;
    return context->pop() && context->pop() && node::affinity_mask() == all;
  });
  EXPECT_EQ(statuses, std::vector<int>{0});
  EXPECT_EQ(node::affinity_mask(), before);
}

TEST(Autotuned, AllProcessesFindTheSameBest) {
  const Emulated machine("package:2 core:2 pu:1");
  const auto statuses = in_processes(4, [](Transport& transport) {
    std::shared_ptr<Context> outer;
    const auto context = create_bound(transport, outer);
    const auto configurations = configurations_between(*context, {});
    if (configurations.size() != 3 || configurations[0].processes != 4 || configurations[2].processes != 1 ||
        configurations[2].threads != 4)
      return false;
    Phase phase(context, configurations);
    // Two processes of two threads are the best here. A round that other programs of the machine disturb makes the
    // search longer, so the rounds are as many as it takes; all processes see the same end of it.
    const auto found = [&] { return phase.settled() && phase.configuration().processes == 2; };
    for (int round = 0; round < 1000 && !found(); ++round) {
      bool chosen = false;
      if (!phase.enter(chosen)) return false;
      if (chosen) wait::sleep_for(phase.configuration().processes == 2 ? 3'000'000 : 9'000'000);
      if (!phase.leave()) return false;
    }
    return found() && phase.threads() == 2;
  });
  EXPECT_EQ(statuses, std::vector<int>(4, 0));
}

TEST(Autotuned, FewerThreadsThanCoresMayBeTheBest) {
  const Emulated machine("package:2 core:2 pu:1");
  const auto statuses = in_processes(4, [](Transport& transport) {
    std::shared_ptr<Context> outer;
    const auto context = create_bound(transport, outer);
    const auto configurations = configurations_between(*context, {.min_threads = 1});
    std::vector<std::pair<int, int>> tried;
    for (const Configuration& it : configurations) tried.emplace_back(it.processes, it.threads);
    if (tried != std::vector<std::pair<int, int>>{{4, 1}, {2, 2}, {2, 1}, {1, 4}, {1, 2}, {1, 1}}) return false;
    if (configurations_between(*context, {.max_threads = 2, .min_threads = 2}).size() != 3) return false;
    Phase phase(context, configurations);
    const auto is_best = [&] { return phase.configuration().processes == 1 && phase.configuration().threads == 2; };
    for (int round = 0; round < 1000 && !(phase.settled() && is_best()); ++round) {
      bool chosen = false;
      if (!phase.enter(chosen)) return false;
      if (chosen) wait::sleep_for(is_best() ? 3'000'000 : 9'000'000);
      if (!phase.leave()) return false;
    }
    return is_best() && phase.threads() == 2;
  });
  EXPECT_EQ(statuses, std::vector<int>(4, 0));
}

TEST(Autotuned, AllProcessesDecideByTheSettingsOfTheFirst) {
  const Emulated machine("package:2 core:2 pu:1");
  const auto statuses = in_processes(4, [](Transport& transport) {
    std::shared_ptr<Context> outer;
    create_bound(transport, outer);
    const auto context = create(transport, {.exploration = transport.rank() == 0 ? 0.5 : 0.0});
    return context->decision().exploration == 0.5;
  });
  EXPECT_EQ(statuses, std::vector<int>(4, 0));
}

TEST(Autotuned, DataAreScatteredByTheProcessesThatGatheredThem) {
  const Emulated machine("package:2 core:2 pu:1");
  const auto statuses = in_processes(4, [](Transport& transport) {
    std::shared_ptr<Context> outer;
    const auto context = create_bound(transport, outer);
    Phase phase(context, configurations_between(*context, {}));
    for (int round = 0; round < 30; ++round) {
      const int mine = 100 * round + context->me();
      View all, back;
      if (!phase.gather(&mine, sizeof mine, all)) return false;
      bool chosen = false;
      if (!phase.enter(chosen) || !phase.leave()) return false;
      if (!phase.scatter(all.data, all.sizes, back)) return false;
      if (back.sizes[0] != sizeof mine || *reinterpret_cast<int*>(back.data) != mine) return false;
    }
    return true;
  });
  EXPECT_EQ(statuses, std::vector<int>(4, 0));
}

TEST(Autotuned, AfterARunTheConfigurationIsThatOfTheNext) {
  const Emulated machine("package:2 core:2 pu:1");
  const auto statuses = in_processes(4, [](Transport& transport) {
    std::shared_ptr<Context> outer;
    const auto context = create_bound(transport, outer);
    Phase phase(context, configurations_between(*context, {}));
    int changes = 0;
    for (int round = 0; round < 20; ++round) {
      const Configuration announced = phase.configuration();
      const int threads = phase.threads(), last = announced.processes;
      const Distribution distribution = phase.distribution();
      bool chosen = false;
      if (!phase.enter(chosen)) return false;
      if (phase.configuration() != announced || phase.threads() != threads || phase.distribution() != distribution ||
          chosen != distribution.chosen(context->me()))
        return false;
      if (!phase.leave()) return false;
      changes += phase.configuration().processes != last;
    }
    return changes > 1;
  });
  EXPECT_EQ(statuses, std::vector<int>(4, 0));
}

TEST(Autotuned, BoundsAreKept) {
  const Emulated machine("package:2 core:4 pu:1");
  const auto statuses = in_processes(1, [](Transport& transport) {
    const auto context = create(transport);
    const auto configurations = configurations_between(*context, {1, 1, 3});
    return configurations.size() == 1 && configurations[0].threads == 3;
  });
  EXPECT_EQ(statuses, std::vector<int>{0});
}

}  // namespace
}  // namespace steelyard::phases
