#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Jobs under a real systemd of this user, which systemd.py starts: on time, failed,
one run after the other, stopped, missed while the machine was off, and removed.
What a run does is tests/e2e/icctl/test_job.py, under the daemon."""
import json
import os
import pwd
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib"),
                os.path.join(HERE, "..", "e2e", "icctl")]
import harness as h  # noqa: E402
from test_job import Jobs  # noqa: E402

t = h.Tap()


class Timed(Jobs):
    """Jobs whose timers a manager has."""

    def __init__(self, work):
        super().__init__(work)
        self.home = pwd.getpwuid(os.geteuid()).pw_dir
        self.s.env.update(
            PATH=self.s.env["PATH"].split(":", 1)[1], HOME=self.home,
            XDG_RUNTIME_DIR=os.environ["XDG_RUNTIME_DIR"])

    def systemctl(self, *args):
        return subprocess.run(["systemctl", "--user", *args], env=self.s.env,
                              capture_output=True, text=True, check=False,
                              timeout=60 * h.PATIENCE).stdout.strip()

    def until_run(self, name, what, n=1, timeout=90):
        """Waits for the n-th run to have ended. Returns it."""
        def ended():
            runs = self.runs(name)
            done = [r for r in runs if r.get("status") not in (None, "running")]
            return done if len(done) >= n else None
        return h.wait_for(ended, what, timeout, poll=0.5)[0]

    def stamp(self, name):
        return os.path.join(self.home, ".local/share/systemd/timers",
                            f"stamp-ironcurtain-job-{name}.timer")


def unit(name, kind="service"):
    return f"ironcurtain-job-{name}.{kind}"


def test_time(k):
    r = k.add("timed", "--task", "write", "--schedule", "* * * * *")
    t.equal(r.returncode, 0, "a job for each minute")
    t.equal(k.systemctl("is-active", unit("timed", "timer")), "active",
            "its timer is active")
    run = k.until_run("timed", "the timer starts no run")
    t.equal((run["status"], k.rows()["timed"]["by"]), ("success", "systemd"),
            "the manager runs it")
    t.ok(int(run["startedAt"][17:19]) < 10, "on time", run)
    t.ok(os.path.exists(os.path.join(k.s.workspace, "out")), "and it has worked")
    k.icctl("disable", "timed")
    t.equal(k.systemctl("is-active", unit("timed", "timer")), "inactive",
            "a job that is disabled has no timer")
    k.icctl("rm", "--yes", "timed")


def test_fails(k):
    k.add("bad", "--task", "fail", "--schedule", "0 3 1 1 *")
    k.systemctl("start", unit("bad"))
    run = k.until_run("bad", "the run does not end")
    t.equal(run["status"], "failed", "a job that fails has failed")
    t.equal(k.systemctl("is-failed", unit("bad")), "failed",
            "so the manager says")
    t.ok(any("bad" in x for x in k.told()), "and the person is told", k.told())
    k.icctl("rm", "--yes", "bad")
    k.systemctl("reset-failed")


def test_overlap(k):
    k.add("long", "--task", "wait", "--schedule", "0 3 1 1 *")
    k.systemctl("start", "--no-block", unit("long"))
    h.wait_for(lambda: os.path.exists(os.path.join(k.s.workspace, "begun")),
               "the run does not begin", 60)
    r = k.icctl("run", "--scheduled", "long")
    t.equal(r.returncode, 75, "a run does not overlap the one before")
    t.equal(k.systemctl("is-active", unit("long")), "active",
            "which goes on")
    k.systemctl("stop", unit("long"))
    runs = k.until_run("long", "a run that is stopped has no record", 2)
    every = sorted(x["status"] for x in k.runs("long"))
    t.ok("skipped" in every and "success" not in every,
         "both are recorded, the stopped one not as a success", (every, runs))
    left = subprocess.run(["pgrep", "-u", str(os.geteuid()), "-f",
                           os.path.join(k.work, "bin", "amy")],
                          capture_output=True, text=True, check=False).stdout
    t.equal(left, "", "and its agent is gone")
    k.icctl("rm", "--yes", "long")


def test_missed(k):
    """The machine was off when it was time."""
    k.add("missed", "--task", "write", "--schedule", "0 0 * * *")
    k.systemctl("stop", unit("missed", "timer"))
    t.equal(k.runs("missed"), [], "baseline: no run")
    before = time.time() - 3 * 86400
    os.makedirs(os.path.dirname(k.stamp("missed")), exist_ok=True)
    with open(k.stamp("missed"), "a", encoding="ascii"):
        pass
    os.utime(k.stamp("missed"), (before, before))
    k.systemctl("start", unit("missed", "timer"))
    run = k.until_run("missed", "a missed run is not made up for")
    t.equal(run["status"], "success", "a missed run is made up for, once")
    t.equal(len(k.runs("missed")), 1, "and not three times")
    k.icctl("rm", "--yes", "missed")
    left = json.dumps([x for x in os.listdir(os.path.join(
        k.home, ".config", "systemd", "user")) if "ironcurtain-job" in x])
    t.equal(left, "[]", "a job that is removed leaves no unit")


def main():
    with h.workdir() as work:
        k = Timed(work)
        for fn in (test_fails, test_overlap, test_missed, test_time):
            with t.case(fn.__name__):
                fn(k)
    t.done()


if __name__ == "__main__":
    main()
