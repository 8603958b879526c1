#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Says which lines and branches suites of tests reached in the programs of a
coverage build (counters.c), by program and file.

usage: coverage.py BUILD begin            sets all counters to zero
       coverage.py BUILD took SUITE       keeps what was counted as of that suite
       coverage.py BUILD report SUITE...  prints what they reached
       coverage.py BUILD judge SUITE...   and refuses what is too little

./dev coverage calls these around its suites. For judge, a program that confines
itself must have NEEDED percent of its lines reached by them together, in all files
that it is linked from, and each function of these that none enters must stand in
unreached.txt with the reason. BUILD/coverage has the rest: report.txt, a line for
each file, and lines.txt, the lines that no suite reached."""
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
from sources import sources  # noqa: E402

NEEDED = 90
# gcov reads so many objects in one run.
BATCH = 100


def executables(build):
    """Returns the executables of the build, and those of them that an install takes."""
    said = subprocess.run(["meson", "introspect", build, "--targets"], check=True,
                          capture_output=True, text=True).stdout
    every = [t for t in json.loads(said) if t["type"] == "executable"]
    return ([f for t in every for f in t["filename"] if os.path.exists(f)],
            [f for t in every if t["installed"] for f in t["filename"]])


def objects(program):
    """Returns the names of the data files of the objects that it is linked from."""
    with open(program, "rb") as f:
        return {os.path.normpath(m.decode())
                for m in re.findall(rb"/[ -~]*\.gcda", f.read())}


def confines_itself(program):
    said = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
    return re.search(r" [Tt] confine_apply$", said, re.M) is not None


class Reached:
    """Counts of lines, branches and functions, by file."""

    def __init__(self):
        self.lines, self.branches, self.functions = {}, {}, {}
        self.files = {}     # each object's
        self.owners = {}    # the function of each line

    def add(self, where, known):
        """Adds the data files below a directory."""
        found = []
        for folder, _, names in os.walk(where):
            for name in names:
                if name.endswith(".gcda"):
                    path = os.path.join(folder, name)
                    note = path[len(where):-len(".gcda")] + ".gcno"
                    if os.path.exists(note):
                        link = path[:-len(".gcda")] + ".gcno"
                        if not os.path.lexists(link):
                            os.symlink(note, link)
                        found.append(path)
        for i in range(0, len(found), BATCH):
            said = subprocess.run(
                ["gcov", "--json-format", "--stdout", "--branch-probabilities",
                 *found[i:i + BATCH]], check=True, capture_output=True, text=True).stdout
            for line in said.splitlines():
                if line.startswith("{"):
                    self.take(json.loads(line), where, known)

    def take(self, data, where, known):
        obj = os.path.normpath(os.path.join(data["current_working_directory"],
                                            data["data_file"]))[len(where):]
        base = os.path.dirname(obj)
        mine = self.files.setdefault(obj, set())
        for f in data["files"]:
            name = self.name(f["file"], base, known)
            if name is None:
                continue
            mine.add(name)
            lines = self.lines.setdefault(name, {})
            branches = self.branches.setdefault(name, {})
            functions = self.functions.setdefault(name, {})
            for x in f["functions"]:
                key = x["name"]
                functions[key] = functions.get(key, 0) + x["execution_count"]
            for x in f["lines"]:
                n = x["line_number"]
                lines[n] = lines.get(n, 0) + x["count"]
                self.owners[name, n] = x.get("function_name")
                for i, b in enumerate(x["branches"]):
                    branches[n, i] = branches.get((n, i), 0) + b["count"]

    @staticmethod
    def name(path, base, known):
        """Returns the source's path in this tree, or None for a header of the system's
        or a file that the build made."""
        for start in ("", base, TOP, os.path.join(TOP, "build")):
            p = os.path.relpath(os.path.normpath(os.path.join(start, path)), TOP)
            if p in known:
                return p
        p = re.sub(r"^(\.\./|\./)+", "", path)
        return p if p in known else None

    def merge(self, other):
        for mine, theirs in ((self.lines, other.lines), (self.branches, other.branches),
                             (self.functions, other.functions)):
            for name, counts in theirs.items():
                to = mine.setdefault(name, {})
                for key, n in counts.items():
                    to[key] = to.get(key, 0) + n
        self.owners.update(other.owners)
        for obj, names in other.files.items():
            self.files.setdefault(obj, set()).update(names)

    def share(self, names, of):
        """Returns how many of the lines or branches of these files were reached, and
        how many there are."""
        counts = [n for name in names for n in of.get(name, {}).values()]
        return sum(n > 0 for n in counts), len(counts)


def percent(share):
    return f"{100 * share[0] / share[1]:5.1f}" if share[1] else "    -"


def begin(build):
    """Sets all counters to zero. No process of the build may run."""
    counters = os.path.join(build, "counters")
    for name in os.listdir(counters):
        os.unlink(os.path.join(counters, name))


def dump(programs, where):
    """Has each program write what its processes have counted below a directory."""
    shutil.rmtree(where, ignore_errors=True)
    os.makedirs(where)
    env = dict(os.environ, IC_COVERAGE_DUMP="1", GCOV_PREFIX=where)
    for p in programs:
        try:
            r = subprocess.run([p], env=env, check=False, stdin=subprocess.DEVNULL,
                               capture_output=True, text=True)
        except FileNotFoundError:
            # ic-agent-boxed starts only where a sandbox has its loader.
            continue
        if r.returncode != 0 or r.stderr:
            print(f"coverage.py: {p}: {r.stderr.strip() or r.returncode}", file=sys.stderr)


def spans(numbers):
    """Writes 3, 4, 5, 9 as 3-5 9."""
    out = []
    for n in sorted(numbers):
        if out and n == out[-1][1] + 1:
            out[-1][1] = n
        else:
            out.append([n, n])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in out)


def reasons():
    """Returns {(file, function): reason}."""
    known = {}
    with open(os.path.join(HERE, "unreached.txt"), encoding="utf-8") as f:
        for line in f:
            m = re.match(r"(\S+\.[ch]) ([\w ]+): (.+)$", line)
            if m:
                for name in m.group(2).split():
                    known[m.group(1), name] = m.group(3)
            elif line.strip() and not line.startswith("#"):
                sys.exit(f"unreached.txt: not FILE FUNCTION...: REASON: {line}")
    return known


def report(out, suites, total, by_suite):
    """Writes report.txt and lines.txt."""
    with open(os.path.join(out, "report.txt"), "w", encoding="utf-8") as f:
        print("lines branches  " + " ".join(f"{s:>8}" for s in suites) + "  file", file=f)
        for name in sorted(total.lines):
            print(percent(total.share([name], total.lines)), "  ",
                  percent(total.share([name], total.branches)), "  ",
                  " ".join(f"{percent(r.share([name], r.lines)):>8}" for r in by_suite),
                  "", name, file=f)
    with open(os.path.join(out, "lines.txt"), "w", encoding="utf-8") as f:
        for name in sorted(total.lines):
            missing = [n for n, count in total.lines[name].items() if not count]
            if missing:
                print(f"{name}: {spans(missing)}", file=f)


def judge(total, confined):
    """Returns True if the confined programs are reached as they must be. Functions
    that another lane enters, by name, are not counted."""
    known, good, never = reasons(), True, set()
    for program, names in sorted(confined.items()):
        counts = [c for name in names for n, c in total.lines.get(name, {}).items()
                  if not known.get((name, total.owners.get((name, n))), "").startswith("lane ")]
        if sum(c > 0 for c in counts) * 100 < NEEDED * len(counts):
            print(f"coverage.py: {program}: fewer than {NEEDED} % of its lines are reached")
            good = False
        for name in names:
            never.update((name, fn) for fn, n in total.functions.get(name, {}).items() if not n)
    for name, fn in sorted(never - set(known)):
        print(f"coverage.py: {name}: no test enters {fn}; test it, or say why not in "
              "tests/coverage/unreached.txt")
        good = False
    for name, fn in sorted(set(known) - never):
        print(f"coverage.py: unreached.txt: {name} {fn} is reached, or gone; take it out")
        good = False
    return good


def reached(build, suites):
    """Returns what the suites reached together, and each."""
    known, total, by_suite = set(sources("*.c", "*.h")), Reached(), []
    for suite in suites:
        by_suite.append(Reached())
        by_suite[-1].add(os.path.join(build, "coverage", suite), known)
        total.merge(by_suite[-1])
    return total, by_suite


def tell(build, suites):
    """Prints a line for each program; returns the total, and the files of each
    program that confines itself."""
    total, by_suite = reached(build, suites)
    confined = {}
    print("lines branches  " + " ".join(f"{s:>8}" for s in suites) + "  program")
    for program in sorted(executables(build)[1], key=os.path.basename):
        names = set().union(*(total.files.get(o, ()) for o in objects(program)))
        own = confines_itself(program)
        if own:
            confined[os.path.basename(program)] = names
        print(percent(total.share(names, total.lines)), "  ",
              percent(total.share(names, total.branches)), "  ",
              " ".join(f"{percent(r.share(names, r.lines)):>8}" for r in by_suite), "",
              os.path.basename(program) + (" (confined)" if own else ""))
    out = os.path.join(build, "coverage")
    report(out, suites, total, by_suite)
    print(f"coverage.py: {out}/report.txt has the files, lines.txt what none reached")
    return total, confined


def main(build, what, *suites):
    build = os.path.abspath(build)
    if what == "begin":
        begin(build)
    elif what == "took":
        dump(executables(build)[0], os.path.join(build, "coverage", suites[0]))
    else:
        total, confined = tell(build, suites)
        if what == "judge" and not judge(total, confined):
            sys.exit(1)


main(*sys.argv[1:])
