#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Memory runs out where loading a tool asks for some, at one place after the other, by the kernel's fault injection
# (/proc/PID/fail-nth). The tool loads, or insmod says that there is no memory and nothing is left; afterwards it loads
# and works. The tools have the library in common: each takes its share of the places.
. "$(dirname "$0")/../tools/lib.sh"

if [ ! -e /proc/self/fail-nth ]; then
	echo "1..0 # SKIP this kernel has no fault injection"
	exit
fi
mapfile -t tools <TOOLS
for kind in failslab fail_page_alloc; do
	echo N >/sys/kernel/debug/$kind/ignore-gfp-wait
	echo 0 >/sys/kernel/debug/$kind/verbose
done
echo N >/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem
echo 0 >/sys/kernel/debug/fail_page_alloc/min-order

# sweep.pl FILE TOOL FIRST STEP [PARAMETER]: prints what is not as it should be.
cat >"$tmp/sweep.pl" <<'END'
use strict;
use Errno 'ENOMEM';
my ($file, $tool, $first, $step, $parameter) = @ARGV;
my ($refused, $loaded) = (0, 0);

open my $module, '<', $file or die "$file: $!";
open my $nth, '+<', '/proc/thread-self/fail-nth' or die "fail-nth: $!";
for (my $n = $first; ; $n += $step) {
	my $parameters = $parameter // '';
	syswrite $nth, $n or die "fail-nth: $!";
	my $done = syscall(313, fileno $module, $parameters, 0) == 0;		# finit_module
	my $error = $!;
	# what is left of the count; 0: it was reached
	sysseek $nth, 0, 0;
	sysread $nth, my $left, 16;
	syswrite $nth, 0;
	if ($done) {
		$loaded++;
		-e "/proc/tap/$_" or print "request $n: loaded, without $_\n" for $tool, "$tool.json";
		syscall(176, $tool, 2048) == 0 or die "request $n: delete_module: $!\n";
	} else {
		$refused++;
		$error == ENOMEM or print "request $n: $error\n";
	}
	-e $_ and print "request $n: $_ is left\n" for '/proc/tap', "/sys/module/$tool", '/sys/kernel/debug/tap';
	last if $left > 0;
}
$refused or print "no request failed\n";
END

for i in "${!tools[@]}"; do
	tool=${tools[i]}
	check "$tool: loads, or not, and nothing is left" \
		nothing perl "$tmp/sweep.pl" "$TAP_KO/$tool.ko" "$tool" $((i + 1)) ${#tools[@]} "$(required "$tool")"
	check "$tool: loads afterwards" load "$tool"
	check "$tool: works" grep -q . "$proc/$tool"
	rmmod "$tool"
done
check "/proc/tap is gone" [ ! -e $proc ]
plan
