# SPDX-License-Identifier: BSD-3-Clause
# What `make install` puts where. The tree may be moved as a whole afterwards: everything in it finds the rest by
# relative paths. The build tree is laid out in the same way, so that bin/steelyard finds its preload libraries in both.
include(CMakePackageConfigHelpers)
# All that is installed, and nothing else: what `make install` builds.
add_custom_target(installed)
set(preload_directory ${CMAKE_INSTALL_LIBDIR}/steelyard)
set(fortran_directory ${CMAKE_INSTALL_INCLUDEDIR}/steelyard/gfortran)

if(TARGET steelyard)
  set_target_properties(steelyard PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${CMAKE_INSTALL_BINDIR})
  install(TARGETS steelyard RUNTIME)
  set(manual ${CMAKE_BINARY_DIR}/man/steelyard.1)
  set(completion ${CMAKE_BINARY_DIR}/man/steelyard)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/man)
  add_custom_command(OUTPUT ${manual} ${completion} DEPENDS steelyard VERBATIM
    COMMAND sh -c "\"$1\" options --man > \"$2\" && \"$1\" options --completion > \"$3\"" sh
            $<TARGET_FILE:steelyard> ${manual} ${completion})
  add_custom_target(manual ALL DEPENDS ${manual} ${completion})
  add_dependencies(installed steelyard manual)
  install(FILES ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${completion} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  # The other man pages, where `make docs` has made them.
  install(DIRECTORY ${CMAKE_BINARY_DIR}/docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL
    FILES_MATCHING PATTERN "steelyard[-_.]*.[357]")
endif()
foreach(flavour IN LISTS STEELYARD_MPI_ABIS)
  if(TARGET steelyard_preload_${flavour})
    set_target_properties(steelyard_preload_${flavour} PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${preload_directory})
    install(TARGETS steelyard_preload_${flavour} LIBRARY DESTINATION ${preload_directory})
    add_dependencies(installed steelyard_preload_${flavour})
  endif()
endforeach()
foreach(library steelyard_alone steelyard_lookups)
  if(TARGET ${library})
    set_target_properties(${library} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${preload_directory})
    install(TARGETS ${library} LIBRARY DESTINATION ${preload_directory})
    add_dependencies(installed ${library})
  endif()
endforeach()

set_target_properties(steelyard_api PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
install(TARGETS steelyard_api EXPORT steelyard LIBRARY)
add_dependencies(installed steelyard_api)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/steelyard DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/fortran/steelyard.f90 DESTINATION ${CMAKE_INSTALL_DATADIR}/steelyard)
# Compiled with the program, by any Fortran compiler, and over its MPI.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/fortran/ DESTINATION ${fortran_directory}
        FILES_MATCHING PATTERN "steelyard_*.f90" PATTERN "steelyard_*.inc")
if(TARGET steelyard_fortran_module)
  install(FILES ${STEELYARD_FORTRAN_MODULE_DIR}/steelyard.mod DESTINATION ${fortran_directory})
  add_dependencies(installed steelyard_fortran_module)
  target_include_directories(steelyard_api INTERFACE
    $<INSTALL_INTERFACE:$<$<COMPILE_LANGUAGE:Fortran>:$<INSTALL_PREFIX>/${fortran_directory}>>)
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/schema)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/schema/ DESTINATION ${CMAKE_INSTALL_DATADIR}/steelyard FILES_MATCHING
    PATTERN "*.json")
endif()

# The licence, and those of the libraries that are compiled in. Debian's tools look for the latter in this place.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/packaging/debian/copyright
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/steelyard)

# Job scripts to start from.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/slurm/ DESTINATION ${CMAKE_INSTALL_DATADIR}/steelyard/examples/slurm
        USE_SOURCE_PERMISSIONS FILES_MATCHING PATTERN "*.sh")

# The Python package, which `steelyard report --html` runs. In the build tree, the sources themselves.
set(python_directory ${CMAKE_INSTALL_DATADIR}/steelyard/python)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/steelyard DESTINATION ${python_directory}
        FILES_MATCHING REGEX "\\.(py|typed|css|js|j2)$" PATTERN __pycache__ EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/schema/run-record.schema.json DESTINATION ${python_directory}/steelyard)
cmake_path(GET python_directory PARENT_PATH python_parent)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/${python_parent})
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python ${CMAKE_BINARY_DIR}/${python_directory} SYMBOLIC)

# module use PREFIX/share/modulefiles; module load steelyard. It finds the prefix from its own place, too.
set(module_directory ${CMAKE_INSTALL_DATADIR}/modulefiles/steelyard)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${module_directory}
  OUTPUT_VARIABLE WAY_TO_PREFIX)
configure_file(${PROJECT_SOURCE_DIR}/packaging/modulefile/steelyard.tcl.in ${CMAKE_BINARY_DIR}/modulefile @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/modulefile DESTINATION ${module_directory} RENAME ${PROJECT_VERSION})

# find_package(steelyard) gives steelyard::steelyard.
set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/steelyard)
install(EXPORT steelyard NAMESPACE steelyard:: FILE steelyard-config.cmake DESTINATION ${package_directory})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/steelyard-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/steelyard-config-version.cmake DESTINATION ${package_directory})

# pkg-config --cflags --libs steelyard. The prefix is found from the place of the file itself.
set(pkgconfig_directory ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${pkgconfig_directory}
  OUTPUT_VARIABLE way_to_prefix)
configure_file(${CMAKE_CURRENT_LIST_DIR}/package/steelyard.pc.in ${CMAKE_BINARY_DIR}/steelyard.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/steelyard.pc DESTINATION ${pkgconfig_directory})

# The Debian package: `make deb`. It has a preload library for each MPI that was found, and needs none of them.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "Steelyard <steelyard@localhost>" CACHE STRING
  "Maintainer of the Debian package: name and address")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_RPM_PACKAGE_LICENSE BSD-3-Clause)  # for `cpack -G RPM`
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# Where nothing knows better than this: cmake/package/depends.cmake.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6, libgcc-s1, libstdc++6, libhwloc15")
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/package/depends.cmake)
set(CPACK_STEELYARD_LIBRARIES ${CMAKE_INSTALL_LIBDIR})
set(CPACK_STEELYARD_PROGRAMS ${CMAKE_INSTALL_BINDIR})
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libopenmpi3 | libmpich12")
# `steelyard report` makes pages and comparisons with these.
string(CONCAT CPACK_DEBIAN_PACKAGE_SUGGESTS "libomp5-19 | libomp5, python3 (>= 3.9), python3-jinja2, "
  "python3-jsonschema, python3-numpy, python3-pandas, python3-rich")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/triggers
  ${PROJECT_SOURCE_DIR}/packaging/debian/prerm)
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
include(CPack)
