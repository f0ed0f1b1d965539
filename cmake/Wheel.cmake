# SPDX-License-Identifier: BSD-3-Clause
# The command and the preload libraries as the wheel has them (`make wheel`): the same objects as elsewhere, linked a
# second time so that glibc and libgcc are all that they need from the machine. The command has no libdw:
# packaging/wheel/README.md. The target `wheel` lays them out in wheel/tree as an installation has them; tools/wheel.sh
# makes the wheel of that.
find_library(STEELYARD_hwloc_ARCHIVE libhwloc.a HINTS ${HWLOC_LIBRARY_DIRS})
# LLVM's OpenMP runtime, for --openmp=llvm. It is beside the header that was found, for Debian's packages of LLVM.
find_library(STEELYARD_LLVM_OPENMP NAMES libomp.so.5 libomp.so
  PATHS ${STEELYARD_OMPT_INCLUDE}/../../../.. NO_DEFAULT_PATH)
find_library(STEELYARD_LLVM_OPENMP NAMES libomp.so.5 libomp.so)
if(NOT STEELYARD_hwloc_ARCHIVE OR NOT STEELYARD_LLVM_OPENMP)
  message(STATUS "No wheel can be made: it needs libhwloc.a (Debian: libhwloc-dev) and LLVM's libomp.so "
    "(libomp-19-dev).")
  return()
endif()
set(wheel_tree ${CMAKE_BINARY_DIR}/wheel/tree)

# Debian compiles the archive for executables (-fPIE): its code may be anywhere, but reaches variables only in its own
# library. So it gets variables of glibc from packaging/wheel/missing.c. If another variable has to be added there, the
# linker says so.
set(archive ${CMAKE_BINARY_DIR}/wheel/libhwloc.a)
add_custom_command(OUTPUT ${archive} DEPENDS ${STEELYARD_hwloc_ARCHIVE} VERBATIM
  COMMAND ${CMAKE_OBJCOPY} --redefine-sym dlopen=steelyard_no_plugin
          --redefine-sym stdout=steelyard_stdout --redefine-sym stderr=steelyard_stderr
          --redefine-sym program_invocation_name=steelyard_program_name ${STEELYARD_hwloc_ARCHIVE} ${archive})
add_custom_target(steelyard_hwloc_copy DEPENDS ${archive})
add_library(steelyard_hwloc_missing OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/packaging/wheel/missing.c)
target_compile_options(steelyard_hwloc_missing PRIVATE -fno-builtin -fno-math-errno -Wall -Wextra)
add_library(steelyard_hwloc_archive INTERFACE)
target_link_libraries(steelyard_hwloc_archive INTERFACE ${archive} m)

function(steelyard_wheel_target target)
  set_target_properties(${target} PROPERTIES STEELYARD_WHEEL ON EXCLUDE_FROM_ALL ON SKIP_BUILD_RPATH ON
    RUNTIME_OUTPUT_DIRECTORY ${wheel_tree}/bin LIBRARY_OUTPUT_DIRECTORY ${wheel_tree}/lib/steelyard)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:steelyard_hwloc_missing>)
  target_link_options(${target} PRIVATE -s -static-libstdc++ -shared-libgcc -Wl,--as-needed
    -Wl,--exclude-libs,libstdc++.a:libcapstone.a:libhwloc.a)
  add_dependencies(${target} steelyard_hwloc_copy)
  add_dependencies(wheel ${target})
endfunction()

add_custom_target(wheel)
set(man_page ${wheel_tree}/share/man/man1/steelyard.1)
add_custom_command(OUTPUT ${wheel_tree}/lib/steelyard/libomp.so.5 ${man_page} VERBATIM
  COMMAND ${CMAKE_COMMAND} -E make_directory ${wheel_tree}/lib/steelyard ${wheel_tree}/share/man/man1
  COMMAND sh -c "cp -L \"$1\" \"$2\" && \"$3\" options --man > \"$4\"" sh ${STEELYARD_LLVM_OPENMP}
          ${wheel_tree}/lib/steelyard/libomp.so.5 ${wheel_tree}/bin/steelyard ${man_page})
add_custom_target(steelyard_wheel_files DEPENDS ${man_page})
add_dependencies(wheel steelyard_wheel_files)

# These sources stand in for those of steelyard_cli. Without a path, pages are made by the Python of the environment.
set(cli ${PROJECT_SOURCE_DIR}/src/cli)
add_executable(steelyard_wheel $<TARGET_OBJECTS:steelyard> ${cli}/pages.cpp ${cli}/without_source_lines.cpp)
target_compile_definitions(steelyard_wheel PRIVATE STEELYARD_PYTHON_FROM_PROGRAM="")
set_target_properties(steelyard_wheel PROPERTIES OUTPUT_NAME steelyard)
target_link_libraries(steelyard_wheel PRIVATE steelyard_cli)
steelyard_wheel_target(steelyard_wheel)
add_dependencies(steelyard_wheel_files steelyard_wheel)

foreach(flavour IN LISTS STEELYARD_MPI_ABIS)
  steelyard_preload_library(steelyard_wheel_preload_${flavour} ${flavour})
  steelyard_wheel_target(steelyard_wheel_preload_${flavour})
endforeach()
steelyard_library_for_no_mpi(steelyard_wheel_alone)
steelyard_wheel_target(steelyard_wheel_alone)
steelyard_library_for_julia(steelyard_wheel_lookups)  # the wheel is for x86-64
steelyard_wheel_target(steelyard_wheel_lookups)
