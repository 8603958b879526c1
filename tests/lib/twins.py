#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Checks that no two files define an external function of the same name, so
that a reader who looks for a name finds one place.  ./dev lint runs this."""
import collections
import re
import sys

from circles import DEFINITION, read_sources


def main():
    places = collections.defaultdict(set)
    for path, text in read_sources().items():
        if not path.endswith(".c") or path.startswith("tests/"):
            continue
        for m in DEFINITION.finditer(text):
            if not re.match(r"static\b", m.group(1)):
                places[m.group(2)].add(path)
    twins = {n: p for n, p in places.items() if len(p) > 1 and n != "main"}
    for name, paths in sorted(twins.items()):
        print("twins.py: %s is defined in %s: give one of them the name of its "
              "file or folder" % (name, " and ".join(sorted(paths))))
    return 1 if twins else 0


sys.exit(main())
