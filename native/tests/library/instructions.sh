#!/usr/bin/env bash
# malloc and free of 64 bytes through the shared libraries: at most 16 + 20 instructions and 3 + 4 jumps.
source "$(dirname "$0")/common.sh"

verify() {
  local what=$1 counted
  shift
  local code=0
  counted=$("$@") || code=$?
  if [[ $code -eq 77 ]]; then
    echo "$counted"
    exit 77
  fi
  [[ $code -eq 0 ]] || fail "$what: the count ended with $code: $counted"
  read -r malloc malloc_jumps free free_jumps <<<"$counted"
  echo "$what: $malloc + $free instructions, $malloc_jumps + $free_jumps jumps"
  [[ $malloc -gt 0 && $malloc -le 16 && $free -gt 0 && $free -le 20 ]] || fail "too many instructions"
  [[ $malloc_jumps -le 3 && $free_jumps -le 4 ]] || fail "too many jumps"
}

verify tp_malloc env LD_PRELOAD="$TIDEPOOL_LIBRARY" "$programs/library-count_instructions" tp_malloc tp_free
verify malloc env LD_PRELOAD="$TIDEPOOL_PRELOAD" "$programs/library-count_instructions" malloc free
