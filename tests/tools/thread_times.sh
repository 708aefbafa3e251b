#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# thread_times: the shares of busy and idle CPUs, as the kernel's own accounting
# has them; CPUs that go and come back.
. "$(dirname "$0")/lib.sh"

set_thread_times() # name value
{
	set_to thread_times "$1" "$2"
}

# Starts a program that keeps a CPU busy; its pid is $burner.
burn() # user|kernel CPU
{
	"$workloads/burn" "$@" &
	burner=$!
}
burning()
{
	take thread_times
	[ "$(sum user_ticks "tid=$burner")" -gt 100 ]
}
stop() # pid...
{
	kill "$@"
	wait "$@" 2>/dev/null || true
}

# The time that processes have had, by the kernel's own accounting: user and kernel of each, in ms. Nothing is started
# for it, which would take time of theirs.
times() # pid...
{
	local pid stat

	times=()
	for pid; do
		read -r stat <"/proc/$pid/stat"
		read -ra stat <<<"${stat##*) }"
		times+=($((stat[11] * 10)) $((stat[12] * 10)))
	done
}

# A process with TICKS of ALL has had MS of the CPUs' time: within 5 points?
within() # ticks all ms cpus-ms
{
	awk -v ticks="$1" -v all="$2" -v ms="$3" -v cpus_ms="$4" 'BEGIN {
		tap = 100 * ticks / all
		kernel = 100 * ms / cpus_ms
		printf "%.2f%%, by the kernel'"'"'s own accounting %.2f%%\n", tap, kernel
		exit !(tap - kernel < 5 && kernel - tap < 5)
	}'
}

cpus=$(nproc)
load thread_times interval_ms=0 limit=0

# --- busy CPUs
burn user 0
user=$burner
burn kernel 1
kernel=$burner
times $user $kernel
before=("${times[@]}")
set_thread_times reset 1
sleep 8
mapfile json <$proc/thread_times.json
times $user $kernel
cat $proc/thread_times >"$tmp/text"
printf '%s' "${json[@]}" >"$tmp/json"
take thread_times "$tmp/json"
all=$(summary events)
window=$(($(summary window_ms) * cpus))
i=0
for what in "user space: user" "user space: kernel" "system calls: user" "system calls: kernel"; do
	pid=$([ $i -lt 2 ] && echo $user || echo $kernel)
	check "a process in $what" within "$(sum "${what##* }_ticks" "tid=$pid")" "$all" $((times[i] - before[i])) $window
	i=$((i + 1))
done
check "a process in user space is there" [ "$(sum user_ticks "tid=$user")" -gt $((all / cpus / 4)) ]
check "a process in system calls is there" [ "$(sum kernel_ticks "tid=$kernel")" -gt $((all / cpus / 4)) ]
check "the ticks of all rows are all events" is "$(($(sum user_ticks) + $(sum kernel_ticks)))" "$all"
check "nothing is lost" is "$(summary lost)" 0

# --- text
all=$(sed -n '1s/.*(of \([0-9]*\) ticks)$/\1/p' "$tmp/text")
check "header" is "$(head -n 1 "$tmp/text")" "$(printf '%16s %5s %7s %7s (of %d ticks)' comm tid %user %kernel "$all")"
check "header and trailer agree" grep -q " events=$all " <(tail -n 1 "$tmp/text")
check "lines" is "$(tail -n +2 "$tmp/text" | grep -vE '^# ' | grep -vcE '^ *[^ ]+ [ 0-9]{4}[0-9] [ 0-9]{2}[0-9]\.[0-9]{2}% [ 0-9]{2}[0-9]\.[0-9]{2}%$' || true)" 0
check "a line has the thread's name and number" grep -qE "^            burn $(printf %5d $user) " "$tmp/text"
check "the busiest first" diff <(awk '!/^#/ && NR > 1 { print $3 + $4 }' "$tmp/text") \
	<(awk '!/^#/ && NR > 1 { print $3 + $4 }' "$tmp/text" | sort -rn)
# Each of the two numbers of a row is rounded down to a hundredth.
# shellcheck disable=SC2016 # awk's fields
check "the rows add up to 100%" awk '
	NR > 1 && !/^#/ { sum += $3 + $4; rows++ }
	END { print sum; exit !(sum <= 100.001 && sum > 99.999 - rows * 0.02) }' "$tmp/text"
set_thread_times limit 1
check "limit: one line" is "$(wc -l <$proc/thread_times) $(grep -c ' shown=1 ' $proc/thread_times)" "3 1"
set_thread_times limit 0
stop $user $kernel

# --- idle CPUs
idle() # cpu: ticks of its idle thread
{
	sum kernel_ticks "thread=swapper/$1" tid=0 pid=0
}
set_thread_times reset 1
sleep 2
take thread_times
check "idle CPUs are shown as their idle threads" [ "$(idle 0)" -gt 0 -a "$(idle 1)" -gt 0 ]
check "idle CPUs: each has a row of its own" is "$(count tid=0)" "$cpus"
check "idle CPUs: in text" is "$(grep -cE '^       swapper/[01]     0   0\.00%' $proc/thread_times)" "$cpus"

# --- a CPU goes and comes back
online=/sys/devices/system/cpu/cpu1/online
ticks() # cpu: what it has had since the last reset
{
	take thread_times
	sum kernel_ticks "thread=swapper/$1"
}
ticking() # cpu
{
	[ "$(ticks "$1")" -gt 0 ]
}
echo 0 >$online
set_thread_times reset 1
sleep 1
check "a CPU is taken away: the other goes on" until_true ticking 0
check "a CPU is taken away: it has no ticks" is "$(ticks 1)" 0
echo 1 >$online
set_thread_times reset 1
burn user 1
check "the CPU is back, and busy" until_true burning
check "the CPU is back: the other goes on" until_true ticking 0
stop $burner
for _ in 1 2 3; do
	echo 0 >$online
	set_thread_times enabled 0
	echo 1 >$online
	set_thread_times enabled 1
	echo 0 >$online
	echo 1 >$online
done
set_thread_times reset 1
check "again and again, while it is switched off and on: CPU 0" until_true ticking 0
check "again and again, while it is switched off and on: CPU 1" until_true ticking 1
echo 0 >$online
rmmod thread_times
load thread_times interval_ms=0 limit=0
sleep 1
check "loaded while a CPU is away" is "$(ticks 1)" 0
echo 1 >$online
check "loaded while a CPU is away: it comes" until_true ticking 1

# --- how often. A tick stands for all periods since the last one, so there are as many as time has passed, except that
# the last one of each CPU may be late.
rate() # hz: is it that?
{
	sleep 4
	take thread_times
	awk -v events="$(summary events)" -v want=$(($1 * cpus * $(summary window_ms) / 1000)) 'BEGIN {
		print events " instead of " want
		exit !(events > want * 0.75 && events < want * 1.25)
	}'
}
for hz in 100 1000; do
	set_thread_times hz $hz
	set_thread_times reset 1
	check "hz=$hz" rate $hz
done

# --- softirqs
flood()
{
	set_thread_times reset 1
	ping -q -f -c 20000 -s 1000 127.0.0.1 >/dev/null
	take thread_times
}
flood
check "irq=0: softirqs are charged to whom they interrupt" is "$(count 'thread=(irq)')" 0
set_thread_times irq 1
flood
check "irq=1: softirqs have a row" is "$(count 'thread=(irq)' 'comm=(irq)' pid=0 tid=0 ns_pid=0)" 1
check "irq=1: they have ticks, in the kernel" [ "$(sum kernel_ticks 'thread=(irq)')" -gt 0 ]
check "irq=1: and none in user space" is "$(sum user_ticks 'thread=(irq)')" 0
check "irq=1: the ticks of all rows are all events" is "$(($(sum user_ticks) + $(sum kernel_ticks)))" "$(summary events)"
check "irq=1: ping and the softirqs are two" [ "$(sum kernel_ticks comm=ping)" -gt 0 ]
set_thread_times irq 0

# --- names and filters
burn user 0
set_thread_times filter "pid=$burner"
set_thread_times reset 1
check "filter: what is wanted" until_true burning
check "filter: and nothing else" is "$(count) $(($(sum user_ticks) + $(sum kernel_ticks)))" "1 $(summary events)"
stop $burner
set_thread_times filter ""

# Threads are told apart, by name and number; their process is in JSON.
cat >"$tmp/threads.py" <<'END'
import ctypes, threading
def run(name):
    ctypes.CDLL(None).prctl(15, name.encode())
    while True:
        pass
for name in 'first one', 'second':
    threading.Thread(target=run, args=(name,)).start()
END
python3 "$tmp/threads.py" &
python=$!
set_thread_times reset 1
both()
{
	take thread_times
	[ "$(sum user_ticks "pid=$python" comm=python3 "thread=first one")" -gt 0 ] &&
		[ "$(sum user_ticks "pid=$python" comm=python3 thread=second)" -gt 0 ]
}
check "threads: each has its row" until_true both
check "threads: numbers of their own" is \
	"$(awk '/first.040one|second/ { print $2 }' $proc/thread_times | grep -xF "$(ls /proc/$python/task)" | sort -u | wc -l)" 2
stop $python

# --- windows
set_thread_times interval_ms 3600000
set_thread_times flip 1
burn user 0
sleep 1
set_thread_times flip 1
stop $burner
take thread_times
check "a complete window" is "$(summary state) $(($(sum user_ticks) + $(sum kernel_ticks)))" "complete $(summary events)"
check "a complete window: the same for any read size" cmp <(cat $proc/thread_times) <(dd if=$proc/thread_times bs=1 2>/dev/null)
rmmod thread_times
check "nothing is left" [ ! -e $proc ]
plan
