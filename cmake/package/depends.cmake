# SPDX-License-Identifier: BSD-3-Clause
# Read by cpack: which versions of libraries the Debian package needs, as dpkg-shlibdeps says of what was built. The
# preload libraries of MPIs have no part in that: each links its MPI, and the package must need none. All else that they
# link, libsteelyard-alone links, too. Their MPIs are recommended.
if(NOT CPACK_GENERATOR STREQUAL DEB)
  return()
endif()
list(GET CPACK_BUILD_SOURCE_DIRS 1 build)
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
if(NOT DPKG_SHLIBDEPS)
  message(WARNING "dpkg-shlibdeps is missing, so the package names no versions of what it needs: install dpkg-dev")
  return()
endif()
set(libraries ${build}/${CPACK_STEELYARD_LIBRARIES})
file(GLOB files ${build}/${CPACK_STEELYARD_PROGRAMS}/steelyard ${libraries}/libsteelyard.so
  ${libraries}/steelyard/libsteelyard-alone.so)
# It wants a source package around it.
set(folder ${build}/shlibdeps)
file(WRITE ${folder}/debian/control "Source: steelyard\n\nPackage: steelyard\nArchitecture: any\n")
function(packages_of result) # what dpkg-shlibdeps says of these files, or nothing
  execute_process(COMMAND ${DPKG_SHLIBDEPS} -O ${ARGN} WORKING_DIRECTORY ${folder}
    OUTPUT_VARIABLE found ERROR_VARIABLE problem RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(${result} "" PARENT_SCOPE)
  if(status EQUAL 0 AND found MATCHES "^shlibs:Depends=(.*)$")
    set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  else() # a library that no package has, for one
    message(WARNING "dpkg-shlibdeps failed, so what the package needs is said without versions, by guess:\n${problem}")
  endif()
endfunction()
packages_of(needed ${files})
if(NOT needed)
  return()
endif()
set(CPACK_DEBIAN_PACKAGE_DEPENDS "${needed}")

# Any of the MPIs that it was built for will do, under the names that they have in this release.
function(names_of result packages)
  string(REGEX REPLACE " *\\([^)]*\\)" "" names "${packages}")
  string(REPLACE ", " ";" names "${names}")
  set(${result} "${names}" PARENT_SCOPE)
endfunction()
names_of(needed "${needed}")
set(mpis "")
file(GLOB preloads ${libraries}/steelyard/libsteelyard-preload-*.so)
list(REVERSE preloads)
foreach(preload IN LISTS preloads)
  packages_of(linked ${preload})
  names_of(linked "${linked}")
  list(REMOVE_ITEM linked ${needed})
  list(APPEND mpis ${linked})
endforeach()
if(mpis)
  list(REMOVE_DUPLICATES mpis)
  list(JOIN mpis " | " mpis)
  string(REGEX REPLACE "[^,]*mpi.*$" " ${mpis}" CPACK_DEBIAN_PACKAGE_RECOMMENDS "${CPACK_DEBIAN_PACKAGE_RECOMMENDS}")
endif()
