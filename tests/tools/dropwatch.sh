#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dropwatch: as many drops as were made, where and why, and none that were not.
. "$(dirname "$0")/lib.sh"
# shellcheck source=net/pair.sh
. "$(dirname "$0")/net/pair.sh"

set_dropwatch() # name value
{
	set_to dropwatch "$1" "$2"
}

# traffic.py DEVICE: ten frames of each kind that is dropped for a reason of its own
cat >"$tmp/traffic.py" <<'END'
import socket, struct, sys

def checksum(data):
    total = sum(struct.unpack('!%dH' % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff

def ip(protocol, payload, version=4, wrong=0):
    header = struct.pack('!BBHHHBBH4s4s', version << 4 | 5, 0, 20 + len(payload), 1, 0, 64, protocol, 0,
                         socket.inet_aton('10.0.0.1'), socket.inet_aton('10.0.0.2'))
    return header[:10] + struct.pack('!H', checksum(header) ^ wrong) + header[12:] + payload

s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind((sys.argv[1], 0))
here, there, nobody = (bytes.fromhex('02000000000' + x) for x in 'abc')
tcp = struct.pack('!HHIIBBHHH', 1, 2, 1, 1, 5 << 4, 2, 1000, 0x1234, 0)
udp = struct.pack('!HHHH', 1, 9, 8, 0x1234)
good = ip(250, b'x' * 20)
for frame in (nobody + here + b'\x08\x00' + good,		# OTHERHOST
              there + here + b'\x08\x00' + good,		# IP_NOPROTO
              there + here + b'\x08\x00' + ip(250, b'x' * 20, wrong=1),	# IP_CSUM
              there + here + b'\x08\x00' + ip(250, b'x' * 20, version=5),	# IP_INHDR
              there + here + b'\x88\xb5' + good,		# UNHANDLED_PROTO
              there + here + b'\x08\x00' + ip(6, tcp),	# TCP_CSUM
              there + here + b'\x08\x00' + ip(17, udp)):	# UDP_CSUM
    for i in range(10):
        s.send(frame)
END
frames()
{
	in_a python3 "$tmp/traffic.py" va
}
send() # address port count
{
	in_a "$workloads/udp" send "$@" 500 >/dev/null
}
# A counter of the other namespace's.
counter() # name
{
	in_b nstat -asz "$1" | awk '/^Udp/ { print $2 }'
}

# dropped SYMBOL [name=value...] - drops at functions whose names match a regular expression
dropped()
{
	local row symbol total=0

	take dropwatch
	while IFS= read -r row; do
		symbol=${row#*$'\t'symbol=}
		[[ ${symbol%%$'\t'*} =~ $1 ]] || continue
		row=${row#*$'\t'count=}
		total=$((total + ${row%%$'\t'*}))
	done < <(rows "${@:2}")
	echo "$total"
}
came() # expected symbol [name=value...]
{
	[ "$(dropped "${@:2}")" = "$1" ]
}
reset()
{
	set_dropwatch reset 1
}

# The kernel's own event, counted by the kernel, and the tool's rows, in the same form: where, why, how many.
event=/sys/kernel/tracing/events/skb/kfree_skb
keys=location.sym-offset,reason
kernel()
{
	sed -n -E "s/^\{ location: \[([0-9a-f]+)\] ([^+]+)\+(0x[0-9a-f]+)\/\S+ +(\[(.*)\] *)?, reason: +([0-9]+) \} hitcount: +/\1 \2 \3 [\5] \6 /p" \
		$event/hist | sort
}
tool()
{
	sed -n -E 's/.*"count":([0-9]+),"symbol":"(.*)","reason":".*","reason_number":([0-9]+),"offset":"(.*)","module":"(.*)","address":"(.*)"\}/\6 \2 \4 [\5] \3 \1/p' \
		$proc/dropwatch.json | sort
}
# They begin at 0, and nothing is dropped between the one and the other.
fresh()
{
	echo "!hist:keys=$keys" >$event/trigger || true
	echo "hist:keys=$keys" >$event/trigger
	reset
	nothing kernel && nothing tool
}
same()
{
	diff <(kernel) <(tool)
}
hits()
{
	sed -n 's/^ *Hits: //p' $event/hist
}

# Root may see where the kernel is.
sysctl -q -w kernel.kptr_restrict=1
load dropwatch interval_ms=0
check "stats: hook" grep -qx 'hook kfree_skb: tracepoint' $debugfs/dropwatch/stats

# --- a closed port
for address in 10.0.0.2 fd00::2; do
	reset
	send $address 9 500
	until_true came 500 udp reason=NO_SOCKET || true
	check "500 datagrams to a closed port of $address" is "$(dropped udp) $(dropped udp reason=NO_SOCKET)" "500 500"
	check "500 datagrams to a closed port of $address: one line" is \
		"$(grep udp $proc/dropwatch | sed -E 's/ at [a-z0-9_]+ / at F /')" '500 packets dropped at F (NO_SOCKET)'
done

# --- a full receive buffer
drain=$(in_b "$workloads/udp" drain 10)
kill -STOP "$drain"
for i in UdpRcvbufErrors:10.0.0.2 Udp6RcvbufErrors:fd00::2; do
	reset
	before=$(counter "${i%%:*}")
	send "${i#*:}" 10 3000
	errors=$(($(counter "${i%%:*}") - before))
	check "a full buffer, ${i#*:}: it was full" [ "$errors" -gt 1000 ]
	check "a full buffer, ${i#*:}: as the kernel counts" is "$(dropped . reason=SOCKET_RCVBUFF)" "$errors"
	check "a full buffer, ${i#*:}: at a function of UDP" is "$(dropped udp)" "$errors"
done
kill -KILL "$drain"

# --- a rule of a firewall, whose module goes before anybody looks
firewall()
{
	in_b nft -f - <<-END
		table inet t {
			chain c {
				type filter hook input priority 0;
				udp dport 1234 counter drop
			}
		}
	END
}
firewall
reset
send 10.0.0.2 1234 200
send fd00::2 1234 100
counter=$(in_b nft list chain inet t c | sed -n 's/.*counter packets \([0-9]*\) .*/\1/p')
check "a firewall: its counter" is "$counter" 300
in_b nft delete table inet t
check "a firewall: its module can go" modprobe -r nft_compat nf_tables
check "a firewall: as it counted, at its function" is "$(dropped '^nft_do_chain$' module=nf_tables reason=NETFILTER_DROP)" 300
check "a firewall: nothing but it" is "$(dropped 'nf_|nft_|ip_|udp')" "300"
check "a firewall: a line" grep -qxF '300 packets dropped at nft_do_chain (NETFILTER_DROP)' $proc/dropwatch

# --- reasons by name
reset
frames
take dropwatch
for reason in OTHERHOST IP_NOPROTO IP_CSUM IP_INHDR UNHANDLED_PROTO TCP_CSUM UDP_CSUM; do
	check "ten packets for the reason $reason" is "$(sum count reason=$reason)" 10
done

# --- a queue that is full; where packets overtake others, they have no skb->dev as long as they wait
queue() # discipline...
{
	reset
	tc -n a qdisc add dev va root "$@"
	send 10.0.0.2 9 200
	queue=$(tc -n a -s qdisc show dev va | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p')
	tc -n a qdisc del dev va root
	check "a full queue, $1: it was full" [ "$queue" -gt 100 ]
	check "a full queue, $1: as it counted" is "$(dropped . reason=QDISC_DROP)" "$queue"
}
queue tbf rate 8kbit burst 1600 limit 1600
queue netem delay 100s reorder 30% limit 30

# --- no losses, as there is room for all: no line
sysctl -q -w net.core.rmem_default=100000000
drain=$(in_b "$workloads/udp" drain 11)
received()
{
	[ $(($(counter UdpInDatagrams) + $(counter Udp6InDatagrams))) = "$1" ]
}
sent=$(($(counter UdpInDatagrams) + $(counter Udp6InDatagrams)))
reset
# ten seconds
for ((end = SECONDS + 11; SECONDS < end;)); do
	send 10.0.0.2 11 5000
	send fd00::2 11 5000
	sent=$((sent + 10000))
	until_true received $sent || break
done
check "no losses: all was received" received $sent
check "no losses: no line of a function on the way" nothing grep -E 'at (__)?(udp|ip6?_rcv|nf_|nft_|sch_|qdisc|dev_|netif)|QDISC' $proc/dropwatch
kill "$drain"

# --- all of it, compared with the kernel's own event
start_nginx 10.0.0.2:80 in_b
head -c 300000 /dev/zero >"$tmp/www/file"
firewall
until_true fresh
send 10.0.0.2 9 500
send fd00::2 9 500
send 10.0.0.2 1234 100
frames
in_a ping -q -f -c 20 10.0.0.2 >/dev/null
in_a ping -q -f -c 20 fd00::2 >/dev/null
in_a curl -sS -o "$tmp/copy" 'http://10.0.0.2/file?[1-20]'
in_a curl -sS -o "$tmp/copy" http://10.0.0.2:81/ 2>/dev/null || true
perl -MSocket -e 'socketpair my $a, my $b, AF_UNIX, SOCK_STREAM, 0 or die; syswrite $a, "x" or die; close $b'
until_true same >/dev/null || true
check "as the kernel's event: address, function, offset, module, reason, number" same
check "as the kernel's event: there are some" [ "$(hits)" -gt 1170 ]
check "as the kernel's event: also in a module" grep -q '\[nf_tables\]' <(kernel)

# --- text and JSON: of all that, and nothing comes any more
set_dropwatch enabled 0
take dropwatch
rows=$(count)
check "the trailer counts them all" is "$(tail -n 1 $proc/dropwatch | sed 's/window_ms=[0-9]*/window_ms=N/')" \
	"# window_ms=N state=running rows=$rows shown=$rows events=$(sum count) lost=0 self=0"
check "text: the busiest first, then by name" is "$(grep -v '^#' $proc/dropwatch)" \
	"$(grep -v '^#' $proc/dropwatch | LC_ALL=C sort -s -k 1,1nr -k 5)"
check "text: nothing else" nothing grep -vxE '[0-9]+ packets dropped at ([A-Za-z0-9_.]+|\(unknown\))( \([A-Z0-9_]+\))?|# .*' $proc/dropwatch
check "JSON: the fields" is "$(sed -n 1p $proc/dropwatch.json | jq -r 'to_entries | map("\(.key):\(.value | type)") | join(" ")')" \
	"tool:string count:number symbol:string reason:string reason_number:number offset:string module:string address:string"
check "JSON: the same" is "$(jq -r 'select(.symbol) | "\(.count) packets dropped at \(.symbol)" + if .reason == "" then "" else " (\(.reason))" end' $proc/dropwatch.json)" \
	"$(grep -v '^#' $proc/dropwatch)"
sysctl -q -w kernel.kptr_restrict=2
check "JSON: addresses that must not be known are not" is "$(jq -r 'select(.symbol) | .address' $proc/dropwatch.json | sort -u)" 0000000000000000
sysctl -q -w kernel.kptr_restrict=1
set_dropwatch enabled 1
stop_nginx
in_b nft delete table inet t

# --- reasons by name: all that the kernel has, and those of a module that is gone
grep -oE '\{ [0-9]+, "[A-Z0-9_]+" \}' $event/format | tr -d '{},"' | awk '$2 != "MAX" { print $1, $2 }' | sort -n >"$tmp/names"
check "all reasons: there are many" [ "$(wc -l <"$tmp/names")" -gt 50 ]
# Three packets for each reason are dropped by a module that then goes, as do the names it gave.
drops()
{
	insmod "$TAP_TOP/build/test-modules/$TAP_KVER/drops.ko" packets=3 "reasons=$(cut -d ' ' -f 1 "$tmp/names" | paste -sd ,)"
	rmmod drops
}
reset
drops
jq -r 'select(.module == "drops" and .symbol == "drops_packets" and .count == 3) | "\(.reason_number) \(.reason)"' \
	$proc/dropwatch.json | sort -n >"$tmp/named"
core=$(wc -l <"$tmp/names")
check "all reasons: their names, at the module's function" diff "$tmp/names" <(head -n "$core" "$tmp/named")
if grep -q ' drop_reasons_by_subsys$' /proc/kallsyms; then
	own='FIRST  THIRD '
	own_drops=12
else
	own=
	own_drops=0
fi
check "reasons of the module that is gone" is "$(tail -n "+$((core + 1))" "$tmp/named" | cut -d ' ' -f 2 | paste -sd ' ')" "$own"
check "what is consumed is not dropped" is "$(dropped . module=drops)" $((3 * core + own_drops))

# --- whose: what is dropped in a softirq is nobody's
tc -n a qdisc add dev va clsact
tc -n a filter add dev va egress protocol ip u32 match ip dport 1234 0xffff action drop
set_dropwatch filter comm=udp
reset
send 10.0.0.2 1234 50
send 10.0.0.2 9 50
check "filter: the process that was at work" is "$(dropped . reason=TC_EGRESS) $(dropped udp)" "50 0"
set_dropwatch filter comm=nobody
reset
send 10.0.0.2 1234 50
check "filter: somebody else" is "$(dropped .)" 0
set_dropwatch filter ''
tc -n a qdisc del dev va clsact

# --- windows
set_dropwatch interval_ms 3600000
send 10.0.0.2 9 30
check "a window that is not complete" is "$(dropped udp) $(summary state)" "30 partial"
set_dropwatch flip 1
send 10.0.0.2 9 7
check "a complete window" is "$(dropped udp) $(summary state)" "30 complete"
set_dropwatch flip 1
check "the next window" is "$(dropped udp)" 7
set_dropwatch flip 1
set_dropwatch flip 1
check "a window without drops: the trailer" diff - <(sed 's/_ms=[0-9]*/_ms=N/' $proc/dropwatch) <<-END
	# window_ms=N state=complete rows=0 shown=0 events=0 lost=0 self=0
END

# --- as the script prints it
"$TAP_TOP/build/userspace/tapcat" -n 2 dropwatch >"$tmp/out" &
follower=$!
until_true grep -q poll "/proc/$follower/wchan"
send 10.0.0.2 9 23
set_dropwatch flip 1
until_true grep -q 23 "$tmp/out"
send 10.0.0.2 9 5
set_dropwatch flip 1
wait "$follower"
check "tapcat prints what the script prints" diff - <(sed -E 's/ at [a-z0-9_]+ / at F /' "$tmp/out") <<-END
	Monitoring for dropped packets

	23 packets dropped at F (NO_SOCKET)

	5 packets dropped at F (NO_SOCKET)
	Stopping dropped packet monitor
END
check "tapcat prints the last window" diff <("$TAP_TOP/build/userspace/tapcat" dropwatch) $proc/dropwatch
rmmod dropwatch

# --- a table that is full
load dropwatch interval_ms=0 max_rows=16
until_true fresh
drops
take dropwatch
check "a full table: sixteen lines and one" is "$(count) $(count 'symbol=(other)' reason=- module=- address=-)" "17 1"
check "a full table: as many as the kernel's event" is "$(sum count) $(summary events)" "$(hits) $(hits)"
check "a full table: the line" grep -qxE '[0-9]+ packets dropped at \(other\)' $proc/dropwatch
echo "!hist:keys=$keys" >$event/trigger
rmmod dropwatch
load dropwatch
check "5 s are the default" is "$(cat $debugfs/dropwatch/interval_ms)" 5000
rmmod dropwatch
check "nothing is left" [ ! -e $proc ]
plan
