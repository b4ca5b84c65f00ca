#!/usr/bin/env bash
# A project that finds the installed library, which was moved after its installation.
source "$(dirname "$0")/../common.sh"

installed
rm -rf "$scratch/moved"
cp -a "$prefix" "$scratch/moved"
! grep -rqF "$prefix" "$scratch/moved" --include='*.cmake' --include='*.pc' || fail "an installed file holds the prefix"
build_project "$here" "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/moved"
grep -q "$scratch/moved" "$scratch/build/CMakeCache.txt" || fail "another installation was found"
[[ $("$scratch/build/with_tidepool") == release ]] || fail "shared failed"
[[ $("$scratch/build/with_static") == release ]] || fail "static failed"
[[ $("$scratch/build/with_checked") == checked ]] || fail "checked failed"
[[ -f $(cat "$scratch/build/preload_path") ]] || fail "tidepool::preload names no file"
if output=$("$scratch/build/with_checked" twice 2>&1); then fail "a double free passed the checked library"; fi
[[ $output == *"double free"* ]] || fail "the checked library said: $output"
# A later minor version is not what an old project asked for.
sed 's/tidepool 0.1 /tidepool 0.2 /' "$here/CMakeLists.txt" >"$scratch/CMakeLists.txt"
cp "$here/main.cpp" "$scratch/"
if cmake -S "$scratch" -B "$scratch/newer" -DCMAKE_PREFIX_PATH="$scratch/moved" >/dev/null 2>&1; then
  fail "version 0.2 was found"
fi
echo ok
