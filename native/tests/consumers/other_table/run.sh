#!/usr/bin/env bash
# A program that was compiled with another table of size classes than the library neither links nor starts, and the message
# says why; before, it ran and got blocks that were too small. Nor does a program start with another minor version's library.
source "$(dirname "$0")/../common.sh"

installed
name=headers_and_library_have_the_same_size_classes
other=(-DTIDEPOOL_SIZE_CLASSES="\"$here/../size_classes/table.h\"")

# refused <what> <command...>: it fails, and its output has the words.
refused() {
  local words=$1 output
  shift
  if output=$("$@" 2>&1); then fail "not refused: $* ($output)"; fi
  [[ $output == *"$words"* ]] || fail "$* said: $output"
}

for compiler in g++ clang++ clang++-14; do
  command -v "$compiler" >/dev/null || continue
  flags=(-std=c++20 -O2 -I"$prefix/include" "$here/main.cpp" -o "$scratch/program")
  quietly same "$compiler" "${flags[@]}" -L"$libdir" -ltidepool -Wl,-rpath,"$libdir"
  "$scratch/program" >/dev/null || fail "$compiler: headers and library are the same, and the program ended with $?"
  refused "$name" "$compiler" "${flags[@]}" "${other[@]}" -L"$libdir" -ltidepool
  refused "$name" "$compiler" "${flags[@]}" "${other[@]}" "$libdir/libtidepool.a" -pthread
  # Libraries may be exchanged after the link: then the loader refuses, at the start. What stands for the library with the
  # other table is gone when the program runs.
  mkdir -p "$scratch/at_link" "$scratch/at_start"
  quietly at_link "$compiler" -std=c++20 "${other[@]}" -I"$prefix/include" -shared -fPIC "$here/library.cpp" \
    -o "$scratch/at_link/libother.so" -Wl,-soname,libother.so
  quietly at_start "$CC" -shared -fPIC -x c /dev/null -o "$scratch/at_start/libother.so" -Wl,-soname,libother.so
  quietly later "$compiler" "${flags[@]}" "${other[@]}" -L"$scratch/at_link" -lother -L"$libdir" -ltidepool \
    -Wl,-rpath,"$libdir:$scratch/at_start"
  for preloaded in '' "$libdir/libtidepool-preload.so" "$libdir/libtidepool-checked.so"; do
    refused "$name" env LD_PRELOAD="$preloaded" "$scratch/program"
  done
done

# C programs have nothing inline: they go with every table, but not with every version.
quietly c "$CC" -O2 -I"$prefix/include" "${other[@]}" "$here/main.c" -o "$scratch/c" -L"$libdir" -ltidepool -Wl,-rpath,"$scratch/lib"
version=$(sed -n 's/^project(tidepool VERSION \([0-9]*\.[0-9]*\)\..*/\1/p' "$native/CMakeLists.txt")
soname=$(readelf -d "$libdir/libtidepool.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[[ $soname == "libtidepool.so.$version" || $version != 0.* ]] || fail "the library of version $version is called $soname"
rm -rf "${scratch:?}/lib"
mkdir "$scratch/lib"
cp "$libdir/libtidepool.so" "$scratch/lib/$soname"
"$scratch/c" >/dev/null || fail "the C program ended with $?"
mv "$scratch/lib/$soname" "$scratch/lib/libtidepool.so.0.99"
refused "$soname" "$scratch/c"
echo ok
