#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every shell script passes shellcheck.
. "$(dirname "$0")/lib.sh"
need_packages shellcheck git

for file in $(sources '*' | xargs grep -lIE '^#!.*\b(ba|da)?sh\b|^# shellcheck shell='); do
	check "$file" shellcheck -x -P SCRIPTDIR "$file"
done
plan
