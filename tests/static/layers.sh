#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: layers.sh [CHECKOUT]
#
# What keeps tap simple: no circle in common/, no module that needs another, no
# kernel version outside common/compat.h, tools that are short and leave the
# plumbing to common/.
. "$(dirname "$0")/lib.sh"
need_packages binutils kmod

release=$(tests/vm/kernel 6.1)
cd "${1:-.}"
make -s modules KVER="$release" >&2
out=build/$release

# "user provider" for each symbol that one object of common/ takes from another.
needs()
{
	nm -A "$out"/obj/common/*.o | sed 's/^[^:]*\///; s/\.o:/ /' | awk '
		$1 == "tap" { next }			# all of them, linked
		$2 == "U" { user[$3] = user[$3] " " $1; next }
		$3 ~ /[A-TV-Z]/ { provider[$4] = $1 }
		END {
			for (symbol in user) {
				if (!(symbol in provider))
					continue	# the kernel has it
				n = split(user[symbol], u, " ")
				for (i = 1; i <= n; i++)
					print u[i], provider[symbol]
			}
		}' | sort -u
}

no_circle()
{
	needs | tsort >/dev/null
}

depends()
{
	local tool
	while read -r tool; do
		modinfo -F depends "$out/$tool.ko" | sed -n "s/^./$tool needs &/p"
	done <TOOLS
}

# The files of modules/ that are tools, and not what a tool has besides.
tools()
{
	grep -l '^module_tap_' modules/*.c
}

# Longest allowed size of each file, of those that are longer. A tool that has more files holds the parameters and hooks
# of all of them.
too_long()
{
	local file max
	for file in modules/*.c common/*.[ch]; do
		if [[ $file == common/* ]]; then
			max=600
		elif ! grep -q '^module_tap_' "$file"; then
			max=400
		elif grep -q '^module_tap_stream' "$file" || ls "${file%.c}"_*.c >/dev/null 2>&1; then
			max=160
		else
			max=120
		fi
		[ "$(wc -l <"$file")" -le "$max" ] || echo "$file has more than $max lines"
	done
}

others()
{
	printf '%s\n' modules/*.c | grep -vxF "$(tools)" | grep -vE "^modules/($(paste -sd '|' TOOLS))_"
}

# The questions that scripts/compat-probe answers, and those that are asked.
answered()
{
	scripts/compat-probe "/lib/modules/$release/build" | grep -o 'TAP_HAVE_[A-Z0-9_]*' | sort
}

asked()
{
	grep -rhoE 'TAP_HAVE_[A-Z0-9_]+' common modules | sort -u
}

versions='LINUX_VERSION_CODE|KERNEL_VERSION|RHEL_RELEASE|UTS_RELEASE|utsrelease\.h|linux/version\.h|utsname\(\)'
plumbing='register_|tracepoint_probe|proc_create|proc_mkdir|debugfs_create'

check "common/: it is seen which object needs which" [ -n "$(needs)" ]
check "common/: no two objects need each other in a circle" no_circle
check "no module depends on another" nothing depends
check "kernel versions are known in common/compat.h alone" \
	nothing grep -rnE "$versions" modules common --include='*.[ch]' --exclude=compat.h
check "what a kernel has is asked in common/compat.h alone" \
	nothing grep -rnE 'TAP_HAVE_' modules common --include='*.[ch]' --exclude=compat.h
check "what is asked is answered by scripts/compat-probe, and nothing else" \
	nothing diff <(asked) <(answered)
check "tools leave the plumbing to common/" nothing grep -nE "$plumbing" modules/*.c
check "no file is too long" nothing too_long
check "TOOLS is in alphabetical order" sort -c TOOLS
check "each tool in TOOLS is in modules/, and the other way round" \
	nothing diff <(sort TOOLS) <(tools | sed 's/.*\/\(.*\)\.c/\1/' | sort)
check "each other file of modules/ has the name of a tool before its own" nothing others
check "Kbuild lists each file of common/" \
	nothing diff <(sed -n 's/^\t\(common\/.*\)\.o \\$/\1.c/p' Kbuild) <(ls common/*.c)
plan
