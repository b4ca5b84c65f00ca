#!/usr/bin/env bash
# A project that has the library's sources in its tree, linked shared and static.
source "$(dirname "$0")/../common.sh"

build_project "$here" "$scratch/build" -DTIDEPOOL_SOURCE="$native"
"$scratch/build/shared" >/dev/null || fail "shared ended with $?"
"$scratch/build/static" >/dev/null || fail "static ended with $?"
readelf -d "$scratch/build/shared" | grep -q 'NEEDED.*libtidepool\.so' || fail "shared does not need libtidepool.so"
! readelf -d "$scratch/build/static" | grep -q 'NEEDED.*libtidepool' || fail "static needs libtidepool.so"
# The project's own installation must not bring the library along unasked.
quietly install cmake --install "$scratch/build" --prefix "$scratch/installed"
[[ -z $(find "$scratch/installed" -name '*tidepool*' 2>/dev/null) ]] || fail "installed with the consumer, unasked"
echo ok
