#!/usr/bin/env bash
# A project that finds the installed library, which was moved after its installation.
source "$(dirname "$0")/../common.sh"

installed
rm -rf "$scratch/moved"
cp -a "$prefix" "$scratch/moved"
! grep -rqF "$prefix" "$scratch/moved" --include='*.cmake' --include='*.pc' || fail "an installed file holds the prefix"
build_project "$here" "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/moved"
grep -q "$scratch/moved" "$scratch/build/CMakeCache.txt" || fail "another installation was found"
[[ $("$scratch/build/with_tidepool") == release ]] || fail "shared failed"
[[ $("$scratch/build/with_static") == release ]] || fail "static failed"
[[ $("$scratch/build/with_checked") == checked ]] || fail "checked failed"
[[ -f $(cat "$scratch/build/preload_path") ]] || fail "tidepool::preload names no file"
if output=$("$scratch/build/with_checked" twice 2>&1); then fail "a double free passed the checked library"; fi
[[ $output == *"double free"* ]] || fail "the checked library said: $output"
[[ -f $(cat "$scratch/build/checked_preload_path") ]] || fail "tidepool::checked_preload names no file"
cmp -s "$native/../LICENSE" "$(find "$scratch/moved" -name LICENSE)" || fail "the licence is not installed"
for page in man1/tidepool-tune.1 man3/tidepool.3; do
  file=$(find "$scratch/moved" -path "*/man/$page")
  [[ -f $file ]] || fail "$page is not installed"
  if command -v man >/dev/null; then
    warnings=$(MANWIDTH=80 man --warnings --local-file "$file" 2>&1 >"$scratch/page" || true)
    [[ -z $warnings && -s $scratch/page ]] || fail "$page: $warnings"
  fi
done
# The page of the tool names every option that its help names.
tune=$(find "$scratch/moved" -name tidepool-tune -type f)
page=$(sed 's/\\-/-/g' "$(find "$scratch/moved" -name tidepool-tune.1)")
while read -r option; do
  [[ $page == *"$option"* ]] || fail "tidepool-tune.1 does not name $option"
done < <("$tune" --help | grep -oE -- '--[a-z]+' | sort -u)
# A later minor version is not what an old project asked for.
sed 's/tidepool 0.1 /tidepool 0.2 /' "$here/CMakeLists.txt" >"$scratch/CMakeLists.txt"
cp "$here/main.cpp" "$scratch/"
if cmake -S "$scratch" -B "$scratch/newer" -DCMAKE_PREFIX_PATH="$scratch/moved" >/dev/null 2>&1; then
  fail "version 0.2 was found"
fi
echo ok
