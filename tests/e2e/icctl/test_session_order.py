#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The newest session is the one that was started last, in whatever time zone
and by whatever name."""
import calendar
import json
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()


def git(where, *args):
    subprocess.run(["git", "-C", where, "-c", "user.name=u", "-c",
                    "user.email=u@example.org", *args], check=True,
                   capture_output=True)


def clone(s, zone, message):
    """Runs a session in a clone whose agent makes a commit. Returns its id."""
    script = ("echo x >>f && git -c user.name=a -c user.email=a@example.org "
              f"commit -qam {message}")
    r = subprocess.run(
        [h.program("icctl"), "start", "--quiet", "--clone", s.workspace, "--",
         "sh", "-c", script], env={**s.env, "TZ": zone}, text=True,
        capture_output=True, stdin=subprocess.DEVNULL, check=False,
        timeout=60 * h.PATIENCE)
    t.ok(r.returncode == 0, f"a session in {zone}", r.stderr)


def main():
    with h.workdir() as work:
        s = h.Session(work)
        git(s.workspace, "init", "-q", "-b", "main")
        h.put(os.path.join(s.workspace, "f"), "x\n")
        git(s.workspace, "add", "f")
        git(s.workspace, "commit", "-qm", "begin")
        clone(s, "Pacific/Kiritimati", "first")
        ids = set(os.listdir(os.path.join(s.home, "sessions")))
        one = ids.pop()
        stamp = time.strptime(one[:15], "%Y%m%d-%H%M%S")
        t.ok(abs(calendar.timegm(stamp) - time.time()) < 600,
             "ids are in UTC", one)
        # As an older version named it, far in the east.
        old = "29991231-235959-abcd"
        os.rename(os.path.join(s.home, "sessions", one),
                  os.path.join(s.home, "sessions", old))
        clone(s, "America/Los_Angeles", "second")
        new = [x for x in os.listdir(os.path.join(s.home, "sessions"))
               if x != old][0]

        def icctl(*args):
            return subprocess.run([h.program("icctl"), *args], env=s.env,
                                  cwd=s.workspace, capture_output=True,
                                  text=True, check=False, timeout=60)
        rows = [x["id"] for x in json.loads(icctl("--json", "ls").stdout)]
        t.equal(rows, [new, old], "icctl ls has the later one first")
        r = icctl("pull")
        t.ok(r.returncode == 0 and f"session {new}" in r.stderr,
             "icctl pull takes the later one", r.stdout + r.stderr)
        names = re.findall(r"ironcurtain/\S+", r.stdout + r.stderr)
        log = subprocess.run(["git", "-C", s.workspace, "log", "--format=%s",
                              "--all"], capture_output=True, text=True,
                             check=True).stdout.split()
        t.ok("second" in log and "first" not in log, "with its commit",
             (log, names))
    t.done()


if __name__ == "__main__":
    main()
