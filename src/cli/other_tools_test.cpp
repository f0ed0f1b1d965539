// SPDX-License-Identifier: BSD-3-Clause
#include "cli/other_tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/binary.h"
#include "cli/decision.h"
#include "cli/test_support.h"

namespace steelyard::cli {
namespace {

using namespace testing_support;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ElfImage image(std::vector<std::string> defined, std::vector<std::string> called = {}) {
  ElfImage result;
  result.hooks = std::move(defined);
  result.undefined = std::move(called);
  return result;
}

TEST(HooksTest, TellsHowALibraryTakesPartInMpi) {
  const auto wrapper = hooks_of(image({"MPI_Barrier", "MPI_Init"}, {"PMPI_Init", "PMPI_Barrier"}));
  EXPECT_EQ(wrapper.wrapped, "MPI_Init");
  EXPECT_EQ(hooks_of(image({"MPI_Bcast", "MPI_Send"}, {"PMPI_Bcast", "MPI_Init"})).wrapped, "MPI_Bcast")
      << "MPI_Send is defined in another way";
  const auto darshan = hooks_of(image({"MPI_Init", "PMPI_Init"}, {"PMPI_Initialized"}));
  EXPECT_EQ(darshan.wrapped, "");
  EXPECT_EQ(darshan.renamed, "MPI_Init");
  EXPECT_EQ(hooks_of(image({"MPI_Init"})).other, "MPI_Init");
  const auto program = hooks_of(image({"MPI_data_of_mine"}, {"MPI_Init", "PMPI_Barrier"}));
  EXPECT_EQ(program.wrapped + program.renamed + program.other, "") << "a program that calls PMPI_ is no tool";
}

class OtherToolsTest : public testing::Test {
 protected:
  void bring(std::string name, const ElfImage& image) {
    binary_.libraries.push_back({name, "/lib/" + name});
    binary_.libraries.back().hooks = hooks_of(image);
  }
  std::vector<std::string> paths() const {
    std::vector<std::string> result;
    for (const auto& tool : other_tools(binary_, site_)) result.push_back(tool.path);
    return result;
  }
  std::vector<std::string> said(bool at_start_only) const {
    std::vector<std::string> result;
    for (auto& [text, at_start] : remarks_on(other_tools(binary_, site_), binary_, options_, site_)) {
      if (at_start || !at_start_only) result.push_back(text);
    }
    return result;
  }
  Binary binary_;
  base::Options options_;
  Site site_;
};

TEST_F(OtherToolsTest, MpiAndOpenMpRuntimesAreNoTools) {
  bring("libmpi.so.40", image({"MPI_Init", "PMPI_Init"}));
  bring("libmpich.so.12", image({"MPI_Init", "PMPI_Init"}));
  bring("libomp.so.5", image({"ompt_start_tool"}));
  EXPECT_THAT(paths(), IsEmpty());
}

TEST_F(OtherToolsTest, SanitizersAreFirst) {
  bring("libtool.so", image({"MPI_Init"}, {"PMPI_Init"}));
  bring("libasan.so.8", image({"__asan_init"}));
  EXPECT_THAT(paths(), ElementsAre("/lib/libasan.so.8", "/lib/libtool.so"));
  for (const auto& tool : other_tools(binary_, site_)) EXPECT_TRUE(tool.goes_first());
  EXPECT_THAT(said(true), ElementsAre(HasSubstr("libtool.so wraps MPI (it defines MPI_Init and calls PMPI_Init)")))
      << "a sanitizer is no conflict";
}

TEST_F(OtherToolsTest, DarshanStaysBehind) {
  bring("libdarshan.so", image({"MPI_Init", "PMPI_Init"}));
  EXPECT_FALSE(other_tools(binary_, site_).front().goes_first());
  EXPECT_THAT(said(true), IsEmpty());
  EXPECT_THAT(said(false), ElementsAre(HasSubstr("as Darshan does")));
}

TEST_F(OtherToolsTest, NamesWhatIsNotMeasured) {
  bring("libfirst.so", image({"MPI_Init"}, {"PMPI_Init"}));
  bring("libsecond.so", image({"MPI_Init"}, {"PMPI_Init"}));
  bring("libblind.so", image({"MPI_Init"}));
  EXPECT_THAT(said(true), ElementsAre(HasSubstr("libfirst.so wraps MPI"),
                                      AllOf(HasSubstr("libsecond.so"), HasSubstr("another tool does so before it")),
                                      AllOf(HasSubstr("libblind.so"), HasSubstr("does not see MPI calls"))));
}

TEST_F(OtherToolsTest, DlbMovesCoresToo) {
  bring("libdlb.so", image({"DLB_Init"}));
  EXPECT_THAT(said(true), ElementsAre(HasSubstr("libdlb.so is DLB")));
  options_.observe = true;
  EXPECT_THAT(said(true), IsEmpty());
}

TEST_F(OtherToolsTest, AnOpenMpToolMattersBesideRuntimesThatAskForOne) {
  bring("libscorep.so", image({"MPI_Init", "ompt_start_tool"}, {"PMPI_Init"}));
  EXPECT_THAT(said(false), ElementsAre(HasSubstr("wraps MPI")));
  bring("libomp.so.5", image({"ompt_start_tool"}));
  EXPECT_THAT(said(true), ElementsAre(HasSubstr("wraps MPI"), HasSubstr("is an OpenMP tool")))
      << "it is before Steelyard, which the OpenMP runtime does not ask then";
}

TEST_F(OtherToolsTest, OneFileUnderTwoPathsIsOneTool) {
  const Scratch scratch;
  const auto path = scratch.write("libtool.so", "");
  std::filesystem::create_symlink(path, scratch / "liblink.so");
  const auto wrapper = image({"MPI_Init"}, {"PMPI_Init"});
  for (const char* name : {"libtool.so", "liblink.so"}) {
    bring(name, wrapper);
    binary_.libraries.back().path = scratch / name;
  }
  EXPECT_THAT(paths(), ElementsAre(path));
  EXPECT_THAT(said(true), ElementsAre(HasSubstr("libtool.so wraps MPI")));
}

TEST_F(OtherToolsTest, NamesFilesOfOmpToolLibrariesThatDoNotExist) {
  const Scratch scratch;
  const auto path = scratch.write("libtool.so", "");
  site_.environment["OMP_TOOL_LIBRARIES"] = "/nowhere/a.so:" + path + ":/nowhere/b.so";
  EXPECT_THAT(said(false), IsEmpty()) << "no runtime reads it";
  bring("libomp.so.5", image({"ompt_start_tool"}));
  EXPECT_THAT(said(true), ElementsAre(HasSubstr("names /nowhere/a.so:/nowhere/b.so, which cannot be read")));
  EXPECT_THAT(said(false), ElementsAre(HasSubstr("cannot be read"),
                                       HasSubstr("OMP_TOOL_LIBRARIES is " + path +
                                                 ": if that library has an OpenMP tool and the tool is on")));
}

}  // namespace
}  // namespace steelyard::cli
