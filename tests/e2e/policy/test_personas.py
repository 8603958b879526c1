#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Personas of their own constitution, and policies for one task that jobs use,
with a scripted model."""
import hashlib
import json
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import compiling as c  # noqa: E402
import harness as h  # noqa: E402

t = h.Tap()
TEXT = "Read my ~/Documents.\n"
TASK = "sum up Bob's documents"


def home(work, name, rows):
    m = c.Home(work, rows, constitution=None, name=name,
               options=("--reload-script",))
    m.workspace = os.path.join(m.user, "work")
    os.makedirs(m.workspace)
    m.put("mcp-servers.json", "{}", 0o600)
    return m


def start(m, *args):
    return m.run("start", *args, "--workspace", m.workspace, "--", "/bin/true")


def session(m):
    """Returns the newest session's start.json and its log's first record."""
    d = m.newest_session()
    with open(os.path.join(d, "start.json"), encoding="utf-8") as f:
        started = f.read()
    first = next(x for x in h.read_lines(os.path.join(d, "audit.jsonl"))
                 if x.get("event") == "start")
    return started, first["detail"]


def test_compile(work):
    m = home(work, "compile", c.good())
    own = os.path.join(m.home, "personas", "writer", "generated")
    text = os.path.join(m.home, "personas", "writer", "constitution.md")
    try:
        r = m.policy("compile", "--persona", "writer")
        t.ok(r.returncode == 1 and "icctl persona new writer" in r.stderr,
             "no such persona", r.stderr)
        r = m.run("persona", "new", "writer")
        t.ok("icctl policy customize --persona writer" in r.stdout,
             "new: the next commands are named", r.stdout)
        r = m.policy("compile", "--persona", "writer")
        t.ok(r.returncode == 1 and "customize --persona writer" in r.stderr,
             "without a constitution", r.stderr)
        m.script([{"step": "customize", "reply": {
            "reply": "Done.", "constitution": TEXT}}, *c.good()])
        r = m.policy("customize", "--persona", "writer",
                     answers="reading is fine\ny\n\n")
        with open(text, encoding="utf-8") as f:
            t.ok(f.read() == TEXT and "compile --persona writer" in r.stdout
                 and os.stat(text).st_mode & 0o077 == 0,
                 "customize writes the persona's constitution", r.stdout)
        r = start(m, "--persona", "writer")
        t.ok(r.returncode == 0 and r.stderr.count("not in force yet") == 1 and
             "icctl policy compile --persona writer" in r.stderr,
             "a session says that it is not in force yet", r.stderr)
        r = m.policy("compile", "--persona", "writer")
        t.ok(r.returncode == 1 and "compile --persona writer --accept" in
             r.stdout, "what it allows is shown first", r.stdout + r.stderr)
        r2 = m.run("persona", "show", "writer")
        t.ok("not compiled" in r2.stdout and "waits for your yes" in r2.stdout
             and "next" in r2.stdout, "show: a draft waits", r2.stdout)
        r = m.run("persona", "compile", "writer", "--accept",
                  str(m.digest(r)))
        t.ok(r.returncode == 0 and "start --persona writer" in r.stdout and
             m.in_force() is None, "it is in force, for the persona alone",
             r.stdout + r.stderr)
        with open(os.path.join(own, "compiled-policy.json"),
                  encoding="utf-8") as f:
            made = json.load(f)
        t.equal(made["constitutionHash"],
                hashlib.sha256(TEXT.encode()).hexdigest(),
                "the hash is that of the persona's file")
        r = m.run("persona", "show", "writer")
        t.ok("compiled from its constitution" in r.stdout and
             "5 of 5 test cases" in r.stdout and "pending" not in r.stdout and
             "next" not in r.stdout, "show: compiled and verified",
             r.stdout + r.stderr)
        t.ok("its own" in m.run("persona", "ls").stdout, "ls: it has its own")
        shown = json.loads(m.run("persona", "show", "writer", "--json").stdout)
        t.ok(shown["own"] == {"dir": own, "compiled": True, "current": True,
                              "passed": 5, "failed": 0}, "as JSON", shown)
        r = start(m, "--persona", "writer")
        started, detail = session(m)
        t.ok(r.returncode == 0 and "persona writer:" not in r.stderr and
             own in started and detail["persona"] == "writer",
             "a session has it, without a word", r.stderr + started)
        r = start(m, "--persona", "writer", "--policy", "read-only")
        t.ok("persona writer:" not in r.stderr and own not in session(m)[0],
             "--policy comes first", r.stderr)
    finally:
        m.end()


def test_change(work):
    m = home(work, "change", c.good())
    own = os.path.join(m.home, "personas", "writer", "generated")
    text = os.path.join("personas", "writer", "constitution.md")
    try:
        m.run("persona", "new", "writer")
        m.put(text, TEXT, 0o600)
        r = m.policy("compile", "--persona", "writer")
        m.policy("compile", "--persona", "writer", "--accept",
                 str(m.digest(r)))
        m.put(text, TEXT + "Never write.\n", 0o600)
        r = start(m, "--persona", "writer")
        t.ok(r.returncode == 0 and
             (r.stdout + r.stderr).count("was changed") == 1 and
             "icctl policy compile --persona writer" in r.stderr,
             "changed: one line, with the next command", r.stdout + r.stderr)
        t.contains(m.run("doctor").stdout, "of persona writer: it was changed",
                   "changed: doctor says so")
        r = start(m, "--persona", "writer", "--detach", "--json")
        t.ok(r.returncode == 0 and "was changed" in r.stderr and
             json.loads(r.stdout)["session"],
             "changed: in the background as well", r.stdout + r.stderr)
        m.run("stop")
        m.script(c.good(scenarios={"scenarios": [
            c.scenario("Write", "write_file", {
                "path": "~/Documents/a.txt", "content": "x"}, "allow")]}))
        r = m.policy("compile", "--persona", "writer", "--repairs", "0")
        r2 = m.run("persona", "show", "writer")
        t.ok(r.returncode == 1 and "failed its test cases" in r2.stdout and
             "older than its constitution" in r2.stdout,
             "show: a draft failed", r.stdout + r.stderr + r2.stdout)
        m.put("config.json", json.dumps({
            **json.load(open(os.path.join(m.home, "config.json"),
                             encoding="utf-8")),
            "policy": {"strict": True}}), 0o600)
        r = start(m, "--persona", "writer")
        t.ok(r.returncode != 0 and "policy.strict" in r.stderr,
             "changed: policy.strict refuses", r.stderr)
        r = m.run("persona", "rm", "writer")
        t.ok(r.returncode == 0 and
             not os.path.exists(os.path.dirname(own)),
             "rm takes the policy with it", r.stderr)
    finally:
        m.end()


def test_founding(work):
    """A persona directory as the TypeScript IronCurtain writes it."""
    m = home(work, "founding", c.good())
    d = os.path.join(m.home, "personas", "old")
    os.makedirs(os.path.join(d, "workspace"))
    h.put(os.path.join(d, "persona.json"), json.dumps({
        "name": "old", "description": "Reads documents.",
        "createdAt": "2026-01-01T00:00:00.000Z", "servers": ["filesystem"],
        "memory": {"enabled": False}}), 0o600)
    h.put(os.path.join(d, "constitution.md"), TEXT, 0o600)
    h.put(os.path.join(d, "generated", "compiled-policy.json"), json.dumps({
        "generatedAt": "2026-01-01T00:00:00.000Z",
        "constitutionHash": hashlib.sha256(TEXT.encode()).hexdigest(),
        "inputHash": "0", "rules": c.GOOD_RULES["rules"]}), 0o600)
    for x in (m.home, os.path.dirname(d), d, os.path.join(d, "generated")):
        os.chmod(x, 0o700)
    try:
        r = start(m, "--persona", "old")
        t.ok(r.returncode == 0 and "/personas/old/generated" in session(m)[0]
             and "persona old:" not in r.stderr,
             "founding: its policy decides", r.stdout + r.stderr)
        r = m.run("persona", "show", "old")
        t.ok("Reads documents." in r.stdout and
             "compiled from its constitution" in r.stdout and
             "no test cases" in r.stdout, "founding: shown", r.stdout)
        m.script(c.good(prefilter=c.prefilter("filesystem",
                                              servers=["filesystem"])))
        r = m.policy("compile", "--persona", "old")
        t.ok("Nothing is newly allowed" in r.stdout and r.returncode == 0 and
             "git" not in r.stdout, "founding: compiled for its servers alone",
             r.stdout + r.stderr)
        r = m.run("persona", "rm", "old")
        t.ok(r.returncode == 1 and os.path.exists(
            os.path.join(d, "workspace")), "founding: its workspace is kept",
            r.stderr)
    finally:
        m.end()


def test_named(work):
    m = home(work, "named", c.good())
    try:
        m.run("persona", "new", "reader", "--policy", "read-only")
        m.put(os.path.join("personas", "reader", "constitution.md"), TEXT,
              0o600)
        r = start(m, "--persona", "reader")
        t.ok(r.returncode == 0 and "has no effect" in r.stderr and
             "read-only" in r.stderr, "a named policy: said at the start",
             r.stderr)
        r = m.policy("compile", "--persona", "reader")
        t.ok(r.returncode == 1 and "read-only" in r.stderr and
             "persona.json" in r.stderr, "a named policy is not replaced",
             r.stderr)
        for args in (("--persona", "reader", "--into", "x"),
                     ("--into", "x", "--output-dir", "y"),
                     ("--persona", "reader", "--task", "x"),
                     ("--into", "../x")):
            r = m.policy("compile", *args)
            t.ok(r.returncode != 0 and
                 ("exclude each other" in r.stderr or "letters" in r.stderr),
                 f"compile {args}", r.stderr)
    finally:
        m.end()


def as_unit(m):
    """Start the same as a unit, with a stand-in for systemctl."""
    tools = os.path.join(m.user, "tools")
    os.makedirs(tools)
    shutil.copy(os.path.join(h.STANDINS, "systemctl.py"),
                os.path.join(tools, "systemctl"))
    h.put(os.path.join(m.user, "systemctl.json"), json.dumps({
        "program": h.program("icsupervisor"),
        "env": {"PATH": "/usr/bin:/bin", "HOME": m.user}}))
    r = m.run("start", "--systemd", "--json", "--policy-for-task", TASK,
              "--workspace", m.workspace, "--", "/bin/cat",
              env={"PATH": tools + ":/usr/bin:/bin"})
    t.ok(r.returncode == 0 and json.loads(r.stdout)["session"] and
         "/policies/task-" in session(m)[0], "as a unit", r.stdout + r.stderr)
    m.run("stop")


def test_jobs(work):
    rows = c.good()
    rules = next(r for r in rows if r["step"] == "rules")["reply"]
    m = home(work, "jobs", [*rows, {"step": "task-rules", "reply": rules}])
    try:
        r = m.policy("compile", "--task", TASK, "--into", "nightly")
        t.ok(r.returncode == 1 and "--into nightly --accept" in r.stdout,
             "job: what it allows is shown first", r.stdout + r.stderr)
        r = start(m, "--policy", "nightly")
        t.ok(r.returncode != 0, "job: and nothing decides before a yes",
             r.stderr)
        r = m.policy("compile", "--task", TASK, "--into", "nightly")
        r = m.policy("compile", "--task", TASK, "--into", "nightly",
                     "--accept", str(m.digest(r)))
        t.ok(r.returncode == 0 and "start --policy nightly" in r.stdout,
             "job: agreed", r.stdout + r.stderr)
        before = m.asked()
        r = start(m, "--policy", "nightly", "--escalations", "deny")
        t.ok(r.returncode == 0 and m.asked() == before,
             "job: it starts by that name, and no model is asked", r.stderr)
        r = start(m, "--detach", "--json", "--policy-for-task", TASK)
        t.ok(r.returncode != 0 and "Newly allowed:" in r.stderr and
             "no session was started" in json.loads(r.stdout)["error"],
             "in the background: nothing without a yes",
             r.stdout + r.stderr)
        words = r.stderr.split()
        r = m.policy("compile", "--task", TASK, "--accept",
                     words[words.index("--accept") + 1])
        t.equal(r.returncode, 0, "in the background: agreed" + r.stderr)
        r = start(m, "--detach", "--json", "--policy-for-task", TASK)
        t.ok(r.returncode == 0 and json.loads(r.stdout)["session"] and
             "/policies/task-" in session(m)[0],
             "in the background: one line of JSON", r.stdout + r.stderr)
        m.run("stop")
        as_unit(m)
        m.run("persona", "new", "reader", "--policy", "read-only")
        r = start(m, "--persona", "reader", "--policy-for-task", TASK)
        t.ok(r.returncode == 0 and "/policies/task-" in session(m)[0],
             "a persona's policy gives way", r.stderr)
    finally:
        m.end()


def test_recompile(work):
    """A job's own policy, made of its constitution."""
    rows = c.good()
    rules = next(r for r in rows if r["step"] == "rules")["reply"]
    m = home(work, "recompile", [*rows, {"step": "task-rules", "reply": rules}])
    agent = h.put(os.path.join(m.user, "amy"), "#!/bin/sh\necho done\n", 0o755)
    h.put(os.path.join(m.home, "agents", "amy.json"), json.dumps({
        "name": "amy", "program": ["amy"], "providers": [], "turn": [],
        "output": {"format": "lines"}}), 0o600)
    with open(os.path.join(m.home, "config.json"), encoding="utf-8") as f:
        config = json.load(f)
    m.put("config.json", json.dumps({
        **config, "agent": {"amy": {"path": agent}}}), 0o600)
    try:
        r = m.run("job", "add", "sums", "--agent", "amy", "--task", TASK,
                  "--constitution", TEXT, "--workspace", m.workspace)
        t.equal(r.returncode, 0, "recompile: a job with a constitution")
        r = m.run("job", "recompile", "sums")
        t.ok(r.returncode == 1 and "--accept" in r.stdout and
             not os.path.exists(os.path.join(m.home, "policies", "job-sums",
                                             "compiled-policy.json")),
             "recompile: what it allows is shown first", r.stdout + r.stderr)
        r = m.run("job", "recompile", "sums", "--accept", str(m.digest(r)))
        t.equal(r.returncode, 0, "recompile: agreed")
        before = m.asked()
        r = m.run("job", "run", "sums")
        t.ok(r.returncode == 0 and '"job-sums"' in session(m)[0] and
             m.asked() == before, "recompile: a run has that policy",
             r.stdout + r.stderr)
        m.run("job", "edit", "sums", "--constitution", TEXT + "Never write.")
        r = m.run("job", "run", "sums")
        t.ok(r.returncode != 0 and "job recompile sums" in m.run(
            "job", "logs", "sums").stdout,
            "recompile: a changed constitution must be agreed to again",
            r.stdout + r.stderr)
        m.run("job", "edit", "sums", "--constitution", TEXT)
        t.equal(m.run("job", "run", "sums").returncode, 0,
                "recompile: the text that was agreed to runs")
    finally:
        m.end()


def test_refused(work):
    """A first try without a key leaves nothing that a session trips over."""
    m = home(work, "refused", c.good())
    own = os.path.join(m.home, "policy")
    try:
        r = m.policy("customize", answers="read\n\n",
                     env={"ANTHROPIC_API_KEY": ""})
        t.ok(r.returncode == 1 and "ANTHROPIC_API_KEY" in r.stderr and
             "What may an agent" not in r.stdout,
             "without a key: said before anything is asked",
             r.stdout + r.stderr)
        t.ok(not os.path.exists(own), "without a key: nothing is left",
             os.listdir(m.home))
        h.put(os.path.join(own, "llm-interactions.jsonl"), "{}\n", 0o600)
        os.chmod(own, 0o700)
        r = start(m)
        t.ok(r.returncode == 0 and "policy default" in r.stderr,
             "what a compilation left is no policy", r.stderr)
    finally:
        m.end()


def main():
    if not shutil.which("bwrap"):
        t.skip("personas", "bubblewrap is not installed")
        t.done()
    for test in (test_compile, test_change, test_founding, test_named,
                 test_jobs, test_recompile, test_refused):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
