#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nettop: packets and bytes as the devices counted them, and whose they are.
. "$(dirname "$0")/lib.sh"

# shellcheck source=net/lib.sh
. "$(dirname "$0")/net/lib.sh"

load nettop interval_ms=0

# --- datagrams
datagrams() # text address device other-device
{
	local pid

	reset
	nsenter --net=/run/netns/a "$workloads/udp" send "$2" 9 1000 100 >"$tmp/sent" &
	pid=$!
	wait $pid
	agrees "$1"
	check "$1: sent and received in total" is "$(sum xmit_packets dev="$3") $(sum recv_packets dev="$4")" "1000 1000"
	check "$1: a row has one direction of one device" is "$(sum recv_packets dev="$3") $(sum xmit_packets dev="$4")" "0 0"
	# while a card's ring is full, packets wait for a softirq
	[ "$3" = na ] || check "$1: the sender's row" is "$(sum xmit_packets dev="$3" pid=$pid) $(cat "$tmp/sent")" "1000 1000"
}
datagrams "1000 datagrams, veth, IPv4" 10.0.0.2 va vb
datagrams "1000 datagrams, veth, IPv6" fd00::2 va vb
datagrams "1000 datagrams, virtio, IPv4" 10.0.1.2 na nb
datagrams "1000 datagrams, virtio, IPv6" fd01::2 na nb
reset
for how in "" -o -m "-m -o"; do
	# shellcheck disable=SC2086 # words
	in_a "$workloads/udp" send $how fd00::2 9 250 1000 >/dev/null
done
agrees "sendto, send, sendmmsg"
check "sendto, send, sendmmsg: all of them" is "$(sum xmit_packets dev=va)" 1000

reset
nsenter --net=/run/netns/a "$workloads/udp" send -c 0 -m 10.0.0.2 9 100000 100 >"$tmp/sent0" &
sender0=$!
nsenter --net=/run/netns/a "$workloads/udp" send -c 1 -m fd00::2 9 100000 100 >"$tmp/sent1" &
sender1=$!
wait $sender0 $sender1
agrees "two senders at once"
for i in 0 1; do
	pid=sender$i
	check "two senders at once: the row of sender $i" is "$(sum xmit_packets dev=va "pid=${!pid}")" "$(cat "$tmp/sent$i")"
	check "two senders at once: it is 100000" is "$(cat "$tmp/sent$i")" 100000
done

# --- text
cat $proc/nettop >"$tmp/text"
check "header" is "$(head -n 1 "$tmp/text")" \
	"$(printf '%5s %5s %-7s %7s %7s %7s %7s %-15s' PID UID DEV XMIT_PK RECV_PK XMIT_KB RECV_KB COMMAND)"
check "a line" grep -qxF "$(printf '%5d %5d %-7s %7d %7d %7d %7d %-15s' $sender1 0 va 100000 0 $((162 * 100000 / 1024)) 0 udp)" "$tmp/text"
check "trailer" grep -qxE '# window_ms=[0-9]+ state=running rows=3 shown=3 events=400000 lost=0 self=0' <(tail -n 1 "$tmp/text")
check "the busiest first, then by pid and device" is \
	"$(awk 'NR > 1 && !/^#/ { print $1, $3 }' "$tmp/text" | paste -sd ' ')" \
	"$drain_b vb $(printf '%s\n' "$sender0 va" "$sender1 va" | sort -n | paste -sd ' ')"
set_nettop limit 1
check "limit: one line" is "$(wc -l <$proc/nettop) $(tail -n 1 $proc/nettop | grep -c 'rows=3 shown=1')" "3 1"
check "limit: JSON has all" is "$(wc -l <$proc/nettop.json)" 4
set_nettop limit 0
check "JSON: the fields of a row" is "$(head -n 1 $proc/nettop.json | jq -r 'to_entries | map("\(.key):\(.value | type)") | join(" ")')" \
	"$(printf '%s ' tool:string {pid,uid}:number dev:string {xmit,recv}_packets:number {xmit,recv}_bytes:number {xmit,recv}_segments:number {comm,thread}:string {tid,ns_pid,netns,ifindex}:number | sed 's/ $//')"

# --- other kinds of traffic
reset
for in in in_a in_b; do
	$in "$workloads/udp" send -o 127.0.0.1 9 100 100 >/dev/null
	$in "$workloads/udp" send ::1 9 100 100 >/dev/null
done
agrees "lo of two namespaces"
check "lo of two namespaces: told by JSON" is \
	"$(sum xmit_packets dev=lo netns="$inode_a") $(sum xmit_packets dev=lo netns="$inode_b")" "200 200"

reset
in_a ping -q -f -c 200 10.0.0.2 >/dev/null
in_a ping -q -f -c 200 -s 4000 fd00::2 >/dev/null
agrees "ping, also in fragments"
check "ping: 200 and 3 times 200 packets each way" is "$(sum xmit_packets dev=va) $(sum xmit_packets dev=vb)" "800 800"

# A raw socket that sends whole frames, to nobody.
reset
# shellcheck disable=SC2016 # Perl's variables
in_a perl -MSocket -e '
	socket(my $s, 17, SOCK_RAW, 0) or die "socket: $!";
	my $to = pack "Snlx2C2x8", 17, 0x88b5, $ARGV[0], 0, 6;
	my $frame = pack "H12H12na*", "02000000000b", "02000000000a", 0x88b5, "x" x 200;
	send($s, $frame, 0, $to) // die "send: $!" for 1 .. 300;' "$(ip -n a -o link show va | cut -d : -f 1)"
agrees "a raw socket"
check "a raw socket: whole frames" is "$(sum xmit_packets comm=perl dev=va) $(sum xmit_bytes comm=perl dev=va)" "300 $((300 * 214))"

# --- TCP, with and without offloads
start_nginx '[::]:80 ipv6only=off' in_b
head -c 10000000 /dev/zero >"$tmp/www/file"
download() # text address [bytes]
{
	reset
	in_a curl -sS -o "$tmp/copy" "http://$2/file"
	check "$1: it came" is "$(stat -c %s "$tmp/copy")" 10000000
	until_true in_a sh -c '! ss -Htn state established,fin-wait-1,fin-wait-2,last-ack,closing | grep .'
	agrees "$1" "${3-0}"
}
offload() # on|off
{
	in_a ethtool -K va tso "$1" gso "$1" gro "$1" tx "$1"
	in_b ethtool -K vb tso "$1" gso "$1" gro "$1" tx "$1"
}
download "10 MB over TCP as it is" 10.0.0.2
offload on >/dev/null
download "10 MB over TCP with TSO, GSO and GRO" '[fd00::2]'
offload off >/dev/null
download "10 MB over TCP without" 10.0.0.2
download "10 MB over TCP, virtio" 10.0.1.2
download "10 MB over TCP, virtio, IPv6" '[fd01::2]'
# A veth that has its packets from NAPI (GRO here, no TSO there) does not count link headers.
in_a ethtool -K va tx on tso off gso on gro on >/dev/null
in_b ethtool -K vb tx on tso off gso on gro on >/dev/null
download "10 MB over TCP, GSO in software and GRO" 10.0.0.2 14
in_a ethtool -K va gro off >/dev/null
in_b ethtool -K vb gro off >/dev/null
stop_nginx

# --- attribution=current: what softirqs send and receive is nobody's
set_nettop attribution current
datagrams "attribution=current" 10.0.0.2 va vb
reset
in_a ping -q -f -c 100 10.0.0.2 >/dev/null
take nettop
check "(irq): it has pid 0 and user 0" is "$(count 'comm=(irq)')" "$(count 'comm=(irq)' pid=0 uid=0 tid=0 ns_pid=0)"
check "(irq): the answers are its" is "$(sum xmit_packets 'comm=(irq)' dev=vb)" 100
check "(irq): the questions are not" is "$(sum xmit_packets 'comm=(irq)' dev=va)" 0
check "attribution=current: no socket is followed" is "$(grep -c '^sockets\|security_' "$debugfs/nettop/stats")" 0
set_nettop attribution socket
check "attribution=socket: sockets are followed again" grep -q '^hook security_socket_sendmsg: ' "$debugfs/nettop/stats"
datagrams "attribution=socket" 10.0.0.2 va vb

# --- windows
set_nettop interval_ms 3600000
in_a "$workloads/udp" send 10.0.0.2 9 100 100 >/dev/null
take nettop
check "a window that is not complete" is "$(sum xmit_packets dev=va) $(summary state)" "100 partial"
set_nettop flip 1
in_a "$workloads/udp" send 10.0.0.2 9 23 100 >/dev/null
take nettop
check "a complete window" is "$(sum xmit_packets dev=va) $(summary state)" "100 complete"
set_nettop flip 1
take nettop
check "the next window" is "$(sum xmit_packets dev=va)" 23
set_nettop flip 1
check "a window without events: header and trailer" diff - <(sed 's/_ms=[0-9]*/_ms=N/' $proc/nettop) <<-END
	$(head -n 1 "$tmp/text")
	# window_ms=N state=complete rows=0 shown=0 events=0 lost=0 self=0
END

# Windows end while packets are counted; each packet is in one of them.
cat >"$tmp/windows.pl" <<'END'
use POSIX ':sys_wait_h';
my ($total, $with, $last) = (0, 0, undef);
my $sender = fork // die "fork: $!";
if (!$sender) {
	open STDOUT, '>', '/dev/null';
	exec @ARGV or die;
}
for (my $more = 1; $more;) {
	$more = !waitpid $sender, WNOHANG;
	open my $flip, '>', '/sys/kernel/debug/tap/nettop/flip' or die "flip: $!";
	syswrite $flip, 1 or die "flip: $!";
	open my $f, '<', '/proc/tap/nettop.json' or die;
	my $text = join '', <$f>;
	my ($window) = $text =~ /"summary".*"window":(\d+)/ or die $text;
	!defined $last || $window == $last + 1 or die "window $window after $last\n";
	$last = $window;
	my ($packets) = $text =~ /"dev":"va","xmit_packets":(\d+)/;
	next unless $packets;
	$total += $packets;
	$with++;
}
print "$total, ", $with > 1 ? 'several' : $with, " windows\n";
END
check "windows one after the other: each packet once" is \
	"$(in_a perl "$tmp/windows.pl" "$workloads/udp" send -m 10.0.0.2 9 50000 100)" "50000, several windows"
rmmod nettop

load nettop
check "5 s are the default" is "$(cat "$debugfs/nettop/interval_ms")" 5000
in_a "$workloads/udp" send 10.0.0.2 9 1 100 >/dev/null
check "a window ends by itself, and has the packet" until_true grep -qE ' va +1 ' $proc/nettop
until_true grep -q state=complete $proc/nettop
check "the next one has not" until_true grep -q 'state=complete rows=0' $proc/nettop
rmmod nettop
load nettop interval_ms=0

# --- names
names() # leader thread
{
	set_nettop reset 1
	pid=$(in_a "$workloads/names" "$1" "$2" 100 10.0.0.2 9)
	take nettop
}
names leader worker
check "names=process: one row" is "$(count pid="$pid" dev=va) $(sum xmit_packets comm=leader dev=va)" "1 300"
set_nettop names thread
names leader worker
check "names=thread: a row for each name" is \
	"$(count pid="$pid" dev=va) $(sum xmit_packets thread=leader dev=va) $(sum xmit_packets thread=worker dev=va)" "2 100 200"
check "names=thread: text has the thread's name" is \
	"$(awk '$3 == "va" { print $NF, $4 }' $proc/nettop | sort | paste -sd ' ')" "leader 100 worker 200"
set_nettop names process
set_nettop reset 1
in_a "$workloads/udp" send -n 'new name' 10.0.0.2 9 100 100 >/dev/null
take nettop
check "a process that changes its name: one row, the new name" is "$(count dev=va) $(sum xmit_packets 'comm=new name')" "1 100"
set_nettop reset 1
pid=$(in_a sh -c 'echo $$; '"$workloads/udp"' send 10.0.0.2 9 10 1 >/dev/null; exec '"$workloads/udp"' send 10.0.0.2 9 20 1 >&2' 2>/dev/null)
take nettop
check "a process that executes another program: one row, the new name" is \
	"$(count "pid=$pid" dev=va) $(sum xmit_packets "pid=$pid" comm=udp dev=va)" "1 20"

# In text a name is one word; in JSON it is a string, whatever the name.
set_nettop names thread
while IFS='|' read -r name text json; do
	# shellcheck disable=SC2059 # it has escapes
	names "$(printf "$name")" x
	check "a strange name: $text" is "$(awk '$3 == "va" && $8 != "x" { print $4, $8, NF }' $proc/nettop)" "100 $text 8"
	check "a strange name: JSON: $json" is \
		"$(jq -a 'select(.thread != "x" and .dev == "va") | .thread' $proc/nettop.json)" "$json"
done <<'END'
two words|two\040words|"two words"
tab\tline\n.|tab\011line\012.|"tab\tline\n."
gr\303\274n|gr\303\274n|"gr\u00fcn"
bad\377\200\303|bad\377\200\303|"bad\u00ff\u0080\u00c3"
quote"b\\slash|quote"b\134slash|"quote\"b\\slash"
\001\033[2J|\001\033[2J|"\u0001\u001b[2J"
abcdefghijklmno|abcdefghijklmno|"abcdefghijklmno"
END
set_nettop escape 0
names 'two words' x
check "escape=0: as it is" grep -q ' two words *$' $proc/nettop
set_nettop escape 1
set_nettop names process

# --- devices come, go and change their names
ip -n a link set va down
ip -n a link set va name renamed
set_up a renamed 0 1 2 "${mac}b"
set_nettop reset 1
in_a "$workloads/udp" send 10.0.0.2 9 100 100 >/dev/null
take nettop
check "a device with a new name" is "$(sum xmit_packets dev=renamed comm=udp) $(count dev=va)" "100 0"

# What reorders packets keeps its own data where the device of a packet is.
tc -n a qdisc add dev renamed root netem delay 1ms reorder 50% gap 3
reset
in_a "$workloads/udp" send -m 10.0.0.2 9 20000 100 >/dev/null
until_true in_a sh -c 'tc -s qdisc show dev renamed | grep -q "backlog 0b 0p"'
agrees "netem that reorders"
tc -n a qdisc del dev renamed root

# --- more processes than rows
rmmod nettop
load nettop interval_ms=0 max_rows=16
cat >"$tmp/processes.pl" <<'END'
use Socket;
socket my $s, PF_INET, SOCK_DGRAM, 0 or die;
for (1 .. 100) {
	my $pid = fork // die "fork: $!";
	if (!$pid) {
		send $s, 'x' x 100, 0, sockaddr_in 9, inet_aton '10.0.0.2' or die "send: $!" for 1 .. 10;
		exit;
	}
	waitpid $pid, 0;
	die if $?;
}
END
in_a perl "$tmp/processes.pl"
take nettop
for field in xmit_packets:1000 recv_packets:1000 xmit_bytes:142000 recv_bytes:142000; do
	check "max_rows=16 and 100 processes: $field" is "$(sum "${field%:*}")" "${field#*:}"
done
check "max_rows=16: nothing is lost" is "$(summary lost)" 0
check "max_rows=16: most are in the row of all others" [ "$(sum xmit_packets 'comm=(other)' pid=0 uid=0 dev=- netns=0)" -gt 500 ]
check "max_rows=16: its line" grep -qxE ' +0 +0 - +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ \(other\) *' $proc/nettop
# Room is made where processes have ended: it is looked for once a second, so at first while some were still to come.
room()
{
	take nettop
	[ "$(count)" -lt 12 ]
}
check "max_rows=16: room is made" until_true room
check "max_rows=16: what has ended is added up" grep -q '(exited)' $proc/nettop
in_a "$workloads/udp" send 10.0.0.2 9 77 100 >/dev/null
take nettop
check "max_rows=16: there is room again" is "$(sum xmit_packets dev=renamed comm=udp)" 77
check "max_rows=16: no packet got lost in this" is "$(sum xmit_packets) $(sum recv_packets)" "1077 1077"
rmmod nettop

check "nothing is left" [ ! -e $proc ]
kill -KILL "$drain_a" "$drain_b"
plan
