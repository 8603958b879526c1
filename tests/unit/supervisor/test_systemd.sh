#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# The user unit: systemd accepts every line of it, and it has no line that would
# break a session.
# usage: test_systemd.sh UNIT
set -u
unit=$1
n=0 failed=0
ok() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"
	else failed=1; echo "not ok $n - $2"; fi
}
value() { sed -n "s/^$1=//p" "$unit"; }

! grep -q '@[a-z]*dir@' "$unit"; ok $? "every place is filled in"
[ "$(value Type)" = notify ]; ok $? "started when the session is ready"
[ "$(value Restart)" = no ]; ok $? "never started again"
[ "$(value KillMode)" = mixed ]; ok $? "SIGTERM goes to icsupervisor alone"
value ExecStart | grep -q '^/[^ ]*/icsupervisor --unit=%i$'
ok $? "runs icsupervisor as the session of its name, which is no option"
[ "$(value WatchdogSec)" -ge 30 ]; ok $? "ended when its loop hangs"
bad=$(grep -E '^(Private|Protect|ReadOnly|ReadWrite|Inaccessible|Bind|Temporary|RestrictNamespaces|SystemCallFilter|MemoryDenyWrite|IPAddress|RootDirectory|DynamicUser)' "$unit")
[ -z "$bad" ]; ok $? "nothing that needs a user namespace or breaks boxes $bad"

if command -v systemd-analyze >/dev/null; then
	tmp=$(mktemp -d) || exit 1
	trap 'rm -rf "$tmp"' EXIT
	printf '#!/bin/sh\n' >"$tmp/icsupervisor"
	chmod +x "$tmp/icsupervisor"
	# The program need not be installed yet.
	sed "s,^ExecStart=[^ ]*/icsupervisor,ExecStart=$tmp/icsupervisor," "$unit" \
	    >"$tmp/icsupervisor@.service"
	out=$(XDG_RUNTIME_DIR=$tmp systemd-analyze verify --user --man=no \
	    "$tmp/icsupervisor@.service" 2>&1)
	rc=$?
	[ $rc = 0 ] && [ -z "$out" ]; ok $? "systemd-analyze verify"
	[ -z "$out" ] || sed 's/^/# /' <<<"$out"
else
	n=$((n + 1)); echo "ok $n - systemd-analyze verify # SKIP not here"
fi
echo "1..$n"
exit $failed
