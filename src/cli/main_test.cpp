// SPDX-License-Identifier: BSD-3-Clause
// Runs the built `steelyard` as a user would, and looks at what it says and how it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include "cli/test_support.h"

namespace steelyard::cli {
namespace {

using namespace testing_support;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// The program copied beside a preload library that prints what it was handed, and a program whose MPI is one line.
class Steelyard : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    suite_ = new Scratch;
    const Scratch& scratch = *suite_;
    scratch.write("lib/steelyard/x", "");
    std::filesystem::create_directory(scratch / "bin");
    std::filesystem::copy_file(STEELYARD_TEST_PROGRAM, scratch / "bin/steelyard");
    ASSERT_NE(compile(scratch, "lib/steelyard/libsteelyard-preload-openmpi.so", preload_source, "-shared -fPIC"), "");
    ASSERT_NE(compile(scratch, "libmpi.so", "int MPI_Init(int* c, char*** v) { return !c || !v; }\n",
                      "-shared -fPIC -Wl,-soname,libmpi.so.40"),
              "");
    std::filesystem::create_symlink("libmpi.so", scratch / "libmpi.so.40");
    const auto here = scratch / "";
    ASSERT_NE(compile(scratch, "app", app_source, "-L" + here + " -lmpi -Wl,-rpath," + here), "");
  }
  static void TearDownTestSuite() { delete suite_; }

  Ran run(const std::string& words, const std::string& variables = "") const {
    const std::string launchers =
        "-u OMPI_COMM_WORLD_RANK -u OMPI_COMM_WORLD_SIZE -u PMI_RANK -u PMI_SIZE -u SLURM_PROCID "
        "-u FLUX_JOB_ID -u SLURM_JOB_ID -u PBS_JOBID -u LSB_JOBID ";
    // A preloaded library is all right with an instrumented `steelyard`.
    const std::string sanitizers = "ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 ";
    return shell("cd " + (scratch_ / "") + " && env " + launchers + sanitizers + variables + " " +
                 (scratch_ / "bin/steelyard") + " " + words);
  }

  static constexpr const char* preload_source = R"(
#include <stdio.h>
#include <stdlib.h>
static void show(const char* name) {
  const char* value = getenv(name);
  printf("%s=%s\n", name, value ? value : "unset");
}
__attribute__((constructor)) static void begin(void) {
  const char* names[] = {"STEELYARD_INTERNAL_LAUNCHED", "STEELYARD_INTERNAL_PRELOAD", "STEELYARD_INTERNAL_COUNTS_SET",
                         "STEELYARD_INTERNAL_THREAD_LOCAL", "STEELYARD_INTERNAL_COMMAND", "STEELYARD_RECORD",
                         "STEELYARD_INTERNAL_RECORD",
                         "STEELYARD_SPIN", "STEELYARD_CORES", "HWLOC_SYNTHETIC"};
  for (unsigned i = 0; i < sizeof names / sizeof *names; ++i) show(names[i]);
  fflush(stdout);
}
)";
  static constexpr const char* app_source = R"(
#include <stdio.h>
#include <stdlib.h>
int MPI_Init(int*, char***);
_Thread_local char own[48];
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 1; i < argc; ++i) printf("<%s>", argv[i]);
  return own[0] + (argc > 1 ? atoi(argv[1]) : 0);
}
)";
  static inline const Scratch* suite_ = nullptr;
  const Scratch& scratch_ = *suite_;
};

TEST_F(Steelyard, HandsEverythingDownAndLetsTheStatusThrough) {
  const auto ran = run("run --spin=7 --emulate 'package:1 core:4 pu:1' --record=out.json -- ./app 42 --spin=9 'a b'",
                       "OMP_NUM_THREADS=3 STEELYARD_CORES=off LD_PRELOAD=libm.so.6");
  EXPECT_EQ(ran.status, 42) << ran.output;
  EXPECT_THAT(
      ran.output,
      AllOf(HasSubstr("<42><--spin=9><a b>"), HasSubstr("LAUNCHED=on\n"), HasSubstr("PRELOAD=libm.so.6\n"),
            HasSubstr("COUNTS_SET=on\n"), HasSubstr("THREAD_LOCAL=48\n"),
            HasSubstr("COMMAND=./app\x1f"
                      "42\x1f--spin=9\x1f"
                      "a b\n"),
            HasSubstr("SPIN=7\n"), HasSubstr("CORES=off\n"), HasSubstr("HWLOC_SYNTHETIC=package:1 core:4 pu:1\n"),
            HasSubstr("RECORD=" + (scratch_ / "out.json"))));
}

TEST_F(Steelyard, OverridesTheEnvironmentByTheDefaultToo) {
  EXPECT_THAT(run("run --cores=on ./app 0", "STEELYARD_CORES=off").output, HasSubstr("CORES=unset\n"));
}

TEST_F(Steelyard, LetsSignalsThrough) {
  compile(scratch_, "dies", "#include <signal.h>\nint main(void) { return raise(SIGTERM); }\n");
  EXPECT_EQ(run("run ./dies; test $? -eq 143").status, 0);
}

TEST_F(Steelyard, SpeaksAtRankZeroAlone) {
  const std::string plain = compile(scratch_, "plain", "int main(void) { return 5; }\n");
  const auto first = run("run ./plain", "PMI_RANK=0 PMI_SIZE=2");
  EXPECT_EQ(first.status, 5);
  EXPECT_THAT(first.output,
              AllOf(HasSubstr("steelyard: ./plain uses no MPI library: nothing is balanced"),
                    HasSubstr("`mpirun -n 2 steelyard run ./plain`, or `steelyard run --mpi=openmpi ./plain`")));
  EXPECT_THAT(run("run ./plain", "PMI_RANK=0 PMI_SIZE=2 MPI_LOCALNRANKS=2").output,
              HasSubstr("starts an MPI program: `steelyard run --mpi=mpich ./plain`\n"));
  const auto second = run("run ./plain", "PMI_RANK=1 PMI_SIZE=2");
  EXPECT_EQ(second.status, 5);
  EXPECT_EQ(second.output, "");
}

TEST_F(Steelyard, LetsARankSpeakThatIsRefusedAlone) {
  const auto ran = run("run ./absent", "PMI_RANK=1 PMI_SIZE=2 MPI_LOCALNRANKS=2");
  EXPECT_EQ(ran.status, 127);
  EXPECT_EQ(ran.output, "steelyard: cannot run ./absent: No such file or directory\n");
}

TEST_F(Steelyard, SaysOnceWhatAllRanksWouldSay) {
  scratch_.write("ranks", R"(
for rank in 0 1 2; do
  PMI_RANK=$rank PMI_SIZE=3 MPI_LOCALNRANKS=3 ./bin/steelyard run ./absent & pids="$pids $!"
done
for pid in $pids; do wait $pid; echo "status $?"; done
PMI_RANK=0 PMI_SIZE=3 MPI_LOCALNRANKS=3 ./bin/steelyard run ./other
)");
  const auto ran = shell("cd " + (scratch_ / "") + " && env -u OMPI_COMM_WORLD_SIZE sh ./ranks");
  EXPECT_EQ(ran.output,
            "steelyard: cannot run ./absent: No such file or directory\n"
            "status 127\nstatus 127\nstatus 127\n"
            "steelyard: cannot run ./other: No such file or directory\n");
}

TEST_F(Steelyard, NamesTheMistypedOption) {
  const auto ran = run("run --balence-every=3 ./app");
  EXPECT_EQ(ran.status, 125);
  EXPECT_EQ(ran.output, "steelyard: unknown option --balence-every; did you mean --balance-every?\n");
}

TEST_F(Steelyard, RefusesTheOldNameOfAnOption) {
  const auto ran = run("run --verdict=off ./app");
  EXPECT_EQ(ran.status, 125);
  EXPECT_EQ(ran.output, "steelyard: --verdict is now --summary\n");
  const auto variable = run("run ./app", "STEELYARD_THREAD_NUMBERS=keep");
  EXPECT_EQ(variable.status, 125);
  EXPECT_EQ(variable.output, "steelyard: STEELYARD_THREAD_NUMBERS is now STEELYARD_THREAD_IDS\n");
  EXPECT_EQ(run("doctor ./app", "STEELYARD_THREAD_NUMBERS=keep").status, 2);
}

TEST_F(Steelyard, NamesTheMistypedVariableAndRuns) {
  const auto ran = run("run ./app 3", "STEELYARD_BALENCE_AT=3");
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.output,
              HasSubstr("unknown environment variable STEELYARD_BALENCE_AT; did you mean STEELYARD_BALANCE_AT?\n"));
}

TEST_F(Steelyard, RefusesBadValuesWithTheirSource) {
  EXPECT_EQ(run("run --wait=doze ./app").output, "steelyard: --wait is 'doze'; it must be one of sleep, poll\n");
  EXPECT_EQ(run("run ./app", "STEELYARD_SPIN=soon").output,
            "steelyard: STEELYARD_SPIN is 'soon'; it must be an integer from 0 to 1000000 (us)\n");
  EXPECT_EQ(run("run ./app", "STEELYARD_SPIN=soon").status, 125);
  EXPECT_EQ(run("run --emulate=lots ./app").status, 125);
  scratch_.write("s.toml", "spin = \n");
  EXPECT_THAT(run("run --config=s.toml ./app").output, HasSubstr("config file s.toml, line 1: "));
}

TEST_F(Steelyard, RefusesAnUnreadableConfig) {
  const auto ran = run("run --config=gone.toml ./app");
  EXPECT_EQ(ran.status, 125);
  EXPECT_EQ(ran.output, "steelyard: cannot read config file gone.toml: No such file or directory\n");
}

TEST_F(Steelyard, RefusesWhatCannotRunAsEnvDoes) {
  EXPECT_EQ(run("run no-such-program-anywhere").status, 127);
  scratch_.write("text", "not executable");
  EXPECT_EQ(run("run ./text").status, 126);
  EXPECT_EQ(run("run ./lib").status, 126);
  EXPECT_EQ(run("run").status, 125);
  EXPECT_EQ(run("run --record").status, 125);
  EXPECT_EQ(run("run app").output,
            "steelyard: cannot run app: not found in PATH; to run the file in this directory, write ./app\n");
  EXPECT_EQ(run("run no-such-program-anywhere").output,
            "steelyard: cannot run no-such-program-anywhere: not found in PATH\n");
  EXPECT_EQ(run("run ./text").output,
            "steelyard: cannot run ./text: Permission denied; if it is a program: `chmod +x ./text`\n");
  EXPECT_EQ(run("run ./lib").output, "steelyard: cannot run ./lib: it is a directory\n");
  EXPECT_EQ(run("run ./lib/none").output, "steelyard: cannot run ./lib/none: No such file or directory\n");
  const auto damaged = scratch_.write("damaged", contents(scratch_ / "app").substr(0, 300));
  std::filesystem::permissions(damaged, std::filesystem::perms::owner_all);
  const auto ran = run("run ./damaged");
  EXPECT_EQ(ran.status, 126);
  EXPECT_THAT(ran.output, HasSubstr("cannot run ./damaged: its "));
}

TEST_F(Steelyard, RefusesAStaticProgram) {
  if (compile(scratch_, "static", "int main(void) { return 0; }\n", "-static").empty())
    GTEST_SKIP() << "no static C library here";
  const auto ran = run("run ./static");
  EXPECT_EQ(ran.status, 125);
  EXPECT_THAT(ran.output, HasSubstr("./static is statically linked"));
}

TEST_F(Steelyard, RefusesTheOtherMpisLauncher) {
  const auto ran = run("run ./app", "PMI_RANK=0 PMI_SIZE=2 MPI_LOCALNRANKS=2");
  EXPECT_EQ(ran.status, 125);
  EXPECT_THAT(ran.output, AllOf(HasSubstr("Open MPI (libmpi.so.40)"), HasSubstr("MPICH's mpirun (Hydra)")));
}

TEST_F(Steelyard, RunsScriptsUnharmed) {
  for (const char* start : {"#!/bin/sh\n", ""}) {
    const auto script = scratch_.write("script", std::string(start) + "echo got $1; exit 9\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    const auto ran = run("run ./script word");
    EXPECT_EQ(ran.status, 9);
    EXPECT_THAT(ran.output, AllOf(HasSubstr("./script is a script for /bin/sh"), HasSubstr("got word\n")));
  }
}

TEST_F(Steelyard, StepsAsideForAnInnerRunThatKeepsItsOptions) {
  const auto ran = run("run --spin=3 --cores=off ./bin/steelyard run --cores=on ./app 4");
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.output, AllOf(HasSubstr("SPIN=3\n"), HasSubstr("CORES=unset\n"),
                                HasSubstr("COMMAND=./app\x1f"
                                          "4\n")));
  EXPECT_THAT(ran.output, Not(HasSubstr("steelyard: ")));
}

TEST_F(Steelyard, FollowsWrappersInRunAndDoctor) {
  const auto ran = run("run env X=1 ./app 5");
  EXPECT_EQ(ran.status, 5);
  EXPECT_THAT(ran.output, AllOf(HasSubstr("INTERNAL_COMMAND=env\x1fX=1\x1f./app"), Not(HasSubstr("steelyard: "))));
  const auto good = run("doctor env X=1 nice -n 1 ./app");
  EXPECT_EQ(good.status, 0) << good.output;
  EXPECT_THAT(good.output, AllOf(HasSubstr("ok       MPI: Open MPI, libmpi.so.40"),
                                 HasSubstr("ok       preloaded by `steelyard run`: LD_PRELOAD="),
                                 HasSubstr("note     wrapper: env starts ./app")));
  const auto commands = run("doctor sh -c 'exec ./app 5'");
  EXPECT_EQ(commands.status, 0) << commands.output;
  EXPECT_THAT(commands.output, HasSubstr("note     wrapper: sh starts ./app"));
  for (const char* command : {"run", "doctor"}) {
    const auto none = run(std::string(command) + " env -i ./app 5");
    EXPECT_THAT(none.output, HasSubstr("`env -i` after `steelyard run` removes Steelyard's library")) << command;
  }
}

TEST_F(Steelyard, DoctorFollowsAScriptToTheProgramThatItBecomes) {
  const auto script = [&](const std::string& text) {
    std::filesystem::permissions(scratch_.write("job.sh", "#!/bin/sh\n" + text), std::filesystem::perms::owner_all);
  };
  script("export X=1\nexec ./app \"$@\"\n");
  EXPECT_THAT(run("doctor ./job.sh 5").output,
              AllOf(HasSubstr("note     wrapper: job.sh starts ./app"), HasSubstr("ok       MPI: Open MPI"),
                    Not(HasSubstr("name it here"))));
  script("./app\n");
  EXPECT_THAT(
      run("doctor ./job.sh").output,
      HasSubstr("./job.sh is a script for /bin/sh: under mpirun, the MPI program that it starts is balanced; to "
                "check that program, name it here"));
  EXPECT_THAT(run("doctor ./job.sh", "OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0").output,
              AllOf(HasSubstr("./job.sh is a script for /bin/sh: the MPI program that it starts is balanced"),
                    HasSubstr("ok       preloaded by `steelyard run`: LD_PRELOAD=")));
}

TEST_F(Steelyard, DoctorNotesCpusThatAreLeftOut) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "needs two CPUs";
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);  // what the shell and `steelyard` inherit
  const auto alone = run("doctor ./app");
  const auto one_rank =
      run("doctor ./app", "OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=1");
  const auto full = run("doctor ./app",
                        "OMPI_COMM_WORLD_SIZE=4096 OMPI_COMM_WORLD_RANK=0 "
                        "OMPI_COMM_WORLD_LOCAL_SIZE=4096");
  ASSERT_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
  EXPECT_THAT(alone.output, testing::ContainsRegex("note     CPUs: 1 of [0-9]+ in the affinity mask here"));
  EXPECT_THAT(one_rank.output, testing::ContainsRegex("note     CPUs: 1 of [0-9]+ in .* each rank here \\(1 rank\\)"));
  EXPECT_THAT(full.output, HasSubstr("ok       CPUs: 1 in the affinity mask here"));
}

TEST_F(Steelyard, DoctorSpeaksOnceForTheRanksOfANode) {
  const auto rank = [&](int number, const std::string& program) {
    const auto n = std::to_string(number);
    return "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE=2 OMPI_COMM_WORLD_RANK=" + n +
           " OMPI_COMM_WORLD_LOCAL_RANK=" + n + " PMIX_NAMESPACE=" + std::to_string(getpid()) +
           " OMP_NUM_THREADS=4096 " + (scratch_ / "bin/steelyard") + " doctor " + program;
  };
  const auto both = shell("cd " + (scratch_ / "") + "; (" + rank(1, "./absent") + "; echo rank 1: $?) & " +
                          rank(0, "./app") + "; echo rank 0: $?; wait");
  EXPECT_THAT(both.output, AllOf(HasSubstr("ok       rank 0: MPI: Open MPI"), HasSubstr("problem  rank 1: cannot run"),
                                 HasSubstr("note     CPUs: ranks 0-1 have 8192 threads for"), HasSubstr("rank 1: 1\n"),
                                 HasSubstr("rank 0: 0\n")));
}

TEST_F(Steelyard, DoctorTellsWhetherItWouldWork) {
  const auto good = run("doctor ./app");
  EXPECT_EQ(good.status, 0) << good.output;
  EXPECT_THAT(good.output, AllOf(HasSubstr("ok       MPI: Open MPI, libmpi.so.40 (" + (scratch_ / "")),
                                 HasSubstr("note     thread-local data: 48 bytes")));
  const auto bad = run("doctor /bin/true");
  EXPECT_EQ(bad.status, 1);
  EXPECT_THAT(bad.output, AllOf(HasSubstr("problem  /bin/true uses no MPI library"), Not(HasSubstr("loops"))));
  const auto shell = run("doctor sh -c true");
  EXPECT_EQ(shell.status, 0);
  EXPECT_THAT(shell.output, AllOf(HasSubstr("note     sh is a shell: under mpirun"), Not(HasSubstr("loops"))));
  std::filesystem::copy_file("/bin/true", scratch_ / "python3.11");
  const auto python = run("doctor ./python3.11");
  EXPECT_EQ(python.status, 0);
  EXPECT_THAT(python.output,
              AllOf(HasSubstr("note     ./python3.11 has no MPI when it starts; under mpirun, it is measured"),
                    HasSubstr("`mpirun -n N steelyard run ./python3.11 SCRIPT`"), Not(HasSubstr("problem"))));
  EXPECT_EQ(run("doctor ./absent").status, 1);
  EXPECT_EQ(run("doctor").status, 2);
}

TEST_F(Steelyard, SaysItsVersionAndWhatIsBesideIt) {
  const auto ran = run("--version");
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.output, "steelyard " STEELYARD_VERSION "\nMPI: openmpi\n");
}

TEST_F(Steelyard, FailsIfItsOutputIsIncomplete) {
  for (const auto* words : {"options", "--help", "top --once", "doctor ./app"}) {
    const auto ran = run(std::string(words) + " > /dev/full");
    EXPECT_EQ(ran.status, 1) << words;
    EXPECT_THAT(ran.output, HasSubstr("steelyard: the output is incomplete")) << words;
  }
}

TEST_F(Steelyard, HelpOfEachCommandLooksAlike) {
  EXPECT_THAT(run("--help").output, StartsWith("usage: steelyard COMMAND [options]\n\nSteelyard measures"));
  for (const std::string command : {"run", "doctor", "report", "top", "cores", "clean", "options"}) {
    EXPECT_THAT(run("--help").output, HasSubstr("\n  " + command + "\n      "));
    const auto text = run(command + " --help").output;
    EXPECT_THAT(text, StartsWith("usage: ")) << command;
    EXPECT_THAT(text, HasSubstr("steelyard " + command)) << command;
    EXPECT_THAT(text, AllOf(Not(HasSubstr("Excludes")), Not(HasSubstr("TEXT")), Not(HasSubstr("Usage")))) << command;
  }
  EXPECT_THAT(run("cores --help").output,
              HasSubstr("  --wait=SECONDS [10]\n      Wait at most this long until the request has taken effect.\n"));
  EXPECT_THAT(run("report --help").output, HasSubstr("  --html=FILE\n      Write an HTML page"));
}

TEST_F(Steelyard, AnswersWrongWordsWithAWayOut) {
  EXPECT_EQ(run("").status, 2);
  EXPECT_EQ(run("--help").status, 0);
  EXPECT_EQ(run("run --help").status, 0);
  EXPECT_THAT(run("run --help").output, HasSubstr("`steelyard options` lists all"));
  EXPECT_EQ(run("doctor --help").status, 0);
  EXPECT_THAT(run("doctor --help").output, HasSubstr("usage: steelyard doctor"));
  const auto ran = run("rum ./app");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.output, AllOf(HasSubstr("rum"), HasSubstr("did you mean run?")));
  EXPECT_EQ(run("help").output, run("--help").output);
  EXPECT_EQ(run("help run").output, run("run --help").output);
  EXPECT_THAT(run("report --ful").output, HasSubstr("did you mean --full?"));
  EXPECT_EQ(run("report --ful").status, 2);
  EXPECT_THAT(run("report a.json b.json c.json").output, HasSubstr("or two to compare; what is c.json?"));
  EXPECT_THAT(run("report --talp=x a.json b.json").output, HasSubstr("--talp takes one run record, and b.json is a"));
  EXPECT_THAT(run("report --htm=x a.json").output, HasSubstr("did you mean --html?"));
  EXPECT_EQ(run("report --json --html=x a.json").status, 2);
  EXPECT_EQ(run("top --output=x").status, 2);
  EXPECT_EQ(run("cores --shirnk=2").status, 2);
  EXPECT_THAT(run("cores --shirnk=2").output, HasSubstr("unknown option --shirnk; did you mean --shrink?"));
  EXPECT_THAT(run("cores 1 --set=x").output, HasSubstr("x is no list of CPUs, such as 0-3,8"));
  for (const auto* wrong : {"x", "0", "1.5", "99999999999"})
    EXPECT_THAT(run(std::string("cores 1 --shrink=") + wrong).output, HasSubstr("is no number of cores, such as 2"));
  EXPECT_THAT(run("cores 1 --shrink=1 --wait=inf").output, HasSubstr("'inf' is no number of seconds, such as 2.5"));
  for (const auto* words : {"cores 1 --set=x", "cores --set=1 --grow=1", "cores --grow=0", "cores --shrink=1 --grow=1"})
    EXPECT_EQ(run(words).status, 2) << words;
  const auto none = run("cores no-such-job --shrink=1");
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.output, HasSubstr("no job no-such-job of yours runs under Steelyard on this node"));
  EXPECT_EQ(run("top --json --prometheus").status, 2);
  EXPECT_EQ(run("run --record ./app").status, 125);
  EXPECT_THAT(run("run --record= ./app").output, HasSubstr("--record= has no value; write --record=VALUE"));
  EXPECT_THAT(run("run --record=/nowhere/a= ./app").output, Not(HasSubstr("has no value")));
  EXPECT_THAT(
      run("run --record ./app").output,
      HasSubstr("no program given: ./app is the value of --record; write `steelyard run --record=VALUE ./app`"));
  EXPECT_EQ(run("run --lending off ./app").status, 125);
  EXPECT_THAT(run("run --lending off ./app").output, HasSubstr("write --lending=off"));
  EXPECT_THAT(run("run --lending of ./app").output, HasSubstr("called 'of'; write --lending=off"));
  EXPECT_THAT(run("run --cores off ./app").output, HasSubstr("called 'off'; write --cores=off"));
  EXPECT_EQ(run("run --cores ./absent").status, 127);
  EXPECT_EQ(run("options").status, 0);
  EXPECT_EQ(run("options --man | grep -c '^.TP'").status, 0);
}

TEST_F(Steelyard, ListsTheOptionsOfATopic) {
  const auto cores = run("options cores");
  EXPECT_EQ(cores.status, 0);
  EXPECT_THAT(cores.output, AllOf(StartsWith("What Steelyard does\n  --cores="), HasSubstr("\n  --cores-domain="),
                                  HasSubstr("\nWhen and where cores move\n"), HasSubstr("\n  --max-threads="),
                                  Not(HasSubstr("--observe=")), Not(HasSubstr("--spin="))));
  EXPECT_THAT(run("options max-threads").output, AllOf(HasSubstr("--max-threads="), Not(HasSubstr("--cores="))));
  EXPECT_EQ(run("options STEELYARD_MAX_THREADS").output, run("options max-threads").output);
  EXPECT_EQ(run("options Loops").output, run("options loops").output);
  EXPECT_EQ(run("options coers").status, 2);
  EXPECT_THAT(run("options coers").output, HasSubstr("unknown topic coers; did you mean cores?"));
  EXPECT_THAT(run("options max-thread").output, HasSubstr("did you mean max-threads?"));
  EXPECT_THAT(run("options xyzzyx").output, HasSubstr("unknown topic xyzzyx; `steelyard options` lists all options"));
  EXPECT_THAT(run("options tasks").output, HasSubstr("tasks have no options"));
  EXPECT_EQ(run("options cores loops").status, 2);
  EXPECT_EQ(run("options cores --man").status, 2);
}

TEST_F(Steelyard, NamesTheNearestCommandOrOption) {
  const std::pair<const char*, const char*> cases[] = {
      {"rnu ./app", "unknown command rnu; did you mean run?"},
      {"docter ./app", "unknown command docter; did you mean doctor?"},
      {"help rnu", "unknown command rnu; did you mean run?"},
      {"''", "the command is '': is a variable of the shell not set? see `steelyard --help`"},
      {"hepl", "unknown command hepl; did you mean help?"},
      {"--verison", "unknown option --verison; did you mean --version?"},
      {"./app 0", "./app is no command of Steelyard; to start it: `steelyard run ./app ...`"},
      {"--spin=3 ./app", "write `steelyard run --spin=3 ...`"},
      {"run --balence-at=3 ./app", "unknown option --balence-at; did you mean --balance-at?"},
      {"run -n 2 ./app", "unknown option -n; the number of ranks is an option of mpirun: `mpirun -n N steelyard run"},
      {"doctor --verbsoe ./app", "unknown option --verbsoe; did you mean --verbose?"},
      {"report --htm=x a.json", "unknown option --htm; did you mean --html?"},
      {"top --onec", "unknown option --onec; did you mean --once?"},
      {"top --promethues --once", "unknown option --promethues; did you mean --prometheus?"},
      {"top 17", "`steelyard top` takes no argument; what is 17? see `steelyard top --help`"},
      {"cores 1 2", "`steelyard cores` takes no further argument; what is 2?"},
      {"cores --gorw=1", "unknown option --gorw; did you mean --grow?"},
      {"clean --hlep", "unknown option --hlep; did you mean --help?"},
      {"clean --all", "unknown option --all; see `steelyard clean --help`"},
      {"options --mna", "unknown option --mna; did you mean --man?"},
  };
  for (const auto& [words, answer] : cases) {
    const auto ran = run(words);
    EXPECT_THAT(ran.output, HasSubstr(answer));
    EXPECT_EQ(ran.status, std::string_view(words).starts_with("run ") ? 125 : 2) << words;
  }
  EXPECT_THAT(run("cores 1 --grow -1").output, Not(HasSubstr("unknown option")));
}

TEST_F(Steelyard, SaysThatTheNameOfTheProgramIsEmpty) {
  for (const std::string command : {"run", "doctor"}) {
    for (const char* rest : {" ''", " --cores=off '' ./app --observe", " -- ''"}) {
      const auto ran = run(command + rest);
      EXPECT_EQ(ran.output, "steelyard: the program is '': is a variable of the shell not set? write `steelyard " +
                                command + " [options] ./app`\n");
      EXPECT_EQ(ran.status, command == "run" ? 125 : 2);
    }
  }
}

TEST_F(Steelyard, NamesTheValueThatIsMissing) {
  for (const auto& [words, answer] : std::initializer_list<std::pair<const char*, const char*>>{
           {"report --html= a.json", "--html= has no value; write --html=FILE\n"},
           {"report a.json --html ''",
            "argument 3 of `steelyard report` is '': is a variable of the shell not set? see"},
           {"report ''", "argument 1 of `steelyard report` is ''"},
           {"report --full=", "--full= has no value; write --full\n"},
           {"top --prometheus --output=", "--output= has no value; write --output=FILE\n"},
           {"cores 1 --set=", "--set= has no value; write --set=LIST\n"}}) {
    const auto ran = run(words);
    EXPECT_THAT(ran.output, HasSubstr(answer)) << words;
    EXPECT_EQ(ran.status, 2) << words;
  }
}

TEST_F(Steelyard, NamesTheHelpOfTheCommandThatWasUsedWrongly) {
  EXPECT_THAT(run("cores 1 --shrink=x").output, HasSubstr("see `steelyard cores --help`"));
  EXPECT_THAT(run("report --html").output, HasSubstr("see `steelyard report --help`"));
  EXPECT_THAT(run("run --spin").output, HasSubstr("see `steelyard run --help`"));
  EXPECT_EQ(run("help help").output, run("--help").output);
}

TEST_F(Steelyard, SaysThatAnOptionAfterTheProgramIsThePrograms) {
  const auto ran = run("run ./app 4 --observe --balance-every=5", "PMI_RANK=0 PMI_SIZE=1");
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.output,
              AllOf(HasSubstr("steelyard: --observe, --balance-every=5 after the program belongs to the program"),
                    HasSubstr("write it before ./app"), HasSubstr("<4><--observe><--balance-every=5>")));
  EXPECT_THAT(run("doctor ./app --observe").output, HasSubstr("belongs to the program"));
  for (const auto* words : {"run -- ./app 4 --observe", "run ./app 4 --other --max-threads=8"})
    EXPECT_THAT(run(words).output, Not(HasSubstr("belongs to the program"))) << words;
}

TEST_F(Steelyard, ReportSaysWhyItCannotRead) {
  const auto absent = run("report gone.json");
  EXPECT_EQ(absent.status, 1);
  EXPECT_THAT(absent.output, HasSubstr("cannot read the run record gone.json: No such file or directory"));
  EXPECT_THAT(run("report --json a.json b.json").output, HasSubstr("--json"));
  scratch_.write("half.json", "{\"schema\": 1,");
  scratch_.write("empty.json", "");
  EXPECT_THAT(run("report empty.json").output, HasSubstr("the file is empty: a run writes its record when it ends"));
  const auto half = run("report half.json");
  EXPECT_EQ(half.status, 1);
  EXPECT_THAT(half.output, HasSubstr("half.json"));
}

TEST_F(Steelyard, NamesTheRecordByTheBatchJobUnlessAPathIsGiven) {
  EXPECT_THAT(run("run ./app 0").output, AllOf(HasSubstr("\nSTEELYARD_RECORD=unset\n"),
                                               HasSubstr("INTERNAL_RECORD=" + (scratch_ / "steelyard-run.json\n"))));
  EXPECT_THAT(run("run ./app 0", "PBS_JOBID=12.head").output,
              HasSubstr("INTERNAL_RECORD=" + (scratch_ / "steelyard-run.12.json\n")));
  EXPECT_THAT(run("run ./bin/steelyard run --record=auto ./app 0", "STEELYARD_RECORD=mine.json").output,
              HasSubstr("\nSTEELYARD_RECORD=unset\n"));
}

TEST_F(Steelyard, RefusesARecordThatCannotBeWritten) {
  const auto ran = run("run --record=none/run.json ./app 0");
  EXPECT_EQ(ran.status, 125);
  EXPECT_EQ(ran.output,
            "steelyard: --record=none/run.json: No such file or directory; use a path that can be written, or "
            "--record=none\n");
  const std::string ranks = "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE=";
  EXPECT_EQ(run("run --record=none/run.json ./app 0", ranks + "1").status, 0) << "rank 0's node may have that folder";
  EXPECT_EQ(run("run --record=none/run.json ./app 0", ranks + "2").status, 125) << "all ranks, or the others wait";
  EXPECT_EQ(run("run --record=none ./app 0").status, 0);
  EXPECT_THAT(run("run --record=bin ./app 0").output, HasSubstr("Is a directory"));
  EXPECT_EQ(run("run --record=run.json ./app 0").status, 0);
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "run.json"));
}

TEST_F(Steelyard, ReportsTheNewestRecordThatRunsHaveNamed) {
  const auto folder = std::filesystem::path(scratch_ / "records");
  std::filesystem::create_directory(folder);
  const auto report = [&] {
    const auto ran = run("report", "env --chdir=" + folder.string());
    EXPECT_EQ(ran.status, 1);
    return ran.output;
  };
  EXPECT_THAT(report(), HasSubstr("no run record (steelyard-run*.json) in this directory"));
  const auto now = std::filesystem::file_time_type::clock::now();
  int age = 0;  // minutes
  for (const std::string name : {"run.json", "steelyard-run-3.json", "steelyard-run.7.json", "steelyard-run.json"}) {
    std::filesystem::last_write_time(scratch_.write("records/" + name, "no record"), now - std::chrono::minutes(age++));
  }
  scratch_.write("records/steelyard-run-4.json", "");  // a run is about to write it
  EXPECT_THAT(report(), HasSubstr("cannot read the run record steelyard-run-3.json: "));
  const auto later = now + std::chrono::minutes(1);
  for (const std::string name : {"steelyard-run.json.", "steelyard-run.json.x", "steelyard-run3"})
    std::filesystem::last_write_time(scratch_.write("records/" + name, "no record"), later);
  EXPECT_THAT(report(), HasSubstr("cannot read the run record steelyard-run-3.json: "));
  for (const std::string name : {"steelyard-run.json.12", "steelyard-run-2.json.0"}) {  // of processes without MPI
    std::filesystem::last_write_time(scratch_.write("records/" + name, "no record"),
                                     later + std::chrono::minutes(age++));
    EXPECT_THAT(report(), HasSubstr("cannot read the run record " + name + ": "));
  }
}

/// With a python3 that prints what it was handed, and then with none.
TEST_F(Steelyard, LeavesPagesToItsPythonPackage) {
  EXPECT_THAT(run("report a.json --html=out.html").output,
              HasSubstr("share/steelyard/python/steelyard; `make install`"));
  scratch_.write("share/steelyard/python/steelyard/__main__.py", "");
  const auto python = scratch_.write("tools/python3", "#!/bin/sh\nshift; printf '<%s>' \"$@\"; exit 7\n");
  std::filesystem::permissions(python, std::filesystem::perms::owner_all);
  const std::string path = "PATH=" + (scratch_ / "tools");
  const auto nothing = run("report --html=x", path);
  EXPECT_EQ(nothing.status, 1);
  EXPECT_THAT(nothing.output, HasSubstr("no run record (steelyard-run*.json) in this directory"));
  scratch_.write("steelyard-run.json", "{}");
  const auto page = run("report 'a b.json' --html=out.html --talp=t.json", path);
  EXPECT_EQ(page.output, "<a b.json><--html=out.html><--talp=t.json>");
  EXPECT_EQ(page.status, 7);
  EXPECT_EQ(run("report --perfetto=p --paraver=q", path).output, "<steelyard-run.json><--perfetto=p><--paraver=q>");
  EXPECT_EQ(run("report a.json b.json", path).output, "<a.json><b.json>");
  const auto record = scratch_.write("kept.json", "{\n  \"schema\": 2}");
  for (const std::string option : {"--html", "--perfetto", "--paraver", "--talp"}) {
    const auto refused_page = run("report " + option + " kept.json", path);
    EXPECT_EQ(refused_page.output, "steelyard: kept.json is a run record, which " + option +
                                       " would overwrite; write `steelyard report kept.json " + option + "=FILE`\n");
    EXPECT_EQ(refused_page.status, 2);
  }
  EXPECT_THAT(run("report a.json b.json --html=kept.json", path).output,
              HasSubstr("write `steelyard report a.json b.json --html=FILE`\n"));
  scratch_.write("t.json", "{\n  \"dlbVersion\": \"3.5.0\"}");
  EXPECT_EQ(run("report --talp t.json", path).output, "<steelyard-run.json><--talp=t.json>") << "of an earlier call";
  const auto none = run("report a.json b.json", "PATH=/nowhere");
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.output, AllOf(HasSubstr("python3, which is not in PATH"), HasSubstr("apt-get install -y python3")));
}

}  // namespace
}  // namespace steelyard::cli
