#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# docs.sh BUILD PYTHON: the manual as a site and as man pages, in BUILD/docs. Any warning, a broken link among them, is
# an error.
set -eu
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
python=$2
out=$build/docs
export STEELYARD_BUILD="$build"
for builder in html man; do
  "$python" -m sphinx -q -n -W --keep-going -d "$out/cache" -b "$builder" docs "$out/$builder"
done
mkdir -p "$out/man/man1"
"$build/bin/steelyard" options --man >"$out/man/man1/steelyard.1"
echo "The manual: $out/html/index.html; man pages: man -M $out/man steelyard"
