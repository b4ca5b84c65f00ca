#!/usr/bin/env bash
# dlopen and dlclose in a loop, with threads that outlive the library.
source "$(dirname "$0")/common.sh"

"$programs/library-dlopen_loop" "$TIDEPOOL_LIBRARY" 1000 4
# Freed blocks are held back here, up to 32 MiB of them.
"$programs/library-dlopen_loop" "$checked" 200 40
