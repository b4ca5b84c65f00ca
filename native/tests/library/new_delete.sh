#!/usr/bin/env bash
# Every operator new and delete, also when memory is used up; the same program holds with the C++ runtime's own.
source "$(dirname "$0")/common.sh"

(ulimit -v 300000 && "$programs/library-new_delete") || fail "the expectations are not those of this C++ runtime"
TIDEPOOL_MEMORY_LIMIT=200M LD_PRELOAD=$TIDEPOOL_PRELOAD "$programs/library-new_delete" ours || fail "under libtidepool-preload.so"
LD_PRELOAD=$TIDEPOOL_PRELOAD "$programs/library-plugin_host" "$programs/plugin.so" ||
  fail "a C++ plugin in a program without C++ runtime"
