#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Streams under stress: threads and 20 kHz timers on all CPUs write numbered events, several readers follow them through
# the file. For each: written = shown + lost, nothing twice, nothing out of order. With a history that holds much and
# with one that forgets most before it is read. The modules are made by tests/kunit/build.
. "$(dirname "$0")/../tools/lib.sh"

module=$TAP_TOP/build/kunit/build/$TAP_KVER/tap_numbers.ko
reader=$TAP_TOP/build/kunit/read_numbers

field() # name file
{
	sed -n "s/.*\b$1=\([0-9]*\).*/\1/p" "$2"
}

all_told() # written file
{
	cat "$2" "$2.err"
	[ "$(($(field shown "$2") + $(field lost "$2")))" = "$1" ]
}

round() # text seconds parameters...
{
	local sizes=(1000000 4096 61 65536) pids=() n status written

	check "$1: load" insmod "$module" "${@:3}"
	for n in 0 1 2; do
		"$reader" "$proc/tap_numbers" "${sizes[n]}" >"$tmp/$n" 2>"$tmp/$n.err" &
		pids+=($!)
	done
	check "$1: writers begin" set_to tap_numbers writers 1
	sleep "$2"
	check "$1: writers end" set_to tap_numbers writers 0
	written=$(cat /sys/module/tap_numbers/parameters/written)
	# The last reader comes when all is over.
	"$reader" "$proc/tap_numbers" "${sizes[3]}" once >"$tmp/3" 2>"$tmp/3.err" &
	kill -TERM "${pids[@]}"
	pids+=($!)
	for n in "${!sizes[@]}"; do
		status=0
		wait "${pids[n]}" || status=$?
		check "$1: reads of ${sizes[n]} bytes end" is "$status" 0
		check "$1: shown or told of all" all_told "$written" "$tmp/$n"
		check "$1: nothing twice or out of order" is "$(field wrong "$tmp/$n")" 0
		check "$1: some were shown" [ "$(field shown "$tmp/$n")" -gt 0 ]
		echo "# $(cat "$tmp/$n")"
	done
	check "$1: the counters agree" is "$written" "$(awk '$1 == "events" || $1 == "lost" { sum += $2 } END { print sum }' \
		"$debugfs/tap_numbers/stats")"
	check "$1: unload" rmmod tap_numbers
}

round "long history" 5 buffer_kb=65536
round "short history" 5 buffer_kb=16 pause_us=0
check "/proc/tap is gone" [ ! -e "$proc" ]
plan
