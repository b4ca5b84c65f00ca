#!/usr/bin/env bash
# A project that uses the library through std::pmr only.
source "$(dirname "$0")/../common.sh"

installed
build_project "$here" "$scratch/build" -DCMAKE_PREFIX_PATH="$prefix"
"$scratch/build/consumer" >/dev/null || fail "the program ended with $?"
echo ok
