#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The transient scope of a session, with a real manager of systemd: the call
that icsupervisor makes is accepted, moves the process, and is delegated. The
limits themselves need controllers of version 2, which not every machine has."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
PROGRAM = os.path.join(os.environ["IC_BUILD"], "tests", "unit", "box",
                       "test_cgroup")
NAME = "ironcurtain-20261124-test.scope"


def show(*names):
    r = subprocess.run(["systemctl", "--user", "show", NAME,
                        *[x for n in names for x in ("-p", n)]],
                       capture_output=True, text=True, timeout=60, check=False)
    found = dict(x.split("=", 1) for x in r.stdout.splitlines())
    return [found.get(n) for n in names]


def groups(pid):
    with open(f"/proc/{pid}/cgroup", encoding="ascii") as f:
        return f.read()


def main():
    # The program names its parent, the shell, in the call.
    with subprocess.Popen(
            ["/bin/sh", "-c", f"{PROGRAM} --scope 20261124-test; echo $?; "
             "exec sleep 600"], stdout=subprocess.PIPE, text=True) as p:
        try:
            t.equal([p.stdout.readline().strip() for _ in range(2)],
                    [NAME, "0"], "systemd accepts the scope")
            h.wait_for(lambda: NAME in groups(p.pid), "it was not moved")
            t.ok(True, "the process is moved into it")
            t.equal(show("ActiveState", "Delegate", "CollectMode"),
                    ["active", "yes", "inactive-or-failed"],
                    "it is delegated, and does not stay")
        finally:
            p.kill()
    h.wait_for(lambda: show("LoadState") == ["not-found"], "it stayed", 30)
    t.ok(True, "it goes away with its process")


with t.case("scope"):
    main()
t.done()
