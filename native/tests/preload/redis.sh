#!/usr/bin/env bash
# redis-server under the library serves redis-benchmark, keeps what it is told and ends cleanly.
source "$(dirname "$0")/common.sh"
need redis-server redis-server
need redis-benchmark redis-tools

requests=20000
if [[ $TIDEPOOL_ALL == 1 ]]; then requests=200000; fi

server=''
trap '[[ -z $server ]] || kill "$server" 2>/dev/null || true' EXIT
client() { redis-cli -h 127.0.0.1 -p "$port" "$@"; }

for _ in 1 2 3 4 5; do
  port=$((20000 + RANDOM % 20000))
  LD_PRELOAD=$TIDEPOOL_PRELOAD redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no --dir "$PWD" \
    --daemonize no >server.log 2>&1 &
  server=$!
  for _ in {1..600}; do
    if [[ $(client ping 2>/dev/null) == PONG ]]; then break 2; fi
    kill -0 "$server" 2>/dev/null || break # the port was taken
    sleep 0.1
  done
  kill "$server" 2>/dev/null || true
  wait "$server" || true
  server=''
done
[[ -n $server ]] || { cat server.log; fail "redis-server did not start"; }
grep -q libtidepool-preload "/proc/$server/maps" || fail "redis-server runs without the library"

redis-benchmark -h 127.0.0.1 -p "$port" -n "$requests" -r 5000 -d 200 -P 8 -t set,get,incr,lpush,rpop,sadd,hset,zadd,mset -q >bench.txt
redis-benchmark -h 127.0.0.1 -p "$port" -n "$((requests / 10))" -r 500 -d 20000 -c 20 -t set,get -q >>bench.txt
[[ $(grep -c 'requests per second' bench.txt) -ge 11 ]] || { cat bench.txt; fail "not every benchmark ran"; }

value=$(printf 'v%.0s' {1..3000})
for i in {1..300}; do printf 'SET kept:%d %s%d\n' "$i" "$value" "$i"; done | client >/dev/null
for i in 1 150 300; do [[ $(client get "kept:$i") == "$value$i" ]] || fail "a value changed"; done
client eval 'local t = {} for i = 1, 5000 do t[i] = ("x"):rep(i % 300) end return #table.concat(t)' 0 >/dev/null
[[ $(client memory purge) == OK ]] || fail "memory purge"
client save >/dev/null # forks in other configurations; here writes the file
client config set save '' >/dev/null
client bgsave >/dev/null # a child of fork reads all of it
for _ in {1..600}; do
  if [[ $(client info persistence) == *rdb_bgsave_in_progress:0* ]]; then break; fi
  sleep 0.1
done
[[ $(client info persistence) == *rdb_last_bgsave_status:ok* ]] || fail "the child of fork failed"
client flushall >/dev/null
client shutdown nosave 2>/dev/null || true
code=0
wait "$server" || code=$?
server=''
[[ $code -eq 0 ]] || { tail server.log; fail "redis-server ended with $code"; }
