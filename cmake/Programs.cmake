# SPDX-License-Identifier: BSD-3-Clause
# MPI+OpenMP programs as users build them: through each MPI's own compiler wrapper, with clang + libomp and with gcc +
# libgomp. This project's compiler and options have no part in it.

find_program(STEELYARD_PROGRAMS_CLANG NAMES clang-19 clang-20 clang-18 clang)
find_program(STEELYARD_PROGRAMS_CLANGXX NAMES clang++-19 clang++-20 clang++-18 clang++)
find_program(STEELYARD_PROGRAMS_GCC NAMES gcc)
find_program(STEELYARD_PROGRAMS_GXX NAMES g++)
find_program(STEELYARD_GFORTRAN NAMES gfortran)
# The project's own environment first, so that no test depends on the system's Python packages.
find_program(STEELYARD_PYTHON NAMES python3 PATHS ${PROJECT_SOURCE_DIR}/.venv/bin NO_DEFAULT_PATH)
find_program(STEELYARD_PYTHON NAMES python3)

file(STRINGS ${PROJECT_SOURCE_DIR}/tools/mpi.env STEELYARD_RUN_ENVIRONMENT REGEX "^[A-Z]")

# steelyard_programs(<name> SOURCE <file> [COMPILER <compiler>] [FLAGS ...] [DEPENDS ...])
# Builds ${CMAKE_CURRENT_BINARY_DIR}/<name>.<flavour>.<compiler> for every MPI, and every compiler of the source's
# language if none is named: clang and gcc, clang++ and g++, or gfortran. Appends their names to STEELYARD_PROGRAMS in
# the caller's scope.
function(steelyard_programs name)
  cmake_parse_arguments(ARG "" "SOURCE;COMPILER" "FLAGS;DEPENDS" ${ARGN})
  cmake_path(ABSOLUTE_PATH ARG_SOURCE BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  if(ARG_SOURCE MATCHES "\\.c$")
    set(language CC)
    set(compilers clang=${STEELYARD_PROGRAMS_CLANG} gcc=${STEELYARD_PROGRAMS_GCC})
    set(flags -std=gnu11 -Wall -Wextra -Wshadow -Wpedantic)
  elseif(ARG_SOURCE MATCHES "\\.cpp$")
    set(language CXX)
    set(compilers clang++=${STEELYARD_PROGRAMS_CLANGXX} g++=${STEELYARD_PROGRAMS_GXX})
    set(flags -std=c++17 -Wall -Wextra -Wshadow -Wpedantic -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
  else()
    set(language FC)
    set(compilers gfortran=${STEELYARD_GFORTRAN})
    set(flags -std=f2018 -Wall -Wextra)
  endif()
  if(STEELYARD_WERROR)
    list(APPEND flags -Werror)
  endif()
  set(programs ${STEELYARD_PROGRAMS})
  set(files "")
  foreach(flavour IN LISTS STEELYARD_MPI_FLAVOURS)
    foreach(compiler IN LISTS compilers)
      string(REGEX MATCH "^([^=]+)=(.*)$" matched ${compiler})
      if(NOT CMAKE_MATCH_2 OR NOT STEELYARD_${flavour}_${language}
         OR (ARG_COMPILER AND NOT CMAKE_MATCH_1 STREQUAL ARG_COMPILER))
        continue()
      endif()
      set(program ${name}.${flavour}.${CMAKE_MATCH_1})
      set(modules "")
      if(language STREQUAL FC) # a module over one MPI is nothing to the other
        set(modules -J${CMAKE_CURRENT_BINARY_DIR}/modules.${flavour})
        file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/modules.${flavour})
      endif()
      set(file ${CMAKE_CURRENT_BINARY_DIR}/${program})
      add_custom_command(OUTPUT ${file}
        COMMAND ${CMAKE_COMMAND} -E env OMPI_${language}=${CMAKE_MATCH_2} MPICH_${language}=${CMAKE_MATCH_2}
                ${STEELYARD_${flavour}_${language}} -O2 -g1 -fopenmp ${flags} ${modules} ${ARG_SOURCE} -o ${file}
                ${ARG_FLAGS}
        DEPENDS ${ARG_SOURCE} ${ARG_DEPENDS}
        COMMENT "Building the program ${program}" VERBATIM COMMAND_EXPAND_LISTS)
      list(APPEND files ${file})
      list(APPEND programs ${program})
    endforeach()
  endforeach()
  add_custom_target(programs_${name}_${language} ALL DEPENDS ${files})
  set(STEELYARD_PROGRAMS ${programs} PARENT_SCOPE)
endfunction()

# steelyard_mpi_test(<name> FLAVOUR <mpi> RANKS <n> COMMAND <program> [args ...] [EXPECT <regex>] [LABELS ...]
# [ENVIRONMENT ...] [SLOTS <n>])
# A test under that MPI's launcher, with two threads per rank unless ENVIRONMENT says otherwise. It must end with status
# 0, and its output must match EXPECT (an extended regular expression). SLOTS: its PROCESSORS
# (SteelyardTargets.cmake), 5 by default.
function(steelyard_mpi_test name)
  if(NOT STEELYARD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "FLAVOUR;RANKS;EXPECT;SLOTS" "COMMAND;LABELS;ENVIRONMENT" ${ARGN})
  if(NOT ARG_SLOTS)
    set(ARG_SLOTS 5)
  endif()
  add_test(NAME ${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/expect.sh "${ARG_EXPECT}"
           ${STEELYARD_${ARG_FLAVOUR}_RUN} -n ${ARG_RANKS} ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES TIMEOUT 120 PROCESSORS ${ARG_SLOTS} LABELS "${ARG_LABELS}"
    ENVIRONMENT "${STEELYARD_RUN_ENVIRONMENT};OMP_NUM_THREADS=2;${ARG_ENVIRONMENT}")
endfunction()
