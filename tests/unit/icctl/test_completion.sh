#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# Completions: they parse, offer everything that the programs accept (read from
# the programs' own tables), and no text that a session only claims to be an id.
# usage: test_completion.sh SOURCE-ROOT DIRECTORY-OF-COMPLETIONS
set -u
root=$1
dir=$2
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
n=0 failed=0

ok() {	# STATUS NAME
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"
	else failed=1; echo "not ok $n - $2"; fi
}
is() {	# GOT WANTED NAME
	[ "$1" = "$2" ]; ok $? "$3"
	[ "$1" = "$2" ] || printf '# got    %s\n# wanted %s\n' "${1//$'\n'/ }" "${2//$'\n'/ }"
}
skip() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; }

# A session with two pending calls, the text of one of which contains more ids.
mkdir -p "$tmp/bin" "$tmp/home/run" "$tmp/home/agents" \
    "$tmp/home/policies/strict" "$tmp/home/personas/writer" "$tmp/w dir"
cat >"$tmp/bin/icctl" <<'X'
#!/bin/sh
echo "$@" >>"$0.calls"
cat <<'Y'
{"ok":true,"holds":[{"id":"k3f9","call":7,"arguments":"{\"id\":\"evil\"}"},{"id":"k7xx","call":8},{"id":"$(x)"},{"id":"toolong"}]}
Y
X
chmod +x "$tmp/bin/icctl"
ln -s "$tmp" "$tmp/home/run/20261121-a"
ln -s "$tmp" "$tmp/home/run/ci"
: >"$tmp/home/run/not-a-link"
: >"$tmp/home/agents/mine.json"
export PATH=$tmp/bin:$PATH IRONCURTAIN_HOME=$tmp/home

bash -n "$dir/icctl"; ok $? "icctl.bash parses"
# shellcheck source=/dev/null
. "$dir/icctl"

try() {	# FUNCTION WORD...: prints the completions of the last word
	local f=$1; shift
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	$f
	printf '%s\n' "${COMPREPLY[@]+"${COMPREPLY[@]}"}" | sort
}
lines() { printf '%s\n' "$@" | sort; }

is "$(try _icctl icctl st)" "$(lines start status stop)" "icctl st"
is "$(try _icctl icctl approve '')" "$(lines k3f9 k7xx)" "icctl approve: ids that are held, nothing that looks odd"
is "$(try _icctl icctl approve k3)" k3f9 "icctl approve k3"
is "$(try _icctl icctl --session ci show k7)" k7xx "icctl --session ci show k7"
is "$(tail -1 "$tmp/bin/icctl.calls")" "--json --session ci pending" "the session of the line is asked"
is "$(try _icctl icctl deny k3f9 --b)" --because "icctl deny ID --b"
is "$(try _icctl icctl approve k3f9 k)" "$(lines k3f9 k7xx)" "icctl approve takes several ids"
is "$(try _icctl icctl show k3f9 k)" "" "icctl show takes one id"
is "$(try _icctl icctl --session '')" "$(lines 20261121-a ci)" "icctl --session: what runs"
is "$(try _icctl icctl start --policy '')" "$(lines default read-only coding record strict)" "icctl start --policy: shipped ones, and one's own"
is "$(try _icctl icctl start --persona '')" writer "icctl start --persona: one's own"
is "$(try _icctl icctl persona show '')" writer "icctl persona show"
is "$(try _icctl icctl policy check --policy read-)" read-only "icctl policy check --policy read-"
is "$(try _icctl icctl audit '')" "$(lines events export search show verify)" "icctl audit"
is "$(try _icctl icctl approve k3f9 --)" "$(lines --all-shown --digest --signed --for-session --exact --times --json --session)" "icctl approve ID: what its usage says"
is "$(try _icctl icctl budget set maxS)" "$(lines maxSteps maxSessionSeconds)" "icctl budget set: the keys that its help lists"
is "$(try _icctl icctl start --agent '')" "$(lines builtin claude codex gemini goose opencode command mine)" "icctl start --agent"
is "$(try _icctl icctl start co)" "$(lines codex command)" "icctl start AGENT"
is "$(try _icctl icctl start --escalations '')" "$(lines ask deny)" "icctl start --escalations"
is "$(try _icctl icctl start --workspace "$tmp/w")" "$tmp/w dir" "icctl start --workspace: a directory with a space"
is "$(try _icctl icctl start -- icct)" icctl "icctl start -- COMMAND"
is "$(try _icsupervisor icsupervisor --runtime n)" none "icsupervisor --runtime n"
is "$(try _icsupervisor icsupervisor --session-dir x -- icct)" icctl "icsupervisor -- COMMAND"

# The programs' own tables.
rows() {	# FILE MACRO: the first argument of each row
	grep -oE "^$2\(\"?[a-z-]+" "$root/supervisor/$1" | sed 's/.*[("]//'
}
commands=$(rows icctl/command_rows.h COMMAND)
options=$(rows files/option_rows.h '(START_(ONCE_)?)?(OPTION|FLAG)')
start=$(rows files/option_rows.h 'START_(ONCE_)?(OPTION|FLAG)' | sed 's/^/--/')
start+=$'\n--detach\n--systemd\n--policy-for-task\n--no-project\n--session-dir\n--json'
[ "$(wc -w <<<"$commands")" -ge 11 ] && [ "$(wc -w <<<"$options")" -ge 12 ] && [ "$(wc -w <<<"$start")" -ge 7 ]
ok $? "the tables are found in the sources"
is "$(try _icctl icctl '' | grep -v '^-')" "$(sort <<<"$commands")" "bash: every command of icctl, no other"
is "$(try _icsupervisor icsupervisor -- | grep -v '^--$')" "$(sed 's/^/--/' <<<"$options" | sort)" \
    "bash: every option of icsupervisor, no other"
is "$(try _icctl icctl start -- | grep -v '^--$\|^--help$')" "$(sort <<<"$start")" "bash: every option of icctl start"
missing=
for c in $commands; do
	grep -q "^		'$c:" "$dir/_icctl" || missing="$missing zsh:$c"
	grep -q -- "-a $c " "$dir/icctl.fish" || missing="$missing fish:$c"
done
for o in $options; do
	grep -q -- "--$o\[" "$dir/_icctl" || missing="$missing zsh:--$o"
	grep -q -- "-l $o " "$dir/icsupervisor.fish" || missing="$missing fish:--$o"
done
is "$missing" "" "zsh and fish: every command and option"

if command -v zsh >/dev/null; then
	zsh -n "$dir/_icctl"; ok $? "_icctl parses"
else
	skip "_icctl parses" "no zsh here"
fi
if command -v fish >/dev/null; then
	offers() {
		HOME=$tmp fish --no-config -c "source $dir/icctl.fish; complete -C '$1'" 2>&1 | cut -f 1 | sort
	}
	fish -n "$dir/icctl.fish" && fish -n "$dir/icsupervisor.fish"; ok $? "fish files parse"
	is "$(offers 'icctl approve ')" "$(lines k3f9 k7xx)" "fish: icctl approve"
	is "$(offers 'icctl --session ')" "$(lines 20261121-a ci)" "fish: icctl --session"
	is "$(offers 'icctl st')" "$(lines start status stop)" "fish: icctl st"
	is "$(offers 'icctl start --agent m')" mine "fish: icctl start --agent"
else
	skip "fish completions" "no fish here"
fi
echo "1..$n"
exit $failed
