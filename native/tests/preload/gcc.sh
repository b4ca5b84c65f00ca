#!/usr/bin/env bash
# gcc compiles this library; the object files equal those that it makes without the library under it.
source "$(dirname "$0")/common.sh"
need g++ g++

native=$TIDEPOOL_ROOT/native
files=("$native"/src/heap/refill.cpp "$native"/src/pages/arena.cpp "$native"/src/api/blocks.cpp)
flags=(-std=gnu++20 -O2 -fPIC -fno-exceptions -fno-rtti "-I$native/include" "-I$native/src" -frandom-seed=1)
if [[ $TIDEPOOL_ALL == 1 ]]; then
  mapfile -t files < <(find "$native/src" -name '*.cpp')
  flags+=(-g)
fi
for file in "${files[@]}"; do
  g++ "${flags[@]}" -c "$file" -o plain.o
  under g++ "${flags[@]}" -c "$file" -o ours.o
  cmp plain.o ours.o || fail "another object file of ${file#"$native"/}"
done
# The linker and the archiver too.
gcc -shared plain.o -o plain.so
under gcc -shared ours.o -o ours.so
cmp plain.so ours.so || fail "the linker made another library"
