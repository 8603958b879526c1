#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Kernels on which no session can run (tests/lib/older_kernel.py plays them), and
programs of two builds: each is said in one line, with what to do about it."""
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
WRAPPER = os.path.join(os.path.dirname(os.path.abspath(h.__file__)), "older_kernel.py")
BOOT = 'add "landlock" to lsm='
# Linux 5.10 is played on a newer one, whose release is seen.
KERNELS = {"5.10": (BOOT, "Landlock"), "landlock": (BOOT, "Landlock"),
           "userns": ("allow clone with namespace flags", "sandbox")}


def run(work, kind, *words):
    return subprocess.run(
        [sys.executable, "-B", WRAPPER, kind, h.program("icctl"), *words],
        capture_output=True, text=True, check=False, timeout=120, cwd=work,
        env={"PATH": os.environ["PATH"], "HOME": work, "LANG": "C.UTF-8",
             "IRONCURTAIN_HOME": os.path.join(work, "home")})


def test_kernel(work, kind):
    remedy, row = KERNELS[kind]
    place = os.path.join(work, kind)
    os.makedirs(place)
    r = run(work, kind, "start", "--workspace", place, "--", "true")
    lines = [x for x in r.stderr.splitlines() if remedy in x]
    t.ok(r.returncode != 0 and len(lines) == 1,
         f"{kind}: icctl start fails, and one line has the remedy", r.stderr)
    if row == "Landlock":
        t.equal(len(r.stderr.splitlines()), 1, f"{kind}: and says nothing else")
    r = run(work, kind, "doctor")
    t.ok(r.returncode != 0 and f"MISSING  {row}" in r.stdout and
         "Connection reset" not in r.stdout, f"{kind}: icctl doctor names it", r.stdout)
    if row == "Landlock":
        t.equal(r.stderr, "", f"{kind}: and no program of ours complains beside it")


def test_two_builds(work, other):
    real = os.path.join(h.PREFIX, "libexec", "ironcurtain")
    libexec = os.path.join(work, "libexec")
    os.makedirs(libexec)
    for name in os.listdir(real):
        if name != "auditd":
            os.symlink(os.path.join(real, name), os.path.join(libexec, name))
    shutil.copy(other, os.path.join(libexec, "auditd"))
    s = h.Session(work, libexecdir=libexec)
    r = subprocess.run(s.argv, env=s.env, stdin=subprocess.DEVNULL, check=False,
                       capture_output=True, text=True, timeout=120)
    lines = [x for x in r.stderr.splitlines()
             if "Install all programs of one version" in x]
    t.ok(r.returncode == 71 and lines and "auditd is of another build" in lines[0],
         "a half-upgraded system: the session does not start, and says why", r.stderr)


def main():
    for kind in KERNELS:
        with h.workdir() as work, t.case(f"kernel {kind}"):
            test_kernel(work, kind)
    with h.workdir() as work, t.case("two builds"):
        test_two_builds(work, sys.argv[1])
    t.done()


if __name__ == "__main__":
    main()
