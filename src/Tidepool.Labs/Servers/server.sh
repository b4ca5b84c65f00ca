#!/bin/sh
# Owns one throw-away database server: makes it, starts and stops it when told, and removes it when its input ends,
# which is also what happens when the process at the other end is killed. It runs as the server's user, in a session of
# its own, so that neither Ctrl+C nor the end of a terminal reaches it or the server.
#
#   server.sh postgres FOLDER PLACE [SETTING...]      folder of initdb, folder to work in, lines of postgresql.conf
#   server.sh mariadb PROGRAMS PLACE [SETTING...]     mariadbd:mariadb-install-db, folder, lines of my.cnf
#
# The first line of input is the password of the administrator (postgres, or root); each line after it is a command.
# Each gets one line of answer, "ok" or "error" and what follows. The first answer comes when the server is made, and
# names its folder.
set -u
umask 077
trap '' PIPE INT HUP
export LC_ALL=C
unset PGDATA PGPORT PGHOST PGUSER PGDATABASE PGOPTIONS

kind=$1
programs=$2
place=$3
shift 3
server=

is_running() { [ -n "$server" ] && kill -0 "$server" 2>/dev/null; }

# say_error WHAT: the answer, with the end of what the programs wrote.
say_error() { echo "error $1. $(tail -n 8 "$folder/log" | tr '\n' ' ')"; }

# make: the server's files, with the administrator's password.
make() {
  case $kind in
    postgres)
      printf '%s' "$password" >password
      "$programs/initdb" -D data -U postgres -A scram-sha-256 --pwfile=password -E UTF8 --locale=C --no-sync \
        --no-instructions --wal-segsize=1 </dev/null >log 2>&1 || return 1
      rm password
      printf '%s\n' "unix_socket_directories = '$folder'" "$@" >>data/postgresql.conf
      ;;
    mariadb)
      "${programs#*:}" --no-defaults --datadir="$folder/data" --skip-test-db --skip-name-resolve \
        --auth-root-authentication-method=normal </dev/null >log 2>&1 || return 1
      printf '%s\n' '[mariadbd]' "socket=$folder/s" "pid-file=$folder/pid" "$@" >my.cnf
      # The server runs these at its first start, before it takes connections.
      printf '%s\n' "CREATE OR REPLACE USER 'root'@'127.0.0.1' IDENTIFIED BY '$password';" \
        "GRANT ALL ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION;" \
        "DROP USER IF EXISTS 'root'@'localhost', 'root'@'::1';" "CREATE DATABASE lab;" >first.sql
      ;;
  esac
}

# launch PORT: begins to run the server.
launch() {
  case $kind in
    postgres) "$programs/postgres" -D "$folder/data" -c "port=$1" </dev/null >>"$folder/log" 2>&1 & ;;
    mariadb)
      rm -f pid
      set -- --defaults-file="$folder/my.cnf" --datadir="$folder/data" --port="$1"
      if [ -e first.sql ]; then set -- "$@" --init-file="$folder/first.sql"; fi
      "${programs%%:*}" "$@" </dev/null >>"$folder/log" 2>&1 &
      ;;
  esac
  server=$!
}

# is_ready: whether the server accepts connections. PostgreSQL says so in line 8 of its file; the last line of MariaDB's
# start is written when it does.
is_ready() {
  case $kind in
    postgres)
      {
        read -r process && read -r _ && read -r _ && read -r _ && read -r _ && read -r _ && read -r _ && read -r state
      } 2>/dev/null <"$folder/data/postmaster.pid" && [ "$process" = "$server" ] && [ "$state" = ready ]
      ;;
    mariadb) [ "$(grep -c "port: $port " "$folder/log")" -gt "$starts" ] ;;
  esac
}

# start PORT
start() {
  if is_running; then
    echo "error it is running"
    return
  fi
  port=$1
  starts=$(grep -c "port: $port " "$folder/log")
  launch "$port"
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
  rm -f first.sql
  echo "ok $server"
}

# stop SIGNAL: for PostgreSQL INT is the fast way, QUIT the immediate one. MariaDB knows TERM, and nothing but KILL is
# immediate. What hangs is ended the hard way.
stop() {
  signal=$1
  case $kind$1 in
    mariadbINT) signal=TERM ;;
    mariadbQUIT) signal=KILL ;;
  esac
  waited=0
  if is_running; then kill -"$signal" "$server"; fi
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

# send NAME PROCESS
send() { if kill -"$1" "$2" 2>/dev/null; then echo ok; else echo "error no process $2"; fi; }

read -r password || exit 1
folder=$(mktemp -d "$place/tidepool-$kind.XXXXXX" 2>/dev/null) || folder=$(mktemp -d "/tmp/tidepool-$kind.XXXXXX") || {
  echo "error no folder can be made in $place or /tmp"
  exit 1
}
trap 'stop QUIT; cd /; rm -rf "${folder:?}"' EXIT
trap 'exit 1' TERM
cd "$folder" || exit 1

if ! make "$@"; then
  say_error "the server could not be made"
  exit 1
fi
echo "ok $folder"

while read -r verb argument; do
  case $verb in
    start) start "$argument" ;;
    stop) stop "$argument" && echo ok ;;
    drain) send TERM "$server" ;;
    reload) send HUP "$server" ;;
    kill) send KILL "$argument" ;;
    *) echo "error no such command: $verb" ;;
  esac
done
