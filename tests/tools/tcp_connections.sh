#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tcp_connections: a line for each accepted connection, and for nothing else.
. "$(dirname "$0")/lib.sh"

stats() # field
{
	awk -v field="$1" '$1 == field { print $2 }' $debugfs/tcp_connections/stats
}

# The lines since the last reset, without the header.
lines()
{
	tail -n +2 $proc/tcp_connections
}

reset()
{
	set_to tcp_connections reset 1
}

# Starts a server in the background; its pid is $server.
serve() # arguments of tcp accept
{
	server=$("$workloads/tcp" accept "$@")
}

# It ends when it has accepted all that it should.
served()
{
	until_true [ ! -e "/proc/$server" ]
}

connect() # arguments of tcp connect
{
	"$workloads/tcp" connect "$@" >/dev/null
}

ip addr add 2001:db8:1:2:3:4:5:6/64 dev lo nodad
ip addr add 10.1.2.3/32 dev lo
sysctl -q -w net.core.somaxconn=4096

load tcp_connections
check "header" is "$(cat $proc/tcp_connections)" "$(printf '%6s %16s %6s %6s %16s' UID CMD PID PORT IP_SOURCE)"

# --- exact numbers, with many who sleep in accept()
asleep()
{
	[ "$(cat "/proc/$server"/task/*/syscall | grep -c '^43 ')" = 2001 ]
}
serve -t 2000 7000 1000
check "2000 threads sleep in accept() and one waits for connections" until_true asleep
connect -s 10.1.2.3 127.0.0.1 7000 500
connect -s 2001:db8:1:2:3:4:5:6 ::1 7000 500
served
lines >"$tmp/lines"
check "a line for each connection" is "$(wc -l <"$tmp/lines")" 1000
check "500 from IPv4, 500 from IPv6, all in full" diff <(sort "$tmp/lines" | uniq -c | sed 's/^ *//') - <<-END
	500 $(printf '%6d %16s %6d %6d %16s' 0 tcp "$server" 7000 10.1.2.3)
	500 $(printf '%6d %16s %6d %6d %16s' 0 tcp "$server" 7000 2001:db8:1:2:3:4:5:6)
END
check "nothing is lost" is "$(stats lost) $(stats overwritten)" "0 0"
check "in the order they came" is "$(awk '{ print $5 }' "$tmp/lines" | uniq | paste -sd ' ')" "10.1.2.3 2001:db8:1:2:3:4:5:6"
check "a second reader gets the same" cmp <(cat $proc/tcp_connections) <(dd if=$proc/tcp_connections bs=1 2>/dev/null)

# --- families: a socket for IPv4, one for IPv6, one for both
reset
check "reset: only the header" is "$(wc -l <$proc/tcp_connections)" 1
serve -4 7001 3
connect 127.0.0.1 7001 3
served
serve -6 7002 2
connect ::1 7002 2
served
serve 7003 1
connect 127.0.0.1 7003 1
served
check "port and address of each family" diff <(lines | awk '{ print $4, $5 }' | uniq -c | sed 's/^ *//') - <<-END
	3 7001 127.0.0.1
	2 7002 ::1
	1 7003 127.0.0.1
END

# --- what is no connection
reset
# shellcheck disable=SC2016 # Perl's variables
perl -MSocket -e '
	socketpair my $a, my $b, AF_UNIX, SOCK_STREAM, 0 or die;
	socket my $l, AF_UNIX, SOCK_STREAM, 0 or die;
	bind $l, pack_sockaddr_un("\0tap-test") or die "bind: $!";
	listen $l, 20 or die;
	for (1 .. 20) {
		socket my $c, AF_UNIX, SOCK_STREAM, 0 or die;
		connect $c, pack_sockaddr_un("\0tap-test") or die "connect: $!";
		accept my $s, $l or die "accept: $!";
	}
	print "accepted\n"' >"$tmp/unix"
check "unix sockets: they were accepted" is "$(cat "$tmp/unix")" accepted
check "unix sockets: no line" is "$(lines)" ""
# shellcheck disable=SC2016 # Perl's variables
perl -MSocket=:DEFAULT,SOCK_NONBLOCK -e '
	socket my $l, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0 or die;
	listen $l, 20 or die;
	for (1 .. 20) {
		!accept my $s, $l and $!{EAGAIN} or die "accept: $!";
	}
	print "EAGAIN\n"' >"$tmp/again"
check "accept() without a connection: it failed" is "$(cat "$tmp/again")" EAGAIN
check "accept() without a connection: no line" is "$(lines)" ""
# Connected, but not accepted.
serve -4 7004 1
kill -STOP "$server"
connect 127.0.0.1 7004 5
check "connections that nobody accepts: no line" is "$(lines)" ""
kill -CONT "$server"
served
check "connections that nobody accepts: a line for the one that is" is "$(lines | wc -l)" 1

# --- more than there is room for
rmmod tcp_connections
load tcp_connections buffer_kb=16
serve -4 7005 1000
connect 127.0.0.1 7005 1000
served
cat $proc/tcp_connections >"$tmp/overrun"
check "buffer_kb=16: what was lost comes first" grep -qxE '# [0-9]+ events lost' <(sed -n 2p "$tmp/overrun")
check "buffer_kb=16: lines and lost are all" is \
	"$(awk 'NR > 1 { n += /^#/ ? $2 : 1 } END { print n }' "$tmp/overrun")" 1000
check "buffer_kb=16: some were lost, some not" is "$(grep -c '^#' "$tmp/overrun") $(grep -c 7005 "$tmp/overrun" | sed 's/^[1-9][0-9]*$/some/')" "1 some"
check "buffer_kb=16: stats say the same" is "$(stats overwritten)" "$(awk '/^#/ { print $2 }' "$tmp/overrun")"
check "buffer_kb=16: JSON says the same" is \
	"$(jq -s '(map(.lost // 0) | .[:-1] | add) + (map(select(.pid)) | length), .[-1].lost + .[-1].events' $proc/tcp_connections.json | paste -sd ' ')" "1000 1000"
rmmod tcp_connections

# --- who, when and where
load tcp_connections verbose=1
setpriv --reuid=65534 --regid=65534 --clear-groups "$workloads/tcp" accept -4 7006 1 >"$tmp/pid"
server=$(cat "$tmp/pid")
before=$(cut -d ' ' -f 1 /proc/uptime)
connect 127.0.0.1 7006 1
served
after=$(cut -d ' ' -f 1 /proc/uptime)
check "verbose=1: header" is "$(sed -n 1p $proc/tcp_connections)" \
	"$(printf '%6s %16s %6s %6s %16s %9s %15s %10s %6s %9s' UID CMD PID PORT IP_SOURCE PEER_PORT TIME NETNS QUEUE QUEUE_MAX)"
read -r uid cmd pid port address peer time netns queue max < <(lines)
check "verbose=1: an unprivileged server" is "$uid $cmd $pid $port $address" "65534 tcp $server 7006 127.0.0.1"
check "verbose=1: the peer's port" [ "$peer" -ge "$(cut -f 1 /proc/sys/net/ipv4/ip_local_port_range)" ]
check "verbose=1: the time" awk "BEGIN { exit !($time >= $before && $time <= $after + 0.01) }"
check "verbose=1: the network namespace" is "$netns" "$(stat -L -c %i /proc/self/ns/net)"
check "verbose=1: the accept queue" is "$queue $max" "0 4096"
check "JSON: the same" is \
	"$(jq -r 'select(.pid) | [.uid, .comm, .thread, .pid, .tid, .ns_pid, .port, .ip_source, .peer_port, .netns, .accept_queue, .accept_queue_max] | map(tostring) | join(" ")' $proc/tcp_connections.json)" \
	"65534 tcp tcp $server $server $server 7006 127.0.0.1 $peer $netns 0 4096"
check "JSON: the time is that of text" is \
	"$(jq -r 'select(.pid) | .time_ns' $proc/tcp_connections.json | sed 's/\(.*\)\([0-9]\{6\}\)...$/\1.\2/')" "$time"
reset
serve -4 7007 5
kill -STOP "$server"
connect 127.0.0.1 7007 5
kill -CONT "$server"
served
check "verbose=1: the queue gets shorter" is "$(lines | awk '{ print $9 }' | paste -sd ' ')" "4 3 2 1 0"
set_to tcp_connections verbose 0

ip netns add other
ip -n other link set lo up
reset
server=$(ip netns exec other "$workloads/tcp" accept -4 7008 2)
ip netns exec other "$workloads/tcp" connect 127.0.0.1 7008 2 >/dev/null
served
check "another network namespace" is \
	"$(jq 'select(.pid) | .netns' $proc/tcp_connections.json | uniq -c | awk '{ print $1, $2 }')" "2 $(stat -L -c %i /run/netns/other)"
reset
# The first process of the namespace must not end.
# shellcheck disable=SC2016 # the inner shell's
unshare -pf bash -c '"$0" accept -4 7009 1; sleep 1000' "$workloads/tcp" >"$tmp/ns_pid" &
until_true [ -s "$tmp/ns_pid" ]
server=$(cat "$tmp/ns_pid")
connect 127.0.0.1 7009 1
until_true grep -q 7009 $proc/tcp_connections
check "another pid namespace: its own number of the process, too" is \
	"$(jq -c 'select(.pid) | .ns_pid == '"$server"' and .pid > .ns_pid' $proc/tcp_connections.json)" true

# --- other ways to accept
reset
serve -u 7010 20
connect 127.0.0.1 7010 20
served
check "io_uring: a line for each" is "$(lines | awk '{ print $2, $3, $4, $5 }' | uniq -c | sed 's/^ *//')" \
	"20 tcp $server 7010 127.0.0.1"
set_to tcp_connections filter "pid=$$"
reset
serve -4 7011 5
connect 127.0.0.1 7011 5
served
check "filter: somebody else's are left out" is "$(lines)" ""
set_to tcp_connections filter ""

# --- a real server
start_nginx '[::]:8080 ipv6only=off'
echo hello >"$tmp/www/index.html"
reset
curl -sS -o /dev/null 'http://127.0.0.1:8080/?[1-30]'
curl -sS -o /dev/null 'http://[::1]:8080/?[1-20]'
check "nginx: a line for each request with its connection" is \
	"$(lines | awk '{ print $1, $2, $4, $5 }' | sort | uniq -c | sed 's/^ *//' | paste -sd ' ')" \
	"30 65534 nginx 8080 127.0.0.1 20 65534 nginx 8080 ::1"
check "nginx: accepted by its workers" is \
	"$(lines | awk '{ print $3 }' | sort -u | grep -vxF "$(pgrep -P "$(cat "$tmp/nginx.pid")")")" ""
stop_nginx

# --- followers
cat >"$tmp/follow.pl" <<'END'
use IO::Poll;
open my $f, '<', '/proc/tap/tcp_connections' or die;
my $poll = IO::Poll->new;
$poll->mask($f, POLLIN);
$| = 1;
my $text = '';
for my $port (@ARGV) {
	until ($text =~ /\b$port\b/) {
		$poll->poll(60) == 1 or die "no event of port $port\n";
		$text .= $_ while sysread $f, $_, 4096;
	}
	print "$port\n";
}
print $text =~ tr/\n//, " lines\n";
END
reset
perl "$tmp/follow.pl" 7012 7013 >"$tmp/follow" &
serve -4 7012 1
connect 127.0.0.1 7012 1
check "a follower sees an event" until_true grep -q 7012 "$tmp/follow"
serve -4 7013 1
connect 127.0.0.1 7013 1
check "a follower sees the next" until_true grep -q 7013 "$tmp/follow"
wait $!
check "a follower sees each once" is "$(tail -n 1 "$tmp/follow")" "3 lines"

# Who listens to an idle tool is not woken.
exec 3<$proc/tcp_connections
cat <&3 >"$tmp/first"
connect 127.0.0.1 8081 1 2>/dev/null || true
check "a later read goes on with what is new: nothing" is "$(cat <&3)" ""
serve -4 7014 1
connect 127.0.0.1 7014 1
served
check "a later read goes on with what is new: a line" is "$(cat <&3 | awk '{ print $4 }')" 7014
exec 3<&-

# A name with blanks stays one word.
reset
cp "$workloads/tcp" "$tmp/my server"
server=$("$tmp/my server" accept -4 7015 1)
connect 127.0.0.1 7015 1
served
check "a name with a blank" is "$(lines)" "$(printf '%6d %16s %6d %6d %16s' 0 'my\040server' "$server" 7015 127.0.0.1)"

rmmod tcp_connections
check "nothing is left" [ ! -e $proc ]
plan
