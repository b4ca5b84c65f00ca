#!/usr/bin/env bash
# The whole C++ interface without exceptions and RTTI: failures come as empty results, or as a message where none can.
source "$(dirname "$0")/../common.sh"

installed
quietly build "$CXX" -std=c++20 -O2 -fno-exceptions -fno-rtti -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror \
  -I"$prefix/include" "$here/main.cpp" -o "$scratch/program" -L"$libdir" -ltidepool -Wl,-rpath,"$libdir"
"$scratch/program" >/dev/null || fail "the program ended with $?"
for failure in rent allocator resource new; do
  if output=$( (ulimit -c 0; "$scratch/program" "$failure") 2>&1); then fail "$failure: went on without memory"; fi
  [[ $output == *"tidepool: out of memory"* ]] || fail "$failure: no message, but: $output"
done
if output=$( (ulimit -c 0; "$scratch/program" length) 2>&1); then fail "length: went on without memory"; fi
[[ $output == *"longer than the address space"* ]] || fail "length: no message, but: $output"
echo ok
