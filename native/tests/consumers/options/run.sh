#!/usr/bin/env bash
# What the environment and the program set is obeyed by the inline path too.
source "$(dirname "$0")/../common.sh"

installed
quietly build "$CXX" -std=c++20 -O2 -I"$prefix/include" "$here/main.cpp" -o "$scratch/program" -L"$libdir" -ltidepool -Wl,-rpath,"$libdir"
program=$scratch/program

[[ $("$program" zeroed) -gt 0 ]] || fail "freed blocks are zeroed without being asked for"
[[ $(TIDEPOOL_ZERO_ON_FREE=1 "$program" zeroed) == 0 ]] || fail "TIDEPOOL_ZERO_ON_FREE=1: bytes are left"
[[ $("$program" limit) == 256 ]] || fail "without a limit 256 MiB must be had"
limited=$(TIDEPOOL_MEMORY_LIMIT=64M "$program" limit)
[[ $limited -ge 40 && $limited -le 64 ]] || fail "TIDEPOOL_MEMORY_LIMIT=64M: $limited MiB were had"
TIDEPOOL_PROFILE=1 "$program" profile "$scratch/profile"
grep -qx '48 1000' "$scratch/profile" || fail "TIDEPOOL_PROFILE=1: not every fixed request was counted: $(cat "$scratch/profile")"
grep -qx '208 500' "$scratch/profile" || fail "TIDEPOOL_PROFILE=1: not every inline request was counted: $(cat "$scratch/profile")"
TIDEPOOL_HUGE_PAGES=2 "$program" huge || fail "what the program sets must win over the environment: code $?"
output=$(TIDEPOOL_MEMORY_LIMIT=lots "$program" limit 2>&1)
[[ $output == *"TIDEPOOL_MEMORY_LIMIT=lots is ignored"* ]] || fail "a wrong value was taken without a word: $output"
echo ok
