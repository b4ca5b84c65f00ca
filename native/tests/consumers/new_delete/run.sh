#!/usr/bin/env bash
# operator new and delete replaced by including new_delete.hpp in one source file; in two, the linker says so.
source "$(dirname "$0")/../common.sh"

installed
flags=(-std=c++20 -O2 -I"$prefix/include")
libraries=(-L"$libdir" -ltidepool "-Wl,-rpath,$libdir")
quietly with "$CXX" "${flags[@]}" "$here/main.cpp" "$here/replaces.cpp" -o "$scratch/with" "${libraries[@]}"
"$scratch/with" >/dev/null || fail "the program ended with $?"
quietly without "$CXX" "${flags[@]}" "$here/main.cpp" -o "$scratch/without" "${libraries[@]}"
if "$scratch/without" >/dev/null; then fail "new is the library's without the header"; fi
cp "$here/replaces.cpp" "$scratch/again.cpp"
if "$CXX" "${flags[@]}" "$here/main.cpp" "$here/replaces.cpp" "$scratch/again.cpp" -o "$scratch/twice" "${libraries[@]}" 2>"$scratch/twice.log"; then
  fail "two source files include new_delete.hpp, and the linker did not notice"
fi
grep -q 'multiple definition' "$scratch/twice.log" || fail "the linker said: $(tail -3 "$scratch/twice.log")"
echo ok
