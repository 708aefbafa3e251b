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
cat >>"$tmp/tap/common/fmt.c" <<'EOF'
int tap_circle_a(void);
int tap_circle_b(void);
int tap_circle_a(void)
{
	return tap_circle_b();
}
EOF
cat >>"$tmp/tap/common/table.c" <<'EOF'
int tap_circle_a(void);
int tap_circle_b(void);
int tap_circle_b(void)
{
	return tap_circle_a();
}
EOF
check "two objects of common/ that need each other" refuses circle

copy
cat >>"$tmp/tap/modules/nettop.c" <<'EOF'
int tap_lent(void);
int tap_lent(void)
{
	return 0;
}
EXPORT_SYMBOL_GPL(tap_lent);
EOF
cat >>"$tmp/tap/modules/topsys.c" <<'EOF'
int tap_lent(void);
int tap_borrowed(void);
int tap_borrowed(void)
{
	return tap_lent();
}
EOF
check "a module that depends on another" refuses depends

copy
cat >>"$tmp/tap/common/table.c" <<'EOF'
#include <linux/version.h>
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 10, 0)
#error "too old"
#endif
EOF
check "a kernel version in common/table.c" refuses versions
plan
