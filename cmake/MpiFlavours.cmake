# SPDX-License-Identifier: BSD-3-Clause
# Finds every MPI on this machine, so that what speaks MPI is compiled once per MPI (a handle of one means nothing to
# the other). FindMPI knows one MPI at a time; the wrappers' own words tell the rest.
#   STEELYARD_MPI_FLAVOURS                        list: openmpi mpich
#   STEELYARD_MPI_ABIS                            these, and abi: the MPI standard's ABI, which needs no MPI here
#   MPI::openmpi, MPI::mpich, MPI::abi            imported interface targets
#   STEELYARD_<flavour>_CC, _FC, _RUN             compiler wrappers and launcher
set(STEELYARD_MPI_FLAVOURS "")

# openmpi, mpich or nothing: whose compiler wrapper this is. MPICH's descendants (Intel MPI, MVAPICH) answer as it does.
function(steelyard_flavour_of wrapper result)
  execute_process(COMMAND ${wrapper} --showme:version OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE failed)
  if(NOT failed AND said MATCHES "Open MPI")
    set(${result} openmpi PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND ${wrapper} -compile_info OUTPUT_VARIABLE said ERROR_QUIET RESULT_VARIABLE failed)
  execute_process(COMMAND ${wrapper} -link_info OUTPUT_VARIABLE links ERROR_QUIET RESULT_VARIABLE also_failed)
  if(NOT failed AND NOT also_failed AND "${said} ${links}" MATCHES "-lmpi")
    set(${result} mpich PARENT_SCOPE)
  else()
    set(${result} "" PARENT_SCOPE)
  endif()
endfunction()

# Debian's wrappers have their flavour in the name. Elsewhere there is a plain mpicc, in the PATH (a module, Spack,
# MPI's own installation) or in the distribution's place, which is asked whose it is. STEELYARD_<flavour>_ROOT comes
# before all.
function(steelyard_find_wrapper flavour)
  set(variable STEELYARD_${flavour}_CC)
  if(STEELYARD_${flavour}_ROOT)
    find_program(${variable} NAMES mpicc.${flavour} PATHS ${STEELYARD_${flavour}_ROOT}/bin NO_DEFAULT_PATH)
    steelyard_find_plain(${flavour} ${STEELYARD_${flavour}_ROOT}/bin NO_DEFAULT_PATH)
  endif()
  find_program(${variable} NAMES mpicc.${flavour})
  steelyard_find_plain(${flavour} "" "")
  steelyard_find_plain(${flavour} /usr/lib64/${flavour}/bin NO_DEFAULT_PATH)
endfunction()

function(steelyard_find_plain flavour places only_there)
  set(variable STEELYARD_${flavour}_CC)
  if(DEFINED ${variable} AND NOT ${variable} MATCHES "-NOTFOUND$")  # found, or OFF: not wanted
    return()
  endif()
  unset(plain)
  find_program(plain NAMES mpicc PATHS ${places} ${only_there} NO_CACHE)
  if(plain)
    steelyard_flavour_of(${plain} found)
    if(found STREQUAL flavour)
      set(${variable} ${plain} CACHE FILEPATH "Compiler wrapper of ${flavour}" FORCE)
    endif()
  endif()
endfunction()

foreach(flavour openmpi mpich)
  steelyard_find_wrapper(${flavour})
  if(NOT STEELYARD_${flavour}_CC)
    continue()
  endif()
  # The others of the same MPI lie beside it and are named alike: mpifort.openmpi beside mpicc.openmpi.
  cmake_path(GET STEELYARD_${flavour}_CC PARENT_PATH beside)
  string(REGEX MATCH "mpicc(\\.[^/]*)?$" ending ${STEELYARD_${flavour}_CC})
  set(ending "${CMAKE_MATCH_1}")
  find_program(STEELYARD_${flavour}_CXX NAMES mpicxx${ending} PATHS ${beside} NO_DEFAULT_PATH)
  find_program(STEELYARD_${flavour}_FC NAMES mpifort${ending} PATHS ${beside} NO_DEFAULT_PATH)
  find_program(STEELYARD_${flavour}_RUN NAMES mpirun${ending} PATHS ${beside} NO_DEFAULT_PATH)
  if(flavour STREQUAL openmpi)
    set(ask --showme:compile --showme:link)
  else()
    set(ask -compile_info -link_info)
  endif()
  list(GET ask 0 ask_compile)
  list(GET ask 1 ask_link)
  execute_process(COMMAND ${STEELYARD_${flavour}_CC} ${ask_compile}
    OUTPUT_VARIABLE compile_line OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${STEELYARD_${flavour}_CC} ${ask_link}
    OUTPUT_VARIABLE link_line OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(words UNIX_COMMAND "${compile_line} ${link_line}")
  add_library(mpi_${flavour} INTERFACE)
  add_library(MPI::${flavour} ALIAS mpi_${flavour})
  foreach(word IN LISTS words)
    if(word MATCHES "^-I(.+)")
      target_include_directories(mpi_${flavour} SYSTEM INTERFACE ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-L(.+)")
      target_link_directories(mpi_${flavour} INTERFACE ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-l.+")
      target_link_libraries(mpi_${flavour} INTERFACE ${word})
    endif()
  endforeach()
  list(APPEND STEELYARD_MPI_FLAVOURS ${flavour})
endforeach()
list(REMOVE_DUPLICATES STEELYARD_MPI_FLAVOURS)
if(NOT STEELYARD_MPI_FLAVOURS)
  message(FATAL_ERROR
    "No MPI found: looked for mpicc.openmpi, mpicc.mpich and an mpicc that is Open MPI's or MPICH's. Install one "
    "(Debian: libopenmpi-dev, libmpich-dev), load its module, or use -DSTEELYARD_openmpi_CC=/path/to/mpicc, or "
    "-DSTEELYARD_mpich_CC=... (also for Intel MPI, MVAPICH and Cray MPICH).")
endif()
message(STATUS "MPI flavours: ${STEELYARD_MPI_FLAVOURS}")

set(STEELYARD_MPI_ABIS ${STEELYARD_MPI_FLAVOURS} abi)
add_library(mpi_abi INTERFACE)
add_library(MPI::abi ALIAS mpi_abi)
target_include_directories(mpi_abi SYSTEM INTERFACE ${PROJECT_SOURCE_DIR}/src/intercept/mpi/standard_abi)
