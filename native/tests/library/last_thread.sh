#!/usr/bin/env bash
# A process ends with its last thread: the background purge does not keep it alive.
source "$(dirname "$0")/common.sh"

expected=$'thread of the child\nthread of the parent'
[[ $(timeout 60 "$programs/library-last_thread") == "$expected" ]] || fail "the program itself is wrong"
[[ $(LD_PRELOAD=$TIDEPOOL_PRELOAD timeout 60 "$programs/library-last_thread") == "$expected" ]] || fail "under libtidepool-preload.so"
