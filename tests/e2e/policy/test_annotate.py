#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""icctl policy annotate, refresh-lists and customize, and icctl start
--policy-for-task, with a scripted model."""
import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import compiling as c  # noqa: E402
import harness as h  # noqa: E402

t = h.Tap()
ARGS = {"echo": {"text": ["none"]}, "lookup": {"path": ["read-path"]},
        "slow": {"ms": ["none"], "until": ["read-path"]},
        "fail": {"text": ["none"]}, "big": {"bytes": ["none"]},
        "structured": {}, "progress": {"steps": ["none"], "ms": ["none"]},
        "env": {}}


def tools(**changed):
    args = {**ARGS, **changed}
    return {"tools": [{"toolName": k, "comment": f"Does {k}.", "args": v}
                      for k, v in args.items() if v is not None]}


def home(work, name, script, *options, **kw):
    m = c.Home(work, script, name=name, options=("--reload-script",), **kw)
    entry = h.echo_server(os.path.join(work, "log-" + name, "echo"), *options)
    m.put("mcp-servers.json", json.dumps({"echo": entry}), 0o600)
    return m


def annotations(m):
    return {x["toolName"]: x for x in
            m.json("tool-annotations.json")["servers"]["echo"]["tools"]}


def test_annotate(work):
    m = home(work, "annotate", [{"step": "annotate", "reply": tools()}])
    try:
        r = m.policy("annotate", "--server", "echo")
        t.equal(r.returncode, 0, "annotate: written" + r.stderr)
        found = annotations(m)
        t.equal({k: v["args"] for k, v in found.items()}, ARGS,
                "annotate: as the model says")
        t.ok("inputSchema" in found["echo"], "annotate: with the schemas")
        t.ok("filesystem" in m.json("tool-annotations.json")["servers"] and
             m.in_force() is not None,
             "annotate: beside those of other servers, and the rules")
        for name, changed, words in (
                ("no argument", {"lookup": {}}, '"path" is missing'),
                ("another argument", {"echo": {"text": ["none"], "x": ["none"]}},
                 "no such argument"),
                ("a tool less", {"env": None}, '"env" is missing'),
                ("another tool", {"rm": {}}, "was not asked about"),
                ("a role of git", {"lookup": {"path": ["delete-history"]}},
                 "that this server does not have"),
                ("none and another", {"lookup": {"path": ["none", "read-path"]}},
                 "none and another role"),
                ("more in a condition", {"slow": {"ms": ["none"], "until": {
                    "default": ["read-path"], "when": [{
                        "condition": {"arg": "ms", "equals": 1},
                        "roles": ["write-path"]}]}}}, "among the default's"),
                ("a condition on nothing", {"slow": {"ms": ["none"], "until": {
                    "default": ["read-path"], "when": [{
                        "condition": {"arg": "x", "is": "present"},
                        "roles": ["none"]}]}}}, 'no argument "x"')):
            m.script([{"step": "annotate", "reply": tools(**changed)}])
            before = m.read("tool-annotations.json")
            r = m.policy("annotate", "--server", "echo", "--no-cache")
            t.ok(r.returncode == 1 and words in r.stderr and
                 "/tools" in r.stderr and
                 m.read("tool-annotations.json") == before,
                 f"annotate: {name} is refused", r.stderr)
        # A description has talked the model into seeing no path.
        m.script([{"step": "annotate", "reply":
                   tools(lookup={"path": ["none"]})}])
        r = m.policy("annotate", "--server", "echo", "--no-cache")
        digest = m.digest(r)
        t.ok(r.returncode == 1 and
             "lookup path: none instead of read-path" in r.stdout and
             annotations(m)["lookup"]["args"] == ARGS["lookup"],
             "annotate: a role less needs a yes", r.stdout + r.stderr)
        r = m.policy("annotate", "--server", "echo", "--accept", str(digest))
        t.ok(r.returncode == 0 and
             annotations(m)["lookup"]["args"] == {"path": ["none"]},
             "annotate: with --accept it is taken", r.stdout + r.stderr)
        # A person writes an annotation.
        a = m.json("tool-annotations.json")
        for x in a["servers"]["echo"]["tools"]:
            if x["toolName"] == "lookup":
                x.update(manual=True, args={"path": ["read-path",
                                                     "write-path"]})
        m.put("policy/tool-annotations.json", json.dumps(a), 0o600)
        m.script([{"step": "annotate", "reply": tools()}])
        r = m.policy("annotate", "--all")
        t.ok(r.returncode == 0 and "kept, because it is manual: lookup" in
             r.stdout and annotations(m)["lookup"]["args"] ==
             {"path": ["read-path", "write-path"]},
             "annotate: manual entries stay", r.stdout + r.stderr)
        r = m.policy("check")
        t.ok("manual" not in r.stdout, "check: knows manual", r.stdout)
        r = m.run("annotate-tools", "--server", "nosuch")
        t.ok("is not in" in r.stderr, "annotate-tools: no such server",
             r.stderr)
    finally:
        m.end()


def test_fresh_names(work):
    """An annotation of a new tool that sees no path where its name has one."""
    m = home(work, "fresh", [{"step": "annotate", "reply":
                              tools(lookup={"path": ["none"]})}])
    try:
        r = m.policy("annotate", "--server", "echo")
        t.ok(m.digest(r) is not None and m.in_force() is None and
             "lookup path: none although its name suggests read-path"
             in r.stdout, "annotate: a path without a role", r.stdout)
        # Nobody agreed to this draft: the next command forgets it.
        m.script(c.good())
        r = m.policy("compile", "--accept", str(m.digest(
            m.policy("compile"))))
        t.ok(r.returncode == 0 and "echo" not in
             m.json("tool-annotations.json")["servers"],
             "annotate: a draft does not come into force by the way",
             r.stdout + r.stderr)
        m.put("mcp-servers.json", json.dumps({"echo": {
            "command": "/bin/false"}}), 0o600)
        r = m.policy("annotate", "--server", "echo")
        t.ok(r.returncode == 1 and r.stderr.count("\n") == 1,
             "annotate: a server that does not start", r.stderr)
    finally:
        m.end()


def listing(path, n):
    """Let a server list n tools: echo, and others without arguments."""
    h.put(path, json.dumps({
        **{k: None for k in ARGS if n == 0 or k != "echo"},
        **{f"t{i}": {"inputSchema": {"type": "object", "properties": {}}}
           for i in range(n - 1)}}))


def test_lists_of_tools(work):
    """A server that lists nothing, too much, or something else meanwhile."""
    made = os.path.join(work, "made")
    path = os.path.join(made, "tools.json")
    listing(path, 2)
    m = home(work, "lists", [])
    entry = h.echo_server(os.path.join(work, "log-lists", "echo"),
                          "--definitions", path,
                          sandbox={"filesystem": {"allowRead": [made]}})
    m.put("mcp-servers.json", json.dumps({"echo": entry}), 0o600)
    reply = {"tools": [
        {"toolName": "echo", "comment": "x", "args": {"text": ["none"]}},
        {"toolName": "t0", "comment": "x", "args": {}}]}
    try:
        m.script([{"step": "annotate", "reply": reply, "delay": 3}])
        p = subprocess.Popen([h.program("icctl"), "policy", "annotate",
                              "--server", "echo"], env=m.env, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        sessions = os.path.join(m.home, "sessions")
        h.wait_for(lambda: os.path.isdir(sessions) and os.listdir(sessions),
                   "no question was asked")
        listing(path, 3)
        out, err = p.communicate(timeout=60 * h.PATIENCE)
        t.ok(p.returncode == 1 and "changed its tools meanwhile" in err and
             m.in_force() is None, "annotate: tools that change", out + err)
        for n in (0, 2001):
            listing(path, n)
            r = m.policy("annotate", "--server", "echo")
            t.ok(r.returncode == 1 and r.stderr.count("\n") == 1 and
                 m.in_force() is None, f"annotate: {n} tools", r.stderr)
    finally:
        m.end()


NEWS = {"name": "news", "type": "domains", "principle": "news",
        "generationPrompt": "News sites", "requiresMcp": False}


def news_script(*values):
    tests = {"scenarios": [c.scenario(
        "News", "http_fetch", {"url": "https://a.example/"}, "allow")]}
    return [{"step": k, "reply": v} for k, v in {
        "prefilter": c.prefilter("fetch"), "scenarios": tests,
        "rules": {"rules": [c.rule(
            "fetch-news", "allow", server="fetch",
            description="Reading @news is allowed.",
            domains={"roles": ["fetch-url"], "allowed": ["@news"]})],
            "listDefinitions": [NEWS]},
        "judge": c.verdicts(1), "values": {"values": list(values)}}.items()]


def test_refresh(work):
    m = home(work, "refresh", news_script("a.example.com", "b.example.com",
                                          "a.example"))
    try:
        m.script(news_script("a.example.com", "b.example.com", "x.a.example",
                             "a.example.org"))
        m.script([*news_script("a.example.com", "b.example.com")[:1],
                  {"step": "scenarios", "reply": {"scenarios": [c.scenario(
                      "News", "http_fetch", {"url": "https://a.example.com/"},
                      "allow")]}},
                  *news_script("a.example.com", "b.example.com")])
        d = m.digest(m.policy("compile"))
        r = m.policy("compile", "--accept", str(d))
        t.equal(r.returncode, 0, "refresh: a policy with a list")
        lists = m.json("dynamic-lists.json")
        lists["lists"]["news"].update(manualAdditions=["mine.example.com"],
                                      manualRemovals=["b.example.com"])
        m.put("policy/dynamic-lists.json", json.dumps(lists), 0o600)
        r = m.policy("refresh-lists", "--list", "nope")
        t.ok(r.returncode == 1 and "no such list (it has news)" in r.stderr,
             "refresh: a list that is not there names those that are", r.stderr)
        m.script(news_script("a.example.com"))
        r = m.policy("refresh-lists", "--yes")
        t.ok(r.returncode == 0 and "Nothing is newly allowed." in r.stdout,
             "refresh: what leaves needs no yes", r.stdout + r.stderr)
        m.script(news_script("a.example.com", "new.example.com",
                             "b.example.com"))
        m.put("sessions/one/session.json", '{"agent":"codex"}')
        m.put("sessions/one/audit.jsonl", json.dumps({
            "event": "call", "serverName": "fetch", "toolName": "http_fetch",
            "arguments": {"url": "https://new.example.com/"},
            "policyDecision": {"status": "deny", "rule": "default-deny"}})
            + "\n")
        r = m.run("refresh-lists", "--list", "news", "--yes")
        t.ok(r.returncode == 1 and "  + new.example.com" in r.stdout and
             "feeds what is allowed by fetch-news" in r.stdout and
             "of which 1 is new: a.example.com +new.example.com"
             in r.stdout, "refresh: what enters does", r.stdout + r.stderr)
        t.ok("one:1: fetch/http_fetch" in r.stdout and "1 recorded call of "
             "the newest 1 session: 1 would be decided differently"
             in r.stdout, "refresh: and a recorded call would be allowed",
             r.stdout + r.stderr)
        values = m.json("dynamic-lists.json")["lists"]["news"]["values"]
        t.equal(values, ["a.example.com"], "refresh: and is not in force")
        r = m.policy("refresh-lists", "--list", "news", "--accept",
                     str(m.digest(r)))
        got = m.json("dynamic-lists.json")["lists"]["news"]
        t.ok(r.returncode == 0 and "new.example.com" in got["values"] and
             got["manualAdditions"] == ["mine.example.com"] and
             got["manualRemovals"] == ["b.example.com"],
             "refresh: accepted, and manual changes stay",
             r.stdout + r.stderr)
        r = m.policy("refresh-lists", "--list", "nosuch")
        t.ok("defines no such list" in r.stderr, "refresh: no such list",
             r.stderr)
    finally:
        m.end()


def test_data(work):
    """A list from the owner's own data, by five calls at most."""
    m = home(work, "data", [{"step": "annotate", "reply": tools(
        echo={"text": ["none"]})}])
    data = os.path.join(work, "data")
    h.put(os.path.join(data, "hosts"), "a.example.com and b.example.com")
    entry = h.echo_server(os.path.join(work, "log-data", "echo"),
                          sandbox={"filesystem": {"allowRead": [data]}})
    m.put("mcp-servers.json", json.dumps({"echo": entry}), 0o600)
    call = {"tool": "echo__lookup$", "args": {"path": data + "/hosts"}}
    rows = [{"step": "scenarios", "reply": {"scenarios": [c.scenario(
        "Mine", "http_fetch", {"url": "https://a.example.com/"}, "allow")]}},
        *news_script()]
    rules = next(r for r in rows if r["step"] == "rules")
    rules["reply"]["listDefinitions"] = [{**NEWS, "requiresMcp": True,
                                          "mcpServerHint": "echo"}]
    try:
        t.equal(m.policy("annotate", "--server", "echo").returncode, 0,
                "data: the server is annotated")
        rows = [{"step": "prefilter", "reply": c.prefilter(
            "fetch", servers=[*c.PREFILTER, "echo"])}] + [
                r for r in rows if r["step"] != "prefilter"]
        m.script([*rows, {"step": "data-values", "calls": [call],
                          "reply": {"values": ["a.example.com",
                                               "b.example.com"]}}])
        r = m.policy("compile")
        t.ok("2 hosts for fetch-url" in r.stdout and
             "a.example.com b.example.com" in r.stdout,
             "data: the values come from the server", r.stdout + r.stderr)
        seen = [x for x in m.provider.seen() if "data-values" in x["body"]]
        t.ok("a.example.com and b.example.com" in seen[-1]["body"],
             "data: the model saw the result", seen[-1]["body"][-900:])
        asked = len(seen)
        r = m.policy("compile", "--accept", str(m.digest(r)))
        t.ok(r.returncode == 0 and asked == len(
            [x for x in m.provider.seen() if "data-values" in x["body"]]),
            "data: the values that were shown are in force", r.stderr)
        # A model that calls without end, and one that calls what it may not.
        log = os.path.join(work, "log-data", "echo")
        os.unlink(log)
        m.script([*rows, {"step": "data-values", "calls": [call] * 9,
                          "reply": {"values": []}}])
        r = m.policy("refresh-lists", "--with-mcp")
        calls = [x for x in h.read_lines(log) if "tools/call" in
                 x.get("text", "")]
        t.ok(len(calls) == 5 and r.returncode == 1,
             "data: five calls at most", (len(calls), r.stdout, r.stderr))
        os.unlink(log)
        m.script([*rows, {"step": "data-values", "calls": [
            {"tool": "echo__echo$", "args": {"text": "x"}}],
            "reply": {"values": ["c.example.com"]}}])
        r = m.policy("refresh-lists", "--with-mcp")
        calls = [x for x in h.read_lines(log) if "tools/call" in
                 x.get("text", "")]
        t.ok(not calls, "data: a tool that does more than read is denied",
             r.stdout + r.stderr)
        r = m.policy("refresh-lists", "--yes")
        t.ok("needs the user's own data" in r.stderr,
             "data: left alone without --with-mcp", r.stdout + r.stderr)
    finally:
        m.end()


def test_customize(work):
    m = home(work, "customize", [
        {"step": "customize", "match": "never delete", "reply": {
            "reply": "Deleting is out.",
            "constitution": "Read my ~/Documents.\nNever delete anything.\n"}},
        {"step": "customize", "match": "escape", "reply": {
            "reply": "ok", "constitution": "a\u001b[2Jb"}},
        {"step": "customize", "reply": {"reply": "Which directory?"}}])
    try:
        r = m.policy("customize", answers="tidy up\nnever delete\ny\n\n")
        with open(os.path.join(m.home, "constitution-user.md"),
                  encoding="utf-8") as f:
            text = f.read()
        t.ok("Which directory?" in r.stdout and
             "+ Never delete anything." in r.stdout and
             text.endswith("Never delete anything.\n") and
             m.in_force() is None and r.returncode == 0,
             "customize: shown, saved, and not compiled", r.stdout + r.stderr)
        r = m.run("customize-policy", answers="never delete, please\nn\n\n")
        r = m.policy("customize", answers="escape\n\n")
        t.ok(r.returncode == 1 and "/constitution: has control" in r.stderr,
             "customize: control characters are refused", r.stderr)
    finally:
        m.end()


def test_task(work):
    m = home(work, "task", [])
    rows = c.good()
    rules = next(r for r in rows if r["step"] == "rules")["reply"]
    m.script([*rows, {"step": "task-rules", "reply": rules}])
    m.put("mcp-servers.json", "{}", 0o600)
    workspace = os.path.join(work, "workspace")
    os.makedirs(workspace)
    start = ["start", "--policy-for-task", "sum up Bob's documents",
             "--workspace", workspace, "--", "/bin/true"]
    try:
        r = m.run(*start)
        t.ok(r.returncode == 1 and "Newly allowed:" in r.stdout and
             "--task 'sum up Bob'\\''s documents' --accept" in r.stdout,
             "task: what it allows is shown first", r.stdout + r.stderr)
        r = m.policy("compile", "--task", "sum up Bob's documents",
                     "--accept", str(m.digest(r)))
        t.equal(r.returncode, 0, "task: agreed")
        r = m.run(*start)
        t.equal(r.returncode, 0, "task: the session starts" + r.stderr)
        with open(os.path.join(m.newest_session(), "start.json"),
                  encoding="utf-8") as f:
            text = f.read()
        t.ok("/policies/task-" in text, "task: with its policy", text)
        t.ok(m.in_force() is None, "task: the usual policy is as it was")
        r = m.run("start", "--policy", "coding", *start[1:])
        t.ok("exclude each other" in r.stderr, "task: no other policy",
             r.stderr)
    finally:
        m.end()


def main():
    if not shutil.which("bwrap"):
        t.skip("annotate", "bubblewrap is not installed")
        t.done()
    for test in (test_annotate, test_fresh_names, test_lists_of_tools, test_refresh,
                 test_data, test_customize, test_task):
        with h.workdir() as work:
            test(work)
    t.done()


main()
