# SPDX-License-Identifier: BSD-3-Clause
# What every target of the project shares, so that a folder's CMakeLists.txt is a list of its rooms and nothing else.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc>=2.0)
# A target with the property STEELYARD_WHEEL links hwloc as an archive: Wheel.cmake.
set(STEELYARD_IN_WHEEL $<BOOL:$<TARGET_PROPERTY:STEELYARD_WHEEL>>)
add_library(steelyard_hwloc INTERFACE)
target_link_libraries(steelyard_hwloc INTERFACE $<IF:${STEELYARD_IN_WHEEL},steelyard_hwloc_archive,PkgConfig::HWLOC>)

add_library(steelyard_settings INTERFACE)
target_compile_options(steelyard_settings INTERFACE -Wall -Wextra -Wshadow -Wpedantic
  $<$<BOOL:${STEELYARD_WERROR}>:-Werror>)
target_compile_definitions(steelyard_settings INTERFACE STEELYARD_VERSION="${PROJECT_VERSION}")
target_include_directories(steelyard_settings INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(steelyard_settings INTERFACE steelyard_fmt Threads::Threads)
if(STEELYARD_SANITIZE)  # an enumeration of the C API may have any value
  target_compile_options(steelyard_settings INTERFACE -fsanitize=${STEELYARD_SANITIZE} -fno-sanitize=enum
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(steelyard_settings INTERFACE -fsanitize=${STEELYARD_SANITIZE})
endif()

# The preload library must not bring a second libfmt into a user's process, and not every libfmt comes as an archive. So
# it is compiled here, once: header-only, as other versions are taken, it makes up half of the time that a build takes.
if(fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10)
  add_library(steelyard_fmt STATIC ${CMAKE_SOURCE_DIR}/src/base/fmt.cpp)
  target_include_directories(steelyard_fmt SYSTEM PUBLIC
    $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
  if(STEELYARD_SANITIZE)
    target_compile_options(steelyard_fmt PRIVATE -fsanitize=${STEELYARD_SANITIZE} -fno-omit-frame-pointer)
  endif()
else()
  add_library(steelyard_fmt INTERFACE)
  target_link_libraries(steelyard_fmt INTERFACE fmt::fmt-header-only)
endif()

# The headers of the standard library, fmt and GoogleTest take half of the time to compile a source, so they are
# compiled once for the libraries and once for the tests. Sources still include what they use: clang-tidy and builds
# with ccache, which does not work with precompiled headers, report a header that is missing.
set(PRECOMPILED <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <cstring> <functional> <map> <memory> <mutex>
  <optional> <span> <string> <string_view> <unordered_map> <utility> <vector> <fmt/format.h>)
if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.cpp CONTENT "")
  add_library(steelyard_precompiled OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/precompiled.cpp)
  target_link_libraries(steelyard_precompiled PRIVATE steelyard_settings)
  target_precompile_headers(steelyard_precompiled PRIVATE ${PRECOMPILED})
  if(STEELYARD_TESTS)
    add_executable(steelyard_precompiled_tests EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(steelyard_precompiled_tests PRIVATE steelyard_settings GTest::gtest_main GTest::gmock)
    target_precompile_headers(steelyard_precompiled_tests PRIVATE <gmock/gmock.h> <gtest/gtest.h> ${PRECOMPILED})
  endif()
endif()

# steelyard_precompile(<target>): a library's target, whose sources are compiled with the options of
# steelyard_library().
function(steelyard_precompile target)
  if(TARGET steelyard_precompiled)
    target_precompile_headers(${target} REUSE_FROM steelyard_precompiled)
  endif()
endfunction()

# steelyard_library(<name> SOURCES ... [LINK ...]): a static, position-independent floor or part of one.
function(steelyard_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC steelyard_settings ${ARG_LINK})
  steelyard_precompile(${name})
endfunction()

# PROCESSORS of a test counts slots, of which two cores have five: `make test` has ctest run as many tests at once as
# take all. 1: a test that sleeps or waits for most of its time, which is what a test without the property is taken for:
# one more of them beside two that compute; 2: a core; 5: two cores, or expectations of times, for which a machine of
# two cores has to be free. COST 10: begun before the many short ones.

# steelyard_test_program(<name> SOURCES ... [LINK ...]): a GoogleTest program.
function(steelyard_test_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE steelyard_settings ${ARG_LINK})
  # OpenMP defines a macro that the headers look at.
  if(TARGET steelyard_precompiled_tests AND NOT ARG_LINK MATCHES "OpenMP")
    target_precompile_headers(${name} REUSE_FROM steelyard_precompiled_tests)
  endif()
endfunction()

# steelyard_test(<name> SOURCES ... [LINK ...] [UNSANITIZED] [EXPLORE]): a GoogleTest program without MPI. It has the
# name of its first source, with the folder before it if two folders have a test of that name (loops_plan_test:
# src/loops/plan_test.cpp).
# unit_tests.txt in the build directory lists the names and first sources.
# UNSANITIZED: not in a build with sanitizers, as it simulates for long, starts other programs, or writes what other
# tests read. The other tests are left out of a build without sanitizers if STEELYARD_SANITIZED_TESTS is off.
# EXPLORE: its sources have atomics whose interleavings it explores (src/base/explorer.h). It is UNSANITIZED, as that
# takes its time if it is not optimised.
function(steelyard_test name)
  if(NOT STEELYARD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "UNSANITIZED;EXPLORE" "" "SOURCES;LINK" ${ARGN})
  if(ARG_UNSANITIZED OR ARG_EXPLORE)
    if(STEELYARD_SANITIZE)
      return()
    endif()
  elseif(NOT STEELYARD_SANITIZED_TESTS)
    return()
  endif()
  steelyard_test_program(${name} SOURCES ${ARG_SOURCES} LINK GTest::gtest_main GTest::gmock ${ARG_LINK})
  if(ARG_EXPLORE)
    target_compile_definitions(${name} PRIVATE STEELYARD_EXPLORE)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 120 PROCESSORS 2 LABELS unit)
  list(GET ARG_SOURCES 0 source)
  set_property(GLOBAL APPEND_STRING PROPERTY STEELYARD_UNIT_TESTS "${name} ${CMAKE_CURRENT_SOURCE_DIR}/${source}\n")
endfunction()

# steelyard_benchmark(<name> SOURCES ... [LINK ...]): a Google Benchmark beside the hot path that it measures.
function(steelyard_benchmark name)
  if(NOT STEELYARD_BENCHMARKS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE steelyard_settings benchmark::benchmark_main ${ARG_LINK})
endfunction()
