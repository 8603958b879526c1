#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Refuses comments that must be decoded before they can be read.

usage: prose.py [--all | PATH...]

A comment is refused if it begins with What, Who, Whose, Where or Of, if it
ends with a question mark, or if it cites a document that is not in this
repository.  C, Python, shell, meson files, Dockerfiles and manual pages are
read; the docstring of a Python module, class or function counts as a comment.
Only the folders in CLEAN are checked, unless --all or paths are given. ./dev
lint runs this."""
import ast
import io
import os
import re
import sys
import tokenize

from sources import ROOT, sources

# Folders and files whose comments have been rewritten; "folder/*" means only
# the files directly in it.  Add one when it is clean; nothing is ever taken off
# this list.
CLEAN = (
    "common",
    "dev",
    "docker",
    "man",
    "mcp-proxyd",
    "meson.build",
    "meson_options.txt",
    "mitmd",
    "policyd",
    "supervisor",
    "tests",
)

# Documents that agents read in a workspace, which comments may name.
AGENT_FILES = {"AGENTS.md", "CLAUDE.md", "GEMINI.md", "SKILL.md"}

HEADLESS = re.compile(r"(What|Who|Whose|Where|Of)\b", re.I)
CITES = re.compile(
    r"\b[\w./-]+\.md\b|\bissues? \d+|\(\s*design\b|\bdesign, *[\"']", re.I)
C_TOKEN = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.S)


def in_c(text):
    for m in C_TOKEN.finditer(text):
        if not m.group().startswith(("/*", "//")):
            continue
        body = re.sub(r"^\s*(/\*+|//|\*/|\*)\s?|\*/$", "", m.group(), flags=re.M)
        yield text.count("\n", 0, m.start()) + 1, body


def joined(lines):
    """Joins comment lines, each (line, column, text), that follow each other
    at one column."""
    last = None
    for line, column, text in lines:
        if last and line == last[1] + 1 and column == last[2]:
            last[1], last[3] = line, last[3] + "\n" + text
            continue
        if last:
            yield last[0], last[3]
        last = [line, line, column, text]
    if last:
        yield last[0], last[3]


def in_python(text):
    marks = []
    for t in tokenize.generate_tokens(io.StringIO(text).readline):
        if t.type == tokenize.COMMENT and not t.string.startswith("#!"):
            marks.append((t.start[0], t.start[1], t.string.lstrip("#").strip()))
    yield from joined(marks)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            doc = ast.get_docstring(node)
            if doc:
                yield node.body[0].lineno, doc


def in_shell(text):
    """Comments of shell, meson and Dockerfiles: a # that no quote encloses."""
    marks = []
    for number, line in enumerate(text.split("\n"), 1):
        m = re.match(r"""((?:[^'"#]|"[^"]*"|'[^']*'|(?<=\S)#)*?)(?:^|\s)#(?!!)\s?(.*)""", line)
        if m:
            marks.append((number, len(m.group(1)), m.group(2)))
    return joined(marks)


def in_manual(text):
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith('.\\"'):
            yield number, line[3:].strip()


def reader(path, text):
    name = os.path.basename(path)
    if path.endswith((".c", ".h")):
        return in_c(text)
    if path.endswith(".py") or re.match(r"#!.*python", text):
        return in_python(text)
    if (path.endswith(".sh") or re.match(r"#!.*\b(ba)?sh\b", text) or
            name in ("meson.build", "meson_options.txt") or
            name.startswith("Dockerfile")):
        return in_shell(text)
    if re.search(r"\.[1-9](\.in)?$", path):
        return in_manual(text)
    return ()


def faults(body, documents):
    """Yields each reason why this comment is refused."""
    words = " ".join(body.split())
    first = HEADLESS.match(words)
    if first:
        yield f'begins with "{first.group()}"'
    if words.endswith("?"):
        yield "ends with a question mark"
    for m in CITES.finditer(words):
        name = m.group()
        if name.endswith(".md") and (
                os.path.basename(name) in documents | AGENT_FILES):
            continue
        yield f'cites "{name}", which is not in the repository'


def covers(wanted, path):
    if wanted.endswith("/*"):
        return os.path.dirname(path) == wanted[:-2]
    return path == wanted or path.startswith(wanted + "/")


def main():
    files = sources()
    documents = {os.path.basename(p) for p in files if p.endswith(".md")}
    wanted = tuple(a.rstrip("/") for a in sys.argv[1:]) or CLEAN
    bad = 0
    for path in files:
        if wanted != ("--all",) and not any(
                covers(w, path) for w in wanted):
            continue
        try:
            with open(os.path.join(ROOT, path), encoding="utf-8") as f:
                text = f.read()
        except UnicodeDecodeError:
            continue
        for line, body in reader(path, text):
            for why in faults(body, documents):
                print(f"{path}:{line}: a comment {why}: "
                      f"{' '.join(body.split())[:60]}", file=sys.stderr)
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
