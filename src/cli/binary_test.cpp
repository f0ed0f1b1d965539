// SPDX-License-Identifier: BSD-3-Clause
#include "cli/binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <random>

#include "cli/test_support.h"

namespace steelyard::cli {
namespace {

using namespace testing_support;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using Kind = Binary::Kind;

constexpr const char* nothing = "int main(void) { return 0; }\n";
constexpr const char* with_openmp =
    "#include <omp.h>\n"
    "int main(void) { int n = 0; omp_set_num_threads(2);\n"
    "#pragma omp parallel reduction(+:n)\n"
    "n++; return n; }\n";
constexpr const char* with_mpi =
    "#include <mpi.h>\n"
    "int main(int c, char** v) { MPI_Init(&c, &v); MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); return 0; }\n";

class BinaryTest : public testing::Test {
 protected:
  Binary read(const std::string& path, std::string_view library_path = "") const {
    return read_binary(path, LibrarySearch(library_path));
  }
  Scratch scratch_;
};

TEST_F(BinaryTest, ReadsAPlainProgram) {
  const auto binary = read(compile(scratch_, "a", "#include <stdio.h>\nint main(void) { return puts(\"x\"); }\n"));
  EXPECT_EQ(binary.kind, Kind::program) << binary.remark;
  EXPECT_EQ(binary.mpi(), Mpi::none);
  EXPECT_EQ(binary.openmp(), OpenMpRuntime::none);
  EXPECT_EQ(binary.thread_local_bytes, 0u);
  EXPECT_FALSE(binary.privileged);
  EXPECT_TRUE(binary.imports_function("puts"));
  EXPECT_FALSE(binary.imports_function("put"));
  EXPECT_FALSE(binary.imports_function("main")) << "defined, not imported";
  ASSERT_TRUE(binary.loads("libc.so"));
  for (const auto& library : binary.libraries) EXPECT_NE(library.path, "") << library.name;
}

TEST_F(BinaryTest, FindsGnuOpenMp) {
  const auto path = compile(scratch_, "a", with_openmp, "-fopenmp");
  ASSERT_NE(path, "");
  const auto binary = read(path);
  EXPECT_EQ(binary.openmp(), OpenMpRuntime::gnu);
  EXPECT_TRUE(binary.imports_function("omp_set_num_threads"));
  EXPECT_TRUE(binary.imports_function("GOMP_parallel"));
  EXPECT_NE(binary.gnu_openmp()->path, "");
}

TEST_F(BinaryTest, FindsLlvmOpenMp) {
  if (std::string(STEELYARD_TEST_CLANG).empty()) GTEST_SKIP() << "no clang here";
  const auto path = compile(scratch_, "a", with_openmp, "-fopenmp", STEELYARD_TEST_CLANG);
  if (path.empty()) GTEST_SKIP() << "this clang has no OpenMP";
  const auto binary = read(path);
  EXPECT_EQ(binary.openmp(), OpenMpRuntime::llvm);
  EXPECT_TRUE(binary.imports_function("__kmpc_fork_call"));
}

TEST_F(BinaryTest, TellsTheMpisApart) {
  const std::pair<std::string, Mpi> flavours[] = {{STEELYARD_TEST_openmpi_CC, Mpi::openmpi},
                                                  {STEELYARD_TEST_mpich_CC, Mpi::mpich}};
  for (const auto& [compiler, mpi] : flavours) {
    if (compiler.empty()) continue;
    const auto path = compile(scratch_, "a", with_mpi, "", compiler);
    ASSERT_NE(path, "") << compiler;
    const auto binary = read(path);
    EXPECT_EQ(binary.mpi(), mpi) << compiler;
    EXPECT_TRUE(binary.imports_function("MPI_Init"));
    EXPECT_NE(binary.mpi_library()->path, "");
  }
}

TEST(MpiOf, KnowsLibrariesByName) {
  EXPECT_EQ(mpi_of("libmpi.so.40"), Mpi::openmpi);
  EXPECT_EQ(mpi_of("libmpi.so.12"), Mpi::mpich);
  EXPECT_EQ(mpi_of("libmpich.so.12"), Mpi::mpich);
  EXPECT_EQ(mpi_of("libmpi_gnu_123.so.12"), Mpi::mpich);
  EXPECT_EQ(mpi_of("libmpi.so.20"), Mpi::unknown);
  EXPECT_EQ(mpi_of("libmpi_abi.so.0"), Mpi::abi);
  EXPECT_EQ(mpi_of("libmpi_abi.so.1"), Mpi::abi);
  EXPECT_EQ(mpi_of("libmpi_abi.so.2"), Mpi::unknown);
  EXPECT_EQ(mpi_of("libmpi_mpifh.so.40"), Mpi::none);
  EXPECT_EQ(mpi_of("libmpi_cxx.so.40"), Mpi::none);
  EXPECT_EQ(mpi_of("libmpi_usempif08.so.40"), Mpi::none);
  EXPECT_EQ(mpi_of("libmpichfort.so.12"), Mpi::none);
}

TEST(MpiOf, TellsOldOpenMpiFromMpichOfTheSameNumber) {
  Binary binary;
  binary.libraries = {{"libmpi.so.12", ""}};
  EXPECT_EQ(binary.mpi(), Mpi::mpich);
  binary.libraries.push_back({"libopen-rte.so.12", ""});
  EXPECT_EQ(binary.mpi(), Mpi::unknown);
}

TEST_F(BinaryTest, MeasuresThreadLocalData) {
  const auto path = compile(scratch_, "a", "_Thread_local char big[1000]; int main(void) { return big[1]; }\n");
  EXPECT_EQ(read(path).thread_local_bytes, 1000u);
}

// A library beside the program is the program's own; one elsewhere is, where it has parallel regions. OpenBLAS is not.
TEST_F(BinaryTest, MeasuresThreadLocalDataOfItsLibraries) {
  std::filesystem::create_directory(scratch_ / "away");
  const auto library = [&](const std::string& name, const std::string& source, const std::string& flags) {
    const auto path = compile(scratch_, "lib" + name + ".so", source, "-shared -fPIC " + flags);
    if (name != "beside") std::filesystem::rename(path, scratch_ / ("away/lib" + name + ".so"));
  };
  library("beside", "_Thread_local char a[100]; int f(void) { return a[1]; }\n", "");
  library("regions", "_Thread_local char b[10];\nvoid g(void) {\n#pragma omp parallel\nb[1] = 1;\n}\n", "-fopenmp");
  library("openblas", "_Thread_local char d[9];\nvoid k(void) {\n#pragma omp parallel\nd[1] = 1;\n}\n", "-fopenmp");
  library("other", "_Thread_local char c[1]; int h(void) { return c[0]; }\n", "");
  const auto here = scratch_ / "";
  const auto path = compile(
      scratch_, "a", "int f(void), h(void); void g(void), k(void); int main(void) { g(); k(); return f() + h(); }\n",
      "-L" + here + " -L" + here + "away -lbeside -lregions -lopenblas -lother -Wl,-rpath," + here + ":" + here +
          "away");
  ASSERT_NE(path, "");
  const auto binary = read(path);
  EXPECT_EQ(binary.thread_local_bytes, 110u);
  EXPECT_EQ(binary.thread_local_in, (std::vector<std::string>{"libbeside.so", "libregions.so"}));
}

TEST_F(BinaryTest, SeesStaticPrograms) {
  for (const char* flags : {"-static", "-static-pie"}) {
    const auto path = compile(scratch_, "a", nothing, flags);
    if (path.empty()) continue;  // no static C library here
    EXPECT_EQ(read(path).kind, Kind::static_program) << flags;
  }
}

TEST_F(BinaryTest, SeesPrivileges) {
  const auto path = compile(scratch_, "a", nothing);
  for (const mode_t bit : {S_ISUID, S_ISGID}) {
    ASSERT_EQ(chmod(path.c_str(), 0755 | bit), 0);
    EXPECT_TRUE(read(path).privileged) << bit;
  }
}

/// app -> libone.so (by the run path) -> libtwo.so (in another directory).
TEST_F(BinaryTest, FollowsLibrariesOfLibraries) {
  scratch_.write("lib/x", "");
  scratch_.write("far/x", "");
  ASSERT_NE(compile(scratch_, "far/libtwo.so", "int two(void) { return 2; }\n", "-shared -fPIC"), "");
  const auto two = "-L" + (scratch_ / "far") + " -ltwo ";
  ASSERT_NE(compile(scratch_, "lib/libone.so", "int two(void); int one(void) { return two(); }\n",
                    "-shared -fPIC " + two + "-Wl,--enable-new-dtags,-rpath,'$ORIGIN/../far'"),
            "");
  const auto link = "-L" + (scratch_ / "lib") + " -lone -Wl,--allow-shlib-undefined,";
  const char* source = "int one(void); int main(void) { return one(); }\n";

  const auto path_of_two = [&](const Binary& binary) {
    for (const auto& library : binary.libraries) {
      if (library.name == "libtwo.so") return library.path;
    }
    return std::string("not in the closure");
  };
  for (const char* kind : {"--enable-new-dtags,-rpath,'$ORIGIN/lib'", "--disable-new-dtags,-rpath,'${ORIGIN}/lib'"}) {
    const auto app = compile(scratch_, "app", source, link + kind);
    ASSERT_NE(app, "");
    EXPECT_THAT(path_of_two(read(app)), HasSubstr("/far/libtwo.so")) << kind;
  }
  const auto lost = compile(scratch_, "app", source, link + "--as-needed");
  EXPECT_EQ(path_of_two(read(lost)), "not in the closure");
  EXPECT_THAT(path_of_two(read(lost, scratch_ / "lib")), HasSubstr("/far/libtwo.so")) << "by LD_LIBRARY_PATH";
  const auto libraries = read(lost).libraries;
  ASSERT_FALSE(libraries.empty());
  EXPECT_EQ(libraries[0].name, "libone.so");
  EXPECT_EQ(libraries[0].path, "");
}

TEST_F(BinaryTest, PassesOverLibrariesThatCannotBeMeant) {
  ASSERT_NE(compile(scratch_, "libone.so", "int one(void) { return 1; }\n", "-shared -fPIC"), "");
  const auto app =
      compile(scratch_, "app", "int one(void); int main(void) { return one(); }\n", "-L" + (scratch_ / "") + " -lone");
  scratch_.write("bad/libone.so", "INPUT(-lone)\n");
  const auto binary = read(app, (scratch_ / "bad") + ":" + (scratch_ / ""));
  EXPECT_THAT(binary.libraries[0].path, Not(HasSubstr("/bad/")));
  EXPECT_NE(binary.libraries[0].path, "");
}

// The linker takes the first library whose header is right, even if the rest of the file is damaged.
TEST_F(BinaryTest, TakesALibraryByItsHeaderAsTheLinkerDoes) {
  const auto library = compile(scratch_, "libone.so", "int one(void) { return 1; }\n", "-shared -fPIC");
  ASSERT_NE(library, "");
  const auto app =
      compile(scratch_, "app", "int one(void); int main(void) { return one(); }\n", "-L" + (scratch_ / "") + " -lone");
  const auto whole = contents(library);
  auto foreign = whole;
  foreign[18] = static_cast<char>(foreign[18] ^ 1);  // e_machine
  scratch_.write("foreign/libone.so", foreign);
  scratch_.write("cut/libone.so", whole.substr(0, 100));
  EXPECT_EQ(machine_of(scratch_ / "cut/libone.so"), machine_of(library));
  EXPECT_NE(machine_of(library), 0);
  EXPECT_EQ(machine_of(scratch_ / "none"), 0);
  const auto binary = read(app, (scratch_ / "foreign") + ":" + (scratch_ / "cut") + ":" + (scratch_ / ""));
  EXPECT_THAT(binary.libraries[0].path, HasSubstr("/cut/"));
}

TEST_F(BinaryTest, FindsHooksAmongFunctionsOfCxx) {
  const auto library = compile(scratch_, "libone.so",
                               "void _Z3onev(void) {}\nint omp_get_num_threads(void) { return 1; }\n"
                               "void _Z3twov(void) {}\nvoid MPI_Mine(void) {}\nint MPI_DATA = 1;\n",
                               "-shared -fPIC");
  ElfImage image;
  ASSERT_TRUE(read_elf(library, image));
  EXPECT_THAT(image.hooks, testing::UnorderedElementsAre("omp_get_num_threads", "MPI_Mine"));
}

TEST_F(BinaryTest, NamesTheInterpreterOfAScript) {
  const std::pair<const char*, const char*> scripts[] = {
      {"#!/bin/bash\nexec app\n", "/bin/bash"},
      {"#! /usr/bin/env python3 -u\n", "/usr/bin/env python3"},
      {"#!/usr/bin/env -S X=4 julia --project\n", "/usr/bin/env julia"},
      {"#!/usr/bin/env", "/usr/bin/env"},
      {"#!", ""},
      {"echo hello\n", "/bin/sh"},
      {"", "/bin/sh"},
      {"\x7f"
       "EL",
       "/bin/sh"}};
  for (const auto& [text, interpreter] : scripts) {
    const auto binary = read(scratch_.write("script", text));
    EXPECT_EQ(binary.kind, Kind::script) << text;
    EXPECT_EQ(binary.remark, interpreter) << text;
  }
}

TEST_F(BinaryTest, SurvivesEveryTruncation) {
  const auto bytes = contents(compile(scratch_, "a", with_openmp, "-fopenmp"));
  ASSERT_GT(bytes.size(), 4096u);
  int damaged = 0;
  for (std::size_t size = 4; size < bytes.size(); size += size < 1100 ? 7 : 509) {
    const auto binary = read(scratch_.write("cut", bytes.substr(0, size)));
    EXPECT_NE(binary.kind, Kind::script) << size;
    EXPECT_NE(binary.kind, Kind::static_program) << size;
    damaged += binary.kind == Kind::damaged;
  }
  EXPECT_GT(damaged, 100);
}

TEST_F(BinaryTest, SurvivesRandomDamage) {
  const auto bytes = contents(compile(scratch_, "a", with_openmp, "-fopenmp"));
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    auto broken = bytes;
    for (int hits = 0; hits < 1 + i % 40; ++hits) {
      // Half of the hits go into the headers, where they hurt; the magic number stays.
      const std::size_t range = hits % 2 ? bytes.size() - 4 : 1200;
      broken[4 + random() % range] = static_cast<char>(random());
    }
    const auto binary = read(scratch_.write("broken", broken));
    EXPECT_NE(binary.kind, Kind::script);
    EXPECT_EQ(binary.remark.empty(), binary.kind == Kind::program || binary.kind == Kind::static_program);
  }
}

TEST_F(BinaryTest, SurvivesPureNoise) {
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    std::string noise =
        "\x7f"
        "ELF\x02\x01\x01";
    for (int n = 0; n < 300; ++n) noise += static_cast<char>(random());
    EXPECT_THAT(read(scratch_.write("noise", noise)).kind, AnyOf(Kind::damaged, Kind::foreign));
  }
}

TEST_F(BinaryTest, TellsForeignFromDamaged) {
  auto bytes = contents(compile(scratch_, "a", nothing));
  bytes[4] = 1;  // ELFCLASS32
  EXPECT_EQ(read(scratch_.write("b", bytes)).kind, Kind::foreign);
  bytes[4] = 2;
  bytes[18] = static_cast<char>(bytes[18] + 1);  // e_machine
  const auto binary = read(scratch_.write("b", bytes));
  EXPECT_EQ(binary.kind, Kind::foreign);
  EXPECT_THAT(binary.remark, HasSubstr("ELF machine"));
}

TEST(LinkerCache, FindsTheCLibraryAndNothingInOtherFiles) {
  const auto cache = read_linker_cache("/etc/ld.so.cache");
  EXPECT_TRUE(cache.empty() || cache.contains("libc.so.6"));
  EXPECT_TRUE(read_linker_cache("/etc/passwd").empty());
  EXPECT_TRUE(read_linker_cache("/nonexistent").empty());
  const Scratch scratch;
  const auto bytes = contents("/etc/ld.so.cache");
  for (std::size_t size = 0; size < bytes.size(); size += 997)
    read_linker_cache(scratch.write("cache", bytes.substr(0, size)));
}

}  // namespace
}  // namespace steelyard::cli
