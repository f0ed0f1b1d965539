#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# try-debian.sh [BUILD]: a minimal Debian of this machine's release, made anew by mmdebstrap, in which apt installs the
# package that `make deb` has written to BUILD, with what it recommends: then programs run there under each MPI, a page
# is made, and the package is purged. As root, with a network that reaches Debian's packages; some minutes. Ends with 77
# (skipped) where it cannot be tried. The test package.deb does what can be done without: tests/packaging/check-deb.sh.
set -eu
cd "$(dirname "$0")/.."
name=try-debian
. tools/minimal-debian.sh
need_package "${1:-build}"
need_minimal_debian

echo "== a minimal $suite"
make_minimal_debian ""
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
cp "$package" "$root/steelyard.deb"
cp tools/mpi.env "$root/"
for mpi in openmpi mpich; do
  ! command -v mpicc.$mpi >/dev/null || mpicc.$mpi -fopenmp tests/manual/app.c -o "$root/app.$mpi"
done
cp python/tests/example.json "$root/"
cat >"$root/inside.sh" <<'END'
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 OMP_NUM_THREADS=2
set -a; . /mpi.env; set +a
get() { apt-get -q -y -o Dpkg::Use-Pty=0 "$@" >/apt.log 2>&1 || { tail -n 20 /apt.log; exit 1; }; }
mount -t proc proc /proc
mount -t sysfs -o ro sys /sys
get update
find / -xdev \( -path /proc -o -path /sys \) -prune -o -iname '*steelyard*' -print >/before
echo "== apt installs it, with what it recommends"
get install /steelyard.deb
steelyard --version
dpkg --verify steelyard
if ldd /usr/bin/steelyard /usr/lib/libsteelyard.so | grep 'not found'; then exit 1; fi
dpkg-query -W 'libomp5*' 'libopenmpi*' 'libmpich*' 2>/dev/null || true
for app in /app.*; do
  mpi=${app#/app.}
  echo "== $mpi"
  # libgomp1 and the MPI are what the program depends on.
  case $mpi in openmpi) needs=openmpi-bin ;; *) needs=mpich ;; esac
  get install --no-install-recommends libgomp1 $needs
  steelyard doctor "$app"
  mpirun.$mpi -n 2 steelyard run --record=/run.json "$app" >/run.log 2>&1 || { cat /run.log; exit 1; }
  cat /run.log
  grep -q "^steelyard [0-9.]*: " /run.log && grep -q 'app: done' /run.log
done
echo "== a page: refused with the line that helps, then made with what is suggested"
if steelyard report /run.json --html=/page.html >/page.log 2>&1; then echo "made without Python?"; exit 1; fi
cat /page.log
get install --no-install-recommends $(dpkg-query -W -f '${Suggests}' steelyard | sed 's/([^)]*)//g; s/,//g')
steelyard report /run.json --html=/page.html
grep -q '</html>' /page.html
steelyard report /example.json >/dev/null
echo "== purged"
get purge steelyard
find / -xdev \( -path /proc -o -path /sys \) -prune -o -iname '*steelyard*' -print >/after
diff /before /after
echo "try-debian: all well"
END
run_inside /inside.sh
