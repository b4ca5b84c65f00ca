#!/usr/bin/env bash
# Every header alone, with the strict warnings of every compiler there is, with and without exceptions, in C++20 and later.
source "$(dirname "$0")/../common.sh"

warnings=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wundef -Werror)
compiled=0
for compiler in g++ clang++; do
  if ! command -v "$compiler" >/dev/null; then
    echo "$compiler is missing: apt-get install ${compiler/clang++/clang}"
    continue
  fi
  for header in "$native"/include/tidepool/*.hpp "$native"/include/tidepool/tidepool.h; do
    name=$(basename "$header")
    # Twice, so that a missing guard is noticed; except where the header defines what a program may define once.
    printf '#include "tidepool/%s"\n' "$name" "$name" >"$scratch/alone.cpp"
    for mode in "-std=c++20" "-std=c++20 -fno-exceptions -fno-rtti" "-std=c++23" "-std=c++20 -DTIDEPOOL_CHECKED=1"; do
      read -ra flags <<<"$mode"
      quietly "$compiler" "$compiler" "${flags[@]}" -O2 "${warnings[@]}" -I"$native/include" -c "$scratch/alone.cpp" -o "$scratch/alone.o"
      compiled=$((compiled + 1))
    done
  done
done
[[ $compiled -gt 0 ]] || fail "no compiler was found"
# C sees tidepool.h only.
for standard in c99 c11 c17; do
  printf '#include "tidepool/tidepool.h"\n#include "tidepool/tidepool.h"\nint x;\n' >"$scratch/alone.c"
  quietly c "$CC" -std=$standard -Wall -Wextra -Wpedantic -Wstrict-prototypes -Werror -I"$native/include" -c "$scratch/alone.c" -o "$scratch/alone.o"
done
echo ok
