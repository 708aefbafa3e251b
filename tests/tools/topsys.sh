#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# topsys: exact numbers, names, ABIs, its own readers; and the same numbers as
# the kernel's own event and strace have for real programs.
. "$(dirname "$0")/lib.sh"

set_topsys() # name value
{
	set_to topsys "$1" "$2"
}

# TEXT, then what was called and how often, of what was taken
called() # text [syscall count]...
{
	local text=$1

	shift
	while [ $# -gt 0 ]; do
		check "$text: $1 $2" is "$(sum count "syscall=$1")" "$2"
		shift 2
	done
}

# The kernel's own event counts what programs of a name call.
event=/sys/kernel/tracing/events/raw_syscalls/sys_enter
record() # comm
{
	set_topsys filter "comm=$1"
	set_topsys reset 1
	trigger="hist:keys=id.syscall if comm==\"$1\""
	echo "$trigger" >$event/trigger
}
# The kernel names calls by their functions; some have other names than the call.
recorded()
{
	sed -n 's/^{ id: \(sys_\)\?\([a-z_0-9]*\) *\[ *\([0-9]*\)\].*: *\([0-9]*\)$/\2 \4 \3/p' $event/hist |
		awk '$1 == "unknown_syscall" { $1 = "sys_" $3 } { print $1, $2 }' |
		sed 's/^new\(f\?stat\|lstat\|uname\) /\1 /; s/^umount /umount2 /; s/^sendfile64 /sendfile /' |
		LC_ALL=C sort
	echo "!$trigger" >$event/trigger
}
# The same of topsys: its text, without header and trailer.
counted()
{
	awk 'NR > 1 && !/^#/ { print $1, $2 }' $proc/topsys | LC_ALL=C sort
}

load topsys interval_ms=0 limit=0

# --- exact numbers
set_topsys filter comm=calls
set_topsys reset 1
"$workloads/calls" getppid=100000 getuid=777 sched_yield=23 9999=5 >"$tmp/made"
take topsys
cpus=$(nproc)
called "on each CPU at once" getppid $((cpus * 100000)) getuid $((cpus * 777)) \
	sched_yield $((cpus * 23)) sys_9999 $((cpus * 5))
check "the program made as many" diff "$tmp/made" - <<-END
	getppid $((cpus * 100000))
	getuid $((cpus * 777))
	sched_yield $((cpus * 23))
	9999 $((cpus * 5))
END
check "all were native calls" is "$(sum count_native)" "$(sum count)"
check "the rows are all events" is "$(sum count)" "$(summary events)"
check "nothing is lost" is "$(summary lost)" 0

# --- text
cat $proc/topsys >"$tmp/text"
check "header" is "$(head -n 1 "$tmp/text")" "$(printf '%25s %10s' SYSCALL COUNT)"
check "busiest first" is "$(sed -n 2p "$tmp/text")" "$(printf '%25s %10d' getppid $((cpus * 100000)))"
check "trailer" grep -qxE '# window_ms=[0-9]+ state=running rows=[0-9]+ shown=[0-9]+ events=[0-9]+ lost=0 self=[0-9]+' \
	<(tail -n 1 "$tmp/text")
head -n -1 "$tmp/text" | tail -n +2 >"$tmp/lines"
check "by count, then by name" env LC_ALL=C sort -c -k 2,2nr -k 1b,1 "$tmp/lines"
set_topsys limit 3
cat $proc/topsys >"$tmp/short"
check "limit: so many lines" is "$(wc -l <"$tmp/short")" 5
check "limit: the busiest" diff <(head -n 4 "$tmp/text") <(head -n 4 "$tmp/short")
check "limit: it is said" grep -q "rows=$(wc -l <"$tmp/lines") shown=3 " "$tmp/short"
take topsys
check "limit: JSON has all" is "$(count)" "$(wc -l <"$tmp/lines")"
set_topsys limit 0

# --- other ABIs
set_topsys filter comm=calls32
set_topsys reset 1
"$workloads/calls32" getppid=1000 inotify_add_watch=100 9999=3 >/dev/null
take topsys
called "32-bit" getppid $((cpus * 1000)) inotify_add_watch $((cpus * 100)) dup3 0 sys_9999 $((cpus * 3))
check "32-bit: JSON tells" is "$(sum count_compat syscall=getppid)" $((cpus * 1000))
check "32-bit: nothing else but the execution of the program" is "$(sum count)" "$(sum count_compat)"

set_topsys filter ""
set_topsys reset 1
"$workloads/calls" sched_yield=7 9999=2 >/dev/null
"$workloads/calls32" sched_yield=5 9999=1 >/dev/null
take topsys
called "both ABIs" sched_yield $((cpus * 12)) sys_9999 $((cpus * 3))
check "both ABIs: one row" is "$(count syscall=sched_yield)" 1
check "both ABIs: one row for a number without a name" is "$(count syscall=sys_9999)" 1
check "both ABIs: JSON tells" is "$(sum count_native syscall=sched_yield) $(sum count_compat syscall=sched_yield)" \
	"$((cpus * 7)) $((cpus * 5))"

# getpid is 39; x32 is off on Debian's kernels, but the call is made.
set_topsys filter comm=calls
set_topsys reset 1
"$workloads/calls" 0x40000027=3 39=4 >/dev/null
take topsys
check "x32: under its name, told by JSON" is "$(sum count_x32 syscall=getpid)" $((cpus * 3))
check "x32: not counted as native" is "$(sum count_native syscall=getpid)" $((cpus * 4))

# --- calls that are none
set_topsys reset 1
"$workloads/calls" -1=4 >/dev/null
take topsys
called "number -1" sys_-1 $((cpus * 4))
set_topsys reset 1
strace -f -o /dev/null -e inject=getppid:error=EPERM "$workloads/calls" getppid=100 >/dev/null
take topsys
called "cancelled by a tracer" getppid 0 sys_-1 $((cpus * 100))

# prctl(PR_SET_NO_NEW_PRIVS), seccomp(SECCOMP_SET_MODE_FILTER): EPERM for getppid (110). The kernel does not come to
# the event for these.
cat >"$tmp/seccomp.pl" <<'END'
my $filter = pack '(SCCL)4', 0x20, 0, 0, 0, 0x15, 0, 1, 110, 6, 0, 0, 0x50001, 6, 0, 0, 0x7fff0000;
syscall(157, 38, 1, 0, 0, 0) == 0 or die "prctl: $!\n";
my $prog = pack 'Sx6P', 4, $filter;
syscall(317, 1, 0, $prog) == 0 or die "seccomp: $!\n";
syscall(110) for 1 .. 100;
syscall(102) for 1 .. 50;
$!{EPERM} or die "getppid: $!\n";
END
record perl
perl "$tmp/seccomp.pl"
recorded >"$tmp/want"
check "refused by seccomp: as the kernel's own event" diff "$tmp/want" <(counted)
check "refused by seccomp: other calls are counted" grep -q '^getuid 5[0-9]$' "$tmp/want"

# --- names: some calls that every kernel has, and all that are new, beyond the newest one too
record calls
# shellcheck disable=SC2046 # words
taskset -c 0 "$workloads/calls" $(seq -f %.0f=1 424 500) >/dev/null
recorded >"$tmp/want"
counted >"$tmp/have"
check "new calls: the kernel's own names and numbers" is "$(comm -23 "$tmp/want" "$tmp/have" | grep -v '^sys_')" ""
# A kernel can lack a call that has a number and a name.
comm -13 "$tmp/want" "$tmp/have" >"$tmp/lacking"
check "new calls: a name that the kernel itself does not know has a number" is \
	"$(comm -23 "$tmp/want" "$tmp/have" | grep -c '^sys_[0-9]* 1$')" "$(grep -c ' 1$' "$tmp/lacking")"
check "new calls: few of these" [ "$(wc -l <"$tmp/lacking")" -lt 5 ]
check "new calls: there were some" grep -q '^futex_waitv 1$' "$tmp/want"
check "new calls: and numbers without a name" grep -q '^sys_500 1$' "$tmp/want"

# --- real programs
program() # command...
{
	record "$1"
	"$@" >/dev/null 2>&1
	recorded >"$tmp/want"
	check "$1: as the kernel's own event" diff "$tmp/want" <(counted)
	check "$1: there were some" [ "$(wc -l <"$tmp/want")" -gt 10 ]
}
program ls -lR /etc/apt
program tar -cf /dev/null /usr/share/perl5/Debconf
# shellcheck disable=SC2016 # Perl's variables
program perl -e 'use POSIX; opendir my $d, "/etc"; my @s = map { [stat "/etc/$_"] } readdir $d; print scalar @s; uname'

# A process with children: what strace says of the same processes. It does not see the end of exit_group.
hold sh -c 'for i in 1 2 3; do ls / | sort | wc -l; done' >/dev/null
set_topsys filter "tree=$held"
set_topsys reset 1
strace -qq -f -c -U calls,name -o "$tmp/strace" -p "$held" 2>/dev/null &
strace=$!
until_true grep -q "^TracerPid:.$strace" "/proc/$held/status"
finish
wait "$strace"
check "a process and its children: as strace" diff \
	<(awk '$1 ~ /^[0-9]+$/ && $2 != "total" { print $2, $1 }' "$tmp/strace" | LC_ALL=C sort) \
	<(counted | grep -v '^exit_group ')
check "a process and its children: all of them" grep -q '^exit_group 10$' <(counted)

# --- readers of topsys are counted apart
set_topsys filter ""
set_topsys reset 1
"$workloads/reader" $proc/topsys 1000
take topsys
check "a reader's own calls are counted apart" is "$(summary self)" 2001
check "a reader's own calls are not in the rows" [ "$(sum count syscall=lseek)" -lt 1000 ]
set_topsys self 1
set_topsys filter comm=reader
set_topsys reset 1
"$workloads/reader" $proc/topsys 1000
take topsys
called "self=1" lseek 1000 read 1000
check "self=1: nothing is counted apart" is "$(summary self)" 0
set_topsys self 0

# --- windows
set_topsys filter comm=calls
set_topsys interval_ms 3600000
"$workloads/calls" getppid=50 >/dev/null
take topsys
called "a window that is not complete" getppid $((cpus * 50))
check "a window that is not complete: it is said" is "$(summary state)" partial
set_topsys flip 1
"$workloads/calls" getppid=7 >/dev/null
take topsys
called "a complete window" getppid $((cpus * 50))
check "a complete window: it is said" is "$(summary state)" complete
set_topsys flip 1
take topsys
called "the next window" getppid $((cpus * 7))
set_topsys flip 1
check "a window without events: header and trailer" diff - <(sed 's/_ms=[0-9]*/_ms=N/' $proc/topsys) <<-END
	$(printf '%25s %10s' SYSCALL COUNT)
	# window_ms=N state=complete rows=0 shown=0 events=0 lost=0 self=0
END
"$workloads/calls" getppid=3 >/dev/null
set_topsys flip 1
check "the same for any read size" cmp <(cat $proc/topsys) <(dd if=$proc/topsys bs=1 2>/dev/null)

# --- on and off
set_topsys interval_ms 0
set_topsys enabled 0
"$workloads/calls" getppid=50 >/dev/null
take topsys
called "enabled=0" getppid 0
set_topsys enabled 1
"$workloads/calls" getppid=50 >/dev/null
take topsys
called "enabled=1" getppid $((cpus * 50))
rmmod topsys
check "nothing is left" [ ! -e $proc ]
plan
