// SPDX-License-Identifier: BSD-3-Clause
#include "cli/wrappers.h"

#include <gtest/gtest.h>

#include "cli/test_support.h"

namespace steelyard::cli {
namespace {

using namespace testing_support;

/// A folder on PATH with programs that do nothing.
class Wrappers : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"env", "numactl", "nice", "time", "perf", "stat", "mpirun", "julia", "sh", "bash", "echo"}) {
      std::filesystem::permissions(scratch_.write(name, "#!/bin/sh\n"), std::filesystem::perms::owner_all);
    }
    ASSERT_NE(compile(scratch_, "libmpi.so.12", "int MPI_Init(void) { return 0; }\n",
                      "-shared -fPIC -Wl,-soname,libmpi.so.12"),
              "");
    app_ = compile(scratch_, "app", "int MPI_Init(void); int main(void) { return MPI_Init(); }\n",
                   scratch_ / "libmpi.so.12");
    ASSERT_NE(app_, "");
    site_.environment["PATH"] = scratch_ / "";
  }
  std::size_t behind(const std::vector<std::string>& words) const {
    return program_behind_wrappers(words, site_).place;
  }

  Scratch scratch_;
  Site site_;
  std::string app_;
};

TEST_F(Wrappers, AreFollowedToTheProgram) {
  EXPECT_EQ(behind({"env", "X=1", "app", "env"}), 2U);
  EXPECT_EQ(behind({"/usr/bin/env", "-u", "Y", app_}), 3U);
  EXPECT_EQ(behind({"env", "OMP_NUM_THREADS=4", "numactl", "-N", "0", "nice", "-n5", app_, "-x"}), 7U);
  EXPECT_EQ(behind({"env", "-a", "app", "X=1", "app"}), 4U) << "a name for the program";
  EXPECT_EQ(behind({"time", "-f", "%e", "app"}), 3U);
  EXPECT_EQ(behind({"perf", "stat", "app"}), 2U) << "there is a program of that name";
  EXPECT_EQ(behind({"env", "X=4", "numactl", "-l", "julia", "x.jl"}), 4U);
}

TEST_F(Wrappers, AreScriptsThatEndWithExec) {
  const auto command = [&](const std::string& text) {
    return command_of_script(read_binary(scratch_.write("script", text), site_.libraries()), {"app", "-x"});
  };
  using Words = std::vector<std::string>;
  EXPECT_EQ(command("#!/bin/sh\nexport X=1\nexec ./app \"$@\"\n"), (Words{"./app", "app", "-x"}));
  EXPECT_EQ(command("#!/usr/bin/env bash\n  exec numactl -l \"$@\" 2>log\n"), (Words{"numactl", "-l", "app", "-x"}));
  EXPECT_EQ(command("exec >log\nexec app $X 7"), Words{"app"}) << "what only a shell can tell is left out";
  for (const auto* text : {"#!/bin/sh\n./app\n", "#!/bin/sh\n# exec app\n", "#!/bin/sh\nexec $APP\n",
                           "#!/bin/sh\ncd /tmp\nexec ./app\n", "#!/usr/bin/python3\nexec app\n"})
    EXPECT_EQ(command(text), Words()) << text;
}

TEST_F(Wrappers, AreShellsWithCommands) {
  const auto starts = [&](const std::vector<std::string>& command) {
    int error = 0;
    const auto started = decide_on_command(command, {}, site_, error);
    EXPECT_EQ(error, 0);
    return started.shown;
  };
  EXPECT_EQ(starts({"sh", "-c", "app"}), "app");
  EXPECT_EQ(starts({"bash", "-ec", " X=1 exec " + app_ + " -x "}), app_);
  EXPECT_EQ(starts({"env", "X=1", "sh", "-c", "nice app"}), "app");
  for (const auto* text : {"app 2>&1", "app | stat", "app;", "cd /tmp && app", "exec \"app\"", "$X app"})
    EXPECT_EQ(starts({"sh", "-c", text, "app"}), "sh") << "left to the preload library: " << text;
  EXPECT_EQ(starts({"sh", "-c", "mpirun -n 2 app"}), "sh") << "not a rank";
  EXPECT_EQ(starts({"sh", "-c", "X=app echo nothing"}), "sh");
  EXPECT_EQ(starts({"app", "-c", "app x"}), "app");
}

TEST_F(Wrappers, ThatRemoveTheLibraryAreNamed) {
  const auto remover = [&](const std::vector<std::string>& command) {
    return program_behind_wrappers(with_shell_words(command), site_).remover;
  };
  for (const auto* word : {"-i", "-", "-vi", "-iuX", "--ignore-environment"})
    EXPECT_EQ(remover({"env", word, "app"}), std::string("env ") + word);
  EXPECT_EQ(remover({"env", "-iu", "X", "Y=1", "app"}), "env -iu");
  EXPECT_EQ(remover({"nice", "env", "-u", "LD_PRELOAD", "app"}), "env -u LD_PRELOAD");
  for (const auto* word : {"-uLD_PRELOAD", "-0uLD_PRELOAD", "--unset=LD_PRELOAD"})
    EXPECT_EQ(remover({"env", word, "app"}), "env -u LD_PRELOAD");
  EXPECT_EQ(remover({"env", "LD_PRELOAD=x.so", "numactl", "-l", "app"}), "LD_PRELOAD=x.so");
  EXPECT_EQ(remover({"env", "LD_PRELOAD=x y's.so", "app"}), "'LD_PRELOAD=x y'\\''s.so'");
  EXPECT_EQ(remover({"sh", "-c", "LD_PRELOAD=x.so exec app"}), "LD_PRELOAD=x.so");
  EXPECT_EQ(remover({"sh", "-c", "env -i app"}), "env -i");
  EXPECT_EQ(remover({"env", "-ia", "stat", "app"}), "env -ia");
  EXPECT_EQ(remover({"env", "-i", "-u", "LD_PRELOAD", "app"}), "env -i");
  EXPECT_EQ(remover({"env", "--argv0", "stat", "LD_PRELOAD=x.so", "app"}), "LD_PRELOAD=x.so");
  EXPECT_EQ(remover({"env", "-u", "LD_PRELOAD", "LD_PRELOAD=/opt/libsteelyard-preload-mpich.so", "app"}), "");
  for (const auto* kept :
       {"-uX", "-ui", "-Ci", "-ai", "-v", "--unset=X", "LD_PRELOAD=/opt/libsteelyard-preload-mpich.so"})
    EXPECT_EQ(remover({"env", kept, "app"}), "") << kept;
  for (const auto* kept : {"LD_PRELOAD=x.so:$LD_PRELOAD app", "LD_PRELOAD=x.so cd /tmp; app", "echo LD_PRELOAD=x app",
                           "MY_LD_PRELOAD=x app", "app LD_PRELOAD=x"})
    EXPECT_EQ(remover({"sh", "-c", kept}), "") << kept;
}

TEST_F(Wrappers, ThatRemoveTheLibraryAreSaidToBalanceNothing) {
  // With the library of this MPI, which would be preloaded.
  ASSERT_NE(compile(scratch_, "lib/steelyard/libsteelyard-preload-mpich.so", "", "-shared -fPIC"), "");
  site_.self = scratch_.write("bin/steelyard", "");
  int error = 0;
  const auto cleared = decide_on_command({"env", "-i", "X=1", "LD_PRELOAD=x.so", "app"}, {}, site_, error);
  EXPECT_TRUE(cleared.decision.reason.starts_with("`env -i` after")) << cleared.decision.reason;
  EXPECT_TRUE(cleared.decision.reason.ends_with("`env LD_PRELOAD=x.so steelyard run env -u NAME app`"))
      << cleared.decision.reason;
  const auto started = decide_on_command({"env", "LD_PRELOAD=x.so y", "app"}, {}, site_, error);
  EXPECT_EQ(error, 0);
  EXPECT_EQ(started.shown, "app");
  EXPECT_EQ(started.decision.kind, Decision::Kind::pass_through) << started.decision.reason;
  EXPECT_TRUE(started.decision.reason.starts_with("`'LD_PRELOAD=x.so y'` after `steelyard run` removes"))
      << started.decision.reason;
  EXPECT_TRUE(started.decision.reason.ends_with("`env 'LD_PRELOAD=x.so y' steelyard run app`"));
}

TEST_F(Wrappers, DoNotHideJulia) {
  int error = 0;
  const auto started = decide_on_command({"numactl", "-l", "julia", "x.jl"}, {}, site_, error);
  EXPECT_EQ(error, 0);
  EXPECT_EQ(started.shown, "julia");
  EXPECT_TRUE(is_julia(started.binary));
  EXPECT_FALSE(started.decision.awaits_mpi) << "of an MPI that nothing names";
}

TEST_F(Wrappers, ThatStartNothingKnownAreProgramsThemselves) {
  EXPECT_EQ(behind({"app", "env", "app"}), 0U) << "a program with a wrapper among its arguments";
  EXPECT_EQ(behind({"env"}), 0U);
  EXPECT_EQ(behind({"env", "X=1", "./absent"}), 0U);
  EXPECT_EQ(behind({"sudo", "app"}), 0U);
  EXPECT_EQ(behind({"time", "mpirun", "-n", "2", "app"}), 0U) << "not a rank";
  EXPECT_EQ(behind({"time", "stat", "app.c"}), 0U);
}

}  // namespace
}  // namespace steelyard::cli
