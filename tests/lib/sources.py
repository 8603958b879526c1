#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Lists the source files of this tree: those that git tracks, or, in a copy
without .git, all files but what a build or a test leaves there.

usage: sources.py [PATTERN...]

Prints the paths that match a pattern, one a line, relative to the tree; all
without one.  In a pattern, * matches slashes as well."""
import fnmatch
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def copied():
    for folder, below, names in os.walk(ROOT):
        top = folder == ROOT
        below[:] = [d for d in below if d != "__pycache__" and not (
            top and (d.startswith("build") or d == ".agents"))]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), ROOT)


def sources(*patterns):
    """Returns the paths that match any of the patterns, sorted."""
    if os.path.exists(os.path.join(ROOT, ".git")):
        files = subprocess.run(
            ["git", "-c", "safe.directory=*", "ls-files", "-z"], cwd=ROOT,
            capture_output=True, text=True, check=True).stdout.split("\0")
    else:
        files = copied()
    return sorted(p for p in files if p
                  and any(fnmatch.fnmatchcase(p, q) for q in patterns or ("*",))
                  and os.path.isfile(os.path.join(ROOT, p)))


if __name__ == "__main__":
    print(*sources(*sys.argv[1:]), sep="\n")
