# Read by cpack: which versions of libraries the Debian package needs, as dpkg-shlibdeps says of what was built. It is not
# asked about the preload libraries of MPIs: each links its MPI, and the package must need none. All else that they link,
# libsteelyard-alone links, too.
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
file(GLOB files ${build}/${CPACK_STEELYARD_PROGRAMS}/steelyard ${libraries}/libsteelyard.so ${libraries}/steelyard/libsteelyard-alone.so)
# It wants a source package around it.
set(folder ${build}/shlibdeps)
file(WRITE ${folder}/debian/control "Source: steelyard\n\nPackage: steelyard\nArchitecture: any\n")
execute_process(COMMAND ${DPKG_SHLIBDEPS} -O ${files} WORKING_DIRECTORY ${folder}
  OUTPUT_VARIABLE found ERROR_VARIABLE problem RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
if(status EQUAL 0 AND found MATCHES "^shlibs:Depends=(.*)$")
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "${CMAKE_MATCH_1}")
else() # a library that no package has, for one
  message(WARNING "dpkg-shlibdeps failed, so the package names no versions of what it needs:\n${problem}")
endif()
