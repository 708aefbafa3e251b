#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# All C code is in the kernel's style, as its own checkpatch.pl sees it.
. "$(dirname "$0")/lib.sh"
need_packages perl git

# Not in the headers package; three files of the source package are enough.
scripts=$TAP_CACHE/checkpatch
if [ ! -e "$scripts/checkpatch.pl" ]; then
	need_packages xz-utils
	apt_update || true
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	(cd "$tmp" && quietly apt-get -q -o APT::Sandbox::User=root download linux-source-6.1)
	mkdir "$tmp/scripts"
	dpkg-deb --fsys-tarfile "$tmp"/linux-source-6.1_*.deb |
		tar -xO --wildcards './usr/src/linux-source-6.1.tar.xz' |
		tar -xJ -C "$tmp/scripts" --strip-components=2 linux-source-6.1/scripts/checkpatch.pl \
			linux-source-6.1/scripts/spelling.txt linux-source-6.1/scripts/const_structs.checkpatch
	rm -rf "$scripts"
	mv "$tmp/scripts" "$scripts"
fi

# What is no fault here:
ignore=(
	FILE_PATH_CHANGES	# there is no MAINTAINERS file
	LINUX_VERSION_CODE	# compat.h has a floor, and
	CONSTANT_COMPARISON	# KERNEL_VERSION() on its right side is taken for a variable
	# Macros that declare things or are part of an initializer can neither be
	# enclosed in anything nor have arguments with side effects.
	COMPLEX_MACRO
	MACRO_ARG_REUSE
	MULTISTATEMENT_MACRO_USE_DO_WHILE
	MACRO_WITH_FLOW_CONTROL
	QUOTED_WHITESPACE_BEFORE_NEWLINE	# the documented columns are padded
)

# A macro about a function stands right below it. That is known to checkpatch
# of EXPORT_SYMBOL() and the like, but not of ours.
no_blank_line='Please use a blank line after function/struct/union/enum declarations'
our_macros='^(TAP_[A-Z_]+|NOKPROBE_SYMBOL|module_tap_[a-z]+)\('

complaints() # file
{
	local where line message

	local types=("${ignore[@]}")

	# A program has signal handlers, the C library's types and its own libraries' names, and no ARRAY_SIZE() nor __printf().
	if [[ $1 == tests/workloads/* ]] || ! grep -q '^#include <linux/' "$1"; then
		types+=(VOLATILE ARRAY_SIZE)
	fi
	[[ $1 != userspace/* ]] || types+=(CAMELCASE PREFER_DEFINED_ATTRIBUTE_MACRO PREFER_KERNEL_TYPES)
	"$scripts/checkpatch.pl" --no-tree --no-summary --terse --strict --quiet \
		--ignore "$(IFS=,; echo "${types[*]}")" -f "$1" |
		while IFS=: read -r where line message; do
			if [[ $message == *"$no_blank_line" ]] && sed -n "${line}p" "$1" | grep -qE "$our_macros"; then
				continue
			fi
			echo "$where:$line:$message"
		done
}

for file in $(sources '*.c' '*.h'); do
	check "$file" nothing complaints "$file"
done
plan
