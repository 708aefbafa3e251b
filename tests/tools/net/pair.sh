# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Two network namespaces, a and b, with a pair of veth devices between them, va and vb, on which nothing happens by
# itself. Sourced, never run.

in_a()
{
	nsenter --net=/run/netns/a "$@"
}
in_b()
{
	nsenter --net=/run/netns/b "$@"
}

# A device's end of a cable: 10.0.NETWORK.NUMBER and fd0NETWORK::NUMBER.
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

mac=02:00:00:00:00:0
ip -batch - <<END
netns add a
netns add b
link add va netns a address ${mac}a type veth peer name vb netns b address ${mac}b
END
set_up a va 0 1 2 ${mac}b
set_up b vb 0 2 1 ${mac}a
