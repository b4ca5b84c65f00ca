#!/usr/bin/env bash
# Old code and new code of native/MIGRATE.md are compiled and run, and print what the page says.
source "$(dirname "$0")/../common.sh"

installed
run_blocks "$native/MIGRATE.md"
[[ $((programs + absent)) -eq 4 ]] || fail "$programs programs were found, and $absent that need Boost"
if [[ $absent -gt 0 ]]; then
  echo "skipped: the headers of boost::pool are missing: apt-get install libboost-dev"
  exit 77
fi
echo ok
