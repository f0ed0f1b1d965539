#!/bin/sh
# Lists the C and C++ sources of the project, one a line.
cd "$(dirname "$0")/.."
find src include examples tests bench -type f \( -name '*.h' -o -name '*.hpp' -o -name '*.c' -o -name '*.cpp' \) | sort
