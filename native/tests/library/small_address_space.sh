#!/usr/bin/env bash
# With little address space the library takes less at a time and still works; with none it says so by null.
source "$(dirname "$0")/common.sh"

for megabytes in 4096 1024 256; do
  (ulimit -v $((megabytes * 1024)) && LD_PRELOAD=$TIDEPOOL_PRELOAD "$programs/library-malloc_family" ours) ||
    fail "with $megabytes MiB of address space"
done
