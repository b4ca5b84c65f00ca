#!/usr/bin/env bash
# Static constructors and destructors, atexit, thread_local objects.
source "$(dirname "$0")/common.sh"

[[ $("$programs/library-static_life") == 'all gone' ]] || fail "the program itself is wrong"
[[ $(LD_PRELOAD=$TIDEPOOL_PRELOAD "$programs/library-static_life") == 'all gone' ]] || fail "under libtidepool-preload.so"
[[ $("$programs/library-static_life_linked") == 'all gone' ]] || fail "linked with libtidepool.so"
[[ $(LD_PRELOAD=$checked "$programs/library-static_life_linked" 2>"$TIDEPOOL_TEMP/errors") == 'all gone' ]] ||
  fail "with the checked library: $(cat "$TIDEPOOL_TEMP/errors")"
