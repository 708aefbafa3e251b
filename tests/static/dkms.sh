#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The real dkms takes the modules, builds them for a kernel that does not run,
# installs them and removes them without a trace. All in folders of its own.
. "$(dirname "$0")/lib.sh"
need_packages dkms kmod

release=$(tests/vm/kernel 6.1)
version=$(cat VERSION)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp"/{tree,source,install}
mkdir -p "$tmp/install/$release"

run()
{
	dkms "$@" --dkmstree "$tmp/tree" --sourcetree "$tmp/source" \
		--installtree "$tmp/install" -k "$release"
}

installed()
{
	find "$tmp/install" -name '*.ko*' -printf '%f\n' | sed 's/\.ko.*//' | sort
}

check "make dkms-source hands over the sources" \
	make -s dkms-source DKMS_SOURCE="$tmp/source/tap-$version"
check "add" run add "tap/$version"
check "build for $release" run build "tap/$version"
check "install" run install "tap/$version"
check "every tool is installed" nothing diff <(sort TOOLS) <(installed)
check "remove" run remove "tap/$version"
check "nothing is left" nothing find "$tmp/install" -name '*.ko*'

# A kernel without what every tool stands on is refused, not tried.
mkdir "$tmp/headers"
sed 's/^CONFIG_KPROBES=y/# CONFIG_KPROBES is not set/' \
	"/lib/modules/$release/build/.config" >"$tmp/headers/.config"
refused()
{
	! run build "tap/$version" --kernelsourcedir "$tmp/headers" >"$tmp/log" 2>&1 &&
		grep BUILD_EXCLUSIVE "$tmp/log"
}
check "a kernel without kprobes is refused" refused
plan
