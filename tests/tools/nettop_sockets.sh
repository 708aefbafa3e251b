#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nettop attribution=socket: sockets that are no program's own, numbers that are used again, windows, and memory.
. "$(dirname "$0")/lib.sh"
# shellcheck source=net/lib.sh
. "$(dirname "$0")/net/lib.sh"

mkfifo "$tmp/go"
in_b "$workloads/udp" echo 7 >"$tmp/echo"
echo=$(cat "$tmp/echo")
load nettop interval_ms=0

# --- a number that is used again: two processes, both with the socket of a third
cat >"$tmp/reuse.py" <<'END'
import os, socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("10.0.0.2", 7))
wanted = None
for n in 10, 20:
	while True:
		if wanted:
			with open("/proc/sys/kernel/ns_last_pid", "w") as f:
				f.write(str(wanted - 1))
		pid = os.fork()
		if not pid:
			if not wanted or os.getpid() == wanted:
				for i in range(n):
					s.send(b"x" * 100)
					s.recv(200)
			os._exit(0)
		os.waitpid(pid, 0)
		if not wanted or pid == wanted:
			break
	wanted = pid
print(wanted)
END
reset
pid=$(in_a python3 "$tmp/reuse.py")
agrees "a pid that is used again"
check "a pid that is used again: two processes" is "$(count pid="$pid" dev=va)" 2
check "a pid that is used again: each has its own" is \
	"$(rows pid="$pid" dev=va | sed 's/.*xmit_packets=\([0-9]*\).*recv_packets=\([0-9]*\).*/\1 \2/' | sort -n | paste -sd ' ')" \
	"10 10 20 20"

# --- UDP that is cut in pieces late, or not at all
gso() # text address device other-device
{
	reset
	in_a python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("'"$2"'", 9))
s.setsockopt(socket.IPPROTO_UDP, 103, 1000)	# UDP_SEGMENT
for i in range(20):
	s.send(b"x" * 9500)'
	agrees "$1"
	check "$1: who sends" is "$(sum xmit_packets dev="$3" comm=python3)" "$(sum xmit_packets dev="$3")"
	check "$1: who receives" is "$(sum recv_packets dev="$4" comm=udp) $(sum recv_bytes dev="$4" comm=udp)" \
		"$(sum recv_packets dev="$4") $(sum recv_bytes dev="$4")"
	check "$1: in segments" is "$(sum xmit_segments dev="$3") $(sum recv_segments dev="$4" comm=udp)" "200 200"
}
gso "UDP_SEGMENT, lo" 127.0.0.1 lo lo
check "UDP_SEGMENT, lo: in one piece" is "$(sum recv_packets dev=lo)" 20
gso "UDP_SEGMENT, veth" 10.0.0.2 va vb
in_a ethtool -K va tx-udp-segmentation off >/dev/null
gso "UDP_SEGMENT, in software" 10.0.0.2 va vb
check "UDP_SEGMENT, in software: in pieces" is "$(sum recv_packets dev=vb)" 200
in_a ethtool -K va tx-udp-segmentation on >/dev/null

# --- a socket of the kernel's: VXLAN
modprobe vxlan
in_a ip link add vx address 02:00:00:00:09:01 type vxlan id 7 remote 10.0.0.2 dstport 4789 dev va
in_b ip link add vx address 02:00:00:00:09:02 type vxlan id 7 remote 10.0.0.1 dstport 4789 dev vb
set_up a vx 9 1 2 02:00:00:00:09:02
set_up b vx 9 2 1 02:00:00:00:09:01
until_true quiet
reset
in_a "$workloads/udp" send 10.0.9.2 9 50 100 >/dev/null
take nettop
has "VXLAN: the sender's" vx 50 0 comm=udp netns="$inode_a"
has "VXLAN: the receiver's" vx 0 50 "pid=$drain_b"
has "VXLAN: the sender's below" va 50 0 comm=udp
has "VXLAN: the tunnel's socket is nobody's" vb 0 50 "$nobody"
in_a ip link del vx
in_b ip link del vx

# --- windows: what is taken from nobody after its window has ended
set_nettop interval_ms 3600000
cat >"$tmp/fragments.py" <<'END'
import socket, struct, sys
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
data = struct.pack("!HHHH", 5, 9, 1608, 0) + b"x" * 1600
for part, begin, end, more in (1, 0, 800, 0x2000), (2, 800, 1608, 0):
	if str(part) in sys.argv[1]:
		head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + end - begin, 77, more | begin // 8, 64, 17, 0,
				   socket.inet_aton("10.0.0.1"), socket.inet_aton("10.0.0.2"))
		s.sendto(head + data[begin:end], ("10.0.0.2", 0))
END
received() # text packets bytes row...
{
	check "$1" is "$(sum recv_packets dev=vb "${@:4}") $(sum recv_bytes dev=vb "${@:4}")" "$2 $3"
}
until_true quiet
set_nettop flip 1
in_a python3 "$tmp/fragments.py" 1
until_true quiet
set_nettop flip 1
take nettop
received "windows: the first fragment is nobody's" 1 $((14 + 20 + 800)) "$nobody"
in_a python3 "$tmp/fragments.py" 2
until_true quiet
set_nettop flip 1
take nettop
received "windows: the datagram is the receiver's" 1 $((14 + 20 + 1608)) "pid=$drain_b"
received "windows: never less than nothing" 0 0 "$nobody"
in_a ping -q -c 10 -i 0.002 -s 1000 10.0.0.2 >/dev/null
until_true quiet
set_nettop flip 1
take nettop
received "windows: what was missing is taken off later" 10 $((10 * (14 + 20 + 8 + 1000) - 800)) "$nobody"
set_nettop interval_ms 0

# --- many short connections, and little room
settled()
{
	in_a sh -c '! ss -Htn state established,fin-wait-1,fin-wait-2,last-ack,closing | grep .' &&
		[ "$(stat_of sockets)" = "$fill" ]
}
# 20000 connections, or a million
rounds=${TAP_LONG:+200}
in_b sysctl -q -w net.ipv4.tcp_max_tw_buckets=1000
in_a sysctl -q -w net.ipv4.tcp_max_tw_buckets=1000 net.ipv4.tcp_tw_reuse=1
fill=$(stat_of sockets)
bytes=$(stat_of sockets_bytes)
for ((i = 0; i < ${rounds:-4}; i++)); do
	in_b "$workloads/tcp" accept -4 $((9000 + i)) 5000 >/dev/null
	in_a "$workloads/tcp" connect 10.0.0.2 $((9000 + i)) 5000 >/dev/null
done
check "many connections: no socket is left behind" until_true settled
check "many connections: no more memory" is "$(stat_of sockets_bytes) $(stat_of sockets_untracked)" "$bytes 0"
rmmod nettop

load nettop interval_ms=0 max_sockets=16
in_a python3 -c '
import socket, sys
sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for i in range(100)]
print("ready", flush=True)
sys.stdin.readline()
for s in sockets:
	s.sendto(b"x" * 100, ("10.0.0.2", 9))' <"$tmp/go" >"$tmp/many" &
many=$!
exec 5>"$tmp/go"
until_true grep -q ready "$tmp/many"
reset
echo >&5
wait $many
exec 5>&-
agrees "max_sockets=16"
check "max_sockets=16: not all have room" [ "$(stat_of sockets_untracked)" -ge 84 ]
check "max_sockets=16: the rest is nobody's" is "$(($(sum xmit_packets comm=python3) + $(sum xmit_packets "$nobody")))" 100
check "max_sockets=16: some are" [ "$(sum xmit_packets "$nobody")" -ge 80 ]
rmmod nettop

check "nothing is left" [ ! -e $proc ]
kill -KILL "$drain_a" "$drain_b" "$echo"
plan
