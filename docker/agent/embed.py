#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Writes files as one string of C: embed.py OUT NAME HEADER FILE..."""
import sys


def main():
    out, name, header, *paths = sys.argv[1:]
    data = b""
    for path in paths:
        with open(path, "rb") as f:
            data += f.read()
    data += b"\0"
    text = ['/* SPDX-License-Identifier: ISC */', '#include "%s"' % header, '',
            "const char %s[] = {" % name]
    for at in range(0, len(data), 20):
        text.append("\t" + ",".join(map(str, data[at:at + 20])) + ",")
    text += ["};", ""]
    with open(out, "w") as f:
        f.write("\n".join(text))


main()
