#!/bin/sh
# SPDX-License-Identifier: ISC
# Runs a test with valgrind. It is skipped if it fails and valgrind does not know
# one of its system calls; what valgrind finds fails it. The lane `valgrind` uses
# this as the wrapper of its tests.
here=$(dirname "$0")
# valgrind does itself what a limit of descriptors does, and differently: a call
# that fails has taken the connection or the message.
export IC_VALGRIND=1
# It lets no program raise the limit that it began with.
ulimit -Sn 4096 2>/dev/null || true
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
valgrind -q --error-exitcode=99 --suppressions="$here/valgrind.supp" --log-file="$dir/log" \
  "$@" >"$dir/out"
rc=$?
if [ $rc != 0 ] && [ $rc != 99 ] && grep -qE 'unhandled|Unsupported clone' "$dir/log"; then
  echo '1..0 # SKIP valgrind does not know a system call of it'
  exit 0
fi
cat "$dir/out"
grep -v 'WARNING: unhandled\|You may be able\|Read the file README\|Nevertheless\|valgrind.org' \
  "$dir/log" >&2
exit $rc
