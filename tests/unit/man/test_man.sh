#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# The man pages are clean, and complete: every option, exit status, key, event,
# rule and promise of the tables in the sources is in its page.
# usage: test_man.sh SOURCE-ROOT PROTO-PAGE
set -u
root=$1
proto=$2
man=$root/man
sup=$root/supervisor
n=0 failed=0

ok() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"
	else failed=1; echo "not ok $n - $2"; fi
}
# has PAGE LEAST NAME PATTERN WORD...: check that the page contains the fixed
# string PATTERN with each word in place of @, and that there are at least LEAST
# words, so that a list that was not found is an error.
has() {
	local page=$man/$1 least=$2 name=$3 pattern=$4 w missing=; shift 4
	for w in "$@"; do
		grep -qF -- "${pattern//@/$w}" "$page" || missing="$missing $w"
	done
	[ -z "$missing" ] && [ $# -ge "$least" ]
	ok $? "$name ($#)"
	[ -z "$missing" ] || echo "# missing in ${page##*/}:$missing"
}
# The strings of the C array that begins with this text.
strings() { sed -n "/$2/,/;/p" "$root/$1" | grep -oE '"[^"]+"' | tr -d '"'; }

if command -v mandoc >/dev/null; then
	for page in "$man"/*.[1-9] "$proto"; do
		out=$(mandoc -T lint -W warning "$page" 2>&1)
		[ -z "$out" ]; ok $? "mandoc has nothing to say about ${page##*/}"
		[ -z "$out" ] || sed 's/^/# /' <<<"$out"
	done
else
	n=$((n + 1)); echo "ok $n - mandoc # SKIP not here"
fi
links=$(cat "$man"/*.[1-9] "$man"/*.in | grep -oE '^\.Xr [a-z-]+ [1-9]' | sort -u)
missing=
while read -r _ name section; do
	case $name in
	ic* | ironcurtain*)
		[ -e "$man/$name.$section" ] || [ -e "$man/$name.$section.in" ] ||
			missing="$missing $name($section)" ;;
	esac
done <<<"$links"
[ -z "$missing" ]; ok $? "pages that others name are there$missing"

# shellcheck disable=SC2046
{
has icsupervisor.8 12 "options of icsupervisor" 'Fl Fl @' \
    viewer approved-entry $(grep -oE '^(START_(ONCE_)?)?(OPTION|FLAG)\("[a-z-]+"' "$sup/files/option_rows.h" | cut -d '"' -f 2)
has icsupervisor.8 6 "exit statuses of icsupervisor" '.It @' \
    $(grep -oE 'SUP_EXIT_[A-Z]+ = [0-9]+' "$sup/files/options.h" | grep -oE '[0-9]+$')
for f in mcp-proxyd/main.c policyd/main.c supervisor/workers/auditd/main.c \
    mcp-proxyd/backd/main.c mitmd/main.c mitmd/keyd/main.c mitmd/dialerd/main.c \
    mitmd/egressd/main.c mitmd/tunneld/main.c supervisor/workers/termd/termd_main.c \
    supervisor/workers/portd/portd_main.c supervisor/workers/gated/gated_main.c \
    mitmd/approver/main.c mitmd/pgkeyd/main.c; do
	p=$(sed -n '/pledge_promise .*\[\]/,/;/p' "$root/$f" | sed 's,/\*.*,,' |
	    grep -oE 'PLEDGE_[A-Z]+' | sed 's/PLEDGE_//' | tr 'A-Z\n' 'a-z ')
	w=$(grep -oE 'worker_init\(|ROLE_[A-Z]+' "$root/$f" | grep -m1 -oE 'ROLE_[A-Z]+')
	case $w in
	ROLE_PROXY) w=mcp-proxyd ;; ROLE_POLICY) w=policyd ;; ROLE_AUDIT) w=auditd ;;
	ROLE_BACK) w=mcp-backd ;; ROLE_MITM) w=mitmd ;; ROLE_KEY) w=keyd ;; ROLE_DIAL) w=dialerd ;;
	ROLE_EGRESS) w=egressd ;; ROLE_TUNNEL) w=tunneld ;; ROLE_TERM) w=termd ;; ROLE_PORT) w=portd ;; ROLE_ACP) w=acpd ;; ROLE_GATE) w=gated ;;
	ROLE_APPROVE) w=approver ;;
	esac
	[ "$f" != mitmd/pgkeyd/main.c ] || w=pgkeyd
	sed -n "/^\.Sh PROCESSES/,/^\.Sh ENV/p" "$man/icsupervisor.8" |
	    sed -n "/^\.It $w\$/,/^\.It /p" | grep -qF ".Li ${p% } ."
	ok $? "promises of $w: $p"
done
# Each command is in the page that its row names, and in the lists of commands:
# that of icctl(1), by page, and the one at the top of the page itself.
index() { sed '/^\.Bl/,/^\.El/!d;/^\.El/q' "$man/$1.1"; }	# PAGE: its first list
# PAGE: the commands of its line in icctl(1)
of_page() {
	local line="Xr $1 1"; [ "$1" = icctl ] && line="this page"
	index icctl | sed -n "/^\.It $line\$/,/^\.[IE]/{s/^\.Cm //p}" | tr -d , | xargs -n 1 | sort
}
pages=$(awk -F '[(,]' '/^COMMAND\(/ { name = $2 }
    name != "" && match($0, /"icctl[a-z-]*"\)$/) { print name, substr($0, RSTART + 1, RLENGTH - 3); name = "" }' \
    "$sup/icctl/command_rows.h")
[ "$(wc -l <<<"$pages")" -ge 50 ]; ok $? "pages of the commands are found in the sources"
for page in icctl icctl-session icctl-policy icctl-mcp icctl-driver icctl-job; do
	commands=$(sed -n "s/ $page\$//p" <<<"$pages" | sort)
	listed=$(of_page "$page")
	[ -n "$commands" ] && [ "$listed" = "$commands" ]; ok $? "icctl.1 lists the commands of $page(1), no other"
	[ "$listed" = "$commands" ] || diff <(echo "$listed") <(echo "$commands") | sed 's/^/# /'
	case $page in icctl-[sm]* | icctl-policy)
		own=$(index $page | sed -n 's/^\.It Cm \([a-z]*\).*/\1/p' | sort -u)
		[ "$own" = "$commands" ]; ok $? "$page.1 has them at its top" ;;
	esac
	body=$page; case $page in icctl-driver | icctl-job) body=icctl ;; esac
	missing=
	for c in $commands; do
		sed '1,/^\.El/d' "$man/$body.1" | grep -qE "^\.It Cm $c( |\$)" || missing="$missing $c"
	done
	[ -z "$missing" ]; ok $? "$body.1 describes them$missing"
done
has icctl-mcp.1 9 "commands of icctl mcp" '.It Cm mcp @' $(grep -oE '^MCP_COMMAND\([a-z]+' "$sup/icctl/command_rows.h" | cut -d '(' -f 2)
has icctl-policy.1 14 "tools of icctl policy" '.It Cm policy @' \
    $(grep -oE '^POLICY_(TOOL|COMMAND)\("?[a-z-]+' "$sup/icctl/command_rows.h" | tr -d '"' | cut -d '(' -f 2)
has icctl.1 4 "exit statuses of icctl" '.It @' \
    $(grep -oE 'ICCTL_[A-Z_]+ = [0-9]+' "$sup/icctl/icctl.h" | grep -oE '[0-9]+$')
has icctl.1 7 "codes of refusals" '@' $(grep -ohE 'control_fail\(c, "[a-z-]+"|client_refuse\(c, "[a-z]+"' \
    "$sup"/{hub,start}/*.c | cut -d '"' -f 2 | sort -u)
has ironcurtain-config.5 31 "members of config.json" '@' \
    $(strings supervisor/files/config.c 'config_ignored\[\]') $(strings supervisor/files/config.c 'config_keys\[\]')
has ironcurtain-config.5 6 "members that are refused" '@' \
    $(sed -n '/config_refused\[\] = /,/^};/p' "$sup/files/config.c" | grep -oE '^    \{"[A-Za-z]+"' | cut -d '"' -f 2)
has ironcurtain-config.5 7 "places of credentials, settings of providers" '\&"@\&"' \
    $(strings supervisor/files/parse.c 'keys\[\]')
has ironcurtain-config.5 4 "members of the proxy" '\&"@\&"' \
    $(strings supervisor/files/members/proxy.c 'keys\[\]')
has ironcurtain-config.5 13 "members of a server" '\&"@\&"' $(strings supervisor/files/servers.c 'keys\[\]')
has ironcurtain-config.5 9 "members of an agent" '\&"@\&"' $(strings supervisor/files/adapter/adapter_read.c 'keys\[\]')
has ironcurtain-config.5 24 "members of a provider" '\&"@\&"' \
    $(for f in provider credential route; do
	    strings mitmd/provider/$f.c 'names\[\] = '; done | sort -u)
has ironcurtain-audit.5 15 "events of the log" '.It Li @' \
    $(grep -ohE 'auditd_line\(&l, "[a-zA-Z]+"' "$sup"/workers/auditd/*.c | cut -d '"' -f 2 | sort -u) \
    $(grep -ohE '(event_send|closing_line)\((&log, &out, )?"[a-zA-Z]+"' "$sup"/{core/events,undo/checkpoint,start/undo}.c |
	cut -d '"' -f 2 | sort -u)
has ironcurtain-audit.5 40 "members of events" '@' \
    $(grep -ohE 'auditlog_[a-z0-9]+\((l|&l|&inner), "[a-zA-Z]+"' "$sup"/workers/auditd/*.c | cut -d '"' -f 2 | sort -u) \
    $(grep -ohE 'put\(o, "[a-zA-Z]+"' "$sup/core/events.c" | cut -d '"' -f 2 | sort -u)
has ironcurtain-policy.5 16 "roles" '@' $(grep -E '^ROLE\(' "$root/policyd/engine/role_rows.h" | cut -d '"' -f 2)
has ironcurtain-policy.5 20 "rules that are built in" '@' $(grep -ohE \
    '"(structural|unknown|missing|invalid|circuit|approval|hold|server|default|git-path)-[a-z-]+"' \
    "$root"/policyd/{,engine/}[a-z]*.c | grep -v unknown-method | tr -d '"' | sort -u)
}
echo "1..$n"
exit $failed
