#!/usr/bin/env bash
# A project that fetches the library from a local path.
source "$(dirname "$0")/../common.sh"

build_project "$here" "$scratch/build" -DTIDEPOOL_SOURCE="$native"
"$scratch/build/consumer" >/dev/null || fail "the program ended with $?"
echo ok
