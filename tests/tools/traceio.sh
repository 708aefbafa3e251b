#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# traceio: exact bytes of each way that there is of reading and writing, on several file systems; of what is short or
# fails; and the same as strace and the programs themselves say for real programs.
. "$(dirname "$0")/lib.sh"

file_io=$workloads/file_io

set_traceio() # name value
{
	set_to traceio "$1" "$2"
}

# ran COMMAND... - what traceio has of it; what the kernel reads to execute it is in kernel_bytes alone
ran()
{
	hold "$@"
	set_traceio filter "pid=$held"
	set_traceio reset 1
	finish
	take traceio
	kernel=$(sum kernel_bytes)
	read=$(($(sum read_bytes) - kernel))
}

# transfers TEXT WAY READ WRITTEN OPERATION... - so many bytes, and none of them in any other way
transfers()
{
	local other=() way=$2 bytes=0

	ran "$file_io" "$dir/file" "${@:5}"
	for path in rw vec sendfile splice copy uring aio; do
		if [ $path = "$way" ]; then
			bytes=$(sum ${path}_bytes)
		elif [ "$(sum ${path}_bytes)" != 0 ]; then
			other+=("$path")
		fi
	done
	check "$fs: $1" is "$read $(sum write_bytes) $bytes ${other[*]}" "$3 $4 $(($3 + $4)) "
}

# All ways in one go, for what differs by file system or ABI.
every_way() # text
{
	ran "$file_io" "$dir/file" read=100 pread=7,10 pwrite=8,10 readv=3,100 preadv2=2,700 pwritev2=9,11 sendfile=5,10000 \
		sendpipe=3,100 splicein=5,10000 spliceout=3,100 splice=8,10 copy=7,98304 uread=5,1000 uwritev=4,70 ufixed=3,4096 \
		uasync=10,4096 upoll=10,7 usplice=5,10 aioread=5,1000 aioreadv=4,70 aiowrite=3,4096
	for path in rw vec sendfile splice copy uring aio; do
		echo "$path $(sum ${path}_bytes)"
	done >"$tmp/ways"
	check "$1" diff - "$tmp/ways" <<-END
		rw $((100 + 70 + 80))
		vec $((300 + 1400 + 99))
		sendfile $((2 * (50000 + 300)))
		splice $((2 * (50000 + 300 + 80)))
		copy $((2 * 7 * 98304))
		uring $((5000 + 280 + 3 * 4096 + 10 * 4096 + 70 + 2 * 50))
		aio $((5000 + 280 + 3 * 4096))
	END
}

ulimit -n 8192
load traceio limit=0

fs=tmpfs
dir=$tmp
transfers "read, pread, /dev/zero" rw $((1000 + 70 + 3 * 4096)) 0 read=1000 pread=7,10 zero=3,4096
transfers "write, pwrite" rw 0 $((1000 + 70)) write=1000 pwrite=7,10
transfers "readv, preadv, preadv2" vec $((300 + 1400 + 99)) 0 readv=3,100 preadv=2,700 preadv2=9,11
transfers "writev, pwritev, pwritev2" vec 0 $((300 + 1400 + 99)) writev=3,100 pwritev=2,700 pwritev2=9,11
transfers "sendfile" sendfile $((50000 + 300)) $((50000 + 300)) sendfile=5,10000 sendpipe=3,100
transfers "splice" splice $((50000 + 300 + 80)) $((50000 + 300 + 80)) splicein=5,10000 spliceout=3,100 splice=8,10
transfers "copy_file_range" copy $((7 * 100000)) $((7 * 100000)) copy=7,100000
transfers "io_uring: read, readv, fixed buffer" uring $((5 * 1000 + 4 * 70 + 3 * 4096)) 0 uread=5,1000 ureadv=4,70 ufixed=3,4096
transfers "io_uring: by a worker, by the poller of the queue" uring $((1000 * 4096 + 100 * 7)) 0 uasync=1000,4096 upoll=100,7
transfers "io_uring: write, writev, splice" uring 50 $((5 * 1000 + 4 * 70 + 50)) uwrite=5,1000 uwritev=4,70 usplice=5,10
transfers "io_submit" aio $((5 * 1000 + 4 * 70)) $((3 * 4096 + 2 * 10)) aioread=5,1000 aioreadv=4,70 aiowrite=3,4096 aiowritev=2,10
transfers "pipes and sockets" rw $((700 + 33)) $((700 + 33)) pipe=7,100 socket=3,11
transfers "what is short: what was transferred" rw $((5 + 2 * 4096)) 0 short=5,100 fault=2,8000
transfers "nothing at the end of a file" rw 0 0 eof=5,100
transfers "nothing of EFAULT, EBADF, EAGAIN" rw 0 0 efault=5,100 ebadf=5,100 eagain=5,100
transfers "tee moves nothing" rw 0 0 tee=5,100
transfers "2000 threads that sleep in read at once" rw $((2000 * 7)) 0 sleepers=2000,7
file_io=$workloads/file_io32
every_way "32-bit: each way"
file_io=$workloads/file_io

disk ext4
mkdir "$tmp/overlay"
fs=ext4
dir=$tmp/ext4
every_way "ext4: each way"
transfers "io_submit: read from the disk, completed by its interrupt" aio $((20 * 4096)) 0 aiodirect=20,4096

for fs in xfs btrfs; do
	disk $fs $fs
	dir=$tmp/$fs
	every_way "$fs: each way"
	check "$fs: nothing pins it" umount "$dir"
done
modprobe virtio_blk
mkfs.ext4 -q /dev/vda
mkdir "$tmp/virtio"
mount /dev/vda "$tmp/virtio"
fs=virtio
dir=$tmp/virtio
every_way "ext4 on a virtio disk: each way"
transfers "io_submit: read from the disk, completed by its interrupt" aio $((20 * 4096)) 0 aiodirect=20,4096
umount "$dir"

fs=overlay
mkdir "$tmp/ext4"/{lower,upper,work}
mount -t overlay overlay -o "lowerdir=$tmp/ext4/lower,upperdir=$tmp/ext4/upper,workdir=$tmp/ext4/work" "$tmp/overlay"
dir=$tmp/overlay
every_way "overlayfs: each way, once"

# --- the kernel itself
kernel_only()
{
	echo "$(sum read_bytes) $(sum write_bytes) $(sum kernel_bytes)"
}
# finit_module() of what is loaded; perl stops before it, so that nothing else is read.
cat >"$tmp/module.pl" <<'END'
open my $file, "<", $ARGV[0] or die;
kill STOP => $$;
syscall 313, fileno $file, my $none = "", 0;
END
hold perl "$tmp/module.pl" "$TAP_KO/traceio.ko"
kill -CONT "$held"
until_true grep -q '^State:.T' "/proc/$held/status"
set_traceio filter "pid=$held"
set_traceio reset 1
finish
take traceio
size=$(stat -c %s "$TAP_KO/traceio.ko")
check "kernel: a module is read" is "$(kernel_only)" "$size 0 $size"

# A record of 64 bytes for a process that ends; others end, too.
cat >"$tmp/acct.pl" <<'END'
syscall 163, $ARGV[0];	# acct
fork or exit;
wait;
END
: >"$tmp/acct"
set_traceio filter "comm=perl"
set_traceio reset 1
perl "$tmp/acct.pl" "$tmp/acct"
take traceio
# What ends the accounting writes a record, too.
written=$((64 * $(grep -ao perl "$tmp/acct" | wc -l)))
perl -e 'syscall 163, 0'
check "kernel: there is accounting" is "$written" 128
check "kernel: accounting is written" is "$(sum write_bytes)" "$written"

# A process that is killed while it reads dumps its core.
core=$(</proc/sys/kernel/core_pattern)
echo "$tmp/core.%p" >/proc/sys/kernel/core_pattern
ulimit -c unlimited
mkfifo "$tmp/fifo"
exec {fifo}<>"$tmp/fifo"
cat <"$tmp/fifo" &
until_true grep -q '^0 0x0 ' "/proc/$!/syscall"
set_traceio filter "pid=$!"
set_traceio reset 1
kill -ABRT $!
wait $! 2>/dev/null || true
ulimit -c 0
echo "$core" >/proc/sys/kernel/core_pattern
take traceio
# Pages that were never touched are left out by a seek; what else there is takes whole blocks of the file.
between() # low value high
{
	(($1 <= $2 && $2 <= $3)) && return
	echo "$2 is not between $1 and $3"
	return 1
}
size=$(stat -c %s "$tmp/core.$!")
check "kernel: a core is written" between $((size / 8)) "$(sum kernel_bytes)" "$size"
exec {fifo}>&-

# --- real programs, compared with strace: what was returned, twice if it was read and written
calls=read,write,pread64,pwrite64,readv,writev,preadv,pwritev,preadv2,pwritev2,sendfile,splice,copy_file_range
traced() # comm command...
{
	set_traceio filter "comm=$1"
	set_traceio reset 1
	strace -f -qq -e "trace=$calls" -e signal=none -o "$tmp/strace" "${@:2}" >/dev/null
	take traceio
	check "${*:2:1} $3: as strace says" is "$(sum read_bytes) $(sum write_bytes)" "$(awk -v "kernel=$(sum kernel_bytes)" '
		{ sub(/^[0-9]+ +/, "") }
		/unfinished/ { next }
		!match($0, /= [0-9]+$/) { next }
		{ bytes = substr($0, RSTART + 2) }
		/^(<\.\.\. )?(sendfile|splice|copy_file_range)/ { read += bytes; wrote += bytes; next }
		/^(<\.\.\. )?p?read/ { read += bytes; next }
		{ wrote += bytes }
		END { print read + kernel, wrote + 0 }' "$tmp/strace")"
	check "${*:2:1} $3: something was transferred" [ "$(sum read_bytes)" -ge 3000000 ]
}
head -c 3000000 /dev/urandom >"$tmp/ext4/data"
mkdir "$tmp/ext4/many"
for i in {1..30}; do
	head -c 100000 "$tmp/ext4/data" >"$tmp/ext4/many/$i"
done
traced cp cp "$tmp/ext4/data" "$tmp/ext4/copy"
check "cp: by copy_file_range" is "$(sum copy_bytes)" 6000000
traced cp cp --reflink=never "$tmp/ext4/data" "$tmp/tmpfs-copy"
traced cat cat "$tmp/ext4/data"
traced dd dd "if=$tmp/ext4/data" "of=$tmp/ext4/copy" bs=7000 status=none
traced python3 python3 -c 'import sys, shutil; shutil.copyfile(sys.argv[1], sys.argv[2])' "$tmp/ext4/data" "$tmp/ext4/python"
check "python3: by sendfile" is "$(sum sendfile_bytes)" 6000000
traced tar tar -cf "$tmp/ext4/tar" -C "$tmp/ext4" many data
traced sqlite3 sqlite3 "$tmp/ext4/db" "PRAGMA journal_mode=WAL; CREATE TABLE t (a INTEGER PRIMARY KEY, b);
	WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO t SELECT i, randomblob(600) FROM n;
	PRAGMA cache_size=10; UPDATE t SET b = randomblob(600); SELECT count(*), sum(length(b)) FROM t;"

# fio says itself what it has transferred.
with_fio() # engine way option...
{
	set_traceio filter comm=fio
	set_traceio reset 1
	fio --name=job "--ioengine=$1" "--filename=$tmp/ext4/fio" --size=4M --io_size=2M --rw=randrw --bs=4k --iodepth=8 \
		--randseed=1 --output-format=json "--output=$tmp/fio.json" "${@:3}" >/dev/null
	take traceio
	check "fio $*: as it says" is "$(sum "$2_bytes")" \
		"$(jq '[.jobs[] | .read.io_bytes + .write.io_bytes] | add' "$tmp/fio.json")"
	check "fio $*: all of it" [ "$(sum "$2_bytes")" -ge 2097152 ]
}
with_fio io_uring uring
with_fio io_uring uring --sqthread_poll=1 --fixedbufs=1 --direct=1
with_fio libaio aio --direct=1

# --- text
cp "$file_io" "$tmp/some name"
set_traceio filter "comm=some name"
set_traceio reset 1
"$tmp/some name" "$tmp/file" read=1025 write=1024
cat $proc/traceio >"$tmp/text"
pid=$(jq 'select(.tool).pid' $proc/traceio.json)
check "text: a line, no header" is "$(head -n 1 "$tmp/text")" \
	"$(printf '%8d %15s r: %12s w: %12s' "$pid" 'some\040name' "1 KiB" "1024   B")"
check "text: the trailer" is "$(sed 's/window_ms=[0-9]* //; s/events=[0-9]*/events=N/' <(tail -n 1 "$tmp/text"))" \
	"# state=running rows=1 shown=1 events=N lost=0 self=0"
set_traceio filter ""
set_traceio reset 1
for size in 1 1023 2048; do
	"$file_io" "$tmp/file" read=1,$size
done
cat "$tmp/ext4/data" >/dev/null
jq -r 'select(.tool) | "\(.read_bytes + .write_bytes)"' $proc/traceio.json >"$tmp/totals"
check "text: by the sum of both, descending" sort -c -nr "$tmp/totals"
set_traceio limit 2
check "text: limit" is "$(wc -l <$proc/traceio)" 3
set_traceio limit 0

# --- readers are left out
set_traceio reset 1
hold "$workloads/hold" $proc/traceio read=1 >/dev/null
set_traceio filter "pid=$held"
finish
take traceio
check "the reader itself is not counted" [ "$(summary self)" -gt 0 ]
check "lost: nothing in all of this" is "$(summary lost)" 0

umount "$tmp/overlay"
check "nothing pins a file system" umount "$tmp/ext4"
rmmod traceio
check "nothing is left" [ ! -e $proc ]
plan
