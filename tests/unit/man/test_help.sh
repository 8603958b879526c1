#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# --help of every program and every command: it goes to stdout with status 0, in
# lines that fit a terminal, whether a session runs or not.
# usage: test_help.sh PROGRAM...
set -u
n=0 failed=0

ok() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"
	else failed=1; echo "not ok $n - $2"; fi
}
helps() { # NAME COMMAND...
	local name=$1 out; shift
	out=$(env -i HOME=/nonexistent "$@" 2>/dev/null </dev/null); local rc=$?
	[ $rc = 0 ] && [[ $out == usage:* ]] && [[ $out == *"${name##* }"* ]]
	ok $? "$name --help"
	[ "$(awk 'length > 100' <<<"$out" | wc -l)" = 0 ]
	ok $? "... fits a terminal"
}

for program in "$@"; do
	name=${program##*/}
	helps "$name" "$program" --help
	helps "$name" "$program" -h
	[ "$name" = icctl ] || continue
	commands=$("$program" help all | grep -oE '^  [a-z]+' | tr -d ' ')
	[ "$(wc -w <<<"$commands")" -ge 17 ]; ok $? "icctl help all lists commands"
	for c in $commands; do
		helps "icctl $c" "$program" "$c" --help
		helps "icctl $c" "$program" "$c" -h
		helps "icctl $c" "$program" help "$c"
		case $c in start | mcp | policy) continue ;; esac
		page=$("$program" "$c" --help | sed -n '$s/^Details: \(icctl[a-z-]*\)(1)\.$/\1/p')
		[ -n "$page" ] && [ -e "${0%/*}/../../../man/$page.1" ]
		ok $? "icctl $c --help ends with the page that has it: $page"
	done
	for tool in $("$program" policy --help | grep -oE '^  [a-z][a-z-]+' | tr -d ' ' | sort -u); do
		helps "icctl policy $tool" "$program" policy "$tool" --help
		helps "icctl policy $tool" "$program" policy "$tool" -h
	done
done
echo "1..$n"
exit "$failed"
