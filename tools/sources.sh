#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sources.sh [all]: the C and C++ sources of the project, one per line; with `all`, the sources in every language.
cd "$(dirname "$0")/.."
c_and_cpp() {
  find src include examples tests bench -type f \( -name '*.h' -o -name '*.hpp' -o -name '*.c' -o -name '*.cpp' \)
}
others() {
  printf '%s\n' .ci/run CMakeLists.txt Makefile packaging/debian/prerm
  find .github bench cmake docs examples fortran include packaging python sim src tests tools -type f \
    \( -name '*.py' -o -name '*.sh' -o -name '*.f90' -o -name '*.F90' -o -name '*.inc' -o -name '*.cmake' \
    -o -name CMakeLists.txt -o -name '*.c' -o -name '*.cpp' -o -name '*.h' -o -name '*.map' -o -name '*.js' \
    -o -name '*.css' -o -name '*.j2' -o -name '*.tcl.in' -o -name '*.yml' \) \
    -not -path '*/__pycache__/*' -not -path 'python/build/*'
}
case ${1:-} in
  all) { c_and_cpp && others; } | sort -u ;;
  *) c_and_cpp | sort ;;
esac
