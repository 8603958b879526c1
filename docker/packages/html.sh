#!/bin/sh
# SPDX-License-Identifier: ISC
# html.sh DIR: writes the manual pages as HTML into DIR, in one style, without
# script, with links from page to page.
set -eu
out=$1
top=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$out"
cat >"$out/style.css" <<'X'
body { max-width: 48rem; margin: 2rem auto; padding: 0 1rem;
  font: 1rem/1.5 system-ui, sans-serif; color: #222; background: #fff; }
pre, code { font-family: ui-monospace, monospace; }
pre { overflow-x: auto; background: #f4f4f4; padding: .6rem; }
table.head, table.foot { width: 100%; color: #777; }
td.head-rtitle, td.foot-os { text-align: right; }
td.head-vol { text-align: center; }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #181818; } pre { background: #242424; }
  a { color: #8ab4f8; } }
X
{
  echo '<!DOCTYPE html><html lang="en"><meta charset="utf-8">'
  echo '<title>IronCurtain: manual pages</title>'
  echo '<link rel="stylesheet" href="style.css"><h1>IronCurtain</h1><ul>'
  for page in "$top"/man/*.[1-8]; do
    name=$(basename "$page")
    mandoc -T html -O style=style.css,man=%N.%S.html,toc "$page" >"$out/$name.html"
    about=$(sed -n 's/^\.Nd //p' "$page" | head -n 1)
    printf '<li><a href="%s.html">%s(%s)</a>: %s</li>\n' "$name" "${name%.*}" "${name##*.}" "$about"
  done
  echo '</ul></html>'
} >"$out/index.html"
