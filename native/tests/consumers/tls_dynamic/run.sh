#!/usr/bin/env bash
# The build for loaders that refuse initial-exec TLS in dlopen: the library does not ask for static TLS, and works.
source "$(dirname "$0")/../common.sh"

build_project "$here" "$scratch/build" -DTIDEPOOL_SOURCE="$native"
library=$(cat "$scratch/build/library_path")
if readelf -d "$library" | grep -q STATIC_TLS; then fail "the library asks for static TLS"; fi
"$scratch/build/linked" >/dev/null || fail "the linked program ended with $?"
"$scratch/build/loads" "$library" >/dev/null || fail "the loading program ended with $?"
echo ok
