#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# wheel.sh BUILD PYTHON FOLDER: makes the wheel in FOLDER. It has the Python package, as setuptools makes it, and the
# command and libraries of BUILD's target `wheel`. The platform tag names the oldest glibc that they run with, read from
# their symbols. A library that a bare Linux may lack is an error. Needs no network.
set -eu
python=$2
mkdir -p "$3"
build=$(cd "$1" && pwd) folder=$(cd "$3" && pwd)
cd "$(dirname "$0")/.."
stop() { echo "wheel: $1" >&2; exit 1; }
cmake --build "$build" --target help | grep -q '^wheel:' ||
  stop "$build can make no wheel: it needs libhwloc.a (Debian: libhwloc-dev) and LLVM's libomp.so (libomp-19-dev)"
cmake --build "$build" --target wheel >"$build/wheel.log" 2>&1 || { cat "$build/wheel.log"; exit 1; }
tree=$build/wheel/tree work=$build/wheel/packed
for flavour in openmpi mpich; do
  [ -e "$tree/lib/steelyard/libsteelyard-preload-$flavour.so" ] ||
    echo "wheel: programs of $flavour cannot use this wheel: the build has no $flavour" >&2
done

minor=17 # of the oldest glibc that pip knows by number
for file in "$tree"/bin/* "$tree"/lib/steelyard/*.so*; do
  foreign=$(readelf -dW "$file" | sed -nE 's/.*\((NEEDED|RPATH|RUNPATH)\).*\[(.*)\]/\2/p' |
    grep -vxE 'lib(c|m|dl|rt|pthread)\.so\.[0-9]+|libgcc_s\.so\.1|ld-linux-x86-64\.so\.2' | xargs)
  [ -z "$foreign" ] || stop "$file needs what a machine may lack: $foreign"
  newest=$(readelf -VW "$file" | grep -oE 'GLIBC_2\.[0-9]+' | sort -Vu | tail -n 1)
  [ "${newest#GLIBC_2.}" -le $minor ] || minor=${newest#GLIBC_2.}
done
platform=manylinux_2_${minor}_$(uname -m)

rm -rf "$work"
mkdir -p "$work/source"
cp CMakeLists.txt "$work/source/"
cp -RL python "$work/source/python"
# setuptools puts files of such names into dist-info.
cat packaging/debian/copyright packaging/wheel/copyright >"$work/source/python/LICENSE.third-party"
cp packaging/wheel/LICENSE.llvm "$work/source/python/"
"$python" -m pip --disable-pip-version-check wheel -q --no-deps --no-build-isolation --no-index \
  -w "$work" "$work/source/python"
"$python" -m wheel unpack -d "$work" "$work"/steelyard-*-py3-none-any.whl >/dev/null
inside=$(echo "$work"/steelyard-*/)
name=$(basename "$inside")
# pip puts `scripts` into bin and `data` beside it: the layout of `make install`, in which the command finds its
# libraries.
mkdir -p "$inside$name.data/scripts"
cp "$tree"/bin/steelyard "$inside$name.data/scripts/"
cp -R "$tree" "$inside$name.data/data"
rm -r "$inside$name.data/data/bin"
cp packaging/wheel/LICENSE.llvm "$inside$name.data/data/lib/steelyard/libomp.LICENSE"
sed -i -e "s/^Tag: .*/Tag: py3-none-$platform/" \
  -e 's/^Root-Is-Purelib: .*/Root-Is-Purelib: false/' "$inside$name.dist-info/WHEEL"
rm -f "$folder"/steelyard-*.whl
"$python" -m wheel pack -d "$folder" "$inside" >/dev/null
ls "$folder"/steelyard-*.whl
