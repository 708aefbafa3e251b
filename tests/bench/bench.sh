#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: tests/bench/bench.sh NAME
#
# Do events cost no more than tests/bench/bounds allows on the kernel NAME? Prints TAP.

# shellcheck source=../static/lib.sh
. "$(dirname "$0")/../static/lib.sh"

[ $# = 1 ] || die "usage: tests/bench/bench.sh NAME"
release=$(tests/vm/kernel "$1")
# What is wrong is in its table; what is right is asked of its file, row by row.
tests/bench/run "$1" 2>&1 | sed 's/^/# /' || true

measured()
{
	local line

	line=$(grep -F "\"row\":\"$1\"," "build/bench/$release.json")
	grep -E '"verdict":"(ok|-)"' <<<"$line" || ! echo "$line" "$(grep "^$1 " "build/bench/$release.raw")"
}

while read -r row counted _; do
	case $row$counted in
	'#'* | *-) ;;
	*) check "$row is counted, steady and within its bound" measured "$row" ;;
	esac
done <tests/bench/bounds

# A device that delays what it gets by 20 ms, which is a matter of the kernel's ticks.
delay=$(tests/vm/guest -k "$1" -i -t 300 tests/bench/delay) || true
read -r ours theirs <<<"$delay"
echo "# 20 ms: ${ours:=0} us as ioblktime says, ${theirs:=0} us as dd sees them"
check "ioblktime: a delay of 20 ms takes that" [ "$ours" -ge 19900 -a "$ours" -le 25000 ]
check "ioblktime: a delay of 20 ms is what dd waits for" [ "$ours" -le "$theirs" -a "$ours" -gt $((theirs - 1000)) ]

# The functions of a directory of the kernel's source.
attach=$(tests/vm/guest -k "$1" -i -t 300 tests/bench/attach) || true
read -r on off functions <<<"$attach"
echo "# ${functions:=0} functions: ${on:=0} us to hook them, ${off:=0} us to let go of them"
check "functioncallcount: nearly all of 2000 functions" [ "$functions" -ge 1900 ]
check "functioncallcount: they are hooked in less than a second" [ "$on" -gt 0 -a "$on" -lt 1000000 ]
check "functioncallcount: and let go in less than a second" [ "$off" -gt 0 -a "$off" -lt 1000000 ]

# How a process comes to be, in instructions.
stages=$(tests/vm/guest -k "$1" -i -t 300 tests/bench/stages) || true
alike()
{
	echo "$stages"
	[ "$(grep -cxE '50( [1-9][0-9]*){7}' <<<"$stages")" = 2 ] && [ "$(sort -u <<<"$stages" | wc -l)" = 1 ]
}
check "do_fork: the same run takes the same time, stage by stage" alike
plan
