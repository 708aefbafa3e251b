#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: tests/vm/selftest.sh NAME
#
# Does tests/vm/guest tell well from ill on the kernel NAME? Prints TAP. faults/
# is a module with a fault of each kind.

# shellcheck source=../static/lib.sh
. "$(dirname "$0")/../static/lib.sh"

[ $# = 1 ] || die "usage: tests/vm/selftest.sh NAME"
name=$1
tests/vm/kernel "$name" >/dev/null
work=$TAP_TOP/build/faults/$name
tests/vm/build "$name" -s -C tests/vm/faults "DIR=$work"

# Run the script on stdin in a guest; what it and the host say goes to the file
# log, the exit status to the variable status.
guest()
{
	cat >"$work/script"
	status=0
	tests/vm/guest -k "$name" -O "$work/results" "$@" >"$work/log" 2>&1 || status=$?
}

is()
{
	[ "$1" = "$2" ] && return
	echo "$1 instead of $2"
	tail -n 20 "$work/log"
	return 1
}

said()
{
	grep -qE "$1" "$work/log" && return
	echo "nothing like: $1"
	tail -n 20 "$work/log"
	return 1
}

rm -rf "$work/results"
guest -o "$work/output" "$work/script" 'a  b' "c'd" <<-'END'
	printf '%s|' "$@" "$TAP_KNAME" "$(uname -r)" "$TAP_KVER" "$PWD"
	echo
	read -r line || echo no input
	insmod "$TAP_TOP/build/faults/$TAP_KNAME/faults.ko" fault=none || exit 1
	sleep 1000 &
	echo result >"$TAP_OUT/result"
	echo changed >>"$TAP_TOP/tests/vm/selftest.sh" && tail -n 1 "$TAP_TOP/tests/vm/selftest.sh"
	exit 7
END
release=$(tests/vm/kernel "$name")
check "the script's exit status is the guest's" is "$status" 7
check "arguments, environment and output go through" \
	is "$(cat "$work/output")" "$(printf '%s\n' "a  b|c'd|$name|$release|$release|$TAP_TOP|" 'no input' changed)"
check "what is put into TAP_OUT comes back" is "$(cat "$work/results/result")" result
check "what the guest writes elsewhere stays there" is "$(grep -c '^changed' tests/vm/selftest.sh)" 0

guest "$work/script" <<-'END'
	echo 'reboot: Restarting system' | tee /dev/kmsg >/dev/console
	echo 0
	busybox reboot -f
END
check "a guest that ends before its script does is dead, whatever its console says" is "$status" 125

guest "$work/script" <<-'END'
	insmod "$TAP_TOP/build/faults/$TAP_KNAME/faults.ko" fault=warn
	exit 0
END
check "a warning is found" is "$status" 125
check "the warning is shown" said 'faults: this was asked for'

guest -t 30 "$work/script" <<-'END'
	exec sleep 1000000
END
check "a script that does not end is a hang" is "$status" 124
check "the tasks of a guest that hangs are shown" said 'task:sleep'

case $name in
debug)
	guest "$work/script" <<-'END'
		for fault in sleep deadlock leak; do
			insmod "$TAP_TOP/build/faults/$TAP_KNAME/faults.ko" fault=$fault && rmmod faults || exit 1
		done
	END
	check "reports that are no warnings are found" is "$status" 125
	check "sleeping in atomic context is shown" said 'BUG: sleeping function called from invalid context'
	check "locks in the wrong order are shown" said 'possible circular locking dependency'
	check "a leak is shown" said 'faults_init'

	guest "$work/script" <<-'END'
		insmod "$TAP_TOP/build/faults/$TAP_KNAME/faults.ko" fault=use-after-free
		exit 0
	END
	check "use after free is found" is "$status" 125
	check "use after free is shown" said 'KASAN: (slab-)?use-after-free'
	;;
kcsan)
	guest "$work/script" <<-'END'
		insmod "$TAP_TOP/build/faults/$TAP_KNAME/faults.ko" fault=race
		exit 0
	END
	check "a data race is found" is "$status" 125
	check "the data race is shown" said 'KCSAN: data-race in racer'
	;;
esac
plan
