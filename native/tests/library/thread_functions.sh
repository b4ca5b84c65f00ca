#!/usr/bin/env bash
# The allocator is called from inside of the C library's own functions for threads, and makes no thread there.
source "$(dirname "$0")/common.sh"

"$programs/library-thread_functions" || fail "the program itself is wrong"
LD_PRELOAD=$TIDEPOOL_PRELOAD "$programs/library-thread_functions" || fail "under libtidepool-preload.so"
# Every free goes to its page at once.
TIDEPOOL_PROFILE=1 LD_PRELOAD=$TIDEPOOL_PRELOAD "$programs/library-thread_functions" || fail "with TIDEPOOL_PROFILE=1"
