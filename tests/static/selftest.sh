#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# layers.sh finds what it is there to find: it is run on copies of the checkout
# in which that was put.
. "$(dirname "$0")/lib.sh"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# A fresh copy of what modules are made from in $tmp/tap.
copy()
{
	rm -rf "$tmp/tap"
	make -s dkms-source DKMS_SOURCE="$tmp/tap"
}

# refuses LINE - layers.sh says "not ok" to that line, and to no other.
refuses()
{
	local output
	output=$(tests/static/layers.sh "$tmp/tap")
	[ "$(grep -c '^not ok' <<<"$output")" = 1 ] && grep -q "^not ok .* - .*$1" <<<"$output" && return
	printf '%s\n' "$output"
	return 1
}

accepts()
{
	local output
	output=$(tests/static/layers.sh "$tmp/tap")
	! grep '^not ok' <<<"$output"
}

copy
check "an unchanged copy is accepted" accepts

copy
printf 'int tap_circle_a(void);\nint tap_circle_b(void);\n' >>"$tmp/tap/common/fmt.h"
printf 'int tap_circle_a(void)\n{\n\treturn tap_circle_b();\n}\n' >>"$tmp/tap/common/fmt.c"
printf '#include "fmt.h"\nint tap_circle_b(void)\n{\n\treturn tap_circle_a();\n}\n' >>"$tmp/tap/common/filter.c"
check "two objects of common/ that need each other" refuses circle

copy
printf 'void tap_other(void);\nvoid tap_other(void)\n{\n}\nEXPORT_SYMBOL_GPL(tap_other);\n' >>"$tmp/tap/modules/nettop.c"
printf 'void tap_other(void);\nint tap_use(void);\nint tap_use(void)\n{\n\ttap_other();\n\treturn 0;\n}\n' >>"$tmp/tap/modules/topsys.c"
check "a module that depends on another" refuses depends

copy
printf '#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 0)\n#endif\n' >>"$tmp/tap/common/table.c"
check "a kernel version in common/table.c" refuses versions
plan
