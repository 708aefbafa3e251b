# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # what is set here is used by who sources it
# What the scripts in tests/tools share; they run in a guest. Sourced, never run.

# shellcheck source=../static/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../static/lib.sh"

workloads=$TAP_TOP/build/workloads
proc=/proc/tap
debugfs=/sys/kernel/debug/tap
tmp=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT

# required TOOL - the parameter without which it does not load, if there is one
required()
{
	case $1 in
	functioncallcount) echo 'functions=vfs_*' ;;
	esac
}

# load TOOL [parameter...]
load()
{
	local more

	more=$(required "$1")
	[[ " ${*:2}" != *" ${more%%=*}="* ]] || more=''
	insmod "$TAP_KO/$1.ko" ${more:+"$more"} "${@:2}"
}

# set_to TOOL NAME VALUE - change a setting
set_to()
{
	echo "$3" >"$debugfs/$1/$2"
}

# is_stream TOOL - it tells events; the others count
is_stream()
{
	[[ $(modinfo -p "$TAP_KO/$1.ko") == *buffer_kb:* ]]
}

# is A B - succeeds if both are the same
is()
{
	[ "$1" = "$2" ] && return
	echo "$1 instead of $2"
	return 1
}

# Waits for a condition; only a hang takes so long.
until_true() # command...
{
	local i

	for ((i = 0; i < 600; i++)); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	echo "never true: $*"
	"$@" || return
	echo "it is now"
	return 1
}

# take TOOL [FILE] - a snapshot of a tool, or what FILE has of it, for sum, count
# and summary: for each object a line of name=value words, divided by tabs. This
# is many times faster than jq; a test of the JSON itself takes jq.
take()
{
	sed -E 's/^\{"//; s/\}$//; s/,"/\t/g; s/":"?/=/g; s/"(\t|$)/\1/g' "${2-$proc/$1.json}" >"$tmp/rows"
}

# rows [name=value...] - those that have all these values
rows()
{
	local row value

	while IFS= read -r row; do
		[[ $row == tool=* ]] || continue
		for value; do
			[[ $row$'\t' == *$'\t'"$value"$'\t'* ]] || continue 2
		done
		printf '%s\n' "$row"
	done <"$tmp/rows"
}

# sum FIELD [name=value...] - a field added up over rows
sum()
{
	local row total=0

	while IFS= read -r row; do
		row=${row#*$'\t'"$1="}
		total=$((total + ${row%%$'\t'*}))
	done < <(rows "${@:2}")
	echo "$total"
}

# count [name=value...] - how many rows there are
count()
{
	local found

	mapfile -t found < <(rows "$@")
	echo "${#found[@]}"
}

# summary FIELD - a field of the summary
summary()
{
	local row

	while IFS= read -r row; do
		[[ $row == summary=* ]] || continue
		row=${row#*$'\t'"$1="}
		echo "${row%%$'\t'*}"
	done <"$tmp/rows"
}

# super_dev FILE - the kernel's number of the file system that it is on, MAJOR:MINOR, which stat does not tell of btrfs
super_dev()
{
	findmnt -n -o MAJ:MIN -T "$1" | xargs
}

# disk NAME [TYPE] - a file system (default: ext4) on a loop device, mounted on $tmp/NAME
disk()
{
	local type=${2-ext4}

	modprobe -a loop "$type"
	truncate -s 320M "$tmp/$1.image"	# the least that xfs wants
	"mkfs.$type" -q "$tmp/$1.image" >/dev/null 2>&1
	mkdir "$tmp/$1"
	mount -o loop "$tmp/$1.image" "$tmp/$1"
}

# hold COMMAND... - starts a command that is stopped before it begins; its pid
# is $held
hold()
{
	# shellcheck disable=SC2016 # the inner shell's
	bash -c 'kill -STOP $$; exec "$@"' - "$@" &
	held=$!
	until_true grep -q '^State:.T' "/proc/$held/status"
}

# Lets what is held run to its end.
finish()
{
	kill -CONT "$held"
	wait "$held"
}

# start_nginx LISTEN [command...] - starts nginx, by a command such as nsenter,
# with the files of $tmp/www, sent by sendfile() if sendfile=on is set; a
# connection for each request
start_nginx()
{
	local listen=$1

	shift
	mkdir -p "$tmp/www"
	chmod 755 "$tmp" "$tmp/www"
	cat >"$tmp/nginx.conf" <<-END
		pid $tmp/nginx.pid;
		user nobody nogroup;
		worker_processes 2;
		events { }
		http {
			access_log off;
			keepalive_timeout 0;
			sendfile ${sendfile-off};
			client_body_temp_path $tmp/body;
			proxy_temp_path $tmp/proxy;
			fastcgi_temp_path $tmp/fastcgi;
			uwsgi_temp_path $tmp/uwsgi;
			scgi_temp_path $tmp/scgi;
			server { listen $listen; root $tmp/www; }
		}
	END
	"$@" nginx -e stderr -c "$tmp/nginx.conf"
}
stop_nginx()
{
	kill "$(cat "$tmp/nginx.pid")"
}
