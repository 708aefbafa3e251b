#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What every tool does the same way: how its files are read, waited for and held. It is the library that does it: these
# are tools of each kind.
. "$(dirname "$0")/lib.sh"

tables=(nettop thread_times topsys)
streams=(tcp_connections tcpdumplike)
tools=("${tables[@]}" "${streams[@]}")
hold=$workloads/hold

# start NAME FILE COMMAND... - $workloads/hold in the background. It waits for `go NAME`; `ended NAME` waits for its end;
# what it printed is in $tmp/NAME.
declare -A pids gates
start()
{
	local gate

	mkfifo "$tmp/$1.go"
	exec {gate}<>"$tmp/$1.go"
	gates[$1]=$gate
	"$hold" "${@:2}" <"$tmp/$1.go" >"$tmp/$1" &
	pids[$1]=$!
}
go()
{
	echo -n . >&"${gates[$1]}"
}
ended()
{
	local gate=${gates[$1]}

	wait "${pids[$1]}"
	exec {gate}>&-
	rm "$tmp/$1.go"
}
# Waits until it is asleep in a system call.
asleep() # NAME read|poll|epoll_wait
{
	local nr

	case $2 in
	read) nr='0 0x0' ;;	# from stdin
	poll) nr=7 ;;
	epoll_wait) nr=232 ;;
	esac
	until_true grep -q "^$nr " "/proc/${pids[$1]}/syscall"
}

connections() # count
{
	local pid

	pid=$("$workloads/tcp" accept 7000 "$1")
	"$workloads/tcp" connect 127.0.0.1 7000 "$1" >/dev/null
	until_true [ ! -e "/proc/$pid" ]
}

for tool in "${tables[@]}"; do
	load "$tool" interval_ms=3600000 limit=0
done
for tool in "${streams[@]}"; do
	load "$tool"
done
connections 50
"$workloads/calls" getppid=100 >/dev/null
for tool in "${tables[@]}"; do
	set_to "$tool" flip 1
done

# --- any read size
for tool in "${tools[@]}"; do
	for file in "$proc/$tool" "$proc/$tool.json" "$debugfs/$tool/json"; do
		cat "$file" >"$tmp/whole"
		check "$file: there is something" [ -s "$tmp/whole" ]
		for size in 1 7 100 1048576; do
			check "$file: the same when $size bytes are read at a time" cmp "$tmp/whole" <("$hold" "$file" read=$size)
		done
		while IFS= read -r line; do
			printf '%s\n' "$line"
		done <"$file" >"$tmp/lines"
		check "$file: the same when a shell reads lines" cmp "$tmp/whole" "$tmp/lines"
	done
done

# --- seeks, while the next window completes
for tool in "${tables[@]}"; do
	for file in "$tool" "$tool.json"; do
		cat "$proc/$file" >"$tmp/old"
		start again "$proc/$file" read=100 wait set=0 read=100 read=100
		start other "$proc/$file" once=50 wait cur=-10 read=100 end=0 once=9 set=20 read=7 pread=10,20 end=-5 read=1 set=-1
		asleep again read
		asleep other read
		connections 3
		set_to "$tool" flip 1
		cat "$proc/$file" >"$tmp/new"
		go again
		go other
		ended again
		ended other
		check "$file: there is a newer window" [ "$(cmp "$tmp/old" "$tmp/new" 2>&1)" ]
		check "$file: a seek to the start takes a fresh snapshot" cmp "$tmp/again" <(cat "$tmp/old" "$tmp/new")
		check "$file: no other seek does" cmp "$tmp/other" <(
			head -c 50 "$tmp/old"
			tail -c +41 "$tmp/old"
			tail -c +21 "$tmp/old"
			head -c 30 "$tmp/old" | tail -c 20
			tail -c 5 "$tmp/old"
			echo "set=-1: Invalid argument"
		)
	done
done
check "a stream cannot seek" is "$("$hold" $proc/tcp_connections set=0 cur=-1 end=0 pread=0,1)" \
	"$(printf '%s: Illegal seek\n' set=0 cur=-1 end=0 pread=0,1)"

# --- readers do not disturb each other
cat $proc/topsys >"$tmp/whole"
for i in 1 2 3 4; do
	"$hold" $proc/topsys "read=$i" >"$tmp/reader$i" &
	readers[i]=$!
done
"$workloads/calls" getppid=10000 >/dev/null
wait "${readers[@]}"
for i in 1 2 3 4; do
	check "table: reader $i of 4 has all" cmp "$tmp/whole" "$tmp/reader$i"
done

set_to topsys interval_ms 0
"$workloads/calls" sched_yield=1000000000 >/dev/null &
calls=$!
for i in 1 2; do
	(for _ in {1..10}; do "$hold" $proc/topsys read=64; done) >"$tmp/reader$i" &
	readers[i]=$!
done
wait "${readers[1]}" "${readers[2]}"
kill "$calls"
# Each snapshot: header, rows, trailer that agrees with them.
agree()
{
	awk '
		$1 == "SYSCALL" { sum = rows = 0; headers++; next }
		/^#/ {
			want = " rows=" rows " shown=" rows " events=" sum " "
			if (!index($0, want))
				print sum " calls in " rows " rows, but " $0
			trailers++
			next
		}
		{ sum += $2; rows++ }
		END { if (headers != 10 || trailers != 10) print headers " headers, " trailers " trailers" }' "$1"
}
for i in 1 2; do
	check "table: what reader $i sees agrees with itself while events go on" nothing agree "$tmp/reader$i"
done

echo 1 >$debugfs/tcp_connections/reset
start early $proc/tcp_connections read=10 wait read=1 wait read=100 read=100
asleep early read
connections 100
start late $proc/tcp_connections wait read=33
go early
asleep early read
connections 70
go early
ended early
go late
ended late
check "stream: a reader goes on with what is new" is "$(wc -l <"$tmp/early")" 171
check "stream: two readers see the same" cmp "$tmp/early" "$tmp/late"
check "stream: and so does a third" cmp "$tmp/early" $proc/tcp_connections
# One reader in small pieces while events come and a shell reads lines: both get all.
echo 1 >$debugfs/tcp_connections/reset
connections 200 &
connections=$!
lines=0
exec {stream}<$proc/tcp_connections
all_read()
{
	while read -r -u "$stream" _; do
		lines=$((lines + 1))
	done
	[ "$lines" -ge 201 ]
}
until_true all_read
wait "$connections"
check "stream: a shell that reads lines while they come misses none" is "$lines" 201
exec {stream}<&-

# --- hostile names
names=('plain' 'a"b' 'back\slash' $'two\nlines' $'tab\t' $'\1\37\177' $'\377\376' $'caf\303\251' $'cut\303' $'\355\240\200'
	"it's" '{"}' ' blank ' '%s%n' '>*?|;' $'\33[31mred')
for program in udp tcp burn; do
	mkdir "$tmp/$program"
	cp "$workloads/$program" "$tmp/$program/plain"
	for name in "${names[@]:1}"; do
		ln "$tmp/$program/plain" "$tmp/$program/$name"
	done
done
echo 1 >$debugfs/tcp_connections/reset
for tool in nettop thread_times; do
	set_to "$tool" interval_ms 0
	set_to "$tool" reset 1
done
# Bytes that are no UTF-8 are taken for Latin 1.
utf8=()
for name in "${names[@]}"; do
	iconv -f UTF-8 -t UTF-8 <<<"$name" >/dev/null 2>&1 || name=$(iconv -f ISO-8859-1 -t UTF-8 <<<"$name")
	utf8+=("$name")
done
missing() # tool name...
{
	jq -rs --args 'map(.comm) as $seen | $ARGS.positional[] | select(IN($seen[]) | not)' "${@:2}" <"$proc/$1.json"
}
# Long enough to be sampled.
has_run() # pid
{
	local stat

	stat=$(tr '\n' ' ' <"/proc/$1/stat")
	read -r -a stat <<<"${stat##*) }"
	[ "${stat[11]}" -ge 10 ]
}
for name in "${names[@]}"; do
	"$tmp/udp/$name" send 127.0.0.1 9 1 1 >/dev/null
	pid=$("$tmp/tcp/$name" accept 7000 1)
	"$workloads/tcp" connect 127.0.0.1 7000 1 >/dev/null
	until_true [ ! -e "/proc/$pid" ]
	"$tmp/burn/$name" user 0 &
	until_true has_run $!
	kill $!
	wait $! 2>/dev/null || true
done
for tool in nettop tcp_connections thread_times; do
	cat "$proc/$tool.json" >"$tmp/json"
	check "hostile names: $tool: all there in JSON" nothing missing "$tool" "${utf8[@]}"
	check "hostile names: $tool: each line of JSON is valid" is "$(jq -R fromjson "$tmp/json" | jq -s length)" \
		"$(wc -l <"$tmp/json")"
	check "hostile names: $tool: JSON is UTF-8 without control characters" \
		nothing sh -c "iconv -f UTF-8 -t UTF-8 $tmp/json | grep -a '[[:cntrl:]]'"
	check "hostile names: $tool: text is printable" nothing grep -av '^[ -~]*$' "$proc/$tool"
done
check "hostile names: columns stay columns" is "$(awk '!/^#/ { print NF }' $proc/nettop | sort -u)" 8

# --- waiting
for tool in "${tables[@]}"; do
	set_to "$tool" interval_ms 3600000
done
for way in poll epoll; do
	asleep_in=${way/epoll/epoll_wait}
	for tool in "${tables[@]}"; do
		check "$way: $tool: nothing while the window runs" is "$("$hold" "$proc/$tool" $way=0)" "$way=0: nothing"
		start waiter "$proc/$tool" $way=-1 $way=0 once=1 $way=0 set=0 $way=0
		asleep waiter "$asleep_in"
		set_to "$tool" flip 1
		ended waiter
		check "$way: $tool: until a window is complete, and still until it is taken" is \
			"$(tail -c +2 "$tmp/waiter")" "$way=0: nothing"
	done
	events=$(grep -c 7000 $proc/tcp_connections)
	start waiter $proc/tcp_connections $way=0 read=1000 $way=0 $way=-1 wait read=1000 $way=0
	asleep waiter "$asleep_in"
	begin=${EPOCHREALTIME/./}
	connections 1
	asleep waiter read
	echo "# $way: a stream's reader was woken $(((${EPOCHREALTIME/./} - begin) / 1000)) ms after it all began"
	go waiter
	ended waiter
	check "$way: a stream: header, nothing, an event, nothing" is "$(sed '/7000/s/.*/event/; /UID/d' "$tmp/waiter" | paste -sd ' ')" \
		"$(yes event | head -n "$events" | paste -sd ' ') $way=0: nothing event $way=0: nothing"
done
set_to topsys interval_ms 200
check "poll: windows complete by themselves" "$hold" $proc/topsys follow=3
check "poll: each window is news once" is "$("$hold" $proc/topsys.json follow=5 | jq -r 'select(.summary).window' | sort -u | wc -l)" 5
set_to topsys interval_ms 0
set_to topsys refresh_ms 300
begin=${EPOCHREALTIME/./}
"$hold" $proc/topsys follow=5 >/dev/null
elapsed=$(((${EPOCHREALTIME/./} - begin) / 1000))
# The first may come at once, another early when the one before was late.
check "poll: without windows, every refresh_ms" [ "$elapsed" -ge 900 ]
start waiter $proc/topsys poll=-1
set_to topsys refresh_ms 3600000
"$hold" $proc/topsys poll=0 >/dev/null
start waiter2 $proc/topsys read=1000 poll=0 poll=-1
asleep waiter2 poll
set_to topsys flip 1
ended waiter2
check "poll: without windows, flip wakes too" is "$(tail -n 1 "$tmp/waiter2")" "poll=0: nothing"
ended waiter

# --- unloading while a file is held
unload() # module
{
	perl -e 'exit 0 if syscall(176, $ARGV[0], 2048) == 0; print "$!\n"; exit 1' "$1"
}
busy='Resource temporarily unavailable'
for tool in topsys tcp_connections; do
	for file in "$proc/$tool" "$proc/$tool.json" "$debugfs/$tool/json" "$debugfs/$tool/stats" "$debugfs/$tool/filter"; do
		exec {held_file}<"$file"
		check "$file is open: not unloaded" is "$(unload "$tool")" "$busy"
		exec {held_file}<&-
	done
	exec {held_file}>"$debugfs/$tool/reset"
	check "$debugfs/$tool/reset is open: not unloaded" is "$(unload "$tool")" "$busy"
	exec {held_file}>&-

	start reader "$proc/$tool" read=100 wait read=100
	start poller "$proc/$tool" read=100 poll=-1
	start epoller "$proc/$tool" read=100 epoll=-1
	asleep reader read
	asleep poller poll
	asleep epoller epoll_wait
	check "$tool: readers sleep: rmmod says it is in use" is "$(rmmod "$tool" 2>&1)" "rmmod: ERROR: Module $tool is in use"
	check "$tool: readers sleep: not unloaded" is "$(unload "$tool")" "$busy"
	connections 1
	check "$tool: readers sleep: it goes on" grep -q 7000 $proc/tcp_connections
	check "$tool: readers sleep: a file can be opened" cat "$proc/$tool" "$debugfs/$tool/stats"
	[ "$tool" = tcp_connections ] || set_to topsys flip 1
	ended poller
	ended epoller
	check "$tool: one reader is left: not unloaded" is "$(unload "$tool")" "$busy"
	go reader
	ended reader
	check "$tool: no reader is left: unloaded" unload "$tool"
done
for tool in "${tools[@]}"; do
	case $tool in
	topsys | tcp_connections | thread_times) ;;
	*) rmmod "$tool" ;;
	esac
done
# A reader that dies with its files open.
start reader $proc/thread_times poll=-1
asleep reader poll
kill -KILL "${pids[reader]}"
ended reader 2>/dev/null || true
check "a reader is killed: unloaded" unload thread_times
check "nothing is left" [ ! -e $proc ]

# --- opening while the module comes and goes
cat >"$tmp/cycle.pl" <<'END'
my ($tool, $file, $count) = @ARGV;
open my $module, '<', $file or die;
my $busy = 0;
for (1 .. $count) {
	syscall(313, fileno $module, my $parameters = '', 0) == 0 or die "finit_module: $!\n";
	select undef, undef, undef, rand 0.02;
	while (syscall(176, $tool, 2048) != 0) {
		$!{EAGAIN} or die "delete_module: $!\n";
		$busy++;
	}
}
print "$tool: in use $busy times\n";
END
# What debugfs itself answers while a module is going is ENXIO.
for tool in topsys tcp_connections; do
	"$hold" -r "$proc/$tool" "$proc/$tool.json" >"$tmp/raced" &
	openers=($!)
	"$hold" -r "$debugfs/$tool/stats" "$debugfs/$tool/json" >"$tmp/raced-debugfs" &
	openers+=($!)
	check "$tool: comes and goes while it is opened" perl "$tmp/cycle.pl" "$tool" "$TAP_KO/$tool.ko" 40
	kill "${openers[@]}"
	wait "${openers[@]}"
	sed 's/^/# /' "$tmp/raced" "$tmp/raced-debugfs"
	check "$tool: comes and goes while it is opened: success, ENOENT or ENODEV" nothing \
		grep -vxE '(open|poll|read) ok [0-9]+|open (ENOENT|ENODEV) [0-9]+' "$tmp/raced"
	check "$tool: comes and goes while it is opened: the same of debugfs, or ENXIO" nothing \
		grep -vxE '(open|poll|read) ok [0-9]+|open (ENOENT|ENODEV|ENXIO) [0-9]+' "$tmp/raced-debugfs"
	# shellcheck disable=SC2016 # awk's
	check "$tool: comes and goes while it is opened: 10,000 times" \
		awk '$1 == "open" { n += $3 } END { exit n < 10000 }' "$tmp/raced"
	check "$tool: comes and goes while it is opened: it was there and was not there" is \
		"$(grep -cE 'open (ok|ENOENT)' "$tmp/raced")" 2
done
check "nothing is left at the end" [ ! -e $proc ]
plan
