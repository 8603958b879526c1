#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Personas: made, listed, shown, removed, and used to start a session."""
import hashlib
import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from test_conversation import Talk, shell  # noqa: E402

t = h.Tap()
TEXT = "# Rules\nBe kind.\x1b[31m\n"


def run(s, *args):
    """icctl, without a session."""
    return subprocess.run([h.program("icctl"), *args], env=s.env, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=60 * h.PATIENCE, check=False)


def test_files(work):
    s = h.Session(work)
    r = run(s, "persona", "ls")
    t.ok(r.returncode == 0 and "there are no personas" in r.stdout, "none yet")
    r = run(s, "persona", "new", "careful", "--policy", "read-only",
            "--workspace", s.workspace, "--budget", "maxSteps=7",
            "--budget", "maxTotalTokens=null")
    path = os.path.join(s.home, "personas", "careful", "persona.json")
    with open(path, encoding="utf-8") as f:
        made = json.load(f)
    t.ok(r.returncode == 0 and made == {
        "policy": "read-only", "workspace": s.workspace,
        "budget": {"maxSteps": 7, "maxTotalTokens": None}} and
        os.stat(path).st_mode & 0o077 == 0, "new", (r, made))
    r = run(s, "persona", "new", "careful")
    t.ok(r.returncode == 1 and "already" in r.stderr, "not twice", r.stderr)
    h.put(os.path.join(os.path.dirname(path), "constitution.md"), TEXT, 0o600)
    r = run(s, "persona", "show", "careful")
    digest = hashlib.sha256(TEXT.encode()).hexdigest()
    t.ok("read-only" in r.stdout and "maxSteps 7" in r.stdout and
         digest in r.stdout and "Be kind.\\" in r.stdout and
         "\x1b" not in r.stdout, "show, with its constitution", r.stdout)
    r = run(s, "persona", "ls", "--json")
    rows = json.loads(r.stdout)
    t.ok(rows[0]["name"] == "careful" and rows[0]["constitution"] == digest
         and "text" not in rows[0], "ls", rows)
    for args, status, why in (
            (("new", "a/b"), 64, "letters, digits"),
            (("new", "../x"), 64, "letters, digits"),
            (("new", "x", "--budget", "maxStep=1"), 64, "KEY=VALUE"),
            (("new", "x", "--budget", "maxSteps=-1"), 64, "must be a whole"),
            (("new", "x", "--agent", "claud"), 64, "did you mean claude?"),
            (("new", "x", "--policy", "readonly"), 64, "read-only"),
            (("new", "x", "--profile", "night"), 64, "--profile night"),
            (("new", "x", "--model"), 64, "needs a value"),
            (("new", "x", "--workspace", "/nonesuch"), 64, "No such file"),
            (("show", "nobody"), 1, "icctl persona new nobody"),
            (("show", "carefull"), 1, "did you mean careful?"),
            (("rm", "nobody"), 1, "there is no persona"),
            (("rm", ".."), 64, "no name of a persona"), ((), 64, "usage")):
        r = run(s, "persona", *args)
        t.ok(r.returncode == status and why in r.stderr, f"persona {args}", r)
    for text, why in (('{"polcy": "x"}', "did you mean policy"),
                      ('{"budget": {"maxSteps": "7"}}', "must be a whole"),
                      ('{"workspace": "here"}', "absolute"), ("{", "")):
        h.put(path, text, 0o600)
        r = run(s, "persona", "show", "careful")
        t.ok(r.returncode == 1 and why in r.stderr and path in r.stderr,
             f"a file like {text}", r.stderr)
    r = run(s, "persona", "rm", "careful")
    t.contains(r.stdout, "removed ", "rm says what it did")
    t.ok(r.returncode == 0 and not os.path.exists(os.path.dirname(path)),
         "rm", r.stderr)


def test_start(work):
    s = h.Session(work)
    run(s, "persona", "new", "worker", "--policy", "read-only",
        "--budget", "maxSteps=3")
    h.put(os.path.join(s.home, "personas", "worker", "constitution.md"), TEXT,
          0o600)
    with Talk(work, "--persona", "worker", *shell(work), session=s) as k:
        if k.started.returncode != 0:
            raise RuntimeError(k.started.stderr)
        now = json.loads(k.icctl("status", "--json").stdout)
        t.ok(now["persona"] == "worker" and "read-only" in now["policy"] and
             now["budget"]["limits"]["maxSteps"]["max"] == 3,
             "a session takes its policy and budget", now["policy"])
        digest = hashlib.sha256(TEXT.encode()).hexdigest()
        start = [e for e in h.read_lines(os.path.join(k.s.dir, "audit.jsonl"))
                 if e.get("event") == "start"][0]["detail"]
        t.equal((start["persona"], start["constitution"]),
                ("worker", digest), "the log has it, and the constitution")
        k.icctl("stop")
        h.wait_for(lambda: not os.path.exists(f"/proc/{k.told['pid']}/ns"),
                   "it does not end")
        r = k.icctl("resume", "--json", k.told["session"], "--",
                    "/workspace/agent.sh")
        t.equal(r.returncode, 0, "it can be resumed")
        k.told = json.loads(r.stdout)
        now = json.loads(k.icctl("status", "--json").stdout)
        t.equal((now["persona"], now["budget"]["limits"]["maxSteps"]["max"]),
                ("worker", 3), "with its persona")
    r = run(s, "start", "--detach", "--persona", "worker", "--policy",
            "nonesuch", "--workspace", s.workspace, "--", "/bin/true")
    t.ok(r.returncode != 0 and "nonesuch" in r.stderr,
         "an option comes before the persona", r.stderr)
    r = run(s, "start", "--detach", "--persona", "nobody", "hello")
    t.ok(r.returncode == 1 and "there is no persona nobody" in r.stderr,
         "one that does not exist", r.stderr)


def main():
    if not shutil.which("bwrap"):
        t.skip("personas", "bubblewrap is not installed")
        t.done()
    for test in (test_files, test_start):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
