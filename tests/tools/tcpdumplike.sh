#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tcpdumplike: the packets that tcpdump sees, with the same flags.
. "$(dirname "$0")/lib.sh"
# shellcheck source=net/pair.sh
. "$(dirname "$0")/net/pair.sh"

set_tcpdumplike() # name value
{
	set_to tcpdumplike "$1" "$2"
}
stats() # field
{
	awk -v field="$1" '$1 == field { print $2 }' $debugfs/tcpdumplike/stats
}
# The lines since the last reset, without headers.
lines()
{
	grep -E '^ *[0-9a-f.:]+ +[0-9a-f.:]+ +[0-9]' $proc/tcpdumplike
}
# The same without the padding: source, destination, ports and flags.
words()
{
	lines | awk '{ $1 = $1; print }'
}
reset()
{
	set_tcpdumplike reset 1
}

# Nothing merges or splits packets.
in_a ethtool -K va tso off gso off gro off tx off rx off >"$tmp/ethtool" 2>&1
in_b ethtool -K vb tso off gso off gro off tx off rx off >>"$tmp/ethtool" 2>&1

# server: answers what it gets, until the client goes. client COUNT ADDRESS: so many connections, each with ten questions
# and an urgent one, ended by FIN or by RST; and a tenth as many to a port that nobody listens on. flags ADDRESS: a packet
# with each combination of the six flags, from port 5000 on. short ADDRESS: half a TCP header. fragments ADDRESS: a header
# that is spread over fragments.
cat >"$tmp/traffic.py" <<'END'
import socket, struct, sys, threading

def serve(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        while data := connection.recv(1000):
            connection.sendall(data)
    except ConnectionResetError:
        pass
    connection.close()

def server():
    listener = socket.create_server(('::', 7000), family=socket.AF_INET6, backlog=100, dualstack_ipv6=True)
    print('listening', flush=True)
    while True:
        serve(listener.accept()[0])

def client(count, address):
    for i in range(int(count)):
        if i % 10 == 0:
            try:
                socket.create_connection((address, 7001))
                sys.exit('port 7001 is in use')
            except ConnectionRefusedError:
                pass
        s = socket.create_connection((address, 7000))
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for n in range(10):
            s.sendall(b'x' * 100)
            s.recv(100, socket.MSG_WAITALL)
        s.send(b'!', socket.MSG_OOB)
        s.recv(1, socket.MSG_WAITALL)
        if i % 3 == 0:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        else:
            s.shutdown(socket.SHUT_WR)
            s.recv(1)
        s.close()

def raw(address):
    family = socket.AF_INET6 if ':' in address else socket.AF_INET
    return socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_TCP)

def pack(port, flags, checksum):
    return struct.pack('!HHIIBBHHH', port, 7002, 1, 1, 5 << 4, flags, 1000, checksum, 1 if flags & 32 else 0)

# The checksum is right: what is wrong is not answered.
def header(port, flags, source, address):
    family = socket.AF_INET6 if ':' in address else socket.AF_INET
    pseudo = socket.inet_pton(family, source) + socket.inet_pton(family, address) + struct.pack('!HH', 6, 20)
    data = pseudo + pack(port, flags, 0)
    total = sum(struct.unpack('!%dH' % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return pack(port, flags, total ^ 0xffff)

def flags(address):
    s = raw(address)
    source = address[:-1] + '1'
    for flags in range(64):
        s.sendto(header(5000 + flags, flags, source, address), (address, 0))

def short(address):
    raw(address).sendto(pack(6000, 2, 0)[:10], (address, 0))

def fragments(address):
    s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    data = pack(6001, 0x29, 0) + b'x' * 2996
    for begin, end in (0, 8), (8, 1008), (1008, 2008), (2008, 3016):
        more = 0x2000 if end < len(data) else 0
        ip = struct.pack('!BBHHHBBH4s4s', 0x45, 0, 20 + end - begin, 77, more | begin // 8, 64, 6, 0,
                         socket.inet_aton('10.0.0.1'), socket.inet_aton(address))
        s.sendto(ip + data[begin:end], (address, 0))

globals()[sys.argv[1]](*sys.argv[2:])
END
traffic()
{
	in_a python3 "$tmp/traffic.py" "$@"
}
nsenter --net=/run/netns/b python3 "$tmp/traffic.py" server >"$tmp/server" &
until_true [ -s "$tmp/server" ]

# What tcpdump sees coming in at a device. A datagram of 77 bytes tells that all before it was written.
start_tcpdump()
{
	local i

	dumps=()
	for i in a b; do
		rm -f "$tmp/$i.pcap"
		nsenter --net=/run/netns/$i tcpdump --immediate-mode -Z root -B 65536 -s 200 -U -n -Q in -i "v$i" -w "$tmp/$i.pcap" \
			'tcp or udp' 2>"$tmp/$i.log" &
		dumps+=($!)
		until_true grep -q 'listening on' "$tmp/$i.log"
	done
}
dump() # namespace
{
	tcpdump -nn -t -r "$tmp/$1.pcap" 2>/dev/null
}
marked() # namespace
{
	dump "$1" | grep -q '\.77: UDP, length 77$'
}
# ... and as words.
stop_tcpdump()
{
	in_a "$workloads/udp" send 10.0.0.2 77 1 77 >/dev/null
	in_b "$workloads/udp" send 10.0.0.1 77 1 77 >/dev/null
	until_true marked a
	until_true marked b
	kill "${dumps[@]}"
	wait "${dumps[@]}"
	{ dump a; dump b; } | perl -ne '
		s/^IP6? // or die;
		/^(\S+)\.(\d+) > (\S+)\.(\d+): (?:Flags \[(.*?)\]|UDP, length (\d+))/ or die $_;
		next if $4 == 77;
		my ($from, $sport, $to, $dport, $flags) = ($1, $2, $3, $4, $5 // "");
		print join(" ", $from, $to, $sport, $dport, map { index($flags, $_) < 0 ? 0 : 1 } qw(U . P R S F)), "\n"' >"$tmp/dump"
}
# TEXT: tcpdumplike and tcpdump agree, whatever the order on two CPUs.
agrees() # text
{
	check "$1: tcpdump lost nothing" is "$(grep -h 'dropped by kernel' "$tmp/a.log" "$tmp/b.log" | sort -u)" '0 packets dropped by kernel'
	check "$1: the same packets with the same flags" diff <(sort "$tmp/dump") <(words | awk '$4 != 77' | sort)
	check "$1: nothing is lost" is "$(stats lost) $(stats overwritten) $(stats missed)" "0 0 0"
}

# A flag of all packets added up.
flag() # number
{
	awk -v field="$(($1 + 4))" '{ n += $field } END { print n + 0 }' "$tmp/dump"
}
some() # number
{
	[ "$(flag "$1")" -gt 100 ] || { flag "$1"; return 1; }
}

load tcpdumplike buffer_kb=16384 header_ms=0
line=-----------------------------------------------------------------
check "header" diff $proc/tcpdumplike - <<-END
	$line
	Source IP Dest IP SPort DPort U A P R S F 
	$line
END
check "hooks" is "$(sed -n 's/^hook //p' $debugfs/tcpdumplike/stats | paste -sd ' ')" "tcp_v4_rcv: ftrace tcp_v6_rcv: ftrace"

# --- the scenario: 10000 packets
start_tcpdump
traffic client 170 10.0.0.2
traffic client 170 fd00::2
for address in 10.0.0.2 fd00::2; do
	traffic flags $address
done
in_a "$workloads/udp" send 10.0.0.2 9 10 100 >/dev/null
until_true in_a sh -c '! ss -Htn state established,fin-wait-1,fin-wait-2,last-ack,closing | grep .'
stop_tcpdump
grep -v ' 9 0 0 0 0 0 0$' "$tmp/dump" >"$tmp/tcp"
check "without udp=1: tcpdump saw datagrams" is "$(($(wc -l <"$tmp/dump") - $(wc -l <"$tmp/tcp")))" 10
mv "$tmp/tcp" "$tmp/dump"
check "the scenario: 10000 packets at least" [ "$(wc -l <"$tmp/dump")" -ge 10000 ]
agrees "the scenario"
number=0
for name in URG ACK PSH RST SYN FIN; do
	number=$((number + 1))
	check "the scenario: some have $name" some $number
done
# 64 packets with a flag set in each second one; those without RST are answered with one.
every_flag() # source destination
{
	local flags

	for ((flags = 0; flags < 64; flags++)); do
		echo "$1 $2 $((5000 + flags)) 7002 $((flags >> 5 & 1)) $((flags >> 4 & 1)) $((flags >> 3 & 1)) $((flags >> 2 & 1)) $((flags >> 1 & 1)) $((flags & 1))"
	done
}
check "each combination of flags, IPv4" diff <(every_flag 10.0.0.1 10.0.0.2) <(words | awk '$4 == 7002 && $1 !~ /:/')
check "each combination of flags, IPv6" diff <(every_flag fd00::1 fd00::2) <(words | awk '$4 == 7002 && $1 ~ /:/')
check "a line" grep -qxF "$(printf '%15s %15s %5d %5d %d %d %d %d %d %d' 10.0.0.1 10.0.0.2 5018 7002 0 1 0 0 1 0)" $proc/tcpdumplike
check "a second reader gets the same" cmp <(cat $proc/tcpdumplike) <(dd if=$proc/tcpdumplike bs=1000 2>/dev/null)

# --- JSON
take tcpdumplike
check "JSON: as many" is "$(summary events) $(summary lost)" "$(words | wc -l) 0"
check "JSON: what comes in at a device is in its namespace" is \
	"$(count dev=va) $(count dev=va "netns=$(stat -L -c %i /run/netns/a)" "ifindex=$(ip -n a -o link show va | cut -d : -f 1)")" \
	"$(words | grep -cE '^[^ ]+ (10.0.0.1|fd00::1) ') $(count dev=va)"
check "JSON: and of the other" is "$(count dev=vb)" "$(words | grep -cE '^[^ ]+ (10.0.0.2|fd00::2) ')"
check "JSON: the fields" is "$(sed -n 1p $proc/tcpdumplike.json | jq -r 'to_entries | map("\(.key):\(.value | type)") | join(" ")')" \
	"$(printf '%s ' tool:string time_ns:number {s,d}addr:string {s,d}port:number {urg,ack,psh,rst,syn,fin,protocol,length_bytes,segments}:number dev:string ifindex:number netns:number | sed 's/ $//')"
check "JSON: a packet" is "$(grep '"sport":5041,' $proc/tcpdumplike.json | grep -v :: | sed 's/.*"saddr"/"saddr"/; s/"dev".*//')" \
	'"saddr":"10.0.0.1","daddr":"10.0.0.2","sport":5041,"dport":7002,"urg":1,"ack":0,"psh":1,"rst":0,"syn":0,"fin":1,"protocol":6,"length_bytes":40,"segments":1,'
check "JSON: the length of one over IPv6" is "$(grep -c '"sport":5041,.*"length_bytes":60,' $proc/tcpdumplike.json)" 1

# --- headers that are not where they are usually
reset
traffic fragments 10.0.0.2
check "a TCP header spread over fragments" is "$(words | grep ' 7002 ')" "10.0.0.1 10.0.0.2 6001 7002 1 0 1 0 0 1"
check "a TCP header spread over fragments: its length" is "$(jq 'select(.dport == 7002) | .length_bytes' $proc/tcpdumplike.json)" 3036
in_b sysctl -q -w net.ipv4.tcp_early_demux=0 net.ipv4.ip_early_demux=0
reset
traffic fragments 10.0.0.2
check "and without early demux" is "$(words | grep -c ' 6001 7002 1 0 1 0 0 1')" 1
in_b sysctl -q -w net.ipv4.tcp_early_demux=1 net.ipv4.ip_early_demux=1
reset
traffic short 10.0.0.2
traffic short fd00::2
traffic flags 10.0.0.2
check "half a TCP header: no line" is "$(words | awk '$4 == 7002' | wc -l)" 64

# --- filters
rst=$(every_flag x y | awk '!$8' | wc -l)	# answers of a closed port
filtered() # text expected [name=value...]
{
	local setting

	for setting in port=0 addr= "${@:3}"; do
		set_tcpdumplike "${setting%%=*}" "${setting#*=}"
	done
	reset
	traffic flags 10.0.0.2
	traffic flags fd00::2
	check "$1" is "$(words | awk '{ n[$1 ~ /:/]++ } END { print n[0] + 0, n[1] + 0 }')" "$2"
}
all=$((64 + rst))
filtered "no filter" "$all $all"
filtered "port: to it and from it" "$all $all" port=7002
filtered "port: one packet and its answer" "2 2" port=5001
filtered "port: another one" "0 0" port=7003
filtered "addr: IPv4" "$all 0" addr=10.0.0.1
filtered "addr: a prefix" "$all 0" addr=10.0.0.0/8
filtered "addr: all of IPv4, none of IPv6" "$all 0" addr=0.0.0.0/0
filtered "addr: another IPv4" "0 0" addr=10.0.0.3
filtered "addr: another prefix" "0 0" addr=10.0.1.0/24
filtered "addr: IPv6" "0 $all" addr=fd00::2
filtered "addr: an IPv6 prefix" "0 $all" addr=fd00::/64
filtered "addr: all of IPv6, none of IPv4" "0 $all" addr=::/0
filtered "addr: another IPv6" "0 0" addr=fd00::3
filtered "addr and port" "0 2" addr=fd00::/64 port=5001
set_tcpdumplike addr ''
set_tcpdumplike port 0
check "filter: there is no process" is "$(set_tcpdumplike filter pid=1 2>&1 | sed 's/.*: //')" 'Invalid argument'
check "filter: it says so" grep -q '^refused: filter=pid=1: .*belong to no process' $debugfs/tcpdumplike/stats

# --- UDP
set_tcpdumplike udp 1
check "udp=1: hooks" is "$(sed -n 's/^hook //p' $debugfs/tcpdumplike/stats | paste -sd ' ')" \
	"tcp_v4_rcv: ftrace tcp_v6_rcv: ftrace udp_rcv: ftrace udpv6_rcv: ftrace"
reset
start_tcpdump
in_a "$workloads/udp" send 10.0.0.2 9 500 100 >/dev/null
in_a "$workloads/udp" send -m fd00::2 9 500 100 >/dev/null
in_b "$workloads/udp" send 10.0.0.1 9 50 100 >/dev/null
traffic client 3 fd00::2
until_true in_a sh -c '! ss -Htn state established,fin-wait-1,fin-wait-2,last-ack,closing | grep .'
stop_tcpdump
agrees "udp=1"
check "udp=1: 500 over IPv4, 500 over IPv6" is \
	"$(words | awk '{ $3 = "-"; print }' | grep -cxF '10.0.0.1 10.0.0.2 - 9 0 0 0 0 0 0') $(words | awk '{ $3 = "-"; print }' | grep -cxF 'fd00::1 fd00::2 - 9 0 0 0 0 0 0')" "500 500"
check "udp=1: JSON has protocol and length" is "$(jq -c 'select(.dport == 9) | [.protocol, .length_bytes]' $proc/tcpdumplike.json | sort | uniq -c | awk '{ print $1, $2 }' | paste -sd ' ')" \
	"550 [17,128] 500 [17,148]"
set_tcpdumplike udp 0
reset
in_a "$workloads/udp" send 10.0.0.2 9 10 100 >/dev/null
check "udp=0 again: no datagrams" is "$(words)" ""

# --- merged packets: one line, with as many segments as the device received
in_b ethtool -K vb gro on
in_b ethtool -K vb rx on >"$tmp/ethtool" 2>&1
in_a ethtool -K va tx on tso off gso on >"$tmp/ethtool" 2>&1
received()
{
	# shellcheck disable=SC2016 # awk's fields
	in_b awk -F '[: ]+' '$2 == "vb" { print $4 }' /proc/net/dev
}
start_nginx 10.0.0.1:80 in_a
head -c 3000000 /dev/zero >"$tmp/www/file"
reset
before=$(received)
in_b curl -sS -o "$tmp/copy" http://10.0.0.1/file
until_true in_a sh -c '! ss -Htn state established,fin-wait-1,fin-wait-2,last-ack,closing | grep .'
take tcpdumplike
check "GRO: it came" is "$(stat -c %s "$tmp/copy")" 3000000
check "GRO: segments add up to what the device received" is "$(sum segments dev=vb)" "$(($(received) - before))"
check "GRO: there are fewer lines" [ "$(count dev=vb)" -lt "$(sum segments dev=vb)" ]
stop_nginx
rmmod tcpdumplike

# --- the header again
# text_of PERIOD_MS - what the text must be by the JSON
text_of()
{
	jq -r --argjson ms "$1" --arg line $line '
		($line + "\nSource IP Dest IP SPort DPort U A P R S F \n" + $line) as $head |
		def pad(n): tostring | " " * (n - length) + .;
		[inputs | select(.time_ns)] | $head,
		(. as $all | range(length) | $all[.] as $event |
			(if . > 0 and $ms > 0 and
				($event.time_ns / 1000000 / $ms | floor) != ($all[. - 1].time_ns / 1000000 / $ms | floor)
			then $head else empty end),
			([($event.saddr | pad(15)), ($event.daddr | pad(15)), ($event.sport | pad(5)), ($event.dport | pad(5))] +
				[$event | .urg, .ack, .psh, .rst, .syn, .fin | tostring] | join(" ")))' \
		<(echo null) $proc/tcpdumplike.json
}
load tcpdumplike
check "header_ms: 1000 is the default" is "$(cat $debugfs/tcpdumplike/header_ms)" 1000
for _ in 1 2 3 4; do
	traffic flags fd00::2
	sleep 1.1
done
check "the header comes before the first packet of each later second" diff <(text_of 1000) $proc/tcpdumplike
check "it came four times" is "$(grep -c Source $proc/tcpdumplike)" 4
exec 3<$proc/tcpdumplike
cat <&3 >"$tmp/first"
check "nothing new: no header" is "$(cat <&3)" ""
traffic flags 10.0.0.2
check "a later read: first the header of its second" is "$(cat <&3 | head -n 1)" "$line"
exec 3<&-
set_tcpdumplike header_ms 100
check "header_ms=100" diff <(text_of 100) $proc/tcpdumplike
set_tcpdumplike header_ms 0
check "header_ms=0: once" is "$(grep -c Source $proc/tcpdumplike)" 1
check "header_ms=0: all else is the same" diff <(text_of 0) $proc/tcpdumplike
rmmod tcpdumplike

# --- wrong values, then right ones
wrong() # setting
{
	dmesg -C
	! load tcpdumplike "$1" 2>"$tmp/insmod" || return 1
	[ ! -e $proc ] && dmesg | grep -F "tcpdumplike: $1: allowed is "
}
for setting in port=70000 port=-1 port=http addr=300.1.1.1 addr=10.0.0.0/33 addr=fd00::/129 addr=localhost; do
	check "$setting: refused, and said why" wrong "$setting"
done
check "what is right loads" load tcpdumplike addr=fd00::/64 port=7002 udp=1
traffic flags 10.0.0.2
traffic flags fd00::2
check "and is used" is "$(words | wc -l)" "$all"
rmmod tcpdumplike
check "nothing is left" [ ! -e $proc ]
plan
