#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-install.sh BUILD SCRATCH PYTHON: installs the build, moves the installed tree, then builds and runs outside
# programs in C, C++ and Fortran against it: through CMake, through pkg-config, and with the Fortran module compiled
# from its source. At last it makes a page with the installed Python package.
set -eu
build=$1
scratch=$2
python=$3
here=$(cd "$(dirname "$0")" && pwd)

rm -rf "$scratch"
mkdir -p "$scratch/work"
cmake --install "$build" --prefix "$scratch/first" >"$scratch/install.log"
mv "$scratch/first" "$scratch/moved"
prefix=$scratch/moved

echo "== CMake"
cmake -S "$here" -B "$scratch/cmake" -DCMAKE_PREFIX_PATH="$prefix" >"$scratch/cmake.log"
cmake --build "$scratch/cmake" >>"$scratch/cmake.log"
ctest --test-dir "$scratch/cmake" --output-on-failure

echo "== pkg-config"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name steelyard.pc)")
export PKG_CONFIG_PATH
flags="$(pkg-config --cflags --libs steelyard) -Wl,-rpath,$(pkg-config --variable=libdir steelyard)"
cd "$scratch/work"
# $flags is a list of words.
cc -std=c99 -pedantic-errors -Wall -Wextra -Werror "$here/consumer.c" $flags -o c && ./c
c++ -std=c++17 -pedantic-errors -Wall -Wextra -Werror "$here/consumer.cpp" $flags -o cpp && ./cpp
gfortran "$here/consumer.f90" $flags -o f90 && ./f90

modules=$(pkg-config --variable=fmoddir steelyard)
for mpi in openmpi mpich; do
  command -v mpicc.$mpi >/dev/null || continue
  echo "== every header, every module: $mpi"
  mpicc.$mpi -std=c99 -Wall -Wextra -Werror "$here/all.c" $flags -o all_c && ./all_c
  ! command -v mpifort.$mpi >/dev/null ||
    { mpifort.$mpi "$modules/steelyard_phases.f90" "$modules/steelyard_loops.f90" "$modules/steelyard_tasks.f90" \
      "$modules/steelyard_collectives.f90" "$modules/steelyard_cores.f90" "$modules/steelyard_regions.f90" \
      "$here/all.f90" $flags -o all_f90 &&
      ./all_f90; }
done

echo "== the Fortran module from its source"
rm -r "$(pkg-config --variable=fmoddir steelyard)"
gfortran "$prefix/share/steelyard/steelyard.f90" "$here/consumer.f90" $flags -o from_source && ./from_source

echo "== job scripts"
[ -x "$prefix/share/steelyard/examples/slurm/cores.sh" ]

echo "== the licence"
cmp "$prefix/share/doc/steelyard/LICENSE" "$here/../../LICENSE"

echo "== the launcher"
[ ! -x "$prefix/bin/steelyard" ] || "$prefix/bin/steelyard" --version
[ ! -x "$prefix/bin/steelyard" ] || grep -q '^complete ' "$prefix/share/bash-completion/completions/steelyard"

echo "== pages"
if [ -x "$prefix/bin/steelyard" ]; then
  record=$here/../../python/tests/example.json
  PATH=$(dirname "$python"):$PATH PYTHONDONTWRITEBYTECODE=1 "$prefix/bin/steelyard" report "$record" --html=page.html
  grep -q '</html>' page.html
fi

if grep -rlIF "$scratch/first" "$prefix"; then
  echo "the files above name the place where they were installed, so the tree cannot be moved"
  exit 1
fi
