#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# ioblktime: the same numbers as the devices' own statistics; times that a device's timer gives.
. "$(dirname "$0")/lib.sh"

# --- devices
# What the devices count, and what is under way.
stat_of() # device
{
	local -a stat

	read -r -a stat <"/sys/class/block/$1/stat"
	echo "${stat[0]} ${stat[4]}"
}
idle() # device...
{
	local device

	for device; do
		[ "$(xargs <"/sys/class/block/$device/inflight")" = "0 0" ] || return
	done
}

declare -A before
# Count from here on. Nothing may end between the two beginnings.
begin() # device...
{
	local device still

	sync
	until [ "${still-}" = 1 ]; do
		until_true idle "$@"
		for device; do
			before[$device]=$(stat_of "$device")
		done
		set_to ioblktime reset 1
		still=1
		for device; do
			[ "${before[$device]}" = "$(stat_of "$device")" ] || still=0
		done
	done
}
counts_of() # device
{
	take ioblktime
	echo "$(sum count "device=$1" rw=R) $(sum count "device=$1" rw=W)"
}
counts_are() # device reads writes
{
	is "$(counts_of "$1")" "$2 $3"
}
# The same since the last begin(). Read again each time: a device counts a request a moment later than the tool,
# and what is mounted writes on its own (ext4's threads).
agrees() # device
{
	local device=$1
	local -a old new

	idle "$device"
	read -r -a old <<<"${before[$device]}"
	read -r -a new < <(stat_of "$device")
	counts_are "$device" $((new[0] - old[0])) $((new[1] - old[1]))
}
same() # text device...
{
	local device text=$1

	shift
	sync
	for device; do
		check "$text: $device: as its own statistics" until_true agrees "$device"
	done
}
stat_line() # name
{
	sed -n "s/^$1 //p" $debugfs/ioblktime/stats
}
unseen() # count
{
	is "$(stat_line unseen)" "$1"
}

# direct read|write DEVICE COUNT [dd argument...] - one after the other, past the page cache
direct()
{
	if [ "$1" = read ]; then
		dd if="/dev/$2" of=/dev/null bs=4k count="$3" iflag=direct "${@:4}" 2>/dev/null
	else
		dd if=/dev/zero of="/dev/$2" bs=4k count="$3" oflag=direct "${@:4}" 2>/dev/null
	fi
}
loop() # file
{
	losetup -f --show "$1" | sed 's/.*\///'
}
# The number that device mapper gave a device.
dm() # name
{
	local device

	device=$(realpath "/dev/mapper/$1")
	[ -b "$device" ] || device=/dev/dm-$(dmsetup info -c --noheadings -o minor "$1" | xargs)
	echo "${device##*/}"
}
# In hundredths of a second, from a clock that nobody can set.
uptime_cs()
{
	local uptime

	read -r uptime _ </proc/uptime
	echo "${uptime/./}"
}

for module in loop virtio_blk dm_mod dm_delay ext4; do
	modprobe "$module"
done
mkdir "$tmp/mnt"
load ioblktime interval_ms=0 limit=0

# --- a disk that takes requests
begin vda
direct write vda 100
direct read vda 50
same "one at a time" vda
check "one at a time: exactly that" counts_are vda 50 100
take ioblktime
check "all are events" is "$(summary events)" 150
check "nothing is lost" is "$(summary lost)" 0

begin vda
dd if=/dev/zero of=/dev/vda bs=4k count=4000 conv=fsync 2>/dev/null
dd if=/dev/vda of=/dev/null bs=4k count=4000 2>/dev/null
same "merged" vda
check "merged: there are fewer than there were pages" [ "$(sum count device=vda)" -lt 4000 ]
check "merged: none is under way" is "$(stat_line in_flight)" 0

begin vda
flushes=$(awk '{ print $16 }' /sys/block/vda/stat)
dd if=/dev/zero of=/dev/vda bs=4k count=20 oflag=direct,dsync 2>/dev/null
dd if=/dev/zero of=/dev/vda bs=4k count=20 conv=fsync 2>/dev/null
same "with flushes" vda
check "with flushes: there were some" [ "$(awk '{ print $16 }' /sys/block/vda/stat)" -gt "$flushes" ]

begin vda
discards=$(awk '{ print $12 }' /sys/block/vda/stat)
blkdiscard -o 0 -l 1M /dev/vda
same "a discard" vda
check "a discard is no write" is "$(sum count device=vda rw=W)" 0
check "a discard: there was one" [ "$(awk '{ print $12 }' /sys/block/vda/stat)" -gt "$discards" ]
begin vda
blkdiscard -z -o 0 -l 1M /dev/vda
same "zeroes" vda

for scheduler in mq-deadline bfq kyber-iosched; do
	modprobe -q "$scheduler" || true
done
read -r -a schedulers < <(tr -d '[]' </sys/block/vda/queue/scheduler)
check "there are I/O schedulers" [ "${#schedulers[@]}" -gt 2 ]
for scheduler in "${schedulers[@]}"; do
	echo "$scheduler" >/sys/block/vda/queue/scheduler
	begin vda
	dd if=/dev/zero of=/dev/vda bs=4k count=500 conv=fsync 2>/dev/null
	direct read vda 20
	direct write vda 20 &
	direct read vda 20 skip=1000
	wait $!
	same "scheduler $scheduler" vda
done
echo none >/sys/block/vda/queue/scheduler

# Without statistics a request carries no time of its own.
echo 0 >/sys/block/vda/queue/iostats
begin vda
direct write vda 30
check "without statistics of the device" until_true counts_are vda 0 30
check "without statistics of the device: there are times" [ "$(sum min_us device=vda)" -gt 0 ]
check "without statistics of the device: none is under way" is "$(stat_line in_flight)" 0
echo 1 >/sys/block/vda/queue/iostats

# --- partitions
python3 - <<'END'
import struct

table = bytearray(512)
for i, first in enumerate((2048, 16384)):
    table[446 + 16 * i:462 + 16 * i] = struct.pack('<8B2I', 0, 0, 0, 0, 0x83, 0, 0, 0, first, 8192)
table[510:] = b'\x55\xaa'
open('/dev/vda', 'r+b').write(table)
END
blockdev --rereadpt /dev/vda
until_true [ -b /dev/vda2 ]
begin vda vda1 vda2
direct write vda1 10
direct read vda2 20
direct read vda 5
same "partitions" vda vda1 vda2
check "partitions: each its own" is "$(counts_of vda1), $(counts_of vda2)" "0 10, 20 0"
check "partitions: the disk has all" counts_are vda 25 10
check "partitions: what is in two rows is one event" is "$(summary events)" 35
check "partitions: numbers" is "$(jq -r 'select(.device == "vda2").dev' $proc/ioblktime.json)" "$(<"/sys/class/block/vda2/dev")"

# --- one device
set_to ioblktime dev "$(<"/sys/class/block/vda1/dev")"
begin vda1
direct write vda1 10
direct write vda2 10
check "dev=: a partition" until_true counts_are vda1 0 10
check "dev=: nothing else" is "$(summary rows) $(summary events)" "1 10"
set_to ioblktime dev "0x$(stat -c %t /dev/vda)00"
set_to ioblktime reset 1
direct write vda1 10
direct write vda2 10
check "dev=: a disk, by what stat prints" until_true counts_are vda 0 20
check "dev=: not its partitions" is "$(summary rows) $(summary events)" "1 20"
for dev in 8 0x 8:99999999; do
	check "dev=$dev is refused" is "$(set_to ioblktime dev $dev 2>&1 | sed 's/.*: //')" 'Invalid argument'
	check "dev=$dev: it is said what is allowed" grep -qx \
		"refused: dev=$dev: allowed is MAJOR:MINOR, 8:5 or 0x8:0x5, to 4095:1048575, or 0x and what stat -c %D prints, 0x805" \
		$debugfs/ioblktime/stats
done
set_to ioblktime dev ""

# --- one device on another
# whose threads have nothing left to initialise
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 /dev/vda2
mount /dev/vda2 "$tmp/mnt"
truncate -s 2M "$tmp/mnt/image"
upper=$(loop "$tmp/mnt/image")
begin vda vda2 "$upper"
direct write "$upper" 20
direct read "$upper" 10
same "a file of ext4 as a disk" vda vda2 "$upper"
check "a file of ext4 as a disk: each device its own" counts_are "$upper" 10 20

# A file of tmpfs; device mapper on it, which takes bios: slow, and in two halves.
truncate -s 32M "$tmp/image"
lower=$(loop "$tmp/image")
sectors=$(blockdev --getsz "/dev/$lower")
dmsetup create slow --table "0 $sectors delay /dev/$lower 0 20"
slow=$(dm slow)
begin "$lower" "$slow"
start=$(uptime_cs)
direct write "$slow" 20
direct read "$slow" 20
elapsed=$(($(uptime_cs) - start + 1))
same "device mapper" "$lower" "$slow"
check "device mapper: each device its own" is "$(counts_of "$lower"), $(counts_of "$slow")" "20 20, 20 20"
take ioblktime
check "device mapper: longer than what is below" [ "$(sum total_us "device=$slow")" -gt "$(sum total_us "device=$lower")" ]
check "device mapper: together no longer than it took" [ "$(sum total_us "device=$slow")" -le $((elapsed * 10000)) ]
# What is delayed is ended by a tick, up to one before its time: 4 ms. tests/bench/delay knows better.
check "device mapper: none is faster than it may be" [ "$(sum min_us "device=$slow" rw=R)" -ge 16000 ]
dmsetup remove slow

half=$((sectors / 2))
dmsetup create halves --table "0 $half linear /dev/$lower 0
$half $half linear /dev/$lower $half"
halves=$(dm halves)
begin "$lower" "$halves"
dd if=/dev/zero of="/dev/$halves" bs=512 seek=$((half - 8)) count=1 oflag=direct 2>/dev/null
dd if=/dev/zero of="/dev/$halves" bs=8k seek=$((half / 16)) count=1 oflag=direct 2>/dev/null
dd if="/dev/$halves" of=/dev/null bs=1M skip=$((half * 512 - 65536)) count=1 iflag=direct,skip_bytes 2>/dev/null
same "device mapper, split" "$lower" "$halves"
check "device mapper, split: there was a bio for both halves" [ "$(sum count "device=$halves" rw=R)" -gt 1 ]
begin "$halves"
sync "/dev/$halves"
check "device mapper, a flush: neither read nor write" counts_are "$halves" 0 0
echo "write through" >"/sys/block/$halves/queue/write_cache"
mkfs.ext4 -q "/dev/$halves"
mkdir "$tmp/mnt2"
mount "/dev/$halves" "$tmp/mnt2"
begin "$lower" "$halves"
cp /bin/bash "$tmp/mnt2/one"
sync "$tmp/mnt2/one"
cp /bin/bash "$tmp/mnt2/two"
rm "$tmp/mnt2/one"
umount "$tmp/mnt2"
same "device mapper, ext4" "$lower" "$halves"
check "device mapper: none is under way" is "$(stat_line in_flight)" 0
check "device mapper: each was seen to begin" unseen 0

# --- what is under way: a device is stopped
stop() # device
{
	if [ "$1" = "$upper" ]; then
		fsfreeze -f "$tmp/mnt"
	else
		dmsetup suspend halves
	fi
}
go_on() # device
{
	if [ "$1" = "$upper" ]; then
		fsfreeze -u "$tmp/mnt"
	else
		dmsetup resume halves
	fi
}
# A write to a device that is stopped.
start_write() # device
{
	dd if=/dev/zero of="/dev/$1" bs=4k count=1 oflag=direct 2>/dev/null &
	until_true all_asleep $! 1
}
# So many threads of the process wait for a device.
all_asleep() # pid count
{
	is "$(cat /proc/"$1"/task/*/status | grep -c '^State:.D')" "$2"
}
begin "$upper" "$halves"
for device in "$upper" "$halves"; do
	name=requests
	[ "$device" = "$upper" ] || name=bios
	rmmod ioblktime
	stop "$device"
	start_write "$device"
	load ioblktime interval_ms=0 limit=0
	go_on "$device"
	wait $!
	check "under way at load, $name: not counted, but said" until_true unseen 1
	check "under way at load, $name: no row" counts_are "$device" 0 0

	start=$(uptime_cs)
	stop "$device"
	start_write "$device"
	date -s '+10 seconds' >/dev/null
	sleep 1
	date -s '-20 seconds' >/dev/null
	go_on "$device"
	wait $!
	date -s '+10 seconds' >/dev/null
	check "the clock is set, $name" until_true counts_are "$device" 0 1
	elapsed=$(($(uptime_cs) - start + 1))
	check "the clock is set, $name: it does not matter" [ "$(sum min_us "device=$device")" -ge 1000000 -a \
		"$(sum max_us "device=$device")" -le $((elapsed * 10000)) ]

	stop "$device"
	start_write "$device"
	set_to ioblktime enabled 0
	set_to ioblktime enabled 1
	go_on "$device"
	wait $!
	check "under way when it is enabled, $name: not counted, but said" until_true unseen 2
	check "under way when it is enabled, $name: the row is as it was" counts_are "$device" 0 1

	stop "$device"
	start_write "$device"
	set_to ioblktime reset 1
	go_on "$device"
	wait $!
	check "under way when all is forgotten, $name: counted at its end" until_true counts_are "$device" 0 1

	stop "$device"
	start_write "$device"
	check "under way at unload, $name" rmmod ioblktime
	go_on "$device"
	wait $!
	load ioblktime interval_ms=0 limit=0
done

# --- more at once than there is room for
cat >"$tmp/at-once.py" <<'END'
import mmap, os, sys, threading

def read(i):
    os.preadv(device, [mmap.mmap(-1, 4096)], 4096 * i)

device = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
threads = [threading.Thread(target=read, args=(i,)) for i in range(int(sys.argv[2]))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
END
at_once() # threads room
{
	dmsetup suspend halves
	python3 "$tmp/at-once.py" "/dev/$halves" "$1" &
	until_true all_asleep $! "$1"
	check "$1 at once: as many are under way as have room" is "$(stat_line in_flight)" "$2"
	dmsetup resume halves
	wait $!
}
at_once 50 50
check "50 at once have room" until_true counts_are "$halves" 50 0
take ioblktime
check "50 at once have room: nothing is lost" is "$(summary lost)" 0
rmmod ioblktime
load ioblktime interval_ms=0 limit=0 inflight=16
at_once 50 16
check "50 at once, room for 16: these are counted" until_true counts_are "$halves" 16 0
take ioblktime
check "50 at once, room for 16: what is lost is said" is "$(summary lost)" 34
check "50 at once, room for 16: room again" is "$(stat_line in_flight)" 0
dmsetup remove halves
losetup -d "/dev/$lower" "/dev/$upper"
umount "$tmp/mnt"

# --- a device whose timer ends each request after a time
null() # nanoseconds devices
{
	modprobe null_blk gb=1 irqmode=2 completion_nsec="$1" nr_devices="$2"
}
null 20000000 1
set_to ioblktime reset 1
start=$(uptime_cs)
direct read nullb0 20
elapsed=$(($(uptime_cs) - start + 1))
check "20 ms: as many as there were" until_true counts_are nullb0 20 0
check "20 ms: none is shorter" [ "$(sum min_us device=nullb0)" -ge 20000 ]
check "20 ms: together no longer than it took" [ "$(sum total_us device=nullb0)" -le $((elapsed * 10000)) ]
check "20 ms: mean" is "$(sum avg_us device=nullb0)" $(($(sum total_us device=nullb0) / 20))
check "20 ms: minimum, mean, maximum" [ "$(sum min_us device=nullb0)" -le "$(sum avg_us device=nullb0)" -a \
	"$(sum avg_us device=nullb0)" -le "$(sum max_us device=nullb0)" ]
# Element 15 is 16 to 32 ms.
check "20 ms: histogram" is \
	"$(jq 'select(.device == "nullb0").hist_us | (.[:15] | add), add' $proc/ioblktime.json | xargs)" "0 20"
modprobe -r null_blk
rmmod ioblktime

# --- more devices than rows
null 1000 20
load ioblktime interval_ms=0 limit=0 max_rows=16
for ((i = 0; i < 20; i++)); do
	direct read "nullb$i" $((i + 1))
done
check "more devices than rows: all are counted" until_true grep -q ' events=210 ' $proc/ioblktime
take ioblktime
check "more devices than rows: 16 have their own" is "$(summary rows)" 17
check "more devices than rows: the others have one" is "$(sum count) $(sum count 'device=(other)')" "210 $((17 + 18 + 19 + 20))"
check "more devices than rows: the line" grep -qxE ' *\(other\)   - +[0-9]+ +74 +[0-9]+' $proc/ioblktime
rmmod ioblktime

# --- text
load ioblktime interval_ms=3600000
direct read nullb0 3
direct write nullb0 5
direct write nullb1 3
check "text: a window" until_true grep -q ' events=11 ' $proc/ioblktime
set_to ioblktime flip 1
cat $proc/ioblktime >"$tmp/text"
check "text: header" is "$(head -n 1 "$tmp/text")" "$(printf '%10s %3s %10s %10s %10s' device rw 'total (us)' count 'avg (us)')"
check "text: by count, then by device" is "$(sed -n '2,4p' "$tmp/text" | awk '{ print $1, $2, $4 }' | xargs)" \
	"nullb0 W 5 nullb0 R 3 nullb1 W 3"
check "text: widths" nothing grep -vxE '[ a-z0-9]{10}   [RW]( [ 0-9]{10}){3}' <(sed -n '2,4p' "$tmp/text")
check "text: trailer" grep -qxE '# window_ms=[0-9]+ state=complete rows=3 shown=3 events=11 lost=0 self=0' "$tmp/text"
set_to ioblktime hist 1
cat $proc/ioblktime >"$tmp/hist"
check "hist=1: header" is "$(head -n 1 "$tmp/hist")" "$(head -n 1 "$tmp/text")   min (us)   max (us) us:count"
check "hist=1: the same lines, and more" is "$(sed -n '2,4s/^\(.\{47\}\).*/\1/p' "$tmp/hist")" "$(sed -n 2,4p "$tmp/text")"
check "hist=1: how many took how long" nothing grep -vxE '.{47}( [ 0-9]{10}){2} [0-9]+:[0-9]+(,[0-9]+:[0-9]+)*' <(sed -n 2,4p "$tmp/hist")
check "hist=1: all of them" is "$(sed -n '2s/.* //p' "$tmp/hist" | tr , '\n' | awk -F : '{ n += $2 } END { print n }')" 5
set_to ioblktime flip 1
check "an idle window: header and trailer" is "$(wc -l <$proc/ioblktime)" 2
modprobe -r null_blk
check "a filter has no use" is "$(set_to ioblktime filter pid=1 2>&1 | sed 's/.*: //')" 'Invalid argument'
rmmod ioblktime
check "nothing is left" [ ! -e $proc ]
plan
