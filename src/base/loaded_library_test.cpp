// SPDX-License-Identifier: BSD-3-Clause
#include "base/loaded_library.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <string>

namespace steelyard::base {
namespace {

// zlib or another library that the test is not linked to would do as well.
constexpr const char* kLibrary = "libgfortran.so.5";
constexpr const char* kFunction = "_gfortran_set_args";

TEST(LoadedLibrary, FindsWhatTheProgramHasOpenedForItself) {
  EXPECT_EQ(find_in_libraries(kFunction, nullptr), nullptr) << "before it is opened";
  void* const opened = dlopen(kLibrary, RTLD_LAZY | RTLD_LOCAL);
  if (opened == nullptr) GTEST_SKIP() << kLibrary << " is not here";
  EXPECT_EQ(dlsym(RTLD_DEFAULT, kFunction), nullptr) << "otherwise this proves nothing";
  void* const function = dlsym(opened, kFunction);
  EXPECT_EQ(find_in_libraries(kFunction, nullptr), function);
  EXPECT_EQ(find_in_libraries(kFunction, function), nullptr) << "asked by that library";
  EXPECT_EQ(library_of(function), opened);
  dlclose(opened);
}

TEST(LoadedLibrary, HasItsOwnNameOrThatOfItsFile) {
  const auto is_loaded = [](std::string name) {
    return dl_iterate_phdr([](dl_phdr_info* library, std::size_t,
                              void* wanted) { return name_of(*library) == *static_cast<std::string*>(wanted) ? 1 : 0; },
                           &name) != 0;
  };
  EXPECT_TRUE(is_loaded("libc.so.6"));
  EXPECT_FALSE(is_loaded("libmpi.so.40"));
  dl_phdr_info nameless{};
  nameless.dlpi_name = "/opt/mpi/lib/libmpi.so.40";
  EXPECT_STREQ(name_of(nameless), "libmpi.so.40");
  nameless.dlpi_name = "libmpi.so";
  EXPECT_STREQ(name_of(nameless), "libmpi.so");
}

TEST(LoadedLibrary, OfNoAddressIsNone) {
  EXPECT_EQ(library_of(nullptr), nullptr);
  int local = 0;
  EXPECT_EQ(library_of(&local), nullptr);
}

TEST(LoadedLibrary, OpenBlasKeepsNoThreadprivateData) {
  EXPECT_TRUE(keeps_no_threadprivate_data("/lib/x86_64-linux-gnu/libopenblas.so.0"));
  EXPECT_TRUE(keeps_no_threadprivate_data("libopenblasp-r0.3.21.so"));
  EXPECT_FALSE(keeps_no_threadprivate_data("/opt/libopenblas/libsolver.so"));
  EXPECT_FALSE(keeps_no_threadprivate_data(""));
}

}  // namespace
}  // namespace steelyard::base
