#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# traceio2: one line for each call that reads or writes a file of the device, whichever way, on several file systems; and
# as many as strace sees for real programs.
. "$(dirname "$0")/lib.sh"

file_io=$workloads/file_io

set_traceio2() # name value
{
	set_to traceio2 "$1" "$2"
}

# ran COMMAND... - what it did to the device
ran()
{
	hold "$@" >/dev/null
	set_traceio2 filter "pid=$held"
	set_traceio2 reset 1
	finish
}

# The lines, and how often each: the way, function, direction, bytes, error.
ways()
{
	jq -r 'select(.tool) | "\(.path) \(.function) \(.direction) \(.bytes) \(.errno)"' $proc/traceio2.json |
		LC_ALL=C sort | uniq -c | sed 's/^ *//; s/ *$//'
}

# every_way TEXT [FILE_IO]
every_way()
{
	ran "${2-$file_io}" "$dir/file" read=100 pread=7,10 write=9,5 pwrite=8,10 readv=3,100 preadv=2,90 preadv2=2,700 writev=4,8 \
		pwritev=5,9 pwritev2=9,11 sendfile=5,10000 sendpipe=3,100 splicein=5,10000 spliceout=3,100 splice=8,10 copy=7,65536 \
		short=5,100 fault=2,8000 eof=6,100 efault=5,100 ebadf=5,100 eagain=5,100 zero=3,10 pipe=7,100 tee=5,100
	ways >"$tmp/ways"
	check "$1: a line for each call and file" diff "$tmp/ways" - <<-END
		7 copy vfs_copy_file_range R 65536
		7 copy vfs_copy_file_range W 65536
		6 rw vfs_read R 0
		5 rw vfs_read R 0 EFAULT
		105 rw vfs_read R 1
		7 rw vfs_read R 10
		2 rw vfs_read R 4096
		5 rw vfs_write W 0 EFAULT
		8 rw vfs_write W 10
		9 rw vfs_write W 5
		3 sendfile do_sendfile R 100
		5 sendfile do_sendfile R 10000
		5 sendfile do_sendfile W 10000
		5 splice do_splice R 10000
		3 splice do_splice W 100
		3 vec vfs_readv R 100
		2 vec vfs_readv R 700
		2 vec vfs_readv R 90
		9 vec vfs_writev W 11
		4 vec vfs_writev W 8
		5 vec vfs_writev W 9
	END
	ran "${2-$file_io}" "$dir/file" uread=5,1000 ureadv=4,70 uwrite=6,11 uwritev=4,70 ufixed=3,4096 uasync=100,4096 upoll=10,7 \
		usplice=5,10 aioread=5,1000 aioreadv=4,70 aiowrite=3,4096 aiowritev=2,10
	ways >"$tmp/ways"
	check "$1: a line for each request" diff "$tmp/ways" - <<-END
		5 aio aio_read R 1000
		4 aio aio_read R 70
		2 aio aio_write W 10
		3 aio aio_write W 4096
		5 uring io_read R 1000
		103 uring io_read R 4096
		10 uring io_read R 7
		4 uring io_read R 70
		5 uring io_splice W 10
		6 uring io_write W 11
		4 uring io_write W 70
	END
}

modprobe -a loop virtio_blk ext4 xfs btrfs overlay
mkfs.ext4 -q /dev/vda
truncate -s 320M "$tmp/xfs.image"
mkfs.xfs -q "$tmp/xfs.image"
truncate -s 128M "$tmp/btrfs.image"
mkfs.btrfs -q "$tmp/btrfs.image" 2>/dev/null
mkdir "$tmp"/{ext4,xfs,btrfs,tmpfs,overlayfs}
mount /dev/vda "$tmp/ext4"
mount -o loop "$tmp/xfs.image" "$tmp/xfs"
mount -o loop "$tmp/btrfs.image" "$tmp/btrfs"
mount -t tmpfs tmpfs "$tmp/tmpfs"
mkdir "$tmp"/ext4/{lower,upper,work}
mount -t overlay -o "lowerdir=$tmp/ext4/lower,upperdir=$tmp/ext4/upper,workdir=$tmp/ext4/work" overlay "$tmp/overlayfs"

for fs in tmpfs ext4 xfs btrfs overlayfs; do
	dir=$tmp/$fs
	load traceio2 "dev=0x$(stat -c %D "$dir")"
	every_way "$fs, dev= as stat tells it"
	[ $fs != btrfs ] || check "btrfs: stat tells another device" [ "$(stat -c %Hd:%Ld "$dir")" != "$(super_dev "$dir")" ]
	rmmod traceio2
done
dir=$tmp/ext4
load traceio2 "dev=$(super_dev "$dir")"
every_way "32-bit" "$workloads/file_io32"
ran "$file_io" "$dir/file" aiodirect=20,4096
check "io_submit: completed by the disk's interrupt" is "$(ways)" "20 aio aio_read R 4096"
for fs in tmpfs btrfs overlayfs; do
	set_traceio2 dev "$(super_dev "$tmp/$fs")"
	ran "$file_io" "$tmp/$fs/file" read=3,10
	check "$fs, dev= is the superblock's" is "$(ways)" "3 rw vfs_read R 10"
	ran "$file_io" "$tmp/ext4/file" read=3,10
	check "$fs: nothing of another device" nothing ways
done
set_traceio2 dev "$(super_dev "$dir")"

# --- real programs: as many lines as strace sees calls on files of the device
calls=read,write,pread64,pwrite64,readv,writev,preadv,pwritev,preadv2,pwritev2,sendfile,splice,copy_file_range
# Each descriptor comes with its path; one that is none of a call's data comes later.
traced() # comm command...
{
	set_traceio2 filter "comm=$1"
	set_traceio2 reset 1
	strace -f -qq -y -s 0 -e "trace=$calls" -e signal=none -o "$tmp/strace" "${@:2}" >/dev/null
	check "${*:2:1} $3: as many lines as strace sees" is "$(wc -l <$proc/traceio2)" "$(grep -o "[0-9]<$dir/[^>]*>" "$tmp/strace" | wc -l)"
	check "${*:2:1} $3: there are some" [ "$(wc -l <$proc/traceio2)" -ge "$least" ]
}
head -c 3000000 /dev/urandom >"$dir/data"
echo text >"$dir/small"
least=2
traced cat cat "$dir/small"
line=$(printf 'cat(PID) vfs_read 0x%x' $(($(stat -c %Hd "$dir") << 20 | $(stat -c %Ld "$dir"))))
check "cat of a small file: two lines" is "$(sed 's/([0-9]*)/(PID)/' $proc/traceio2)" "$line"$'\n'"$line"
traced cp cp "$dir/data" "$dir/copy"
check "cp: reads and writes by copy_file_range" is "$(ways | grep -c vfs_copy_file_range)" 4
least=400
traced dd dd "if=$dir/data" "of=$dir/copy" bs=10000 status=none
check "dd: a read and a write for each block, and the end" is "$(ways)" \
	"1 rw vfs_read R 0
300 rw vfs_read R 10000
300 rw vfs_write W 10000"
least=100
traced tar tar -cf "$dir/tar" -C "$dir" data
traced sqlite3 sqlite3 "$dir/db" "PRAGMA journal_mode=WAL; CREATE TABLE t (a INTEGER PRIMARY KEY, b);
	WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO t SELECT i, randomblob(600) FROM n;
	PRAGMA cache_size=10; UPDATE t SET b = randomblob(600); SELECT count(*), sum(length(b)) FROM t;"

# --- two processes at once
set_traceio2 filter comm=file_io
set_traceio2 reset 1
"$file_io" "$dir/a" read=10000 &
first=$!
"$file_io" "$dir/b" read=10000 &
wait $! $first
check "20000 calls by two processes" is "$(grep -cxE 'file_io\([0-9]+\) vfs_read 0x[0-9a-f]+' $proc/traceio2)" 20000

# --- what is said
cp "$file_io" "$tmp/some name"
ran "$tmp/some name" "$dir/file" write=1,10
check "text: names are escaped" grep -qF "some\\040name($held) vfs_write 0x" $proc/traceio2
set_traceio2 escape 0
check "text: names as they are" grep -qF "some name($held) vfs_write 0x" $proc/traceio2
check "JSON" is "$(jq -r 'select(.tool) | "\(.pid) \(.comm) \(.dev) \(.ino)"' $proc/traceio2.json)" \
	"$held some name $(super_dev "$dir") $(stat -c %i "$dir/file.out")"
set_traceio2 filter ""
check "nothing was lost" is "$(sed -n 's/^lost //p' $debugfs/traceio2/stats)" 0
umount "$tmp/overlayfs"
check "nothing pins a file system" umount "$tmp"/{ext4,xfs,btrfs,tmpfs}
rmmod traceio2
check "nothing is left" [ ! -e $proc ]
plan
