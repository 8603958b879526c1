#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""icctl job: jobs that are made, changed, run and removed; runs that succeed,
fail, use up their budget, overlap or die; jobs that are overdue; the daemon; the
timers that systemd would get; and job.json of the TypeScript IronCurtain."""
import datetime
import json
import os
import re
import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import terminal  # noqa: E402
import webpage  # noqa: E402

t = h.Tap()
AGENT = r"""#!/usr/bin/python3
import json, os, sys, time
m = sys.stdin.read().strip()
print(json.dumps({"type": "say", "text": "told " + m}), flush=True)
if m == "fail":
    sys.exit(3)
if m == "wait":
    open("begun", "w").close()
    time.sleep(1000)
if m == "write":
    open("out", "a").write("x")
"""
ADAPTER = {
    "name": "amy", "program": ["amy"], "providers": [], "turn": [],
    "output": {"format": "json-lines", "events": [
        {"when": "type=say", "text": "text", "event": "agent_text"}]}}
NOTIFY = """#!/bin/sh
printf '%%s\\n' "$*" >>%s/told
"""
# As the TypeScript IronCurtain writes it.
FOUNDING = {
    "id": "old", "name": "An old job", "schedule": "*/5 * * * *",
    "taskDescription": "write", "taskConstitution": "You may write files.",
    "notifyOnEscalation": False, "notifyOnCompletion": False,
    "budgetOverrides": {"maxSteps": None, "maxEstimatedCostUsd": 2.5},
    "enabled": True}
# Says what it was asked, and has a manager that answers.
SYSTEMCTL = """#!/bin/sh
printf '%%s\\n' "$*" >>%s/systemctl
exit 0
"""


class Jobs:
    def __init__(self, work):
        self.s = h.Session(work)
        self.work = work
        os.chmod(self.s.workspace, 0o700)
        path = h.put(os.path.join(work, "bin", "amy"), AGENT, 0o755)
        notify = h.put(os.path.join(work, "bin", "tell"), NOTIFY % work, 0o755)
        self.s.write("agents/amy.json", ADAPTER)
        self.s.write("config.json", {**self.s.config, "notify": [notify],
                                     "agent": {"amy": {"path": path}}})
        # No manager answers here.
        h.put(os.path.join(work, "none", "systemctl"), "#!/bin/sh\nexit 1\n",
              0o755)
        self.s.env["PATH"] = f"{work}/none:" + self.s.env["PATH"]
        self.s.env["TZ"] = "UTC"

    def icctl(self, *args, **kw):
        return subprocess.run([h.program("icctl"), "job", *args],
                              env=self.s.env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, check=False,
                              timeout=60 * h.PATIENCE, **kw)

    def add(self, name, *args):
        return self.icctl("add", name, "--agent", "amy", "--workspace",
                          self.s.workspace, *args)

    def rows(self):
        return {x["name"]: x for x in json.loads(
            self.icctl("--json", "ls").stdout)}

    def troubles(self):
        return [x for x, row in self.rows().items()
                if row["state"] in ("failed", "skipped", "overdue")]

    def runs(self, name):
        return json.loads(self.icctl("--json", "logs", name).stdout)

    def path(self, *names):
        return os.path.join(self.s.home, "jobs", *names)

    def told(self):
        path = os.path.join(self.work, "told")
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as f:
            return f.read().splitlines()

    def since(self, name, when):
        """Pretends that the job has been waiting since then."""
        with open(self.path(name, "state.json"), "w", encoding="utf-8") as f:
            json.dump({"waitsSince": when}, f)


def test_edit(k):
    r = k.add("nightly", "--schedule", "0 3 * * *", "--task", "write")
    t.ok(r.returncode == 0 and "runs next at" in r.stdout and
         "job daemon" in r.stderr, "a job is made, and who starts it is said",
         r)
    for path, mode in (("", 0o700), ("job.json", 0o600),
                       ("state.json", 0o600)):
        t.equal(os.stat(k.path("nightly", path)).st_mode & 0o777, mode,
                f"nobody else reads nightly/{path}")
    row = k.rows()["nightly"]
    t.ok(row["state"] == "ok" and row["next"].endswith("T03:00:00Z") and
         row["by"] == "nobody", "ls shows it", row)
    before = open(k.path("nightly", "job.json"), encoding="utf-8").read()
    for words, why in (
            (["nightly", "--task", "x"], "already"),
            (["Nightly", "--task", "x"], "lower-case"),
            (["../x", "--task", "x"], "lower-case"),
            (["x", "--task", " "], "nothing to do"),
            (["x"], "--task TEXT"),
            (["x", "--task", "a", "--schedule", "0 3 * *"], "has 4 fields"),
            (["x", "--task", "a", "--schedule", "61 * * * *"], "minute"),
            (["x", "--task", "a", "--budget", "maxStep=1"], "no such limit"),
            (["x", "--task", "a", "--budget", "maxSteps=-1"], "maxSteps"),
            (["x", "--task", "a", "--budget", "maxSteps=many"], "maxSteps"),
            (["x", "--task", "a", "--budget", "maxSteps"], "KEY=VALUE"),
            (["x", "--task", "a", "--escalations", "ask"], "deny or wait"),
            (["x", "--task", "a", "--keep", "0"], "keepRuns"),
            (["x", "--task", "a", "--keep", "all"], "a number"),
            (["x", "--task", "a", "--workspace", "/no/such"], "No such file"),
            (["x", "--task", "a", "--agent", "amyy"], "did you mean amy?"),
            (["x", "--task", "a", "--agent", "command"], "known: amy, "),
            (["x", "--task", "a", "--persona", "bob"], "there are none yet"),
            (["x", "--task", "a", "--persona", "../bob"], "letters, digits"),
            (["x", "--task", "a", "--policy", "defualt"],
             "did you mean default?"),
            (["x", "--task", "a", "--policy", "./none"], "No such file"),
            (["x", "--task", "a", "--profile", "night"], "--profile night"),
            (["x", "--task", "a", "--git", "u", "--workspace", k.work],
             "clone")):
        r = k.icctl("add", *words)
        t.ok(r.returncode != 0 and why in r.stderr and
             not os.path.exists(k.path("x")),
             f"refused, and nothing is left: {words}", r)
    r = k.icctl("edit", "nightly", "--schedule", "bad")
    t.ok(r.returncode == 1 and before == open(
        k.path("nightly", "job.json"), encoding="utf-8").read(),
        "a change that is refused changes nothing", r)
    r = k.icctl("edit", "nightly", "--schedule", "30 4 * * 1-5", "--budget",
                "maxSteps=5")
    o = json.loads(k.icctl("--json", "show", "nightly").stdout)
    t.ok(r.returncode == 0 and o["schedule"] == "30 4 * * 1-5" and
         o["job"]["budgetOverrides"] == {"maxSteps": 5}, "a change", (r, o))
    os.makedirs(os.path.join(k.work, "rules"))
    os.makedirs(os.path.join(k.s.home, "personas/anna"), 0o700)
    before = o["job"]
    r = k.icctl("edit", "nightly", "--persona", "ana", "--task", "other")
    o = json.loads(k.icctl("--json", "show", "nightly").stdout)
    t.ok(r.returncode != 0 and "did you mean anna? Known: anna" in r.stderr
         and o["job"] == before, "edit refuses a persona that is none", r)
    r = k.icctl("edit", "nightly", "--policy", "./rules", cwd=k.work)
    o = json.loads(k.icctl("--json", "show", "nightly").stdout)
    t.equal(o["job"]["policy"], os.path.join(k.work, "rules"),
            "a policy's path is kept as an absolute one")
    k.icctl("edit", "nightly", "--policy", "")
    k.icctl("disable", "nightly")
    row = k.rows()["nightly"]
    t.ok(row["state"] == "disabled" and "next" not in row, "disabled", row)
    k.icctl("enable", "nightly")
    t.ok("next" in k.rows()["nightly"], "and enabled again")
    for words in (["run", "none"], ["show"], ["nothing", "nightly"],
                  ["ls", "nightly"]):
        t.ok(k.icctl(*words).returncode != 0, f"refused: {words}")
    r = k.icctl("rm", "nightly")
    t.ok(r.returncode == 1 and "--yes removes it" in r.stderr, "rm asks",
         r.stderr)
    t.equal(k.icctl("rm", "--yes", "nightly").returncode, 0, "rm --yes")
    t.ok(not os.path.exists(k.path("nightly")) and k.rows() == {}, "is gone")


def test_run(k):
    k.add("good", "--task", "write", "--keep", "2", "--notify", "always")
    r = k.icctl("run", "good")
    runs = k.runs("good")
    t.ok(r.returncode == 0 and len(runs) == 1 and
         runs[0]["status"] == "success" and runs[0]["outcome"] ==
         {"kind": "success"} and runs[0]["budget"]["elapsedSeconds"] >= 0,
         "a run, and its record", (r, runs))
    with open(os.path.join(k.s.workspace, "out"), encoding="utf-8") as f:
        t.equal(f.read(), "x", "in its workspace")
    t.ok(len(k.told()) == 1 and "good: done" in k.told()[0],
         "who wants to know is told", k.told())
    t.ok(os.path.isdir(os.path.join(k.s.home, "sessions",
                                    runs[0]["session"])), "it has a session")
    k.icctl("run", "good")
    k.icctl("run", "good")
    t.equal(len(k.runs("good")), 2, "records beyond --keep are removed")
    t.equal(len(os.listdir(k.path("good", "runs"))), 4, "with their logs")
    t.ok("success" in k.icctl("logs", "good").stdout, "logs lists them")
    k.add("bad", "--task", "fail")
    r = k.icctl("run", "bad")
    run = k.runs("bad")[0]
    t.ok(r.returncode == 1 and run["status"] == "failed" and
         "status 3" in run["why"], "a run that fails", run)
    t.ok("Job bad: failed: " in k.told()[-1] and "status 3" in k.told()[-1],
         "is told with its reason", k.told())
    t.equal(k.rows()["bad"]["state"], "failed", "and ls shows it")
    r = subprocess.run([h.program("icctl"), "doctor"], env=k.s.env,
                       capture_output=True, text=True, check=False,
                       stdin=subprocess.DEVNULL, timeout=90 * h.PATIENCE)
    t.ok("job bad" in r.stdout and "status 3" in r.stdout,
         "and doctor does", r.stdout[-1500:])
    k.add("broke", "--task", "wait", "--budget", "maxSessionSeconds=1")
    r = k.icctl("run", "broke")
    run = k.runs("broke")[0]
    t.ok(r.returncode == 1 and run["status"] == "budget_exhausted" and
         not os.path.exists(k.path("broke", "config.json")),
         "a run whose budget is used up", run)
    os.makedirs(os.path.join(k.s.home, "policies/short-lived"))
    k.add("lost", "--task", "write", "--policy", "short-lived")
    os.rmdir(os.path.join(k.s.home, "policies/short-lived"))
    k.icctl("run", "lost")
    t.ok("short-lived" in k.runs("lost")[0]["why"], "one that never began",
         k.runs("lost"))


def test_overlap(k):
    os.unlink(os.path.join(k.s.workspace, "begun"))
    k.add("long", "--task", "wait", "--schedule", "0 3 * * *")
    p = subprocess.Popen([h.program("icctl"), "job", "run", "long"],
                         env=k.s.env, stdin=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True)
    h.wait_for(lambda: os.path.exists(os.path.join(k.s.workspace, "begun")),
               "the run does not begin", 60)
    t.equal(k.rows()["long"]["state"], "running", "ls shows what runs")
    r = k.icctl("run", "long")
    t.ok(r.returncode == 75 and "has not ended" in r.stderr,
         "no run overlaps another", r)
    r = k.icctl("run", "--scheduled", "long")
    runs = k.runs("long")
    t.ok(r.returncode == 75 and sorted(x["status"] for x in runs) ==
         ["running", "skipped"] and "long: skipped" in k.told()[-1],
         "one that is skipped at its time is recorded and told", runs)
    r = k.icctl("rm", "--yes", "long")
    t.equal(r.returncode, 1, "and a job that runs is not removed")
    p.send_signal(signal.SIGTERM)
    err = p.communicate(timeout=20 * h.PATIENCE)[1]
    run = [x for x in k.runs("long") if x["status"] != "skipped"][0]
    t.ok(run["status"] == "cancelled" and "SIGTERM" in run["why"],
         "a run that is ended says so", (run, err))
    os.unlink(os.path.join(k.s.workspace, "begun"))
    with subprocess.Popen([h.program("icctl"), "job", "run", "long"],
                          env=k.s.env, stdin=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as p:
        h.wait_for(lambda: os.path.exists(
            os.path.join(k.s.workspace, "begun")), "no second run", 60)
        p.kill()
    h.wait_for(lambda: k.rows()["long"]["state"] != "running", "still there")
    run = [x for x in k.runs("long")
           if x["status"] not in ("skipped", "cancelled")][0]
    t.equal(run["status"], "died", "a run that is killed has died")


def test_founding(k):
    k.s.write("jobs/old/job.json", FOUNDING)
    o = json.loads(k.icctl("--json", "show", "old").stdout)
    t.ok(o["schedule"] == "*/5 * * * *" and o["task"] == "write",
         "job.json of the TypeScript IronCurtain is read", o)
    r = k.icctl("run", "old")
    t.ok(r.returncode == 1 and "job recompile old" in k.runs("old")[0]["why"],
         "its constitution must be in force first", k.runs("old"))
    for change, why in (({"id": "other"}, "id"), ({"schedule": 5}, "schedule"),
                        ({"more": 1}, "more"),
                        ({"enabled": "yes"}, "enabled"),
                        ({"budgetOverrides": {"maxSteps": "5"}}, "maxSteps"),
                        ({"budgetOverrides": []}, "budgetOverrides")):
        k.s.write("jobs/old/job.json", {**FOUNDING, **change})
        r = k.icctl("run", "old")
        t.ok(r.returncode == 1 and why in r.stderr, f"refused: {change}", r)
    r = k.icctl("ls")
    t.ok(r.returncode == 1 and "budgetOverrides" in r.stderr and
         "good" in r.stdout, "the other jobs are listed all the same", r)
    t.equal(k.icctl("rm", "--yes", "old").returncode, 0,
            "a damaged one can be removed")


def test_page(k):
    p = webpage.Page(k.s.home)
    p.login()
    jobs = {x["name"]: x for x in p.state()["jobs"]}
    t.equal(sorted(jobs), sorted(k.troubles()), "and the page")
    t.ok(jobs["due"]["why"].endswith(" late"), "with the reason", jobs)
    rev = p.state()["rev"]
    k.add("fresh", "--task", "write", "--schedule", "0 3 * * *")
    k.since("fresh", "2026-01-01T00:00:00Z")
    p.until(lambda o: any(x["name"] == "fresh" for x in o["jobs"]),
            "the page does not notice")
    t.ok(p.state()["rev"] > rev, "a page that waits is told of a new one")
    k.icctl("rm", "--yes", "fresh")
    p.stop()


def test_daemon(k):
    k.add("due", "--task", "write", "--schedule", "0 3 * * *")
    k.since("due", "2026-01-01T00:00:00Z")
    row = k.rows()["due"]
    t.ok(row["state"] == "overdue" and row["lateSeconds"] > 86400,
         "a job that missed its time is overdue", row)
    with subprocess.Popen([h.program("icctl"), "watch", "--plain"],
                          env=k.s.env, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as p:
        lines = [p.stdout.readline() for _ in k.troubles()]
        p.kill()
    t.ok(any(x.startswith("job due: overdue: its run is ") for x in lines)
         and all("icctl job logs" in x for x in lines),
         "icctl watch shows jobs that a person should look at", lines)
    term = terminal.Terminal([h.program("icctl"), "watch"],
                             {**k.s.env, "TERM": "xterm"})
    term.until(rb"icctl job ls: [a-z]+ (overdue|failed|skipped)")
    term.answer(b"q")
    t.equal(term.end_status(), 0, "and so does its screen")
    test_page(k)
    k.add("off", "--task", "write", "--schedule", "* * * * *")
    k.icctl("disable", "off")
    k.since("off", "2026-01-01T00:00:00Z")
    with subprocess.Popen([h.program("icctl"), "job", "daemon"], env=k.s.env,
                          stdin=subprocess.DEVNULL, text=True,
                          stderr=subprocess.PIPE) as p:
        h.wait_for(lambda: [x["status"] for x in k.runs("due")] ==
                   ["success"], "the daemon does not run it", 60)
        t.ok(True, "what was missed is run once")
        t.equal(k.rows()["due"]["by"], "daemon", "ls says who starts it")
        r = k.icctl("daemon")
        t.ok(r.returncode == 75 and "runs already" in r.stderr,
             "one daemon for a home", r)
        # It notices a job that comes.
        k.add("late", "--task", "write", "--schedule", "0 3 * * *")
        k.since("late", "2026-01-01T00:00:00Z")
        os.utime(k.path("late", "state.json"))
        k.s.write("jobs/late/x", {})
        os.rename(k.path("late", "x"), k.path("late", "y"))
        h.wait_for(lambda: [x["status"] for x in k.runs("late")] ==
                   ["success"], "a new job is not noticed", 60)
        t.equal(k.runs("off"), [], "a job that is disabled is left alone")
        p.send_signal(signal.SIGTERM)
        t.equal(p.wait(20 * h.PATIENCE), 0, "it ends")
    t.equal(len(k.runs("due")), 1, "once")


def family(pid):
    """Returns the process, and all that it has started and they have."""
    found, todo = [], [pid]
    while todo:
        found.append(todo.pop())
        try:
            with open(f"/proc/{found[-1]}/task/{found[-1]}/children",
                      encoding="ascii") as f:
                todo += map(int, f.read().split())
        except OSError:
            pass
    return found


def test_reboot(k):
    """The machine goes off in the middle of a run, and boots again."""
    if os.path.exists(os.path.join(k.s.workspace, "begun")):
        os.unlink(os.path.join(k.s.workspace, "begun"))
    for name, task in (("cut", "wait"), ("missed", "write")):
        k.add(name, "--task", task, "--schedule", "0 3 * * *")
    k.since("cut", "2026-01-01T00:00:00Z")
    argv = [h.program("icctl"), "job", "daemon"]
    with subprocess.Popen(argv, env=k.s.env, stdin=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as p:
        h.wait_for(lambda: os.path.exists(
            os.path.join(k.s.workspace, "begun")), "the run begins", 60)
        all_ = family(p.pid)
        for pid in all_:
            os.kill(pid, signal.SIGKILL)
    h.wait_for(lambda: not any(os.path.exists(f"/proc/{x}") for x in all_),
               "something still runs")
    # The kernel's id of the boot is another one then, and pids mean nothing.
    run = k.runs("cut")[0]
    lock = os.path.join(k.s.home, "sessions", run["session"], "lock")
    with open(lock, encoding="ascii") as f:
        words = f.read().split()
    words[1] = "00000000-1111-2222-3333-444444444444"
    words[2] = "1"
    h.put(lock, " ".join(words) + "\n", 0o600)
    row = k.rows()["cut"]
    t.ok(row["state"] == "failed" and k.runs("cut")[0]["status"] == "died",
         "a run that the end of the machine cut short has died", row)
    k.since("missed", "2026-01-01T00:00:00Z")
    with subprocess.Popen(argv, env=k.s.env, stdin=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as p:
        h.wait_for(lambda: [x["status"] for x in k.runs("missed")] ==
                   ["success"], "what was missed is not run", 60)
        p.send_signal(signal.SIGTERM)
        p.wait(20 * h.PATIENCE)
    t.equal(len(k.runs("missed")), 1, "what was missed meanwhile runs once")
    r = subprocess.run([h.program("icctl"), "close",
                        os.path.dirname(lock)], env=k.s.env, capture_output=True, text=True,
                       check=False, timeout=30 * h.PATIENCE)
    s = subprocess.run([h.program("icctl"), "--session", run["session"],
                        "audit", "verify"], env=k.s.env, text=True,
                       capture_output=True, check=False,
                       timeout=30 * h.PATIENCE)
    # auditd may have outlived the others by so much that it closed the log.
    said = r.stdout + r.stderr + open(
        os.path.join(os.path.dirname(lock), "audit.jsonl"),
        encoding="utf-8").read()
    t.ok(r.returncode == s.returncode == 0 and
         ("killed from outside" in said or "already closed" in said),
         "the log of the one that was cut short is closed, and whole", (r, s))
    k.icctl("edit", "cut", "--task", "write")
    r = k.icctl("run", "cut")
    t.equal(r.returncode, 0, "and the job runs again")
    for name in ("cut", "missed"):
        k.icctl("rm", "--yes", name)


def git(path, *args):
    return subprocess.run(
        ["git", "-C", path, "-c", "user.name=t", "-c", "user.email=t@t",
         *args], check=True, capture_output=True, text=True).stdout.strip()


def test_diverged(k):
    """A repository whose history is another one at the next run."""
    repo = os.path.join(k.work, "repo")
    os.makedirs(repo, mode=0o700)
    git(repo, "init", "-q")
    h.put(os.path.join(repo, "base"), "first")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "first")
    r = k.icctl("add", "cloned", "--agent", "amy", "--task", "write", "--git",
                repo)
    t.equal(r.returncode, 0, "a job with a repository")
    r = k.icctl("run", "cloned")
    first = k.runs("cloned")[0]
    h.put(os.path.join(repo, "base"), "other")
    git(repo, "commit", "-qam", "other", "--amend")
    # Unsaved work of the person's own, which no run may touch.
    h.put(os.path.join(repo, "dirty"), "mine")
    s = k.icctl("run", "cloned")
    runs = k.runs("cloned")
    t.ok(r.returncode == s.returncode == 0 and len(runs) == 2 and
         runs[0]["session"] != runs[1]["session"],
         "each run has a clone of its own", (r, s, runs))
    for run, base in ((first, "first"),
                      (next(x for x in runs if x["session"] !=
                            first["session"]), "other")):
        clone = os.path.join(k.s.home, "sessions", run["session"], "sandbox")
        with open(os.path.join(clone, "base"), encoding="utf-8") as f, \
                open(os.path.join(clone, "out"), encoding="utf-8") as g:
            t.equal((f.read(), g.read()), (base, "x"),
                    f"the work on {base} is kept")
    t.equal((git(repo, "status", "--short"), git(repo, "rev-list", "--count",
                                                 "HEAD")),
            ("?? dirty", "1"), "and the person's own is as it was")
    k.icctl("rm", "--yes", "cloned")


def test_timer(k):
    config = os.path.join(k.work, "user", ".config", "systemd", "user")
    h.put(os.path.join(k.work, "some", "systemctl"), SYSTEMCTL % k.work, 0o755)
    k.s.env["PATH"] = f"{k.work}/some:" + k.s.env["PATH"]
    k.add("timed", "--task", "write", "--schedule", "0 0 13 * 5")

    def text(kind):
        with open(os.path.join(config, "ironcurtain-job-timed." + kind),
                  encoding="utf-8") as f:
            return f.read()
    t.ok("OnCalendar=*-*-13 00:00:00\nOnCalendar=Fri *-*-* 00:00:00\n" in
         text("timer") and "Persistent=true" in text("timer"),
         "a timer has the schedule", text("timer"))
    t.ok(f'"IRONCURTAIN_HOME={k.s.home}"' in text("service") and
         "job run --scheduled timed" in text("service"),
         "and a service runs the job", text("service"))
    if shutil.which("systemd-analyze"):
        r = subprocess.run(
            ["systemd-analyze", "verify", "--user", "--man=no",
             os.path.join(config, "ironcurtain-job-timed.timer")],
            capture_output=True, text=True, check=False,
            env={"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": k.work,
                 "HOME": k.s.env["HOME"]})
        t.ok("ironcurtain-job" not in r.stderr,
             "systemd has nothing to say about them", r.stderr)
    t.equal(k.rows()["timed"]["by"], "systemd", "ls says so")
    with open(os.path.join(k.work, "systemctl"), encoding="utf-8") as f:
        asked = f.read()
    t.ok("daemon-reload" in asked and
         "enable ironcurtain-job-timed.timer" in asked and
         "restart ironcurtain-job-timed.timer" in asked,
         "systemd is told", asked)
    k.icctl("disable", "timed")
    t.equal(os.listdir(config), [], "a job that is disabled has no timer")
    k.icctl("enable", "timed")
    k.icctl("rm", "--yes", "timed")
    t.equal(os.listdir(config), [], "nor does one that is removed")


def last_sunday(year, month):
    """Returns the last Sunday of a month of 31 days, as YYYY-MM-DD."""
    day = datetime.date(year, month, 31)
    return (day - datetime.timedelta((day.weekday() + 1) % 7)).isoformat()


def elapses(values, base):
    """Returns when systemd would run a timer with these values first, in UTC."""
    found = []
    for value in values:
        r = subprocess.run(
            ["systemd-analyze", "calendar", f"--base-time={base}", value],
            capture_output=True, text=True, check=False,
            env={"PATH": "/usr/bin:/bin", "TZ": "Europe/Berlin",
                 "LANG": "C.UTF-8"})
        found += re.findall(r"\(in UTC\): \w+ (\S+ \S+) UTC", r.stdout)
    return min(found) if found else None


def test_summer_time(k):
    """Both changes of summer time: what systemd makes of the timer is what the
    manual says, and what the daemon does (tests/unit/icctl/test_cron.c)."""
    if not shutil.which("systemd-analyze"):
        t.skip("timers at both changes of summer time",
               "systemd-analyze is not installed")
        return
    year = datetime.date.today().year + 1
    spring, autumn = last_sunday(year, 3), last_sunday(year, 10)
    k.s.env["TZ"] = "Europe/Berlin"
    for schedule, day, next_ in (
            ("30 2 * * *", spring, "01:30"), ("30 2 * * *", autumn, "00:30"),
            ("0 3 * * *", spring, "01:00"), ("0 3 * * *", autumn, "02:00"),
            ("*/20 2 * * 0", spring, "01:00"),
            ("*/20 2 * * 0", autumn, "00:00")):
        k.add("clock", "--task", "write", "--schedule", schedule)
        with open(os.path.join(k.s.env["HOME"], ".config", "systemd", "user",
                               "ironcurtain-job-clock.timer"),
                  encoding="utf-8") as f:
            values = re.findall("OnCalendar=(.*)", f.read())
        # From the first minute of the day on.
        t.equal(elapses(values, day + " 00:00:00"), f"{day} {next_}:00",
                f"systemd runs {schedule} on {day}")
        k.icctl("rm", "--yes", "clock")
    k.s.env["TZ"] = "UTC"


def main():
    if not shutil.which("bwrap"):
        t.skip("jobs", "bubblewrap is not installed")
        t.done()
    with h.workdir() as work:
        k = Jobs(work)
        for fn in (test_edit, test_run, test_overlap, test_founding,
                   test_daemon, test_reboot, test_diverged, test_timer,
                   test_summer_time):
            with t.case(fn.__name__):
                fn(k)
    t.done()


if __name__ == "__main__":
    main()
