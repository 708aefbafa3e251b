#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# syscalls_by_proc: exact numbers by name and by pid, as the kernel's own event has them, also for processes that are gone.
. "$(dirname "$0")/lib.sh"

set_by() # name value
{
	set_to syscalls_by_proc "$1" "$2"
}
# The same as lib.sh's, of this tool.
taken()
{
	take syscalls_by_proc
}

# record KEY [CONDITION] - the kernel's own event counts from here on; hits, recorded: it stops, and how many there were, or
# how many of each common_pid
event=/sys/kernel/tracing/events/raw_syscalls/sys_enter
record()
{
	trigger="hist:keys=$1:size=8192${2:+ if $2}"
	echo "$trigger" >$event/trigger
}
hits()
{
	cat $event/hist >"$tmp/hist"
	echo "!$trigger" >$event/trigger
	sed -n 's/^ *Hits: //p' "$tmp/hist"
}
recorded()
{
	hits >/dev/null
	sed -n 's/^{ common_pid: *\([0-9]*\) } hitcount: *\([0-9]*\)$/\1 \2/p' "$tmp/hist"
}

load syscalls_by_proc
check "by name, since load, all rows" is \
	"$(cat $debugfs/syscalls_by_proc/{by,names,interval_ms,limit} | paste -sd ' ')" "name process 0 0"

# --- 50 processes of two names. What a program of this kind calls beside, is the same each time.
mkdir "$tmp/alpha" "$tmp/beta"
for name in alpha beta; do
	cp "$workloads/family" "$tmp/$name/$name"
done
# 100 to 2500 calls and 1000 to 25000
fifty()
{
	local i

	for i in {1..25}; do
		"$tmp/alpha/alpha" call=$((i * 100)) &
		"$tmp/beta/beta" call=$((i * 1000)) &
	done
	wait
}
"$tmp/alpha/alpha" call=0
taken
beside=$(sum count comm=alpha)
check "a program calls something beside" [ "$beside" -gt 5 ]
set_by reset 1
fifty
taken
check "by name: 25 processes" is "$(sum count comm=alpha)" $((325 * 100 + 25 * beside))
check "by name: 25 others" is "$(sum count comm=beta)" $((325 * 1000 + 25 * beside))
check "by name: one row each" is "$(count comm=alpha) $(count comm=beta)" "1 1"
check "by name: no process's number" is "$(sum pid) $(sum ns_pid)" "0 0"
check "by name: the rows are all events" is "$(sum count)" "$(summary events)"
check "by name: nothing is lost" is "$(summary lost)" 0

cat $proc/syscalls_by_proc >"$tmp/text"
check "text: header" is "$(head -n 1 "$tmp/text")" "#SysCalls  Process Name"
check "text: a line" grep -qx "$(printf '%-10d %s' $((325 * 1000 + 25 * beside)) beta)" "$tmp/text"
grep -v '^#' "$tmp/text" >"$tmp/lines"
check "text: by count, then by name" env LC_ALL=C sort -c -k 1,1nr -k 2,2 "$tmp/lines"

set_by by pid
check "by=pid: begins anew" is "$(awk '!/^#/ && $1 > 1000' $proc/syscalls_by_proc)" ""
record common_pid
fifty &
fifty=$!
wait $fifty
recorded >"$tmp/recorded"
taken
rows comm=alpha >"$tmp/alphas"
rows comm=beta >>"$tmp/alphas"
check "by=pid: a row each" is "$(wc -l <"$tmp/alphas")" 50
pids()
{
	sed -E 's/.*\tcount=([0-9]*)\tpid=([0-9]*)\t.*/\2 \1/' "$tmp/alphas" | sort
}
check "by=pid: as the kernel's own event" diff <(sort "$tmp/recorded" | join - <(pids) -o 1.1,1.2) <(pids)
check "by=pid: header" is "$(head -n 1 $proc/syscalls_by_proc)" "#SysCalls  PID"
grep -v '^#' $proc/syscalls_by_proc >"$tmp/lines"
check "by=pid: lines" nothing grep -vxE '[0-9][ 0-9]{9} [0-9]+' "$tmp/lines"
check "by=pid: by count, then by number" sort -c -k 1,1nr -k 2,2n "$tmp/lines"
check "by=pid: the rows are all events" is "$(sum count)" "$(summary events)"

# --- a process that executes another program, a thread with a name of its own
set_by by name
"$workloads/udp" drain 7000 >"$tmp/drain"
"$workloads/names" leader thread 1000 127.0.0.1 7000 >/dev/null
taken
leader=$(sum count comm=leader)
check "names=process: the leader's name" is "$((leader > 3000)) $(count comm=thread)" "1 0"
set_by names thread
set_by reset 1
"$workloads/names" leader thread 1000 127.0.0.1 7000 >/dev/null
taken
check "names=thread: each name" is \
	"$(($(sum count comm=leader) / 1000)) $(($(sum count comm=thread) / 1000))" "1 2"
set_by names process
kill "$(<"$tmp/drain")"

# Each name from the execution on: the kernel's own event has the name of the moment, too.
programs=(sh wc sort)
set_by reset 1
record common_pid 'comm=="sh" || comm=="wc" || comm=="sort"'
sh -c 'ls / | sort | wc -l; exec wc -c /etc/passwd' >/dev/null
made=$(hits)
taken
check "real programs, one executed by another: as the kernel's own event" is \
	"$(for name in "${programs[@]}"; do sum count "comm=$name"; done | paste -sd + | bc)" "$made"
check "real programs: there were some" [ "$made" -gt 100 ]

# --- 32-bit programs and calls without a name count like all others
set_by filter comm=calls32
set_by reset 1
"$workloads/calls32" getppid=1000 9999=3 >/dev/null
taken
check "32-bit programs" is "$(($(sum count comm=calls32) / 1000))" "$(nproc)"
set_by filter ""

# --- more processes than there are rows, most of them gone
rmmod syscalls_by_proc
load syscalls_by_proc by=pid max_rows=64 filter=comm=family
processes=${TAP_PROCESSES:-3000}
record id 'comm=="family"'
"$workloads/family" "many=$processes" >/dev/null
made=$(hits)
some_exited()
{
	taken
	[ "$(sum count "comm=(exited)")" -gt 0 ]
}
taken
check "short-lived processes: all of their calls" is "$(sum count)" "$made"
check "short-lived processes: at least three each" [ "$made" -ge $((3 * processes)) ]
check "short-lived processes: no more rows than max_rows" [ "$(count)" -le 66 ]
check "short-lived processes: who is gone makes room" until_true some_exited
check "short-lived processes: nothing is lost by that" is "$(sum count)" "$made"
check "short-lived processes: marks in text" grep -qE '^[0-9]+ +\((exited|other)\)$' $proc/syscalls_by_proc
rmmod syscalls_by_proc

# --- its readers, bad input
load syscalls_by_proc
"$workloads/reader" $proc/syscalls_by_proc 1000
taken
check "a reader's own calls are counted apart" is "$(summary self)" 2001
check "by=foo is refused" is "$(set_by by foo 2>&1 | sed 's/.*: //') $(cat $debugfs/syscalls_by_proc/by)" \
	"Invalid argument name"
rmmod syscalls_by_proc
check "nothing is left" [ ! -e $proc ]
plan
