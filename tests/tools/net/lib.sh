# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154 # what is set here is used by who sources it, and the other way round
# What the scripts that test nettop share: two network namespaces with two cables,
# and whether nettop says what their devices counted. Sourced after ../lib.sh, never run.

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

# The cards count a packet when they are done with it.
quiet()
{
	devices >"$tmp/after"
	sleep 0.1
	devices | cmp -s - "$tmp/after"
}

at_once()
{
	devices >"$tmp/before"
	set_nettop reset 1
	devices | cmp -s - "$tmp/before"
}

# Resets that the namespace of a process has sent.
resets() # pid
{
	awk '/^Tcp:/ { if (n++) print $column; else for (i = 1; i <= NF; i++) if ($i == "OutRsts") column = i }' "/proc/$1/net/snmp"
}

# Nothing is counted from here on that the devices counted before, or the other
# way round: now and then IPv6 says something by itself. Nor does a packet wait in a
# queue, that would be nobody's before and come to its socket after.
reset()
{
	until_true quiet
	until_true at_once
	resets=$(($(resets "$drain_a") + $(resets "$drain_b")))
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

# Beside the pair of veth devices a cable between two virtio cards of the guest.
# shellcheck source=pair.sh
. "$(dirname "${BASH_SOURCE[0]}")/pair.sh"
modprobe -q virtio_net || true
cards=(/sys/class/net/*/device/driver/module/drivers/virtio:virtio_net)
cards=("${cards[@]#/sys/class/net/}")
cards=("${cards[@]%%/*}")
ip -batch - <<END
link set ${cards[0]} name na address ${mac}c netns a
link set ${cards[1]} name nb address ${mac}d netns b
END
set_up a na 1 1 2 ${mac}d
set_up b nb 1 2 1 ${mac}c
drain_a=$(in_a "$workloads/udp" drain 9)
drain_b=$(in_b "$workloads/udp" drain 9)
# Once their buffers are full the kernel throws away what comes: it costs less time than to read it.
kill -STOP "$drain_a" "$drain_b"
inode_a=$(stat -L -c %i /run/netns/a)
inode_b=$(stat -L -c %i /run/netns/b)

nobody='comm=(unattributed)'

stat_of() # field
{
	awk -v field="$1" '$1 == field { print $2 }' "$debugfs/nettop/stats"
}

lines() # file count
{
	[ "$(wc -l <"$1")" = "$2" ]
}

# TEXT: so many packets are the process's, each way, on a device.
has() # text device xmit recv row...
{
	check "$1" is "$(sum xmit_packets dev="$2" "${@:5}") $(sum recv_packets dev="$2" "${@:5}")" "$3 $4"
}

# TEXT: all of a device's packets are of these commands, each way. On a machine
# with too much to do a segment can come for a socket that is gone, or going; the
# reset that the kernel answers with is nobody's then, and may be the segment, too.
only() # text device comm...
{
	local comm xmit=0 recv=0 sent

	for comm in "${@:3}"; do
		xmit=$((xmit + $(sum xmit_packets dev="$2" comm="$comm")))
		recv=$((recv + $(sum recv_packets dev="$2" comm="$comm")))
	done
	xmit=$(($(sum xmit_packets dev="$2") - xmit))
	recv=$(($(sum recv_packets dev="$2") - recv))
	sent=$(($(resets "$drain_a") + $(resets "$drain_b") - resets))
	check "$1: all is ${*:3}'s" within 0 "$recv" "$xmit" "$sent"
	check "$1: there is something" [ "$(sum xmit_packets dev="$2")" -gt "$xmit" ]
}

# within A B... - succeeds if no number is less than the one before it
within()
{
	local last=$1 n

	for n; do
		[ "$n" -ge "$last" ] || { echo "$*"; return 1; }
		last=$n
	done
}

# In a, and in b, no connection is open any more.
closed()
{
	local in
	for in in in_a in_b; do
		until_true "$in" sh -c '! ss -Htn state established,fin-wait-1,fin-wait-2,last-ack,closing | grep .'
	done
}
