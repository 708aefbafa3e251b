#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# stress-ng for ten seconds (TAP_LONG: a minute) with all tools of system calls, locks and profiles: they agree on how often
# what they all see came to pass, and what is lost is counted.
. "$(dirname "$0")/../tools/lib.sh"

seconds=${TAP_LONG:+60}
seconds=${seconds:-10}
futex=__x64_sys_futex
hold stress-ng --quiet --timeout "$seconds" --seed 1 --futex 2 --pthread 1 --poll 1 --epoll 1 \
	--nanosleep 1 --itimer 1 --fork 1 --vfork 1 --switch 1 --mutex 2 --sock 1 --vm 1 --vm-bytes 16m
load functioncallcount functions=$futex interval_ms=0 limit=0 filter=tree=$held
for tool in topsys syscalls_by_proc; do
	load "$tool" interval_ms=0 limit=0 filter=tree=$held
done
for tool in futexes thread_times timeout; do
	load "$tool" interval_ms=0 limit=0
done
# 3: one of its kinds found no resources, which does not matter
status=0
finish || status=$?
check "stress-ng ran" [ $status = 0 -o $status = 3 ]
# some of its processes may be a little longer there than itself
quiet()
{
	local count

	take topsys
	count=$(sum count)
	sleep 0.3
	take topsys
	is "$(sum count)" "$count"
}
check "it has ended" until_true quiet
# how many calls, and how many of futex(), were seen, and lost
topsys=$(take topsys; echo "$(sum count) $(sum count syscall=futex) $(summary lost)")
check "there was something to see" [ "${topsys%% *}" -gt 10000 ]
check "each system call is in topsys and in syscalls_by_proc, and none is lost" is \
	"$(take syscalls_by_proc; sum count) $(summary lost)" "${topsys%% *} 0"
check "each futex() is in topsys and in functioncallcount, and none is lost" is \
	"$(take functioncallcount; sum count function=$futex) $(summary lost)" "${topsys#* }"
for tool in futexes thread_times timeout; do
	take "$tool"
	check "$tool: it has seen something, and lost nothing" [ "$(summary events)" -gt 0 -a "$(summary lost)" -eq 0 ]
done
rmmod functioncallcount topsys syscalls_by_proc futexes thread_times timeout
check "nothing is left" [ ! -e $proc ]
plan
