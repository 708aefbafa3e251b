#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What every tool does the same way: loading, unloading, who may look, and what is said when it cannot be.
. "$(dirname "$0")/lib.sh"

mapfile -t tools <TOOLS
test_modules=$TAP_TOP/build/test-modules/$TAP_KVER

# The kernel's log from here on; read by said.
mark()
{
	marks=$((${marks-0} + 1))
	echo "load.sh: mark $marks" >/dev/kmsg
}
said()
{
	dmesg | sed "1,/load.sh: mark $marks\$/d"
}

# The kernel itself says a word about the first module that is not its own.
silent() # tool
{
	nothing grep -vE 'taints kernel|verification failed' < <(said | grep "$1: ")
}

# What a tool's file begins with, byte for byte.
header()
{
	case $1 in
	do_fork | dropwatch | functioncallcount | futexes) ;;
	ioblktime) echo '    device  rw total (us)      count   avg (us)' ;;
	disktop)
		printf '\nTITLE\n\n%8s %8s %8s %25s %8s %4s %12s\n' UID PID PPID CMD DEVICE T BYTES
		;;
	nettop) echo '  PID   UID DEV     XMIT_PK RECV_PK XMIT_KB RECV_KB COMMAND        ' ;;
	syscalls_by_proc) echo '#SysCalls  Process Name' ;;
	tcp_connections) echo '   UID              CMD    PID   PORT        IP_SOURCE' ;;
	tcpdumplike)
		printf '%s\n' -----------------------------------------------------------------{,} | sed '1aSource IP Dest IP SPort DPort U A P R S F '
		;;
	thread_times) echo '            comm   tid   %user %kernel (of N ticks)' ;;
	timeout) echo '  pid |   poll  select   epoll  itimer   futex nanosle  signal| process' ;;
	topsys) echo '                  SYSCALL      COUNT' ;;
	traceio) : ;;
	esac
}
# The other lines, each as a whole.
lines()
{
	case $1 in
	do_fork)
		echo '(sys_(clone|clone3|fork|vfork)|do_fork  ) .*|  [a-z_+ ]+ +[0-9]+\.[0-9]{3} us|  first run: pending|' \
			'<- (do_fork   |sys_[a-z0-9]+ *) [0-9]+ [0-9]+ .*|first run of [0-9]+ after [0-9]+\.[0-9]{3} us' | sed 's/| </|</'
		;;
	dropwatch) echo '[0-9]+ packets dropped at [^ ]+( \([^ ]+\))?' ;;
	functioncallcount) echo '[A-Za-z0-9_.]+ [0-9]+' ;;
	futexes) echo '[^ ]+\[[0-9]+\] lock 0x[0-9a-f]+ contended [0-9]+ times, [0-9]+ avg us' ;;
	inodewatch) echo '[^ ]+\([0-9]+\) [a-z_]+ 0x[0-9a-f]+/[0-9]+' ;;
	inodewatch2) echo '[^ ]+\([0-9]+\) (setattr_copy|notify_change) 0x[0-9a-f]+/[0-9]+ [0-7]+ [0-9]+' ;;
	iotime) echo '[0-9]+ [0-9]+ \([^ ]+\) (access [^ ]* (read: [0-9]+ write: [0-9]+|fail [A-Z0-9]+)|iotime [^ ]+ time: [0-9]+)' ;;
	ioblktime) echo ' *[^ ]+   [RW]( [ 0-9]{9}[0-9]){3}' ;;
	disktop) echo '[ 0-9]{7}[0-9] [ 0-9]{7}[0-9] [ 0-9]{7}[0-9] +[^ ]+ +[^ ]+ +[RW] [ 0-9]{11}[0-9]' ;;
	nettop) echo '[ 0-9]{4}[0-9] [ 0-9]{4}[0-9] [^ ]+ *( [ 0-9]{6}[0-9]){4} [^ ]+ *' ;;
	socket_trace) echo ' *[0-9]+ [^ ]+\([0-9]+\): +(->|<-) [a-z0-9_]+( \(return not followed\))?' ;;
	syscalls_by_proc) echo '[0-9][ 0-9]{9} [^ ]+' ;;
	tcp_connections) echo '[ 0-9]{5}[0-9] +[^ ]+( [ 0-9]{5}[0-9]){2} +[0-9a-f.:]+' ;;
	tcpdumplike) echo '[ 0-9a-f.:]{14}[0-9a-f.:]+ [ 0-9a-f.:]{14}[0-9a-f.:]+( [ 0-9]{4}[0-9]){2}( [01]){6}' ;;
	thread_times) echo ' *[^ ]+ [ 0-9]{4}[0-9]( [ 0-9]{2}[0-9]\.[0-9]{2}%){2}' ;;
	timeout) echo '[ 0-9]{4}[0-9] \|[ 0-9]{6}[0-9]( [ 0-9]{6}[0-9]){6}\| [^ ]+' ;;
	topsys) echo ' *[^ ]+ [ 0-9]{9}[0-9]' ;;
	traceio) echo '[ 0-9]{7}[0-9] +[^ ]+ r: +[0-9]+ (  B|KiB|MiB|GiB) w: +[0-9]+ (  B|KiB|MiB|GiB)' ;;
	traceio2) echo '[^ ]+\([0-9]+\) [a-z_]+ 0x[0-9a-f]+' ;;
	esac
}
trailer='# window_ms=[0-9]+ state=(partial|complete|running) rows=[0-9]+ shown=[0-9]+ events=[0-9]+ lost=0 self=[0-9]+'

# Something for each tool to see.
traffic()
{
	"$workloads/tcp" accept 7000 10 >/dev/null
	"$workloads/tcp" connect 127.0.0.1 7000 10 >/dev/null
	"$workloads/udp" send 127.0.0.1 7001 10 10 >/dev/null
	chmod 700 "$tmp"
	dd if=/dev/zero of=/dev/vda bs=4k count=10 oflag=direct 2>/dev/null
	"$workloads/file_io" "$tmp/disk/file" read=10 write=10
	"$workloads/locks" mutex 2 10 >/dev/null
	"$workloads/timeouts" poll 10 1 out=3 >/dev/null
	"$workloads/forks" fork vfork clone3 flags >/dev/null
}
modprobe virtio_blk
disk disk

matches_all() # pattern
{
	! grep -vxE -- "$1"
}

mode_of()
{
	stat -c '%a %U %G %F' "$1"
}

refused() # errno-text command...
{
	local text=$1 output

	shift
	if output=$("$@" 2>&1 >/dev/null); then
		echo "not refused"
		return 1
	fi
	[[ $output == *"$text"* ]] || { echo "$output"; return 1; }
}

nothing_left()
{
	[ ! -e $proc ] && [ ! -e $debugfs ]
}

# --- each one alone
for tool in "${tools[@]}"; do
	mark
	check "$tool: needs no other module" is "$(modinfo -F depends "$TAP_KO/$tool.ko")" ""
	check "$tool: loads" load "$tool"
	check "$tool: the log says nothing about it" silent "$tool"
	# once, however long the traffic takes
	[ ! -e "$debugfs/$tool/header_ms" ] || set_to "$tool" header_ms 0
	traffic
	cat "$proc/$tool" >"$tmp/text"
	header "$tool" >"$tmp/header"
	lines=$(wc -l <"$tmp/header")
	check "$tool: header" diff <(head -n "$lines" "$tmp/text" | sed 's/of [0-9]* ticks/of N ticks/; 2s/.* , Average: .*/TITLE/') "$tmp/header"
	tail -n "+$((lines + 1))" "$tmp/text" >"$tmp/lines"
	if ! is_stream "$tool"; then
		check "$tool: trailer" matches_all "$trailer" < <(tail -n 1 "$tmp/lines")
		sed -i '$d' "$tmp/lines"
	fi
	check "$tool: rows" matches_all "$(lines "$tool")" <"$tmp/lines"
	check "$tool: there are some" [ -s "$tmp/lines" ]
	check "$tool: JSON" jq -e . "$proc/$tool.json"
	for file in "$tool" "$tool.json"; do
		check "$file: for root only" is "$(mode_of "$proc/$file")" "400 root root regular empty file"
	done
	check "$tool: debugfs has the same JSON" is "$(jq -r 'keys | join(" ")' "$debugfs/$tool/json" | sort -u)" \
		"$(jq -r 'keys | join(" ")' "$proc/$tool.json" | sort -u)"
	check "$tool: nothing in debugfs is for others" nothing find $debugfs -type f -perm /077
	check "$tool: stats" grep -q '^events [1-9]' "$debugfs/$tool/stats"
	check "$tool: the module's version is the suite's" is "$(cat "/sys/module/$tool/version")" "$(cat VERSION)"
	check "$tool: a second time is refused" refused 'File exists' load "$tool"
	check "$tool: unloads" rmmod "$tool"
	check "$tool: nothing is left" nothing_left
done

# --- in any order
order() # tool...
{
	local i

	for ((i = 0; i < ${#tools[@]}; i++)); do
		load "${tools[i]}" || return
		[ "$(find $proc -type f | wc -l)" = $((2 * (i + 1))) ] || { ls $proc; return 1; }
	done
	for ((i = 0; i < $#; i++)); do
		[ -e $proc ] || { echo "$proc is gone before ${*:i+1:1}"; return 1; }
		rmmod "${@:i+1:1}" || return
	done
	nothing_left
}
reversed=()
for tool in "${tools[@]}"; do
	reversed=("$tool" "${reversed[@]}")
done
check "unloaded in the order of loading" order "${tools[@]}"
check "unloaded in reverse" order "${reversed[@]}"
check "unloaded from the middle" order "${tools[@]:1}" "${tools[0]}"

# --- who may look
for tool in "${tools[@]}"; do
	load "$tool"
done
files=("$proc"/*)
for tool in "${tools[@]}"; do
	files+=("$debugfs/$tool"/{json,stats,enabled,filter})
done
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
# Root without capabilities owns the files, so that only the tools themselves can refuse.
powerless=(setpriv --bounding-set -all --inh-caps -all)

# How the files open for a command, which is given a shell: one answer if all gave the same.
opening() # command...
{
	# shellcheck disable=SC2016 # the inner shell's
	"$@" bash -c 'for file; do { : <"$file"; } 2>&1 && echo opened; done' - "${files[@]}" | sed 's/.*: //' | sort -u
}
as_root_with() # capability
{
	opening setpriv --bounding-set "-all,+$1" --inh-caps -all
}
as_user_with() # capability...
{
	local all

	printf -v all ',+%s' "$@"
	opening "${nobody[@]}" --inh-caps "${all#,}" --ambient-caps "${all#,}"
}
no='Operation not permitted'
check "root may look" is "$(opening env)" opened
check "a user may not" is "$(opening "${nobody[@]}")" 'Permission denied'
check "root without capabilities may not" is "$(opening "${powerless[@]}")" "$no"
check "root with CAP_PERFMON may" is "$(as_root_with perfmon)" opened
check "root with CAP_SYS_ADMIN may" is "$(as_root_with sys_admin)" opened
check "root with another capability may not" is "$(as_root_with sys_ptrace)" "$no"
check "root of a user namespace may not" is "$(opening unshare -r)" "$no"
check "a user who is root of a user namespace may not" is "$(opening "${nobody[@]}" unshare -r)" 'Permission denied'
check "a user with CAP_PERFMON has not the files' mode" is "$(as_user_with perfmon)" 'Permission denied'
check "a user who may read root's files has not CAP_PERFMON" is "$(as_user_with dac_read_search)" "$no"
check "a user with both may" is "$(as_user_with dac_read_search perfmon)" opened
check "an open file can be given away" is "$("${nobody[@]}" head -n 1 <$proc/topsys)" "$(header topsys)"
check "settings are not changed by root without capabilities" is \
	"$("${powerless[@]}" sh -c "echo 1 >$debugfs/topsys/enabled" 2>&1 | sed 's/.*: //')" "$no"

# --- files that are opened in ways that make no sense
cat >"$tmp/odd.pl" <<'END'
use Fcntl;
for my $name (@ARGV) {
	for my $flags (O_WRONLY, O_RDWR, O_WRONLY | O_APPEND, O_WRONLY | O_TRUNC) {
		sysopen my $file, $name, $flags or next;
		sysseek $file, 0, 2;
		sysseek $file, -1, 1;
		truncate $file, 0;
		sysread $file, my $byte, 1;
		syscall 18, fileno $file, my $one = "1", 1, 1 << 40;	# pwrite64
		syswrite $file, '';
	}
}
END
check "files opened for writing" perl "$tmp/odd.pl" $proc/* $debugfs/*/{enabled,json,stats,reset}
for tool in "${tools[@]}"; do
	check "$tool: nothing can be written to the data file" refused 'error' sh -c "echo 1 >$proc/$tool"
	check "$tool: still there" cat "$proc/$tool"
	rmmod "$tool"
done
check "nothing is left after all that" nothing_left

# --- a directory that is somebody else's
foreign() # text [parameter...]
{
	insmod "$test_modules/foreign.ko" "${@:2}"
	mark
	check "$1: refused" refused '' load topsys
	check "$1: one line says why" is "$(said | grep -c 'topsys: .*/proc/tap')" 1
	check "$1: undisturbed" is "$(ls -A $proc)" ""
	check "$1: not taken for a module of ours" is "$(cat /sys/module/foreign/parameters/users)" 1
	rmmod foreign
	check "$1: nothing is left" nothing_left
}
magic=0x7461702d726f6f74
foreign "a directory that is somebody else's" magic=0
foreign "another object" magic=1 version=1
foreign "another layout" "magic=$magic" version=4294967295
insmod "$test_modules/foreign.ko" "magic=$magic" version=1
check "a directory of the same layout: shared" load topsys
check "a directory of the same layout: two have it" is "$(cat /sys/module/foreign/parameters/users)" 2
check "a directory of the same layout: used" cat $proc/topsys
rmmod topsys
check "a directory of the same layout: given back" is "$(cat /sys/module/foreign/parameters/users) $(ls -A $proc)" "1 "
rmmod foreign

# --- a kernel without what is hooked
mark
check "something required is missing: refused" refused 'Operation not supported' insmod "$test_modules/lacking.ko"
check "something required is missing: one line names the option" is "$(said | grep 'lacking: ' | sed 's/^\[[^]]*\] //')" \
	"lacking: tap_no_such_event cannot be probed on this kernel (error -2), needs CONFIG_NO_SUCH_OPTION"
check "something required is missing: nothing is left" nothing_left
mark
check "something optional is missing: loads" insmod "$test_modules/lacking.ko" 'without="the column NR is empty"'
check "something optional is missing: one line says what" is "$(said | grep 'lacking: ' | sed 's/^\[[^]]*\] //')" \
	"lacking: tap_no_such_event cannot be probed on this kernel (error -2): the column NR is empty"
check "something optional is missing: stats say so" grep -qx 'hook tap_no_such_event: none' $debugfs/lacking/stats
check "something optional is missing: the rest works" grep -q 'events=[1-9]' $proc/lacking
rmmod lacking

# --- a machine without debugfs, and a misspelt parameter
umount -l /sys/kernel/debug
for tool in "${tools[@]}"; do
	check "$tool: without debugfs" load "$tool"
	check "$tool: without debugfs: data" cat "$proc/$tool" "$proc/$tool.json"
	check "$tool: without debugfs: unloads" rmmod "$tool"
done
mount -t debugfs debugfs /sys/kernel/debug
mark
check "a parameter that does not exist: loads" load topsys no_such_parameter=1
check "a parameter that does not exist: the kernel warns" is "$(said | grep -c "topsys: unknown parameter 'no_such_parameter' ignored")" 1
rmmod topsys
check "nothing is left at the end" nothing_left
umount "$tmp/disk"
plan
