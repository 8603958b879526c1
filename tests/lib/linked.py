#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Counts the lines of the C files that each installed program links, by its
debug information, and checks the programs of linked.txt, which must not grow:
a program that may do much has to stay small enough to be read.  ./dev lint runs
this once something is built.

usage: linked.py STAGE [--print]"""
import os
import re
import subprocess
import sys

from sources import ROOT

HERE = os.path.dirname(os.path.abspath(__file__))
PLACES = ("bin", "libexec/ironcurtain")
UNIT = re.compile(r"DW_AT_name\s*:.*?(?:\.\./)+(\S+\.c)$", re.M)


def lines(path):
    """Returns the number of lines of a program, or 0 for another file."""
    out = subprocess.run(
        ["readelf", "--debug-dump=info", "--dwarf-depth=1", path],
        capture_output=True, text=True, check=False).stdout
    count = 0
    for name in set(UNIT.findall(out)):
        source = os.path.join(ROOT, name)
        if os.path.exists(source):
            with open(source, "rb") as f:
                count += f.read().count(b"\n")
    return count


def ceilings():
    with open(os.path.join(HERE, "linked.txt"), encoding="utf-8") as f:
        rows = (row.split() for row in f if row.strip() and row[0] != "#")
        return {name: int(most) for name, most in rows}


def main(stage, show):
    found = {}
    for place in PLACES:
        folder = os.path.join(stage, place)
        for name in sorted(os.listdir(folder)):
            found[name] = lines(os.path.join(folder, name))
    if show:
        for name, n in sorted(found.items(), key=lambda x: -x[1]):
            if n:
                print("%7d %s" % (n, name))
    bad = 0
    for name, most in ceilings().items():
        if found.get(name, 0) > most:
            print("linked.py: %s links %d lines, and linked.txt permits %d: let a "
                  "short-lived or confined program do it" % (name, found[name], most))
            bad = 1
        elif not found.get(name):
            print("linked.py: %s has no debug information" % name)
            bad = 1
    return bad


sys.exit(main(sys.argv[1], "--print" in sys.argv))
