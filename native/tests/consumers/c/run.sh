#!/usr/bin/env bash
# Plain C in three standards, without a C++ compiler and without libstdc++.
source "$(dirname "$0")/../common.sh"

installed
for standard in c99 c11 gnu17; do
  quietly "$standard" "$CC" -std=$standard -O2 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Werror \
    -I"$prefix/include" "$here/main.c" -o "$scratch/$standard" -L"$libdir" -ltidepool -Wl,-rpath,"$libdir"
  "$scratch/$standard" >/dev/null || fail "$standard: the program ended with $?"
done
! ldd "$scratch/c99" | grep -q 'libstdc++' || fail "a C program needs libstdc++"
quietly static "$CC" -std=c99 -O2 -I"$prefix/include" "$here/main.c" -o "$scratch/static" "$libdir/libtidepool.a" -pthread
"$scratch/static" >/dev/null || fail "static: the program ended with $?"
echo ok
