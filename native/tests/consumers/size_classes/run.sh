#!/usr/bin/env bash
# A library built and installed with a table of size classes of its own: its users get the table with the headers.
source "$(dirname "$0")/../common.sh"

cp "$here/table.h" "$scratch/table.h"
build_project "$native" "$scratch/library" -DTIDEPOOL_SIZE_CLASSES="$scratch/table.h" -DTIDEPOOL_BUILD_TESTS=OFF -DTIDEPOOL_BUILD_BENCH=OFF
quietly install cmake --install "$scratch/library" --prefix "$scratch/prefix"
rm "$scratch/table.h"  # the installation must not need it
build_project "$here" "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/prefix"
"$scratch/build/consumer" >/dev/null || fail "the program ended with $?"
libdir=$(dirname "$(find "$scratch/prefix" -name libtidepool.so)")
quietly by_hand "$CXX" -std=c++20 -O2 -I"$scratch/prefix/include" "$here/main.cpp" -o "$scratch/by_hand" -L"$libdir" -ltidepool -Wl,-rpath,"$libdir"
"$scratch/by_hand" >/dev/null || fail "without CMake the program ended with $?"
echo ok
