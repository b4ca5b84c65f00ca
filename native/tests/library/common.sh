# shellcheck shell=bash
# Sourced by the scripts of this folder. TIDEPOOL_BUILD, TIDEPOOL_LIBRARY, TIDEPOOL_PRELOAD and TIDEPOOL_TEMP come from
# native/tests/run. A script exits with 0, with 77 after a line that says what is missing, or with anything else.
set -euo pipefail

export programs=$TIDEPOOL_BUILD/tests/library
export checked=$TIDEPOOL_BUILD/libtidepool-checked.so checked_preload=$TIDEPOOL_BUILD/libtidepool-checked-preload.so

fail() {
  echo "$*" >&2
  exit 1
}

need() {
  command -v "$1" >/dev/null && return
  echo "$1 is missing: apt-get install $2"
  exit 77
}
