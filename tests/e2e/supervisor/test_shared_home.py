#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests a home directory that several machines share: sessions of another
machine are neither removed nor contacted."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()


def icctl(s, *args):
    """Without --session."""
    return subprocess.run([h.program("icctl"), *args], env=s.env, text=True,
                          capture_output=True, timeout=30, check=False)


def test_shared(work):
    s = h.Session(work, {}, [h.rule("no", "deny")], {})
    run = os.path.join(s.home, "run")
    os.makedirs(run, mode=0o700)
    # A session directory on that machine's own disk, which this one cannot
    # see.
    os.symlink("/scratch/nowhere/far", os.path.join(run, "far"))
    h.put(os.path.join(run, ".far.host"), "farhost 0000-1111\n", 0o600)
    os.symlink("/scratch/nowhere/old", os.path.join(run, "old"))
    r = icctl(s, "status")
    t.ok(r.returncode == 3 and "such as farhost" in r.stderr and
         "on this machine" in r.stderr, "icctl says where a session runs", r.stderr)
    r = icctl(s, "--session", "far", "status")
    t.ok(r.returncode == 3 and "runs on farhost" in r.stderr,
         "and that it can be asked there only", r.stderr)
    with s:
        names = set(os.listdir(run))
        t.ok({"far", ".far.host", "session", ".session.host"} == names,
             "a start leaves its link, and sweeps one that nobody has", names)
        r = icctl(s, "status")
        t.ok(r.returncode == 0 and s.dir in r.stdout,
             "the one of this machine is the only one meant", r.stderr)
    t.equal(set(os.listdir(run)), {"far", ".far.host"},
            "and its end takes its own away")
    h.put(os.path.join(s.dir, "lock"), "farhost 0000-1111\n", 0o600)
    r = subprocess.run(s.argv, env=s.env, capture_output=True, text=True,
                       timeout=30, check=False)
    t.ok(r.returncode == 78 and "a session on farhost" in r.stderr and
         f"rm {s.dir}/lock" in r.stderr,
         "a directory that another machine holds is not taken", r.stderr)


def main():
    with h.workdir() as work, t.case("shared"):
        test_shared(work)
    t.done()


if __name__ == "__main__":
    main()
