#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# do_fork: a group for each process or thread that is created or refused, with what strace says of it, its pids, the stage that
# refused it; times that add up; a summary that counts them; many at once.
. "$(dirname "$0")/lib.sh"

forks=$workloads/forks

# only [-t] COMMAND... - what do_fork has of a command, -t: of its children, too; what it prints is in $tmp/said
only()
{
	local by=tid

	[ "$1" != -t ] || { by=tree; shift; }
	hold "$@" >"$tmp/said"
	set_to do_fork filter "$by=$held"
	set_to do_fork reset 1
	finish
	# the filter stays: this shell forks, too
	take do_fork
	cat $proc/do_fork >"$tmp/text"
}

# said NAME - what forks printed
said()
{
	sed -n "s/^$1 //p" "$tmp/said"
}

# got NAME KIND CALL - there is one group, of what forks created so; sets pid
got()
{
	pid=$(said "$1")
	check "$1: one group" is "$(count event=group)" 1
	check "$1: a $2 by ${3:-no call}, with the pid that was returned" is "$(count event=group kind="$2" call="$3" \
		"child_pid=$pid" "child_ns_pid=$pid" "return=$pid" errno= tid="$held" comm=forks)" 1
	check "$1: the pid in the lines of its return" grep -qE \
		"^<- do_fork    [0-9]+ [0-9]+ pid=$pid ns_pid=$pid return=$pid\$" "$tmp/text"
}

# refused NAME STAGE ERROR - no child, and the stage that refused it
refused()
{
	local -A number=([EINVAL]=22 [EAGAIN]=11 [EPERM]=1 [EEXIST]=17)

	check "$1: refused with $3" is "$(said "$1")" "-${number[$3]}"
	check "$1: one group, and no child" is "$(count) $(count event=group child_pid=0 "return=-${number[$3]}" "errno=$3" \
		first_run=none first_run_ns=0)" "1 1"
	check "$1: refused by $2" is "$(sed -n 's/.*\tlast_stage=\([^\t]*\)\t.*/\1/p' "$tmp/rows")" "$2"
	check "$1: the line says so" grep -qE "^<- (do_fork   |sys_clone3?) .* return=-${number[$3]} $3 stage=${2//+/\\+}\$" "$tmp/text"
	check "$1: no pid in it" is "$(grep -c 'pid=' "$tmp/text")" 0
}

flags_of() # file: flags as strace, or do_fork, prints them
{
	grep -o 'CLONE_[A-Z_|]*[A-Z]' "$1" | sort | uniq -c
}

load do_fork buffer_kb=16384
check "events, all stages" is "$(cat $debugfs/do_fork/{stages,interval_ms,limit} | paste -sd ' ')" " 0 0"
check "this kernel has all that is looked for" is "$(grep -c '^hook .*: none$' $debugfs/do_fork/stats)" 0

# --- the memo
"$TAP_TOP/build/userspace/tapcat" -c "$workloads/threads" do_fork >"$tmp/text"
tid=$(sed -n 's/^\[\([0-9]*\)\] 0$/\1/p' "$tmp/text")
leader=$(sed -n 's/^\[\([0-9]*\)\] 0x.*/\1/p' "$tmp/text")
flags='CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM|CLONE_SETTLS|CLONE_PARENT_SETTID|CLONE_CHILD_CLEARTID'
check "threads: the flags of pthread_create()" grep -qF "do_fork   clone_flags=0x3d0f00($flags) stack_start=0x" "$tmp/text"
check "threads: by whom" grep -q "^do_fork .* trace=none(clone not traced) exit_signal=0 tls=0x[0-9a-f]* kind=thread by=threads($leader)\$" "$tmp/text"
check "threads: its tid is both words of do_fork's return" grep -qx "<- do_fork    $tid $tid pid=$tid ns_pid=$tid return=$tid" "$tmp/text"
check "threads: ... and of the system call's" grep -qxE "<- sys_clone[ 3] $tid $tid pid=$tid ns_pid=$tid return=$tid" "$tmp/text"
only "$workloads/threads" 20
check "20 threads: a group each, all threads" is "$(count event=group) $(count event=group kind=thread)" "20 20"
sed -n 's/^\[\([0-9]*\)\] [0-9]*$/\1/p' "$tmp/said" | sort >"$tmp/tids"
check "20 threads: with the tids that they print" diff "$tmp/tids" <(sed -nE 's/^<- do_fork    ([0-9]+) \1 pid=\1 .*/\1/p' "$tmp/text" | sort)

# --- each way
only "$forks" fork
got fork process sys_fork
only "$forks" vfork
got vfork vfork sys_vfork
check "vfork: its wait, and the end of that" grep -Pqz '\n  vfork_wait +[0-9.]+ us\n  vfork_done +[0-9.]+ us\n  total' "$tmp/text"
check "vfork: the child has run" is "$(count first_run=seen)" 1
only "$forks" clone
got clone process sys_clone
check "clone: the call" grep -qx "sys_clone clone_flags=0x11(SIGCHLD) newsp=0x0 parent_tid=0x0 child_tid=0x0 tls=0x0" "$tmp/text"
only "$forks" signal
got signal process sys_clone
check "signal: it has its name" grep -q '^do_fork .* trace=none(clone not traced) exit_signal=SIGUSR1 ' "$tmp/text"
only "$forks" clone3
got clone3 process sys_clone3
check "clone3: the call" grep -qE "^sys_clone3 uargs=0x[0-9a-f]+ size=88\$" "$tmp/text"
only "$forks" spawn
got spawn vfork "$(sed -n 's/^\(sys_clone3*\) .*/\1/p' "$tmp/text")"
only "$forks" thread
got thread thread sys_clone
check "thread: parent_tid and child_tid" is "$(count "parent_tid=$pid" "child_tid=$pid")" 1
free=$(("$("$forks" fork | cut -d ' ' -f 2)" + 500))
only "$forks" "settid=$free"
check "settid: got it" is "$(said settid)" "$free"
got settid process sys_clone3
check "settid: in the line" grep -q "^do_fork .* set_tid=$free kind=" "$tmp/text"
mkdir /sys/fs/cgroup/forks
only "$forks" cgroup=/sys/fs/cgroup/forks
got cgroup process sys_clone3
check "cgroup: in the line" grep -qE '^do_fork   clone_flags=0x200000000\(CLONE_INTO_CGROUP\) .* cgroup=[0-9]+ kind=' "$tmp/text"
only "$workloads/forks32" fork clone clone3
check "32-bit: fork, clone, clone3" is "$(for call in fork clone clone3; do
	count event=group call="sys_$call" kind=process "child_pid=$(said $call)"; done | paste -sd ' ')" "1 1 1"

# unshare forks after it has made a namespace of pids
only -t unshare -pf sleep 0
check "unshare -pf: one group" is "$(count event=group)" 1
child=$(sed -n 's/.*\tchild_pid=\([0-9]*\)\t.*/\1/p;q' "$tmp/rows")
check "unshare -pf: 1 in its own namespace" is "$(count event=group child_ns_pid=1 "return=$child")" 1
check "unshare -pf: in the line" grep -q "^<- do_fork    0 [0-9]* pid=$child ns_pid=1 return=$child\$" "$tmp/text"
# ... and within one: the return value is what its creator sees
only -t unshare -pf "$forks" fork
check "in a namespace: what was returned there" is "$(count event=group comm=forks "return=$(said fork)" \
	"child_ns_pid=$(said fork)")" 1
check "in a namespace: another pid outside" is "$(count event=group comm=forks "child_pid=$(said fork)")" 0

# --- who does so on nobody's behalf
set_to do_fork filter ""
set_to do_fork reset 1
disk ext4
take do_fork
check "a kernel thread: by kthreadd" is "$(count event=group kind=kernel comm=kthreadd call= \
	"child_pid=$(pgrep -f '^\[jbd2/loop')")" 1
umount "$tmp/ext4"
only "$workloads/file_io" "$tmp/file" uasync=1,10
check "io_uring: workers, by who has the work" [ "$(count event=group kind=io_worker call= comm=file_io return=0)" = 0 -a \
	"$(count event=group kind=io_worker call= comm=file_io)" -ge 1 ]
worker=$(sed -n 's/.*\tkind=io_worker\t.*\tchild_pid=\([0-9]*\)\t.*/\1/p;q' "$tmp/rows")
check "io_uring: no system call in the group" is "$(grep -c '^sys_' "$tmp/text")" 0
check "io_uring: the worker's first run is an event of its own" [ "${worker:-0}" -gt 0 ]

# --- what is refused
only "$forks" flags
refused flags flags+signals EINVAL
only "$forks" arguments
refused arguments arguments EINVAL
cd "$tmp"
only "$forks" chroot newuser
refused newuser creds+limits EPERM
cd "$TAP_TOP"
only "$forks" uid=65534 nproc=0 fork
refused fork creds+limits EAGAIN
only "$forks" "settid=$$"
refused settid pid+pidfd EEXIST
echo +pids >/sys/fs/cgroup/cgroup.subtree_control
echo 1 >/sys/fs/cgroup/forks/pids.max
# shellcheck disable=SC2016 # the inner shell's
only bash -c 'echo $$ >/sys/fs/cgroup/forks/cgroup.procs; exec "$@"' - "$forks" fork
refused fork cgroup EAGAIN
until_true rmdir /sys/fs/cgroup/forks

# --- what strace sees, and does
strace -f -qq -e trace=fork,vfork,clone,clone3 -e signal=none -o "$tmp/strace" "$workloads/threads" 3 >/dev/null
only "$workloads/threads" 3
check "strace decodes the same flags" diff <(flags_of "$tmp/strace") <(grep '^do_fork ' "$tmp/text" >"$tmp/calls"; flags_of "$tmp/calls")
only -t strace -f -qq -o /dev/null "$forks" fork vfork clone signal
for name in FORK=fork VFORK=vfork FORK=clone CLONE=signal; do
	check "strace -f: ${name#*=}: the event chosen" is "$(count event=group "return=$(said "${name#*=}")" \
		"trace=PTRACE_EVENT_${name%=*}")" 1
done
check "strace -f: their delivery is a stage" is "$(grep -c '^  ptrace_event  ' "$tmp/text")" 4
only -t gdb -q -batch -ex 'set confirm off' -ex run --args "$forks" fork
check "gdb: the event chosen" is "$(count event=group comm=forks trace=PTRACE_EVENT_FORK)" 1

# --- times
set_to do_fork filter ""
set_to do_fork reset 1
"$forks" many=20 fork vfork clone3 spawn thread flags >/dev/null
check "the stages make up the total" jq -es 'map(select(.event == "group")) | length >= 25 and all(.[];
	([to_entries[] | select(.key | (endswith("_ns") and . != "total_ns" and . != "first_run_ns" and . != "time_ns")).value] | add)
	== .total_ns)' $proc/do_fork.json
check "no stage out of order" is "$(jq -s 'map(select(.event == "group" and .kind == "process" and .errno == "" and
	([.check_ns, .flags_ns, .task_struct_ns, .creds_ns, .sched_ns, .perf_ns, .security_ns, .semundo_ns, .files_ns, .fs_ns, .mm_ns,
	.namespaces_ns, .thread_ns, .pid_ns, .cgroup_ns, .tasklist_ns, .newtask_ns, .parent_settid_ns, .wake_up_new_task_ns] |
	any(.[]; . == 0)))) | length' $proc/do_fork.json)" 0
only "$forks" map=1024 fork fork fork fork fork
check "1 GiB mapped: the time is in mm" jq -es 'map(select(.event == "group")) | length == 5 and
	any(.[]; .mm_ns * 2 > .total_ns)' $proc/do_fork.json
set_to do_fork stages mm,fs,pid
only "$forks" fork
check "stages=: those only" is "$(sed -n 's/^ *\([a-z_+ ]*[a-z]\)  .* us$/\1/p' "$tmp/text" | paste -sd ' ')" \
	"copy_process fs+sighand+signal mm pid+pidfd total$(grep -q 'first run after' "$tmp/text" && echo ' first run after')"
set_to do_fork stages ""

# --- many at once
set_to do_fork filter ""
cpus=$(nproc)
set_to do_fork reset 1
before=$(sed -n 's/^lost //p' $debugfs/do_fork/stats)
pids=()
for ((cpu = 0; cpu < cpus; cpu++)); do
	"$forks" "pin=$cpu" many=1000 >/dev/null &
	pids+=($!)
done
wait "${pids[@]}"
take do_fork
for pid in "${pids[@]}"; do
	check "1000 forks on each CPU: a group each" is "$(grep -c $'\tevent=group\t.*\tcomm=forks\t.*\ttid='"$pid"$'\t' "$tmp/rows")" 1000
done
ran()
{
	take do_fork
	[ "$(grep -cE $'\tcomm=forks\t.*\tfirst_run=seen\t' "$tmp/rows")" = $((1000 * cpus)) ]
}
check "1000 forks on each CPU: each first run is there, in the group or after" until_true ran
check "1000 forks on each CPU: none lost" is "$(sed -n 's/^lost //p' $debugfs/do_fork/stats) $(grep -c ' lost$' $proc/do_fork)" "$before 0"
# A group is one piece: from its first line to its last one there is nothing else.
# shellcheck disable=SC2016 # perl's
check "the lines of a group are together" nothing perl -ne '
	if (/^sys_/) { print "in a group: $_" if $in; $in = 1; }
	elsif (/^first run of/) { print "in a group: $_" if $in; }
	elsif (/^<- sys_/) { print "no group: $_" unless $in; $in = 0; }
	elsif (/^  |^<- do_fork|^do_fork/) { }
	else { print "what is this: $_"; }' < <(grep -v '^do_fork .* kind=kernel' $proc/do_fork | awk '/^do_fork/ && !call { skip = 1 }
	/^sys_/ { call = 1; skip = 0 } /^<- sys_/ { print; call = 0; next } /^first run of/ { print; next } !skip { print }')
check "nothing is in flight" until_true grep -qx 'in_flight 0' $debugfs/do_fork/stats
rmmod do_fork

# --- who finds no room
load do_fork inflight=16
"$forks" many=5 >/dev/null
check "little room: enough for one after the other" is "$(take do_fork; count event=group comm=forks)" 5
rmmod do_fork

# --- a table of the stages
load do_fork summary=1
hold "$forks" many=100 >/dev/null
set_to do_fork filter "tid=$held"
set_to do_fork reset 1
finish
ran_all()
{
	take do_fork
	[ "$(sum count stage=first_run)" = 100 ]
}
check "summary: all have run" until_true ran_all
check "summary: as many as there were" is "$(summary events) $(summary lost)" "100 0"
for stage in total copy_process check mm wake_up_new_task creds+limits; do
	check "summary: $stage" is "$(sum count "stage=$stage") $(sum refused "stage=$stage")" "100 0"
done
check "summary: the histograms have as many" jq -es 'map(select(.stage)) | length > 15 and
	all(.[]; (.hist_us | add) == .count and .max_ns >= .avg_us)' $proc/do_fork.json
# shellcheck disable=SC2016 # jq's
check "summary: the parts make up the total" jq -es 'map(select(.stage)) | (map(select(.stage == "total")) | .[0].total_ns) ==
	(map(select(.stage as $s | ["total", "copy_process", "first_run"] | index($s) | not) | .total_ns) | add)' $proc/do_fork.json
check "summary: header" is "$(head -n 1 $proc/do_fork | tr -s ' ')" "stage count avg (us) max (us) us:count"
check "summary: a row" grep -qE '^copy_process +100 +[0-9]+\.[0-9]{3} +[0-9]+\.[0-9]{3} ([0-9]+:[0-9]+,?)+$' $proc/do_fork
hold "$forks" flags >/dev/null
set_to do_fork filter "tid=$held"
finish >/dev/null
check "summary: what is refused" is "$(take do_fork; sum refused stage=flags+signals) $(sum refused stage=total)" "1 1"
rmmod do_fork
check "nothing is left" [ ! -e $proc ]
plan
