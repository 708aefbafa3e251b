#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# All tools (or those in TAP_TOOLS) loaded and unloaded at once, each on its own, while there is traffic for them to see,
# files are read and settings written. TAP_ROUNDS says how often. Where the kernel looks for bugs itself, and is slow,
# fewer rounds will do, and all else gets the time that loading does not need.
. "$(dirname "$0")/../tools/lib.sh"

read -ra tools <<<"${TAP_TOOLS:-$(paste -sd ' ' TOOLS)}"
# the same time for any number of tools
rounds=${TAP_ROUNDS:-$((60 / ${#tools[@]}))} niceness=0
case $TAP_KNAME in
debug | kcsan) rounds=${TAP_ROUNDS:-3} niceness=19 ;;
esac

# Where modules and their tables are, in kB: memory of each CPU, mapped memory.
memory()
{
	awk '/^(VmallocUsed|Percpu):/ { print $2 }' /proc/meminfo | sort -n | paste -sd ' '
}
# Mapped memory has the stacks of processes, too, which come and go.
kept() # percpu mapped percpu mapped
{
	[ "$3" -le "$1" ] && [ "$4" -lt $(($2 + 512)) ] && return
	echo "$*"
	return 1
}

# reload.pl FILE TOOL ROUNDS [PARAMETER]: loads, looks at the tool for a moment, unloads. Says how often it was in use.
cat >"$tmp/reload.pl" <<'END'
use strict;
my ($file, $tool, $rounds, $more) = @ARGV;
my $busy = 0;
# all of its functions take some seconds each time
$more = 'functions=__sys_sendto,__sys_connect' if $tool eq 'socket_trace';
open my $module, '<', $file or die;
for (1 .. $rounds) {
	select undef, undef, undef, rand 0.03;
	syscall(313, fileno $module, my $parameters = 'enabled=' . int(rand 2) . " $more", 0) == 0 or die "finit_module: $!\n";
	for (1 .. rand 4) {
		open my $data, '<', "/proc/tap/$tool" or die "open: $!\n";
		my $text = join '', <$data>;
		# whole lines, or nothing: not every stream has a header
		$text =~ /(^|\n)\z/ or die "strange: $text\n";
	}
	while (syscall(176, $tool, 2048) != 0) {
		$!{EAGAIN} or die "delete_module: $!\n";
		$busy++;
		select undef, undef, undef, rand 0.01;
	}
}
print "in use $busy times\n";
END

# What is there is written to, whether or not there are such settings at the moment.
write_settings()
{
	local values=(0 1 100 200 1000 comm=udp "tree=$$" "pid=$$,uid=0" "" no=1 thread)

	while :; do
		for setting in "$debugfs"/*/{enabled,filter,flip,hz,interval_ms,limit,names,reset,self,sort,stages,verbose}; do
			[ ! -e "$setting" ] || echo "${values[RANDOM % ${#values[@]}]}" >"$setting" || true
		done
	done 2>/dev/null
}

# Traffic: system calls, datagrams over lo and a pair of veth devices, connections, processes, a file and its mode, a disk,
# a lock, waits that time ends.
modprobe virtio_blk
disk disk
ip netns add tap_reload
ip link add tap0 type veth peer name tap1 netns tap_reload
ip addr add 10.9.0.1/24 dev tap0
ip link set tap0 up
ip -n tap_reload addr add 10.9.0.2/24 dev tap1
ip -n tap_reload link set tap1 up
ip netns exec tap_reload "$workloads/udp" drain 7000 >"$tmp/drain"
"$workloads/tcp" accept 7001 1000000000 >"$tmp/accept"
loop()
{
	while :; do
		"$@" >/dev/null || sleep 0.1
	done
}
background=("$(<"$tmp/drain")" "$(<"$tmp/accept")")
in_background() # command...
{
	"$@" &
	renice -n $niceness $! >/dev/null
	background+=($!)
}
in_background loop "$workloads/udp" send 127.0.0.1 9 1000 100
in_background loop "$workloads/udp" send 10.9.0.2 7000 1000 100
in_background loop "$workloads/tcp" connect 127.0.0.1 7001 100
in_background loop "$workloads/family" many=20 thread=100 vfork=100
in_background loop "$workloads/file_io" "$tmp/disk/file" read=10 write=10
in_background loop chmod 600 "$tmp/disk/file"
in_background loop "$workloads/locks" mutex 2 1
in_background loop "$workloads/timeouts" nanosleep 1 20 out=20 intr=2
in_background loop "$workloads/forks" many=20 vfork clone3 thread flags arguments
in_background loop dd if=/dev/zero of=/dev/vda bs=4k count=10 oflag=direct status=none
write_settings &
writer=$!
files=()
for tool in "${tools[@]}"; do
	files+=("$proc/$tool" "$proc/$tool.json" "$debugfs/$tool/stats" "$debugfs/$tool/json")
done
"$workloads/hold" -r "${files[@]}" >"$tmp/reader" &
reader=$!
renice -n $niceness $writer >/dev/null

memory=$(memory)
loaders=()
for tool in "${tools[@]}"; do
	perl "$tmp/reload.pl" "$TAP_KO/$tool.ko" "$tool" "$rounds" "$(required "$tool")" >"$tmp/$tool" 2>&1 &
	loaders+=($!)
done
for ((i = 0; i < ${#tools[@]}; i++)); do
	status=0
	wait "${loaders[i]}" || status=$?
	check "${tools[i]}: loaded and unloaded $rounds times" is "$status $(sed 's/in use.*//' "$tmp/${tools[i]}")" "0 "
	sed 's/^/# /' "$tmp/${tools[i]}"
done
# shellcheck disable=SC2046,SC2086 # words
check "no memory is lost" kept $memory $(memory)
kill "$writer" "$reader"
wait "$reader"
sed 's/^/# /' "$tmp/reader"
check "a reader found them there" grep -q '^open ok' "$tmp/reader"
check "a reader found them gone" grep -q '^open ENOENT' "$tmp/reader"
check "a reader had no trouble" nothing grep -vE '^(open|poll|read) ok|^open (ENOENT|ENODEV|ENXIO)' "$tmp/reader"

# They work as on the first day.
for tool in "${tools[@]}"; do
	load "$tool"
	check "$tool: sees the traffic afterwards" until_true grep -q '^events [1-9]' "$debugfs/$tool/stats"
	rmmod "$tool"
done
# Shells first, then what they have started and what the rest are.
kill "${background[@]:2}"
wait "${background[@]:2}" 2>/dev/null || true
kill "${background[@]:0:2}"
ip netns del tap_reload
until_true umount "$tmp/disk"	# who was at work has ended
check "/proc/tap is gone" [ ! -e $proc ]
check "nothing is left in debugfs" [ ! -e $debugfs ]
plan
