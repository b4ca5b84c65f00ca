#!/usr/bin/env bash
# AddressSanitizer sees reads of freed blocks and behind the end of live ones, in a program over the installed checked library.
source "$(dirname "$0")/../common.sh"

installed
tried=0
for compiler in g++ clang++ clang++-14; do
  command -v "$compiler" >/dev/null || continue
  printf 'int main() {}\n' >"$scratch/empty.cpp"
  "$compiler" -fsanitize=address "$scratch/empty.cpp" -o "$scratch/empty" 2>/dev/null || continue
  "$scratch/empty" || continue
  tried=1
  quietly "$compiler" "$compiler" -std=c++20 -g -O1 -fsanitize=address -I"$prefix/include" "$here/main.cpp" -o "$scratch/program" \
    -L"$libdir" -ltidepool-checked -Wl,-rpath,"$libdir"
  "$scratch/program" nothing >"$scratch/output" 2>&1 || fail "$compiler: nothing is wrong, and: $(head -n 20 "$scratch/output")"
  for what in freed behind; do
    if "$scratch/program" $what >"$scratch/output" 2>&1; then fail "$compiler: $what was not seen"; fi
    grep -q 'AddressSanitizer: use-after-poison' "$scratch/output" || fail "$compiler: $what: $(head -n 20 "$scratch/output")"
    grep -q 'main.cpp' "$scratch/output" || fail "$compiler: $what: the report does not name the place"
  done
done
if [[ $tried -eq 0 ]]; then
  echo "skipped: no compiler with AddressSanitizer: apt-get install g++"
  exit 77
fi
echo ok
