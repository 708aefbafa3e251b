#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# inodewatch: one line for each call that reads or writes the file, and none of any other file; however it is said which
# file, and whatever becomes of it.
. "$(dirname "$0")/lib.sh"

file_io=$workloads/file_io

set_inodewatch() # name value
{
	set_to inodewatch "$1" "$2"
}

# watch FILE - by what stat tells
watch()
{
	! lsmod | grep -q '^inodewatch ' || rmmod inodewatch
	load inodewatch "dev=0x$(stat -c %D "$1")" "ino=$(stat -c %i "$1")"
}

# ran COMMAND...
ran()
{
	hold "$@" >/dev/null
	set_inodewatch filter "pid=$held"
	set_inodewatch reset 1
	finish
}

# The lines, and how often each: the function, direction, bytes, error.
ways()
{
	jq -r 'select(.tool) | "\(.function) \(.direction) \(.bytes) \(.errno)"' $proc/inodewatch.json |
		LC_ALL=C sort | uniq -c | sed 's/^ *//; s/ *$//'
}

# lines COUNT FUNCTION FILE [COMM] - all that the tool's file has, and it is this
lines()
{
	local dev

	dev=$(super_dev "$3")
	diff <(for ((i = 0; i < $1; i++)); do
		printf '%s(%d) %s 0x%x/%s\n' "${4-file_io}" "$held" "$2" $((${dev%:*} << 20 | ${dev#*:})) "$(stat -c %i "$3")"
	done) $proc/inodewatch
}

modprobe -a virtio_blk loop ext4 btrfs overlay
mkfs.ext4 -q /dev/vda
truncate -s 128M "$tmp/btrfs.image"
mkfs.btrfs -q "$tmp/btrfs.image" 2>/dev/null
mkdir "$tmp"/{ext4,btrfs,subvolume,tmpfs,overlayfs,xino}
mount /dev/vda "$tmp/ext4"
mount -o loop "$tmp/btrfs.image" "$tmp/btrfs"
btrfs -q subvolume create "$tmp/btrfs/subvolume"
mount -o subvol=subvolume "$(findmnt -n -o SOURCE "$tmp/btrfs")" "$tmp/subvolume"
mount -t tmpfs tmpfs "$tmp/tmpfs"
disk xfs xfs
mkdir "$tmp"/ext4/{lower,upper,work,upper2,work2}
mount -t overlay -o "lowerdir=$tmp/ext4/lower,upperdir=$tmp/ext4/upper,workdir=$tmp/ext4/work" overlay "$tmp/overlayfs"

# --- this file and no other, by what stat tells
for fs in tmpfs ext4 xfs btrfs subvolume overlayfs; do
	dir=$tmp/$fs
	"$file_io" "$dir/file" read=1
	watch "$dir/file"
	ran "$file_io" "$dir/file" read=20,7 write=20,7 sendfile=3,10 copy=2,8
	check "$fs: what is read" is "$(ways)" "3 do_sendfile R 10
2 vfs_copy_file_range R 8
20 vfs_read R 7"
	ran "$file_io" "$dir/other" read=20,7 write=20,7
	check "$fs: nothing of another file" nothing cat $proc/inodewatch
	watch "$dir/file.out"
	ran "$file_io" "$dir/file" read=20,7 write=20,7 sendfile=3,10 copy=2,8
	check "$fs: what is written" is "$(ways)" "3 do_sendfile W 10
2 vfs_copy_file_range W 8
20 vfs_write W 7"
	ran "$file_io" "$dir/file" write=3,7
	check "$fs: text" lines 3 vfs_write "$dir/file.out"
done

# Layers on two file systems: numbers of inodes that say which.
mount -t overlay -o "xino=on,lowerdir=$tmp/tmpfs,upperdir=$tmp/ext4/upper2,workdir=$tmp/ext4/work2" overlay "$tmp/xino"
ino=$(stat -c %i "$tmp/xino/file")
check "overlayfs, xino: the inode's number is beyond 32 bits" [ ${#ino} -gt 10 ]
watch "$tmp/xino/file"
ran cat "$tmp/xino/file"
check "overlayfs, xino: the lines" lines "$(wc -l <$proc/inodewatch)" vfs_read "$tmp/xino/file" cat
check "overlayfs, xino: a line of each read" [ "$(wc -l <$proc/inodewatch)" -ge 2 ]

# What overlayfs does to the file below.
watch "$tmp/ext4/upper/file"
ran "$file_io" "$tmp/overlayfs/file" read=5,7
check "the file below overlayfs: nothing" nothing cat $proc/inodewatch
set_inodewatch stacked 1
ran "$file_io" "$tmp/overlayfs/file" read=5,7
check "the file below overlayfs, stacked=1" lines 5 vfs_iter_read "$tmp/ext4/upper/file"
ran "$file_io" "$tmp/ext4/upper/file" read=5,7
check "the same file by itself, stacked=1" lines 5 vfs_read "$tmp/ext4/upper/file"

# --- by its path
rmmod inodewatch
dir=$tmp/ext4
ln -s "$dir/file" "$tmp/link"
load inodewatch "path=$tmp/link"
ran "$file_io" "$dir/file" read=5,7
check "path=, of a link to it" lines 5 vfs_read "$dir/file"
mv "$dir/file" "$dir/renamed"
"$file_io" "$dir/file" read=1
ran "$file_io" "$dir/renamed" read=5,7
check "path=: renamed" lines 5 vfs_read "$dir/renamed"
ran "$file_io" "$dir/file" read=5,7
check "path=: another one of that name" nothing cat $proc/inodewatch
rmmod inodewatch

# --- what is said of calls
"$file_io" "$dir/file" read=1
watch "$dir/file"
ran "$file_io" "$dir/file" eof=5,10
check "the end of the file" is "$(ways)" "5 vfs_read R 0"
ran "$file_io" "$dir/file" efault=5,10
check "a call that fails" is "$(ways)" "5 vfs_read R 0 EFAULT"
ran "$file_io" "$dir/file" ebadf=5,10
check "one for which the file is not open" nothing cat $proc/inodewatch
ran "$file_io" "$dir/file" short=5,10
check "what is short" is "$(ways)" "5 vfs_read R 1"
ran "$file_io" "$dir/file" uread=5,10 uasync=5,11 upoll=5,12 aioread=5,13
check "io_uring and io_submit: the program's lines" is "$(jq -r 'select(.tool) | "\(.pid) \(.comm) \(.path)"' $proc/inodewatch.json |
	sort | uniq -c | sed 's/^ *//')" "5 $held file_io aio
15 $held file_io uring"

# --- a descriptor that changes its meaning: a thread sleeps in read() of the pipe meanwhile
mkfifo "$dir/fifo"
cat >"$tmp/dup.py" <<'END'
import os, sys, threading, time
data = os.open(sys.argv[1], os.O_RDONLY)
r = os.open(sys.argv[2], os.O_RDONLY | os.O_NONBLOCK)
w = os.open(sys.argv[2], os.O_WRONLY)
try:
    os.read(r, 10)
except BlockingIOError:
    pass
os.set_blocking(r, True)
thread = threading.Thread(target=lambda: os.read(r, 1000))
thread.start()
while not open('/proc/self/task/%d/syscall' % thread.native_id).read().startswith('0 '):
    time.sleep(0.01)
os.dup2(data, r)
os.write(w, bytes(1000))
thread.join()
END
ran python3 "$tmp/dup.py" "$dir/file" "$dir/fifo"
check "it becomes the file's while a read of another sleeps" nothing cat $proc/inodewatch
watch "$dir/fifo"
ran python3 "$tmp/dup.py" "$dir/file" "$dir/fifo"
check "it was a pipe's that has a name: one that found nothing, one of each" is "$(ways)" "1 vfs_read R 0 EAGAIN
1 vfs_read R 1000
1 vfs_write W 1000"

# --- the kernel itself
cat >"$tmp/module.pl" <<'END'
open my $file, "<", $ARGV[0] or die;
syscall 313, fileno $file, my $none = "", 0;
END
cp "$TAP_KO/inodewatch.ko" "$dir/module.ko"
watch "$dir/module.ko"
ran perl "$tmp/module.pl" "$dir/module.ko"
take inodewatch
check "a module is read" is "$(sum bytes function=__kernel_read direction=R path=kernel)" "$(stat -c %s "$dir/module.ko")"
: >"$dir/acct"
watch "$dir/acct"
perl -e 'syscall 163, $ARGV[0]; fork or exit; wait;' "$dir/acct"
perl -e 'syscall 163, 0'
take inodewatch
check "accounting is written, a record a line" is "$(count function=__kernel_write bytes=64)" \
	"$(($(stat -c %s "$dir/acct") / 64))"
check "accounting is written: there are some" [ "$(count comm=perl)" -ge 2 ]

# --- real programs
echo text >"$dir/crontab"
watch "$dir/crontab"
ran cat "$dir/crontab"
check "cat of a small file: two lines" lines 2 vfs_read "$dir/crontab" cat
# shellcheck disable=SC2016 # the inner shell's
ran bash -c 'exec >>"$1"; echo 1; echo 2' - "$dir/crontab"
check "a shell that appends" lines 2 vfs_write "$dir/crontab" bash
for setting in "$(printf '0x%x:0x%x' "$(stat -c %Hd "$dir")" "$(stat -c %Ld "$dir")")" "$(super_dev "$dir")" ""; do
	set_inodewatch dev "$setting"
	ran cat "$dir/crontab"
	check "dev=$setting" lines 2 vfs_read "$dir/crontab" cat
done
check "nothing was lost" is "$(sed -n 's/^lost //p' $debugfs/inodewatch/stats)" 0
umount "$tmp"/{overlayfs,xino}
check "nothing pins a file system" umount "$tmp"/{ext4,xfs,subvolume,btrfs,tmpfs}
rmmod inodewatch
check "nothing is left" [ ! -e $proc ]
plan
