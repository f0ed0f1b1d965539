// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "api/api_fake_runtime.h"
#include "api/hooks.h"
#include "api/outcome.h"
#include "steelyard/cores.hpp"
#include "steelyard/regions.hpp"
#include "steelyard/steelyard.hpp"

extern "C" {
void omp_balanced_(void);
void steelyard_step_f(int* status);
void steelyard_pause_f(int* status);
void steelyard_resume_f(int* status);
int steelyard_region_begin_f(const char* name, int length);
int steelyard_region_end_f(const char* name, int length);
bool steelyard_active_f(void);
void steelyard_message_(char* text, std::uint32_t length);
void steelyard_status_name_(const int* status, char* text, std::uint32_t length);
}

namespace {
thread_local bool t_exhausted = false;
}

// Memory that a test can exhaust. Inlined, gcc warns of a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const memory = t_exhausted ? nullptr : std::malloc(size == 0 ? 1 : size);
  return memory != nullptr ? memory : throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace steelyard::api {
namespace {

void exhaust_memory() {
  t_exhausted = true;
  throw std::bad_alloc();
}

class Active : public testing::Test {
 protected:
  void SetUp() override {
    fake::reason.clear();
    fake::in_primary = true;
    fake::fails = nullptr;
    fake::steps = 0;
    fake::regions.clear();
    set_message("");
  }
};

TEST_F(Active, EveryNameOfAStepReachesTheRuntimeOnce) {
  EXPECT_EQ(steelyard_step(), STEELYARD_SUCCESS);
  EXPECT_EQ(step(), Status::success);
  omp_balanced();
  omp_balanced_();
  int status = -1;
  steelyard_step_f(&status);
  EXPECT_EQ(status, STEELYARD_SUCCESS);
  steelyard_step_f(nullptr);  // Fortran's absent argument
  EXPECT_EQ(fake::steps, 6);
}

TEST_F(Active, SuccessLeavesTheMessageAlone) {
  set_message("earlier");
  EXPECT_EQ(step(), Status::success);
  EXPECT_TRUE(active());
  EXPECT_EQ(message(), "earlier");
}

TEST_F(Active, AnInactiveProcessSaysTheRuntimesReasonAndDoesNotStep) {
  fake::reason = "observing only";
  EXPECT_EQ(step(), Status::inactive);
  EXPECT_EQ(message(), "observing only");
  EXPECT_FALSE(active());
  EXPECT_FALSE(steelyard_active_f());
  EXPECT_EQ(fake::steps, 0);
}

TEST_F(Active, AStepFromTheWrongPlaceIsAnErrorWithoutEffect) {
  fake::in_primary = false;
  EXPECT_EQ(steelyard_step(), STEELYARD_ERROR_INVALID_STATE);
  EXPECT_EQ(fake::steps, 0);
  EXPECT_NE(message().find("parallel region"), std::string::npos);
  try {
    step();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::invalid_state);
    EXPECT_EQ(error.what(), message());
  }
}

TEST_F(Active, AStepWithoutMemoryIsAnErrorWithAMessage) {
  fake::fails = exhaust_memory;
  const steelyard_status_t status = steelyard_step();
  t_exhausted = false;
  fake::fails = nullptr;
  EXPECT_EQ(status, STEELYARD_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(message(), "steelyard_step() failed: the memory of this process is exhausted");
}

TEST_F(Active, AReasonWithoutMemoryIsNo) {
  fake::reason = std::string(600, 'x');
  t_exhausted = true;
  const int active = steelyard_active();
  t_exhausted = false;
  EXPECT_EQ(active, 0);
  EXPECT_NE(message().find("steelyard_active() failed"), std::string::npos);
}

TEST_F(Active, AnEventThatIsLostIsNamedOnce) {
  fake::fails = [] { throw std::logic_error("no such wait"); };
  testing::internal::CaptureStderr();
  steelyard_internal_wait_ends();
  fake::fails = exhaust_memory;
  steelyard_internal_wait_ends();
  t_exhausted = false;
  fake::fails = nullptr;
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "steelyard: steelyard_internal_wait_ends() failed: no such wait. What it reports is missing in the run "
            "record\n");
}

TEST_F(Active, EveryNameOfARegionReachesTheRuntime) {
  EXPECT_EQ(steelyard_region_begin("a"), STEELYARD_SUCCESS);
  EXPECT_EQ(steelyard_region_begin_f("bc  ", 2), STEELYARD_SUCCESS);
  {
    ScopedRegion scoped("d"), ended("e");
    ended.end();
    ended.end();
  }
  EXPECT_EQ(steelyard_region_end_f("bc", 2), STEELYARD_SUCCESS);
  EXPECT_EQ(region_end("a"), Status::success);
  EXPECT_EQ(fake::regions, "+a+bc+d+e-e-d-bc-a");
  fake::regions.clear();
  EXPECT_EQ(steelyard_region_begin_f(std::string(5000, 'x').c_str(), 5000), STEELYARD_SUCCESS);
  EXPECT_EQ(fake::regions, "+" + std::string(511, 'x')) << "too long for the runtime, and cut";
}

TEST_F(Active, EfficienciesAreThoseOfTheRuntime) {
  const steelyard_efficiencies_t figures = efficiencies();
  EXPECT_EQ(figures.ranks, 3);
  EXPECT_EQ(figures.seconds, 2.5);
  EXPECT_EQ(figures.parallel, 0.5);
  EXPECT_EQ(figures.mpi, 1);
  EXPECT_EQ(figures.gpu, 0.75);
  EXPECT_EQ(steelyard_get_efficiencies(nullptr), STEELYARD_ERROR_INVALID_ARGUMENT);
  fake::in_primary = false;
  steelyard_efficiencies_t none = figures;
  EXPECT_EQ(steelyard_get_efficiencies(&none), STEELYARD_ERROR_INVALID_STATE);
  EXPECT_EQ(none.ranks + none.parallel, 0);
}

TEST_F(Active, APauseReachesTheRuntime) {
  EXPECT_EQ(steelyard_pause(), STEELYARD_SUCCESS);
  EXPECT_EQ(resume(), Status::success);
  {
    const ScopedPause paused;
    EXPECT_EQ(fake::regions, "()(");
  }
  int status = -1;
  steelyard_pause_f(nullptr);
  steelyard_resume_f(&status);
  EXPECT_EQ(status, STEELYARD_SUCCESS);
  EXPECT_EQ(fake::regions, "()()()");
  fake::in_primary = false;
  EXPECT_THROW(pause(), Error);
  EXPECT_EQ(fake::regions, "()()()");
}

TEST_F(Active, ARegionThatCannotEndSaysWhatTheRuntimeSays) {
  EXPECT_EQ(steelyard_region_end("other"), STEELYARD_ERROR_INVALID_STATE);
  EXPECT_EQ(message(), "'inner' is open");
  EXPECT_EQ(steelyard_region_begin(nullptr), STEELYARD_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(message().find("null name"), std::string::npos);
  EXPECT_EQ(fake::regions, "-other");
}

TEST_F(Active, ARegionFromTheWrongPlaceIsAnErrorWithoutEffect) {
  fake::in_primary = false;
  EXPECT_EQ(steelyard_region_begin("a"), STEELYARD_ERROR_INVALID_STATE);
  EXPECT_THROW(ScopedRegion("a"), Error);
  EXPECT_NE(message().find("steelyard_region_begin()"), std::string::npos);
  fake::reason = "after MPI_Finalize";
  ScopedRegion none("a");
  EXPECT_EQ(steelyard_region_end("a"), STEELYARD_INACTIVE);
  EXPECT_EQ(message(), "after MPI_Finalize");
  EXPECT_EQ(fake::regions, "");
}

TEST_F(Active, MessagesBelongToTheirThread) {
  set_message("mine");
  std::string others = "not asked";
  std::thread([&] {
    others = message();
    set_message("theirs");
  }).join();
  EXPECT_EQ(others, "");
  EXPECT_EQ(message(), "mine");
}

TEST_F(Active, ALongMessageIsCutNotOverrun) {
  set_message(std::string(5000, 'x'));
  EXPECT_EQ(message(), std::string(511, 'x'));
}

TEST_F(Active, FortranTextIsPaddedOrCutAndNeverOverrun) {
  set_message("four");
  std::string text(8, '?');
  steelyard_message_(text.data(), 6);
  EXPECT_EQ(text, "four  ??");
  text.assign(8, '?');
  steelyard_message_(text.data(), 2);
  EXPECT_EQ(text, "fo??????");
  steelyard_message_(text.data(), 0);
  EXPECT_EQ(text, "fo??????");
  text.assign(20, '?');
  const int status = STEELYARD_ERROR_MPI;
  steelyard_status_name_(&status, text.data(), 20);
  EXPECT_EQ(text, "STEELYARD_ERROR_MPI ");
}

TEST_F(Active, ACallbackIsToldOfChangesAlone) {
  std::vector<std::vector<int>> told;
  fake::cpus = {4, 5};
  EXPECT_EQ(cores_get(), (std::vector<int>{4, 5}));
  cores_on_change([&](const std::vector<int>& cpus) {
    told.push_back(cpus);
    EXPECT_THROW(cores_acquire(1), Error) << "from a callback";
    throw 7;
  });
  cores_poll();
  EXPECT_TRUE(told.empty());
  fake::cpus = {4};
  EXPECT_THROW(cores_poll(), int);
  EXPECT_EQ(told, (std::vector<std::vector<int>>{{4}}));
  EXPECT_EQ(fake::kept, (std::vector<int>{4})) << "cores are returned even if the callback throws";
  cores_poll();
  EXPECT_EQ(cores_acquire(1), 1);
  cores_on_change(nullptr);
  fake::cpus = {4, 6};
  cores_poll();
  EXPECT_EQ(told.size(), 1U);
}

TEST_F(Active, NoCoreMovesFromAnotherThread) {
  fake::in_primary = false;
  int lent = 3;
  EXPECT_EQ(steelyard_cores_lend(1, &lent), STEELYARD_ERROR_INVALID_STATE);
  EXPECT_EQ(lent, 0);
}

}  // namespace
TEST(ApiActive, AFreedPoolTellsTheRuntimeWhatItDid) {
  steelyard_task_pool_statistics_t statistics{};
  statistics.executed = 7;
  const int before = fake::tasks;
  steelyard_internal_tasks_ended(&statistics, "messages");
  EXPECT_EQ(fake::tasks, before + 7);
  EXPECT_EQ(fake::transport, "messages");
}

TEST(ApiActive, ARunOfAPoolTellsTheRuntimeItsThreads) {
  steelyard_internal_pool_runs(1);
  EXPECT_EQ(fake::pool_threads, 1);
  EXPECT_EQ(steelyard_internal_team_is_larger(), 0);
  steelyard_internal_pool_runs(2);
  EXPECT_EQ(fake::pool_threads, 2);
  EXPECT_EQ(steelyard_internal_team_is_larger(), 1);
}

TEST(ApiActive, ALoopTellsTheRuntimeThatItsWorkIsShared) {
  const int before = fake::shared;
  steelyard_internal_work_shared();
  EXPECT_EQ(fake::shared, before + 1);
}

TEST(ApiActive, WhoWaitsTellsTheRuntime) {
  fake::waits_ended = 0;
  steelyard_internal_wait_begins(0);
  steelyard_internal_wait_ends();
  steelyard_internal_wait_begins(1);
  EXPECT_EQ(fake::idle, 1);
  EXPECT_EQ(fake::quiesced, 1);
  EXPECT_EQ(fake::waits_ended, 1);
}

TEST(ApiActive, AContextTellsTheRuntimeThatPhasesBegin) {
  fake::reason = "";
  const int before = fake::phases;
  steelyard_internal_phases_begin(3);
  EXPECT_EQ(fake::phases, before + 3);
  fake::reason = "not between MPI_Init and MPI_Finalize";
  steelyard_internal_phases_begin(3);
  EXPECT_EQ(fake::phases, before + 3);
  fake::reason = "";
}

TEST(ApiActive, APhaseTellsTheRuntimeHowItHasRun) {
  const steelyard_internal_configuration configurations[] = {{"core", 1, 4, 1, 0.5, 0.2, 0.1, 0.3},
                                                             {"machine", 1, 1, 4, 0.4, 0, 0, 0}};
  const steelyard_internal_phase phase = {0, 4, 3, 1, 9, 3.5, 1, 2, configurations};
  steelyard_internal_phase_left(&phase);
  EXPECT_EQ(fake::phase.processes, 4);
  EXPECT_TRUE(fake::phase.autotuned);
  EXPECT_EQ(fake::phase.created, 3);
  EXPECT_EQ(fake::phase.runs, 9);
  EXPECT_EQ(fake::phase.seconds, 3.5);
  EXPECT_EQ(fake::phase.best, 1);
  ASSERT_EQ(fake::phase.configurations.size(), 2u);
  EXPECT_EQ(fake::phase.configurations[0].gain_high, 0.3);
  EXPECT_EQ(fake::phase.configurations[1].resource, "machine");
}

TEST(ApiActive, APhaseTellsTheRuntimeThatItHoldsTheCores) {
  steelyard_internal_hold_begins();
  EXPECT_EQ(fake::holds, 1);
  steelyard_internal_hold_ends(5);
  EXPECT_EQ(fake::held, 5);
}

}  // namespace steelyard::api
