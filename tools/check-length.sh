#!/bin/sh
# A file is one concept: warns about those that grew beyond 600 lines.
cd "$(dirname "$0")/.."
{
  tools/sources.sh
  find python fortran tools cmake bench -type f \( -name '*.py' -o -name '*.f90' -o -name '*.sh' -o -name '*.cmake' \)
} | sort -u | xargs wc -l | awk '$2 != "total" && $1 > 600 { print "check-length: " $2 " has " $1 " lines: split it" }'
