#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What every tool does the same way: whose events are counted. Shown with topsys, which counts a call that nobody makes but
# tests/workloads/family and its relatives.
. "$(dirname "$0")/lib.sh"

family=$workloads/family

# What topsys counted of that call.
counted()
{
	local name count

	while read -r name count _; do
		[ "$name" != sched_get_priority_max ] || break
	done <$proc/topsys
	echo "${count:-0}"
}
stat_of() # name
{
	sed -n "s/^$1 //p" $debugfs/topsys/stats
}

# with FILTER EXPECTED TEXT COMMAND... - a family under a filter, in which P is its pid, and a stranger beside it
with()
{
	hold "$family" "${@:4}"
	set_to topsys filter "${1//P/$held}"
	set_to topsys reset 1
	"$family" call=500 fork=500
	finish
	check "$3" is "$(counted)" "$2"
}

load topsys interval_ms=0 limit=0

# --- each term
with "" $((500 + 500 + 7)) "no filter: everybody" call=7
with pid=P $((1 + 10)) "pid: a process with its threads, not its children" call=1 thread=10 fork=100 exec=1000
with tid=P 1 "tid: a thread, not its process" call=1 thread=10 fork=100
with uid=1234 $((10 + 100 + 1000)) "uid: who has it, from then on" call=1 uid=1234 call=10 thread=100 fork=1000
with comm=right $((10 + 100)) "comm: who is called so, while they are" call=1 name=right call=10 fork=100 name=wrong call=1000
with comm=123456789012345 10 "comm: the longest name" name=123456789012345 call=10 name=12345678901234 call=100
with "comm= a=b " 10 "comm: blanks and equals signs" name=" a=b " call=10 name="a=b" call=100
with pid=1 0 "pid: somebody who does not call" call=10

set_to topsys filter comm=theleader
set_to topsys reset 1
"$workloads/names" theleader thethread 100 127.0.0.1 9 >/dev/null
take topsys
check "comm: the leader's name is every thread's" is "$(sum count syscall=sendto)" 300
set_to topsys filter comm=thethread
set_to topsys reset 1
"$workloads/names" theleader thethread 100 127.0.0.1 9 >/dev/null
take topsys
check "comm: a thread's own name" is "$(sum count syscall=sendto)" 200

# --- cgroup
cgroup=/sys/fs/cgroup/tap_filter
mkdir $cgroup $cgroup/child $cgroup/child/grandchild ${cgroup}2
in_cgroup() # cgroup expected text
{
	hold "$family" call=1 fork=10 exec=100
	echo "$held" >"$1/cgroup.procs"
	set_to topsys reset 1
	finish
	check "$3" is "$(counted)" "$2"
}
set_to topsys filter "cgroup=$(stat -c %i $cgroup)"
in_cgroup $cgroup 111 "cgroup: a process in it, and what it forks"
in_cgroup $cgroup/child/grandchild 111 "cgroup: one in a descendant"
in_cgroup ${cgroup}2 0 "cgroup: not one in another"
set_to topsys filter "cgroup=$(stat -c %i $cgroup/child)"
in_cgroup $cgroup 0 "cgroup: not one in its parent"
set_to topsys filter "cgroup=$(printf %#x "$(stat -c %i $cgroup)")"
in_cgroup $cgroup 111 "cgroup: in hexadecimal"
set_to topsys filter "cgroup=$(stat -c %i /sys/fs/cgroup)"
in_cgroup ${cgroup}2 111 "cgroup: the root has all"
rmdir $cgroup/child/grandchild $cgroup/child $cgroup ${cgroup}2

# --- tree
with tree=P 7 "tree: its root" call=7
with tree=P 7 "tree: a fork" fork=7
with tree=P 7 "tree: a vfork" vfork=7
with tree=P 7 "tree: a thread" thread=7
with tree=P 7 "tree: a program that is executed" exec=7
with tree=P 7 "tree: a program that another thread than the leader executes" threadexec=7
with tree=P 7 "tree: a grandchild whose parent is gone" orphan=7
with tree=P 1000 "tree: 1000 that come and go" many=1000
with tree=P 127 "tree: all of these, in a row" call=1 fork=2 vfork=4 thread=8 exec=16 threadexec=32 orphan=64
check "tree: all were followed" is "$(stat_of untracked)" 0

# The root is gone, what it left behind is not.
mkfifo "$tmp/go"
exec {go}<>"$tmp/go"
# shellcheck disable=SC2016 # the inner shell's
hold bash -c '"$1" wait fork=10 call=1 <"$2" & echo $! >"$3"' - "$family" "$tmp/go" "$tmp/left"
root=$held
set_to topsys filter "tree=$root"
set_to topsys reset 1
finish
check "tree: the root is gone" [ ! -e "/proc/$root" ]
left=$(<"$tmp/left")
until_true grep -q '^0 0x0 ' "/proc/$left/syscall"
echo -n . >&"$go"
until_true [ ! -e "/proc/$left" ]
check "tree: the root is gone: its descendants are still followed" is "$(counted)" 11

refused() # filter
{
	local output

	if output=$(set_to topsys filter "$1" 2>&1); then
		echo "accepted"
		return 1
	fi
	[[ $output == *'Invalid argument'* ]] || { echo "$output"; return 1; }
}
set_to topsys filter ""
check "tree: a root that does not exist" refused tree=4194305
check "tree: a root that does not exist any more" refused "tree=$root"
pid=$("$workloads/tcp" accept -t 1 7000 1)
check "tree: a thread is no root" refused "tree=$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 ! -name "$pid" -printf %f)"
"$workloads/tcp" connect 127.0.0.1 7000 1 >/dev/null
check "a filter that is refused leaves none" is "$(<$debugfs/topsys/filter)" ""
check "a root that does not exist at insmod" is "$(insmod "$TAP_KO/nettop.ko" filter=tree=4194305 2>&1 | sed 's/.*: //')" \
	'Invalid parameters'
check "a root that does not exist at insmod: nothing is left" [ ! -e $proc/nettop ]

# A refused filter does not disturb the one in use, nor the tree that it has followed so far.
rm "$tmp/left"
# shellcheck disable=SC2016 # the inner shell's
hold bash -c '"$1" wait fork=10 call=1 <"$2" & echo $! >"$3"; wait' - "$family" "$tmp/go" "$tmp/left"
set_to topsys filter "tree=$held"
set_to topsys reset 1
kill -CONT "$held"
until_true [ -s "$tmp/left" ]
left=$(<"$tmp/left")
until_true grep -q '^0 0x0 ' "/proc/$left/syscall"
check "a refused filter: not the syntax" refused no=1
check "a refused filter: no such process" refused tree=4194305
check "a refused filter: the old one is kept" is "$(<$debugfs/topsys/filter)" "tree=$held"
echo -n . >&"$go"
wait "$held"
check "a refused filter: the old tree is still followed" is "$(counted)" 11

# --- room for 4096 processes
with tree=P 4095 "tree: 4095 descendants at once have room" crowd=4200
check "tree: the others are told" is "$(stat_of untracked)" 105
with tree=P 4095 "tree: and room again when these are gone" crowd=4095

# --- several
with pid=P,uid=1234 10 "pid and uid: both" call=1 uid=1234 call=10 fork=100
with uid=1234,tree=P 110 "uid and tree: both" call=1 fork=1 uid=1234 call=10 fork=100
with tree=P,comm=right 110 "tree and comm: both" call=1 name=right call=10 fork=100
with pid=P,tid=P,uid=0,comm=family,tree=P 10 "five at once" call=10 thread=100
with pid=P,comm=family,uid=1 0 "one that does not hold is enough" call=10

# --- nothing of others is counted at all
hold "$family" call=10
set_to topsys filter "pid=$held"
set_to topsys reset 1
"$workloads/calls" 600=1 601=1 602=1 603=1 >/dev/null
finish
take topsys
check "no row of others" is "$(count syscall=sys_600)" 0
check "no event of others" is "$(summary events)" "$(sum count)"

# --- replaced under load
busy()
{
	while :; do
		"$family" call=100 thread=100 fork=100 vfork=10 many=20
	done
}
busy &
busy=$!
for _ in {1..10}; do
	for filter in "tree=$busy" comm=family "" "tree=$$,uid=0" pid=1; do
		set_to topsys filter "$filter"
	done
done
set_to topsys filter "tree=$busy"
set_to topsys reset 1
check "replaced under load: the last one counts" until_true grep -q ' events=[1-9]' $proc/topsys
kill "$busy"
wait "$busy" 2>/dev/null || true
with tree=P 123 "replaced under load: exact afterwards" call=1 fork=10 exec=112
rmmod topsys

# --- at insmod, and of other tools
hold "$family" call=1 fork=10 thread=100
load topsys interval_ms=0 "filter=tree=$held,comm=family"
"$family" call=5000
finish
check "at insmod" is "$(counted)" 111
check "at insmod: comm and tree in debugfs" is "$(<$debugfs/topsys/filter)" "tree=$held,comm=family"

one=$("$workloads/tcp" accept 7001 10)
other=$("$workloads/tcp" accept 7002 10)
load tcp_connections "filter=pid=$one"
load nettop interval_ms=0 filter=comm=tcp
"$workloads/tcp" connect 127.0.0.1 7001 10 >/dev/null
"$workloads/tcp" connect 127.0.0.1 7002 10 >/dev/null
until_true [ ! -e "/proc/$one" -a ! -e "/proc/$other" ]
check "tcp_connections: of one process" is "$(jq -r 'select(.tool) | "\(.pid) \(.port)"' $proc/tcp_connections.json | sort | uniq -c | xargs)" \
	"10 $one 7001"
check "nettop: no filter is for what interrupts do" is "$(jq -r 'select(.tool).comm' $proc/nettop.json | sort -u)" tcp
for tool in topsys tcp_connections nettop; do
	rmmod $tool
done
check "nothing is left" [ ! -e $proc ]
plan
