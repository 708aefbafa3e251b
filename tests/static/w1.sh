#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The modules build without any warning at W=1, and sparse has none either. Two
# kernels do not get in each other's way.
. "$(dirname "$0")/lib.sh"
need_packages kmod sparse

# A folder of its own: these objects are made with other flags.
folder=build/static

# What kbuild says when all is well. And Debian's sparse is older than kernel
# 7.3: the kernel refuses it (by a script that the headers lack, even); and the
# assertion in 7.3's MODULE_INFO() that a string has the length of its array is
# no constant expression to it.
usual='^(make(\[[0-9]+\])?: (Entering|Leaving) |make -C |  [A-Z]+ |Skipping BTF generation)'
usual+='|checker-valid\.sh: No such file|sparse is not available or not up to date'
usual+='|^modules/.*:1: error: bad constant expression$'

# Build all, with more arguments for make. Fails if there was an unusual line,
# or if STEP (as in "  CC [M]  common/table.o") was not taken for each module.
build() # kernel step make-arguments...
{
	local output status=0

	rm -rf "${folder:?}"/*
	output=$(tests/vm/build "$1" modules "-j$(nproc)" "BUILD=$folder" "${@:3}" 2>&1) || status=1
	! grep -vE "$usual" <<<"$output" || status=1
	while read -r tool; do
		grep -q "^  $2 .*modules/$tool\.[co]$" <<<"$output" || { echo "no $2 of $tool"; status=1; }
	done <TOOLS
	return "$status"
}

built() # release
{
	local tool

	while read -r tool; do
		modinfo -F vermagic "$folder/$1/$tool.ko" | grep "^$1 " || return 1
	done <TOOLS
}

for kernel in 6.1 7.3; do
	tests/vm/kernel $kernel >/dev/null
	check "$kernel: W=1" build $kernel CC W=1
	# C=2, as a kernel that does not know this sparse lets itself be told. The
	# word that this sparse does not know means the same but for qualifiers.
	check "$kernel: C=2" build $kernel CHECK KBUILD_CHECKSRC=2 CF=-D__typeof_unqual__=__typeof__
done

rm -rf "${folder:?}"/*
tests/vm/build 6.1 -s modules "BUILD=$folder" >&2 &
tests/vm/build 7.3 -s modules "BUILD=$folder" >&2 || true
wait $! || true
for kernel in 6.1 7.3; do
	check "$kernel: built at the same time as another" built "$(tests/vm/kernel $kernel)"
done
plan
