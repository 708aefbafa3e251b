# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # what is set here is used by who sources it
# What the scripts in tests/tools share; they run in a guest. Sourced, never run.

# shellcheck source=../static/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../static/lib.sh"

workloads=$TAP_TOP/build/workloads
proc=/proc/tap
debugfs=/sys/kernel/debug/tap
tmp=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT

# load TOOL [parameter...]
load()
{
	insmod "$TAP_KO/$1.ko" "${@:2}"
}

# set_to TOOL NAME VALUE - change a setting
set_to()
{
	echo "$3" >"$debugfs/$1/$2"
}

# is A B - succeeds if both are the same
is()
{
	[ "$1" = "$2" ] && return
	echo "$1 instead of $2"
	return 1
}

# Waits for a condition; only a hang takes so long.
until_true() # command...
{
	local i

	for ((i = 0; i < 600; i++)); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	echo "never true: $*"
	return 1
}

# take TOOL [FILE] - a snapshot of a tool, or what FILE has of it, for sum, count
# and summary: a line of name=value words, divided by tabs, for each object
take()
{
	jq -r 'to_entries | map("\(.key)=\(.value)") | @tsv' "${2-$proc/$1.json}" >"$tmp/rows"
}

# sum FIELD [name=value...] - a field added up over the rows that have all these
# values
sum()
{
	awk -F '\t' -v field="$1" '
		BEGIN {
			for (i = 2; i < ARGC; i++)
				want[i] = ARGV[i]
			ARGC = 2
		}
		{
			delete row
			for (i = 1; i <= NF; i++) {
				row[$i]
				if (index($i, field "=") == 1)
					value = substr($i, length(field) + 2)
			}
			for (i in want)
				if (!(want[i] in row))
					next
			if ($1 ~ /^tool=/)
				sum += value
		}
		END { printf "%.0f\n", sum }' "$tmp/rows" "${@:2}"
}

# count [name=value...] - how many rows have all these values
count()
{
	awk -F '\t' '
		BEGIN {
			for (i = 2; i < ARGC; i++)
				want[i] = ARGV[i]
			ARGC = 2
		}
		{
			delete row
			for (i = 1; i <= NF; i++)
				row[$i]
			for (i in want)
				if (!(want[i] in row))
					next
			if ($1 ~ /^tool=/)
				n++
		}
		END { print n + 0 }' "$tmp/rows" "$@"
}

# summary FIELD - a field of the summary
summary()
{
	sed -n "/^summary=/s/.*\t$1=\([^\t]*\).*/\1/p" "$tmp/rows"
}

# hold COMMAND... - starts a command that is stopped before it begins; its pid
# is $held
hold()
{
	# shellcheck disable=SC2016 # the inner shell's
	bash -c 'kill -STOP $$; exec "$@"' - "$@" &
	held=$!
	until_true grep -q '^State:.T' "/proc/$held/status"
}

# Lets what is held run to its end.
finish()
{
	kill -CONT "$held"
	wait "$held"
}
