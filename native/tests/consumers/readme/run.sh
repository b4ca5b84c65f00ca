#!/usr/bin/env bash
# What native/README.md shows is compiled and run, prints what the page says, and its table of options is the library's.
source "$(dirname "$0")/../common.sh"

installed
readme=$native/README.md
run_blocks "$readme"
[[ $programs -ge 3 ]] || fail "only $programs programs were found"

# The lines for CMake, in a project around them.
mkdir -p "$scratch/project"
cp "$scratch/program.cpp" "$scratch/project/main.cpp"
{
  echo 'cmake_minimum_required(VERSION 3.22)'
  echo 'project(game LANGUAGES CXX)'
  echo 'add_executable(game main.cpp)'
  cat "$scratch"/blocks/*.cmake
} >"$scratch/project/CMakeLists.txt"
build_project "$scratch/project" "$scratch/project-build" -DCMAKE_PREFIX_PATH="$prefix"
"$scratch/project-build/game" >/dev/null || fail "the project's program ended with $?"

# Link, preload and pmr are explained on the first thirty lines.
head -n 30 "$readme" >"$scratch/beginning"
for word in find_package pkg-config LD_PRELOAD tp::shared_resource; do
  grep -qF "$word" "$scratch/beginning" || fail "$word is not among the first 30 lines"
done

# Variable, default and whether it may change, in the page and in the source.
# shellcheck disable=SC2016 # backquotes of Markdown
sed -n 's/^| `\(TIDEPOOL_[A-Z_]*\)` | \(-\?[0-9]*\) | \([a-z ]*\) |.*/\1 \2 \3/p' "$readme" |
  sed 's/always/true/; s/before the first use/false/' >"$scratch/options.page"
sed -n 's/^ *{"\(TIDEPOOL_[A-Z_]*\)", \(-\?[0-9]*\),.*, \(true\|false\)},.*/\1 \2 \3/p' "$native/src/base/options.cpp" >"$scratch/options.source"
[[ -s $scratch/options.source ]] || fail "no options were found in the source"
diff "$scratch/options.page" "$scratch/options.source" || fail "the table of options differs from the source"
echo ok
