#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What judges is judged: layers.sh is run on copies of the checkout in which
# there is something to find, and tests/tally on results that are not in order.
. "$(dirname "$0")/lib.sh"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# A fresh copy of what modules are made from in $tmp/tap.
copy()
{
	rm -rf "$tmp/tap"
	make -s dkms-source DKMS_SOURCE="$tmp/tap"
}

# refuses WORD - the line of layers.sh with that word was ok, and is no more.
refuses()
{
	local output
	output=$(tests/static/layers.sh "$tmp/tap" 2>&1)
	grep -q "^ok .* - .*$1" <<<"$unchanged" && grep -q "^not ok .* - .*$1" <<<"$output" && return
	printf '%s\n' "$output"
	return 1
}

copy
unchanged=$(tests/static/layers.sh "$tmp/tap")

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

# verdict WORDS TAP - tests/tally's last line about a test that printed that.
verdict()
{
	printf '%b' "$2" >"$tmp/some.tap"
	tests/tally -f "$tmp/some.tap" >"$tmp/log" || true
	cat "$tmp/log"
	[ "$(tail -n 1 "$tmp/log")" = "$1" ]
}

end='# exit: 0, 1 s\n'
check "tally: all is well" verdict "2 passed, 0 failed, 1 skipped" \
	"1..3\nok 1 - a\nok 2 - b # SKIP no disk\nok 3 - c\n$end"
check "tally: a whole test skipped" verdict "0 passed, 0 failed, 1 skipped" "1..0 # SKIP no disk\n$end"
check "tally: not ok" verdict "1 passed, 1 failed" "1..2\nok 1 - a\nnot ok 2 - b\n# exit: 1, 1 s\n"
check "tally: todo is no excuse" verdict "0 passed, 1 failed" "1..1\nnot ok 1 - a # TODO later\n$end"
check "tally: no plan" verdict "1 passed, 1 failed" "ok 1 - a\n$end"
check "tally: fewer than planned" verdict "1 passed, 1 failed" "1..2\nok 1 - a\n$end"
check "tally: a status" verdict "1 passed, 1 failed" "1..1\nok 1 - a\n# exit: 3, 1 s\n"
check "tally: it hung" verdict "1 passed, 1 failed" "1..1\nok 1 - a\n# exit: 124, 300 s\n"
check "tally: no end" verdict "1 passed, 1 failed" "1..1\nok 1 - a\n"
check "tally: a module left behind" verdict "1 passed, 1 failed" "1..1\nok 1 - a\n# left: nettop\n$end"
check "tally: nothing at all" verdict "0 passed, 2 failed" ""
printf '1..1\nnot ok 1 - now and then\n%b' "$end" >"$tmp/some.tap.first"
check "tally: run again, and well: it passes" verdict "1 passed, 0 failed" "1..1\nok 1 - a\n$end"
check "tally: run again, and well: it is said" grep -qx '  some: not ok 1 - now and then' "$tmp/log"
check "tally: run again, and not well" verdict "0 passed, 1 failed" "1..1\nnot ok 1 - a\n$end"
plan
