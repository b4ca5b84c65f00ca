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
# In an older standard the first line says what is missing, whichever header it is.
for header in "$native"/include/tidepool/*.hpp; do
  name=$(basename "$header")
  printf '#include "tidepool/%s"\n' "$name" >"$scratch/alone.cpp"
  if "$CXX" -std=c++17 -I"$native/include" -c "$scratch/alone.cpp" -o "$scratch/alone.o" 2>"$scratch/old.log"; then
    fail "$name compiles as C++17"
  fi
  [[ $(grep -m 1 'error' "$scratch/old.log") == *"Tidepool's C++ headers need C++20"* ]] || fail "C++17: $(head -n 3 "$scratch/old.log")"
done
for standard in c++11 c++17; do
  printf '#include "tidepool/tidepool.h"\nint main() { tp_free(tp_malloc(1)); }\n' >"$scratch/alone.cpp"
  quietly "$standard" "$CXX" -std=$standard -Wall -Wextra -Wpedantic -Werror -I"$native/include" -c "$scratch/alone.cpp" -o "$scratch/alone.o"
done
# C sees tidepool.h only.
for standard in c99 c11 c17; do
  printf '#include "tidepool/tidepool.h"\n#include "tidepool/tidepool.h"\nint x;\n' >"$scratch/alone.c"
  quietly c "$CC" -std=$standard -Wall -Wextra -Wpedantic -Wstrict-prototypes -Werror -I"$native/include" -c "$scratch/alone.c" -o "$scratch/alone.o"
done
echo ok
