#!/usr/bin/env bash
# Thread-local storage: at most 16 bytes, of the initial-exec model, which costs one instruction.
source "$(dirname "$0")/common.sh"
need readelf binutils

for library in "$TIDEPOOL_LIBRARY" "$TIDEPOOL_PRELOAD" "$checked" "$checked_preload"; do
  size=$(readelf -lW "$library" | awk '$1 == "TLS" { print $6 }')
  [[ -n $size ]] || fail "$library has no TLS segment"
  [[ $((size)) -le 16 ]] || fail "$library: $((size)) bytes of TLS"
  flags=$(readelf -dW "$library")
  [[ $flags == *STATIC_TLS* ]] || fail "$library: not initial-exec"
  relocations=$(readelf -rW "$library")
  [[ $relocations != *DTPMOD* ]] || fail "$library: a general-dynamic access of TLS"
done
