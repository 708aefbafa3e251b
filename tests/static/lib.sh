# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the scripts in tests/static share. Sourced, never run.
set -euo pipefail

# shellcheck source=../vm/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
cd "$TAP_TOP"

tap_count=0

# check TEXT COMMAND... - one line of TAP: ok if the command succeeds. What it
# prints is shown when it does not.
check()
{
	local text=$1 output
	shift
	tap_count=$((tap_count + 1))
	if output=$("$@" 2>&1); then
		echo "ok $tap_count - $text"
	else
		echo "not ok $tap_count - $text"
		# shellcheck disable=SC2001 # one prefix per line
		sed 's/^/# /' <<<"$output"
	fi
}

# The end of a script: the plan.
plan()
{
	echo "1..$tap_count"
}

# nothing COMMAND... - succeeds if the command prints nothing, whatever its
# status: for programs that list what is wrong.
nothing()
{
	local output
	output=$("$@" 2>&1) || true
	[ -z "$output" ] || { printf '%s\n' "$output"; return 1; }
}

# Source files that git knows or would add, by pattern: what is built and what
# is ignored is nobody's source.
sources()
{
	git ls-files --cached --others --exclude-standard -- "$@" |
		while read -r file; do [ ! -e "$file" ] || echo "$file"; done
}
