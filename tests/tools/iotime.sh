#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# iotime: one line for each open file, however it is duplicated, inherited, sent and closed; its name; what was transferred, in
# each way; opens that fail; what finds no room; and what real programs open, as strace says.
. "$(dirname "$0")/lib.sh"

opens=$workloads/opens

set_iotime() # name value
{
	set_to iotime "$1" "$2"
}

# only FILTER COMMAND... - what iotime has of a command; what it prints is in $tmp/said
only()
{
	hold "${@:2}" >"$tmp/said"
	set_iotime filter "$1=$held"
	set_iotime reset 1
	finish
	take iotime
	# opened by the shell that is held
	sed -i "\\|\tpath=$tmp/said\t|d; \\|\tpath=/dev/null\t|d" "$tmp/rows"
}

# ran OPERATION... - of those of opens, in $dir; its pid is $held
ran()
{
	only tree "$opens" "$dir" "$@"
}

# line PATH READ WRITTEN [name=value...] - there is one for this path, with so many bytes
line()
{
	local all
	all=$(count "path=$1" "${@:4}")
	[ "$all" = 1 ] || { echo "$all lines"; return 1; }
	is "$(sum read_bytes "path=$1") $(sum write_bytes "path=$1")" "$2 $3"
}

# said WHAT - what opens printed
said()
{
	sed -n "s/^$1 //p" "$tmp/said"
}

stat_of() # name
{
	sed -n "s/^$1 //p" "$debugfs/iotime/stats"
}

load iotime buffer_kb=32768
dir=$tmp/dir
mkdir "$dir"

# --- an open file is one, whoever has it
ran use nothing
check "written and read: one line" line "$dir/use" 40 100 event=access "pid=$held" "tid=$held" comm=opens transfers=2
check "neither: one line" line "$dir/nothing" 0 0 event=access transfers=0 io_ns=0
check "that is all there is" is "$(count)" 2
ran dup
check "dup, dup2, fcntl: one line" line "$dir/dup" 0 40
check "dup, dup2, fcntl: that is all" is "$(count)" 1
ran fork
check "fork: one line, with what both wrote, of who closed it last" line "$dir/fork" 0 20 "pid=$(said "fork pid")"
ran message
check "SCM_RIGHTS: one line, of who received it" line "$dir/message" 0 10 "pid=$(said "message pid")"
check "SCM_RIGHTS: that is all" is "$(count)" 1
ran unread
check "SCM_RIGHTS, never received: one line" line "$dir/unread" 0 10
ran range=10 exit=10 exec
check "close_range(): a line each" is "$(count event=access | tr '\n' ' '; for ((i = 0; i < 10; i++)); do
	line "$dir/range.$i" 0 0; line "$dir/exit.$i" 0 10; done)" "22 "
check "close on exec: one line" line "$dir/exec" 0 10
check "after exec: it goes on" line "$dir/nothing" 0 0
ran shared=16,1000
check "16 threads write to one file: one line, all bytes" line "$dir/shared" 0 16000 transfers=16000

# --- names
ran tmpfile unlinked renamed creat openat openat2 path chroot chdir
check "O_TMPFILE: named as in /proc/PID/fd" line "$(said "tmpfile path")" 0 10
check "unlinked: its name then" line "$dir/unlinked" 0 10
check "renamed: its name then" line "$dir/renamed" 0 10
for name in creat openat openat2 path chdir; do
	check "$name: an absolute path" line "$dir/$name" 0 0
done
check "chroot: as it saw it" line /chroot 0 10
ran handle
check "open_by_handle_at: the path" line "$dir/handle" 0 0
ran ring ringat
check "io_uring, by a worker" line "$dir/ring" 0 10
check "io_uring, at once" line "$dir/ringat" 0 10
ran deep=6
deep=$(printf "%s%s/deep" "$dir" "$(printf '/%0200d' 0 0 0 0 0 0 | tr 0 d)")
check "a path of more than 1024 bytes keeps its end" line "...${deep: -1021}" 0 0
printf x >"$tmp/with a blank"
only pid cat "$tmp/with a blank"
check "JSON: a name as it is" line "$tmp/with a blank" 1 0
check "text: escaped" is "$(grep -c " (cat) access $tmp/with.040a.040blank read: 1 write: 0\$" $proc/iotime)" 1
set_iotime escape 0
check "text: as it is with escape=0" is "$(grep -c " (cat) access $tmp/with a blank read: 1 write: 0\$" $proc/iotime)" 1
set_iotime escape 1

# --- text: a line for access, one for iotime only if something was transferred
ran use nothing
grep -ve " $tmp/said " -e ' /dev/null ' $proc/iotime >"$tmp/text"
check "text" is "$(sed 's/^[0-9]*/US/; s/time: [0-9]*/time: US/' "$tmp/text")" "US $held (opens) access $dir/use read: 40 write: 100
US $held (opens) iotime $dir/use time: US
US $held (opens) access $dir/nothing read: 0 write: 0"
check "text: the time, as JSON says" is "$(sed -n 's/.* time: //p' "$tmp/text")" $(($(sum io_ns "path=$dir/use") / 1000))
check "it took some time" [ "$(sum io_ns "path=$dir/use")" -gt 0 ]
check "... and was open no less" [ "$(sum open_ns "path=$dir/use")" -ge "$(sum io_ns "path=$dir/use")" ]

# A thread that sleeps in read() does so for 300 ms and more.
mkfifo "$tmp/sleepy"
only pid cat "$tmp/sleepy" &
cat_pid=$!
{ sleep 0.5; echo x; } >"$tmp/sleepy"
wait $cat_pid
take iotime
check "time: that in read() is counted, when something came" [ "$(sum io_ns "path=$tmp/sleepy")" -ge 300000000 ]

# --- many
ran fifo=500
check "500 threads sleep in open(): none is lost" is "$(count event=access)" 1000
ran threads=64,1000
check "64 threads open 1000 files each: a line each" is "$(grep -c $'\tevent=access\t.*\twrite_bytes=1\t' "$tmp/rows")" 64000
check "... with 64000 names" is "$(grep -oE "path=$dir/thread\.[0-9]+\.[0-9]+"$'\t' "$tmp/rows" | sort -u | wc -l)" 64000
check "... none of them twice" is "$(wc -l <"$tmp/rows")" 64001
ran race=200
check "closed while another thread reads: a line each" is "$(count "path=$dir/race" event=access)" 200
check "... with all that was read" is "$(sum read_bytes event=access)" "$(said "race bytes")"
check "none is open but stats itself, and no name kept" is "$(stat_of in_flight) $(stat_of names_bytes)" "1 64"

# --- each way of reading and writing; xfs and btrfs copy whole blocks
ulimit -n 8192
every_way() # text directory
{
	only pid "$workloads/file_io" "$2/file" read=100 pread=7,10 pwrite=8,10 readv=3,100 preadv2=2,700 pwritev2=9,11 \
		sendfile=5,10000 sendpipe=3,100 splicein=5,10000 spliceout=3,100 copy=7,98304 uread=5,1000 uwritev=4,70 \
		ufixed=3,4096 uasync=10,4096 upoll=10,7 usplice=5,10 aioread=5,1000 aioreadv=4,70 aiowrite=3,4096 \
		short=5,100 eof=5,100 efault=5,100 ebadf=5,100
	check "$1: what was read" is "$(sum read_bytes "path=$2/file")" $((100 + 70 + 300 + 1400 + 50000 + 300 + 50000 + 7 * 98304 +
		5000 + 3 * 4096 + 10 * 4096 + 70 + 5000 + 280 + 5))
	check "$1: what was written" is "$(sum write_bytes "path=$2/file.out")" $((80 + 99 + 50000 + 300 + 7 * 98304 + 280 + 50 +
		3 * 4096))
	check "$1: nothing else" is "$(sum write_bytes "path=$2/file") $(sum read_bytes "path=$2/file.out") $(count event=access)" \
		"0 0 4"
}
every_way tmpfs "$dir"
disk ext4
every_way ext4 "$tmp/ext4"
for name in xfs btrfs; do
	disk $name $name
	every_way $name "$tmp/$name"
	check "$name: nothing pins it" umount "$tmp/$name"
done
mkdir "$tmp/ext4"/{lower,upper,work} "$tmp/overlay"
mount -t overlay overlay -o "lowerdir=$tmp/ext4/lower,upperdir=$tmp/ext4/upper,workdir=$tmp/ext4/work" "$tmp/overlay"
every_way overlayfs "$tmp/overlay"
dir=$tmp/overlay
ran use unlinked renamed
check "overlayfs: one line each, by the name that was opened" is "$(count event=access)$(line "$dir/use" 40 100
	line "$dir/unlinked" 0 10; line "$dir/renamed" 0 10)" 3
dir=$tmp/dir

# --- what fails
ran fail
failed() # path error
{
	check "fails: $2 ${1:0:60}" is "$(count "path=$1" event=fail "errno=$2")" "${3-1}"
}
failed "$dir/none" ENOENT
failed "" ENOENT
failed "none too" ENOENT
failed "$dir" EISDIR 2
failed "$dir/loop" ELOOP
failed "$dir/mine/below" ENOTDIR
failed "$dir/mine" EEXIST
failed "$dir/pipe" ENXIO
failed .. EXDEV
failed how EINVAL
failed here EBADF
failed "(unreadable)" EFAULT
failed "(handle)" EINVAL
failed "...$(printf '%01021d' 0 | tr 0 n)" ENAMETOOLONG
failed "$(printf '%0300d' 0 | tr 0 n)" ENAMETOOLONG
failed "$dir/mine" EACCES
failed "$dir/new" EACCES
check "fails: that is all" is "$(count event=fail)" 18
check "fails: text" is "$(grep -c "^[0-9]* $held (opens) access $dir/none fail ENOENT\$" $proc/iotime)" 1

# --- 32-bit programs
file_io32=$workloads/file_io32
only pid "$file_io32" "$dir/file" read=100 write=7 pwritev=3,10
check "32-bit: read" is "$(sum read_bytes "path=$dir/file") $(sum write_bytes "path=$dir/file.out") $(count)" "100 37 4"

# --- real programs, compared with strace: which files were opened, and how often each
traced() # command...
{
	set_iotime filter "comm=$1"
	set_iotime reset 1
	strace -f -qq -y -e trace=open,openat,openat2,creat -e signal=none -o "$tmp/strace" "$@" >/dev/null
	take iotime
	# strace gives up the descriptors that it was given
	sed -n 's/.*\tevent=access\tpath=\([^\t]*\)\t.*/\1/p' "$tmp/rows" | grep -vx /dev/null | sort >"$tmp/opened"
	sed -nE 's/.* = [0-9]+<(.*)>$/\1/p' "$tmp/strace" | grep -vx /dev/null | sort >"$tmp/strace.opened"
	check "$1: opened are those files, so often" diff "$tmp/strace.opened" "$tmp/opened"
	check "$1: failed are so many" is "$(count event=fail)" "$(grep -c ' = -1 E' "$tmp/strace")"
}
head -c 300000 /dev/urandom >"$tmp/ext4/data"
traced cat "$tmp/ext4/data" "$tmp/none" || true
check "cat: all was read" is "$(sum read_bytes "path=$tmp/ext4/data")" 300000
traced cp "$tmp/ext4/data" "$tmp/ext4/copy"
check "cp: all was read and written" is "$(sum read_bytes "path=$tmp/ext4/data") $(sum write_bytes "path=$tmp/ext4/copy")" "300000 300000"
traced python3 -c 'import sys, shutil; shutil.copyfile(sys.argv[1], sys.argv[2])' "$tmp/ext4/data" "$tmp/ext4/python"
check "python3: all was written" is "$(sum write_bytes "path=$tmp/ext4/python")" 300000
traced tar -cf "$tmp/ext4/tar" -C "$tmp/ext4" data copy
check "tar: all was read" is "$(sum read_bytes "path=$tmp/ext4/data") $(sum read_bytes "path=$tmp/ext4/copy")" "300000 300000"
traced sqlite3 "$tmp/ext4/db" "CREATE TABLE t (a INTEGER PRIMARY KEY, b); INSERT INTO t VALUES (1, randomblob(50000));"
check "sqlite3: the database was written" [ "$(sum write_bytes "path=$tmp/ext4/db")" -ge 50000 ]

# --- opened before the tool looks; readers
set_iotime enabled 0
exec {go}<>"$tmp/sleepy"
# shellcheck disable=SC2016 # the inner shell's
hold bash -c 'exec "$1" "$2" hold <"$3"' - "$opens" "$dir" "$tmp/sleepy"
kill -CONT "$held"
until_true [ -e "$dir/hold" ]
until_true grep -q '^0 0x0 ' "/proc/$held/syscall"
set_iotime filter "pid=$held"
set_iotime enabled 1
unseen=$(stat_of unseen)
echo >&"$go"
finish
check "opened before: no line" is "$(take iotime; count "path=$dir/hold")" 0
check "opened before: said in stats" [ $(($(stat_of unseen) - unseen)) -ge 1 ]
set_iotime filter ""
set_iotime reset 1
cat $proc/iotime >/dev/null
take iotime
check "a reader's own file has no line" is "$(count "path=$proc/iotime")" 0
check "... and counts as self" [ "$(stat_of self)" -gt 0 ]
check "lost: nothing in all of this" is "$(stat_of lost)" 0

# --- nothing is pinned
"$workloads/hold" "$tmp/ext4/data" once=100 >/dev/null
check "nothing pins a file system" umount "$tmp/overlay" "$tmp/ext4"
rmmod iotime

# --- no room
load iotime inflight=16 buffer_kb=16384
ran open=40
# two are open already: what the command prints to, and its stdin
check "no room for 26 of 40 open files: 14 have lines" is "$(count event=access) $(summary lost)" "14 26"
check "... and it is said" is "$(awk '/^# [0-9]+ events lost$/ { n += $2 } END { print n }' $proc/iotime)" 26
rmmod iotime
load iotime name_kb=1
ran open=40
check "no room for 26 of 40 names: so many are lost" is "$(count event=access) $(count "path=(name lost)") $(stat_of names_lost)" "40 26 26"
check "... and no line is" is "$(summary lost)" 0
ran nothing
check "room that was given back is used" line "$dir/nothing" 0 0
rmmod iotime
check "nothing is left" [ ! -e $proc ]
plan
