#!/usr/bin/env bash
# With little address space the library takes less at a time and still works; with none it says so by null.
source "$(dirname "$0")/common.sh"

for megabytes in 4096 1024 256; do
  (ulimit -v $((megabytes * 1024)) && LD_PRELOAD=$TIDEPOOL_PRELOAD "$programs/library-malloc_family" ours) ||
    fail "with $megabytes MiB of address space"
done

# A limit that the program sets itself, when the library has its memory already.
command -v python3 >/dev/null || { echo 'python3 is missing: apt-get install python3'; exit 77; }
LD_PRELOAD=$TIDEPOOL_PRELOAD python3 -c '
import resource
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, resource.getrlimit(resource.RLIMIT_AS)[1]))
import ctypes, sqlite3, subprocess, threading  # each loads a library
subprocess.run(["true"], check=True)
thread = threading.Thread(target=lambda: None)
thread.start()
thread.join()
held = []
try:
    while len(held) < 100: held.append(bytearray(64 << 20))
except MemoryError:
    pass
assert 40 <= len(held) <= 64, len(held)
' || fail 'with 4 GiB of address space, set by the program'
