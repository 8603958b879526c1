#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Refuses programs that count what they reach, which only those of ./dev coverage
do: they write to a file that other processes may write to as well.

usage: uncounted.py PREFIX

Lists the programs and archives below PREFIX that have anything of it. ./dev lint
runs this on what an install takes, and tests/packages/check.py on the package."""
import os
import sys

# The runtime's functions, the names of data files, and the section of counters.c.
MARKS = (b"__gcov_", b".gcda\0", b"\0.coverage\0", b"IC_COVERAGE_DUMP")


def counted(prefix):
    """Returns the files with a mark, and how many files were read."""
    found, n = [], 0
    for folder, _, names in os.walk(prefix):
        for path in (os.path.join(folder, x) for x in names):
            if os.path.islink(path):
                continue
            with open(path, "rb") as f:
                if f.read(4) not in (b"\x7fELF", b"!<ar"):
                    continue
                f.seek(0)
                data = f.read()
            n += 1
            if any(m in data for m in MARKS):
                found.append(path)
    return found, n


def main(prefix):
    found, n = counted(prefix)
    for path in sorted(found):
        print(f"uncounted.py: {path} is of a coverage build", file=sys.stderr)
    if n == 0:
        print(f"uncounted.py: {prefix} has no programs", file=sys.stderr)
    sys.exit(1 if found or n == 0 else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
