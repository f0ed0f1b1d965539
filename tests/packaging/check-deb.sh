#!/bin/sh
# check-deb.sh BUILD SCRATCH FLAVOUR: makes the Debian package, unpacks it into a root of its own, and uses it from there: the
# launcher on an MPI program, the library, the man page.
set -eu
build=$1
scratch=$2
flavour=$3
here=$(cd "$(dirname "$0")" && pwd)
command -v dpkg-deb >/dev/null || { echo "skipped: dpkg-deb is missing"; exit 77; }

rm -rf "$scratch"
mkdir -p "$scratch/root"
cpack -G DEB --config "$build/CPackConfig.cmake" -B "$scratch" >"$scratch/cpack.log" || { cat "$scratch/cpack.log"; exit 1; }
package=$(find "$scratch" -maxdepth 1 -name 'steelyard_*.deb')
dpkg-deb --info "$package"
version=$(sed -n 's/^project(steelyard VERSION \([0-9.]*\).*/\1/p' "$here/../../CMakeLists.txt")
[ "$(dpkg-deb --field "$package" Version)" = "$version" ] || { echo "the package is not of version $version"; exit 1; }
needs=$(dpkg-deb --field "$package" Depends)
case $needs in
*mpi*) echo "it needs an MPI, and would do with another: $needs"; exit 1 ;;
*"libc6 (>= "*) ;;
*) ! command -v dpkg-shlibdeps >/dev/null || { echo "it does not say which libc6 it needs: $needs"; exit 1; } ;;
esac
dpkg-deb --field "$package" Suggests | grep -q python3 || { echo "nothing says that pages need Python"; exit 1; }
dpkg-deb -x "$package" "$scratch/root"
usr=$scratch/root/usr

echo "== used from its root"
"$usr/bin/steelyard" --version | grep -F "steelyard $version"
mpicc.$flavour -fopenmp "$here/../manual/app.c" -o "$scratch/app"
"mpirun.$flavour" -n 2 "$usr/bin/steelyard" run --record="$scratch/run.json" "$scratch/app" 2>&1 | tee "$scratch/run.log"
grep -q "^steelyard $version: " "$scratch/run.log" || { echo "no banner line: it was not active"; exit 1; }
grep -q "app: done" "$scratch/run.log"
"$usr/bin/steelyard" report "$scratch/run.json" >"$scratch/report.log"
library=$(find "$usr" -name 'libsteelyard.so.*.*')
cc -I"$usr/include" "$here/../consumer/consumer.c" -L"$(dirname "$library")" -lsteelyard -Wl,-rpath,"$(dirname "$library")" -o "$scratch/consumer"
"$scratch/consumer"
gunzip -c -f "$usr"/share/man/man1/steelyard.1* | grep -q "Steelyard $version"
if grep -rlIF "$build" "$usr" --exclude-dir=debug; then
  echo "the files above name the build directory"
  exit 1
fi
