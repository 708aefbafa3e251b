#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tapcat against files that behave as those of a tool do (fakeproc.c), as it is,
# with sanitizers and under valgrind. The real files: tests/tools/tapcat.sh.
. "$(dirname "$0")/../static/lib.sh"
need_packages clang gcc-multilib groff-base libc6-dbg libdw-dev make valgrind

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export TAP_PROC=$tmp/proc TAP_DEBUGFS=$tmp/debugfs
export FAKE_FLIP=$tmp/flip:$tmp/last FAKE_GONE=$tmp/gone
export ASAN_OPTIONS=detect_leaks=1
trailer="# window_ms=500 state=complete rows=1 shown=1 events=1 lost=0 self=0"

build() # folder compiler [flags]
{
	make -s -C userspace O="$tmp/$1" CC="$2" CFLAGS="${*:3}" "$tmp/$1/tapcat"
}

# TEXT, then what should come out; the output of the last tapcat is $tmp/out.
is()
{
	# shellcheck disable=SC2059 # it has escapes
	check "$1" diff -u <(printf "$2") "$tmp/out"
}

# A fresh fake of a tool; file descriptor 3 writes what it has to say.
fake() # tool [what it has to say from the start]
{
	rm -rf "$TAP_PROC" "$TAP_DEBUGFS" "${FAKE_FLIP%:*}" "${FAKE_FLIP#*:}" "$FAKE_GONE"
	mkdir -p "$TAP_PROC" "$TAP_DEBUGFS/${1%.json}"
	mkfifo "$TAP_PROC/$1"
	exec 3<>"$TAP_PROC/$1"
	echo pid=1 >"$TAP_DEBUGFS/${1%.json}/filter"
	touch "$TAP_DEBUGFS/${1%.json}/reset" "$tmp/flip"
	ln -s "$tmp/flip" "$TAP_DEBUGFS/${1%.json}/flip"
	# shellcheck disable=SC2059
	printf "${2-}" >&3
}

tapcat()
{
	tapcat_to "$tmp/out" "$@"
}

tapcat_to() # file [arguments]
{
	local status=0

	timeout 60 env LD_PRELOAD="$fakeproc" "${tapcat[@]}" "${@:2}" \
		>"$1" 2>"$tmp/err" 3>&- || status=$?
	clean || status=99
	return "$status"
}

tapcat_closed()
{
	timeout 60 env LD_PRELOAD="$fakeproc" "${tapcat[@]}" "$@" >&- 2>"$tmp/err" 3>&-
}

# Neither valgrind nor the sanitizers have anything to say.
clean()
{
	! grep -E '^==|runtime error' "$tmp/err"
}

# succeeds if the command has this status
status() # status command...
{
	local status=0

	"${@:2}" || status=$?
	[ "$status" = "$1" ] || {
		echo "status $status"
		cat "$tmp/err"
		return 1
	}
}

said() # pattern
{
	grep -qE "$1" "$tmp/err" || {
		cat "$tmp/err"
		return 1
	}
}

# Waits for a condition; only a hang takes so long.
until_true()
{
	local i

	for ((i = 0; i < 600; i++)); do
		! "$@" 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}

# Starts tapcat in the background; stop and ended set $ended to its status.
start()
{
	env LD_PRELOAD="$fakeproc" "${tapcat[@]}" "$@" \
		>"${out:-$tmp/out}" 2>"$tmp/err" 3>&- &
	pid=$!
}
stop() # signal
{
	kill -"$1" "$pid"
	ended
}
ended()
{
	until_true gone "$pid" || kill -KILL "$pid"
	ended=0
	wait "$pid" 2>/dev/null || ended=$?
	clean || ended=99
}
gone()
{
	[ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"
}

test_cat()
{
	fake nettop
	rm "$TAP_PROC/nettop"
	seq -f 'a row %.0f that is long enough to fill some buffers' 1 5000 >"$TAP_PROC/nettop"
	echo "$trailer" >>"$TAP_PROC/nettop"
	check "a file comes out as it is" tapcat nettop
	check "all of it" cmp "$TAP_PROC/nettop" "$tmp/out"
	touch "$TAP_PROC/nettop.json" "$TAP_PROC/topsys"
	echo '{}' >"$TAP_PROC/nettop.json"
	check "-j: the JSON file" tapcat -j nettop
	is "-j: what is in it" '{}\n'
	check "-l" tapcat -l
	check "-l: the tools, not their other files" \
		diff -u <(printf 'nettop\ntopsys\n') <(sort "$tmp/out")
}

test_wrong()
{
	local args

	fake nettop
	for args in "" "a b" "-x nettop" "-n 0 nettop" "-n 1x nettop" "-n -1 nettop" \
		"-n 1 -c true nettop" "../proc/nettop"; do
		# shellcheck disable=SC2086 # words
		check "wrong usage: $args" status 2 tapcat $args
		check "wrong usage: it is explained" said '^usage: '
	done
	check "-h" tapcat -h
	check "-h ends with examples" grep -A9 '^examples:' "$tmp/out"
	check "a tool that is not loaded" status 1 tapcat topsys
	check "a tool that is not loaded: what to do" \
		said '^tapcat: topsys: not loaded \(insmod topsys.ko or modprobe topsys\)$'
	rm -r "$TAP_DEBUGFS"
	check "-c without debugfs" status 1 tapcat -c "touch $tmp/ran" nettop
	check "-c without debugfs: it is said" said 'debugfs.*: No such file or directory$'
	check "-c without debugfs: the command is not run" [ ! -e "$tmp/ran" ]
	fake nettop
	ln -sf /proc/self/oom_score_adj "$TAP_DEBUGFS/nettop/filter" # does not like tree=
	printf 'bytes: 0\nrefused: filter=tree=1: no\n' >"$TAP_DEBUGFS/nettop/stats"
	check "-c with a refused filter" status 1 tapcat -c "touch $tmp/ran" nettop
	check "-c with a refused filter: the error" said 'filter: Invalid argument$'
	check "-c with a refused filter: the reason" said '^refused: filter=tree=1: no$'
	check "-c with a refused filter: the command is not run" [ ! -e "$tmp/ran" ]
}

test_output()
{
	fake nettop "$trailer\nrow\n$trailer\n"
	check "no room for the output" status 1 tapcat_to /dev/full -n 1 nettop
	check "no room for the output: it is said" said '^tapcat: write: No space left on device$'
	fake nettop "$trailer\nrow\n$trailer\n"
	check "output closed" status 1 tapcat_closed -n 1 nettop
	check "output closed: it is said" said '^tapcat: write: Bad file descriptor$'

	fake nettop
	mkfifo "$tmp/pipe"
	out=$tmp/pipe start -f nettop
	exec 4<"$tmp/pipe"
	exec 4<&-
	ended
	check "the reader of the output ends while nothing happens" [ "$ended" = 1 ]
	check "the reader ends: it is said" said '^tapcat: write: Broken pipe$'

	# 100,000 bytes are more than a pipe takes.
	fake stream
	exec 4<>"$tmp/pipe"
	out=$tmp/pipe start -f stream
	head -c 100000 /dev/zero | tr '\0' '1' | fold -w 100 >&3
	stop TERM
	# 0 if it came before the pipe was full, which is right too.
	check "a signal ends it while nobody reads the output" [ "$ended" -le 1 ]
	exec 4>&-
	rm "$tmp/pipe"

	fake stream '1\n'
	touch "$FAKE_GONE"
	check "the module has gone" status 1 tapcat -f stream
	check "the module has gone: it is said" said 'module unloaded: Input/output error$'
}

# Three windows: the first is there before, two come.
windows="head\nold\n$trailer\nhead\nrow 1\n$trailer\nhead\nrow 2\n$trailer\n"
dashes=--------------------------------------------------------------

test_tables()
{
	local tool want

	while IFS=: read -r tool want; do
		fake "$tool" "$windows"
		check "$tool: follow two windows" tapcat -n 2 "$tool"
		is "$tool: the script's layout" "$want"
	done <<-END
		disktop:head\nrow 1\nhead\nrow 2\nEND!\n
		dropwatch:Monitoring for dropped packets\n\nhead\nrow 1\n\nhead\nrow 2\nStopping dropped packet monitor\n
		functioncallcount:head\nrow 1\nhead\nrow 2\n
		ioblktime:head\nrow 1\nhead\nrow 2\n
		nettop:head\nrow 1\n\nhead\nrow 2\n\n
		thread_times:head\nrow 1\n\nhead\nrow 2\n\n
		timeout:head\nrow 1\nhead\nrow 2\n
		topsys:head\nrow 1\n\\055${dashes:1}\nhead\nrow 2\n\\055${dashes:1}\n
		traceio:head\nrow 1\n\nhead\nrow 2\n\n
	END
	fake nettop "$windows"
	check "-t" tapcat -t -n 2 nettop
	is "-t: with trailers" "head\nrow 1\n$trailer\n\nhead\nrow 2\n$trailer\n\n"
	fake nettop.json '{"old":1}\n'
	check "-j -c" tapcat -j -c "
		echo '{\"new\":1}' >$TAP_PROC/nettop.json; echo '{\"last\":1}' >$tmp/last" nettop
	is "-j -c: lines, without a layout" '{"new":1}\n{"last":1}\n'

	for tool in functioncallcount futexes syscalls_by_proc; do
		fake "$tool" "${windows//complete/running}"
		check "$tool: counting on" tapcat -n 1 "$tool"
		want="head\nrow 2\n"
		[ "$tool" != syscalls_by_proc ] ||
			want="Collecting data... Type Ctrl-C to exit and display results\n$want"
		is "$tool: counting on, shown once at the end" "$want"
	done

	fake dropwatch
	start -f dropwatch
	until_true grep -q Monitoring "$tmp/out"
	# at once: the shell would write line by line, and each is a window
	cat >&3 <<-END
		1 packets
		$trailer
	END
	check "-f: a window is written out when it comes" until_true grep -q '1 packets' "$tmp/out"
	stop INT
	check "-f: Ctrl-C ends it" [ "$ended" = 0 ]
	is "-f: with the script's last words" \
		'Monitoring for dropped packets\n\n1 packets\nStopping dropped packet monitor\n'
	fake timeout "$windows"
	check "the screen is cleared, if there is one" \
		grep -q $'\033' <(script -qec "env LD_PRELOAD=$fakeproc ${tapcat[*]} -n 1 timeout" /dev/null)
}

test_streams()
{
	fake stream 'UID CMD\n# 2 events lost\n1 a\n2 b\n3 c\n4 d\n'
	check "-n: events" tapcat -n 3 stream
	is "-n: headers and losses are no events" 'UID CMD\n# 2 events lost\n1 a\n2 b\n3 c\n'
	mv "$TAP_PROC/stream" "$TAP_PROC/stream.json"
	printf '%s\n' '{"tool":"s","lost":2}' '{"tool":"s","time_ns":1}' '{"summary":"s","events":1}' \
		'{"tool":"s","time_ns":2}' '{"tool":"s","time_ns":3}' >&3
	check "-j -n: events" tapcat -j -n 2 stream
	check "-j -n: losses and summaries are no events" \
		[ "$(wc -l <"$tmp/out") $(tail -n 1 "$tmp/out")" = '4 {"tool":"s","time_ns":2}' ]
	fake stream '1 a\n'
	start -f stream
	until_true grep -q '1 a' "$tmp/out"
	echo '2 b' >&3
	check "-f: an event is written out when it comes" until_true grep -q '2 b' "$tmp/out"
	stop TERM
	check "-f: SIGTERM ends it" [ "$ended" = 0 ]
	is "-f: nothing else is written" '1 a\n2 b\n'
	fake stream 'UID CMD\n# 2 events lost\n1 old\n2 old\n'
	check "-c: a stream" status 3 tapcat -c "echo 3 new >$TAP_PROC/stream; exit 3" stream
	is "-c: the header and what is new" 'UID CMD\n3 new\n'
}

test_command()
{
	local d=$TAP_DEBUGFS/nettop

	# A window completes while the command runs, another when it has ended.
	fake nettop "head\nold\n$trailer\n"
	check "-c: the command's status" status 7 tapcat -c "
		echo tree=\$\$ >$tmp/want; cat $d/filter >$tmp/filter; cat $d/reset >$tmp/reset
		printf 'row 1\n$trailer\n' >$TAP_PROC/nettop
		printf 'row 2\n$trailer\n' >$tmp/last
		exit 7" nettop
	is "-c: its windows, the last one too" 'row 1\n\nrow 2\n\n'
	check "-c: the filter was its process" grep -qxf "$tmp/want" "$tmp/filter"
	check "-c: the counters were reset" grep -q 1 "$tmp/reset"
	check "-c: the old filter is back" grep -qx pid=1 "$d/filter"
	fake nettop
	echo >"$d/filter"
	check "-c: no filter before" tapcat -c true nettop
	check "-c: no filter again" [ "$(head -n 1 "$d/filter")" = "" ]
	fake nettop
	# shellcheck disable=SC2016 # the inner shell's
	check "-c: a command that is killed" status 137 tapcat -c 'kill -KILL $$' nettop
	check "-c: a command that is not there" status 127 tapcat -c /nonexistent nettop
	fake nettop
	start -c "echo pid=\$\$; exec sleep 1000" nettop
	until_true grep -q pid= "$tmp/out"
	stop TERM
	check "-c: the command gets the signal" [ "$ended" = 143 ]
	check "-c: the old filter is back after a signal" grep -qx pid=1 "$d/filter"
	fake nettop
	out=/dev/full start -c "echo 'row
$trailer' >$TAP_PROC/nettop; sleep 0.5; touch $tmp/done" nettop
	ended
	check "-c: no room for the output" [ "$ended" = 1 ]
	check "-c: no room for the output, but the command ran on" [ -e "$tmp/done" ]
	check "-c: no room for the output, but the old filter is back" grep -qx pid=1 "$d/filter"
	rm -f "$tmp/done"
	fake nettop
	# SIGCHLD ignored by whoever starts it
	check "-c: SIGCHLD was ignored" status 7 ignoring CHLD -c 'exit 7' nettop
	# as before: timeout no longer ignores what who started it may have ignored
	# shellcheck disable=SC2016 # the inner shell's
	check "-c: the command's own signals are as before" \
		diff <(timeout 60 grep -E '^Sig(Blk|Ign)' /proc/self/status) \
		<(tapcat -c "grep -E '^Sig(Blk|Ign)' /proc/self/status" nettop; grep Sig "$tmp/out")
}

ignoring() # signal
{
	(trap '' "$1" && tapcat "${@:2}")
}

# Everything is built without a warning by all of these.
check "gcc" build gcc gcc -O2
check "gcc -O3 -D_FORTIFY_SOURCE=2" build fortify gcc -O3 -D_FORTIFY_SOURCE=2
check "gcc -m32" build m32 gcc -O2 -m32
check "gcc -fanalyzer" build analyzer gcc -O2 -fanalyzer
check "clang" build clang clang -O2
check "gcc with sanitizers" build asan gcc -g -fsanitize=address,undefined \
	-fno-sanitize-recover=all -static-libasan
for m in -m64 -m32; do
	gcc -Wall -Wextra -Werror "$m" -shared -fPIC -o "$tmp/fakeproc$m.so" tests/userspace/fakeproc.c
done

for variant in plain m32 asan valgrind; do
	fakeproc=$tmp/fakeproc-m64.so
	case $variant in
	plain) tapcat=("$tmp/gcc/tapcat") ;;
	valgrind) tapcat=(valgrind -q --error-exitcode=99 "$tmp/gcc/tapcat") ;;
	asan) tapcat=("$tmp/asan/tapcat") ;;
	m32)
		tapcat=("$tmp/m32/tapcat")
		fakeproc=$tmp/fakeproc-m32.so
		;;
	esac
	echo "# $variant"
	test_cat
	test_wrong
	test_output
	test_tables
	test_streams
	test_command
done

check "make install" make -s -C userspace O="$tmp/gcc" DESTDIR="$tmp/root" install
check "make install: where things belong" diff <(cd "$tmp/root" && find . -type f | sort) - <<-END
	./usr/bin/tapcat
	./usr/bin/tapsym
	./usr/share/bash-completion/completions/tapcat
	./usr/share/man/man1/tapcat.1
	./usr/share/man/man1/tapsym.1
END
check "-V" [ "$("$tmp/gcc/tapcat" -V)" = "tapcat $(cat VERSION)" ]
completed() # word... - what the last of them may become
{
	# shellcheck disable=SC2016 # the inner shell's
	PATH=$tmp/gcc:$PATH bash -c '. userspace/tapcat.bash-completion
		COMP_WORDS=(tapcat "$@") COMP_CWORD=$#
		_tapcat
		echo "${COMPREPLY[*]}"' - "$@"
}
fake topsys
check "completion: a tool" [ "$(completed -f to)" = topsys ]
check "completion: an option" [ "$(completed -)" = "-c -f -h -j -l -n -t -V" ]
check "the man page has no error" nothing groff -man -ww -z userspace/tapcat.1
check "the man page has the options" diff \
	<("$tmp/gcc/tapcat" -h | grep -oE '^  -[a-z]| -[hlV]\b' | tr -d ' ' | sort -u) \
	<(sed -n 's/^\.B.* "*\\\(-[a-zA-Z]\).*/\1/p' userspace/tapcat.1 | sort -u)
plan
