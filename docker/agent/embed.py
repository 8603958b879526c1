#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Writes a file as a string of C: embed.py OUT NAME HEADER FILE"""
import sys


def main():
    out, name, header, path = sys.argv[1:]
    with open(path, "rb") as f:
        data = f.read() + b"\0"
    text = ['/* SPDX-License-Identifier: ISC */', '#include "%s"' % header, '',
            "const char %s[] = {" % name]
    for at in range(0, len(data), 20):
        text.append("\t" + ",".join(map(str, data[at:at + 20])) + ",")
    text += ["};", ""]
    with open(out, "w") as f:
        f.write("\n".join(text))


main()
