#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# futexes: exactly the calls that waited, at the right lock and for as long as the waiters measured it, whatever waits.
. "$(dirname "$0")/lib.sh"

# run KIND WAITERS MS [locks32] - runs $workloads/locks; sets pids, lock, us
run()
{
	local words

	set_to futexes reset 1
	read -ra words < <("$workloads/${4-locks}" "${@:1:3}")
	pids=("${words[@]:0:${#words[@]}-3}")
	read -r lock _ us <<<"${words[*]: -3}"
	take futexes
}

# at FIELD PID LOCK - a field of one lock's row, 0 if there is none
at()
{
	sum "$1" pid="$2" lock="$3"
}

# around FIELD PID OBJECT - a field added up over the words of an object of the C library
around()
{
	local i total=0

	for ((i = 0; i < 64; i += 4)); do
		total=$((total + $(at "$1" "$2" "$(printf '0x%x' $(($3 + i)))")))
	done
	echo "$total"
}

# near US MEASURED - as long as was measured: a little less, since that is around the call
near()
{
	[ "$1" -le "$2" ] && [ "$1" -ge $(($2 * 95 / 100)) ] && return
	echo "$1 us where $2 were measured"
	return 1
}

load futexes
check "since load, all rows" is "$(cat $debugfs/futexes/{names,interval_ms,limit,hist} | paste -sd ' ')" "process 0 0 0"

kinds=(mutex pi wait bitset requeue_pi waitv timeout interrupted)
[ "$TAP_KNAME" = 6.1 ] || kinds+=(futex_wait)
for kind in "${kinds[@]}"; do
	run "$kind" 5 400
	check "$kind: each waiter waited once" is "$(at count "${pids[0]}" "$lock")" 5
	check "$kind: as long as it measured" near "$(at total_us "${pids[0]}" "$lock")" "$us"
	check "$kind: none less than the lock was held" [ "$(at min_us "${pids[0]}" "$lock")" -ge 399000 ]
	check "$kind: the average is total by count" is "$(at avg_us "${pids[0]}" "$lock")" \
		$(($(at total_us "${pids[0]}" "$lock") / 5))
done

for kind in cond barrier rwlock; do
	run "$kind" 5 400
	check "$kind: each waiter waited once" is "$(around count "${pids[0]}" "$lock")" 5
	# what took them to get the mutex again is no part of it
	[ "$kind" = cond ] ||
		check "$kind: as long as it measured" near "$(around total_us "${pids[0]}" "$lock")" "$us"
done

run shared 5 400
check "shared: five processes" is "$(count lock="$lock")" 5
for pid in "${pids[@]}"; do
	check "shared: each waited once" is "$(at count "$pid" "$lock")" 1
done
check "shared: as long as they measured" near "$(sum total_us lock="$lock")" "$us"

for kind in changed free; do
	run "$kind" 5 100
	check "$kind: nobody waited" is "$(at count "${pids[0]}" "$lock")" 0
done

for kind in mutex pi waitv timeout; do
	run "$kind" 5 200 locks32
	check "32 bit, $kind: each waiter waited once" is "$(at count "${pids[0]}" "$lock")" 5
	check "32 bit, $kind: as long as it measured" near "$(at total_us "${pids[0]}" "$lock")" "$us"
done

# --- stopped and continued: the call goes on as another one, and is one wait
set_to futexes reset 1
"$workloads/locks" timeout 1 2000 >"$tmp/out" &
pid=$!
sleep 0.5
kill -STOP $pid
sleep 0.5
kill -CONT $pid
wait $pid
read -r _ lock _ us <"$tmp/out"
take futexes
check "interrupted by a stop: one wait" is "$(at count "$pid" "$lock")" 1
check "interrupted by a stop: all of its time" near "$(at total_us "$pid" "$lock")" "$us"

# --- the lines
run mutex 3 200
line="locks\[${pids[0]}\] lock $lock contended 3 times, $(at avg_us "${pids[0]}" "$lock") avg us"
check "a line as documented" grep -qx "$line" $proc/futexes
check "no header" is "$(head -n 1 $proc/futexes | grep -c 'contended')" 1
set_to futexes hist 1
check "hist=1: min and max" grep -qx "$line, $(at min_us "${pids[0]}" "$lock") min us, $(at max_us "${pids[0]}" "$lock") max us" \
	$proc/futexes
set_to futexes hist 0
sed -n 's/^locks\[\([0-9]*\)\] lock \(0x[0-9a-f]*\) .*/\1 \2/p' $proc/futexes >"$tmp/order"
check "in order of pid and address" cmp "$tmp/order" <(
	while read -r process at; do
		printf '%d %d %s %s\n' "$process" "$at" "$process" "$at"
	done <"$tmp/order" | sort -n -k1,1 -k2,2 | cut -d ' ' -f 3-
)
check "JSON" jq -es 'map(select(.lock)) | length > 0 and all(.[]; (.lock | test("^0x[0-9a-f]+$")) and .count > 0 and
	.min_us <= .avg_us and .avg_us <= .max_us)' $proc/futexes.json
set_to futexes filter comm=nobody
run mutex 3 100
check "a filter that nobody passes: nothing" is "$(sum count)" 0
rmmod futexes

# --- more than there is room for
load futexes max_rows=16
for i in {1..30}; do
	"$workloads/locks" timeout 1 1 >/dev/null
done
take futexes
# who waits for a thread to end may wait once more
check "more locks than rows: all are there" [ "$(sum count)" -ge 30 ]
check "more locks than rows: as many as the trailer says" is "$(sum count)" "$(summary events)"
check "more locks than rows: no more rows" [ "$(summary rows)" -le 18 ]
rmmod futexes

load futexes inflight=16
run shared 40 200
lost=$(sed -n 's/^lost //p' $debugfs/futexes/stats)
check "more waiters than can be followed: the rest is lost" is "$(sum count lock="$lock") ${lost:-$(summary lost)}" "16 24"
rmmod futexes

load futexes
"$workloads/locks" timeout 5 1000000 >/dev/null &
until_true grep -qx 'in_flight [5-9]' $debugfs/futexes/stats
kill $!
wait $! || true
check "killed waiters: nothing is left of them" until_true grep -qx 'in_flight 0' $debugfs/futexes/stats
rmmod futexes

# --- a real program: Python's threads and their locks
load futexes filter=comm=python3
python3 - >"$tmp/python" <<'END'
import os, threading, time

lock = threading.Lock()
lock.acquire()
threads = [threading.Thread(target=lambda: (lock.acquire(), lock.release())) for _ in range(4)]
for thread in threads:
    thread.start()
time.sleep(0.5)
lock.release()
for thread in threads:
    thread.join()
print(os.getpid())
END
take futexes
check "python's threads wait" [ "$(sum count pid="$(cat "$tmp/python")")" -ge 4 ]
rmmod futexes
check "nothing is left" [ ! -e $proc ]
plan
