#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The build itself: what it says when something is missing, and that it makes
# again what has changed and nothing else.
. "$(dirname "$0")/lib.sh"

release=$(tests/vm/kernel 6.1)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# One line on the terminal, and what it says.
one_line() # words make-arguments...
{
	local output

	! output=$(make "${@:2}" 2>&1) || return 1
	echo "$output"
	[ "$(wc -l <<<"$output")" = 1 ] && grep -qF "$1" <<<"$output"
}

check "without headers: what to install" \
	one_line "apt install linux-headers-0.0.0-none" KVER=0.0.0-none
check "not a kernel" one_line "KDIR=$tmp" KDIR="$tmp"
check "without a compiler: what to install" \
	one_line "apt install build-essential" KVER="$release" CC=no-such-compiler

# What follows plays with a copy.
make -s dkms-source DKMS_SOURCE="$tmp/tap"
cd "$tmp/tap"

# How many objects a make compiles.
compiled()
{
	make modules KVER="$release" >"$tmp/log" 2>&1 || cat "$tmp/log" >&2
	grep -c '^  CC \[M\]  .*/\(common\|modules\)/' "$tmp/log" || true
}

all=$(cat common/*.c modules/*.c | grep -c 'SPDX-License-Identifier')
check "all is compiled" [ "$(compiled)" = "$all" ]
check "nothing is compiled twice" [ "$(compiled)" = 0 ]
touch common/compat.h
check "a changed header is seen" [ "$(compiled)" -gt 1 ]
touch common/fmt.c
check "a changed file alone is compiled" [ "$(compiled)" = 1 ]

gone=$(tail -n 1 TOOLS)
sed -i '$d' TOOLS
rm "modules/$gone.c"
check "a tool that is gone costs nothing" [ "$(compiled)" = 0 ]
check "its module is gone as well" [ ! -e "build/$release/$gone.ko" ]

make -s install KVER="$release" DESTDIR="$tmp/dest" >/dev/null 2>&1
check "installed is what is in TOOLS" nothing diff TOOLS \
	<(find "$tmp/dest/lib/modules/$release" -name '*.ko' -printf '%f\n' | sed 's/\.ko$//' | sort)

answer()
{
	TAP_HAVE_IN_HARDIRQ=$1 scripts/compat-probe "/lib/modules/$release/build" | grep TAP_HAVE_IN_HARDIRQ
}
check "an answer about the kernel can be overridden: yes" [ "$(answer 1)" = "#define TAP_HAVE_IN_HARDIRQ 1" ]
check "an answer about the kernel can be overridden: no" [ "$(answer 0)" = "/* TAP_HAVE_IN_HARDIRQ is not set */" ]
plan
