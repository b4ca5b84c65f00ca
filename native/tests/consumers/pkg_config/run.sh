#!/usr/bin/env bash
# A program built with what pkg-config says, linked shared and static.
source "$(dirname "$0")/../common.sh"

need pkg-config pkg-config
installed
export PKG_CONFIG_PATH=$libdir/pkgconfig
version=$(sed -n 's/^project(tidepool VERSION \([0-9.]*\).*/\1/p' "$native/CMakeLists.txt")
[[ $(pkg-config --modversion tidepool) == "$version" ]] || fail "pkg-config gives another version than $version"
read -ra flags <<<"$(pkg-config --cflags --libs tidepool)"
quietly shared "$CXX" -std=c++20 -O2 "$here/main.cpp" -o "$scratch/shared" "${flags[@]}"
LD_LIBRARY_PATH=$libdir "$scratch/shared" >/dev/null || fail "shared ended with $?"
read -ra flags <<<"$(pkg-config --cflags --libs --static tidepool)"
quietly static "$CXX" -std=c++20 -O2 -static "$here/main.cpp" -o "$scratch/static" "${flags[@]}"
"$scratch/static" >/dev/null || fail "static ended with $?"
echo ok
