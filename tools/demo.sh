#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# demo.sh BUILD: an unmodified, unbalanced MPI+OpenMP program without and with Steelyard: on the cores of this machine,
# and on an emulated node of 2 x 24 cores, where threads stand for cores by sleeping instead of computing.
set -eu
cd "$(dirname "$0")/.."
build=$1
out=$build/demo
mkdir -p "$out"
set -a
. tools/mpi.env
set +a

# examples/CMakeLists.txt has chosen them.
demo=$(sed -n 's/^STEELYARD_DEMO:INTERNAL=//p' "$build/CMakeCache.txt")
mpirun=${demo%;*}
program=${demo#*;}
steelyard=$build/bin/steelyard
[ -x "$program" ] && [ -x "$steelyard" ] || { echo "demo: $build has no example program: run make demo"; exit 1; }

# seconds FILE: what the program says about itself.
seconds() { sed -n 's/^unbalanced: .*seconds *\([0-9.]*\),.*/\1/p' "$1"; }

# compare NAME RANKS "STEELYARD OPTIONS" "PROGRAM OPTIONS"
compare() {
  name=$1 ranks=$2 how=$3 what=$4
  echo "--- without Steelyard"
  # $what is a list of words.
  "$mpirun" -n "$ranks" "$program" $what | tee "$out/$name.without"
  echo "--- with Steelyard"
  eval "set -- $how"
  "$mpirun" -n "$ranks" "$steelyard" run "$@" --record="$out/$name.json" "$program" $what 2>&1 | tee "$out/$name.with"
  disturbed=0
  if grep -q '^  WARNING ' "$out/$name.with"; then disturbed=1; fi
  awk -v without="$(seconds "$out/$name.without")" -v with="$(seconds "$out/$name.with")" \
    -v disturbed=$disturbed 'BEGIN {
    if (without == "" || with == "") { print "demo: a run did not finish: see above"; exit 1 }
    if (disturbed) {
      printf "--- %.2f s without, %.2f s with. ", without, with
      print "The WARNING above says why these times cannot be compared."
      print "--- To repeat the demo: make demo"
    } else {
      printf "--- %.2f s without, %.2f s with: %+.1f %%\n", without, with, 100 * (with / without - 1)
    } }'
  echo
}

cores=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)
OMP_NUM_THREADS=$(((cores + 1) / 2))
export OMP_NUM_THREADS
threads="$OMP_NUM_THREADS thread$([ "$OMP_NUM_THREADS" = 1 ] || echo s)"
echo "== 1. Real: $cores cores here, 2 ranks x $threads; the first rank has three times the work"
compare real 2 "" "--steps=60 --work=$((40 * OMP_NUM_THREADS)) --imbalance=50 --regions=4"

echo "== 2. Emulated: 2 x 24 cores, 8 ranks x 6 threads; the heaviest rank has twice the mean load"
export OMP_NUM_THREADS=6 OMP_WAIT_POLICY=passive KMP_BLOCKTIME=0 OMPI_MCA_mpi_yield_when_idle=1
compare emulated 8 '--emulate="package:2 core:24 pu:1"' "--steps=60 --work=360 --imbalance=100 --kernel=sleep"

echo "The run records are in $out; in full: $steelyard report $out/real.json"
if "$steelyard" report "$out/emulated.json" --html="$out/emulated.html" >/dev/null; then
  echo "A page about the second run, for any browser: $PWD/$out/emulated.html"
else
  echo "No page about the second run. After the step above:"
  echo "  $steelyard report $out/emulated.json --html=$out/emulated.html"
fi
echo "This built only what the demo runs, for one MPI. \`make test\` installs the rest (other compilers and MPIs, test"
echo "libraries), builds all libraries, examples, tests and benchmarks for each MPI, and runs every test. That takes"
echo "several times as long."
