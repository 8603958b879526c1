#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Finds circles of files: files that call each other, directly or through
others, and headers that include each other.  Reads the sources as text: a
function is defined where its name begins a line, and used where its name
stands anywhere else.  ./dev lint runs this.

usage: circles.py [--print | --edges FILE...]

circles.txt names the circles that are known and still have to be opened.  One
that is not within a known one is an error.  --print prints all as circles.txt
has them, --edges which of these files calls which, and by which names."""
import os
import re
import sys

from sources import ROOT, sources

HERE = os.path.dirname(os.path.abspath(__file__))
AREAS = ("common", "docker", "mcp-proxyd", "mitmd", "policyd", "supervisor")
NOT_CODE = re.compile(
    r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.S)
DEFINITION = re.compile(
    r"^((?:[a-z][\w *]*[\w*]\n)+)(\w+)\((?:[^;{}]|\n)*?\)\n\{", re.M)
USE = re.compile(r"(?<![\w.>])(?<!struct )(?<!enum )([a-z]\w+)\b(?!\s*:[^:])")
INCLUDE = re.compile(r'^#\s*include "([^"]+)"', re.M)


def read_sources():
    texts = {}
    for path in sources(*(a + "/*.[ch]" for a in AREAS)):
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            texts[path] = f.read()
    return texts


def shared(a, b):
    """Returns the number of leading folders that two paths share."""
    return len(os.path.commonprefix([a.split("/")[:-1], b.split("/")[:-1]]))


def calls(texts):
    """Returns {file: {other file: names it uses}}.  If programs in different
    folders have functions of one name, the nearer one is meant."""
    code = {p: re.sub(r"^\s*#.*(?:\\\n.*)*$", "", NOT_CODE.sub(" ", t), flags=re.M)
            for p, t in texts.items() if p.endswith(".c")}
    where, own = {}, {}
    for path, text in code.items():
        own[path] = set()
        for m in DEFINITION.finditer(text):
            own[path].add(m.group(2))
            if not re.match(r"static\b", m.group(1)):
                where.setdefault(m.group(2), []).append(path)
    edges = {}
    for path, text in code.items():
        edges[path] = {}
        for name in set(USE.findall(text)):
            places = where.get(name, [])
            if not places or name in own[path]:
                continue
            near = max(shared(path, p) for p in places)
            for p in places:
                if shared(path, p) == near and p != path:
                    edges[path].setdefault(p, set()).add(name)
    return edges


def includes(texts):
    """Returns {header: {header it includes: {}}}."""
    edges = {}
    for path, text in texts.items():
        if not path.endswith(".h"):
            continue
        edges[path] = {}
        for name in INCLUDE.findall(text):
            for p in (name, path.split("/")[0] + "/" + name,
                      os.path.dirname(path) + "/" + name):
                if p in texts:
                    edges[path][p] = set()
    return edges


def circles(edges):
    """Returns the strongly connected sets of more than one file (Tarjan)."""
    index, low, stack, out = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in sorted(edges.get(v, ())):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            at = stack.index(v)
            if len(stack) - at > 1:
                out.append(sorted(stack[at:]))
            del stack[at:]

    for v in sorted(edges):
        if v not in index:
            visit(v)
    return sorted(out)


def known():
    with open(os.path.join(HERE, "circles.txt"), encoding="utf-8") as f:
        blocks = re.sub(r"^#.*\n", "", f.read(), flags=re.M).split("\n\n")
    return [set(b.split()) for b in blocks if b.strip()]


def main():
    sys.setrecursionlimit(10000)
    texts = read_sources()
    edges = calls(texts)
    if sys.argv[1:2] == ["--edges"]:
        chosen = sys.argv[2:]
        for a in chosen:
            for b in chosen:
                if b in edges.get(a, {}):
                    print("%s -> %s: %s" % (a, b, " ".join(sorted(edges[a][b]))))
        return 0
    found = circles(edges) + circles(includes(texts))
    if sys.argv[1:2] == ["--print"]:
        print("\n\n".join("\n".join(c) for c in found))
        return 0
    old, bad = known(), 0
    for c in found:
        if not any(set(c) <= k for k in old):
            bad += 1
            print("circles.py: a new circle of files: " + " ".join(c))
    for k in old:
        if not any(set(c) & k for c in found):
            print("circles.py: opened, take it out of circles.txt: "
                  + " ".join(sorted(k)))
    print("circles.py: %d circles of files, %d of them new" % (len(found), bad))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
