#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""icctl policy compile, with a model that is scripted step by step: a policy in
force after a yes and not before, artefacts that are the same every time, the
cache, and replies that are broken."""
import json
import os
import shutil
import stat
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import compiling as c  # noqa: E402
import harness as h  # noqa: E402

t = h.Tap()
FILES = ("compiled-policy.json", "dynamic-lists.json", "test-scenarios.json",
         "tool-annotations.json", "servers/filesystem/compiled-policy.json")


def test_whole(work):
    m = c.Home(work, c.good())
    try:
        r = m.policy("compile", "--yes")
        digest = m.digest(r)
        t.equal(r.returncode, 1, "compile: --yes does not allow anything new")
        t.ok(digest and m.in_force() is None, "compile: and nothing is in force",
             r.stdout + r.stderr)
        t.ok("1 directory for read-path: ~/Documents and everything below"
             in r.stdout, "compile: says which directory", r.stdout)
        t.ok("    10 tools: filesystem:" in r.stdout and
             "    only some calls of 1 tool: filesystem: edit_file\n" in
             r.stdout and "    not enough for 1 tool: filesystem: move_file, "
             "which other rules still withhold\n" in r.stdout,
             "compile: and which tools, by the policy as a whole", r.stdout)
        t.ok(os.path.exists(m.path("pending", "compiled-policy.json")),
             "compile: the draft is in pending/")
        r = m.policy("compile", "--accept", "0" * 16)
        t.ok(r.returncode == 1 and m.in_force() is None and
             "not what --accept" in r.stdout,
             "compile: another digest is no yes", r.stdout)
        r = m.policy("compile", "--accept", digest)
        t.equal((r.returncode, [x["name"] for x in m.in_force() or []]),
                (0, [c.READ_DOCS["name"], c.ASK_REST["name"]]),
                "compile: in force with the digest of the statement")
        t.ok("4 replies of the model, 4 from the cache" in r.stdout,
             "compile: asked nothing again", r.stdout)
        t.equal(m.asked(), 4, "compile: four questions to the provider")
        t.ok(not os.path.exists(m.path("pending")),
             "compile: no draft is left")
        mode = stat.S_IMODE(os.stat(m.path("llm-interactions.jsonl")).st_mode)
        t.equal(mode, 0o600, "compile: llm-interactions.jsonl is private")
        first = {f: m.read(f) for f in FILES}
        r = m.policy("compile", "--yes")
        t.ok(r.returncode == 0 and "Nothing is newly allowed." in r.stdout,
             "compile: --yes is enough where nothing is", r.stdout + r.stderr)
        t.equal({f: m.read(f) for f in FILES}, first,
                "compile: a second run changes no byte")
        t.equal(m.run("policy", "test", m.path("test-scenarios.json"))
                .returncode, 0, "compile: policy test takes the scenarios")
    finally:
        m.end()
    return first


def test_recorded(work):
    """The calls of earlier sessions are decided again before the question."""
    m = c.Home(work, c.good(), name="recorded")

    def record(session, started, *paths, agent="codex", log="audit.jsonl"):
        rows = [{"event": "call", "serverName": "filesystem", "toolName":
                 "read_text_file", "arguments": {"path": os.path.join(
                     m.user, p)}, "policyDecision": {
                         "status": "deny", "rule": "default-deny"}}
                for p in paths]
        m.put(f"sessions/{session}/session.json", json.dumps(
            {"agent": agent, "started": started}))
        return m.put(f"sessions/{session}/{log}", "".join(
            json.dumps(x) + "\n" for x in rows))
    try:
        r = m.policy("compile")
        t.ok("recorded call" not in r.stdout and m.digest(r),
             "recorded: nothing is said without a log", r.stdout)
        digest = m.digest(r)
        # The names of sessions that a person named say nothing of their age.
        record("zzzz", 101, "Documents/old.txt")
        many = [f"Documents/{i}.txt" for i in range(30)]
        record("dddd", 102, *many)
        record("cccc", 103, ".bashrc")
        record("bbbb", 104, ".bashrc", log="audit.1.jsonl")
        record("bbbb", 104, "Documents/new.txt", ".bashrc")
        record("eeee", 105, "Documents/x", agent="policy-compiler")
        r = m.policy("compile")
        at = r.stdout.find("bbbb:1: filesystem/read_text_file")
        t.ok(0 < at < r.stdout.find("Newly allowed"),
             "recorded: a call that would be allowed, before the question",
             r.stdout)
        t.ok(f"new allow by {c.READ_DOCS['name']}" in r.stdout[at:],
             "recorded: and by which rule", r.stdout)
        t.ok("34 recorded calls of the newest 3 sessions: 31 would be decided "
             "differently, the first 20 are shown" in r.stdout,
             "recorded: counted, and not more than 20 are shown", r.stdout)
        t.ok("zzzz" not in r.stdout and "eeee" not in r.stdout,
             "recorded: of the newest sessions, without the compiler's own",
             r.stdout)
        t.equal(m.digest(r), digest, "recorded: the digest does not change")
        r = m.policy("compile", "--audit",
                     os.path.join(m.home, "sessions", "zzzz"))
        t.ok("1 recorded call: 1 would be decided differently\n" in r.stdout and
             "zzzz --accept" in r.stdout, "recorded: --audit", r.stdout)
        r = m.policy("compile", "--audit", os.path.join(work, "no-log"))
        t.ok(r.returncode == 1 and r.stderr.count("\n") == 1 and
             "no-log: No such file" in r.stderr and r.stdout == "",
             "recorded: --audit without a log", r.stdout + r.stderr)
    finally:
        m.end()


def test_golden(work, first):
    m = c.Home(work, c.good(), name="again")
    try:
        digest = m.digest(m.policy("compile"))
        m.policy("compile", "--accept", digest)
        t.equal({f: m.read(f) for f in FILES}, first,
                "golden: another home gives the same bytes")
        shutil.rmtree(os.path.join(m.home, "policy-cache"))
        r = m.policy("compile")
        t.ok("4 replies of the model, 0 from the cache" in r.stdout,
             "golden: without the cache all is asked", r.stdout)
        t.equal({f: m.read(f) for f in FILES}, first,
                "golden: and the bytes are the same")
        r = m.policy("cache")
        t.ok("4 replies" in r.stdout, "cache: counted", r.stdout)
        r = m.policy("cache", "clear")
        t.ok("4 replies" in r.stdout, "cache: cleared", r.stdout)
        t.ok("0 replies" in m.policy("cache").stdout, "cache: empty")
        rows = h.read_lines(m.path("llm-interactions.jsonl"))
        t.equal(sum(x["cached"] for x in rows), 4,
                "llm-interactions: what came from the cache")
    finally:
        m.end()


def main():
    if not shutil.which("bwrap"):
        t.skip("compile", "bubblewrap is not installed")
        t.done()
    with h.workdir() as work:
        first = test_whole(work)
        test_golden(work, first)
        test_recorded(work)
    t.done()


main()
