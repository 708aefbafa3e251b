#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tapsym on a kernel and a module that are made here, with debug information, and on what a machine may lack.
. "$(dirname "$0")/../static/lib.sh"
need_packages groff-base libc6-dev libdw-dev make

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
make -s -C userspace O="$tmp/bin" CFLAGS='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all' all
export ASAN_OPTIONS=detect_leaks=0	# it is one answer and the end
export TAP_ROOT=$tmp/root
release=$(uname -r)

# tapsym [arguments] - its output is $tmp/out, what it complains of $tmp/err
tapsym()
{
	timeout 60 "$tmp/bin/tapsym" "$@" >"$tmp/out" 2>"$tmp/err"
}

# TEXT STATUS PATTERN COMMAND... - it fails so, and the one line that it says matches
fails()
{
	local status=0

	"${@:4}" || status=$?
	check "$1" [ "$status" = "$2" -a ! -s "$tmp/out" ]
	check "$1: one clear line" grep -qxE "tapsym: $3" "$tmp/err"
	check "$1: and no other" [ "$(wc -l <"$tmp/err")" = 1 ]
}

prints()
{
	check "$1" diff <(echo "$2") "$tmp/out"
}

# --- a kernel of two source files, where two functions have one name, one is inlined, one has an alias
mkdir -p "$tmp"/src/{mm/deep,fs} "$TAP_ROOT"/{proc,sys/kernel/tracing}
cat >"$tmp/src/mm/one.c" <<'END'
int sink;
static inline __attribute__((always_inline)) void mm_inlined(void) { sink++; }
static __attribute__((noinline)) void twice(void) { sink += 2; }
__attribute__((noinline)) void mm_one(void) { mm_inlined(); twice(); }
extern void mm_alias(void) __attribute__((alias("mm_one")));
END
cat >"$tmp/src/mm/deep/two.c" <<'END'
extern int sink;
__attribute__((noinline)) void mm_two(void) { sink = 2; }
END
cat >"$tmp/src/fs/three.c" <<'END'
extern int sink;
static __attribute__((noinline)) void twice(void) { sink += 3; }
__attribute__((noinline)) void fs_three(void) { twice(); }
END
echo '.globl _text; _text: nop; .section .note.GNU-stack' >"$tmp/src/text.S"
objects=()
for file in text.S mm/one.c mm/deep/two.c fs/three.c; do
	(cd "$tmp/src" && gcc -g -O1 -fno-pie -fcf-protection=none -c "$file" -o "$file.o")
	objects+=("$tmp/src/$file.o")
done
gcc -nostdlib -static -no-pie -Wl,-Ttext=0x81000000,-e,_text "${objects[@]}" -o "$tmp/vmlinux"
# It runs 512 MiB above where it was linked to. This is what has moved.
nm "$tmp/vmlinux" | sort | sed 's/^000000008/00000000a/' >"$TAP_ROOT/proc/kallsyms"
at() # name [which]
{
	awk -v name="$1" -v nr="${2-1}" '$3 == name && ++n == nr { sub(/^0*/, "", $1); print $1 }' "$TAP_ROOT/proc/kallsyms"
}
# further NAME NUMBER THAN - as tapsym writes it
further() # address than
{
	printf '+%x' $((0x$1 - 0x$2))
}
# Of two names the kernel shows the first in its file.
first=$(awk '$3 == "mm_one" || $3 == "mm_alias" { print $3; exit }' "$TAP_ROOT/proc/kallsyms")

tapsym -d "$tmp/vmlinux" functions '*@mm/*.c'
prints "a source file" "functions=twice@$(at twice),$first@$(further "$(at mm_one)" "$(at twice)")"
tapsym -d "$tmp/vmlinux" functions 'twice@*/*.c'
prints "functions of one name: both" "functions=twice@$(at twice),twice@$(further "$(at twice 2)" "$(at twice)")"
tapsym -d "$tmp/vmlinux" functions 'mm_t?o@deep/two.c' 'fs_*@*/three.c'
prints "two patterns" "functions=mm_two@$(at mm_two),fs_three@$(further "$(at fs_three)" "$(at mm_two)")"
tapsym -d "$tmp/vmlinux" functions '*@mm/*.c' 'nothing@mm/*.c'
check "a pattern that finds nothing is said" grep -qx "tapsym: nothing@mm/\*.c: no function .*" "$tmp/err"
check "a pattern that finds nothing: the other one does" grep -q '^functions=twice@' "$tmp/out"
printf '%s\n' mm_two fs_three >"$TAP_ROOT/sys/kernel/tracing/available_filter_functions"
tapsym -d "$tmp/vmlinux" functions '*@*.c'
prints "what can be traced" "functions=mm_two@$(at mm_two),fs_three@$(further "$(at fs_three)" "$(at mm_two)")"
fails "an inlined function is none" 1 'mm_inlined@mm/one.c: no function .*' \
	tapsym -d "$tmp/vmlinux" functions mm_inlined@mm/one.c
rm "$TAP_ROOT/sys/kernel/tracing/available_filter_functions"

# --- where packages put it
fails "no debug information" 1 \
	"there is no debug information of kernel $release: apt install linux-image-$release-dbg, or use patterns of names, .*functions='vfs_\*,tcp_\*'" \
	tapsym functions '*@mm/*.c'
mkdir -p "$TAP_ROOT/usr/lib/debug/boot"
cp "$tmp/vmlinux" "$TAP_ROOT/usr/lib/debug/boot/vmlinux-$release"
tapsym functions '*@fs/three.c'
prints "a package's file" "functions=twice@$(at twice 2),fs_three@$(further "$(at fs_three)" "$(at twice 2)")"

# --- a module, which is not linked yet
dir=usr/lib/debug/lib/modules/$release/kernel/drivers
mkdir -p "$TAP_ROOT/$dir" "$TAP_ROOT/lib/modules/$release" "$TAP_ROOT/sys/module/a_module/sections" "$tmp/src/drivers"
cat >"$tmp/src/drivers/a.c" <<'END'
int a_sink;
__attribute__((noinline)) void a_one(void) { a_sink++; }
__attribute__((noinline, section(".text.far"))) void a_far(void) { a_sink--; }
END
(cd "$tmp/src" && gcc -g -O1 -fno-pie -fcf-protection=none -mcmodel=kernel -c drivers/a.c -o "$TAP_ROOT/$dir/a-module.ko.debug")
printf 'kernel/drivers/a-module.ko: kernel/drivers/b.ko\nkernel/drivers/b.ko:\n' >"$TAP_ROOT/lib/modules/$release/modules.dep"
echo 0xc0001000 >"$TAP_ROOT/sys/module/a_module/sections/.text"
echo 0xc0009000 >"$TAP_ROOT/sys/module/a_module/sections/.text.far"
printf '%s\ta_module\n' '00000000c0001000 T a_one' '00000000c0009000 T a_far' | sed 's/\ta_module/\t[a_module]/' >>"$TAP_ROOT/proc/kallsyms"
tapsym functions '*@drivers/*.c'
prints "a module" "functions=a_one@c0001000,a_far@+8000"
rm -r "$TAP_ROOT/sys/module/a_module"
fails "a module that is not loaded" 1 '\*@drivers/\*\.c: no function .*' tapsym functions '*@drivers/*.c'

# --- what can be wrong
gcc -c -x c /dev/null -o "$tmp/plain.ko"
fails "a file without debug information" 1 "$tmp/plain.ko has no debug information" tapsym -d "$tmp/plain.ko" functions '*@*.c'
fails "a file that is not there" 1 "$tmp/nosuch: .*" tapsym -d "$tmp/nosuch" functions '*@*.c'
fails "a program is no kernel" 1 '.*/true has no symbol _text.*' tapsym -d "$(type -P true)" functions '*@*.c'
fails "a pattern without a file" 2 'vfs_read is no PATTERN@FILE.*' tapsym functions vfs_read
fails "no pattern" 2 'usage: tapsym functions .*' tapsym functions
sed -i 's/^[0-9a-f]*/0000000000000000/' "$TAP_ROOT/proc/kallsyms"
fails "the kernel hides its addresses" 1 '.*/proc/kallsyms shows no addresses: be root.*' tapsym functions '*@mm/*.c'
check "-h" tapsym -h
check "-h: each command" grep -q '^  functions ' "$tmp/out"
check "--help" tapsym --help
check "-V" tapsym -V
prints "-V: the suite's version" "tapsym $(cat VERSION)"
check "the manual page is one" nothing groff -man -ww -z -Tutf8 userspace/tapsym.1
plan
