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

# The checked library runs programs that know nothing of it, and ends those that do something wrong.
checked_preload=$libdir/libtidepool-checked-preload.so
LD_PRELOAD=$checked_preload "$scratch/program" >/dev/null || fail "under the checked library the program ended with $?"
# shellcheck disable=SC2012 # a program as good as any
[[ $(LD_PRELOAD=$checked_preload sh -c 'ls / | sort | head -n 1' 2>&1) == $(ls / | sort | head -n 1) ]] || fail "ls and sort under the checked library"
quietly misuser "$CC" -O0 -fno-builtin "$here/misuser.c" -o "$scratch/misuser"
[[ $(LD_PRELOAD=$checked_preload "$scratch/misuser" 2>&1) == written ]] || fail "a block that is left behind is reported, unasked"
leak=$(LD_PRELOAD=$checked_preload TIDEPOOL_LEAK_CHECK=1 "$scratch/misuser" 2>&1 || true)
[[ $leak == *'leak: '*'20 bytes'* ]] || fail "asked for leaks it said: $leak"
if output=$(LD_PRELOAD=$checked_preload "$scratch/misuser" 1 2>&1); then fail "a write past the end passed the checked library"; fi
[[ $output == *overflow* && $output == *'20 bytes'* ]] || fail "of a write past the end the checked library said: $output"

# The plain library in front of a linked checked one takes its calls, and it is said; the checked one does not.
quietly checked "$CC" -I"$prefix/include" "$here/checked_user.c" -o "$scratch/checked_user" -L"$libdir" -ltidepool-checked -Wl,-rpath,"$libdir"
[[ $("$scratch/checked_user" 2>&1) == checked ]] || fail "the checked library alone"
[[ $(LD_PRELOAD=$checked_preload "$scratch/checked_user" 2>&1) == checked ]] || fail "the checked library in front of itself"
[[ $(LD_PRELOAD=$preload "$scratch/checked_user" 2>"$scratch/said") == 'not checked' ]] || fail "the plain library does not come first"
[[ $(wc -l <"$scratch/said") == 1 && $(<"$scratch/said") == 'tidepool: nothing is checked: '*"$preload"*libtidepool-checked-preload.so* ]] ||
  fail "the plain library in front of the checked one: $(<"$scratch/said")"

# A plugin loaded with RTLD_DEEPBIND shares blocks with the program; the loader searches where it would without this library.
mkdir -p "$scratch/plugins"
quietly plugin "$CC" -O1 -fno-builtin -shared -fPIC "$here/plugin.c" -o "$scratch/plugins/plugin.so"
quietly loader "$CC" -O1 -fno-builtin "$here/loader.c" -o "$scratch/loader" -ldl -Wl,--enable-new-dtags,-rpath,"$scratch/plugins"
"$scratch/loader" || fail "without this library the loader ended with $?"
for library in "$preload" "$checked_preload"; do
  LD_PRELOAD=$library "$scratch/loader" || fail "RTLD_DEEPBIND under $library: the program ended with $?"
  if output=$(LD_PRELOAD=$library TIDEPOOL_DEEPBIND=1 "$scratch/loader" 2>&1); then fail "TIDEPOOL_DEEPBIND=1 does not keep the flag"; fi
  [[ $output == *foreign*RTLD_DEEPBIND* ]] || fail "TIDEPOOL_DEEPBIND=1 with $library: $output"
done
echo ok
