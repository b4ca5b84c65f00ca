#!/usr/bin/env bash
# Of 64 bytes through the shared libraries: malloc and free at most 16 + 20 instructions and 2 + 3 jumps, the size of a block, which
# programs that count their memory ask for, at most 43 and 9.
source "$(dirname "$0")/common.sh"

# verify WHAT INSTRUCTIONS JUMPS COMMAND...: the command counts malloc and another function, which may take so many.
verify() {
  local what=$1 most=$2 most_jumps=$3 counted
  shift 3
  local code=0
  counted=$("$@") || code=$?
  if [[ $code -eq 77 ]]; then
    echo "$counted"
    exit 77
  fi
  [[ $code -eq 0 ]] || fail "$what: the count ended with $code: $counted"
  read -r malloc malloc_jumps other other_jumps <<<"$counted"
  echo "$what: $malloc + $other instructions, $malloc_jumps + $other_jumps jumps"
  [[ $malloc -gt 0 && $malloc -le 16 && $other -gt 0 && $other -le $most ]] || fail "too many instructions"
  [[ $malloc_jumps -le 2 && $other_jumps -le $most_jumps ]] || fail "too many jumps"
}

count=$programs/library-count_instructions
verify tp_malloc 20 3 env LD_PRELOAD="$TIDEPOOL_LIBRARY" "$count" tp_malloc tp_free
verify malloc 20 3 env LD_PRELOAD="$TIDEPOOL_PRELOAD" "$count" malloc free
verify tp_usable_size 42 8 env LD_PRELOAD="$TIDEPOOL_LIBRARY" "$count" tp_malloc tp_usable_size
verify malloc_usable_size 43 9 env LD_PRELOAD="$TIDEPOOL_PRELOAD" "$count" malloc malloc_usable_size
