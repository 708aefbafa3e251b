# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # what is set here is used by who sources it
# Shell functions and variables of the scripts in tests/vm. Sourced, never run.

TAP_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
# Kernels and build roots: outside the checkout, so that clones share them and
# `make clean` keeps them.
TAP_CACHE=${TAP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tap}
mkdir -p "$TAP_CACHE"
TAP_CACHE=$(cd "$TAP_CACHE" && pwd -P)

say()
{
	echo "${0##*/}: $*" >&2
}

die()
{
	say "$@"
	exit 1
}

# Where the kernel named $1 is: the files release, initramfs, <release>/image
# and <release>/lib/modules/<release>/.
kernel_dir()
{
	echo "$TAP_CACHE/kernels/$1"
}

# Run a noisy command; its output is shown only if it fails.
quietly()
{
	local log status=0

	log=$(mktemp)
	"$@" >"$log" 2>&1 </dev/null || status=$?
	if [ "$status" != 0 ]; then
		tail -n 30 "$log" >&2
		say "failed with status $status: $*"
	fi
	rm -f "$log"
	return "$status"
}

# True if the file $1 is younger than a day: how often the network is asked for
# news.
fresh()
{
	[ -n "$(find "$1" -mtime -1 2>/dev/null)" ]
}

# Take the lock $1 until this shell ends.
lock()
{
	exec {lock_fd}>"$TAP_CACHE/$1.lock"
	flock -n "$lock_fd" || { say "waiting for another one at $1"; flock "$lock_fd"; }
}

# Where the source of Debian 12's kernel is once debug or kcsan was built.
linux_source=$TAP_CACHE/src/linux-source-6.1

# Where modules for the kernels of Debian 13 are built: their headers and tools
# do not run on Debian 12.
trixie=$TAP_CACHE/roots/trixie

# Run a command in the build root $trixie; the checkout and the cache are found
# there under the same names as here. What it mounts is seen by that command
# only and goes with it.
in_trixie()
{
	# shellcheck disable=SC2016 # that shell's variables
	unshare --mount bash -e -c '
		root=$1
		for dir in /dev /proc "$2" "$3"; do
			mkdir -p "$root$dir"
			mount --bind "$dir" "$root$dir"
		done
		shift 3
		PATH=/usr/sbin:/usr/bin exec chroot "$root" "$@"' \
		bash "$trixie" "$TAP_TOP" "$TAP_CACHE" "$@"
}

# Bring the machine's package lists up to date, at most once a day.
apt_update()
{
	local stamp=$TAP_CACHE/apt-updated

	if fresh "$stamp" && compgen -G '/var/lib/apt/lists/*_InRelease' >/dev/null; then
		return 0
	fi
	[ "$(id -u)" = 0 ] || return 1
	quietly flock "$TAP_CACHE/apt.lock" apt-get update -q && touch "$stamp"
}

# Install those of the packages named that the machine lacks.
need_packages()
{
	local missing=() p

	for p; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing+=("$p")
	done
	[ "${#missing[@]}" = 0 ] && return
	[ "$(id -u)" = 0 ] || die "as root, please: apt-get install ${missing[*]}"
	say "installing ${missing[*]}"
	apt_update || say "cannot refresh the package lists, going on with those at hand"
	DEBIAN_FRONTEND=noninteractive quietly flock "$TAP_CACHE/apt.lock" \
		apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 "${missing[@]}" ||
		die "cannot install ${missing[*]}"
}

# The address from which this machine gets the archive labelled $1 (Debian,
# Debian-Security).
mirror()
{
	local uri

	# shellcheck disable=SC2016 # a variable of apt's
	uri=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' "Label: $1" | awk 'NR == 1')
	[ -n "$uri" ] || die "apt on this machine knows no archive labelled $1"
	echo "$uri"
}

# The name of the kernel $1, which may be a release that is in the cache.
kernel_name()
{
	local file

	for file in "$TAP_CACHE"/kernels/*/release; do
		if [ "$(cat "$file" 2>/dev/null)" = "$1" ]; then
			basename "$(dirname "$file")"
			return
		fi
	done
	echo "$1"
}
