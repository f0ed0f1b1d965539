#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-wheel.sh BUILD SCRATCH FLAVOURS PYTHON: makes the wheel, installs it into an empty virtual environment, and uses
# it from there: programs run under each MPI, and a page is made. FLAVOURS: openmpi,mpich.
set -eu
build=$1 scratch=$2 flavours=$(echo "$3" | tr , ' ') python=$4
here=$(cd "$(dirname "$0")" && pwd)
"$python" -c 'import setuptools, wheel, pip' 2>/dev/null ||
  { echo "skipped: pip, setuptools or wheel is missing"; exit 77; }
grep -q 'STEELYARD_hwloc_ARCHIVE:.*\.a$' "$build/CMakeCache.txt" || { echo "skipped: libhwloc.a is missing"; exit 77; }
version=$(sed -n 's/^project(steelyard VERSION \([0-9.]*\).*/\1/p' "$here/../../CMakeLists.txt")
fail() { echo "$1"; exit 1; }

rm -rf "$scratch"
mkdir -p "$scratch"
"$here/../../tools/wheel.sh" "$build" "$python" "$scratch/dist"
env=$scratch/env
"$python" -m venv --without-pip "$env"
"$python" -m pip --disable-pip-version-check --python "$env/bin/python3" install -q --no-deps --no-index \
  "$scratch"/dist/*.whl
# What the wheel requires comes from this project's environment.
"$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
  >"$(echo "$env"/lib/python3*/site-packages)/requirements.pth"

echo "== the files"
[ "$(head -c 4 "$env/bin/steelyard" | tail -c 3)" = ELF ] ||
  fail "bin/steelyard is a script: each rank would start Python"
for licence in LICENSE LICENSE.third-party LICENSE.llvm; do
  [ -n "$(find "$env" -path "*.dist-info/*" -name $licence)" ] || fail "no $licence"
done
if grep -rlF "$build" "$env" --include='*steelyard*'; then fail "the files above name the build directory"; fi
for library in "$env"/lib/steelyard/libsteelyard-*.so; do
  if nm -D --defined-only "$library" | grep -E ' (hwloc_|cs_|udev_|hypot|arc4random)'; then
    fail "$library exports symbols of others"
  fi
done

PATH=$env/bin:$PATH
[ "$(steelyard --version | head -n 1)" = "steelyard $version" ]
for flavour in $flavours; do
  command -v "mpicc.$flavour" >/dev/null || continue
  echo "== used: $flavour"
  "mpicc.$flavour" -fopenmp "$here/../manual/app.c" -o "$scratch/app"
  steelyard doctor "$scratch/app" >"$scratch/doctor.log" || { cat "$scratch/doctor.log"; exit 1; }
  for openmp in keep llvm; do
    "mpirun.$flavour" -n 2 steelyard run --openmp=$openmp --record="$scratch/$flavour.json" "$scratch/app" \
      >"$scratch/run.log" 2>&1 ||
      { cat "$scratch/run.log"; exit 1; }
    grep -q "^steelyard $version: " "$scratch/run.log" ||
      { cat "$scratch/run.log"; fail "no header line: it was not active"; }
    grep -q "app: done" "$scratch/run.log"
  done
  steelyard report "$scratch/$flavour.json" --html="$scratch/$flavour.html"
  grep -q '</html>' "$scratch/$flavour.html"
done
echo "== Python"
[ "$(cd "$scratch" && "$env/bin/python3" -c 'import steelyard; print(steelyard.__file__)')" = \
  "$(echo "$env"/lib/python3*/site-packages/steelyard/__init__.py)" ]
