# shellcheck shell=bash
# Sourced by the run.sh of every consumer, which is called as: run.sh <native source dir> <scratch dir>
# It exits 0 after a last line "ok"; when something fails it prints the command's output and exits 1, and exits 77 after a
# line that names what is missing and the command that installs it.
set -euo pipefail

if [[ $# -ne 2 ]]; then
  echo "usage: $0 <native source dir> <scratch dir>" >&2
  exit 2
fi
native=$(cd -P "$1" && pwd)
mkdir -p "$2"
scratch=$(cd -P "$2" && pwd)
here=$(cd -P "$(dirname "$0")" && pwd)
CXX=${CXX:-c++}
CC=${CC:-cc}
unset LD_PRELOAD

fail() {
  echo "$(basename "$here"): $*" >&2
  exit 1
}

# quietly <name> <command...>: the command's output goes to a log, which is shown when the command fails.
quietly() {
  local log=$scratch/$1.log
  shift
  if ! "$@" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    fail "failed: $*"
  fi
}

need() {
  command -v "$1" >/dev/null && return
  echo "skipped: $1 is missing: apt-get install $2"
  exit 77
}

# Generator and parallelism as the machine has them.
generator=()
if command -v ninja >/dev/null; then generator=(-G Ninja); fi

# build_project <source dir> <build dir> [cmake options]
build_project() {
  local source=$1 build=$2
  shift 2
  quietly "configure-$(basename "$build")" cmake "${generator[@]}" -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release "$@"
  quietly "build-$(basename "$build")" cmake --build "$build" --parallel 2
}

# installed: sets prefix to an installation of the library, made once beside the scratch directory for all consumers: of the
# build in TIDEPOOL_BUILD (native/tests/run has just made it), else of one of its own.
installed() {
  local build=$scratch/../tidepool-build
  prefix=$scratch/../tidepool-installed
  mkdir -p "$build" "$prefix"
  build=$(cd "$build" && pwd)
  prefix=$(cd "$prefix" && pwd)
  exec 9>"$build/lock"
  flock 9
  if [[ -z ${TIDEPOOL_BUILD:-} ]]; then
    build_project "$native" "$build" -DTIDEPOOL_BUILD_TESTS=OFF -DTIDEPOOL_BUILD_BENCH=OFF
    quietly install cmake --install "$build" --prefix "$prefix"
  elif [[ ! -e $build/installed ]]; then
    quietly install cmake --install "$TIDEPOOL_BUILD" --prefix "$prefix"
    touch "$build/installed"
  fi
  flock -u 9
  # shellcheck disable=SC2034 # of the scripts that source this one
  libdir=$(dirname "$(find "$prefix" -name libtidepool.so | head -1)")
}

# wrapped <file>: a block without main is the body of one, with its includes in front.
wrapped() {
  if grep -q 'int main' "$1"; then
    cat "$1"
  else
    grep '^#include' "$1"
    echo 'int main() {'
    grep -v '^#include' "$1"
    echo '}'
  fi
}

# check_output <program> <block>: when the block after the program is its output, both must be equal.
check_output() {
  local number expected
  number=$(basename "$2")
  expected=$scratch/blocks/$(printf '%02d' $((10#${number%%.*} + 1))).output
  "$1" >"$scratch/output" || fail "block $number ended with $?"
  if [[ -f $expected ]]; then diff "$expected" "$scratch/output" || fail "block $number prints something else"; fi
}

# run_blocks <page>: compiles and runs the C and C++ blocks of a page against the installed library. Sets programs, the number of
# those that ran, and absent, the number of those that need headers of Boost where there are none.
run_blocks() {
  local block options=(-O2 -Wall -Wextra -Werror -I"$prefix/include")
  programs=0
  absent=0
  rm -rf "$scratch/blocks"
  mkdir "$scratch/blocks"
  awk -v out="$scratch/blocks" -f "$here/../extract.awk" "$1"
  for block in "$scratch"/blocks/*.cpp "$scratch"/blocks/*.c; do
    [[ -f $block ]] || continue
    if grep -q '<boost/' "$block" && ! echo '#include <boost/pool/pool.hpp>' | "$CXX" -x c++ -fsyntax-only - 2>/dev/null; then
      absent=$((absent + 1))
      continue
    fi
    if [[ $block == *.cpp ]]; then
      wrapped "$block" >"$scratch/program.cpp"
      quietly cpp "$CXX" -std=c++20 "${options[@]}" "$scratch/program.cpp" -o "$scratch/program" -L"$libdir" -ltidepool -Wl,-rpath,"$libdir"
    else
      quietly c "$CC" -std=c11 "${options[@]}" "$block" -o "$scratch/program" -L"$libdir" -ltidepool -Wl,-rpath,"$libdir"
    fi
    check_output "$scratch/program" "$block"
    programs=$((programs + 1))
  done
}
