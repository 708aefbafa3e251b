#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# disktop: exact bytes of each way of reading and writing a file on a disk, and of nothing else; devices, the title, and the
# file that was meant when descriptors change their meaning.
. "$(dirname "$0")/lib.sh"

file_io=$workloads/file_io

set_disktop() # name value
{
	set_to disktop "$1" "$2"
}

# ran COMMAND... - what disktop has of it; the program itself is not on a disk
ran()
{
	hold "$@"
	set_disktop filter "pid=$held"
	set_disktop reset 1
	finish
	take disktop
}

# transfers TEXT READ WRITTEN OPERATION... - so many bytes of files on the disk
transfers()
{
	ran "$file_io" "$dir/file" "${@:4}"
	check "$1" is "$(sum bytes direction=R "device=$device") $(sum bytes direction=W "device=$device") $(sum bytes)" \
		"$2 $3 $(($2 + $3))"
}

for i in 0 1; do
	disk disk$i
	devices[i]=$(findmnt -no SOURCE "$tmp/disk$i")
	devices[i]=${devices[i]#/dev/}
done
ulimit -n 8192
load disktop interval_ms=0 limit=0

device=${devices[0]}
dir=$tmp/disk0
transfers "read, pread, not /dev/zero" 1070 0 read=1000 pread=7,10 zero=3,4096
transfers "write, pwrite" 0 1070 write=1000 pwrite=7,10
transfers "readv, preadv, preadv2" 1799 0 readv=3,100 preadv=2,700 preadv2=9,11
transfers "writev, pwritev, pwritev2" 0 1799 writev=3,100 pwritev=2,700 pwritev2=9,11
transfers "sendfile: between files, to a pipe" 50300 50000 sendfile=5,10000 sendpipe=3,100
transfers "splice: from a file, to a file, between pipes" 50000 300 splicein=5,10000 spliceout=3,100 splice=8,10
transfers "copy_file_range" 700000 700000 copy=7,100000
transfers "io_uring: reads" $((5000 + 280 + 3 * 4096 + 1000 * 4096 + 700)) 0 \
	uread=5,1000 ureadv=4,70 ufixed=3,4096 uasync=1000,4096 upoll=100,7
transfers "io_uring: writes, a pipe to a file" 0 $((5000 + 280 + 50)) uwrite=5,1000 uwritev=4,70 usplice=5,10
transfers "io_submit" $((5000 + 280)) $((3 * 4096 + 20)) aioread=5,1000 aioreadv=4,70 aiowrite=3,4096 aiowritev=2,10
transfers "io_submit: completed by the disk's interrupt" $((20 * 4096)) 0 aiodirect=20,4096
transfers "what is short: what was transferred" $((5 + 2 * 4096)) 0 short=5,100 fault=2,8000
transfers "nothing of what fails, nor at the end" 0 0 eof=5,100 efault=5,100 ebadf=5,100 eagain=5,100
transfers "no pipes and sockets" 0 0 pipe=7,100 socket=3,11 tee=5,100 sleepers=2000,7
file_io=$workloads/file_io32
transfers "32-bit" $((1000 + 70 + 500 + 800)) $((110 + 500 + 700 + 800)) \
	read=1000 pread=7,10 writev=11,10 sendfile=5,100 copy=8,100 spliceout=7,100
file_io=$workloads/file_io

# --- where a file is
dir=$tmp
transfers "tmpfs is on no disk" 0 0 read=10,100 write=10,100
device=${devices[1]}
dir=$tmp/disk1
transfers "another disk" 1000 1000 read=10,100 write=10,100
# What other file systems call their disk; a file of overlayfs itself is on none.
modprobe virtio_blk
mkfs.ext4 -q /dev/vda
mkdir "$tmp/virtio" "$tmp/overlay" "$tmp/disk0"/{lower,upper,work}
mount /dev/vda "$tmp/virtio"
disk xfs xfs
disk btrfs btrfs
mount -t overlay overlay -o "lowerdir=$tmp/disk0/lower,upperdir=$tmp/disk0/upper,workdir=$tmp/disk0/work" "$tmp/overlay"
for name in virtio xfs btrfs; do
	dir=$tmp/$name
	device=$(findmnt -no SOURCE "$dir")
	device=${device#/dev/}
	transfers "$name" $((1070 + 1799 + 50000 + 57344 + 5000 + 4096 + 7000)) $((1070 + 1799 + 50000 + 57344 + 280 + 8192)) \
		read=1000 pread=7,10 readv=3,100 preadv=2,700 preadv2=9,11 write=1000 pwrite=7,10 writev=3,100 pwritev=2,700 \
		pwritev2=9,11 sendfile=5,10000 copy=7,8192 uread=5,1000 uwritev=4,70 uasync=1,4096 aioread=7,1000 aiowrite=2,4096
	umount "$dir"
done
dir=$tmp/overlay
transfers "overlayfs" 0 0 read=10,100 write=10,100 copy=7,10000 uread=5,1000
umount "$dir"
head -c 3000000 /dev/urandom >"$tmp/disk0/data"
set_disktop filter comm=cp
set_disktop reset 1
cp "$tmp/disk0/data" "$tmp/disk1/data"
take disktop
check "cp from disk to disk: read from one" is "$(sum bytes direction=R "device=${devices[0]}")" 3000000
check "cp from disk to disk: written to the other" is "$(sum bytes direction=W "device=${devices[1]}")" 3000000
mkfifo "$tmp/disk0/fifo"
# shellcheck disable=SC2016 # the inner shell's
ran bash -c 'exec 3<>"$1"; echo >&3; read -r <&3' - "$tmp/disk0/fifo"
check "a pipe that has its name on a disk" is "$(sum bytes)" 0

# A thread sleeps in read() of a pipe; its descriptor is made that of a file meanwhile, and the other way round.
cat >"$tmp/dup.py" <<'END'
import os, sys, threading, time
data = os.open(sys.argv[1], os.O_RDONLY)
r, w = os.pipe()
thread = threading.Thread(target=lambda: os.read(r, 1000))
thread.start()
while not open('/proc/self/task/%d/syscall' % thread.native_id).read().startswith('0 '):
    time.sleep(0.01)
os.dup2(data, r)
os.write(w, bytes(1000))
thread.join()
END
ran python3 "$tmp/dup.py" "$tmp/disk0/data"
check "a descriptor that is another file's when read returns" is "$(sum bytes)" 0

# --- text
set_disktop interval_ms 3600000
cp "$file_io" "$tmp/some name"
hold "$tmp/some name" "$tmp/disk0/file" read=10,1024 write=5,1024
set_disktop filter "pid=$held"
set_disktop reset 1
finish
set_disktop flip 1
before=$(date -u +%s)
cat $proc/disktop >"$tmp/text"
ms=$(sed -n 's/^# window_ms=\([0-9]*\) .*/\1/p' "$tmp/text")
check "text: an empty line before and after the title" is "$(sed -n '1p;3p' "$tmp/text" | tr '\n' .)" ..
title=$(sed -n 2p "$tmp/text")
check "text: the title" is "${title:24}" \
	"$(printf ' , %-8s%4dKb/sec, %-7s%6dKb, %-7s%6dKb' Average: $((15 * 1000 / ms)) Read: 10 Write: 5)"
at=$(date -u -d "${title:0:24} UTC" +%s)
check "text: the time is the end of the window" [ "$at" -le "$before" -a "$at" -ge $((before - 60)) ]
check "text: the time is written as ctime() does" is "$(LC_ALL=C date -u -d "@$at" '+%a %b %e %H:%M:%S %Y')" "${title:0:24}"
check "text: header" is "$(sed -n 4p "$tmp/text")" \
	"$(printf '%8s %8s %8s %25s %8s %4s %12s' UID PID PPID CMD DEVICE T BYTES)"
for row in R=10240 W=5120; do
	check "text: $row" grep -qxF "$(printf '%8d %8d %8d %25s %8s %4s %12d' 0 "$held" $$ 'some\040name' "${devices[0]}" \
		"${row%=*}" "${row#*=}")" "$tmp/text"
done
set_disktop limit 1
sed -n 2p $proc/disktop >"$tmp/short"
check "text: the title has all rows, also those not shown" is "$(cut -c 25- "$tmp/short")" "${title:24}"
set_disktop flip 1
check "text: title and header of an idle window" is "$(sed -n '2s/.*Average/Average/p;4p' $proc/disktop)" \
	"Average:   0Kb/sec, Read:       0Kb, Write:      0Kb
$(sed -n 4p "$tmp/text")"
set_disktop limit 0
set_disktop interval_ms 0

# --- real programs
set_disktop filter comm=fio
set_disktop reset 1
truncate -s 4M "$tmp/disk0/fio"
fio --name=job --ioengine=io_uring "--filename=$tmp/disk0/fio" --size=4M --io_size=2M --rw=randrw --bs=4k --iodepth=8 \
	--randseed=1 --output-format=json "--output=$tmp/fio.json" >/dev/null
take disktop
for way in read=R write=W; do
	check "fio: ${way%=*}, as it says" is "$(sum bytes "direction=${way#*=}")" "$(jq ".jobs[0].${way%=*}.io_bytes" "$tmp/fio.json")"
done
# What strace says was returned for files on the disk.
calls=read,write,pread64,pwrite64,readv,writev,preadv,pwritev,preadv2,pwritev2,sendfile,splice,copy_file_range
traced() # comm command...
{
	set_disktop filter "comm=$1"
	set_disktop reset 1
	strace -f -y -qq -e "trace=$calls" -e signal=none -o "$tmp/strace" "${@:2}" >/dev/null
	take disktop
	check "$1: as strace says" is "$(sum bytes direction=R) $(sum bytes direction=W)" "$(awk -v "dir=$tmp/disk0/" '
		function on_disk(fd) { return index(fd, "<" dir) }
		{ sub(/^[0-9]+ +/, "") }
		!match($0, /= [0-9]+$/) { next }
		{ bytes = substr($0, RSTART + 2); split($0, argument, ",") }
		/^sendfile/ { read += bytes * !!on_disk(argument[2]); wrote += bytes * !!on_disk(argument[1]); next }
		/^(splice|copy_file_range)/ {
			read += bytes * !!on_disk(argument[1])
			wrote += bytes * !!on_disk(argument[3])
			next
		}
		!on_disk(argument[1]) { next }
		/^p?read/ { read += bytes; next }
		{ wrote += bytes }
		END { print read + 0, wrote + 0 }' "$tmp/strace")"
	check "$1: something was transferred" [ "$(sum bytes)" -ge 3000000 ]
}
traced tar tar -cf "$tmp/disk0/tar" -C "$tmp/disk0" data
traced dd dd "if=$tmp/disk0/data" "of=$tmp/disk0/copy" bs=7000 status=none
traced cp cp "$tmp/disk0/data" "$tmp/disk0/copy"
traced python3 python3 -c 'import sys, shutil; shutil.copyfile(sys.argv[1], sys.argv[2])' "$tmp/disk0/data" "$tmp/disk0/python"
traced sqlite3 sqlite3 "$tmp/disk0/db" "CREATE TABLE t (a INTEGER PRIMARY KEY, b);
	WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO t SELECT i, randomblob(600) FROM n;
	PRAGMA cache_size=10; UPDATE t SET b = randomblob(600); BEGIN; DELETE FROM t WHERE a % 2; ROLLBACK;
	SELECT count(*), sum(length(b)) FROM t;"
check "lost: nothing in all of this" is "$(summary lost)" 0

check "nothing pins a file system" umount "$tmp/disk0" "$tmp/disk1"
rmmod disktop
check "nothing is left" [ ! -e $proc ]
plan
