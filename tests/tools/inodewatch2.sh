#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# inodewatch2: one line for each change that took effect, on several file systems; none for what was refused.
. "$(dirname "$0")/lib.sh"

# change.py FILE [WHAT...] - changes a file in ways named by system calls, each with its value; - before a value that is to be
# refused. Prints its process id.
cat >"$tmp/change.py" <<'END'
import ctypes, os, sys

libc = ctypes.CDLL(None, use_errno=True)
name = sys.argv[1]
fd = os.open(name, os.O_RDONLY)
os.setgroups([])
parent = os.open(os.path.dirname(name), os.O_RDONLY)
base = os.path.basename(name)

def fchmodat2(mode):
    if libc.syscall(452, parent, base.encode(), mode, 0x100) < 0:
        raise OSError(ctypes.get_errno(), 'fchmodat2')

# The way back is open: the saved user is root.
def user(value):
    os.setresuid(0, 0, 0)
    os.setresgid(int(value), int(value), 0)
    os.setresuid(int(value), int(value), 0)

def write(text):
    writable = os.open(name, os.O_WRONLY)
    os.write(writable, text.encode())
    os.close(writable)

ways = {
    'user': user,
    'chmod': lambda value: os.chmod(name, int(value, 8)),
    'fchmod': lambda value: os.fchmod(fd, int(value, 8)),
    'fchmodat': lambda value: os.chmod(base, int(value, 8), dir_fd=parent),
    'fchmodat2': lambda value: fchmodat2(int(value, 8)),
    'chown': lambda value: os.chown(name, *(int(id) for id in value.split(':'))),
    'truncate': lambda value: os.truncate(name, int(value)),
    'utime': lambda value: os.utime(name, ns=tuple(int(ns) for ns in value.split(':'))),
    'touch': lambda value: os.utime(name),
    'write': write,
}
for what in sys.argv[2:]:
    way, value = what.split('=')
    refused = value.startswith('-')
    try:
        ways[way](value.lstrip('-'))
    except OSError as error:
        assert refused, (what, error)
    else:
        assert not refused, what
print(os.getpid())
END

# change FILE WHAT... - and forget what was before
change()
{
	set_to inodewatch2 reset 1
	pid=$(python3 "$tmp/change.py" "$@")
	cat $proc/inodewatch2 >"$tmp/lines"
}
# The beginning of a line about a file.
begins() # file function
{
	local device

	device=$(super_dev "$1")
	printf 'python3(%d) %s 0x%x/%s' "$pid" "$2" $((${device%:*} << 20 | ${device#*:})) "$(stat -c %i "$1")"
}
# lines_are FILE FUNCTION REST... - these lines, and no other
lines_are()
{
	diff "$tmp/lines" <(printf "$(begins "$1" "$2") %s\n" "${@:3}")
}
none()
{
	nothing cat "$tmp/lines"
}

modprobe -a loop virtio_blk ext4 xfs btrfs overlay
mkfs.ext4 -q /dev/vda
truncate -s 320M "$tmp/xfs.image"
mkfs.xfs -q "$tmp/xfs.image"
truncate -s 128M "$tmp/btrfs.image"
mkfs.btrfs -q "$tmp/btrfs.image" >/dev/null 2>&1
mkdir "$tmp"/{ext4,xfs,btrfs,tmpfs,overlayfs}
mount /dev/vda "$tmp/ext4"
mount -o loop "$tmp/xfs.image" "$tmp/xfs"
mount -o loop "$tmp/btrfs.image" "$tmp/btrfs"
mount -t tmpfs tmpfs "$tmp/tmpfs"
mkdir "$tmp"/ext4/{lower,upper,work}
mount -t overlay -o "lowerdir=$tmp/ext4/lower,upperdir=$tmp/ext4/upper,workdir=$tmp/ext4/work" overlay "$tmp/overlayfs"
chmod 755 "$tmp"

load inodewatch2 filter=comm=python3
have_fchmodat2=$(python3 -c 'import ctypes; print(int(ctypes.CDLL(None).syscall(452, -100, b"/", 0o755, 0) == 0))')
for fs in ext4 tmpfs xfs btrfs overlayfs; do
	file=$tmp/$fs/file
	function=setattr_copy
	[ $fs != overlayfs ] || function=notify_change
	set_to inodewatch2 attrs mode
	echo text >"$file"

	change "$file" chmod=777 fchmod=600 fchmodat=4711 chmod=4711 chown=65534:0 \
		user=65533 chmod=-777 fchmod=-777 fchmodat=-777 user=65534 chmod=2755 \
		user=0 chmod=6777 user=65533 write=x write=y \
		user=0 chmod=4777 user=65533 truncate=1 \
		user=0 chmod=4777 chown=1:2 chown=1:2 truncate=2 utime=1:2 touch=
	# chown takes set-user-ID away; who is not of the group cannot set its bit; a write takes both away.
	check "$fs: each mode that took effect, and nothing else" lines_are "$file" $function \
		'100777 0' '100600 0' '104711 0' '104711 0' '100711 0' '100755 65534' \
		'106777 0' '100777 65533' '104777 0' '100777 65533' '104777 0' '100777 0'
	if [ "$have_fchmodat2" = 1 ]; then
		change "$file" fchmodat2=640
		check "$fs: fchmodat2" lines_are "$file" $function '100640 0'
	fi

	set_to inodewatch2 attrs all
	change "$file" chmod=644 chown=3:4 truncate=3 utime=1000000001:2000000002 \
		user=65533 chmod=-777 chown=-0:0 truncate=-5 utime=-1:1 user=0 chmod=4755 chown=5:6
	check "$fs: attrs=all: the others, too" lines_are "$file" $function '100644 0' '100644 0 owner=3 group=4' \
		"100644 0 size=3$(sed -n '3s/.* size=3//p' "$tmp/lines")" \
		'100644 0 atime_ns=1000000001 mtime_ns=2000000002' '104755 0' '100755 0 owner=5 group=6'
	check "$fs: JSON" is "$(jq -r 'select(.tool) | "\(.dev) \(.ino) \(.mode) \(.changed) \(.owner) \(.group) \(.comm)"' $proc/inodewatch2.json | tail -n 1)" \
		"$(super_dev "$file") $(stat -c %i "$file") $((0100755)) mode owner group 5 6 python3"
done
set_to inodewatch2 attrs mode

# A file of the lower layer is copied up before it is changed.
umount "$tmp/overlayfs"
echo text >"$tmp/ext4/lower/below"
mount -t overlay -o "lowerdir=$tmp/ext4/lower,upperdir=$tmp/ext4/upper,workdir=$tmp/ext4/work" overlay "$tmp/overlayfs"
change "$tmp/overlayfs/below" chmod=711
check "overlayfs, copied up: the change has a line" grep -qxF \
	"$(begins "$tmp/overlayfs/below" notify_change) 100711 0" "$tmp/lines"
check "overlayfs, copied up: one" is "$(grep -c "^python3($pid) notify_change " "$tmp/lines")" 1

# --- which files
echo >"$tmp/ext4/other"
file=$tmp/ext4/file
for setting in "dev=0x$(stat -c %D "$file"),ino=$(stat -c %i "$file")" "dev=$(super_dev "$file"),ino=$(stat -c %i "$file")" \
	"dev=,ino=$(stat -c %i "$file")"; do
	dev=${setting%,*}
	set_to inodewatch2 dev "${dev#dev=}"
	set_to inodewatch2 ino "${setting#*ino=}"
	change "$file" chmod=700
	check "$setting: this file" lines_are "$file" setattr_copy '100700 0'
	change "$tmp/ext4/other" chmod=700
	check "$setting: not another one" none
done
set_to inodewatch2 ino ""
set_to inodewatch2 dev "$(super_dev "$file")"
change "$tmp/ext4/other" chmod=701
check "dev=: each file of the device" lines_are "$tmp/ext4/other" setattr_copy '100701 0'
change "$tmp/tmpfs/file" chmod=701
check "dev=: none of another" none
set_to inodewatch2 dev ""
for setting in ino=-1 ino=0 dev=8 dev=0x dev=8:99999999; do
	check "$setting is refused" is "$(set_to inodewatch2 "${setting%=*}" "${setting#*=}" 2>&1 | sed 's/.*: //')" 'Invalid argument'
	check "$setting: it is said what is allowed" grep -q "^refused: $setting: allowed is " $debugfs/inodewatch2/stats
done

rmmod inodewatch2

# --- what stat calls the device, found at load; the list of mounts is longer than a page
for ((i = 0; i < 80; i++)); do
	mkdir "$tmp/mount $i"
	mount --bind "$tmp/ext4" "$tmp/mount $i"
done
btrfs -q subvolume create "$tmp/btrfs/outer"
btrfs -q subvolume create "$tmp/btrfs/outer/inner"
mkdir "$tmp/a subvolume"
mount -o subvol=outer "$(findmnt -n -o SOURCE "$tmp/btrfs")" "$tmp/a subvolume"
echo text | tee "$tmp/btrfs/outer/file" "$tmp/btrfs/outer/other" >"$tmp/btrfs/outer/inner/file"
stat_is_another() # file
{
	[ "$(stat -c %d "$1")" != "$(stat -c %d "$tmp/btrfs/file")" ]
}
check "btrfs: stat calls a subvolume another device" stat_is_another "$tmp/a subvolume/file"
for file in "$tmp/btrfs/file" "$tmp/a subvolume/file" "$tmp/overlayfs/file" "$tmp/xfs/file" "$tmp/tmpfs/file"; do
	name=${file#"$tmp/"}
	function=setattr_copy
	[ "$name" != overlayfs/file ] || function=notify_change
	load inodewatch2 filter=comm=python3 dev="0x$(stat -c %D "$file")" ino="$(stat -c %i "$file")"
	change "$file" chmod=700 chmod=701 chmod=702
	check "$name: dev= and ino= as stat says" lines_are "$file" $function '100700 0' '100701 0' '100702 0'
	set_to inodewatch2 enabled 0
	set_to inodewatch2 ino "$(stat -c %i "$file")"
	set_to inodewatch2 enabled 1
	change "$file" chmod=703
	check "$name: dev= as stat says, still when it is enabled again" lines_are "$file" $function '100703 0'
	change "$tmp/ext4/file" chmod=700
	check "$name: dev= and ino= as stat says: no other file" none
	rmmod inodewatch2
done

# --- path=
ln -s "a subvolume/inner/../file" "$tmp/link"
for path in "a subvolume/file" btrfs/outer/file link "a subvolume/inner/file" overlayfs/below ext4/file; do
	file=$tmp/$path
	[ "$path" != link ] || file="$tmp/a subvolume/file"
	function=setattr_copy
	[ "$path" != overlayfs/below ] || function=notify_change
	load inodewatch2 filter=comm=python3 "path=\"$tmp/$path\""
	change "$file" chmod=700 chmod=701
	check "path=$path: this file" lines_are "$file" $function '100700 0' '100701 0'
	change "$tmp/a subvolume/other" chmod=700
	check "path=$path: no other file" none
	mv "$file" "$file.moved"
	echo >"$file"
	change "$file.moved" chmod=702
	check "path=$path: the same when it has moved" lines_are "$file.moved" $function '100702 0'
	change "$file" chmod=702
	check "path=$path: not what is there now" none
	mv "$file.moved" "$file"
	rmmod inodewatch2
done
load inodewatch2 filter=comm=python3 "path=$tmp/ext4/upper/below"
change "$tmp/overlayfs/below" chmod=711
check "path= below overlayfs: a change by way of overlayfs" lines_are "$tmp/ext4/upper/below" setattr_copy '100711 0'
check "path=: kept" is "$(cat /sys/module/inodewatch2/parameters/path)" "$tmp/ext4/upper/below"
check "path=: only at load" [ ! -e $debugfs/inodewatch2/path ]
check "path=: with dev= it is refused" is "$(set_to inodewatch2 dev 8:5 2>&1 | sed 's/.*: //')" 'Invalid argument'
check "path=: it is said why" grep -qx 'refused: path= says which file: neither dev= nor ino= with it' $debugfs/inodewatch2/stats
change "$tmp/overlayfs/below" chmod=700
check "path=: refused, and nothing has changed" lines_are "$tmp/ext4/upper/below" setattr_copy '100700 0'
rmmod inodewatch2
refused() # text parameter...
{
	dmesg -C
	! load inodewatch2 "${@:2}" 2>"$tmp/insmod" || return
	is "$(dmesg -t | grep '^inodewatch2: path=')" "inodewatch2: $1" &&
		is "$(sed 's/.*: //' "$tmp/insmod")" 'Invalid parameters' &&
		[ ! -e $proc ]
}
long=$(printf '%5000s' '' | tr ' ' /)
check "path= that is not there is refused" refused "path=/no/such/file: there is no such file: -ENOENT" path=/no/such/file
check "path= below a file is refused" refused "path=/proc/version/x: there is no such file: -ENOTDIR" path=/proc/version/x
check "path= of 5000 characters is refused" refused "path=${long:0:64}...: there is no such file: -ENAMETOOLONG" "path=$long"
check "path= and ino= are refused" refused "path= says which file: neither dev= nor ino= with it" "path=$tmp/xfs/file" ino=5

# --- many
load inodewatch2
mkdir "$tmp/ext4/many"
for ((i = 0; i < 200; i++)); do
	: >"$tmp/ext4/many/$i"
done
set_to inodewatch2 filter comm=chmod
set_to inodewatch2 reset 1
strace -f -c -U calls,name -o "$tmp/strace" chmod -R 750 "$tmp/ext4/many"
check "chmod -R: as many as strace counts" is "$(wc -l <$proc/inodewatch2)" "$(awk '$2 == "fchmodat" { print $1 }' "$tmp/strace")"
check "chmod -R: the files" is "$(grep -c ' 100750 0$' $proc/inodewatch2)" 200
check "chmod -R: the directory" is "$(grep -c ' 40750 0$' $proc/inodewatch2)" 1
set_to inodewatch2 filter comm=python3

cat >"$tmp/together.py" <<'END'
import os, sys

if os.fork():
    os.wait()
else:
    os.fork()
    name = '%s.%d' % (sys.argv[1], os.getpid())
    open(name, 'w').close()
    for i in range(5000):
        os.chmod(name, 0o700 + i % 8)
END
set_to inodewatch2 reset 1
python3 "$tmp/together.py" "$tmp/tmpfs/many" &
wait $!
all()
{
	is "$(grep -c ' setattr_copy ' $proc/inodewatch2)" 10000
}
check "10000 by two processes at once" until_true all
take inodewatch2
check "10000 by two processes at once: none is lost" is "$(sed -n 's/^lost //p' $debugfs/inodewatch2/stats)" 0
check "none is under way" is "$(sed -n 's/^in_flight //p' $debugfs/inodewatch2/stats)" 0
check "unloads" rmmod inodewatch2
umount "$tmp"/mount*
umount "$tmp/a subvolume" "$tmp"/{overlayfs,ext4,xfs,btrfs,tmpfs}
check "nothing is left" [ ! -e $proc ]
plan
