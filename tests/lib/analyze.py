#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Has two programs look for mistakes in the product's C: gcc -fanalyzer and
clang-tidy; and with --only cppcheck a third one, whose findings nobody has judged
yet.

usage: analyze.py BUILD JOBS [--only PROGRAM] [FILE...]

BUILD is a build directory, whose compile_commands.json says how each file is
compiled; generated files must be there. Prints what they find that is not in
analyze.txt, and what is in analyze.txt that they no longer find; fails if there
is either. A line of analyze.txt is FILE CHECK, the text of the line that the
finding is at, and the reason why it stays, with " | " between them: so a finding
is left out at one line, wherever that line moves, and comes back if the line
changes."""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
FINDING = re.compile(r"^(\S+?):(\d+):\d+: (?:warning|error|style|performance|portability|"
                     r"information): (.*?)(?: \[CWE-\d+\])? \[(-W)?([\w.,=+-]+)\]$")

# The checks of clang-tidy: each finds a mistake, and none is a matter of taste.
# clang's own analyzer is not among them: it takes half an hour.
# Left out are those that doubt each memcpy (Annex K, which no libc has), each
# pair of parameters of one type, each narrowing that gcc's -Wconversion has
# judged already, each array of pointers that is sorted, each copy of a span, which
# has no NUL, each table of macros, and each sscanf(), which reads texts of the
# kernel's and ours, others with a width.
TIDY = ("-*", "bugprone-*", "cert-*", "misc-*", "performance-*", "portability-*",
        "-bugprone-easily-swappable-parameters", "-bugprone-narrowing-conversions",
        "-bugprone-implicit-widening-of-multiplication-result",
        "-bugprone-reserved-identifier", "-cert-dcl37-c", "-cert-dcl51-cpp",
        "-bugprone-sizeof-expression", "-bugprone-not-null-terminated-result",
        "-bugprone-macro-parentheses", "-cert-err34-c", "-bugprone-branch-clone",
        "-bugprone-assignment-in-if-condition", "-cert-err33-c", "-cert-int09-c",
        "-misc-unused-parameters", "-misc-no-recursion", "-misc-static-assert",
        "-performance-no-int-to-ptr")


def commands(build, wanted):
    """Yields (file, words, directory) once for each file of the product."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        every = json.load(f)
    seen = set()
    for e in every:
        folder = os.path.join(build, e["directory"])
        name = os.path.relpath(os.path.normpath(os.path.join(folder, e["file"])), TOP)
        if name in seen or not name.endswith(".c") or name.startswith(("tests/", "build", "..")):
            continue
        if wanted and name not in wanted:
            continue
        seen.add(name)
        words = shlex.split(e["command"])
        while words[0].endswith("ccache"):
            words.pop(0)
        yield name, words, folder


def said(words, folder):
    r = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return r.stdout + r.stderr


def gcc(name, words, folder, build):
    # The build's own files, its lists of headers too, stay as they are.
    for option in ("-o", "-MF", "-MQ"):
        at = words.index(option)
        words = words[:at] + words[at + 2:]
    return said([w for w in words if w not in ("-Werror", "-MD")] + [
        # It loses what is stored through an index; LeakSanitizer sees the rest.
        "-fanalyzer", "-Wno-analyzer-malloc-leak",
        "-ftrivial-auto-var-init=uninitialized", "-fdiagnostics-plain-output",
        "-fdiagnostics-path-format=none", "-o", "/dev/null"], folder)


def clang_tidy(name, words, folder, build):
    return said(["clang-tidy", "-p", build, "--quiet", "--checks=" + ",".join(TIDY),
                 "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Qunused-arguments",
                 "--extra-arg=-Wno-error", os.path.join(TOP, name)], folder)


# No program has threads, and a declaration may leave a name out.
QUIET = ["--suppress=" + x for x in (
    "missingInclude", "missingIncludeSystem", "funcArgOrderDifferent", "readdirCalled",
    "asctimeCalled", "ctimeCalled", "getpwuidCalled", "getpwnamCalled", "localtimeCalled",
    "gmtimeCalled", "strtokCalled", "getenvCalled", "gethostbynameCalled")]
# cppcheck reads no header of the system's.
SYSTEM = ("-D__x86_64__=1", "-D__LP64__=1", "--library=posix", "--library=gnu", "--library=bsd",
          "--include=" + os.path.join(HERE, "cppcheck.h"))


def cppcheck(name, words, folder, build):
    flags = [w for w in words if w.startswith(("-I", "-D", "-U")) and "FORTIFY" not in w]
    return said(["cppcheck", "--quiet", "--std=c11", "--language=c", "--max-ctu-depth=4",
                 "--enable=warning,performance,portability", "--inline-suppr",
                 *QUIET,
                 "--template={file}:{line}:{column}: {severity}: {message} [{id}]",
                 "--template-location=", *SYSTEM, *flags, os.path.join(TOP, name)], folder)


PROGRAMS = {"gcc": gcc, "clang-tidy": clang_tidy, "cppcheck": cppcheck}


def findings(text, folder):
    """Yields (file, line, check, message) of this tree."""
    for line in text.splitlines():
        m = FINDING.match(line)
        if not m:
            continue
        name = os.path.relpath(os.path.normpath(os.path.join(folder, m.group(1))), TOP)
        if name.startswith(("..", "build", "tests/")):
            continue
        for check in m.group(5).split(","):
            # gcc repeats the warnings of any build, which -Werror makes errors there.
            if m.group(4) is None or check.startswith("analyzer"):
                yield name, int(m.group(2)), check, m.group(3)
                break


def line_of(name, number):
    with open(os.path.join(TOP, name), encoding="utf-8") as f:
        return f.read().split("\n")[number - 1].strip()


def kept():
    """Returns {(file, check, text of the line): reason}."""
    known = {}
    with open(os.path.join(HERE, "analyze.txt"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                where, text, reason = line.rstrip("\n").split(" | ")
                known[(*where.split(" "), text)] = reason
    return known


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    p.add_argument("build")
    p.add_argument("jobs", type=int)
    p.add_argument("--only", choices=sorted(PROGRAMS))
    p.add_argument("file", nargs="*")
    args = p.parse_intermixed_args()
    build = os.path.abspath(args.build)
    known, met, new = kept(), set(), set()
    work = [(run, *c) for c in commands(build, args.file)
            for what, run in PROGRAMS.items() if args.only in (None, what)]
    if not work:
        sys.exit(f"analyze.py: {build} has no such files")
    with ThreadPoolExecutor(args.jobs) as pool:
        for folder, text in pool.map(lambda w: (w[3], w[0](*w[1:], build)), work):
            for name, number, check, message in findings(text, folder):
                key = (name, check, line_of(name, number))
                met.add(key)
                if key not in known:
                    new.add((name, number, check, message))
    for name, number, check, message in sorted(new):
        print(f"{name}:{number}: {message} [{check}]")
    gone = [] if args.only or args.file else sorted(set(known) - met)
    for name, check, text in gone:
        print(f"analyze.txt: {name} {check} is no longer found at \"{text}\"; take it out")
    print(f"analyze.py: {len(work)} files read, {len(new)} findings, "
          f"{len(met & set(known))} known ones")
    sys.exit(1 if new or gone else 0)


main()
