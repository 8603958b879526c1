#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Documents against the sources: the numbers of formats in
ARCHITECTURE.md, and the trust diagram of README.md.

usage: test_documents.py SOURCE-ROOT"""
import os
import re
import sys

sys.dont_write_bytecode = True
ROOT = sys.argv[1]
sys.path[:0] = [os.path.join(ROOT, "tests", "lib"),
                os.path.join(ROOT, "tests", "pictures")]
import sources  # noqa: E402
import trust  # noqa: E402
from tap import Tap  # noqa: E402

t = Tap()
ROWS = 13
# Sizes, and formats of others.
OTHERS = {"AGENT_VERSION", "POST_VERSION", "REGISTRY_MAX_VERSION",
          "LL_CREATE_VERSION", "JKS_MAGIC", "JKS_VERSION", "MCP_VERSION",
          "REPO_REFS_FORMAT"}
DEFINE = re.compile(r"^#define (\w+_(?:VERSION|FORMAT|MAGIC))\s+\S", re.M)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def numbers():
    """Returns the section of ARCHITECTURE.md."""
    text = read("ARCHITECTURE.md")
    _, _, rest = text.partition("\n## Numbers of formats\n")
    return rest.partition("\n## ")[0]


def main():
    section = numbers()
    named = re.findall(r"([\w/.-]+\.[ch])\s+`([^`]+)`(?:\s+and\s+`([^`]+)`)?",
                       section)
    t.ok(len(named) >= ROWS, "the table of formats is there", len(named))
    for path, *texts in named:
        for text in filter(None, texts):
            t.ok(text in read(path), f"{path} has {text}")
    for row in section.splitlines():
        cells = [c.strip() for c in row.strip("|").split("|")]
        if len(cells) == 4 and cells[1].isdigit():
            number = str(int(cells[1]))
            t.ok(number in re.findall(r"\d+", cells[2]) or
                 number + "\"" in cells[2] or "KEEP_MAGIC" in cells[2],
                 f"{cells[0]}: the number is that of the source", cells)
    listed = set(re.findall(r"\w+_(?:VERSION|FORMAT|MAGIC)\b", section))
    found = {name for path in sources.sources("*.[ch]")
             if not path.startswith("tests/")
             for name in DEFINE.findall(read(path))}
    t.equal(sorted(found - listed - OTHERS), [],
            "each number of the sources is in the table")
    golden = os.path.join(ROOT, "tests/unit/ipc/proto_golden.txt")
    t.ok(trust.picture(golden) == read("tests/pictures/trust.svg"),
         "the trust diagram is that of the topology; else: ./dev pictures "
         "trust")
    t.done()


main()
