#!/usr/bin/env bash
# python3 runs its own test modules, with every object of the interpreter from malloc.
source "$(dirname "$0")/common.sh"
need python3 python3

version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
if ! python3 -c 'import test.test_dict, test.test_json' 2>/dev/null; then
  echo "python3's own tests are missing: apt-get install libpython$version-testsuite"
  exit 77
fi

modules=(test_dict test_list test_bytes test_struct test_json test_deque test_heapq test_weakref test_gc)
if [[ $TIDEPOOL_ALL == 1 ]]; then
  modules+=(test_set test_generators test_unicode test_long test_re test_pickle test_io test_threading test_queue test_subprocess test_fork1
    test_multiprocessing_fork test_concurrent_futures test_sqlite3 test_ctypes test_array test_memoryview test_zlib
    test_xml_etree test_decimal test_collections test_descr test_email test_tarfile test_asyncio)
fi

export PYTHONMALLOC=malloc PYTHONDONTWRITEBYTECODE=1
under python3 -c 'assert "libtidepool-preload" in open("/proc/self/maps").read()'
# Tests that are not there in this version say nothing about the library.
known=()
for module in "${modules[@]}"; do
  if python3 -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('test.$module') is None)"; then known+=("$module"); fi
done

# run LOG PROCESSES PYTHON... -- MODULE...: the modules that fail or hang, one on a line. Each module has a process of its own,
# so that one that hangs costs no other its result; what every thread of it was doing stands in the log.
run() {
  local log=$1 processes=$2 python=()
  shift 2
  while [[ $1 != -- ]]; do
    python+=("$1")
    shift
  done
  shift
  "${python[@]}" -m test -j "$processes" --timeout 600 "$@" >"$log" 2>&1 || true
  if grep -q 'Tests\{0,1\} result: SUCCESS' "$log"; then return; fi
  grep -q 'Tests\{0,1\} result: FAILURE' "$log" || { tail -n 60 "$log" >&2; fail "python3's tests did not finish"; }
  sed -n '/tests\{0,1\} failed:/,/^$/p' "$log" | grep -oE '\btest_[a-z0-9_]+(\.[a-z0-9_]+)*' | sort -u
}

failed=$(run first.log "$(nproc)" under python3 -- "${known[@]}")
[[ -n $failed ]] || exit 0
# Python's tests of processes hang now and then without any library (a fork copies the locks of its own threads): what
# failed has to pass as often as it is tried again, or to fail without the library too. One at a time: none disturbs another.
cat first.log
mapfile -t failed <<<"$failed"
for attempt in 1 2 3; do
  again=$(run "again.$attempt.log" 1 under python3 -- "${failed[@]}")
  only=$again
  for plain in 1 2 3; do
    [[ -n $only ]] || break
    mapfile -t without <<<"$only"
    only=$(comm -23 <(echo "$only") <(run "without.$plain.log" 1 python3 -- "${without[@]}"))
  done
  [[ -z $only ]] || { tail -n 200 "again.$attempt.log"; fail "fails under the library only: $only"; }
  # What has failed both ways says nothing about the library, however often it is tried.
  mapfile -t failed < <(comm -23 <(printf '%s\n' "${failed[@]}") <(echo "$again"))
  [[ ${#failed[@]} -ne 0 ]] || break
done
