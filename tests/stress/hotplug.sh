#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# CPUs go and come back while all tools are at work: nothing breaks, what happened on a CPU that is gone stays counted, and
# one that is back is seen again.
. "$(dirname "$0")/../tools/lib.sh"

mapfile -t tools <TOOLS
rounds=5
cpu=/sys/devices/system/cpu/cpu1/online

for tool in "${tools[@]}"; do
	if is_stream "$tool"; then load "$tool"; else load "$tool" interval_ms=0 limit=0; fi
done
set_to topsys filter comm=calls
set_to topsys reset 1	# what those did that were loaded after it

"$workloads/tcp" accept 7001 1000000000 >"$tmp/accept"
loop()
{
	while :; do
		"$@" >/dev/null
	done
}
loop "$workloads/udp" send 127.0.0.1 9 1000 100 &
background=($!)
loop "$workloads/tcp" connect 127.0.0.1 7001 100 &
background+=($!)

# Calls on a CPU, counted while others go and come. They have no other name, so that they are all that is counted.
cycle()
{
	local i

	for ((i = 0; i < rounds; i++)); do
		echo 0 >$cpu
		cat "$proc"/* >/dev/null
		taskset -c 0 "$workloads/calls" getppid=1000 >/dev/null
		echo 1 >$cpu
		cat "$debugfs"/*/stats >/dev/null
		taskset -c 1 "$workloads/calls" getuid=1000 >/dev/null
	done
}
check "CPU 1 goes and comes back $rounds times" cycle
take topsys
check "calls on the CPU that stays" is "$(sum count syscall=getppid)" $((rounds * 1000))
check "calls on the CPU that goes" is "$(sum count syscall=getuid)" $((rounds * 1000))
check "nothing is lost" is "$(summary lost)" 0

set_to thread_times interval_ms 3600000
echo 0 >$cpu
set_to thread_times reset 1
"$workloads/burn" user 0 &
burn=$!
ticks()
{
	take thread_times
	[ "$(sum "$1" thread=burn)" -gt 100 ]
}
check "samples go on without it" until_true ticks user_ticks
check "and none are taken on it" is "$(count thread=swapper/1)" 0
kill "$burn"
wait "$burn" 2>/dev/null || true
echo 1 >$cpu
"$workloads/burn" kernel 1 &
burn=$!
check "samples are taken on it when it is back" until_true ticks kernel_ticks
kill "$burn"
wait "$burn" 2>/dev/null || true

# Loaded while it is gone: it is seen when it comes.
echo 0 >$cpu
for tool in topsys tcp_connections thread_times nettop; do
	rmmod "$tool"
done
load topsys interval_ms=0 filter=comm=calls
load thread_times interval_ms=0
load tcp_connections filter=comm=nobody
load nettop interval_ms=0
echo 1 >$cpu
taskset -c 1 "$workloads/calls" getppid=777 >/dev/null
take topsys
check "loaded without it: calls on it are counted" is "$(sum count syscall=getppid)" 777
"$workloads/burn" kernel 1 &
burn=$!
check "loaded without it: samples are taken on it" until_true ticks kernel_ticks
kill "$burn"
wait "$burn" 2>/dev/null || true

# Unloaded while it is gone.
echo 0 >$cpu
kill "${background[@]}" "$(<"$tmp/accept")"
wait "${background[@]}" 2>/dev/null || true
for tool in "${tools[@]}"; do
	check "unloaded without it: $tool" rmmod "$tool"
done
echo 1 >$cpu
check "/proc/tap is gone" [ ! -e $proc ]
plan
