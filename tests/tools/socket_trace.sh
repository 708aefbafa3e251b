#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# socket_trace: each entry and each return of the functions of net/socket.c, nested, whoever calls them.
. "$(dirname "$0")/lib.sh"

sockets=$workloads/sockets
tracing=/sys/kernel/tracing

stats() # field
{
	awk -v field="$1" '$1 == field { print $2 }' $debugfs/socket_trace/stats
}

reset()
{
	set_to socket_trace reset 1
}

has() # function of this kernel
{
	grep -qE " [tT] $1$" /proc/kallsyms
}

# trace COMMAND... - its lines, and nobody else's, in $tmp/lines and $tmp/json
trace()
{
	hold "$@"
	set_to socket_trace filter "pid=$held"
	reset
	finish
	cat $proc/socket_trace >"$tmp/lines"
	cat $proc/socket_trace.json >"$tmp/json"
}

# lines -> FUNCTION or lines '<-' FUNCTION - how many of the traced ones
lines()
{
	grep -cE -- " $1 $2( |$)" "$tmp/lines" || true
}

# What is wrong in the order of the lines on stdin: whatever is not an entry one deeper than its thread is, or the return of
# the innermost call that its thread is in; a time that runs backwards, or does not begin with 0. What is still open at the
# end, unless "open" is given. Lines of interrupts are left out: they do not say on which CPU.
cat >"$tmp/nest.pl" <<'END'
use strict;
my $may_be_open = @ARGV && shift eq 'open';
my (%in, %time);
while (<STDIN>) {
	my ($us, $thread, $tid, $blanks, $way, $function, $rest) =
		/^ *(\d+) (\S+)\((\d+)\):( +)(->|<-) (\w+)( \(return not followed\)| return=.*)?$/ or print "no line: $_" and next;
	next if $thread eq '(irq)';
	my $in = $in{$tid} //= [];
	my $depth = length $blanks;
	print "time: $_" if $depth == 1 && $way eq '->' ? $us != 0 : $us < $time{$tid};
	$time{$tid} = $us;
	if ($way eq '->') {
		print "depth: $_" if $depth != @$in + 1;
		push @$in, $function unless defined $rest;
	} else {
		print "not the innermost: $_" if $depth != @$in || $in->[-1] ne $function;
		pop @$in;
	}
}
for my $tid (sort keys %in) {
	print "not returned: $tid: @{$in{$tid}}\n" if @{$in{$tid}} && !$may_be_open;
}
END
nested() # [open]
{
	[ -s "$tmp/lines" ] && nothing perl "$tmp/nest.pl" "$@" <"$tmp/lines"
}

load socket_trace
check "it probes what there is" is "$(stats missed) $(stats unfollowed) $(sed -n 's/^hook \(sock_poll:.*\)/\1/p' $debugfs/socket_trace/stats)" \
	"0 0 sock_poll: kretprobe"

# --- twelve system calls
twelve=(socket setsockopt getsockopt bind listen getsockname getpeername connect accept4 sendto recvfrom shutdown)
# The functions of that level in the order of the lines.
twelve() # ->|<-
{
	local pattern

	pattern=$(IFS='|'; echo "${twelve[*]}")
	sed -nE "s/.* $1 (__sys_($pattern))( .*)?$/\1/p" "$tmp/lines"
}
expected()
{
	local call

	for call in "${twelve[@]}"; do
		# one function for both, on recent kernels
		if [ "$call" = getpeername ] && ! has __sys_getpeername; then
			call=getsockname
		fi
		echo "__sys_$call"
	done
}
for way in "sockets calls" "sockets32 calls" "sockets32 direct"; do
	# shellcheck disable=SC2086 # two words
	trace "$workloads/"$way
	check "$way: 12 entries" diff <(twelve '->') <(expected)
	check "$way: 12 returns" diff <(twelve '<-') <(expected)
	check "$way: nested" nested
	# and the one that accept had ready
	check "$way: closed in the end" is "$(lines '->' sock_close) $(lines '<-' sock_close)" "2 2"
	cp "$tmp/lines" "$tmp/lines-${way/ /-}"
done
check "each line is of the thread" is "$(sed -E 's/^ *[0-9]+ (.*): .*/\1/' "$tmp/lines" | sort -u)" "sockets32($held)"
check "a time is six columns wide" is "$(grep -cE '^ {5}0 sockets32\([0-9]+\): -> sock_close$' "$tmp/lines")" 2
wrappers()
{
	sed -nE 's/.*: -> (__[a-z0-9]+_sys_[a-z0-9]+)$/\1/p' "$1" | paste -sd ' '
}
check "what the entry code calls, 64 bit" is "$(wrappers "$tmp/lines-sockets-calls")" \
	"__x64_sys_socket __x64_sys_setsockopt __x64_sys_getsockopt __x64_sys_bind __x64_sys_listen __x64_sys_getsockname __x64_sys_getpeername __x64_sys_connect __x64_sys_accept __x64_sys_sendto __x64_sys_recvfrom __x64_sys_shutdown"
check "what the entry code calls, 32 bit" is "$(wrappers "$tmp/lines-sockets32-direct" | grep -oE '__ia32_sys_(bind|connect|sendto)' | paste -sd ' ')" \
	"__ia32_sys_bind __ia32_sys_connect __ia32_sys_sendto"
check "socketcall() is not in net/socket.c" is "$(wrappers "$tmp/lines-sockets32-calls")" ""

# --- values
set_to socket_trace return 1
trace "$sockets" calls
value() # function
{
	sed -nE "s/.* <- $1 return=//p" "$tmp/lines"
}
check "return=1: a file descriptor" grep -qE '^[0-9]+$' <(value __sys_socket)
check "return=1: no error" is "$(value __sys_bind)" 0
check "return=1: EISCONN" is "$(value __sys_connect)" "-106 (EISCONN)"
check "return=1: EAGAIN" is "$(value __sys_accept4)" "-11 (EAGAIN)"
check "return=1: EPIPE" is "$(value __x64_sys_sendto)" "-32 (EPIPE)"
check "return=1: ENOTCONN" is "$(value __sys_recvfrom)" "-107 (ENOTCONN)"
check "return=1: an address" grep -qE ' <- sock_alloc return=0x[0-9a-f]+$' "$tmp/lines"
check "return=1: an error for an address" is "$(value do_accept)" "-11 (EAGAIN)"
check "return=1: nothing of what returns nothing" grep -qE ' <- __sock_release$' "$tmp/lines"
check "return=1: nothing of an entry" nothing grep -E -- '-> .*return' "$tmp/lines"
check "return=1: nested" nested
set_to socket_trace return 0
check "JSON: valid, with as many events as lines" is "$(jq -c 'select(.tool)' "$tmp/json" | wc -l)" "$(wc -l <"$tmp/lines")"
object() # event return errno
{
	echo '{"tool":"socket_trace","event":"'"$1"'","function":"__x64_sys_connect","alias":"sys_connect","depth":1,"followed":1,"return":"'"$2"'","errno":"'"$3"'","pid":'"$held"',"comm":"sockets","thread":"sockets","tid":'"$held"',"ns_pid":'"$held"'}'
}
check "JSON: an entry and a return" is \
	"$(jq -c 'select(.function == "__x64_sys_connect") | del(.time_ns, .elapsed_ns)' "$tmp/json")" \
	"$(object entry "" "")"$'\n'"$(object return -106 EISCONN)"

# --- all ways to send
trace "$sockets" sends
check "sends: nested" nested
check "send and sendto" is "$(lines '->' __sys_sendto) $(lines '<-' __sys_sendto)" "2 2"
check "sendmsg" is "$(lines '->' __sys_sendmsg) $(lines '<-' __sys_sendmsg)" "1 1"
check "sendmmsg" is "$(lines '->' __sys_sendmmsg) $(lines '<-' __sys_sendmmsg)" "1 1"
check "write" is "$(lines '->' sock_write_iter) $(lines '<-' sock_write_iter)" "1 1"
outermost() # ->|<- function...
{
	local functions

	functions=$(IFS='|'; echo "${*:2}")
	grep -cE "\): $1 ($functions)( |$)" "$tmp/lines" || true
}
check "sendfile" is "$(outermost '->' sock_sendpage sock_sendmsg) $(outermost '<-' sock_sendpage sock_sendmsg)" "1 1"
if has __sock_sendmsg; then
	check "JSON: a name that stays where a function moved" is \
		"$(jq -r 'select(.event == "entry" and .function == "__sock_sendmsg") | .alias' "$tmp/json" | sort -u)" sock_sendmsg
fi

# --- poll, select, epoll
echo 'p:tap_poll sock_poll' >$tracing/kprobe_events
echo 1 >$tracing/events/kprobes/tap_poll/enable
for way in poll0 poll select epoll "poll0 poll select epoll"; do
	# shellcheck disable=SC2086 # words
	hold "$sockets" $way
	set_to socket_trace filter "pid=$held"
	reset
	echo >$tracing/trace
	finish
	cat $proc/socket_trace >"$tmp/lines"
	scans=$(grep -cE -- "-$held +\[.* tap_poll: " $tracing/trace)
	check "$way: there were scans" [ "$scans" -gt 0 ]
	check "$way: a pair for each scan" is "$(lines '->' sock_poll) $(lines '<-' sock_poll)" "$scans $scans"
	check "$way: nested" nested
	case $way in
	poll0 | select) check "$way: one for each socket" is "$scans" 2 ;;
	poll) check "$way: one before and one after it slept" is "$scans" 2 ;;
	esac
done
echo 0 >$tracing/events/kprobes/tap_poll/enable
echo >$tracing/kprobe_events

# --- other ways
trace "$sockets" uring
check "io_uring: nested" nested
check "io_uring: a send" is "$(outermost '->' sock_sendmsg) $(outermost '<-' sock_sendmsg)" "1 1"
check "io_uring: a receive" is "$(outermost '->' sock_recvmsg) $(outermost '<-' sock_recvmsg)" "1 1"
trace "$sockets" others
check "ioctl: nested" nested
check "ioctl" is "$(lines '->' sock_ioctl) $(lines '<-' sock_ioctl)" "2 2"
check "splice" is "$(lines '->' sock_splice_read) $(lines '<-' sock_splice_read)" "1 1"
trace "${sockets}32" others
check "ioctl, 32 bit: as for 64 bit" is "$(lines '->' sock_ioctl) $(lines '<-' sock_ioctl)" "1 1"
check "ioctl, 32 bit: translated" is "$(lines '->' compat_sock_ioctl) $(lines '<-' compat_sock_ioctl)" "1 1"
trace "$sockets" name poll0
check "the thread's name, escaped" is "$(sed -E 's/^ *[0-9]+ (.*)\(.*/\1/' "$tmp/lines" | sort -u)" 'a\040b'
set_to socket_trace escape 0
check "escape=0: the thread's name as it is" is "$(sed -E 's/^ *[0-9]+ (.*)\(.*/\1/' $proc/socket_trace | sort -u)" 'a b'
set_to socket_trace escape 1
check "JSON: both names" is "$(jq -r 'select(.tool) | "\(.comm),\(.thread)"' "$tmp/json" | sort -u)" "a b,a b"

# What the kernel does by itself: socket inodes are freed in a softirq.
set_to socket_trace filter ""
reset
"$sockets" poll0
until_true grep -q 'sock_free_inode' $proc/socket_trace
check "a softirq is nobody's" is "$(sed -nE 's/^ *[0-9]+ (.*): -> sock_free_inode/\1/p' $proc/socket_trace | sort -u)" "(irq)(0) (return not followed)"

set_to socket_trace filter pid=1
reset
"$sockets" poll0 calls sends
check "filter: somebody else's are left out" is "$(cat $proc/socket_trace)" ""

# --- many that sleep
# sleepers N - starts them, traced alone; their process is $sleepers
sleepers()
{
	hold "$sockets" "sleep=$1"
	sleepers=$held
	set_to socket_trace filter "pid=$sleepers"
	reset
	kill -CONT "$sleepers"
	until_true asleep "$1"
}
asleep()
{
	[ "$(cat "/proc/$sleepers"/task/*/syscall | sed -nE 's/^(43|45) .*/\1/p' | sort | uniq -c | xargs)" = "1 43 $1 45" ]
}
wake()
{
	local status=0

	kill -USR1 "$sleepers"
	wait "$sleepers" || status=$?
	check "$1: they wake up, and end" is "$status" 0
}
sleepers 300
cat $proc/socket_trace >"$tmp/lines"
check "300 sleep in recv and one in accept" asleep 300
check "asleep: they have entered" is "$(lines '->' __sys_recvfrom) $(lines '->' sock_recvmsg) $(lines '->' __sys_accept4)" "300 300 1"
check "asleep: none has returned" is "$(lines '<-' __sys_recvfrom) $(lines '<-' sock_recvmsg) $(lines '<-' __sys_accept4)" "0 0 0"
check "asleep: nested" nested open
check "asleep: all are followed" is "$(grep -c 'not followed' "$tmp/lines")" 0
sleep 30	# what is held for a return must last as long as that
wake awake
cat $proc/socket_trace >"$tmp/lines"
check "awake: all have returned" is "$(lines '<-' __sys_recvfrom) $(lines '<-' sock_recvmsg) $(lines '<-' __sys_accept4)" "300 300 1"
check "awake: nested" nested
sleepers 20
kill -KILL "$sleepers"
wait "$sleepers" 2>/dev/null || true
set_to socket_trace return 1
cat $proc/socket_trace >"$tmp/lines"
set_to socket_trace return 0
check "killed: all have returned, and why" is "$(grep -cF '<- sock_recvmsg return=-512 (ERESTARTSYS)' "$tmp/lines")" 20
check "killed: nested" nested

# Only some functions, while threads sleep in them.
sleepers 10
set_to socket_trace functions sock_recvmsg,do_accept
reset
wake "functions= while threads sleep"
cat $proc/socket_trace >"$tmp/lines"
check "functions= while threads sleep: what stays returns" is \
	"$(sed -E 's/.*: +//' "$tmp/lines" | sort | uniq -c | xargs)" "1 <- do_accept 10 <- sock_recvmsg"
trace "$sockets" calls
check "functions=: these only" is "$(sed -E 's/.*: +//' "$tmp/lines" | xargs)" "-> do_accept <- do_accept -> sock_recvmsg <- sock_recvmsg"
sleepers 10
set_to socket_trace enabled 0
set_to socket_trace functions ""
set_to socket_trace enabled 1
reset
wake "enabled= while threads sleep"
cat $proc/socket_trace >"$tmp/lines"
check "enabled= while threads sleep: nested" nested
check "enabled= while threads sleep: nothing is left of before" is "$(lines '<-' sock_recvmsg)" 0
trace "$sockets" calls
check "all functions again: nested" nested
check "all functions again" is "$(lines '->' __sys_bind) $(lines '<-' __x64_sys_bind)" "1 1"
sleepers 10
rmmod socket_trace
wake "unloaded while threads sleep"
check "nothing is left" [ ! -e $proc ]

# --- more than can be followed
load socket_trace inflight=16
sleepers 300
wake "inflight=16"
cat $proc/socket_trace >"$tmp/lines"
check "inflight=16: all entries are there" is "$(lines '->' __sys_recvfrom) $(lines '->' sock_recvmsg)" "300 300"
check "inflight=16: some returns are" is "$(lines '<-' __sys_recvfrom) $(lines '<-' sock_recvmsg)" "16 16"
check "inflight=16: it is said at the entry of the others" is \
	"$(grep -cE -- '-> sock_recvmsg \(return not followed\)$' "$tmp/lines")" 284
check "inflight=16: nested" nested
check "inflight=16: stats say it" is "$(stats unfollowed)" "$(grep -c 'return not followed' "$tmp/lines")"
check "inflight=16: JSON says it" is \
	"$(jq -c 'select(.event == "entry" and .function == "sock_recvmsg") | .followed' $proc/socket_trace.json | sort | uniq -c | xargs)" "284 0 16 1"
unfollowed=$(stats unfollowed)
trace "$sockets" calls sends
check "inflight=16: later ones are followed" is "$(stats unfollowed)" "$unfollowed"
check "inflight=16: later ones are nested" nested
check "nothing is lost" is "$(stats lost) $(stats missed)" "0 0"
rmmod socket_trace

# --- functions=
dmesg -C
check "functions=: a good and an unknown one" load socket_trace functions=sock_poll,sock_unknown,sys_sendto
check "functions=: a warning names the unknown one" is "$(dmesg -t | grep '^socket_trace')" \
	"socket_trace: sock_unknown is no function that can be followed on this kernel: left out"
check "functions=: by name, and by what it is known as" is "$(sed -n 's/^hook \(.*\): .*/\1/p' $debugfs/socket_trace/stats | xargs)" \
	"sock_poll __x64_sys_sendto __ia32_sys_sendto"
trace "$sockets" poll0 sends
check "functions=: these only" is "$(sed -E 's/.*: +//' "$tmp/lines" | uniq | xargs)" \
	"-> sock_poll <- sock_poll -> sock_poll <- sock_poll -> __x64_sys_sendto <- __x64_sys_sendto -> __x64_sys_sendto <- __x64_sys_sendto"
hooks=$(grep ^hook $debugfs/socket_trace/stats)
# of this kernel, or of none at all
lacking=$(for name in sock_sendpage sock_read_xattr; do has $name || echo $name; done | head -n 1)
for value in sock_unknown 'sock_poll,' ,sock_poll 'sock_poll sock_ioctl' "$lacking"; do
	check "functions=$value: refused" is "$(set_to socket_trace functions "$value" 2>&1 | sed 's/.*: //')" "Invalid argument"
	check "functions=$value: it says why" grep -qF "$value: " <(grep ^refused: $debugfs/socket_trace/stats)
	check "functions=$value: nothing has changed" is "$(grep ^hook $debugfs/socket_trace/stats) $(cat $debugfs/socket_trace/functions)" \
		"$hooks sock_poll,sock_unknown,sys_sendto"
done
rmmod socket_trace
for value in sock_unknown "$lacking"; do
	dmesg -C
	check "functions=$value: not loaded" is "$(load socket_trace "functions=$value" 2>&1 | sed 's/.*: //')" "Invalid parameters"
	check "functions=$value: one clear line" is "$(dmesg -t | grep -c "^socket_trace: .*$value: .*function")" 1
	check "functions=$value: nothing is left" [ ! -e $proc ]
done

# --- who reads
load socket_trace
cat >"$tmp/self.pl" <<'END'
use Socket;
open my $f, '<', '/proc/tap/socket_trace' or die;
socketpair my $a, my $b, AF_UNIX, SOCK_STREAM, 0 or die;
syswrite $a, 'x';
print for grep { /\($$\)/ } <$f>;
END
check "what a reader does is left out" nothing perl "$tmp/self.pl"
check "what a reader does is counted apart" [ "$(stats self)" -gt 0 ]
set_to socket_trace self 1
perl "$tmp/self.pl" >"$tmp/lines"
check "self=1: it is not" is "$(lines '->' sock_write_iter) $(lines '<-' sock_write_iter)" "1 1"
set_to socket_trace self 0

# --- real programs
start_nginx 127.0.0.1:8080
head -c 1M /dev/zero >"$tmp/www/zero"
trace curl -sS -o /dev/null 'http://127.0.0.1:8080/zero?[1-20]'
check "curl: nested, all have returned" nested
check "curl: as many returns as entries" is "$(grep -c -- ' <- ' "$tmp/lines")" "$(grep -c -- ' -> ' "$tmp/lines")"
# it asks for names, too
check "curl: 20 connections" [ "$(lines '->' __sys_connect)" -ge 20 ]
set_to socket_trace filter "comm=nginx"
reset
curl -sS -o /dev/null 'http://127.0.0.1:8080/zero?[1-20]'
# its workers close what they have when they end
stop_nginx
until_true [ ! -e "$tmp/nginx.pid" ]
until_true [ -z "$(pgrep nginx)" ]
cat $proc/socket_trace >"$tmp/lines"
check "nginx: nested, all have returned" nested
check "nginx: 20 connections" [ "$(grep -cE -- ' -> do_accept$' "$tmp/lines")" -ge 20 ]
check "nothing is lost" is "$(stats lost) $(stats missed) $(stats unfollowed)" "0 0 0"
rmmod socket_trace
check "nothing is left" [ ! -e $proc ]
plan
