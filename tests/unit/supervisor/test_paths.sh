#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# No program contains the path where it was built: two builds of one commit are
# identical.
# usage: test_paths.sh SOURCE-ROOT PROGRAM...
set -u
n=0 failed=0
root=$1; shift
for program in "$@"; do
	n=$((n + 1))
	if grep -qF "$root/" "$program"; then
		failed=1
		echo "not ok $n - ${program##*/} names the folder that it was built in"
		grep -aoE "[[:print:]]*$root/[[:print:]]*" "$program" | head -3 | sed 's/^/#   /'
	else
		echo "ok $n - ${program##*/} does not name the folder that it was built in"
	fi
done
echo "1..$n"
exit "$failed"
