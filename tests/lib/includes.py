#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Checks that each source file includes its own header first: the one of its
name, or else one that declares a function of the file.  A header that is
included first anywhere needs nothing included before it.  A file that no header
declares, such as one that has main(), may begin with any.  ./dev lint runs
this."""
import os
import re
import sys

from circles import DEFINITION, INCLUDE, read_sources

FIRST = re.compile(r'^#\s*include\s+(?:"([^"]+)"|<[^>]+>)', re.M)
NOT_CODE = re.compile(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.S)


def header(texts, path, name):
    """Returns the header that the file means, or None."""
    for p in (os.path.dirname(path) + "/" + name,
              path.split("/")[0] + "/" + name, name):
        if p in texts:
            return p
    return None


def own(texts, declared, path):
    """Returns the headers of which one must come first."""
    named = path[:-2] + ".h"
    if named in texts:
        return [named]
    functions = {m.group(2) for m in DEFINITION.finditer(texts[path])
                 if not re.match(r"static\b", m.group(1))}
    included = (header(texts, path, n) for n in INCLUDE.findall(texts[path]))
    return [h for h in included if h is not None and functions & declared[h]]


def main():
    texts, bad = read_sources(), 0
    declared = {p: set(re.findall(r"\b([a-z]\w+)\(", NOT_CODE.sub(" ", t)))
                for p, t in texts.items() if p.endswith(".h")}
    for path in sorted(texts):
        if not path.endswith(".c"):
            continue
        first = FIRST.search(texts[path])
        wanted = own(texts, declared, path)
        if not wanted or first is None:
            continue
        if first.group(1) is None or \
                header(texts, path, first.group(1)) not in wanted:
            bad += 1
            print("includes.py: %s: %s must be included first"
                  % (path, " or ".join(wanted)))
    print("includes.py: %d files do not include their own header first" % bad)
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
