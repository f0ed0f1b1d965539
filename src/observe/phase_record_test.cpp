// SPDX-License-Identifier: BSD-3-Clause
#include "observe/phase_record.h"

#include <gmock/gmock.h>

#include "observe/record.h"

namespace steelyard::observe {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// An autotuned phase of 8 processes in which two of four threads took less time than all processes.
PhaseRecord tuned() {
  return {.processes = 8,
          .autotuned = true,
          .runs = 30,
          .seconds = 1.24,
          .best = 1,
          .configurations = {{"core", 1, 8, 1, 0.058, 0.31, 0.28, 0.33}, {"NUMA domain", 1, 2, 4, 0.04, 0, 0, 0}}};
}

std::string line_of(const PhaseRecord& phase) {
  RunRecord record;
  record.phases = {phase};
  return phase_lines(record, 2).at(0);
}

TEST(PhaseRecord, TheSummarySaysWhoWorked) {
  const PhaseRecord phase{.processes = 8, .runs = 1, .seconds = 0.5, .configurations = {{"package", 2, 4, 1}}};
  EXPECT_EQ(line_of(phase), "0: 4 of 8 processes with up to 1 thread, at most 2 for each package; 1 run, 500 ms");
}

TEST(PhaseRecord, TheSummarySaysWhatAComparisonGained) {
  EXPECT_EQ(line_of(tuned()),
            "0: 2 of 8 processes with up to 4 threads, at most 1 for each NUMA domain; the fastest of 2 configurations "
            "tried, 31.0 % (95 % CI 28.0 to 33.0 %) less time than 8 x 1; 30 runs, 1.24 s");
}

TEST(PhaseRecord, NoGainIsClaimedThatWasNotMeasured) {
  PhaseRecord phase = tuned();
  phase.configurations[0].gain_low = -0.02;
  EXPECT_THAT(line_of(phase), HasSubstr(" tried, without a significant difference from 8 x 1;"));
  phase.configurations[0] = {"core", 1, 8, 1, 0.058, 0.31};
  EXPECT_THAT(line_of(phase), HasSubstr(" tried: 40.0 ms a run; 8 x 1 took 58.0 ms when it was tried;"));
  phase.best = 0;
  EXPECT_THAT(line_of(phase), AllOf(HasSubstr("8 of 8"), HasSubstr("; the fastest of 2 configurations tried;")));
  phase.configurations[1].seconds = 0;
  EXPECT_THAT(line_of(phase), HasSubstr("; 1 of 2 configurations tried so far;"));
  phase.created = 30;
  EXPECT_THAT(line_of(phase), HasSubstr("; 1 of 2 configurations tried, as the phase was created 30 times: "));
  phase.configurations.pop_back();
  EXPECT_THAT(line_of(phase), HasSubstr("; no other configuration is possible;"));
}

TEST(PhaseRecord, TheLongestComeFirstAndTheOthersAreCounted) {
  RunRecord record;
  EXPECT_THAT(phase_lines(record, 2), IsEmpty());
  PhaseRecord longer = tuned();
  longer.node = 1;
  longer.seconds = 2;
  record.phases = {tuned(), longer, tuned()};
  record.nodes.resize(2);
  EXPECT_THAT(phase_lines(record, 2), ElementsAre(HasSubstr(", on node 1;"), HasSubstr(", on node 0;"),
                                                  "1 more phase: see `steelyard report --full`"));
}

TEST(PhaseRecord, TheTableHasAllConfigurations) {
  RunRecord record;
  record.phases = {tuned()};
  record.phases[0].configurations.push_back({"machine", 1, 1, 8, 0.2, 0.8});
  EXPECT_THAT(phase_table(record),
              AllOf(HasSubstr("8 of 8"), HasSubstr("31 % (28 % to 33 %)"), HasSubstr("1 for each NUMA domain"),
                    HasSubstr("not compared"), HasSubstr("is the fastest")));
}

}  // namespace
}  // namespace steelyard::observe
