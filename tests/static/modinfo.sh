#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What modinfo says of each module: description, license, version, and what
# each parameter is for.
. "$(dirname "$0")/lib.sh"
need_packages binutils kmod

release=$(tests/vm/kernel 6.1)
tests/vm/build 6.1 -s modules >&2

# The parameters that the module really has.
parameters()
{
	nm "$1" | sed -n 's/.* __param_str_//p' | sort
}

described()
{
	modinfo -F parm "$1" | sed -n 's/^\([a-z0-9_]*\):..*/\1/p' | sort
}

while read -r tool; do
	ko=build/$release/$tool.ko
	check "$tool: description" grep -q '^tap: .' <(modinfo -F description "$ko")
	check "$tool: license" [ "$(modinfo -F license "$ko")" = GPL ]
	check "$tool: version" [ "$(modinfo -F version "$ko")" = "$(cat VERSION)" ]
	check "$tool: every parameter is described" \
		nothing comm -23 <(parameters "$ko") <(described "$ko")
done <TOOLS
plan
