#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# try-talp-pages.sh [--installed] [BUILD]: records runs, has talp-pages (PyPI) make its CI report of them, and looks for
# their figures in it. talp-pages gets an environment of its own, BUILD/talp-pages, as it needs an older pandas than the
# tests have: about 40 s, once. With --installed, ends with 77 (skipped) where that is not there.
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)
skip() { echo "try-talp-pages: skipped: $1"; exit 77; }
installed=no
[ "${1:-}" != --installed ] || { installed=yes && shift; }
build=$(cd "${1:-build}" && pwd)
python=$root/.venv/bin/python
[ -x "$python" ] || python=python3
talp=$build/talp-pages/bin/talp
if [ ! -x "$talp" ]; then
  [ "$installed" = no ] ||
    skip "talp-pages is not in $build/talp-pages: run tools/try-talp-pages.sh once, with a network"
  echo "try-talp-pages: installing talp-pages in $build/talp-pages"
  rm -rf "$build/talp-pages"
  python3 -m venv "$build/talp-pages"
  "$build/talp-pages/bin/pip" install -q --disable-pip-version-check --retries 1 --timeout 20 \
    'talp-pages>=3.8' 'pandas<3' || {
    rm -rf "$build/talp-pages"
    echo "try-talp-pages: pip could not install talp-pages: the messages above say why. It needs a network that" \
      "reaches PyPI."
    exit 1
  }
fi
flavour=
for mpi in openmpi mpich; do
  [ -n "$flavour" ] || [ ! -x "$build/examples/unbalanced.$mpi.gcc" ] || flavour=$mpi
done
[ -n "$flavour" ] || skip "there is no program to run in $build/examples: make build"
mpirun=$(sed -n "s/^STEELYARD_${flavour}_RUN:[A-Z]*=//p" "$build/CMakeCache.txt")

here=$(mktemp -d "${TMPDIR:-/tmp}/try-talp-pages.XXXXXX")
trap 'rm -rf "$here"' EXIT
set -a
. tools/mpi.env
set +a
export PATH="$(dirname "$python"):$build/bin:$PATH" PYTHONPATH="$root/python" PYTHONDONTWRITEBYTECODE=1
mkdir -p "$here/talp/app"
cd "$here"
record() { # record NAME RANKS THREADS: what docs/report.md says
  OMP_NUM_THREADS=$3 timeout 60 "$mpirun" -n "$2" steelyard run --record="$1.json" --summary=off \
    "$build/examples/unbalanced.$flavour.gcc" --steps=6 --work=4 >"$1.log" 2>&1 || { cat "$1.log"; exit 1; }
  steelyard report "$1.json" --talp "talp/app/$1.json"
}
record first 2 2
sleep 1 # their times in the report are in seconds
record second 2 2
record wide 3 1
env -u PYTHONPATH "$talp" ci-report -i talp -o public --no-badge >talp.log 2>&1 || { cat talp.log; exit 1; }
"$python" "$root/python/tests/talp_report.py" public/app first.json second.json wide.json
