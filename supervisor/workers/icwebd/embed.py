#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Writes the files of the web page as arrays of C: embed.py OUT FILE..."""
import os
import sys

TYPES = {".html": "text/html; charset=utf-8",
         ".css": "text/css; charset=utf-8",
         ".js": "text/javascript; charset=utf-8",
         ".svg": "image/svg+xml"}


def main():
    rows, out = [], ['/* SPDX-License-Identifier: ISC */',
                     '#include "workers/icwebd/webd.h"', '']
    for i, path in enumerate(sys.argv[2:]):
        with open(path, "rb") as f:
            data = f.read()
        out.append("static const uint8_t file_%d[] = {" % i)
        for at in range(0, len(data), 20):
            out.append("\t" + ",".join(map(str, data[at:at + 20])) + ",")
        out.append("};")
        name = os.path.basename(path)
        rows.append('\t{"/%s", "%s", file_%d, sizeof(file_%d)},' % (
            "" if name == "index.html" else name,
            TYPES[os.path.splitext(name)[1]], i, i))
    out += ["", "const struct web_file web_files[] = {"] + rows + [
        "};", "const size_t web_nfiles = nitems(web_files);", ""]
    with open(sys.argv[1], "w") as f:
        f.write("\n".join(out))


main()
