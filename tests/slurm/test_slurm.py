#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Sessions as jobs of Slurm, with the batch script and the epilog that are
installed: an array of 100 of which 20 wait, and are answered through one hub; a relay
that srun starts; and jobs that are cancelled, signalled and killed. slurm.py runs
this."""
import json
import os
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "e2e", "icctl"))
import harness as h  # noqa: E402
from test_driver import AGENT  # noqa: E402
from test_hub import ICCTL, Hub, hub_file  # noqa: E402
from test_overview import RULES  # noqa: E402

t = h.Tap()
HELD = 20
ALL = 100
BASE = os.path.join(os.environ["IRONCURTAIN_NODE_DIR"],
                    "ironcurtain-" + os.environ["USER"])
SCRIPT = os.path.join(os.environ["IC_PREFIX"], "share", "ironcurtain",
                      "engines", "slurm", "session.sbatch")


def run(*argv, **kw):
    return subprocess.run(argv, capture_output=True, text=True, check=False,
                          timeout=60 * h.PATIENCE, **kw)


class Cluster:
    def __init__(self):
        os.makedirs(BASE, mode=0o700)
        self.s = h.Session(
            BASE, {"echo": h.echo_server(os.path.join(BASE, "log", "l"))},
            RULES, {"echo": h.ECHO_TOOLS})
        path = h.put(os.path.join(BASE, "bin", "amy"), AGENT.replace(
            "sys.stdin.read()", "sys.argv[1]"), 0o755)
        self.s.write("agents/amy.json", {
            "name": "amy", "program": ["amy"], "providers": [],
            "taskArgs": ["{task}"]})
        self.s.write("config.json", {
            **self.s.config, "agent": {"amy": {"path": path}},
            "maxConcurrentSessions": 200})
        self.submit = os.path.join(BASE, "submit")
        os.makedirs(self.submit, mode=0o700)
        self.env = {**os.environ, "IRONCURTAIN_AGENT": "amy",
                    "IRONCURTAIN_CONFIG": self.s.home + "/config.json"}

    def batch(self, task, *options):
        """Submits jobs, each in a directory of its own. Returns their id."""
        workspace = os.path.join(self.submit, task.split()[0])
        os.makedirs(workspace, mode=0o700, exist_ok=True)
        r = run("sbatch", "--parsable", *options, SCRIPT, task, cwd=workspace,
                env=self.env)
        if r.returncode != 0:
            raise RuntimeError(r.stderr)
        return r.stdout.strip()

    @staticmethod
    def jobs(job):
        """Returns what Slurm says of the job, or of each of its array."""
        out = run("scontrol", "--oneliner", "show", "job", job).stdout
        return [dict(re.findall(r"(\w+)=(\S*)", line))
                for line in out.splitlines() if line.strip()]

    def states(self, job):
        return [(x["JobState"], x["ExitCode"]) for x in self.jobs(job)]

    def dir(self, row):
        return os.path.join(BASE, row["JobId"])


def last_record(path):
    with open(os.path.join(path, "audit.jsonl"), encoding="utf-8") as f:
        return json.loads(f.readlines()[-1])


def came(log, copy):
    """Returns "" if the copy is the log, without what the epilog may add."""
    try:
        with open(log, "rb") as f, open(copy, "rb") as g:
            whole_, part = f.read(), g.read()
    except OSError as e:
        return str(e)
    return "" if part and whole_.startswith(part) else \
        f"{len(part)} of {len(whole_)} bytes"


def whole(path):
    r = run(ICCTL, "--session", path, "audit", "verify")
    return r.returncode == 0


def test_array(c):
    go = c.batch("say done", f"--array=0-{ALL - HELD - 1}")
    wait = c.batch("tool echo__echo", f"--array=0-{HELD - 1}")
    hub = Hub(BASE, hub_file(BASE, [("node", [
        "/usr/bin/env", "IRONCURTAIN_HOME=" + c.s.home, ICCTL, "relay"])]))
    hub.until("the calls wait", lambda: len(hub.holds) == HELD, 400)
    t.equal(len({s for s, _ in hub.holds}), HELD,
            f"{HELD} jobs wait, on one hub")
    asked = [hub.ask("approve", s, id=i, digest=o["digest"])
             for (s, i), o in list(hub.holds.items())]
    t.equal([hub.reply(n, 60)["ok"] for n in asked], [True] * HELD,
            "each is answered there")

    def ended():
        rows = c.states(go) + c.states(wait)
        return len(rows) == ALL and all(
            x not in ("PENDING", "RUNNING", "COMPLETING") for x, _ in rows)
    h.wait_for(ended, "the array does not end", 400)
    t.equal(set(c.states(go) + c.states(wait)), {("COMPLETED", "0:0")},
            f"{ALL} jobs are completed, with the status 0")
    rows = c.jobs(go) + c.jobs(wait)
    bad = [x["JobId"] for x in rows if not whole(c.dir(x))]
    t.equal(bad, [], "and their logs are whole")
    home = {came(os.path.join(c.dir(x), "audit.jsonl"), os.path.join(
        x["WorkDir"], "ironcurtain-logs", x["JobId"], "audit.jsonl"))
            for x in rows}
    t.equal(home, {""}, "which all came home")
    t.equal(os.listdir(os.path.join(c.s.home, "run")), [], "nothing runs")
    hub.end()


def test_srun(c):
    """A relay that Slurm starts on the node, as a step of the job that waits."""
    job = c.batch("tool echo__echo")
    hub = Hub(BASE, hub_file(BASE, [("step", [
        "/usr/bin/env", "SLURM_CONF=" + os.environ["SLURM_CONF"], "/usr/bin/srun",
        "--quiet", "--jobid=" + job, "--overlap", "--ntasks=1", "/usr/bin/env",
        "IRONCURTAIN_HOME=" + c.s.home, ICCTL, "relay"])]))
    hub.until("the call waits, through srun", lambda: len(hub.holds) == 1, 200)
    (session, call), hold = next(iter(hub.holds.items()))
    t.equal(hub.reply(hub.ask("approve", session, id=call, digest=hold["digest"]),
                      60)["ok"], True, "a relay that srun starts takes an answer")
    h.wait_for(lambda: c.states(job) == [("COMPLETED", "0:0")],
               "the job does not end", 100)
    t.ok(whole(c.dir(c.jobs(job)[0])), "and the job goes on to its end")
    hub.end()


def running(c, job, n):
    """Waits until so many agents of the job have begun. Returns its rows."""
    def begun():
        rows = [x for x in c.jobs(job) if x["JobState"] == "RUNNING"]
        return rows if len(rows) == n and all(
            '"agent_text"' in x or "waiting" in x for x in (
                logged(c.dir(r)) for r in rows)) else None
    return h.wait_for(begun, "the jobs do not begin", 200)


def logged(path):
    """Returns a word when the agent of this session has begun."""
    r = run(ICCTL, "--json", "--session", path, "status")
    return "waiting" if r.returncode == 0 and '"ok":true' in r.stdout else ""


def test_ends(c):
    job = c.batch("wait 1", "--array=0-7")
    rows = running(c, job, 8)
    run("scancel", job)
    h.wait_for(lambda: all(x == "CANCELLED" for x, _ in c.states(job)) and all(
        last_record(c.dir(x))["event"] == "stop" for x in rows),
        "scancel leaves no closing record", 60)
    t.ok(all(whole(c.dir(x)) for x in rows),
         "scancel: each is cancelled, and its log is closed and whole")
    job = c.batch("wait 2")
    rows = running(c, job, 1)
    run("scancel", "--batch", "--signal=TERM", job)
    h.wait_for(lambda: c.states(job)[0][0] not in ("RUNNING", "COMPLETING"),
               "it goes on", 60)
    t.equal(c.states(job), [("FAILED", "143:0")],
            "a session that is told to stop has not completed its job")
    t.ok(whole(c.dir(rows[0])), "and its log is whole")
    job = c.batch("wait 3")
    rows = running(c, job, 1)
    with open(os.path.join(c.dir(rows[0]), "session.json"),
              encoding="utf-8") as f:
        os.kill(json.load(f)["pid"], signal.SIGKILL)
    h.wait_for(lambda: c.states(job)[0][0] == "FAILED" and
               last_record(c.dir(rows[0]))["event"] == "stop",
               "the epilog closes no log", 60)
    t.equal((c.states(job), whole(c.dir(rows[0]))),
            ([("FAILED", "137:0")], True),
            "one that is killed has failed, and its log is closed")


def main():
    c = Cluster()
    h.wait_for(lambda: "idle" in run("sinfo", "-h", "-o", "%T").stdout,
               "Slurm has no node", 60)
    with t.case("array"):
        test_array(c)
    with t.case("srun"):
        test_srun(c)
    with t.case("ends"):
        test_ends(c)
    t.done()


if __name__ == "__main__":
    main()
