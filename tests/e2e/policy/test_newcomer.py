#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""From README alone: five sentences of English become a policy in force, and the
built-in agent finishes a task under it; each sentence decides a call."""
import json
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import compiling as c  # noqa: E402
import harness as h  # noqa: E402
from newcomer import STEPS, TEXT  # noqa: E402

t = h.Tap()


def act(code):
    return {"tool": "execute_code$", "args": {"code": code}}


def main():
    if not shutil.which("bwrap") or not shutil.which("node", path="/usr/bin"):
        t.skip("newcomer", "needs bubblewrap, and node in /usr/bin")
        t.done()
    with h.workdir() as work:
        m = c.Home(work, STEPS, constitution=TEXT,
                   options=("--reload-script",))
        downloads = os.path.join(m.user, "Downloads")
        h.put(os.path.join(downloads, "a.pdf"), "a")
        h.put(os.path.join(m.user, "Documents", "plan.txt"), "paint it blue")
        h.put(os.path.join(m.user, "secret.txt"), "hunter2")
        workspace = os.path.join(m.user, "work")
        os.makedirs(workspace)
        try:
            m.script(STEPS)
            t.contains(m.run("doctor").stdout, "is not in force yet",
                       "doctor says that nothing is compiled")
            r = m.policy("compile")
            t.ok("8 scenarios" in r.stdout and m.digest(r) is not None,
                 "five sentences are compiled", r.stdout + r.stderr)
            r = m.policy("compile", "--accept", str(m.digest(r)))
            t.equal(r.returncode, 0, "and in force" + r.stderr)
            t.ok("no server fetch" in r.stdout and "man icfetch" in r.stdout
                 and "no server filesystem" not in r.stdout,
                 "what sessions lack for it is named", r.stdout)
            t.contains(m.run("doctor").stdout, "made from it as it is now",
                       "doctor knows the constitution")
            m.script(STEPS, [
                act(f"filesystem.move_file({{source: '{downloads}/a.pdf', "
                    f"destination: '{downloads}/sorted.pdf'}}); "
                    f"return filesystem.read_file({{path: "
                    f"'{m.user}/Documents/plan.txt'}});"),
                act(f"return filesystem.read_file({{path: "
                    f"'{m.user}/secret.txt'}});"),
                act("return git.git_push({path: '/workspace', "
                    "remote: 'https://github.com/a/b'});"),
                {"text": "FINAL: tidy. $RESULT"}])
            r = m.run("start", "--escalations", "deny", "--workspace",
                      workspace, "--agent", "builtin", "tidy my Downloads",
                      timeout=180)
            t.ok(r.returncode == 0 and "FINAL: tidy." in r.stdout,
                 "the task is finished", r.stdout + r.stderr)
            t.ok(os.path.exists(os.path.join(downloads, "sorted.pdf")),
                 "Downloads is tidy", r.stdout)
            t.ok("was changed after" not in r.stdout + r.stderr and
                 "that is not there" not in r.stdout + r.stderr,
                 "the constitution is the one that was compiled",
                 r.stdout + r.stderr)
            session = m.newest_session()
            calls = [(x["toolName"], x["policyDecision"]["status"],
                      x["policyDecision"]["rule"]) for x in
                     h.read_lines(os.path.join(session, "audit.jsonl"))
                     if x["event"] == "call"]
            t.equal(calls[:2], [("move_file", "allow",
                                 "filesystem-tidy-downloads"),
                                ("read_file", "allow", c.READ_DOCS["name"])],
                    "each sentence decides its call")
            t.ok(not any(x[1] == "allow" for x in calls[2:]) and
                 len(calls) >= 3, "and the others are not allowed", calls)
            with open(os.path.join(session, "session.log"),
                      encoding="utf-8") as f:
                t.ok("that is not there" not in f.read(),
                     "the session finds the constitution")
            r = m.policy("compile", "--yes")
            t.ok(r.returncode == 0 and "of the newest 1 session: 0 would be "
                 "decided differently" in r.stdout,
                 "its calls are decided again by the next compile",
                 r.stdout + r.stderr)
            bodies = json.dumps([x["body"] for x in m.provider.seen()])
            t.ok("hunter2" not in bodies, "the secret stays")
        finally:
            m.end()
    t.done()


main()
