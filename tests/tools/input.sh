#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What every tool does the same way: each parameter with values that are wrong, and with those at the edge of what is
# right, given to insmod and written to debugfs.
. "$(dirname "$0")/lib.sh"

mapfile -t tools <TOOLS

repeated() # text count
{
	head -c "$2" /dev/zero | sed "s|\x0|$1|g"
}

long_word=$(repeated x 100000)
long_number=$(repeated 1 131073)

# Values that are wrong for a parameter, each ended by a NUL. The first ones tell its kind and range from others, the
# last three are the same for all.
wrong() # parameter
{
	case $1 in
	interval_ms) wrong_number 99 3600001 1 ;;
	refresh_ms) wrong_number 99 3600001 0 ;;
	limit) wrong_number 1000001 ;;
	max_rows) wrong_number 15 1048577 1 ;;
	buffer_kb) wrong_number 15 1048577 0 ;;
	hz) wrong_number 10001 0 ;;
	inflight) wrong_number 15 65537 0 ;;
	max_sockets) wrong_number 15 1048577 0 ;;
	name_kb) wrong_number 65537 0 ;;
	netns) printf '%s\0' '' abc -1 100x '100 ' '1 00' 100.5 1e3 0x 4294967296 18446744073709551716 ' ' --100 ;;
	attribution) printf '%s\0' foo '' 0 Socket sockets 'socket or current' ;;
	header_ms) wrong_number 99 3600001 1 ;;
	port) wrong_number 70000 65536 ;;
	addr)
		printf '%s\0' 300.1.1.1 fd00::/129 10.0.0.0/33 10.0.0.1/ 10.0.0 ' 10.0.0.1' '10.0.0.1 ' 10.0.0.0/-8 10.0.0.0/+8 \
			fd00::/64x fd00 : localhost /8 10.0.0.1,10.0.0.2
		;;
	dev)
		printf '%s\0' 8 0x 8:99999999 0x: 0x:5 : :5 8: 805 fd00 0X805 8:5:1 8:5,8:6 '8:5 ' ' 8:5' +8:5 -8:5 8:-5 \
			4096:0 4294967304:5 8:4294967301 0x100000805 0:0 0x0 sda /dev/sda
		;;
	ino)
		printf '%s\0' -1 0 0x0 +1 ' 1' '1 ' 1x x 0x 0xg 1,2 1:2 18446744073709551616 0x10000000000000000
		;;
	path)
		printf '%s\0' /no/such/file "$(repeated / 5000)" TOOLS/ /proc/version/x no/such/file ' /' "$(repeated x 256)"
		;;
	attrs) printf '%s\0' owner '' 0 1 Mode ALL mode,all ;;
	stages) printf '%s\0' foo mm, ,mm mm,,fs , 'mm ' ' mm' MM m mm+fs 0 'mm fs' fs+sighand+signal+mm ;;
	enabled | escape | force | hist | irq | return | self | stacked | summary | udp | verbose)
		printf '%s\0' 2 yes '' -1 01 0x1 '1 ' ' 1' 11 on
		;;
	functions)
		if [ "$tool" = functioncallcount ]; then
			printf '%s\0' nosuch_function '' '*' , ,vfs_read vfs_read, vfs_read,,vfs_write 'vfs_read vfs_write' 'vfs_read ' \
				' vfs_*' 1 '!vfs_*' vfs_read@ vfs_read@xyz vfs_read@0x1 'vfs_*@ffffffff81000000' vfs_read@+ @ffffffff81000000 \
				vfs_read@ffffffff810000000 vfs_read@1 rcu_is_watching '*@mm/*.c' vfs_read@fs/read_write.c 'vfs_$' \
				"$(repeated a, 200)a" "$(repeated 'vfs_read@1,' 2000)vfs_read@1"
		else
			printf '%s\0' sock_unknown sock_poll, ,sock_poll sock_poll,,sock_ioctl , 'sock_poll sock_ioctl' 'sock_poll ' \
				' sock_poll' 'sock_*' SOCK_POLL sock_poll2
		fi
		;;
	sort) printf '%s\0' foo '' 0 Count names 'name or count' ;;
	by) printf '%s\0' comm '' 0 Name pids 'name or pid' ;;
	names) printf '%s\0' comm '' 0 Process threads 'process or thread' ;;
	filter)
		printf '%s\0' pid= tree=4194305 pid pid=0 pid=-1 pid=x pid=1x 'pid=1 ' ' pid=1' pid==1 PID=1 =1 = no=1 \
			pid=2147483648 pid=18446744073709551617 , pid=1, ,pid=1 pid=1,,uid=0 pid=1,pid=1 pid=1,uid=0,pid=2 \
			tid= tid=0 tid=-5 tree= tree=0 tree=x uid= uid=-1 uid=4294967296 uid=root comm= comm=1234567890123456 \
			cgroup= cgroup=x cgroup=-1 cgroup=18446744073709551616
		;;
	*) return 1 ;;
	esac
	printf '%s\0' $'1\n1' "$long_word" "$long_number"
}
# Too large for 32 and 64 bits, too: these would be right when they wrap.
wrong_number() # number...
{
	printf '%s\0' "$@" '' abc -1 100x '100 ' '1 00' 100.5 1e3 0x 4294967396 18446744073709551716 ' ' --100
}

load_only() # parameter
{
	case $1 in
	force | max_rows | buffer_kb | inflight | max_sockets | name_kb | path | summary) ;;
	functions) [ "$tool" = functioncallcount ] ;;
	*) return 1 ;;
	esac
}

# insmod takes its time, and the code is the same for all tools: what a tool declares is tried for each, the rest once, and
# all of it once where debugfs cannot.
some() # parameter
{
	if [ -e "$tmp/seen-$1" ]; then
		sed -z -n "$(load_only "$1" && echo 1,3p || echo 1p)"
	elif load_only "$1"; then
		cat
	else
		perl -0 -e '@values = <>; print @values[0 .. 2, -3 .. -1]'
	fi
	: >"$tmp/seen-$1"
}

right() # parameter tool
{
	case $1 in
	filter)
		# None fits a tool whose events are nobody's.
		case $2 in
		ioblktime | tcpdumplike) echo ;;
		*)
			echo pid=1 uid=4294967294 comm=123456789012345 tree=1 cgroup=18446744073709551615 \
				"cgroup=1,tree=1,comm=a=b,uid=0,tid=1,pid=1"
			;;
		esac
		;;
	header_ms | interval_ms) echo 3600000 100 0 ;;
	refresh_ms) echo 3600000 100 ;;
	limit) echo 1000000 0 1 ;;
	max_rows) echo 4096 16 ;;
	buffer_kb) echo 1024 16 ;;
	hz) echo 10000 1 ;;
	inflight) echo 64 16 ;;
	max_sockets) echo 1024 16 ;;
	name_kb) echo 1024 1 ;;
	netns) echo 4294967295 0 ;;
	attribution) echo current socket ;;
	functions)
		case $2 in
		functioncallcount) echo 'vfs_*,sock_poll' ;;
		*) echo sock_poll sys_recvfrom,sock_recvmsg ;;
		esac
		;;
	port) echo 65535 1 0 ;;
	addr) echo 10.0.0.0/8 0.0.0.0/0 fd00::/64 ::/0 127.0.0.1/32 ::1/128 fd00::1 ;;
	by) echo pid name ;;
	sort) echo name count ;;
	dev) echo 8:5 0x8:0x5 0x805 0xfd:1 4095:1048575 0xffffffff ;;
	ino) echo 1 4294967296 18446744073709551615 0xffffffffffffffff ;;
	path) echo ;; # dev= and ino= are set
	attrs) echo all mode ;;
	stages) echo mm,fs check vfork_wait,arguments ;;
	enabled | escape | force | hist | irq | return | self | stacked | summary | udp | verbose) echo 0 1 ;;
	names) echo thread process ;;
	esac
}

# try.pl load FILE [PARAMETER], try.pl write DIR: gives each PARAMETER=VALUE on stdin to finit_module(), or writes it to the
# parameter's file. Prints what is not as it should be: refused with EINVAL, everything as before, and one line in
# the log or in stats that has parameter, value and reason.
cat >"$tmp/try.pl" <<'END'
use strict;
use Errno 'EINVAL';
use Fcntl;
my ($mode, $where, $required) = @ARGV;
my ($tool) = $where =~ m{([^/]*?)(?:\.ko)?$};
$/ = "\0";
my @settings = <STDIN>;
chomp @settings;
my $name;

sub content { local (@ARGV, $/) = (@_); my $content = <>; chomp $content; $content }
sub short { length $_[0] > 64 ? substr($_[0], 0, 64) . '...' : $_[0] }
sub complain { my ($value, $what) = @_; print "$name=", short($value), ": $what\n" }
sub judge
{
	my ($value, @lines) = @_;

	@lines == 1 or return complain $value, scalar(@lines) . " lines: @lines";
	my $want = "$name=" . short($value);
	# what is not printable is escaped, somehow
	$want = join '.*', map { quotemeta } split /[^ -~]+/, $want;
	$lines[0] =~ /^$want: .{10,}$/ && $lines[0] !~ /\\x0a/ or complain $value, "not clear: $lines[0]";
}

sysopen my $kmsg, '/dev/kmsg', O_RDONLY | O_NONBLOCK or die;
for my $setting (@settings) {
	($name, my $value) = split /=/, $setting, 2;
	my ($done, $error, @lines);
	my $before = $mode eq 'write' && content "$where/$name";

	sysseek $kmsg, 0, 2;
	if ($mode eq 'load') {
		open my $file, '<', $where or die;
		my $parameters = "$name=\"$value\"";
		$parameters = "$required $parameters" if $required && $required !~ /^\Q$name\E=/;
		$done = syscall(313, fileno $file, $parameters, 0) == 0;	# finit_module
		$error = $!;
		while (sysread $kmsg, my $record, 8192) {
			push @lines, $1 if $record =~ /^[^;]*;\Q$tool\E: (\Q$name\E=.*)/;
		}
		complain $value, 'left something behind' if -e '/proc/tap' || -e "/sys/module/$tool";
		syscall 176, $tool, O_NONBLOCK if $done;	# delete_module
	} else {
		open my $file, '>', "$where/$name" or die;
		$done = syswrite $file, $value;
		$error = $!;
		complain $value, 'changed the value' if content("$where/$name") ne $before;
		my $stats = content "$where/stats";
		@lines = $stats =~ /^refused: (.*(?:\n.*)*)/m;
	}
	if ($done) {
		complain $value, 'accepted';
	} elsif ($error != EINVAL) {
		complain $value, "not EINVAL: $error";
	} else {
		judge $value, @lines;
	}
}
@settings or print "no values\n";
END

# What is wrong for each of the parameters that stdin names, as try.pl reads it.
wrong_load()
{
	local name

	while read -r name; do
		wrong "$name" | some "$name" | sed -z "s/^/$name=/"
	done
}
wrong_write()
{
	local name

	while read -r name; do
		if ! load_only "$name"; then
			wrong "$name" | sed -z "s/^/$name=/"
			printf '%s=1\n1\0' "$name"
		fi
	done
}

# What is not as insmod was told.
as_given() # tool setting...
{
	local setting

	for setting in "${@:2}"; do
		is "$(<"/sys/module/$1/parameters/${setting%%=*}")" "${setting#*=}"
	done
}

# What is right and not accepted, or not shown as it was written.
kept() # tool parameter
{
	local values value

	mapfile -t values < <(right "$2" "$1" | xargs -n 1)
	[ "${#values[@]}" -gt 0 ] || echo "no values"
	for value in "${values[@]}"; do
		set_to "$1" "$2" "$value" || echo "$value: refused"
		is "$(<"$debugfs/$1/$2")" "$value"
	done
}

for tool in "${tools[@]}"; do
	ko=$TAP_KO/$tool.ko
	modinfo -p "$ko" | sed 's/:.*//' | LC_ALL=C sort >"$tmp/names"
	mapfile -t names <"$tmp/names"
	unknown=()
	for name in "${names[@]}"; do
		wrong "$name" >"$tmp/wrong" || unknown+=("$name")
	done
	check "$tool: what is wrong for each parameter is known" is "${unknown[*]}" ""
	wrong_load <"$tmp/names" >"$tmp/wrong"
	check "$tool: what is wrong is refused by insmod" nothing perl "$tmp/try.pl" load "$ko" "$(required "$tool")" <"$tmp/wrong"

	# All at once, with the first of what is right.
	settings=()
	for name in "${names[@]}"; do
		read -r -a values < <(right "$name" "$tool")
		settings+=("$name=${values[0]-}")
	done
	check "$tool: all parameters at insmod" insmod "$ko" "${settings[@]}"
	check "$tool: they are known to the kernel" nothing as_given "$tool" "${settings[@]}"
	wrong_write <"$tmp/names" >"$tmp/wrong"
	check "$tool: what is wrong is refused in debugfs" nothing perl "$tmp/try.pl" write "$debugfs/$tool" <"$tmp/wrong"
	for name in "${names[@]}"; do
		if load_only "$name"; then
			check "$tool: $name cannot be changed later" [ ! -e "$debugfs/$tool/$name" ]
		else
			check "$tool: $name right in debugfs" nothing kept "$tool" "$name"
		fi
	done
	rmmod "$tool"
done

# --- what perl does not try
check "an empty filter: none" insmod "$TAP_KO/topsys.ko" filter=
check "an empty filter in debugfs: none" set_to topsys filter ""
printf '7\0008' >"$tmp/nul"
check "a NUL ends no value" is "$(cp "$tmp/nul" $debugfs/topsys/limit 2>&1 | sed 's/.*: //')" 'Invalid argument'
rmmod topsys
check "a parameter that is a flag: on" insmod "$TAP_KO/topsys.ko" self
check "a parameter that is a flag: known" is "$(cat $debugfs/topsys/self)" 1
rmmod topsys
check "insmod says what the kernel says" is \
	"$(insmod "$TAP_KO/topsys.ko" interval_ms=1 2>&1 | sed 's/.*: //')" 'Invalid parameters'
check "a table of 16 rows" insmod "$TAP_KO/topsys.ko" max_rows=16
check "a table of 16 rows: it says so" grep -qx 'max_rows 16' $debugfs/topsys/stats
rmmod topsys
check "nothing is left" [ ! -e $proc ]
plan
