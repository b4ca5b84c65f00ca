#!/usr/bin/env bash
# The same expectations hold with the C library's own malloc, and with ours in its place.
source "$(dirname "$0")/common.sh"

"$programs/library-malloc_family" || fail "the expectations are not those of this C library"
LD_PRELOAD=$TIDEPOOL_PRELOAD "$programs/library-malloc_family" ours || fail "under libtidepool-preload.so"
