# shellcheck shell=bash
# Sourced by the scripts of this folder. TIDEPOOL_PRELOAD, TIDEPOOL_ROOT, TIDEPOOL_TEMP (an empty folder) and TIDEPOOL_ALL
# come from native/tests/run. A script exits with 0, with 77 after a line that says what is missing, or with anything else.
set -euo pipefail
cd "$TIDEPOOL_TEMP"

fail() {
  echo "$*" >&2
  exit 1
}

need() {
  command -v "$1" >/dev/null && return
  echo "$1 is missing: apt-get install $2"
  exit 77
}

# The command under the preload library.
under() { LD_PRELOAD=$TIDEPOOL_PRELOAD "$@"; }

# A library that cannot be loaded is left out by the loader with a warning only.
[[ $(LD_PRELOAD=$TIDEPOOL_PRELOAD cat /proc/self/maps) == *libtidepool-preload* ]] || fail "$TIDEPOOL_PRELOAD is not loaded"
