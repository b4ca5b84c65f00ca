#!/usr/bin/env bash
# git imports a history, packs it with several threads, verifies it; the commits are those of a git without the library.
source "$(dirname "$0")/common.sh"
need git git

commits=1500
if [[ $TIDEPOOL_ALL == 1 ]]; then commits=12000; fi
export GIT_CONFIG_GLOBAL=$PWD/config GIT_CONFIG_NOSYSTEM=1
git config --global init.defaultBranch main

history() {
  awk -v commits="$commits" 'BEGIN {
    srand(7)
    for (c = 1; c <= commits; c++) {
      text = ""
      lines = 20 + int(rand() * 60)
      for (i = 0; i < lines; i++) text = text "line " i " of version " (i % 5 == 0 ? c : int(c / 50)) " " int(rand() * 3) "\n"
      printf "commit refs/heads/main\ncommitter A U Thor <author@example.org> %d +0000\ndata 10\nchange %3d\n", 1700000000 + c * 60, c % 1000
      printf "M 100644 inline folder%d/file%d.txt\ndata %d\n%s\n", c % 7, c % 97, length(text), text
    }
    print "done"
  }'
}
history >history.txt

git init -q --bare plain.git
git -C plain.git fast-import --quiet --done <history.txt
under git init -q --bare ours.git
under git -C ours.git fast-import --quiet --done <history.txt
[[ $(git -C plain.git rev-parse main) == "$(git -C ours.git rev-parse main)" ]] || fail "the commits differ"
under git -C ours.git -c pack.threads=4 -c pack.window=50 gc --aggressive --prune=now --quiet
under git -C ours.git fsck --full --strict --no-dangling >fsck.txt 2>&1 || { cat fsck.txt; fail "fsck finds errors"; }
git -C ours.git fsck --full --strict --no-dangling >fsck.txt 2>&1 || { cat fsck.txt; fail "fsck without the library finds errors"; }
under git clone -q ours.git ours
[[ $(under git -C ours log --oneline | wc -l) -eq $commits ]] || fail "the clone has another history"
under git -C ours log -p --stat >ours.log
git -C plain.git log -p --stat main >plain.log
cmp ours.log plain.log || fail "the logs differ"
under git -C ours blame folder1/file1.txt >/dev/null
