#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-deb.sh BUILD SCRATCH FLAVOURS PYTHON: makes the Debian package, installs it into a clean root (clean_root.py),
# and uses it from there: programs in C, C++ and Fortran are built against it, and run under each MPI; then it is
# removed. FLAVOURS: openmpi,mpich.
set -eu
build=$1
scratch=$2
flavours=$(echo "$3" | tr , ' ')
python=$4
here=$(cd "$(dirname "$0")" && pwd)
for command in dpkg dpkg-deb dpkg-query readelf; do
  command -v $command >/dev/null || { echo "skipped: $command is missing"; exit 77; }
done
PATH=$PATH:/usr/sbin:/sbin # dpkg asks for what is there
export PATH PYTHONDONTWRITEBYTECODE=1

rm -rf "$scratch"
mkdir -p "$scratch"
cpack -G DEB --config "$build/CPackConfig.cmake" -B "$scratch" >"$scratch/cpack.log" || {
  cat "$scratch/cpack.log"
  exit 1
}
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

echo "== installed into a clean root"
root=$scratch/root
"$python" "$here/clean_root.py" make "$root" "$package"
usr=$root/usr
# Nothing but what it depends on is there.
if chroot / true 2>/dev/null; then chroot "$root" /usr/bin/steelyard --version; fi

for file in copyright LICENSE; do
  [ -s "$usr/share/doc/steelyard/$file" ] || { echo "no $file in share/doc/steelyard"; exit 1; }
done

echo "== built against it: CMake"
cmake -S "$here/../consumer" -B "$scratch/cmake" -DCMAKE_PREFIX_PATH="$usr" >"$scratch/cmake.log"
cmake --build "$scratch/cmake" >>"$scratch/cmake.log"
ctest --test-dir "$scratch/cmake" --output-on-failure
grep -q "^steelyard_DIR:PATH=$usr/" "$scratch/cmake/CMakeCache.txt" || { echo "CMake took another Steelyard"; exit 1; }

echo "== built against it: pkg-config"
export PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_LIBDIR="$usr/lib/pkgconfig:$usr/lib64/pkgconfig"
flags=$(pkg-config --cflags --libs steelyard)
case $flags in "-I$usr/"*) ;; *) echo "not in the root: $flags"; exit 1 ;; esac
library=$(dirname "$(find "$usr" -name 'libsteelyard.so.*.*')")
for language in cc:c c++:cpp gfortran:f90; do
  command -v "${language%:*}" >/dev/null || continue
  # $flags is a list of words.
  "${language%:*}" "$here/../consumer/consumer.${language#*:}" $flags -o "$scratch/consumer"
  LD_LIBRARY_PATH=$library "$scratch/consumer"
done
unset PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_LIBDIR

used=
for flavour in $flavours; do
  command -v "mpicc.$flavour" >/dev/null || continue
  echo "== used from its root: $flavour"
  "mpicc.$flavour" -fopenmp "$here/../manual/app.c" -o "$scratch/app"
  "$usr/bin/steelyard" doctor "$scratch/app" >"$scratch/doctor.log" || { cat "$scratch/doctor.log"; exit 1; }
  "mpirun.$flavour" -n 2 "$usr/bin/steelyard" run --record="$scratch/$flavour.json" "$scratch/app" 2>&1 |
    tee "$scratch/run.log"
  grep -q "^steelyard $version: " "$scratch/run.log" || { echo "no header line: it was not active"; exit 1; }
  grep -q "app: done" "$scratch/run.log"
  "$usr/bin/steelyard" report "$scratch/$flavour.json" >"$scratch/report.log"
  used=$scratch/$flavour.json
done

echo "== Python, man pages"
(cd "$scratch" && PYTHONPATH="$usr/share/steelyard/python" "$python" -c "
import steelyard
assert steelyard.__file__.startswith('$usr/'), steelyard.__file__
print(steelyard.load('$used').record['version'])") | grep -Fx "$version"
env -u PYTHONDONTWRITEBYTECODE PATH="$(dirname "$python"):$PATH" "$usr/bin/steelyard" report "$used" \
  --html="$scratch/page.html"
[ -d "$usr/share/steelyard/python/steelyard/__pycache__" ] || {
  echo "Python has left nothing that removal must take away"
  exit 1
}
gunzip -c -f "$usr"/share/man/man1/steelyard.1* | grep -q "Steelyard $version"
if grep -rlIF "$build" "$usr" --exclude-dir=debug; then
  echo "the files above name the build directory"
  exit 1
fi

echo "== removed"
"$python" "$here/clean_root.py" remove "$root" "$package"
