// SPDX-License-Identifier: BSD-3-Clause
#include "cli/decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/doctor.h"
#include "cli/test_support.h"
#include "cli/wrappers.h"

namespace steelyard::cli {
namespace {

using namespace testing_support;
using base::OpenMp;
using base::Options;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = Decision::Kind;

/// An installation that consists of empty libraries, and programs that no compiler has made.
class DecisionTest : public testing::Test {
 protected:
  void SetUp() override { site_.self = scratch_.write("prefix/bin/steelyard", ""); }

  void install(const std::string& flavour) {
    scratch_.write("prefix/lib/steelyard/x", "");
    ASSERT_NE(compile(scratch_, library(flavour), "int steelyard_here;\n", "-shared -fPIC"), "");
  }
  static std::string library(const std::string& flavour) {
    return "prefix/lib/steelyard/libsteelyard-preload-" + flavour + ".so";
  }
  static Binary program(std::vector<std::string> libraries) {
    Binary binary;
    binary.path = "/somewhere/app";
    for (auto& name : libraries) binary.libraries.push_back({name, "/lib/" + name});
    return binary;
  }
  Decision decide_on(const Binary& binary) const { return decide(binary, "./app", options_, site_); }

  Scratch scratch_;
  Options options_;
  Site site_;
};

TEST_F(DecisionTest, TakesTheFlavourOfTheProgramsMpi) {
  install("openmpi");
  install("mpich");
  EXPECT_THAT(decide_on(program({"libmpi.so.40"})).preload, ElementsAre(EndsWith("libsteelyard-preload-openmpi.so")));
  EXPECT_THAT(decide_on(program({"libmpich.so.12"})).preload, ElementsAre(EndsWith("libsteelyard-preload-mpich.so")));
  EXPECT_THAT(decide_on(program({"libmpi.so.12"})).preload, ElementsAre(EndsWith("libsteelyard-preload-mpich.so")));
}

TEST_F(DecisionTest, RefusesPathsThatCannotBePreloaded) {
  install("openmpi");
  auto binary = program({"libmpi.so.40", "libtool.so"});
  binary.libraries[1].hooks.wrapped = "MPI_Init";
  EXPECT_THAT(decide_on(binary).before, ElementsAre("/lib/libtool.so"));
  for (const char* path : {"/my tools/libtool.so", "/a:b/libtool.so"}) {
    binary.libraries[1].path = path;
    const auto decision = decide_on(binary);
    EXPECT_EQ(decision.kind, Kind::refuse);
    EXPECT_EQ(decision.reason, std::string("LD_PRELOAD cannot hold the path ") + path +
                                   ": install this tool where no path has a blank or a colon");
  }
  binary.libraries[1].hooks = {};
  EXPECT_EQ(decide_on(binary).kind, Kind::measure) << "it need not be first";
}

TEST_F(DecisionTest, PreloadsAToolOnce) {
  const auto tool = scratch_.write("libtool.so", "");
  std::filesystem::create_symlink(tool, scratch_ / "liblink.so");
  Decision decision;
  decision.before = {tool};
  decision.preload = {"/steelyard.so"};
  site_.environment["LD_PRELOAD"] = (scratch_ / "liblink.so") + ":libtool.so:/other.so";
  EXPECT_THAT(preload_list(decision, site_), ElementsAre(tool, "/steelyard.so", "/other.so"));
}

TEST_F(DecisionTest, NamesTheMissingFlavourAndTheOnesThatAreThere) {
  install("openmpi");
  const auto decision = decide_on(program({"libmpich.so.12"}));
  EXPECT_EQ(decision.kind, Kind::refuse);
  EXPECT_EQ(decision.status, refused);
  EXPECT_THAT(decision.reason,
              AllOf(HasSubstr("libmpich.so.12"), HasSubstr("libsteelyard-preload-mpich.so"), HasSubstr("openmpi")));
}

TEST_F(DecisionTest, RefusesADamagedPreloadLibrary) {
  scratch_.write(library("openmpi"),
                 "\x7f"
                 "ELF");
  EXPECT_EQ(decide_on(program({"libmpi.so.40"})).kind, Kind::refuse);
}

TEST_F(DecisionTest, RefusesTheLauncherOfAnotherMpiWhenSure) {
  install("openmpi");
  install("mpich");
  const base::Environment mpirun{{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "0"}};
  const base::Environment hydra{{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "2"}};
  site_.environment = mpirun;
  EXPECT_EQ(decide_on(program({"libmpi.so.40"})).kind, Kind::measure);
  const auto decision = decide_on(program({"libmpich.so.12"}));
  EXPECT_EQ(decision.kind, Kind::refuse);
  EXPECT_THAT(decision.reason, AllOf(HasSubstr("MPICH"), HasSubstr("Open MPI's mpirun")));
  site_.environment = hydra;
  EXPECT_EQ(decide_on(program({"libmpich.so.12"})).kind, Kind::measure);
  EXPECT_EQ(decide_on(program({"libmpi.so.40"})).kind, Kind::refuse);

  site_.environment["PMI_SIZE"] = "1";
  EXPECT_EQ(decide_on(program({"libmpi.so.40"})).kind, Kind::measure) << "one rank needs no launcher";
  site_.environment = mpirun;
  site_.environment.insert(hydra.begin(), hydra.end());
  EXPECT_EQ(decide_on(program({"libmpich.so.12"})).kind, Kind::measure) << "one mpirun inside the other";
  site_.environment = mpirun;
  site_.environment["PMIX_RANK"] = "0";
  EXPECT_EQ(decide_on(program({"libmpich.so.12", "libpmix.so.2"})).kind, Kind::measure) << "PMIx is common ground";
}

TEST_F(DecisionTest, PassesThroughWhatIsNoMpiProgram) {
  install("openmpi");
  for (const auto& binary : {program({"libc.so.6"}), program({"libgomp.so.1"}), program({"libmpi.so.20"})}) {
    const auto decision = decide_on(binary);
    EXPECT_EQ(decision.kind, Kind::pass_through);
    EXPECT_THAT(decision.reason, HasSubstr("nothing is balanced"));
  }
}

TEST_F(DecisionTest, AwaitsTheMpiOfTheLauncher) {
  install("openmpi");
  install("mpich");
  site_.environment = {{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "0"}};
  auto decision = decide_on(program({"libc.so.6"}));
  EXPECT_EQ(decision.kind, Kind::measure);
  EXPECT_TRUE(decision.awaits_mpi);
  EXPECT_THAT(decision.preload, ElementsAre(EndsWith("libsteelyard-preload-openmpi.so")));
  site_.environment = {{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "2"}};
  EXPECT_THAT(decide_on(program({"libc.so.6"})).preload, ElementsAre(EndsWith("libsteelyard-preload-mpich.so")));
  EXPECT_FALSE(decide_on(program({"libmpich.so.12"})).awaits_mpi);
  options_.mpi = base::MpiFamily::openmpi;
  EXPECT_THAT(decide_on(program({"libc.so.6"})).preload, ElementsAre(EndsWith("libsteelyard-preload-openmpi.so")))
      << "the user's word goes before the launcher's";
  site_.environment.clear();
  EXPECT_TRUE(decide_on(program({"libc.so.6"})).awaits_mpi) << "without a launcher, too";
  Binary launcher = program({});
  launcher.path = "/usr/bin/mpirun";
  EXPECT_EQ(decide_on(launcher).kind, Kind::pass_through);
  Binary privileged = program({"libc.so.6"});
  privileged.privileged = true;
  EXPECT_EQ(decide_on(privileged).kind, Kind::refuse);
}

TEST_F(DecisionTest, TakesTheStandardsAbiFromAnyMpi) {
  install("mpich");
  EXPECT_THAT(decide_on(program({"libmpi_abi.so.1"})).reason, HasSubstr("libsteelyard-preload-abi.so"));
  install("abi");
  EXPECT_THAT(decide_on(program({"libmpi_abi.so.1"})).preload, ElementsAre(EndsWith("libsteelyard-preload-abi.so")));
  options_.mpi = base::MpiFamily::abi;
  EXPECT_THAT(decide_on(program({"libc.so.6"})).preload, ElementsAre(EndsWith("libsteelyard-preload-abi.so")));
  options_.mpi = base::MpiFamily::automatic;
  site_.environment = {{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "2"}};
  EXPECT_EQ(decide_on(program({"libmpi_abi.so.1"})).kind, Kind::measure);
  EXPECT_THAT(decide_on(program({"libmpi_abi.so.1", "libopen-pal.so.80"})).reason, HasSubstr("Open MPI"))
      << "its ranks would not find each other";
}

TEST_F(DecisionTest, HasALibraryForTheLookupsOfJulia) {
  install("mpich");
  const auto lookups = scratch_.write("prefix/lib/steelyard/libsteelyard-lookups.so", "");
  options_.mpi = base::MpiFamily::mpich;
  site_.environment = {{"PATH", "/usr/bin:/bin"}, {"LD_PRELOAD", "/else/libsteelyard-lookups.so:/a/tool.so"}};
  Binary julia = program({"libc.so.6"});
  EXPECT_THAT(decide_on(julia).preload, ElementsAre(EndsWith("libsteelyard-preload-mpich.so")));
  julia.path = "/opt/julia-1.12/bin/julia";
  EXPECT_THAT(decide_on(julia).preload, ElementsAre(EndsWith("libsteelyard-preload-mpich.so"), lookups));
  EXPECT_THAT(preload_list(decide_on(julia), site_), ElementsAre(testing::_, lookups, "/a/tool.so"));
}

TEST_F(DecisionTest, RefusesAChosenMpiThatIsNotInstalled) {
  install("openmpi");
  options_.mpi = base::MpiFamily::mpich;
  const auto decision = decide_on(program({"libc.so.6"}));
  EXPECT_EQ(decision.kind, Kind::refuse);
  EXPECT_THAT(decision.reason, AllOf(HasSubstr("--mpi=mpich"), HasSubstr("libsteelyard-preload-mpich.so")));
}

TEST_F(DecisionTest, LooksAtTheInterpreterOfAScript) {
  install("openmpi");
  options_.mpi = base::MpiFamily::openmpi;
  Binary script = program({});
  script.kind = Binary::Kind::script;
  script.remark = "/usr/bin/env sh";
  site_.environment = {{"PATH", "/usr/bin:/bin"}};
  EXPECT_TRUE(decide_on(script).awaits_mpi);
  script.remark = "/nowhere/sh";
  EXPECT_EQ(decide_on(script).kind, Kind::pass_through);
  const auto shim = scratch_.write("python3", "#!/usr/bin/env sh\nexec /usr/bin/python3 \"$@\"\n");
  std::filesystem::permissions(shim, std::filesystem::perms::owner_all);
  site_.environment = {{"PATH", (scratch_ / "") + ":/usr/bin:/bin"}};
  script.remark = "/usr/bin/env python3";
  EXPECT_TRUE(decide_on(script).awaits_mpi) << "the interpreter may be a script";
  scratch_.write("python3", "#!/usr/bin/env python3\n");
  EXPECT_EQ(decide_on(script).kind, Kind::pass_through) << "a script that is its own interpreter";
}

TEST_F(DecisionTest, PassesThroughScriptsLaunchersAndItself) {
  Binary script = program({});
  script.kind = Binary::Kind::script;
  script.remark = "/bin/bash";
  EXPECT_THAT(decide_on(script).reason,
              AllOf(HasSubstr("/bin/bash"), HasSubstr("put `steelyard run` before the MPI or OpenMP program in it")));
  script.remark = "/usr/bin/python3";
  EXPECT_THAT(decide_on(script).reason,
              AllOf(HasSubstr("has no MPI when it starts"), HasSubstr("`mpirun -n 2 steelyard run ")));
  Binary shell = program({"libc.so.6"});
  shell.path = "/bin/bash";
  EXPECT_THAT(decide_on(shell).reason,
              HasSubstr("put `steelyard run` before the MPI or OpenMP program that it starts"));
  Binary launcher = program({});
  launcher.path = "/usr/bin/mpirun.openmpi";
  EXPECT_THAT(decide_on(launcher).reason, HasSubstr("steelyard run ./app` instead"));
  Binary self = program({"libc.so.6"});
  self.path = site_.self;
  EXPECT_EQ(decide_on(self).kind, Kind::pass_through);
  EXPECT_EQ(decide_on(self).reason, "") << "the inner one has the word";
}

TEST_F(DecisionTest, RefusesWhatNoLibraryCanEnter) {
  Binary binary = program({"libmpi.so.40"});
  binary.privileged = true;
  EXPECT_THAT(decide_on(binary).reason, HasSubstr("setuid"));
  binary.kind = Binary::Kind::static_program;
  EXPECT_THAT(decide_on(binary).reason, HasSubstr("statically linked"));
  EXPECT_EQ(decide_on(binary).status, refused);
  binary.kind = Binary::Kind::damaged;
  EXPECT_EQ(decide_on(binary).status, cannot_run);
}

TEST_F(DecisionTest, RefusesAnEmulatedNodeThatHwlocDoesNotUnderstand) {
  install("openmpi");
  options_.emulate = "package:2 core:24 pu:1";
  EXPECT_EQ(decide_on(program({"libmpi.so.40"})).kind, Kind::measure);
  options_.emulate = "two sockets";
  EXPECT_EQ(decide_on(program({"libmpi.so.40"})).kind, Kind::refuse);
}

TEST_F(DecisionTest, LeavesAProgramItsOwnOpenMpRuntime) {
  install("openmpi");
  for (const auto& binary : {program({"libmpi.so.40", "libgomp.so.1"}), program({"libmpi.so.40", "libomp.so.5"}),
                             program({"libmpi.so.40", "libgomp.so.1", "libomp.so.5"})}) {
    EXPECT_THAT(decide_on(binary).preload, ElementsAre(EndsWith("openmpi.so")));
    EXPECT_THAT(decide_on(binary).remarks, IsEmpty());
  }
}

TEST_F(DecisionTest, LoadsLlvmOpenMpInThePlaceOfGnusIfTold) {
  install("openmpi");
  options_.openmp = OpenMp::llvm;
  auto binary = program({"libmpi.so.40", "libgomp.so.1", "libomp.so.5"});
  EXPECT_THAT(decide_on(binary).preload, ElementsAre(EndsWith("openmpi.so"), "/lib/libomp.so.5"))
      << "the program's own first";
  binary = program({"libmpi.so.40", "libomp.so.5"});
  EXPECT_EQ(decide_on(binary).preload.size(), 1u) << "already in its place";

  // A machine that no libomp exists for.
  binary = program({"libmpi.so.40", "libgomp.so.1"});
  binary.machine = 0xfff0;
  EXPECT_EQ(exchanged_openmp(binary, options_, site_), "");
  EXPECT_THAT(decide_on(binary).reason, HasSubstr("--openmp=llvm needs libomp.so.5 or libomp.so"));
}

/// Debian's runtime is libomp.so.5, with a link for the linker beside it; that of all other distributions is libomp.so.
TEST_F(DecisionTest, FindsLlvmOpenMpByEitherName) {
  install("openmpi");
  options_.openmp = OpenMp::llvm;
  for (const char* name : {"upstream/libomp.so", "debian/libomp.so.5"}) {
    const auto soname = std::filesystem::path(name).filename().string();
    ASSERT_NE(compile(scratch_, name, "int runtime;\n", "-shared -fPIC -Wl,-soname," + soname), "");
  }
  std::filesystem::create_symlink("libomp.so.5", scratch_ / "debian/libomp.so");
  scratch_.write("script/libomp.so", "INPUT(libomp.so.5)\n");
  ElfImage runtime;
  ASSERT_TRUE(read_elf(scratch_ / "upstream/libomp.so", runtime));
  auto binary = program({"libmpi.so.40", "libgomp.so.1"});
  binary.machine = runtime.machine;
  const auto taken = [&](std::initializer_list<std::string> folders) {
    auto& path = site_.environment["LD_LIBRARY_PATH"];
    path.clear();
    for (const auto& folder : folders) path += (scratch_ / folder) + ":";
    const auto decision = decide_on(binary);
    EXPECT_THAT(decision.remarks, IsEmpty());
    return decision.preload.size() == 2 ? decision.preload[1] : "";
  };
  EXPECT_EQ(taken({"upstream"}), scratch_ / "upstream/libomp.so");
  EXPECT_EQ(taken({"debian"}), scratch_ / "debian/libomp.so.5") << "the library before the link to it";
  EXPECT_EQ(taken({"upstream", "debian"}), scratch_ / "upstream/libomp.so") << "the first folder, whatever the name";
  EXPECT_EQ(taken({"debian", "upstream"}), scratch_ / "debian/libomp.so.5");
  EXPECT_EQ(taken({"script", "upstream"}), scratch_ / "upstream/libomp.so") << "no library, and so no runtime";

  binary = program({"libmpi.so.40", "libomp.so"});
  EXPECT_EQ(binary.openmp(), OpenMpRuntime::llvm);
  EXPECT_EQ(taken({"upstream"}), "") << "already in its place";
  binary = program({"libmpi.so.40", "libgomp.so.1", "libomp.so"});
  EXPECT_EQ(taken({"debian"}), "/lib/libomp.so") << "the program's own first";
}

TEST_F(DecisionTest, SaysNothingOfAProgramWithoutOpenMp) {
  install("openmpi");
  const auto decision = decide_on(program({"libmpi.so.40"}));
  EXPECT_EQ(decision.kind, Kind::measure);
  EXPECT_THAT(decision.remarks, IsEmpty());
}

TEST_F(DecisionTest, KeepsTheUsersPreloadAndDropsItsOwn) {
  site_.environment["LD_PRELOAD"] = "/a/libone.so /b/libsteelyard-preload-mpich.so:libtwo.so:";
  EXPECT_THAT(users_preload(site_), ElementsAre("/a/libone.so", "libtwo.so"));
  site_.environment.erase("LD_PRELOAD");
  EXPECT_THAT(users_preload(site_), IsEmpty());
}

TEST_F(DecisionTest, FindsLibrariesInstalledAndBuilt) {
  EXPECT_THAT(flavours_beside(site_.self), IsEmpty());
  scratch_.write("build/intercept/libsteelyard-preload-mpich.so", "");
  scratch_.write("build/intercept/libsteelyard-preload-mpich.so.cmake", "");
  const auto built = flavours_beside(scratch_ / "build/cli/steelyard");
  ASSERT_EQ(built.size(), 1u);
  EXPECT_EQ(built[0].name, "mpich");
  install("openmpi");
  install("mpich");
  EXPECT_EQ(flavours_beside(site_.self).size(), 2u);
}

class DoctorTest : public DecisionTest {
 protected:
  std::string lines(const Binary& binary) const {
    std::string text;
    const Started started = {"", "./app", binary, decide(binary, "./app", options_, site_)};
    for (const auto& finding : examine(started, options_, site_)) {
      text += std::to_string(static_cast<int>(finding.level)) + " " + finding.text + "\n";
    }
    return text;
  }
};

TEST_F(DoctorTest, ExplainsWhatWillHappen) {
  install("openmpi");
  auto binary = program({"libmpi.so.40", "libmpi_mpifh.so.40", "libomp.so.5"});
  binary.imports = {"mpi_init_", "omp_get_thread_num_", "__kmpc_push_num_threads"};
  const auto text = lines(binary);
  EXPECT_THAT(
      text, AllOf(HasSubstr("0 MPI: Open MPI, libmpi.so.40"), HasSubstr("0 MPI calls from Fortran (mpif.h or use mpi)"),
                  HasSubstr("0 OpenMP: libomp.so.5"), HasSubstr("num_threads clauses"), HasSubstr("queries thread IDs"),
                  HasSubstr("thread-local data: none"), HasSubstr("0 preloaded by `steelyard run`: LD_PRELOAD=")));
  EXPECT_THAT(text, testing::Not(HasSubstr("\n2 ")));
}

TEST_F(DoctorTest, NotesThreadsThatItCannotSee) {
  install("openmpi");
  auto binary = program({"libmpi.so.40"});
  EXPECT_THAT(lines(binary), AllOf(HasSubstr("1 OpenMP: none;"), testing::Not(HasSubstr("threads: "))));
  binary.path = scratch_.write("static", std::string("\0libgomp: %s\0", 14));
  EXPECT_THAT(lines(binary), HasSubstr("1 OpenMP: GNU's runtime is linked statically into the program"));
  binary.path = scratch_.write("static", "KMP_AFFINITY");
  binary.imports = {"pthread_create"};
  EXPECT_THAT(lines(binary), AllOf(HasSubstr("1 OpenMP: LLVM's runtime is linked statically into the program"),
                                   HasSubstr("1 threads: the program starts threads by pthread_create"),
                                   HasSubstr("use --lending=off")));
  options_.lending = false;
  binary.imports = {"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"};
  EXPECT_THAT(lines(binary), AllOf(HasSubstr("threads by std::thread"), testing::Not(HasSubstr("--lending=off"))));
  binary = program({"libmpi.so.40", "libtbb.so.12"});
  EXPECT_THAT(lines(binary), HasSubstr("threads by TBB"));
}

TEST_F(DoctorTest, NamesWhatIsInTheWay) {
  auto binary = program({"libmpich.so.12", "libgone.so.1"});
  binary.libraries[1].path = "";
  binary.thread_local_bytes = 64;
  site_.environment = {{"LD_PRELOAD", "/x/libtool.so"}, {"STEELYARD_SPINN", "3"}};
  EXPECT_THAT(lines(binary), AllOf(HasSubstr("2 libgone.so.1 is not found"), HasSubstr("1 thread-local data: 64 bytes"),
                                   HasSubstr("2 ./app uses libmpich.so.12 and needs")));
}

}  // namespace
}  // namespace steelyard::cli
