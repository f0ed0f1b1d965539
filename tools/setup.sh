#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# setup.sh [build|demo|python|test]: installs what is missing to build Steelyard; to build and run the demo; to have the
# Python environment .venv; or to test (the default: all of it). Or says exactly what to install. Takes no time when all
# is there.
set -eu
cd "$(dirname "$0")/.."
purpose=${1:-test}
venv=.venv

say() { printf 'setup: %s\n' "$*"; }

apt_install() {
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >"$log" 2>&1
}

# The packages of this purpose, one a line. An MPI that is here already (a module, Spack, another package) is enough to
# build for.
wanted_packages() {
  case $purpose in
  build | demo)
    if command -v mpicc >/dev/null && command -v mpirun >/dev/null; then
      grep -v openmpi tools/packages.txt
    else
      cat tools/packages.txt
    fi
    ;;
  python) echo python3-venv ;;
  test) cat tools/packages.txt tools/packages-test.txt ;;
  esac | grep -v '^#'
}

# missing_of PACKAGE...: those that are not installed.
missing_of() {
  # A package that dpkg-query does not know is missing as well; dpkg writes pkg-config's name as the package that
  # provides it.
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}, ${Provides}\n' 2>/dev/null | sed -n 's/^installed //p' |
    sed 's/ ([^)]*)//g; s/:any//g' | tr -s ', ' '\n\n')
  for package; do
    printf '%s\n' "$installed" | grep -Fqx -- "$package" || printf '%s ' "$package"
  done
}

other_ways() {
  if [ "$purpose" = test ]; then
    cat <<'END'
  Fedora, RHEL and relatives:
    sudo dnf install gcc-c++ gcc-gfortran cmake ninja-build pkgconf openmpi-devel mpich-devel hwloc-devel clang \
      libomp-devel cli11-devel capstone-devel fmt-devel json-devel tomlplusplus-devel gtest-devel gmock-devel \
      google-benchmark-devel python3 clang-tools-extra
  Spack, without root:
    spack install cmake ninja pkgconf openmpi mpich hwloc llvm+clang+llvm_dylib openmp=project cli11 capstone@4 \
      elfutils fmt nlohmann-json tomlplusplus googletest+gmock benchmark python
    spack load cmake ninja pkgconf openmpi hwloc llvm cli11 capstone elfutils fmt nlohmann-json tomlplusplus \
      googletest benchmark python
END
  else
    cat <<'END'
  Fedora, RHEL and relatives, with the MPI of your choice:
    sudo dnf install gcc-c++ cmake ninja-build pkgconf openmpi-devel hwloc-devel libomp-devel cli11-devel \
      capstone-devel fmt-devel json-devel tomlplusplus-devel
  Spack, without root, with the MPI of your choice:
    spack install cmake ninja pkgconf openmpi hwloc llvm-openmp cli11 capstone@4 elfutils fmt nlohmann-json \
      tomlplusplus
    spack load cmake ninja pkgconf openmpi hwloc llvm-openmp cli11 capstone elfutils fmt nlohmann-json tomlplusplus
END
  fi
}

stop_without_root() {
  say "missing: $1"
  say "this needs root. As root, run this command again, or:"
  printf '    sudo apt-get update && sudo apt-get install -y %s\n' "$1"
  other_ways
  say "stopped: install the packages in one of these ways."
  say "If they come from Spack or modules, use: make SETUP=no ..."
  exit 1
}

set_up_debian() {
  # Lists of words, here and below.
  missing=$(missing_of $(wanted_packages))
  [ "$(id -u)" -eq 0 ] || [ -z "$missing" ] || stop_without_root "$missing"
  if [ "$purpose" = demo ] && ! python3 python/steelyard --which-python >/dev/null 2>&1; then
    if [ "$(id -u)" -eq 0 ]; then
      missing="$missing$(missing_of $(grep -v '^#' tools/packages-report.txt))"
    else
      say "no page will be made of the demo: the Python packages for it are missing"
    fi
  fi
  [ -n "$missing" ] || return 0
  say "installing: $missing"
  apt-get update >"$log" 2>&1 || say "apt-get update failed, continuing with the package lists that are here"
  if ! apt_install $missing; then
    tail -n 20 "$log"
    say "stopped: apt-get could not install these packages (above: its last words; all of them: $log)."
    say "Releases older than Debian 12 and Ubuntu 24.04 have no LLVM 19 of their own: see https://apt.llvm.org"
    exit 1
  fi
}

set_up_elsewhere() {
  missing=
  case $purpose in
  build | demo) commands="g++ cmake ninja pkg-config mpicc mpirun" ;;
  python) commands=python3 ;;
  test) commands="g++ gfortran cmake ninja pkg-config mpicc mpirun clang python3" ;;
  esac
  for command in $commands; do
    command -v "$command" >/dev/null || missing="$missing $command"
  done
  [ -n "$missing" ] || return 0
  say "this is not Debian or Ubuntu, and these commands are missing:$missing"
  other_ways
  say "stopped: install them in one of these ways, then run the same command again"
  exit 1
}

# From the index if it answers, otherwise from the distribution.
set_up_python() {
  ! cmp -s tools/requirements.txt "$venv/ready" || return 0
  say "preparing the Python environment $venv"
  rm -rf "$venv"
  if python3 -m venv "$venv" >"$log" 2>&1 &&
    "$venv/bin/pip" install -q --disable-pip-version-check --retries 1 --timeout 20 -r tools/requirements.txt \
      >>"$log" 2>&1; then
    cp tools/requirements.txt "$venv/ready"
    return 0
  fi
  packages="python3-jinja2 python3-jsonschema python3-pandas python3-pytest python3-rich python3-websocket"
  packages="$packages python3-prometheus-client"
  packages="$packages python3-sphinx python3-myst-parser furo codespell python3-setuptools python3-wheel"
  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    say "pip could not install $(grep -v '^#' tools/requirements.txt | tr '\n' ' ')- taking $packages"
    apt_install $packages || true
  fi
  rm -rf "$venv"
  needed="codespell_lib, furo, jinja2, jsonschema, myst_parser, pandas, pytest, setuptools, wheel"
  if /usr/bin/python3 -c "import $needed" 2>>"$log" &&
    /usr/bin/python3 -m venv --system-site-packages --without-pip "$venv" >>"$log" 2>&1; then
    cp tools/requirements.txt "$venv/ready"
    return 0
  fi
  tail -n 5 "$log"
  say "stopped: some Python packages of tools/requirements.txt are missing (above: pip's last words)."
  say "Make them installable for pip (pip config, PIP_INDEX_URL), or as root: apt-get install -y $packages"
  exit 1
}

log=$(mktemp "${TMPDIR:-/tmp}/steelyard-setup.XXXXXX")
if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
  set_up_debian
else
  set_up_elsewhere
fi
case $purpose in python | test) set_up_python ;; esac
rm -f "$log"
