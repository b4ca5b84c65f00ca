#!/usr/bin/env bash
# At run time the libraries need the C library and the loader, nothing else.
source "$(dirname "$0")/common.sh"
need readelf binutils

for library in "$TIDEPOOL_LIBRARY" "$TIDEPOOL_PRELOAD" "$checked" "$checked_preload"; do
  needed=$(readelf -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  [[ -n $needed ]] || fail "$library: no needed library was found"
  while read -r name; do
    [[ $name == libc.so.* || $name == ld-linux* ]] || fail "$library needs $name"
  done <<<"$needed"
  flags=$(readelf -dW "$library")
  [[ $flags == *NODELETE* ]] || fail "$library can be unloaded while threads still have heaps"
done
