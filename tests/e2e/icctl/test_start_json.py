#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""icctl start --json TASK: one task in the foreground, with the events of a
conversation of one turn, each as the manual's schema says, up to the end; its
exit status; and no session that outlives icctl."""
import json
import os
import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from fits import events_schema, fits  # noqa: E402
from test_conversation import TROUBLED, TROUBLED_AGENT, texts  # noqa: E402

t = h.Tap()
SCHEMA = events_schema(h.PREFIX)
ENDS = ["turn_start", "usage", "result", "turn_end", "end"]


class One:
    """Sessions of one task, in one home and workspace."""

    def __init__(self, work):
        self.s = h.Session(work)
        os.chmod(self.s.workspace, 0o700)
        home = self.s.env["IRONCURTAIN_HOME"]
        h.put(os.path.join(home, "agents", "troubled.json"),
              json.dumps(TROUBLED))
        h.put(os.path.join(work, "bin", "troubled"), TROUBLED_AGENT, 0o755)
        self.s.env["PATH"] = (os.path.join(work, "bin") + ":" +
                              self.s.env["PATH"])

    def popen(self, *args):
        return subprocess.Popen(
            [h.program("icctl"), "start", "--json", "--workspace",
             self.s.workspace, *args], env=self.s.env, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)

    def run(self, *args):
        with self.popen(*args) as p:
            out, err = p.communicate(timeout=60 * h.PATIENCE)
        return p.returncode, [json.loads(x) for x in out.splitlines()], err

    def ls(self):
        r = subprocess.run([h.program("icctl"), "ls", "--json"],
                           env=self.s.env, capture_output=True, text=True,
                           check=True)
        return json.loads(r.stdout)


def proper(events, name):
    bad = [(fits(SCHEMA, e), e) for e in events if fits(SCHEMA, e)]
    t.ok(events and not bad, f"{name}: each event is as the schema says",
         bad[:3])
    t.equal(fits(SCHEMA, {**events[0], "more": 1}), "more is not listed",
            f"{name}: and another member would be found")
    t.equal([e["event"] for e in events if e["event"] in ENDS], ENDS,
            f"{name}: one turn, then the end")
    t.ok(events[0]["event"] == "session" and events[-1]["event"] == "end",
         f"{name}: from the session to its end", (events[0], events[-1]))


def ended(one, name):
    """The session has ended as a session does, and not only its process."""
    h.wait_for(lambda: one.ls()[0]["state"] == "closed",
               f"{name}: the session does not end")


def test_agent(one):
    status, events, err = one.run("--agent", "troubled", "fine")
    proper(events, "an agent")
    t.ok(status == 0 and "means nothing" in texts(events), "it answers", (events, err))
    t.equal([e["message"] for e in events if e["event"] == "turn_start"],
            ["fine"], "the task is the message")
    t.equal((events[-1]["status"], events[-2]["status"]), (0, "stopping"),
            "the session stops by itself")
    ended(one, "an agent")
    status, events, _ = one.run("troubled", "spent")
    proper(events, "a provider's quota")
    t.ok(status == 1 and [e["trouble"] for e in events
                          if e["event"] == "result"] == ["quota"],
         "a failure has its kind", (status, events))


def test_resume(one):
    """A program goes on with a session of one task as a conversation."""
    one.run("--agent", "troubled", "fine")
    name = one.ls()[0]["id"]

    def icctl(*args):
        r = subprocess.run([h.program("icctl"), *args], env=one.s.env,
                           stdin=subprocess.DEVNULL, capture_output=True,
                           text=True, timeout=60 * h.PATIENCE, check=False)
        return r.returncode, [json.loads(x) for x in r.stdout.splitlines()]
    status, lines = icctl("resume", "--json", name)
    t.ok(status == 0 and [x["session"] for x in lines] == [name],
         "it goes on, and says so in a line", (status, lines))
    status, lines = icctl("resume", "--json", name)
    t.ok(status == 1 and len(lines) == 1 and lines[0]["ok"] is False and
         lines[0]["code"] == "SESSION_INIT_FAILED" and
         "is running: icctl attach" in lines[0]["error"],
         "not twice, and why", (status, lines))
    status, lines = icctl("send", "--json", "fine")
    t.ok(status == 0 and lines[-1]["event"] == "turn_end" and
         lines[-1]["turn"] == 2, "it takes messages", lines)
    pid = one.ls()[0]["pid"]
    h.kill(pid)
    h.wait_for(lambda: not h.alive(pid), "it does not die")
    status, lines = icctl("resume", "--json", name)
    t.ok(status == 1 and "--after-crash" in lines[0]["error"] and
         "was killed" in lines[0]["error"], "a crash is named there", lines)
    status, lines = icctl("resume", "--json", "nowhere")
    t.ok(status != 0 and lines[0]["code"] == "not-found" and
         'no session has "nowhere" in its id' in lines[0]["error"],
         "no session, too", lines)
    both = [name, name + "-other"]
    os.mkdir(os.path.join(one.s.env["IRONCURTAIN_HOME"], "sessions", both[1]))
    status, lines = icctl("resume", "--json", name[1:])
    t.ok(status == 3 and lines[0]["code"] == "ambiguous" and
         all(" " + x in lines[0]["error"] for x in both),
         "and a part of two ids", lines)


def test_command(one):
    status, events, _ = one.run("--task", "hello", "--", "sh", "-c",
                                "echo \"read $(cat)\"; echo bad >&2; exit 7")
    proper(events, "a command")
    t.ok("read hello" in texts(events), "the task is its input", events)
    t.ok(status == 7 and events[-1]["status"] == 7,
         "its status is ours", (status, events[-1]))
    status, events, _ = one.run("--", "sh", "-c", "echo \"<$(cat)>\"")
    proper(events, "without a task")
    t.ok(status == 0 and "<>" in texts(events), "it reads nothing",
         (status, events))
    status, events, _ = one.run("--", "true")
    proper(events, "without a word")
    t.ok(status == 1 and [e for e in events if e["event"] == "result"]
         [0]["is_error"], "silence is an error", (status, events))


def test_limit(one):
    one.s.write("config.json", {**one.s.config,
                                "resourceBudget": {"maxTurnSeconds": 1}})
    status, events, _ = one.run("--", "sh", "-c", "echo here; sleep 600")
    proper(events, "a limit of the turn")
    t.ok(status == 124 and [e.get("code") for e in events
                            if e["event"] == "result"] ==
         ["BUDGET_EXHAUSTED"], "it ends the session", (status, events))


def begin(one, name):
    """Start a command that goes on, and wait until it has said so."""
    p = one.popen("--", "sh", "-c", "echo here; exec sleep 600")
    lines = []
    for line in p.stdout:
        lines.append(json.loads(line))
        if lines[-1]["event"] == "agent_text":
            return p, lines
    t.ok(False, f"{name}: it begins", p.stderr.read())
    return p, lines


def test_signals(one):
    for sig, want in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        p, lines = begin(one, sig.name)
        p.send_signal(sig)
        out, _ = p.communicate(timeout=60 * h.PATIENCE)
        lines += [json.loads(x) for x in out.splitlines()]
        t.equal(p.returncode, want, f"{sig.name}: the status of one task")
        proper(lines, sig.name)
        ended(one, sig.name)
    p, _ = begin(one, "SIGKILL")
    p.kill()
    p.communicate()
    ended(one, "SIGKILL")
    t.ok(True, "no session outlives icctl")


def test_refused(one):
    status, events, err = one.run("--agent", "troubled")
    t.ok(status == 64 and [e.get("code") for e in events] == ["usage"] and
         "TASK" in err and "--detach" in err,
         "without a task it is refused", (status, err))
    status, events, err = one.run("--runtime", "none", "a task")
    t.ok(status == 64 and "no icctl start --json" in err, "and without an "
         "agent", (status, err))
    status, events, err = one.run("--agent", "troubled", "--policy", "nowhere",
                                  "a task")
    t.ok(status == 78 and events[-1]["ok"] is False
         and events[-1]["code"] == "SESSION_INIT_FAILED"
         and "nowhere" in events[-1]["error"],
         "a session that cannot start says why", (status, events, err))
    t.ok(all(not fits(SCHEMA, e) for e in events[:-1]), "after its events",
         events)


def main():
    if not shutil.which("bwrap"):
        t.skip("start --json", "bubblewrap is not installed")
        t.done()
    for test in (test_agent, test_resume, test_command, test_limit,
                 test_signals, test_refused):
        with h.workdir() as work, t.case(test.__name__):
            test(One(work))
    t.done()


if __name__ == "__main__":
    main()
