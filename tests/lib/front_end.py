#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Has the compiler of a build directory check each of its C files, as its build
would, without making an object: most of what a compiler says is found by then.

usage: front_end.py BUILD [JOBS]"""
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor


def made(build):
    """Makes the C files and headers that the build generates."""
    names = subprocess.run(
        ["ninja", "-C", build, "-t", "targets", "rule", "CUSTOM_COMMAND"],
        capture_output=True, text=True, check=True).stdout.split()
    subprocess.run(["ninja", "-C", build, "--quiet"] + [
        n for n in names if n.endswith((".c", ".h"))], check=True)


def check(build, entry):
    """Returns the file if the compiler refuses it, or None."""
    words = shlex.split(entry["command"])
    out = words.index("-o")
    r = subprocess.run(words[:out] + words[out + 2:] + ["-fsyntax-only"],
                       cwd=os.path.join(build, entry["directory"]),
                       capture_output=True, text=True, check=False)
    sys.stderr.write(r.stderr)
    return entry["file"] if r.returncode else None


def main(build, jobs="2"):
    made(build)
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        commands = [e for e in json.load(f) if e["file"].endswith(".c")]
    with ThreadPoolExecutor(int(jobs)) as pool:
        bad = [f for f in pool.map(lambda e: check(build, e), commands) if f]
    for name in bad:
        print(f"front_end.py: {name} does not compile", file=sys.stderr)
    if not commands:
        sys.exit(f"front_end.py: {build} has no C files")
    sys.exit(1 if bad else 0)


main(*sys.argv[1:])
