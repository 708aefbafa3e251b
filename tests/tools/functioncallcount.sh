#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# functioncallcount: exact numbers, as the kernel's own probes have them; which functions are hooked, and which cannot be.
# TAP_LONG=1: all functions are counted for a minute.
. "$(dirname "$0")/lib.sh"

tool=functioncallcount
tracing=/sys/kernel/tracing
# System calls by number, and what each of them calls once, on both kernels. Nobody else calls these.
declare -A entered=([187]=ksys_readahead [272]=ksys_unshare [110]=__do_sys_getppid)

# run COUNT - each of these, COUNT times on each CPU; made has a line "CALL TOTAL" for each
run()
{
	local calls=("${!entered[@]}")

	"$workloads/calls" "${calls[@]/%/=$1}" >"$tmp/made"
}

# exact [FIELD=VALUE...] - as often as run() says. Prints what is not
exact()
{
	local call total

	while read -r call total; do
		is "${entered[$call]} $(sum count function="${entered[$call]}" "$@")" "${entered[$call]} $total"
	done <"$tmp/made"
}

# hooked - functions that the tracer calls somebody for
hooked()
{
	wc -l <$tracing/enabled_functions
}

# traceable PATTERN - how many the kernel has that are called so
traceable()
{
	sed 's/ .*//' $tracing/available_filter_functions | grep -cxE "$1"
}

stat()
{
	sed -n "s/^$1 \([0-9]*\).*/\1/p" $debugfs/$tool/stats
}

# refused PARAMETER... - insmod fails, and its last line in the log is this; prints it
refused()
{
	if insmod "$TAP_KO/$tool.ko" "$@" 2>/dev/null; then
		rmmod $tool
		echo "accepted"
	fi
	dmesg | sed -n "s/^.*\] $tool: \(functions=\)/\1/p" | tail -n 1
}

# a list as tapsym makes one: name@address for each address, by the first name that it has, of all that can be traced
awk '$2 ~ /^[tTwW]$/ && NF == 3 && !($1 in seen) { seen[$1] = 1; print $3, $1 }' /proc/kallsyms >"$tmp/kallsyms"
sed 's/ .*//' $tracing/available_filter_functions >"$tmp/available"
# shellcheck disable=SC2016 # awk's fields
awk 'FILENAME ~ /available$/ { can[$1]++; next } { has[$1]++; at[$1] = $2 }
	END { for (name in has) if (can[name] == 1 && has[name] == 1) print name "@" at[name] }' "$tmp/available" "$tmp/kallsyms" \
	>"$tmp/pairs"

# --- exact numbers
load $tool 'functions=ksys_*,__do_sys_getppid'
check "since load, all rows, the most called first" is \
	"$(cat $debugfs/$tool/{interval_ms,limit,sort} | paste -sd ' ')" "0 0 count"
check "a pattern: what can be traced" is "$(stat functions) $(hooked)" \
	"$(traceable 'ksys_.*|__do_sys_getppid') $(traceable 'ksys_.*|__do_sys_getppid')"
run 10000
take $tool
check "each call is counted once" nothing exact
check "nothing is lost" is "$(summary lost)" 0
check "the rows are all events" is "$(sum count)" "$(summary events)"
set_to $tool reset 1
"$workloads/calls" getppid=1000000 >"$tmp/made"
take $tool
check "a million on each CPU" is "$(sum count function=__do_sys_getppid)" "$(sed 's/.* //' "$tmp/made")"

# --- the file
cat $proc/$tool >"$tmp/text"
check "lines" is "$(grep -vE '^# ' "$tmp/text" | grep -vcE '^[A-Za-z0-9_.]+ [0-9]+$' || true)" 0
check "a line as documented" grep -qx "__do_sys_getppid $(sum count function=__do_sys_getppid)" "$tmp/text"
check "the most called first" diff <(grep -v '^#' "$tmp/text") <(grep -v '^#' "$tmp/text" | LC_ALL=C sort -k 2,2nr -k 1,1)
set_to $tool sort name
check "sort=name" diff <(grep -v '^#' $proc/$tool | cut -d ' ' -f 1) \
	<(grep -v '^#' $proc/$tool | cut -d ' ' -f 1 | LC_ALL=C sort)
set_to $tool sort count
check "the same for any read size" is "$(dd if=$proc/$tool bs=1 2>/dev/null | sed 's/ .*//' | LC_ALL=C sort | head -n 3)" \
	"$(sed 's/ .*//' $proc/$tool | LC_ALL=C sort | head -n 3)"
check "JSON" jq -es 'map(select(.tool)) | length > 0 and all(.[]; (.function | test("^[A-Za-z0-9_.]+$")) and .count > 0 and
	.module == "" and has("address"))' $proc/$tool.json

# --- filter, off and on, reset
set_to $tool filter comm=nobody
set_to $tool reset 1
run 100
take $tool
check "a filter that nobody passes: nothing" is "$(summary events)" 0
set_to $tool filter comm=calls
run 100
take $tool
check "a filter: what it lets pass" nothing exact
set_to $tool filter ''
set_to $tool enabled 0
check "switched off: nothing is hooked" is "$(hooked)" 0
set_to $tool reset 1
run 100
take $tool
check "switched off: nothing is counted" is "$(summary events)" 0
set_to $tool enabled 1
run 100
take $tool
check "switched on again" nothing exact

# --- windows: each call is in one of them
set_to $tool interval_ms 3600000
run 100
set_to $tool flip 1
run 200
take $tool
check "a window does not change when it is over" is "$(summary state) $(sum count function=ksys_readahead)" "complete $((100 * $(nproc)))"
set_to $tool flip 1
take $tool
check "the next one has what came then" nothing exact
set_to $tool flip 1
take $tool
check "an empty one" is "$(count function=ksys_readahead)" 0
"$workloads/calls" getppid=300000 >"$tmp/made" &
pid=$!
total=0
next()
{
	set_to $tool flip 1
	take $tool
	total=$((total + $(sum count function=__do_sys_getppid)))
}
while kill -0 $pid 2>/dev/null; do
	next
done
wait $pid
next
check "windows that end all the time: each call is in one" is "$total" "$(sed 's/.* //' "$tmp/made")"
rmmod $tool
check "nothing is hooked afterwards" is "$(hooked)" 0

# --- as a kprobe's histogram has it, of one process
functions=(vfs_read vfs_write vfs_getattr vfs_statx do_sys_openat2 filp_close ksys_read ksys_write ksys_lseek __do_sys_brk)
mapfile -t functions < <(printf '%s\n' "${functions[@]}" iterate_dir do_filp_open path_openat mmap_region vm_mmap_pgoff |
	grep -xFf "$tmp/available" | head -n 10)
check "ten functions to compare" is "${#functions[@]}" 10
load $tool "functions=vfs_*,$(IFS=,; echo "${functions[*]}")"
hold python3 -c '
import os
for i in range(100):
    fd = os.open("/etc/passwd", os.O_RDONLY)
    null = os.open("/dev/null", os.O_WRONLY)
    os.write(null, os.read(fd, 10))
    os.lseek(fd, 0, os.SEEK_SET)
    os.fstat(fd)
    os.stat("/etc")
    os.listdir("/etc/apt")
    os.close(fd)
    os.close(null)
'
set_to $tool filter "pid=$held"
for function in "${functions[@]}"; do
	echo "p:tap_test/$function $function" >>$tracing/kprobe_events
	echo "hist:keys=common_pid if common_pid == $held" >"$tracing/events/tap_test/$function/trigger"
done
set_to $tool reset 1
echo 1 >$tracing/events/tap_test/enable
finish
take $tool
echo 0 >$tracing/events/tap_test/enable
same=0
for function in "${functions[@]}"; do
	hits=$(sed -n 's/^ *Hits: //p' "$tracing/events/tap_test/$function/hist")
	check "$function: as a kprobe has it" is "$(sum count function="$function")" "${hits:-0}"
	[ "${hits:-0}" -lt 100 ] || same=$((same + 1))
	echo '!hist:keys=common_pid' >"$tracing/events/tap_test/$function/trigger"
	echo "-:tap_test/$function" >>$tracing/kprobe_events
done
check "most of them were called" [ $same -ge 8 ]
rmmod $tool

# --- as the kernel's profiler has it, where there is one
if [ -e $tracing/function_profile_enabled ]; then
	printf '%s\n' "${entered[@]}" >$tracing/set_ftrace_filter
	load $tool "functions=$(IFS=,; echo "${entered[*]}")"
	echo 1 >$tracing/function_profile_enabled
	run 1000
	echo 0 >$tracing/function_profile_enabled
	take $tool
	for function in "${entered[@]}"; do
		check "$function: as the profiler has it" is "$(sum count function="$function")" \
			"$(cat $tracing/trace_stat/function* | awk -v f="$function" '$1 == f { n += $2 } END { print n + 0 }')"
	done
	rmmod $tool
	echo >$tracing/set_ftrace_filter
fi

# --- a list with addresses
head -n 2000 "$tmp/pairs" >"$tmp/list"
grep -E "^($(IFS='|'; echo "${entered[*]}"))@" "$tmp/pairs" >>"$tmp/list"
load $tool "functions=$(sort -u "$tmp/list" | paste -sd ,)"
check "2000 functions by address" is "$(stat functions) $(stat skipped)" "$(sort -u "$tmp/list" | wc -l) 0"
check "2000 functions by address: they are hooked" is "$(hooked)" "$(stat functions)"
run 100
take $tool
check "2000 functions by address: exact" nothing exact
rmmod $tool
last=''
# from the second on only how much further on it is
awk -F @ '{ print $2, $1 }' "$tmp/list" | LC_ALL=C sort -u | while read -r address name; do
	if [ -z "$last" ]; then
		echo "$name@$address"
	else
		printf '%s@+%x\n' "$name" $((0x$address - 0x$last))
	fi
	last=$address
done >"$tmp/relative"
load $tool "functions=$(paste -sd , "$tmp/relative")"
check "addresses that count from the last one" is "$(stat functions) $(stat skipped)" "$(sort -u "$tmp/list" | wc -l) 0"
rmmod $tool

# --- what cannot be counted is left out, and said
readahead=$(sed -n 's/^ksys_readahead@//p' "$tmp/pairs")
echo "$tool: mark" >/dev/kmsg
load $tool "functions=nosuch_*,ksys_readahead,rcu_is_watching,ksys_readahead@123,ksys_fchown@$readahead"
check "what is left out" is "$(stat functions) $(stat skipped)" "1 4"
check "a line for each" is "$(dmesg | sed "1,/$tool: mark/d" | grep -c "$tool: .*: left out$")" 4
run 10
take $tool
check "the others are counted" is "$(sum count function=ksys_readahead) $(count)" "$((10 * $(nproc))) 1"
rmmod $tool
check "no such function: refused" is "$(refused functions=nosuch)" \
	"functions=nosuch: the running kernel has no such function that can be traced"
check "one that cannot be traced: refused" grep -q '^functions=rcu_is_watching: ' <(refused functions=rcu_is_watching)
check "none at all: refused" grep -q '^functions=: it is needed' <(refused)
check "a source file: who finds its functions" grep -q tapsym <(refused 'functions=*@mm/*.c')
check "all functions: refused, with the reason" grep -q '^functions=\*: these are [0-9]* functions, .* allowed with force=1$' \
	<(refused 'functions=*')
check "nothing is there" [ ! -e $proc ]

# --- functions that have the same name
load $tool functions=type_show
check "functions of one name: all of them" is "$(stat functions)" "$(traceable type_show)"
for _ in {1..5}; do
	cat /sys/class/net/lo/type
done >/dev/null
for _ in {1..3}; do
	cat /sys/devices/system/cpu/cpu0/cache/index0/type
done >/dev/null
take $tool
check "functions of one name: a row for each that was called" is "$(rows | sed 's/.*count=\([0-9]*\).*/\1/' | paste -sd ' ')" "5 3"
echo 1 >/proc/sys/kernel/kptr_restrict
cat $proc/$tool.json >"$tmp/json"
take $tool "$tmp/json"
check "functions of one name: told apart by address" is \
	"$(grep ' type_show$' /proc/kallsyms | grep -cFf <(rows | sed 's/.*address=\([0-9a-f]*\).*/\1/'))" 2
check "functions of one name: so is the text" is "$(grep -v '^#' $proc/$tool | paste -sd ' ')" "type_show 5 type_show 3"
rmmod $tool

# --- functions of a module, which goes
modprobe brd rd_nr=1
load $tool 'functions=brd_*'
dd if=/dev/ram0 of=/dev/null bs=4k count=100 iflag=direct status=none
take $tool
check "functions of a module" [ "$(sum count module=brd)" -ge 100 ]
mapfile -t before < <(rows module=brd | sed 's/.*function=\([^\t]*\).*/\1/' | sort)
rmmod brd
modprobe -a loop
take $tool
check "functions of a module: names stay when it is gone" is \
	"$(rows module=brd | sed 's/.*function=\([^\t]*\).*/\1/' | grep -cxFf <(printf '%s\n' "${before[@]}"))" "${#before[@]}"
rmmod $tool

# one that goes while nothing is hooked
modprobe brd rd_nr=1
load $tool 'functions=brd_*,ksys_readahead'
set_to $tool enabled 0
rmmod brd
set_to $tool enabled 1
run 10
take $tool
check "functions of a module that went: the others are counted" is "$(stat functions) $(sum count function=ksys_readahead)" \
	"1 $((10 * $(nproc)))"
rmmod $tool
modprobe brd rd_nr=1
load $tool 'functions=brd_*' enabled=0
rmmod brd
check "none is left: refused" [ ! "$(set_to $tool enabled 1 2>&1)" = "" ]
check "none is left: nothing is hooked" is "$(hooked)" 0
rmmod $tool

# --- more functions than rows
load $tool 'functions=ksys_*' max_rows=16
run 10
take $tool
check "more functions than rows: nothing is lost" is "$(sum count)" "$(summary events)"
check "more functions than rows: the others are one row" [ "$(summary rows)" -le 17 ]
rmmod $tool

# --- all of them, on a busy machine
load $tool 'functions=*' force=1
check "all functions: as many as there are" [ "$(stat functions)" -gt 30000 ]
check "all functions: memory" [ "$(stat bytes)" -le $(((2 << 20) + (480 << 10) * $(grep -c ^processor /proc/cpuinfo))) ]
"$workloads/burn" kernel 0 &
background=($!)
while :; do "$workloads/family" many=5 thread=20; done >/dev/null 2>&1 &
background+=($!)
end=$((SECONDS + ${TAP_LONG:+57} + 3))
set_to $tool reset 1
while run 100; [ $SECONDS -lt $end ]; do
	set_to $tool reset 1
	cat $proc/$tool >"$tmp/text"
done
take $tool
check "all functions: exact, too" nothing exact
check "all functions: many are called" [ "$(summary rows)" -gt 500 ]
check "all functions: the rows are all events" is "$(sum count)" "$(summary events)"
check "all functions: nothing is lost" is "$(summary lost)" 0
check "what is not reported is said" grep -q '^unwatched [0-9]* (.*RCU' $debugfs/$tool/stats
kill "${background[@]}"
wait "${background[@]}" 2>/dev/null || true
rmmod $tool
check "nothing is hooked at the end" is "$(hooked)" 0
check "nothing is left" [ ! -e $proc ]
plan
