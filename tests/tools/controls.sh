#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What every tool does the same way: switched on and off, windows and their edges, stats, several who change things.
. "$(dirname "$0")/lib.sh"

mapfile -t tools <TOOLS
cpus=$(nproc)

calls() # count on each CPU
{
	"$workloads/calls" "getppid=$1" >/dev/null
}
# How many of these calls topsys shows.
shown()
{
	local name count

	while read -r name count _; do
		[ "$name" != getppid ] || break
	done <$proc/topsys
	echo "${count:-0}"
}
state()
{
	local text

	text=$(<$proc/topsys)
	text=${text##* state=}
	echo "${text%% *}"
}
connections() # count
{
	local pid

	pid=$("$workloads/tcp" accept 7000 "$1")
	"$workloads/tcp" connect 127.0.0.1 7000 "$1" >/dev/null
	until_true [ ! -e "/proc/$pid" ]
}

# --- on and off
load topsys interval_ms=0 limit=0 enabled=0 filter=comm=calls
load tcp_connections enabled=0
# all of them take some seconds each time
load socket_trace enabled=0 functions=sock_poll
load nettop interval_ms=0 enabled=0
load thread_times interval_ms=0 enabled=0 hz=100
for tool in "${tools[@]}"; do
	[ -e "$proc/$tool" ] || load "$tool" enabled=0
done
calls 10
connections 10
check "loaded with enabled=0: topsys counts nothing" is "$(shown)" 0
check "loaded with enabled=0: no events" is "$(wc -l <$proc/tcp_connections)" 1
for tool in nettop thread_times; do
	check "loaded with enabled=0: $tool counts nothing" grep -q ' rows=0 shown=0 events=0 ' "$proc/$tool"
done
for tool in "${tools[@]}"; do
	check "$tool: enabled=0: nothing is hooked" nothing grep -v ': none$' < <(grep '^hook ' "$debugfs/$tool/stats")
	set_to "$tool" enabled 1
	check "$tool: enabled=1: something is" grep -q '^hook .*: [^n]' "$debugfs/$tool/stats"
done
calls 10
connections 10
check "enabled=1: topsys counts" is "$(shown)" $((10 * cpus))
check "enabled=1: events" is "$(wc -l <$proc/tcp_connections)" 11
for tool in nettop thread_times; do
	check "enabled=1: $tool counts" until_true grep -q ' events=[1-9]' "$proc/$tool"
done
for tool in "${tools[@]}"; do
	set_to "$tool" enabled 0
	set_to "$tool" enabled 0
done
calls 1000
connections 1
check "enabled=0 again: what was counted stays" is "$(shown)" $((10 * cpus))
check "enabled=0 again: no more events" is "$(wc -l <$proc/tcp_connections)" 11
for tool in nettop thread_times; do
	before=$(grep -o 'events=[0-9]*' "$proc/$tool")
	check "enabled=0 again: $tool counts no more" is "$before" "$(grep -o 'events=[0-9]*' "$proc/$tool")"
done
for tool in "${tools[@]}"; do
	set_to "$tool" enabled 1
done
calls 1
connections 1
check "enabled=1 again: topsys goes on" is "$(shown)" $((11 * cpus))
check "enabled=1 again: events go on" is "$(wc -l <$proc/tcp_connections)" 12
taskset -c 1 "$workloads/calls" getppid=1000000000 >/dev/null &
calls=$!
for _ in {1..3}; do
	for tool in "${tools[@]}"; do
		set_to "$tool" enabled 0
		set_to "$tool" enabled 1
	done
done
kill $calls
wait $calls 2>/dev/null || true

# --- reset
set_to topsys reset 1
set_to tcp_connections reset 1
check "reset: topsys is empty" grep -q ' state=running rows=0 shown=0 events=0 ' $proc/topsys
check "reset: no events" is "$(wc -l <$proc/tcp_connections)" 1
calls 7
connections 7
check "reset: topsys goes on" is "$(shown)" $((7 * cpus))
check "reset: events go on" is "$(grep -c 7000 $proc/tcp_connections)" 7
check "reset: forgotten events are not lost ones" nothing grep lost $proc/tcp_connections

# --- flip returns when the window is published
set_to topsys interval_ms 3600000
check "interval_ms changes: counted from then on" is "$(shown) $(state)" "0 partial"
right=0
for i in {1..8}; do
	calls "$i"
	set_to topsys flip 1
	[ "$(shown) $(state)" != "$((i * cpus)) complete" ] || right=$((right + 1))
done
check "flip: the next open has the window that ended" is "$right" 8
calls 5
check "flip: and none of the next" is "$(shown)" $((8 * cpus))
set_to topsys reset 1
check "reset: there is no complete window" is "$(shown) $(state)" "0 partial"
set_to topsys interval_ms 1000
calls 3
check "interval_ms: the window completes" until_true grep -q 'state=complete' $proc/topsys
check "interval_ms: and is over" until_true grep -q 'rows=0' $proc/topsys
set_to topsys interval_ms 0
check "interval_ms=0: from then on" is "$(shown) $(state)" "0 running"
calls 2
set_to topsys flip 1
calls 2
check "interval_ms=0: flip does not end anything" is "$(shown) $(state)" "$((4 * cpus)) running"

# --- at the edge of a window no event is lost or counted twice
total()
{
	jq -s 'map(select(.syscall == "getppid").count) | add' "$1"
}
# The windows in a file have numbers without a gap.
contiguous()
{
	jq -r 'select(.summary).window' "$1" | awk 'NR > 1 && $1 != last + 1 { exit 1 } { last = $1 }'
}
set_to topsys interval_ms 3600000
"$workloads/calls" getppid=1000000 >/dev/null &
calls=$!
flips=0
while kill -0 $calls 2>/dev/null; do
	set_to topsys flip 1
	printf '%s\n' "$(<$proc/topsys.json)"
	flips=$((flips + 1))
	jobs >/dev/null	# so that the shell knows when it is gone
done >"$tmp/windows"
wait $calls
set_to topsys flip 1
cat $proc/topsys.json >>"$tmp/windows"
check "$flips flips while calls are made: each window once" contiguous "$tmp/windows"
check "$flips flips while calls are made: their sum is exact" is "$(total "$tmp/windows")" $((1000000 * cpus))

# The same with windows that end by themselves. A follower that comes too late for one proves nothing: again.
set_to topsys interval_ms 100
last_window()
{
	[ "$(jq -r 'select(.summary).window' "$tmp/windows" | tail -n 1)" -gt "$1" ]
}
for try in {1..10}; do
	: >"$tmp/windows"
	"$workloads/hold" $proc/topsys.json follow=1000000 >"$tmp/windows" &
	follower=$!
	until_true last_window 0
	calls 200000
	# What was counted last is in the window that runs now: the one after that is enough.
	now=$(jq 'select(.summary).window' $proc/topsys.json)
	until_true last_window $((now + 2))
	kill $follower
	wait $follower 2>/dev/null || true
	! contiguous "$tmp/windows" || break
done
windows=$(grep -c summary "$tmp/windows")
check "windows of 100 ms: one follower of $try saw each" contiguous "$tmp/windows"
check "windows of 100 ms: the sum over $windows is exact" is "$(total "$tmp/windows")" $((200000 * cpus))

# --- limit
set_to topsys filter ""
set_to topsys interval_ms 3600000
ls / >/dev/null
set_to topsys flip 1
for limit in 1 5 1000000; do
	set_to topsys limit $limit
	rows=$(jq -s length $proc/topsys.json)
	rows=$((rows - 1))
	check "limit=$limit: lines" is "$(sed '1d; $d' $proc/topsys | wc -l)" $((limit < rows ? limit : rows))
	check "limit=$limit: the trailer says so" grep -q " rows=$rows shown=$((limit < rows ? limit : rows)) " $proc/topsys
done
set_to topsys limit 0
check "limit=0: all" is "$(sed '1d; $d' $proc/topsys | wc -l)" "$rows"

# --- stats
keys()
{
	sed -E 's/^(hook|refused:|changed by:).*/\1/; t; s/ [0-9]+$//' "$1" | uniq | paste -sd ' '
}
set_to topsys limit 1000
changed="changed by: $(sed 's/ /\\040/g' /proc/$$/comm)($$)"
check "stats: table" is "$(keys $debugfs/topsys/stats)" \
	"events self lost rows max_rows full bytes missed untracked hook changed by:"
check "stats: stream" is "$(keys $debugfs/tcp_connections/stats)" \
	"events self lost overwritten bytes missed untracked hook changed by:"
check "stats: who changed something last" grep -qx "$changed" $debugfs/topsys/stats
bash -c "echo \$\$ >$tmp/pid; echo 2000 >$debugfs/topsys/limit"
check "stats: somebody else did" grep -qx "changed by: bash($(cat "$tmp/pid"))" $debugfs/topsys/stats
set_to topsys limit x 2>/dev/null || true
check "stats: a refused write" grep -qx 'refused: limit=x: allowed is 0 to 1000000' $debugfs/topsys/stats
check "stats: who was refused did not change anything" grep -qx "changed by: bash($(cat "$tmp/pid"))" $debugfs/topsys/stats
set_to topsys limit 3000
check "stats: the last refused write stays" grep -qx 'refused: limit=x: allowed is 0 to 1000000' $debugfs/topsys/stats
set_to topsys filter comm=calls
before=$(sed -n 's/^events //p' $debugfs/topsys/stats)
calls 100
check "stats: events since load" [ "$(sed -n 's/^events //p' $debugfs/topsys/stats)" -ge $((before + 100 * cpus)) ]

# --- two who change the same things, and one who looks
settings=("$debugfs"/topsys/{filter,interval_ms,limit,enabled})
admin() # filter interval_ms
{
	local i

	for ((i = 0; i < 30; i++)); do
		set_to topsys filter "$1"
		set_to topsys filter "tree=$$"
		set_to topsys interval_ms "$2"
		set_to topsys enabled $((i % 2))
		set_to topsys reset 1
		# refused
		set_to topsys filter "$1,no=1" || true
		set_to topsys filter tree=4194305 || true
	done 2>/dev/null
}
look()
{
	local i

	for ((i = 0; i < 100; i++)); do
		for setting in "${settings[@]}" "$debugfs/topsys/stats" /sys/module/topsys/parameters/filter; do
			echo "${setting##*/} $(<"$setting")"
		done
	done
}
admin uid=0,comm=one,pid=1,tid=1,cgroup=1 0 &
admins=($!)
admin comm=two 200 &
admins+=($!)
look >"$tmp/seen" &
admins+=($!)
wait "${admins[@]}"
check "two change the same things: a reader sees only what was written" nothing \
	grep -vxE "(events|self|lost|rows|max_rows|full|bytes|missed|untracked|hook|changed|refused:|stats) .*|(filter (uid=0,comm=one,pid=1,tid=1,cgroup=1|comm=two|comm=calls|tree=$$))|interval_ms (0|200|3600000)|limit 3000|enabled [01]" "$tmp/seen"
check "two change the same things: the second's or the first's is left" \
	grep -qxE "tree=$$" $debugfs/topsys/filter
set_to topsys filter comm=calls
set_to topsys interval_ms 0
set_to topsys enabled 1
set_to topsys reset 1
calls 100
check "two change the same things: it works afterwards" is "$(shown)" $((100 * cpus))
for tool in "${tools[@]}"; do
	rmmod "$tool"
done
check "nothing is left" [ ! -e $proc ]
plan
