#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The modules build without any warning at W=1, and sparse has none either.
. "$(dirname "$0")/lib.sh"

# A folder of its own: these objects were made with other flags.
folder=build/static

# Prints what the compiler, modpost, objtool and sparse complain of.
build() # kernel make-argument
{
	local output status=0

	rm -rf "${folder:?}"/*
	output=$(tests/vm/build "$1" modules "BUILD=$folder" "$2" 2>&1) || status=$?
	grep -vE '^(make(\[[0-9]+\])?: |make -C |  [A-Z]+ |Skipping BTF generation)' <<<"$output" && return 1
	return "$status"
}

for kernel in 6.1 7.3; do
	tests/vm/kernel $kernel >/dev/null
	check "$kernel: W=1" build $kernel W=1
	check "$kernel: C=2" build $kernel C=2
done
plan
