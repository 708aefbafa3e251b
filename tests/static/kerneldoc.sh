#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The comments of common/ are correct kernel-doc, and nothing that a header
# offers lacks one.
. "$(dirname "$0")/lib.sh"
need_packages perl

release=$(tests/vm/kernel 6.1)
kernel_doc=$(readlink -f "/lib/modules/$release/build/scripts")/kernel-doc

# Structures, unions, enums and functions of ours (compat.h also supplies what a
# kernel lacks) at the top level of a header, without kernel-doc before them.
undocumented()
{
	awk '
		/^\/\*\*/ { doc = ""; in_doc = 1 }
		in_doc && doc == "" && match($0, /[a-z_0-9]+(\(\))? - /) {
			doc = $0
			sub(/^ \* (struct |union |enum )?/, "", doc)
			sub(/(\(\))? - .*/, "", doc)
		}
		/\*\// { in_doc = 0; next }
		in_doc || /^[ \t*#}]/ || /^$/ { next }
		match($0, /^(struct|union|enum) [a-z_0-9]+ \{/) {
			split($0, word, " ")
			report(word[2])
			next
		}
		match($0, /[a-z_0-9]+\(/) && !/^(extern|typedef|_Static_assert|static_assert|__printf\([0-9, ]*\)$)/ {
			line = $0
			gsub(/__(printf|aligned|attribute__)\([^()]*\) */, "", line)
			if (match(line, /[a-z_0-9]+\(/))
				report(substr(line, RSTART, RLENGTH - 1))
		}
		function report(name)
		{
			if (name ~ /^tap_/ && name != doc)
				print FILENAME ":" FNR ": " name
			doc = ""
		}' "$@"
}

for file in common/*.[ch]; do
	check "$file" nothing "$kernel_doc" -none -Werror "$file"
done
check "everything in a header is documented" nothing undocumented common/*.h
plan
