#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# try-container.sh [BUILD]: installs by packaging/apptainer/steelyard.def into a minimal Debian, and runs programs in it
# as Apptainer does: each rank in a mount namespace of its own, with the host's /dev, /proc, /sys and /tmp, started by
# the host's mpirun or by the container's. Apptainer itself is not needed. As root, with a network that reaches Debian's
# packages; some minutes. Ends with 77 (skipped) where it cannot be tried. `make deb` first.
set -eu
cd "$(dirname "$0")/.."
name=try-container
. tools/minimal-debian.sh
need_package "${1:-build}"
need_minimal_debian
set -a; . tools/mpi.env; set +a

for mpi in openmpi mpich; do
  command -v mpicc.$mpi >/dev/null || continue
  case $mpi in openmpi) packages=openmpi-bin ;; *) packages=mpich ;; esac
  echo "== $mpi: the recipe"
  make_minimal_debian ""
  # What `apptainer exec` does, as far as MPI and Steelyard see it.
  cat >"$here/exec_inside" <<'END'
set -eu
root=$1; shift
exec unshare --mount bash -c '
  root=$1; shift
  for from in /dev /proc /sys /tmp; do mount --rbind $from $root$from; done
  exec chroot $root "$@"' exec_inside "$root" "$@"
END
  exec_inside="bash $here/exec_inside $root"
  cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
  cp "$package" "$root/steelyard.deb"
  sed -n '/^%post/,/^%test/{/^%/d;p}' packaging/apptainer/steelyard.def |
    sed "s/{{ mpi }}/$packages/; 1i set -eu" >"$root/post.sh"
  run_inside /post.sh >"$here/post.log" 2>&1 || { tail -n 20 "$here/post.log"; exit 1; }
  mpicc.$mpi -fopenmp tests/manual/app.c -o "$root/app"
  for start in "mpirun.$mpi -n 2 $exec_inside" "$exec_inside mpirun.$mpi -n 2"; do
    echo "== $mpi: ${start%% *}"
    $start steelyard run --record=/tmp/$name.json /app >"$here/run.log" 2>&1 || { cat "$here/run.log"; exit 1; }
    cat "$here/run.log"
    grep -q "^steelyard [0-9.]*: " "$here/run.log"
    grep -q 'app: done' "$here/run.log"
    if grep -q '/dev/shm' "$here/run.log"; then exit 1; fi
    rm /tmp/$name.json
  done
  rm -rf --one-file-system "$here"
done
echo "$name: all well"
