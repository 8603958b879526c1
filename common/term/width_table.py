#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Print the table of width.c: which characters may be drawn, and their width.

A range is drawn if all its characters are assigned, and neither control nor
format characters, surrogates, private use, separators of lines, or variation
selectors.  Width 0 means that a character combines with the one before it.
"""
import sys
import unicodedata

HIDDEN = {0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x3164, 0xffa0}


def width(c):
    ch = chr(c)
    category = unicodedata.category(ch)
    if category in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") or c in HIDDEN:
        return None
    if (0xfe00 <= c <= 0xfe0f or 0xe0100 <= c <= 0xe01ef or
            0x180b <= c <= 0x180f):
        return None
    # Jamo vowels and finals join the consonant before them.
    if category in ("Mn", "Me") or 0x1160 <= c <= 0x11ff or \
            0xd7b0 <= c <= 0xd7fb:
        return 0
    return 2 if unicodedata.east_asian_width(ch) in "WF" else 1


def ranges():
    first = last = kind = None
    for c in range(0x110000):
        w = width(c)
        if w == kind:
            last = c
            continue
        if kind is not None:
            yield first, last, kind
        first = last = c
        kind = w
    if kind is not None:
        yield first, last, kind


def main():
    print(f"/* Unicode {unicodedata.unidata_version}: width_table.py */")
    line = ""
    for first, last, kind in ranges():
        entry = f"{{{first:#x}, {last:#x}, {kind}}},"
        if line and 8 + len(line) + 1 + len(entry) > 80:
            print("\t" + line)
            line = ""
        line = f"{line} {entry}" if line else entry
    print("\t" + line)


if __name__ == "__main__":
    sys.exit(main())
