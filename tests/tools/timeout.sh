#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: exactly the calls whose time ran out, of every kind and form, charged to the process that made them.
. "$(dirname "$0")/lib.sh"

columns=(poll select epoll itimer futex nanosleep signal)

# row PID - the columns of a process, without those that are 0: "poll 3 futex 1"
row()
{
	local column n words=()

	for column in "${columns[@]}"; do
		n=$(sum "$column" pid="$1")
		[ "$n" = 0 ] || words+=("$column $n")
	done
	echo "${words[*]}"
}

# run [-32] KIND MS THREADS HOW=COUNT... - runs $workloads/timeouts; sets pid
run()
{
	local program=$workloads/timeouts

	if [ "$1" = -32 ]; then
		program+=32
		shift
	fi
	pid=$("$program" "$@")
	take timeout
}

load timeout
check "since load, 20 rows" is "$(cat $debugfs/timeout/{names,interval_ms,limit} | paste -sd ' ')" "process 0 20"

# How long a call waits, ms: a point in time must not have passed when the call is made, even if the machine stands still
# for a while meanwhile.
ms() # kind
{
	case $1 in
	futex* | until_*) echo 500 ;;
	*) echo 30 ;;
	esac
}

# --- each call: those whose time ran out, and no others
calls() # column kind...
{
	local column=$1 kind hows

	for kind in "${@:2}"; do
		hows='done=3 intr=3 never=3'
		case $kind in
		futex_pi | cpu | until_cpu | usleep) hows='' ;;
		itimer_*) hows='done=3' ;;
		*nanosleep* | until_* | pause) hows='intr=3' ;;
		esac
		# shellcheck disable=SC2086 # words
		run ${bits-} "$kind" "$(ms "$kind")" 1 out=5 $hows zero=3
		check "${bits+32 bit: }$kind: 5 ran out" is "$(row "$pid")" "$column 5"
	done
}
calls poll poll ppoll
calls select select pselect6
calls epoll epoll_wait epoll_pwait epoll_pwait2
calls futex futex futex_bitset futex_realtime futex_pi futex_waitv
[ "$TAP_KNAME" != 7.3 ] || calls futex futex_wait
calls nanosleep nanosleep clock_nanosleep until_monotonic until_realtime until_boottime until_tai cpu until_cpu
# these want a clock that can wake the machine
[ ! -e /sys/class/rtc/rtc0 ] || calls nanosleep until_alarm
calls signal rt_sigtimedwait
calls itimer itimer_real itimer_virtual itimer_prof
calls nanosleep usleep pause
run sleep 1000 1 out=2
check "sleep(): 2 ran out" is "$(row "$pid")" "nanosleep 2"

bits=-32
calls poll poll ppoll ppoll_time64
calls select select old_select pselect6 pselect6_time64
calls epoll epoll_wait epoll_pwait epoll_pwait2
calls futex futex futex_time64 futex_bitset futex_pi futex_waitv
calls nanosleep nanosleep clock_nanosleep clock_nanosleep_time64 until_realtime
calls signal rt_sigtimedwait rt_sigtimedwait_time64
calls itimer itimer_real itimer_prof
unset bits

# --- threads: half of them end before the others
for kind in poll select epoll_wait futex nanosleep rt_sigtimedwait; do
	run $kind "$(ms $kind)" 64 out=4
	case $kind in
	epoll_wait) column=epoll ;;
	rt_sigtimedwait) column=signal ;;
	*) column=$kind ;;
	esac
	check "64 threads, $kind: all that ran out" is "$(row "$pid")" "$column $((32 * 4 + 32 * 2))"
done

# --- stopped and continued: one call, that goes on as another or begins anew
stopped() # process
{
	grep -q '^State:.T' "/proc/$1/status"
}
asleep() # process
{
	grep -q '^State:.S' "/proc/$1/status"
}
column_of() # kind
{
	case $1 in
	ppoll) echo poll ;;
	pselect6) echo select ;;
	futex*) echo futex ;;
	*nanosleep | until_*) echo nanosleep ;;
	*) echo "$1" ;;
	esac
}
# stop MS SECONDS KIND... - stops calls that wait for MS, and continues them SECONDS later
stop()
{
	local kind pids=()

	for kind in "${@:3}"; do
		"$workloads/timeouts" "$kind" "$1" 1 out=1 >/dev/null &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		until_true asleep "$pid"
	done
	kill -STOP "${pids[@]}"
	for pid in "${pids[@]}"; do
		until_true stopped "$pid"
	done
	sleep "$2"
	kill -CONT "${pids[@]}"
	wait "${pids[@]}"
	take timeout
	for kind in "${@:3}"; do
		check "$kind: stopped for $2 s of $1 ms, 1 ran out" is "$(row "${pids[0]}")" "$(column_of "$kind") 1"
		pids=("${pids[@]:1}")
	done
}
stop 15000 0 poll ppoll select pselect6 futex futex_bitset nanosleep clock_nanosleep until_realtime
stop 2000 3 poll futex nanosleep

# --- a timer whose owner sleeps, while others run
"$workloads/burn" user 0 &
burner=$!
run itimer_real 50 1 out=10
check "a timer is its owner's, who sleeps" is "$(row "$pid")" "itimer 10"
check "and not of who runs then" is "$(row $burner)" ""
kill $burner
wait $burner 2>/dev/null || true

# --- the lines
run poll 30 1 out=3
cat $proc/timeout >"$tmp/text"
check "the header" is "$(head -n 1 "$tmp/text")" \
	"  pid |   poll  select   epoll  itimer   futex nanosle  signal| process"
check "no more than 20 rows" is "$(grep -c '|' "$tmp/text")" 21
set_to timeout limit 0
check "a line as documented" grep -qx "$(printf '%5d |%7d %7d %7d %7d %7d %7d %7d| timeouts' "$pid" 3 0 0 0 0 0 0)" $proc/timeout
check "by the sum, the most first" sort -c -s -n -r -k 1,1 <(
	sed -n 's/^ *[0-9]* |\(.*\)|.*/\1/p' $proc/timeout | awk '{ print $1 + $2 + $3 + $4 + $5 + $6 + $7 }')
check "JSON: the total" jq -es 'map(select(.pid)) | length > 20 and
	all(.[]; .total == .poll + .select + .epoll + .itimer + .futex + .nanosleep + .signal)' $proc/timeout.json
cp "$workloads/timeouts" "$tmp/a b|"
pid=$("$tmp/a b|" poll 10 1 out=1)
check "a name is one word" grep -qx " *$pid |.*| a\\\\040b|" $proc/timeout
set_to timeout escape 0
check "or as it is" grep -qx " *$pid |.*| a b|" $proc/timeout
set_to timeout escape 1
set_to timeout filter comm=nobody
set_to timeout reset 1
run poll 10 1 out=3
check "a filter that nobody passes: nothing" is "$(sum total)" 0
set_to timeout filter ''
rmmod timeout

# --- a filter, and who reads
load timeout filter=comm=timeouts
run itimer_real 10 1 out=3
check "a filter of names: the timer's owner" is "$(row "$pid")" "itimer 3"
rmmod timeout

load timeout filter=comm=python3
python3 - <<'END'
import select, sys
file = open("/proc/tap/timeout")
for _ in range(7):
    select.select([], [], [], 0.01)
END
take timeout
check "a reader's own are left out and said" is "$(sum select) $(summary self)" "0 7"
rmmod timeout

# --- calls without a time limit need no room, and those that are given up leave none taken
load timeout inflight=16
for i in {1..40}; do
	"$workloads/timeouts" nanosleep 1000000 1 out=1 >/dev/null &
	pids[i]=$!
done
for i in {1..40}; do
	until_true asleep "${pids[i]}"
done
lost=$(sed -n 's/^lost //p' $debugfs/timeout/stats)
check "more than can be followed: lost" [ "$lost" -ge $((40 - 16)) ]
kill "${pids[@]}"
wait
check "killed: nothing is left of them" until_true grep -qx 'in_flight 0' $debugfs/timeout/stats
rmmod timeout

# --- unloaded while a thousand threads wait: they wait on, and return when they should
load timeout
pids=()
for kind in poll nanosleep futex; do
	"$workloads/timeouts" $kind 1000000 333 out=2 >/dev/null &
	pids+=($!)
done
all_wait()
{
	[ "$(sed -n 's/^in_flight //p' $debugfs/timeout/stats)" -ge 999 ]
}
check "a thousand calls are followed" until_true all_wait
check "unloaded meanwhile" rmmod timeout
for pid in "${pids[@]}"; do
	check "they wait on" is "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)" 334
done
load timeout
kill "${pids[@]}"
for pid in "${pids[@]}"; do
	status=0
	wait "$pid" || status=$?
	check "and end as they should" is $status 143
done
take timeout
check "and had no time limit that was over" is "$(sum total pid="${pids[0]}")$(sum total pid="${pids[1]}")$(sum total pid="${pids[2]}")" 000
rmmod timeout

# --- real programs
load timeout
python3 - >"$tmp/python" <<'END'
import os, select, threading, time
for _ in range(3):
    time.sleep(0.5)
for _ in range(4):
    select.select([], [], [], 0.02)
poll = select.poll()
for _ in range(5):
    poll.poll(20)
lock = threading.Lock()
lock.acquire()
for _ in range(6):
    lock.acquire(timeout=0.5)
print(os.getpid())
END
take timeout
check "python: time.sleep(), select, poll, a lock" is "$(row "$(cat "$tmp/python")")" "poll 5 select 4 futex 6 nanosleep 3"
(echo $BASHPID >"$tmp/pid" && exec sleep 0.1)
take timeout
check "sleep" is "$(row "$(cat "$tmp/pid")")" "nanosleep 1"
rmmod timeout
check "nothing is left" [ ! -e $proc ]
plan
