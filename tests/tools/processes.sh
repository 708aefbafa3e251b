#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# More processes than a table has rows, most of them gone: 3000, or TAP_PROCESSES of them, write a byte each. Nothing is
# lost by that, and the tables stay as large as they were.
. "$(dirname "$0")/lib.sh"

processes=${TAP_PROCESSES:-3000}
tools=(traceio disktop syscalls_by_proc)

bytes_of() # tool
{
	sed -n 's/^bytes //p' "$debugfs/$1/stats"
}
some_exited() # tool
{
	take "$1"
	[ "$(count "comm=(exited)")" -gt 0 ]
}
# What was counted of the processes in all rows, and in those of who is gone or has no row.
all()
{
	case $1 in
	traceio) sum write_bytes ;;
	disktop) sum bytes ;;
	syscalls_by_proc) sum count ;;
	esac
}

bytes=()
disk ext4
for tool in "${tools[@]}"; do
	args=(interval_ms=0 limit=0)
	[ "$tool" != syscalls_by_proc ] || args=(by=pid)
	load "$tool" max_rows=64 filter=comm=family "${args[@]}"
	bytes+=("$(bytes_of "$tool")")
done
"$workloads/family" "writers=$processes" >"$tmp/ext4/bytes"
check "as many as there were" is "$(stat -c %s "$tmp/ext4/bytes")" "$processes"
for i in "${!tools[@]}"; do
	tool=${tools[i]}
	take "$tool"
	if [ "$tool" = syscalls_by_proc ]; then
		# write, exit_group; of the parent wait4 and fork
		check "$tool: all of their calls" [ "$(all "$tool")" -ge $((4 * processes)) ]
		total=$(all "$tool")
	else
		check "$tool: all that was written" is "$(all "$tool")" "$processes"
		total=$processes
	fi
	check "$tool: no more rows than max_rows, and two" [ "$(count)" -le 66 ]
	check "$tool: who is gone makes room" until_true some_exited "$tool"
	check "$tool: nothing is lost by that" is "$(all "$tool") $(summary lost)" "$total 0"
	check "$tool: no more memory" is "$(bytes_of "$tool")" "${bytes[i]}"
done
umount "$tmp/ext4"
rmmod "${tools[@]}"
check "nothing is left" [ ! -e $proc ]
plan
