#!/bin/sh
# Owns one throw-away PostgreSQL server: makes it, starts and stops it when told, and removes it when its input ends,
# which is also what happens when the process at the other end is killed. It runs as the server's user, in a session of
# its own, so that neither Ctrl+C nor the end of a terminal reaches it or the server.
#
#   postgres.sh PROGRAMS PLACE [SETTING...]     folder of initdb, folder to work in, lines of postgresql.conf
#
# The first line of input is the password of the user postgres; each line after it is a command. Each gets one line of
# answer, "ok" or "error" and what follows. The first answer comes when the cluster is made, and names its folder.
set -u
umask 077
trap '' PIPE INT HUP
export LC_ALL=C
unset PGDATA PGPORT PGHOST PGUSER PGDATABASE PGOPTIONS

programs=$1
place=$2
shift 2
server=

is_running() { [ -n "$server" ] && kill -0 "$server" 2>/dev/null; }

# say_error WHAT: the answer, with the end of what the programs wrote.
say_error() { echo "error $1. $(tail -n 8 "$folder/log" | tr '\n' ' ')"; }

# is_ready: whether the server accepts connections; it says so in line 8 of its file.
is_ready() {
  {
    read -r process && read -r _ && read -r _ && read -r _ && read -r _ && read -r _ && read -r _ && read -r state
  } 2>/dev/null <"$folder/data/postmaster.pid" && [ "$process" = "$server" ] && [ "$state" = ready ]
}

# start PORT
start() {
  if is_running; then
    echo "error it is running"
    return
  fi
  "$programs/postgres" -D "$folder/data" -c "port=$1" </dev/null >>"$folder/log" 2>&1 &
  server=$!
  waited=0
  until is_ready; do
    waited=$((waited + 1))
    if ! is_running || [ "$waited" -gt 6000 ]; then
      stop QUIT
      say_error "the server did not start"
      return
    fi
    sleep 0.01
  done
  echo "ok $server"
}

# stop SIGNAL: INT is the fast way, QUIT the immediate one. What hangs is ended the hard way.
stop() {
  waited=0
  if is_running; then kill -"$1" "$server"; fi
  while is_running; do
    waited=$((waited + 1))
    case $waited in
      3000) kill -QUIT "$server" ;;
      4000) kill -KILL "$server" ;;
    esac
    sleep 0.01
  done
  server=
}

# signal NAME PROCESS
signal() { if kill -"$1" "$2" 2>/dev/null; then echo ok; else echo "error no process $2"; fi; }

read -r password || exit 1
folder=$(mktemp -d "$place/tidepool-pg.XXXXXX" 2>/dev/null) || folder=$(mktemp -d /tmp/tidepool-pg.XXXXXX) || {
  echo "error no folder can be made in $place or /tmp"
  exit 1
}
trap 'stop QUIT; cd /; rm -rf "${folder:?}"' EXIT
trap 'exit 1' TERM
cd "$folder" || exit 1

printf '%s' "$password" >password
if ! "$programs/initdb" -D data -U postgres -A scram-sha-256 --pwfile=password -E UTF8 --locale=C --no-sync --no-instructions \
  --wal-segsize=1 </dev/null >log 2>&1; then
  say_error "the cluster could not be made"
  exit 1
fi
rm password
printf '%s\n' "unix_socket_directories = '$folder'" "$@" >>data/postgresql.conf
echo "ok $folder"

while read -r verb argument; do
  case $verb in
    start) start "$argument" ;;
    stop) stop "$argument" && echo ok ;;
    drain) signal TERM "$server" ;;
    reload) signal HUP "$server" ;;
    kill) signal KILL "$argument" ;;
    *) echo "error no such command: $verb" ;;
  esac
done
