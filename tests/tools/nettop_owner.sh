#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# nettop attribution=socket: whose packets they are, sent and received.
. "$(dirname "$0")/lib.sh"
# shellcheck source=net/lib.sh
. "$(dirname "$0")/net/lib.sh"

# --- bad input
dmesg -C
check "attribution=foo is refused" is \
	"$(insmod "$TAP_KO/nettop.ko" attribution=foo 2>&1 | sed 's/.*: //')" 'Invalid parameters'
check "attribution=foo: one clear line" is "$(dmesg | grep -c 'nettop: attribution=foo: .*socket.*current')" 1
check "attribution=foo: nothing is left" [ ! -e $proc ]

# --- sockets that are there before
mkfifo "$tmp/in" "$tmp/go"
in_b "$workloads/udp" echo 7 >"$tmp/echo"
echo=$(cat "$tmp/echo")
# its first thread ends before
in_a python3 -c '
import ctypes, socket, sys, threading
def work():
	s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
	s.connect(("fd00::2", 7))
	idle = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
	idle.bind(("::", 5001))
	for line in sys.stdin:
		for i in range(int(line)):
			s.send(b"x" * 100)
			s.recv(200)
		print(flush=True)
threading.Thread(target=work).start()
ctypes.CDLL(None).syscall(60, 0)	# exit
' <"$tmp/in" >"$tmp/out" &
before=$!
exec 5>"$tmp/in"
echo 1 >&5
until_true lines "$tmp/out" 1
load nettop interval_ms=0
check "open before load: the sockets are found" [ "$(stat_of sockets)" -ge 4 ]
check "open before load: they have owners" is "$(stat_of sockets_untracked)" 0
reset
echo 100 >&5
until_true lines "$tmp/out" 2
agrees "open before load"
has "open before load: who asks" va 100 100 comm=python3
has "open before load: who answers" vb 100 100 "pid=$echo"
reset
in_b "$workloads/udp" send 10.0.0.1 5001 10 100 >/dev/null
agrees "open before load, not used"
has "open before load, not used: who has it" va 0 10 comm=python3
exec 5>&-
wait "$before"

# --- a server on CPU 1, a hog on CPU 0, which receives
sendfile=on
start_nginx '[::]:80 ipv6only=off' taskset 2 nsenter --net=/run/netns/b
head -c 1000 /dev/zero >"$tmp/www/small"
head -c 10485760 /dev/zero >"$tmp/www/file"
taskset 1 sh -c 'while :; do :; done' &
hog=$!
requests() # text url device other-device count
{
	local i

	for ((i = 0; i < $5; i++)); do
		printf 'url = "%s"\noutput = "/dev/null"\n' "$2"
	done >"$tmp/urls"
	reset
	taskset 1 nsenter --net=/run/netns/a curl -sS -H 'Connection: close' -K "$tmp/urls"
	closed
	agrees "$1"
	only "$1: client" "$3" curl
	only "$1: server" "$4" nginx
	check "$1: the hog has none" is "$(count pid="$hog")" 0
}
requests "1000 requests, veth, IPv4" http://10.0.0.2/small va vb 1000
requests "200 requests, veth, IPv6" 'http://[fd00::2]/small' va vb 200
requests "200 requests, virtio, IPv4" http://10.0.1.2/small na nb 200
requests "200 requests, virtio, IPv6" 'http://[fd01::2]/small' na nb 200
kill "$hog"

# --- 10 MiB by sendfile(), in whatever pieces
offload() # tso gso gro
{
	in_a ethtool -K va tx on tso "$1" gso "$2" gro "$3" >/dev/null
	in_b ethtool -K vb tx on tso "$1" gso "$2" gro "$3" >/dev/null
}
download() # text address device other-device [bytes]
{
	reset
	in_a curl -sS -o /dev/null "http://$2/file"
	closed
	agrees "$1" "${5-0}"
	only "$1: client" "$3" curl
	only "$1: server" "$4" nginx
	check "$1: what one sends the other gets" is "$(sum recv_bytes dev="$3" comm=curl)" "$(sum xmit_bytes dev="$4" comm=nginx)"
	check "$1: in as many segments" is "$(sum recv_segments dev="$3" comm=curl)" "$(sum xmit_segments dev="$4" comm=nginx)"
	check "$1: no fewer than fit" [ "$(sum recv_segments dev="$3" comm=curl)" -ge $((10485760 / 1448)) ]
}
offload on on off
download "10 MiB, TSO" 10.0.0.2 va vb
check "10 MiB, TSO: fewer packets than segments" [ "$(sum recv_packets dev=va)" -lt "$(sum recv_segments dev=va)" ]
offload off on on
download "10 MiB, GSO and GRO" '[fd00::2]' va vb 14
check "10 MiB, GSO and GRO: a packet is a segment" is "$(sum recv_packets dev=va)" "$(sum recv_segments dev=va)"
offload on on on
# a veth's packets of a sender that can TSO do not go through NAPI
download "10 MiB, TSO and GRO" 10.0.0.2 va vb
offload off off off
download "10 MiB, neither" 10.0.0.2 va vb
download "10 MiB, virtio" 10.0.1.2 na nb
reset
in_b curl -sS -o /dev/null 'http://[::1]/file'
closed
agrees "10 MiB, lo"
only "10 MiB, lo" lo curl nginx
check "10 MiB, lo: what one sends the other gets" is "$(sum recv_bytes dev=lo comm=curl)" "$(sum xmit_bytes dev=lo comm=nginx)"
stop_nginx

# --- whoever uses it
reset
in_a "$workloads/udp" send -m 10.0.0.2 9 1000 100 >/dev/null
agrees "sendmmsg"
has "sendmmsg: the sender's" va 1000 0 comm=udp
has "sendmmsg: the receiver's, though it does not read" vb 0 1000 "pid=$drain_b"

# A socket that is handed on: made by one process, used by others.
cat >"$tmp/pass.py" <<'END'
import array, ctypes, os, socket, sys
libc = ctypes.CDLL(None)
def name(text):
	libc.prctl(15, text.encode(), 0, 0, 0)
def ask(s, n):
	for i in range(n):
		s.send(b"x" * 100)
		s.recv(200)
def child(work):
	pid = os.fork()
	if not pid:
		work()
		os._exit(0)
	os.waitpid(pid, 0)
name("maker")
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("10.0.0.2", 7))
ask(s, 10)
child(lambda: (name("heir"), ask(s, 20)))
here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
def taker():
	name("taker")
	got = there.recvmsg(1, 64)[1][0][2]
	ask(socket.socket(fileno=array.array("i", got)[0]), 30)
here.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [s.fileno()]))])
child(taker)
ask(s, 40)
END
reset
in_a python3 "$tmp/pass.py"
agrees "handed on"
has "handed on: who made it" va 50 50 comm=maker
has "handed on: who inherited it" va 20 20 comm=heir
has "handed on: who was given it" va 30 30 comm=taker

# Accepted by io_uring.
reset
server=$(in_b "$workloads/tcp" accept -u -4 8080 50)
in_a "$workloads/tcp" connect 10.0.0.2 8080 50 >/dev/null
until_true [ ! -d "/proc/$server" ]
closed
agrees "io_uring"
only "io_uring: server" vb tcp
check "io_uring: the process that accepts" [ "$(sum recv_packets pid="$server" dev=vb)" -gt 100 ]

# Both ends on lo.
reset
in_b python3 -c '
import socket
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.connect(("::1", 7))
for i in range(100):
	s.send(b"x")
	s.recv(9)'
agrees "lo"
has "lo: who asks" lo 100 100 comm=python3
has "lo: who answers" lo 100 100 "pid=$echo"

# --- nobody's
reset
in_a ping -q -f -c 200 10.0.0.2 >/dev/null
agrees "ping"
has "ping: it sends and gets the answers" va 200 200 comm=ping
has "ping: the kernel answers" vb 200 200 "$nobody"
ip -n a neigh del 10.0.0.2 dev va
reset
in_a "$workloads/udp" send 10.0.0.2 9 1 100 >/dev/null
agrees "ARP"
has "ARP: the question is nobody's" va 1 1 "$nobody"
has "ARP: so is the answer" vb 1 1 "$nobody"
has "ARP: the datagram has an owner" va 1 0 comm=udp
ip -n a neigh replace 10.0.0.2 dev va lladdr "${mac}b" nud permanent
reset
in_a "$workloads/udp" send 10.0.0.2 99 100 100 >/dev/null || true
agrees "a closed port"
check "a closed port: nobody gets it" is "$(sum recv_packets dev=vb "$nobody")" 100

# a forwards what b sends from its veth to its virtio card
in_a sysctl -q -w net.ipv4.ip_forward=1
in_b ip route add 10.9.9.9 via 10.0.0.1
in_a ip route add 10.9.9.9 via 10.0.1.2
reset
in_b "$workloads/udp" send 10.9.9.9 9 100 100 >/dev/null
agrees "forwarded"
has "forwarded: the sender's" vb 100 0 comm=udp
has "forwarded: nobody's on the way in" va 0 100 "$nobody"
has "forwarded: nobody's on the way out" na 100 0 "$nobody"
in_b ip route del 10.9.9.9
in_a ip route del 10.9.9.9
in_a sysctl -q -w net.ipv4.ip_forward=0

# Every member of a group gets a copy; the packet is one.
in_b python3 -c '
import socket, struct, time
group = socket.inet_aton("239.1.2.3")
sockets = []
for i in range(3):
	s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
	s.bind(("239.1.2.3", 5000))
	s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group + socket.inet_aton("10.0.0.2"))
	sockets.append(s)
print("ready", flush=True)
for s in sockets:
	for i in range(50):
		s.recv(100)
' >"$tmp/group" &
group=$!
until_true grep -q ready "$tmp/group"
until_true quiet
reset
in_a python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("10.0.0.1"))
for i in range(50):
	s.sendto(b"x", ("239.1.2.3", 5000))'
wait $group
agrees "a group of three sockets"
check "a group of three sockets: a packet is one" is "$(sum recv_packets dev=vb comm=python3)" 50

# --- filters know owners
set_nettop filter "pid=$echo"
set_nettop reset 1
in_a python3 "$tmp/pass.py"
take nettop
check "filter: pid: that process, both ways, nothing else" is \
	"$(count) $(sum xmit_packets) $(sum recv_packets) $(sum recv_packets pid="$echo")" "1 100 100 100"
set_nettop filter comm=heir
set_nettop reset 1
in_a python3 "$tmp/pass.py"
take nettop
check "filter: comm: while it uses the socket" is "$(count) $(sum xmit_packets comm=heir) $(sum recv_packets comm=heir)" "1 20 20"
set_nettop filter ''
set_nettop netns "$inode_a"
set_nettop reset 1
in_a "$workloads/udp" send 10.0.0.2 9 10 100 >/dev/null
take nettop
check "netns: that one alone" is "$(sum xmit_packets) $(sum recv_packets)" "10 0"
set_nettop netns 0

rmmod nettop

check "nothing is left" [ ! -e $proc ]
kill -KILL "$drain_a" "$drain_b" "$echo"
plan
