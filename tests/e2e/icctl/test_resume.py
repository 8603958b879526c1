#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Goes on with sessions that have ended: a conversation that its supervisor
lost between turns and during one, what was spent, files that were exchanged or
edited meanwhile, another workspace, two resumes at once."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from lives import Life  # noqa: E402

t = h.Tap()
def texts(events, name="agent_text"):
    return "".join(e["text"] for e in events if e["event"] == name)


def turns_are_whole(events):
    """Every turn that began has exactly one of each end."""
    turns = sorted({e["turn"] for e in events if e["event"] == "turn_start"})
    return turns and all(
        [sum(1 for e in events if e.get("turn") == n and e["event"] == name)
         for name in ("turn_start", "usage", "result", "turn_end")]
        == [1, 1, 1, 1] for n in turns)


def conversation(events):
    return re.search(r"(--new|--again) ([0-9a-f-]{36})", texts(events))


def test_orderly(work):
    with Life(work) as k:
        first = k.send("one")
        said = conversation(first)
        t.equal(said[1], "--new", "the agent begins a conversation")
        r = k.icctl("resume", k.id)
        t.ok(r.returncode == 1 and "is running" in r.stderr,
             "one that runs is not resumed", r.stderr)
        k.stop()
        r = k.resume()
        t.equal(r.returncode, 0, "after an orderly end it goes on")
        second = k.send("two")
        t.equal(conversation(second).group(1, 2), ("--again", said[2]),
                "with the agent's own conversation")
        t.contains(texts(second), "before: one", "and its home")
        t.equal([e["turn"] for e in second if "turn" in e][0], 2,
                "turns are counted on")
        t.ok(turns_are_whole(k.kept()), "each turn has its ends")
        starts = [x for x in k.records() if x["event"] == "start"]
        t.equal(len(starts), 2, "the log goes on")
        k.stop()
        r = k.icctl("audit", "verify", k.path("audit.jsonl"))
        t.equal(r.returncode, 0, "and its chain is intact")
        os.remove(k.path("home/told"))
        r = k.icctl("resume", k.id)
        t.ok(r.returncode != 0 and "home has no none, where parrot keeps its "
             "conversations" in r.stderr,
             "it does not go on without the agent's state", r.stderr)
        h.put(k.path("session.json"), "{")
        r = k.icctl("resume", k.id)
        t.ok(r.returncode != 0 and "session.json:1:2: ends too early" in
             r.stderr and "its work and its log are kept" in r.stderr,
             "nor without its record", r.stderr)
        t.contains(k.icctl("ls").stdout, "its session.json is damaged",
                   "and icctl ls shows the session all the same")


def test_killed(work):
    with Life(work) as k:
        said = conversation(k.send("one"))
        k.kill()
        r = k.icctl("resume", k.id)
        t.ok(r.returncode == 1 and "icsupervisor was killed" in r.stderr
             and "--after-crash" in r.stderr,
             "a death is evidence, which is shown", r.stderr)
        r = k.icctl("--session", k.id, "status")
        t.ok(f"sessions/{k.id}\n" in r.stdout and f"icctl resume {k.id}\n"
             in r.stdout, "the status says how to go on", r.stdout)
        t.contains(k.icctl("status").stdout, f"icctl resume {k.id}",
                   "as it does without the session's name")
        t.equal(k.resume("--after-crash").returncode, 0,
                "killed between turns, it goes on")
        second = k.send("two")
        t.equal(conversation(second).group(1, 2), ("--again", said[2]),
                "with the same conversation")
        p = subprocess.Popen(
            [h.program("icctl"), "send", "--json", "--session", k.id, "wait"],
            env=k.s.env, stdout=subprocess.PIPE, text=True)
        while "before: one two" not in p.stdout.readline():
            pass
        k.kill()
        p.communicate()
        cut = [e["event"] for e in k.kept() if e.get("turn") == 3]
        t.ok("turn_end" not in cut, "a turn was cut", cut)
        t.equal(k.resume("--after-crash").returncode, 0,
                "killed during a turn, it goes on")
        t.ok(turns_are_whole(k.kept()), "the turn has got its ends",
             [e for e in k.kept() if e.get("turn") == 3])
        third = k.send("three")
        t.contains(texts(third), "before: one two wait", "and remembers")
        t.equal(third[0]["turn"], 4, "the next turn is another")
        # A line that a power failure cut is taken back.
        k.kill()
        with open(k.path("events.jsonl"), "a", encoding="utf-8") as f:
            f.write('{"event":"turn_start","turn":5,"mess')
        t.equal(k.resume("--after-crash").returncode, 0, "a torn line")
        t.ok(turns_are_whole(k.kept()), "is no turn")
        t.equal(k.send("four")[0]["turn"], 5, "and its number is free")


def test_budget(work):
    """Ten deaths: what was spent never becomes less."""
    config = {"resourceBudget": {"maxSessionSeconds": 3600}}
    with Life(work, config=config) as k:
        k.send("one")
        k.icctl("budget", "set", "maxSteps", "7")
        spent = 0.0
        for i in range(10):
            k.send("again")
            used = k.budget("maxSessionSeconds")
            t.ok(used > spent, f"round {i}: more is spent", (used, spent))
            spent = used
            k.kill()
            t.equal(k.resume("--after-crash").returncode, 0, "it goes on")
            t.ok(k.budget("maxSessionSeconds") >= spent,
                 "and nothing is given back",
                 (k.budget("maxSessionSeconds"), spent))
        r = k.icctl("--json", "budget")
        t.equal(json.loads(r.stdout)["budget"]["limits"]["maxSteps"]["max"],
                7.0, "a limit that was lowered stays")


def refused(k, what, why, *args):
    r = k.icctl("resume", k.id, *args)
    t.ok(r.returncode not in (0, 2) and why in r.stderr, f"refused: {what}",
         (r.returncode, r.stderr))
    t.ok(not os.path.exists(k.path("control.sock")), "nothing runs")


def test_workspace(work):
    place = os.path.join(work, "project")
    os.mkdir(place, 0o700)
    with Life(work, workspace=place) as k:
        k.send("one")
        k.stop()
        os.rename(place, place + ".away")
        refused(k, "a workspace that is gone", "is gone")
        os.mkdir(place, 0o700)
        refused(k, "another directory in its place", "another directory")
        os.rmdir(place)
        os.symlink(place + ".away", place)
        refused(k, "a link in its place", "leads to")
        os.unlink(place)
        os.rename(place + ".away", place)
        t.equal(k.resume().returncode, 0, "the first one is back")


def edit(k, name, change):
    with open(k.path(name), encoding="utf-8") as f:
        o = json.load(f)
    change(o)
    h.put(k.path(name), json.dumps(o), 0o600)


def test_files(work):
    with Life(work) as k:
        k.send("one")
        k.stop()
        for name in ("session.json", "start.json"):
            good = k.path(name) + ".good"
            shutil.copy2(k.path(name), good)

            def again(name=name, good=good):
                if os.path.lexists(k.path(name)):
                    os.unlink(k.path(name))
                shutil.copy2(good, k.path(name))
            os.chmod(k.path(name), 0o644)
            refused(k, f"{name} that others read", "the mode 0600")
            again()
            os.unlink(k.path(name))
            os.symlink(good, k.path(name))
            refused(k, f"{name} as a link", "symbolic link")
            again()
            os.link(k.path(name), k.path("second"))
            refused(k, f"{name} with two names", "more than one name")
            os.unlink(k.path("second"))
            os.unlink(k.path(name))
            os.mkfifo(k.path(name), 0o600)
            refused(k, f"{name} as a FIFO", "not a plain file")
            again()
            with open(k.path(name), "r+b") as f:
                f.truncate(1 << 30)
            refused(k, f"{name} of 1 GB", "more than 64 KiB")
            again()
            edit(k, name, lambda o: o.update(argv=["sh"]))
            refused(k, f"{name} with another member", "argv")
            again()
        for bad in ("--dangerously-skip-permissions", "../x", ".x", "a b",
                    "a\0b", "x" * 65):
            edit(k, "session.json", lambda o, b=bad: o.update(conversation=b))
            refused(k, f"conversation {bad[:12]!r}", "conversation")
        edit(k, "session.json", lambda o: o.update(conversation="x" * 60000))
        refused(k, "a long conversation", "conversation")
        again = shutil.copy2
        again(k.path("session.json.good"), k.path("session.json"))
        edit(k, "session.json", lambda o: o.pop("format"))
        refused(k, "an earlier version", "another version of IronCurtain")
        again(k.path("session.json.good"), k.path("session.json"))
        edit(k, "session.json", lambda o: o.update(host="elsewhere"))
        refused(k, "another machine", "ran on elsewhere")
        again(k.path("session.json.good"), k.path("session.json"))
        os.unlink(k.path("start.json"))
        refused(k, "no start.json", "earlier version")
        again(k.path("start.json.good"), k.path("start.json"))
        t.equal(k.resume().returncode, 0, "the good ones are good")


def test_twice(work):
    with Life(work) as k:
        k.send("one")
        k.stop()
        both = [subprocess.Popen(
            [h.program("icctl"), "resume", "--json", k.id], env=k.s.env,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True) for _ in range(2)]
        said = [p.communicate(timeout=60 * h.PATIENCE) for p in both]
        codes = sorted(p.returncode for p in both)
        t.ok(codes[0] == 0 and codes[1] != 0, "one of two goes on",
             (codes, said))
        t.ok(any("is running" in x[1] or "is starting or ending" in x[1]
                 for x in said), "the other says why",
             said)
        k.take(subprocess.CompletedProcess(
            [], 0, next(x[0] for p, x in zip(both, said)
                        if p.returncode == 0), ""))
        other = json.loads(next(x[0] for p, x in zip(both, said)
                                if p.returncode != 0) or "null")
        t.ok(other is None or other["code"] == "SESSION_INIT_FAILED",
             "and with --json by a code, if it was started at all", other)


def main():
    if not shutil.which("bwrap"):
        t.skip("resume", "bubblewrap is not installed")
        t.done()
    for test in (test_orderly, test_killed, test_budget, test_workspace,
                 test_files, test_twice):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
