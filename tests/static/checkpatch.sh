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

# Not for code outside the kernel tree:
ignore=(
	FILE_PATH_CHANGES	# there is no MAINTAINERS file
	LINUX_VERSION_CODE	# compat.h has a floor, and
	CONSTANT_COMPARISON	# KERNEL_VERSION() on its right side is taken for a variable
)

for file in $(sources '*.c' '*.h'); do
	check "$file" "$scripts/checkpatch.pl" --no-tree --no-summary --terse --strict --quiet \
		--ignore "$(IFS=,; echo "${ignore[*]}")" -f "$file"
done
plan
