#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# try-wheel.sh [WHEEL]: a minimal Debian of this machine's release, made anew by mmdebstrap, without compilers:
# python3-venv, libgomp and the run times of MPIs are all that is installed. pip installs the wheel that `make wheel`
# has written to dist/, and the steps of the tutorial run there, under Debian's MPIs and under those that PyPI has: Open
# MPI 5, MPICH 4 and 5, Intel MPI. The programs are compiled here. As root, with a network that reaches Debian's
# packages and PyPI; some minutes. Ends with 77 (skipped) where it cannot be tried. The test package.wheel does what can
# be done without: tests/packaging/check-wheel.sh.
set -eu
cd "$(dirname "$0")/.."
name=try-wheel
. tools/minimal-debian.sh
wheel=${1:-$(find dist -name 'steelyard-*.whl' 2>/dev/null | tail -n 1)}
[ -n "$wheel" ] || skip "there is no wheel in dist: make wheel"
need_minimal_debian

echo "== a minimal $suite without compilers"
make_minimal_debian python3-venv,libgomp1,openmpi-bin,mpich
mkdir "$root/try" "$root/try/wheels"
cp tools/mpi.env python/tests/example.json "$wheel" "$root/try/"

# The wheel's requirements, for the root's Python.
minor=$(chroot "$root" python3 -c 'import sys; print(sys.version_info.minor)')
python3 -m pip --disable-pip-version-check download -q --only-binary :all: --python-version "3.$minor" \
  --platform manylinux_2_28_x86_64 --platform manylinux_2_17_x86_64 \
  --platform "$(basename "$wheel" .whl | sed 's/.*-none-//')" -d "$root/try/wheels" "$wheel"

# NAME MPICC: the tutorial's program, and one that sleeps in place of computing, for an emulated node.
compile() {
  local name=$1
  shift
  for program in cells unbalanced; do "$@" -O2 -fopenmp "examples/$program.c" -o "$root/try/$program.$name" -lm; done
}
for mpi in openmpi mpich; do
  ! command -v mpicc.$mpi >/dev/null || compile "debian-$mpi" mpicc.$mpi
done
for of in openmpi5:mpicc:openmpi mpich4:mpicc:'mpich<5' mpich5:mpicc:'mpich>=5' intel:mpigcc:'impi-rt impi-devel'; do
  IFS=: read -r mpi compiler packages <<<"$of"
  python3 -m venv "$here/$mpi"
  # $packages is a list of words.
  "$here/$mpi/bin/pip" --disable-pip-version-check install -q $packages ||
    { echo "try-wheel: $mpi: not from the index, left out"; continue; }
  compile "$mpi" env PATH="$here/$mpi/bin:$PATH" I_MPI_ROOT="$here/$mpi" "$compiler" -Wl,-rpath,"/try/$mpi/lib"
  cp -R "$here/$mpi" "$root/try/$mpi"
  rm -rf "$here/$mpi"
  # Scripts in there name the place where they were made.
  grep -rlIF "$here/$mpi" "$root/try/$mpi/bin" | xargs -r sed -i "s,$here/$mpi,/try/$mpi,g"
done

cat >"$root/try/inside.sh" <<'END'
set -eu
export LC_ALL=C.UTF-8 HOME=/try
set -a; . /try/mpi.env; set +a
mount -t proc proc /proc
mount -t sysfs -o ro sys /sys
mount -t tmpfs tmpfs /dev/shm 2>/dev/null || { mkdir -p /dev/shm; mount -t tmpfs tmpfs /dev/shm; }
cd /try
for compiler in cc gcc g++ c++ clang gfortran cmake make; do
  ! command -v $compiler || { echo "there is a compiler"; exit 1; }
done
echo "== pip installs it"
python3 -m venv env
env/bin/pip install -q --no-index --find-links wheels steelyard
PATH=/try/env/bin:$PATH
steelyard --version
bad=0
check() { # NAME PATTERN FILE
  grep -qE "$2" "$3" || { echo "try-wheel: $1: no line like '$2' in:"; cat "$3"; bad=1; }
}
for program in cells.*; do
  name=${program#cells.}
  echo "== $name"
  case $name in
  debian-*) places=$PATH mpirun=mpirun.${name#debian-} ;;
  *) places=/try/$name/bin:$PATH mpirun=mpirun ;;
  esac
  run() { # LOG COMMAND...: a run that hangs fails
    log=$1
    shift
    PATH=$places I_MPI_ROOT=/try/$name timeout 120 "$@" >"$log" 2>&1 ||
      { echo "try-wheel: $name: status $?:"; cat "$log"; bad=1; }
  }
  export OMP_NUM_THREADS=1
  run native.log $mpirun -n 2 ./cells.$name
  run doctor.log steelyard doctor ./cells.$name
  run observed.log $mpirun -n 2 steelyard run --observe --record=before.json ./cells.$name
  run balanced.log $mpirun -n 2 steelyard run --record=after.json ./cells.$name
  cat native.log balanced.log
  check "$name" '^ok +MPI: ' doctor.log
  check "$name" 'moved +nothing: only observing' observed.log
  check "$name" 'lent .* core s of that were used by other' balanced.log
  [ "$(sed -n 's/.*checksum //p' native.log)" = "$(sed -n 's/.*checksum //p' balanced.log)" ] ||
    { echo "$name: another result"; bad=1; }
  run full.log steelyard report --full after.json
  rm -f cells.html
  run page.log steelyard report after.json --html cells.html
  check "$name" '</html>' cells.html
  run compared.log steelyard report before.json after.json
  check "$name" 'wall time' compared.log
  # LLVM's runtime of the wheel, and cores that move for good.
  export OMP_NUM_THREADS=6 OMP_WAIT_POLICY=passive KMP_BLOCKTIME=0 OMPI_MCA_mpi_yield_when_idle=1
  run moved.log $mpirun -n 8 steelyard run --openmp=llvm --emulate="package:2 core:24 pu:1" --record=moved.json \
    ./unbalanced.$name --steps=60 --work=360 --imbalance=100 --kernel=sleep
  cat moved.log
  check "$name" '^steelyard .*LLVM OpenMP' moved.log
  check "$name" 'moved +cores' moved.log
  unset OMP_WAIT_POLICY KMP_BLOCKTIME OMPI_MCA_mpi_yield_when_idle
done
echo "== no rank starts Python"
[ "$(head -c 4 env/bin/steelyard | tail -c 3)" = ELF ] || bad=1
rm -f cells.html
echo "== removed"
env/bin/pip uninstall -q -y steelyard
left=$(find env -iname '*steelyard*')
[ -z "$left" ] || { echo "left behind: $left"; bad=1; }
[ $bad -eq 0 ] && echo "try-wheel: all well: $(echo cells.* | sed 's/cells\.//g')"
exit $bad
END
run_inside /try/inside.sh
