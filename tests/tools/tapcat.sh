#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tapcat with real tools: each window once, no work in between, one command alone.
. "$(dirname "$0")/lib.sh"

tapcat=$TAP_TOP/build/userspace/tapcat

# Starts it in the background; its pid is $follower.
follow() # arguments
{
	"$tapcat" "$@" >"$tmp/out" 2>"$tmp/err" &
	follower=$!
}

# Ends it; its status is $status.
stop() # signal
{
	kill -"$1" "$follower"
	status=0
	wait "$follower" || status=$?
}

# Waits until it sleeps: from then on it shows what comes.
asleep()
{
	until_true grep -q poll "/proc/$follower/wchan"
}

# A field of a table's rows added up, for rows with a name in the last column.
added() # column name
{
	awk -v column="$1" -v name="$2" '$NF == name { sum += $column } END { print sum + 0 }' "$tmp/out"
}

shown_tables() # header's first word
{
	grep -c "^ *$1 " "$tmp/out"
}

# reached N COMMAND... - the number that a command prints is at least N
reached()
{
	[ "$("${@:2}")" -ge "$1" ]
}

# CPU ticks and voluntary context switches so far
used()
{
	awk 'FILENAME ~ /stat$/ { ticks = $14 + $15 }
		/^voluntary/ { switches = $2 }
		END { print ticks, switches }' "/proc/$follower/stat" "/proc/$follower/status"
}

ip link add va type veth peer name vb
for dev in va vb; do
	sysctl -q -w "net.ipv6.conf.$dev.disable_ipv6=1"
	ip link set "$dev" up
done
ip addr add 10.0.0.1/24 dev va
ip neigh add 10.0.0.2 dev va lladdr 02:00:00:00:00:0b nud permanent
send() # count
{
	"$workloads/udp" send 10.0.0.2 9 "$1" 100 >/dev/null
}

# --- what is loaded
check "-l: nothing" is "$("$tapcat" -l)" ""
check "a tool that is not loaded" is "$("$tapcat" nettop 2>&1 || echo $?)" \
	"tapcat: nettop: not loaded (insmod nettop.ko or modprobe nettop)
1"
for tool in nettop topsys tcp_connections thread_times; do
	load $tool
done
check "-l: four tools" is "$("$tapcat" -l | sort | paste -sd ' ')" "nettop tcp_connections thread_times topsys"
check "who has no right is told so" is \
	"$(setpriv --reuid 65534 --clear-groups --bounding-set -all "$tapcat" nettop 2>&1 || echo $?)" \
	"tapcat: /proc/tap/nettop needs root or CAP_PERFMON: Permission denied
1"

# --- as cat does
set_to nettop interval_ms 3600000
send 23
set_to nettop flip 1
for file in nettop nettop.json; do
	check "$file: what cat prints" cmp "$proc/$file" <("$tapcat" "$file")
done
check "-j: the JSON file" cmp $proc/nettop.json <("$tapcat" -j nettop)

# --- windows
set_to nettop interval_ms 500
follow -f -t nettop
asleep
for ((i = 0; i < 10; i++)); do
	send 100
	sleep 0.2
done
tables=$(shown_tables PID)
until_true reached $((tables + 3)) shown_tables PID
stop INT
check "-f: Ctrl-C ends it" is "$status $(cat "$tmp/err")" "0 "
check "-f: each packet is in one window" is "$(added 4 udp)" 1000
check "-f -t: the trailers" is "$(grep -c '^# window_ms=.* state=complete ' "$tmp/out")" "$(shown_tables PID)"
check "-f: an empty line behind each" is "$(grep -c '^$' "$tmp/out")" "$(shown_tables PID)"

# The windows as they are, by number.
follow -f -j nettop
asleep
until_true reached 10 grep -c summary "$tmp/out"
stop TERM
check "-f -j: SIGTERM ends it" is "$status" 0
windows=$(sed -n 's/.*"summary".*"window":\([0-9]*\).*/\1/p' "$tmp/out")
check "-f -j: every window once, in their order" is "$windows" \
	"$(seq "$(head -n 1 <<<"$windows")" "$(tail -n 1 <<<"$windows")")"

# It wakes up for each window, and hardly ever else. A loop would use ten ticks
# a window.
set_to thread_times interval_ms 100
follow -f thread_times
until_true reached 1 shown_tables comm
read -r windows ticks switches < <(shown_tables comm | tr '\n' ' '; used)
until_true reached $((windows + 20)) shown_tables comm
read -r windows_more ticks_more switches_more < <(shown_tables comm | tr '\n' ' '; used)
stop INT
windows=$((windows_more - windows)) ticks=$((ticks_more - ticks)) switches=$((switches_more - switches))
check "-f: it sleeps in between: $switches times in $windows windows" [ $switches -le $((windows * 2)) ]
check "-f: it uses no time in between: $ticks ticks in $windows windows" [ $ticks -le $((windows * 2)) ]
check "-f: it did wake up" [ $switches -ge $((windows / 2)) ]
"$tapcat" -n 3 thread_times >"$tmp/out"
check "-n 3: as many" is "$(shown_tables comm) $(grep -c '^$' "$tmp/out")" "3 3"

# No windows: every refresh_ms.
set_to topsys interval_ms 0
set_to topsys refresh_ms 100
"$tapcat" -n 3 topsys >"$tmp/out"
check "counting on: as many" is "$(shown_tables SYSCALL) $(grep -cx -- '-\{62\}' "$tmp/out")" "3 3"

# --- a stream
"$workloads/tcp" accept 7000 5 >/dev/null
"$workloads/tcp" connect 127.0.0.1 7000 3 >/dev/null
follow -n 5 tcp_connections
until_true grep -q 7000 "$tmp/out"
"$workloads/tcp" connect 127.0.0.1 7000 2 >/dev/null
wait "$follower"
check "a stream: a header and five events, old and new" is \
	"$(awk '{ print $4 }' "$tmp/out" | paste -sd ' ')" "PORT 7000 7000 7000 7000 7000"

# --- one command alone
"$workloads/tcp" accept 7001 4 >/dev/null
# shellcheck disable=SC2016 # the command's
"$tapcat" -c 'pid=$('"$workloads/tcp"' accept 7003 2)
	'"$workloads/tcp"' connect 127.0.0.1 7001 4
	'"$workloads/tcp"' connect 127.0.0.1 7003 2
	while kill -0 $pid 2>/dev/null; do sleep 0.1; done' tcp_connections >"$tmp/out"
check "-c: a stream: who accepts is what counts, and only what is new" is \
	"$(awk 'NF == 5 { print $4 }' "$tmp/out" | paste -sd ' ')" "PORT 7003 7003"

set_to nettop interval_ms 3600000
set_to nettop filter uid=4711
(while :; do send 10; done) &
others=$!
status=0
"$tapcat" -c "$workloads/udp send 10.0.0.2 9 200 100; $workloads/udp send 10.0.0.2 9 34 100; exit 3" \
	nettop >"$tmp/out" || status=$?
check "-c: the command's status" is "$status" 3
check "-c: its packets, while others send" is "$(added 4 udp)" 234
check "-c: the old filter" is "$(cat "$debugfs/nettop/filter")" uid=4711
set_to nettop interval_ms 100
"$tapcat" -c "for i in 1 2 3 4 5; do $workloads/udp send 10.0.0.2 9 100 100; sleep 0.1; done" nettop >"$tmp/out"
check "-c: its packets, over windows" is "$(added 4 udp)" 500
set_to nettop interval_ms 0
"$tapcat" -c "$workloads/udp send 10.0.0.2 9 100 100" nettop >"$tmp/out"
# Counting on, the last table has all.
check "-c: its packets, counting on" is "$(awk '$3 == "va" && $8 == "udp" { n = $4 } END { print n }' "$tmp/out")" 100
kill "$others"
wait "$others" 2>/dev/null || true
set_to nettop filter ''

(cd "$tmp" && exec python3 -m http.server --bind 127.0.0.1 8000) >/dev/null 2>&1 &
head -c 100000 /dev/zero >"$tmp/file"
until_true curl -sS -o /dev/null http://127.0.0.1:8000/
set_to nettop interval_ms 3600000
"$tapcat" -c "curl -sS -o /dev/null http://127.0.0.1:8000/file" nettop >"$tmp/out"
check "-c curl: and receives the file" [ "$(awk '$3 == "lo" && $8 == "curl" { n += $7 } END { print n }' "$tmp/out")" -ge 97 ]
check "-c curl: only curl sends" is "$(awk '$4 > 0 { print $NF }' "$tmp/out" | grep -vx COMMAND | sort -u)" curl
set_to topsys interval_ms 3600000
"$tapcat" -c "$workloads/calls inotify_add_watch=1000 sched_yield=23 >/dev/null" topsys >"$tmp/out"
check "-c: system calls of its threads, on each CPU" is \
	"$(awk '$1 == "inotify_add_watch" || $1 == "sched_yield" { print $2 / '"$(nproc)"' }' "$tmp/out" | paste -sd ' ')" "1000 23"
status=0
# shellcheck disable=SC2016 # the command's
"$tapcat" -c 'kill -SEGV $$' topsys >/dev/null 2>&1 || status=$?
check "-c: a command that a signal killed" is "$status" 139

follow -c "echo here; exec sleep 1000" topsys
until_true grep -q here "$tmp/out"
stop TERM
check "-c: the command gets the signal" is "$status $(cat "$debugfs/topsys/filter")" "143 "
set_to topsys filter 'comm=a'
follow -c "echo here; exec sleep 1000" topsys
until_true grep -q here "$tmp/out"
pkill -KILL -P "$follower"
status=0
wait "$follower" || status=$?
check "-c: the command is killed" is "$status $(cat "$debugfs/topsys/filter")" "137 comm=a"

mount -t debugfs none /sys/kernel/debug 2>/dev/null || true
while umount /sys/kernel/debug/tracing 2>/dev/null; do :; done
while umount /sys/kernel/debug 2>/dev/null; do :; done
status=0
"$tapcat" -c "touch $tmp/ran" nettop 2>"$tmp/err" || status=$?
check "-c without debugfs: it says so" grep -q 'debugfs.*No such file or directory' "$tmp/err"
check "-c without debugfs: the command is not run" is "$status $(ls "$tmp/ran" 2>/dev/null)" "1 "
mount -t debugfs none /sys/kernel/debug

# --- unloading
follow -f nettop
asleep
check "rmmod while it follows is refused" is "$(rmmod nettop 2>&1)" "rmmod: ERROR: Module nettop is in use"
check "it goes on" kill -0 "$follower"
stop INT
for tool in nettop topsys tcp_connections thread_times; do
	check "rmmod $tool" rmmod $tool
done
ip link del va
check "nothing is left" [ ! -e $proc ]
plan
