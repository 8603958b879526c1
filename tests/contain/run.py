#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The containment suite: the effects of code execution inside a worker. See
attempts.h for the rows, rig.py for running them, live.py for the confinement
of a shipped session."""
import argparse
import multiprocessing
import os
import pwd
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import bare  # noqa: E402
import parts  # noqa: E402
import rig  # noqa: E402
import short  # noqa: E402
import harness  # noqa: E402

LANES = 2
# If the filter of a worker is expected to kill it, one case of so many is tried
# in a whole session, another one in each row. In the others, the worker is
# started by hand and confines itself as it does in a session. The suite
# contain-long (--sessions) tries all of them in sessions.
HAND = 6


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--build", default=os.path.join(
        os.environ.get("IC_BUILD", ""), "tests", "contain"))
    p.add_argument("--prefix", default=harness.PREFIX)
    p.add_argument("--root", action="store_true",
                   help="only the parts that need root")
    p.add_argument("--sanitized", action="store_true")
    p.add_argument("--sessions", action="store_true",
                   help="start no worker of a session by hand")
    p.add_argument("--only", help="rows whose name contains this")
    p.add_argument("--role", help="this role alone")
    p.add_argument("--counted", default="0,0", help=argparse.SUPPRESS)
    args = p.parse_args()
    args.build = os.path.abspath(args.build)
    args.prefix = os.path.abspath(args.prefix)
    return args


def lane(cases, work, args, out):
    """A process with its own binaries, which no other process writes
    meanwhile."""
    table = rig.Table(args.build)
    os.makedirs(work)
    os.chdir("/")               # as icsupervisor's workers
    confined = rig.Confined(os.path.join(work, "c"), args.build, args.prefix,
                            table)
    alone = bare.Bare(os.path.join(work, "b"), args.build, table)
    while True:
        try:
            index, kind, role, a, extra = cases.get()
        except EOFError:
            break
        if index is None:
            break
        try:
            if role in short.PROGRAMS:
                r = short.attempt(alone, role, a, kind)
            elif kind == "all" and role not in rig.ALONE:
                r = confined.run(role, a, arg=extra,
                                 servers=a["call"] == "sendmsg")
            else:
                r = alone.run(role, a, "all" if kind == "hand" else kind)
        except Exception as e:      # pylint: disable=broad-except
            import traceback
            r = rig.Result("BROKEN", f"{e}\n{traceback.format_exc()}")
        out.put((index, r))
    alone.close()


def has_namespaces():
    return subprocess.run(["/usr/bin/unshare", "--user", "--net", "true"],
                          capture_output=True, check=False).returncode == 0


class Suite:
    def __init__(self, args, tap):
        self.args = args
        self.tap = tap
        self.table = rig.Table(args.build)
        self.table.exceptions.update(short.exceptions(self.table.attempts))
        self.cases = []
        self.results = []
        self.open = {}      # cases of a row without a result yet
        self.layers = ["bare", "landlock", "seccomp"]
        if has_namespaces():
            self.layers.append("private")
        else:
            tap.skip("the layer of namespaces alone",
                     "this kernel, or AppArmor, gives a user none")

    def plan(self):
        """Adds every row for every confined role, and the layers for the
        smallest role and for each role whose filter has an exception; row by
        row, so that each is reported as soon as it is done."""
        for a in self.table.attempts:
            if self.args.only and self.args.only not in a["name"]:
                continue
            small = "mcp-backd" if "mcp-backd" in a["roles"] else a["roles"][0]
            for i, role in enumerate([*self.table.roles, "resolver"]):
                if role in a["roles"]:
                    self.add("hand" if self.by_hand(i, role, a) else "all",
                             role, a, 0)
            for role in rig.ALONE:
                if role in a["roles"]:
                    self.add("all", role, a, 0)
            for role in short.PROGRAMS if "resolver" in a["roles"] else ():
                self.add("all", role, a, 0)
                if role == short.WHOLE or a["name"] in short.BASELINE:
                    self.add("plain", role, a, 0)
            for kind in self.layers:
                self.add(kind, small, a, 0)
            for (name, role) in self.table.exceptions:
                # The other attempts of the resolver and of short-lived
                # programs are only run confined.
                if name == a["name"] and role != "resolver" and \
                        role not in short.PROGRAMS:
                    self.add("seccomp", role, a, 0)

    def by_hand(self, i, role, a):
        """Returns true for a case that needs no session."""
        return not self.args.sessions and role != "resolver" and \
            self.table.expected(a, role, "all") == ["KILLED"] and \
            (a["n"] + i) % HAND != 0

    def add(self, kind, role, a, extra):
        if self.args.role and role != self.args.role:
            return
        self.cases.append((kind, role, a, extra))
        self.open[a["n"]] = self.open.get(a["n"], 0) + 1

    def run(self, work):
        cases, out = multiprocessing.Queue(), multiprocessing.Queue()
        lanes = [multiprocessing.Process(
            target=lane, args=(cases, os.path.join(work, f"l{i}"), self.args,
                               out)) for i in range(LANES)]
        for p in lanes:
            p.start()
        self.results = [None] * len(self.cases)
        waiting = 0
        for i, c in enumerate(self.cases):
            cases.put((i, *c))
            waiting += 1
        while waiting:
            i, r = out.get()
            waiting -= 1
            self.results[i] = r
            waiting += self.more_channels(i, r, cases)
            row = self.cases[i][2]["n"]
            self.open[row] -= 1
            if self.open[row] == 0:
                self.report_row([(c, r) for c, r in
                                 zip(self.cases, self.results)
                                 if c[2]["n"] == row])
        for _ in lanes:
            cases.put((None,) * 5)
        for p in lanes:
            p.join()

    def more_channels(self, i, r, cases):
        """Returns the number of further cases: one for each channel of the
        worker."""
        kind, role, a, extra = self.cases[i]
        if kind != "all" or a["call"] != "sendmsg" or extra:
            return 0
        for k in range(1, r.channels):
            self.cases.append((kind, role, a, k))
            self.results.append(None)
            self.open[a["n"]] += 1
            cases.put((len(self.cases) - 1, kind, role, a, k))
        return max(r.channels - 1, 0)

    def report_row(self, found):
        """Reports a row in one line: each layer's result, then each role's."""
        wrong, layers, roles, lacks = [], {}, {}, False
        a = found[0][0][2]
        for (kind, role, _, extra), r in found:
            want = self.table.expected(a, role, "all" if kind == "hand" else kind)
            if extra and r.outcome == "HARMLESS" or \
                    a["call"] == "sendmsg" and r.outcome == "HARMLESS":
                want = want + ["HARMLESS"]
            if self.lacking(a, role, kind, r):
                want = want + [r.outcome]
                lacks = True
            if kind in ("all", "hand"):
                roles.setdefault(r.outcome, []).append(role)
            else:
                layers.setdefault(kind, []).append(r.outcome)
            if r.outcome not in want:
                wrong.append(f"{kind} {role} {extra}: got {r.outcome}, want "
                             f"{want}\n{r.detail}")
        text = [f"{k} {' '.join(sorted(set(v)))}" for k, v in layers.items()]
        text += [f"confined {o} in {len(v)}" for o, v in roles.items()]
        why = f" ({a['why']})" if a["why"] else ""
        name = f"{a['name']} [{a['call']}]: {', '.join(text)}{why}"
        if lacks and not wrong:
            self.tap.skip(name, a["missing"])
        else:
            self.tap.ok(not wrong, name, "\n".join(wrong))

    def lacking(self, a, role, kind, r):
        """Returns true if the machine lacks something, so that the refusal
        says nothing about a layer that is not expected to kill."""
        return r.outcome in a["lacks"] and \
            "KILLED" not in self.table.expected(a, role, kind)

    def report_roles(self):
        """Reports how much was tried in each role, and the results."""
        granted = []
        for role in [*self.table.roles, *rig.ALONE, *short.PROGRAMS, "resolver"]:
            tried = [(c[2], r) for c, r in zip(self.cases, self.results)
                     if c[0] in ("all", "hand") and c[1] == role]
            if not tried:
                continue
            rows = {a["n"] for a, _ in tried}
            calls = {a["call"] for a, _ in tried}
            won = []
            for a, r in tried:
                if r.outcome in ("KILLED", "SENT", "HARMLESS") or \
                        self.lacking(a, role, "all", r):
                    continue
                if r.outcome != "WORKS":
                    if r.outcome not in self.table.expected(a, role, "all"):
                        won.append(f"{a['name']}: {r.outcome}")
                elif (a["name"], role) in self.table.exceptions:
                    granted.append((role, a["name"]))
                else:
                    won.append(f"{a['name']}: {r.outcome}")
            enough = self.args.only or len(rows) >= 60 and len(calls) >= 40
            self.tap.ok(not won and enough, f"{role}: {len(won)} successes "
                        f"of {len(tried)} attempts in {len(rows)} rows with "
                        f"{len(calls)} system calls", "\n".join(won))
        for role, name in granted:
            why = self.table.exceptions[(name, role)]["why"]
            print(f"# {role} may: {name} ({why})")


def test_shipped(tap, args):
    """Checks that no hostile build is installed."""
    found = []
    for at, _, names in os.walk(args.prefix):
        for name in names:
            path = os.path.join(at, name)
            if os.access(path, os.R_OK) and not os.path.islink(path):
                with open(path, "rb") as f:
                    if rig.MAGIC in f.read():
                        found.append(path)
    tap.equal(found, [], "what is installed takes no orders")


def continue_as_user(tap):
    """Runs this program again as an ordinary user, since attempts of root
    prove less; the count of tests continues."""
    try:
        user = pwd.getpwnam("ictest")
    except KeyError:
        user = pwd.getpwnam("nobody")
    os.setgroups([])
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)
    os.chdir("/")
    os.environ["HOME"] = user.pw_dir
    os.execv(harness.PYTHON, [harness.PYTHON, os.path.abspath(__file__),
                              *sys.argv[1:], "--counted",
                              f"{tap.count},{tap.failed}"])


def main():
    args = arguments()
    harness.PREFIX = args.prefix
    tap = harness.Tap()
    tap.count, tap.failed = map(int, args.counted.split(","))
    if args.sanitized:
        tap.skip("containment", "a sanitized build asks the kernel for what "
                 "no worker may have: its filters are not loaded")
        tap.done()
    if os.geteuid() == 0:
        with harness.workdir() as work:
            parts.root_parts(tap, args, work)
        if args.root:
            tap.done()
        continue_as_user(tap)
    if args.root:
        sys.exit("run.py --root: needs root")
    began = time.monotonic()
    if not args.only:
        test_shipped(tap, args)
        with harness.workdir() as work:
            parts.user_parts(tap, args, work, args.counted != "0,0")
    suite = Suite(args, tap)
    short.test_rows(tap, args, suite.table.roles)
    with harness.workdir() as work:
        suite.plan()
        suite.run(work)
    suite.report_roles()
    print(f"# {len(suite.cases)} runs in {time.monotonic() - began:.0f} s")
    tap.done()


if __name__ == "__main__":
    main()
