#!/usr/bin/env bash
# A program that knows nothing of the library, and programs of the system, under LD_PRELOAD.
source "$(dirname "$0")/../common.sh"

installed
preload=$libdir/libtidepool-preload.so
quietly build "$CC" -O1 -fno-builtin "$here/main.c" -o "$scratch/program" -ldl
if "$scratch/program" >/dev/null; then fail "without LD_PRELOAD the program must not find the library"; fi
LD_PRELOAD=$preload "$scratch/program" >/dev/null || fail "under LD_PRELOAD the program ended with $?"
lines=$(seq 1 200000 | sort -R --random-source=/dev/zero | LD_PRELOAD=$preload sort -n | LD_PRELOAD=$preload awk '$1 == NR' | wc -l)
[[ $lines == 200000 ]] || fail "sort and awk gave $lines right lines of 200000"
echo ok
