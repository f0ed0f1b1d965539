// SPDX-License-Identifier: BSD-3-Clause
#include "cli/prometheus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steelyard::cli {
namespace {

using testing::HasSubstr;

observe::LiveView some_job() {
  observe::LiveView job;
  job.batch_job = "512";
  job.node = 1;
  job.ranks = 6;
  job.cores = 12;
  job.start = 1'000'000'000;
  job.host = "n1";
  job.command = "./app \"a\\b\"\n\xff";
  job.version = "0.1.0";
  for (int p = 0; p < 2; ++p) {
    auto& process = job.processes.emplace_back();
    process.rank = 4 + p;
    process.pid = 70 + p;
    process.cores = 5 + p;
    process.in_mpi = p == 1;
    process.totals.mpi = 250'000'000;
    process.totals.serial = 500'000'000;
    process.totals.region_useful = 1'000'000'000;
  }
  return job;
}

TEST(Prometheus, HasJobsAndRanksWithTheirLabels) {
  const std::string text = jobs_as_prometheus({some_job()}, 3'500'000'000);
  EXPECT_THAT(text, HasSubstr("# HELP steelyard_job_seconds Time since MPI_Init.\n"
                              "# TYPE steelyard_job_seconds gauge\n"
                              "steelyard_job_seconds{job=\"512\",node=\"1\",pid=\"70\"} 2.5\n"));
  EXPECT_THAT(text, HasSubstr("steelyard_job_cores{job=\"512\",node=\"1\",pid=\"70\"} 12\n"));
  EXPECT_THAT(text, HasSubstr("steelyard_rank_cores{job=\"512\",node=\"1\",pid=\"70\",rank=\"4\"} 5\n"
                              "steelyard_rank_cores{job=\"512\",node=\"1\",pid=\"71\",rank=\"5\"} 6\n"));
  EXPECT_THAT(text, HasSubstr("steelyard_rank_in_mpi{job=\"512\",node=\"1\",pid=\"71\",rank=\"5\"} 1\n"));
  EXPECT_THAT(
      text,
      HasSubstr("# TYPE steelyard_rank_useful_thread_seconds_total counter\n"
                "steelyard_rank_useful_thread_seconds_total{job=\"512\",node=\"1\",pid=\"70\",rank=\"4\"} 1.5\n"));
}

TEST(Prometheus, EscapesLabels) {
  EXPECT_THAT(jobs_as_prometheus({some_job()}, 0), HasSubstr(R"(command="./app \"a\\b\"?)"
                                                             "\xef\xbf\xbd\",version=\"0.1.0\"} 1\n"));
}

TEST(Prometheus, HasNoSamplesWithoutAJob) {
  const std::string text = jobs_as_prometheus({}, 0);
  EXPECT_THAT(text, HasSubstr("# TYPE steelyard_job_info gauge\n"));
  EXPECT_EQ(text.find('{'), std::string::npos);
}

}  // namespace
}  // namespace steelyard::cli
