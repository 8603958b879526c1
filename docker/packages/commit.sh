#!/bin/sh
# SPDX-License-Identifier: ISC
# Prints the commit that this tree is of, and its time in seconds since 1970.
# `git archive` writes both into the file "commit"; in a checkout git knows
# them; elsewhere it is "unknown 0".
here=$(cd "$(dirname "$0")" && pwd)
read -r line <"$here/commit"
case $line in
*Format*) [ -e "$here/../../.git" ] &&
  git -C "$here/../.." log -1 --format='%H %ct' 2>/dev/null || echo unknown 0 ;;
*) echo "$line" ;;
esac
