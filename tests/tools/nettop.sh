#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nettop: packets and bytes as the devices counted them, and whose they are.
. "$(dirname "$0")/lib.sh"

set_nettop() # name value
{
	set_to nettop "$1" "$2"
}

# What all devices in the namespaces a and b counted: one line for each, inode of
# the namespace, name, bytes and packets received and sent.
devices()
{
	awk -F '[: ]+' 'FNR > 2 {
		sub(/^ */, "")
		print (FILENAME ~ /'"$drain_a"'/ ? "'"$inode_a"'" : "'"$inode_b"'"), $1, $2, $3, $10, $11
	}' /proc/"$drain_a"/net/dev /proc/"$drain_b"/net/dev
}

reset()
{
	set_nettop reset 1
	devices >"$tmp/before"
}

# The cards count a packet when they are done with it.
quiet()
{
	devices >"$tmp/after"
	sleep 0.1
	devices | cmp -s - "$tmp/after"
}

# TEXT: what nettop counted since reset is what the devices counted, who leave out
# so many bytes of each packet.
agrees() # text [bytes]
{
	until_true quiet
	take nettop
	devices >"$tmp/after"
	# shellcheck disable=SC2016 # awk's fields
	check "$1: as the devices counted" nothing awk -v more="${2-0}" '
		FILENAME ~ /before$/ {
			for (i = 3; i <= 6; i++)
				old[$1, $2, i] = $i
		}
		FILENAME ~ /after$/ {
			for (i = 3; i <= 6; i++)
				$i -= old[$1, $2, i]
			if ($4 + $6)
				want[$1 " " $2] = ($3 + more * $4) " " $4 " " ($5 + more * $6) " " $6
		}
		/^tool=/ {
			for (i = 1; i <= NF; i++) {
				n = index($i, "=")
				row[substr($i, 1, n - 1)] = substr($i, n + 1)
			}
			key = row["netns"] " " row["dev"]
			recv_bytes[key] += row["recv_bytes"]
			recv_packets[key] += row["recv_packets"]
			xmit_bytes[key] += row["xmit_bytes"]
			xmit_packets[key] += row["xmit_packets"]
		}
		END {
			for (key in recv_bytes) {
				have = recv_bytes[key] " " recv_packets[key] " " xmit_bytes[key] " " xmit_packets[key]
				if (have != want[key])
					print key ": " have " instead of " want[key]
				delete want[key]
			}
			for (key in want)
				print key ": nothing instead of " want[key]
		}' "$tmp/before" "$tmp/after" FS='\t' "$tmp/rows"
	check "$1: nothing is lost" is "$(summary lost)" 0
}

in_a()
{
	nsenter --net=/run/netns/a "$@"
}
in_b()
{
	nsenter --net=/run/netns/b "$@"
}

# Two namespaces and two cables, on which nothing happens by itself: a pair of
# veth devices, and two virtio cards of the guest.
mac=02:00:00:00:00:0
modprobe -q virtio_net || true
cards=(/sys/class/net/*/device/driver/module/drivers/virtio:virtio_net)
cards=("${cards[@]#/sys/class/net/}")
cards=("${cards[@]%%/*}")
ip -batch - <<END
netns add a
netns add b
link add va netns a address ${mac}a type veth peer name vb netns b address ${mac}b
link set ${cards[0]} name na address ${mac}c netns a
link set ${cards[1]} name nb address ${mac}d netns b
END
set_up() # namespace device network number other-number other-address
{
	"in_$1" sysctl -q -w net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.default.addr_gen_mode=1 \
		"net.ipv6.conf.$2.addr_gen_mode=1" net.ipv6.conf.default.router_solicitations=0 \
		"net.ipv6.conf.$2.router_solicitations=0" "net.ipv6.conf.$2.mldv2_unsolicited_report_interval=1"
	ip -n "$1" -batch - <<-END
		link set lo up
		link set $2 up
		addr replace 10.0.$3.$4/24 dev $2
		addr replace fd0$3::$4/64 dev $2 nodad
		neigh replace 10.0.$3.$5 dev $2 lladdr $6 nud permanent
		neigh replace fd0$3::$5 dev $2 lladdr $6 nud permanent
	END
}
set_up a va 0 1 2 ${mac}b
set_up b vb 0 2 1 ${mac}a
set_up a na 1 1 2 ${mac}d
set_up b nb 1 2 1 ${mac}c
drain_a=$(in_a "$workloads/udp" drain 9)
drain_b=$(in_b "$workloads/udp" drain 9)
# Once their buffers are full the kernel throws away what comes: it costs less time than to read it.
kill -STOP "$drain_a" "$drain_b"
inode_a=$(stat -L -c %i /run/netns/a)
inode_b=$(stat -L -c %i /run/netns/b)

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
check "trailer" grep -qxE '# window_ms=[0-9]+ state=running rows=4 shown=4 events=400000 lost=0 self=0' <(tail -n 1 "$tmp/text")
check "the busiest first, then by pid and device" is \
	"$(awk 'NR > 1 && !/^#/ { print $1, $3 }' "$tmp/text" | paste -sd ' ')" \
	"$(printf '%s\n' "$sender0 va" "$sender0 vb" "$sender1 va" "$sender1 vb" | sort -k 1,1n -k 2 | paste -sd ' ')"
set_nettop limit 1
check "limit: one line" is "$(wc -l <$proc/nettop) $(tail -n 1 $proc/nettop | grep -c 'rows=4 shown=1')" "3 1"
check "limit: JSON has all" is "$(wc -l <$proc/nettop.json)" 5
set_nettop limit 0
check "JSON: the fields of a row" is "$(head -n 1 $proc/nettop.json | jq -r 'to_entries | map("\(.key):\(.value | type)") | join(" ")')" \
	"$(printf '%s ' tool:string {pid,uid}:number dev:string {xmit,recv}_packets:number {xmit,recv}_bytes:number {comm,thread}:string {tid,ns_pid,netns,ifindex}:number | sed 's/ $//')"

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

# --- softirqs: what they send and receive is nobody's
reset
in_a ping -q -f -c 100 10.0.0.2 >/dev/null
take nettop
check "(irq): it has pid 0 and user 0" is "$(count 'comm=(irq)')" "$(count 'comm=(irq)' pid=0 uid=0 tid=0 ns_pid=0)"
check "(irq): the answers are its" is "$(sum xmit_packets 'comm=(irq)' dev=vb)" 100
check "(irq): the questions are not" is "$(sum xmit_packets 'comm=(irq)' dev=va)" 0

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
set_up a renamed 0 1 2 ${mac}b
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
