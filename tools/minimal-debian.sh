# SPDX-License-Identifier: BSD-3-Clause
# What tools/try-debian.sh, tools/try-container.sh and tools/try-wheel.sh share: a minimal Debian of this machine's
# release, in which they try what is installed. To be sourced by bash; `name` is the script's.
skip() { echo "$name: skipped: $1"; exit 77; }

# Skips the test if this machine cannot have such a Debian. Sets `suite`.
need_minimal_debian() {
  command -v mmdebstrap >/dev/null || skip "mmdebstrap is missing: apt-get install mmdebstrap"
  [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null || skip "it needs root, and permission to mount"
  suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
}

# BUILD: skips the test if `make deb` has written no package to BUILD. Sets `package`.
need_package() {
  local build
  build=$(cd "$1" && pwd)
  package=$(find "$build" -maxdepth 1 -name 'steelyard_*.deb' | tail -n 1)
  [ -n "$package" ] || skip "there is no package in $build: make deb"
}

# PACKAGES, with commas between, or none: makes the Debian with them. Sets `here`, which is removed at exit, and `root`
# in it.
make_minimal_debian() {
  here=$(mktemp -d "${TMPDIR:-/tmp}/$name.XXXXXX")
  trap 'rm -rf --one-file-system "$here"' EXIT
  root=$here/root
  mmdebstrap --quiet --variant=minbase ${1:+--include="$1"} "$suite" "$root" || {
    echo "$name: mmdebstrap failed: is there a network?"
    exit 1
  }
}

# SCRIPT: runs it in the Debian, with processes and mounts of its own.
run_inside() { unshare --mount --pid --fork --kill-child chroot "$root" /bin/bash "$1"; }
