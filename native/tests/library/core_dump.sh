#!/usr/bin/env bash
# A core of a trivial program is smaller than 32 MiB: memory that the library reserved and has not used stays out of it.
source "$(dirname "$0")/common.sh"
need gcore gdb

cd "$TIDEPOOL_TEMP"
mkfifo input
LD_PRELOAD=$TIDEPOOL_PRELOAD cat <input >output &
cat=$!
exec 3>input
trap 'exec 3>&-; wait "$cat" || true' EXIT
echo ready >&3
until [[ -s output ]]; do
  kill -0 "$cat" 2>/dev/null || fail 'cat ended'
  sleep 0.02
done
grep -q libtidepool-preload "/proc/$cat/maps" || fail 'the library is not loaded'

if ! gcore -o core "$cat" >gcore.log 2>&1; then
  if grep -qi 'not permitted' gcore.log; then
    echo 'gcore may not look at another process here (ptrace)'
    exit 77
  fi
  cat gcore.log >&2
  fail 'gcore wrote no core'
fi
bytes=$(stat -c %s "core.$cat")
echo "$bytes bytes"
[[ $bytes -gt 0 && $bytes -lt $((32 << 20)) ]] || fail "a core of $bytes bytes"
