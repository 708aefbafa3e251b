#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Memory runs out at each place where loading a tool asks for some, one place after the other, by the kernel's fault
# injection (/proc/PID/fail-nth). The tool loads, or insmod fails and nothing is left; then it loads and works.
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

# sweep.pl FILE TOOL: prints what is not as it should be, and a last line "# ..." that says how far it came. Most requests
# for memory are the kernel's own, before and after the module's init function runs: of these every STEP-th one is enough.
cat >"$tmp/sweep.pl" <<'END'
use strict;
my ($file, $tool, $parameters) = @ARGV;
my (%seen, $n);

open my $module, '<', $file or die;
# Opened anew each time: it is written by system call number, so that perl asks for nothing in between.
sub fail { open my $nth, '>', '/proc/thread-self/fail-nth' or die; syswrite $nth, $_[0] or die }
sub left { open my $nth, '<', '/proc/thread-self/fail-nth' or die; <$nth> + 0 }

for ($n = 1; ; $n++) {
	my $arguments = $parameters;
	fail $n;
	my $done = syscall(313, fileno $module, $arguments, 0) == 0;
	my $error = $done ? 'ok' : "$!";
	my $rest = left;
	fail 0;
	$seen{$error}++;
	print "request $n: $error\n" if $error ne 'ok' && $error ne 'Cannot allocate memory' && !seldom($error);
	if ($done) {
		open my $data, '<', "/proc/tap/$tool" or print "request $n: loaded, but no file\n";
		close $data;
		syscall(176, $tool, 2048) == 0 or die "request $n: delete_module: $!\n";
	}
	-e $_ and print "request $n: $_ is left\n" for "/proc/tap", "/sys/module/$tool", "/sys/kernel/debug/tap";
	# the module asked less often than that: it was not disturbed
	last if $rest;
}
print '# ', $n - 1, ' requests: ', join(', ', map { "$seen{$_} times $_" } sort keys %seen), "\n";
sub seldom { 0 }
END
