#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Keeps the order of the folders of supervisor/: a folder calls and includes
only folders that stand above it in folders.txt.  ./dev lint runs this.

usage: folders.py [--print]

A line of folders.txt is a folder, or a rank of folders that do not call each
other; or, indented, a known exception: FROM -> TO, the names that FROM uses of
TO, and the reason.  An exception that is not listed, or has more names than are
listed, is an error; one that is no longer there has to be taken out.  --print
prints all exceptions with the files that they go from and to."""
import os
import re
import sys

from circles import calls, includes, read_sources

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = "supervisor"


def read_order():
    """Returns {folder: rank} and {(from, to): (names, reason)}."""
    rank, known, n = {}, {}, 0
    with open(os.path.join(HERE, "folders.txt"), encoding="utf-8") as f:
        for line in f:
            line = line.rstrip("\n")
            m = re.match(r"    (\S+) -> (\S+): (.+?) -- (.+)$", line)
            if m:
                known[m.group(1), m.group(2)] = (set(m.group(3).split()),
                                                 m.group(4))
            elif line and not line.startswith("#"):
                n += 1
                for name in line.split(":")[0].split():
                    rank[name] = n
    return rank, known


def folder(path, rank):
    """Returns the listed folder that a file is in; the first below TOP."""
    parts = path.split("/")
    if parts[0] != TOP or len(parts) < 3:
        return None
    return parts[1]


def arrows(rank):
    """Returns {(from, to): {name: (file, file)}} of what goes upwards, and the
    folders that folders.txt lacks."""
    texts = read_sources()
    up, strange = {}, set()
    edges = dict(calls(texts))
    for path, to in includes(texts).items():
        edges[path] = {p: {os.path.basename(p)} for p in to}
    for a, outs in edges.items():
        fa = folder(a, rank)
        if fa is None:
            continue
        for b, names in outs.items():
            fb = folder(b, rank)
            if fb is None or fa == fb:
                continue
            if fa not in rank or fb not in rank:
                strange |= {f for f in (fa, fb) if f not in rank}
            elif rank[fb] >= rank[fa]:
                for name in names:
                    up.setdefault((fa, fb), {})[name] = (a, b)
    return up, strange


def main():
    rank, known = read_order()
    up, strange = arrows(rank)
    if sys.argv[1:2] == ["--print"]:
        for (a, b), names in sorted(up.items()):
            print("    %s -> %s: %s" % (a, b, " ".join(sorted(names))))
            for name, (x, y) in sorted(names.items()):
                print("        %s: %s -> %s" % (name, x, y))
        return 0
    bad = 0
    for f in sorted(strange):
        bad += 1
        print("folders.py: %s/%s is not in tests/lib/folders.txt" % (TOP, f))
    for (a, b), names in sorted(up.items()):
        for name in sorted(set(names) - known.get((a, b), (set(), ""))[0]):
            bad += 1
            print("folders.py: %s uses %s of %s, which does not stand above %s "
                  "in folders.txt (%s)" % (names[name][0], name, names[name][1],
                                           TOP + "/" + a, b))
    for (a, b), (names, _) in sorted(known.items()):
        for name in sorted(names - set(up.get((a, b), {}))):
            bad += 1
            print("folders.py: %s -> %s: %s is gone; take it out of folders.txt"
                  % (a, b, name))
    print("folders.py: %d arrows upwards with %d names, %d new or gone" %
          (len(up), sum(len(n) for n in up.values()), bad))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
