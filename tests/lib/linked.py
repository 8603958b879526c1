#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Counts the lines of the C files that each installed program links, by its
debug information, and checks the programs of linked.txt, which must not grow:
a program that may do much has to stay small enough to be read.  Several names
joined by + are programs that have the user's rights; each file counts once
there, so that moving code from one to the other hides nothing.  ./dev lint runs
this once something is built.

usage: linked.py STAGE [--print|--files]

--print prints all, and --files the files of icsupervisor, too."""
import os
import re
import subprocess
import sys

from sources import ROOT

HERE = os.path.dirname(os.path.abspath(__file__))
PLACES = ("bin", "libexec/ironcurtain")
UNIT = re.compile(r"DW_AT_name\s*:.*?(?:\.\./)+(\S+\.c)$", re.M)


def files(path):
    """Returns the C files of a program; none for another file."""
    out = subprocess.run(
        ["readelf", "--debug-dump=info", "--dwarf-depth=1", path],
        capture_output=True, text=True, check=False).stdout
    return {name for name in UNIT.findall(out)
            if os.path.exists(os.path.join(ROOT, name))}


def lines(names):
    """Returns the number of lines of these files."""
    count = 0
    for name in names:
        with open(os.path.join(ROOT, name), "rb") as f:
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
            found[name] = files(os.path.join(folder, name))
    for names in ceilings():
        found[names] = set().union(*(found.get(n, set())
                                     for n in names.split("+")))
    counted = {name: lines(of) for name, of in found.items()}
    if show:
        for name, n in sorted(counted.items(), key=lambda x: -x[1]):
            if n:
                print("%7d %s" % (n, name))
    if show == "--files":
        for of in sorted(found["icsupervisor"]):
            print("%7d %s" % (lines([of]), of))
    bad = 0
    for name, most in ceilings().items():
        if counted[name] > most:
            print("linked.py: %s links %d lines, and linked.txt permits %d: let a "
                  "short-lived or confined program do it" % (name, counted[name], most))
            bad = 1
        elif not counted[name]:
            print("linked.py: %s has no debug information" % name)
            bad = 1
    return bad


sys.exit(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None))
