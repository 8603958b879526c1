#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests tool calls through the real processes: allowed, refused, held,
answered, cancelled; servers that die or send garbage; and the consistency of
all records."""
import json
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
import harness as h  # noqa: E402
import joins  # noqa: E402
from agent import RpcError  # noqa: E402

t = h.Tap()
RULES = [
    h.rule("ask-lookup", "escalate", "A person decides about files.",
           tool=["lookup"]),
    h.rule("echo-tools", "allow", "The echo server is harmless.",
           server=["echo", "other", "bad"],
           tool=["echo", "slow", "fail", "structured", "progress", "big"]),
]


def build(work, bad=(), options=(), config=None):
    logs = {n: os.path.join(work, "log-" + n, "log.jsonl")
            for n in ("echo", "other", "bad")}
    papers = os.path.join(work, "papers")
    os.makedirs(papers)
    with open(os.path.join(papers, "a.txt"), "w", encoding="utf-8") as f:
        f.write("paper\n")
    box = {"filesystem": {"allowRead": [papers]}}
    servers = {
        "echo": h.echo_server(logs["echo"], workspace=False, sandbox=box),
        "other": h.echo_server(logs["other"]),
        "bad": h.echo_server(logs["bad"], *bad),
    }
    session = h.Session(work, servers, RULES,
                        {n: h.ECHO_TOOLS for n in servers}, config=config,
                        options=options)
    session.logs, session.paper = logs, os.path.join(papers, "a.txt")
    return session


def server_lines(s):
    return {n: h.read_lines(p) for n, p in s.logs.items()}


def test_calls(s):
    m = s.mcp()
    m.initialize()
    names = [tool["name"] for tool in m.list_tools()]
    t.ok("echo__echo" in names and "other__lookup" in names,
         "tools are listed as server__tool", names)
    r = m.call("echo__echo", {"text": "häй \u2028 \"x\" \\ 1"})
    t.ok(not r.get("isError") and "häй" in h.text_of(r),
         "an allowed call is answered", r)
    r = m.call("echo__structured", {})
    t.equal(r.get("structuredContent"), {}, "structured content comes back")
    r = m.call("echo__fail", {"text": "no"})
    t.ok(r.get("isError"), "a tool's own error is passed on", r)
    r = m.call("echo__env", {})
    t.ok(r.get("isError") and h.text_of(r).startswith("DENIED: "),
         "no rule: denied", r)
    t.contains(h.text_of(r), "No matching policy rule", "default deny says so")
    r = m.call("echo__nothing", {})
    t.ok(r.get("isError") and "Unknown tool: echo__nothing" in h.text_of(r),
         "an unknown tool is named", r)
    r = m.call("nobody__x", {})
    t.ok(r.get("isError") and "Unknown tool: nobody__x" in h.text_of(r),
         "an unknown server's tool is named", r)
    for method in ("resources/list", "prompts/list", "server/recover"):
        try:
            m.request(method)
            t.ok(False, f"{method} is not offered")
        except RpcError as e:
            t.equal(e.code, -32601, f"{method} is not offered")
    second = s.mcp()
    second.initialize()
    a = m.start_call("echo__slow", {"ms": 300}, ident=7)
    b = second.start_call("other__echo", {"text": "from b"}, ident=7)
    t.contains(h.text_of(b.wait()), "from b",
               "another connection's same id is its own")
    t.ok(not a.done.is_set(), "a slow call does not hold others up")
    a.wait()
    text = h.text_of(m.call("echo__big", {"bytes": 300000}))
    t.ok(len(text) >= 300000, "300 KB come through", len(text))
    progress = []
    m.call("echo__progress", {"steps": 3, "ms": 1},
           progress=progress.append)
    t.ok(len(progress) >= 1, "progress is passed on", progress)
    burst = [m.start_call("echo__echo", {"text": f"n{i}"})
             for i in range(3000)]
    wrong = [i for i, c in enumerate(burst) if f"n{i}" not in
             h.text_of(c.wait(60))]
    t.equal(wrong, [], "3,000 calls at once are all answered, each its own")
    second.close()
    m.close()


def test_holds(s):
    m = s.mcp()
    m.initialize()
    progress = []
    call = m.start_call("echo__lookup", {"path": s.paper},
                        progress=progress.append)
    hold = s.held()
    t.equal((hold["server"], hold["tool"]), ("echo", "lookup"),
            "a held call is pending")
    t.equal(json.loads(hold["arguments"]), {"path": s.paper},
            "with its arguments")
    shown = s.icctl("show", hold["id"]).stdout
    t.contains(shown, f'path = "{s.paper}"', "icctl show: one argument a line")
    t.contains(shown, "A person decides about files.", "and the reason")
    t.ok(not call.done.is_set(), "the agent waits")
    r = s.icctl("approve", hold["id"][:3])
    t.ok(r.returncode == 1 and hold["id"] in r.stderr and
         not call.done.is_set(),
         "icctl approve refuses a part of the id and names the whole", r)
    r = s.icctl("approve", hold["id"])
    t.equal(r.returncode, 0, "icctl approve takes the whole id")
    t.contains(h.text_of(call.wait()), "paper", "approved: the answer arrives")
    r = s.icctl("approve", hold["id"])
    t.ok(r.returncode == 1 and r.stderr != "",
         "an approval is used once", r.stderr)

    call = m.start_call("echo__lookup", {"path": s.paper})
    hold = s.held()
    r = s.icctl("deny", hold["id"], "--because", "not\x1b[31m today")
    t.equal(r.returncode, 0, "icctl deny")
    text = h.text_of(call.wait())
    t.ok(text.startswith("ESCALATION DENIED: ") and "today" in text,
         "denied, with the reason", text)

    call = m.start_call("echo__lookup", {"path": s.paper})
    hold = s.held()
    m.cancel(call)
    h.wait_for(lambda: not s.pending(), "the cancelled call stays pending")
    t.ok(True, "a cancelled call is not pending any more")
    r = s.icctl("approve", hold["id"])
    t.ok(r.returncode == 1, "and cannot be approved", r.stdout + r.stderr)

    evil = "\x1b[2K\u202e/\u200b"
    call = m.start_call("echo__lookup", {"path": s.paper, "x": evil})
    text = h.text_of(call.wait())
    t.contains(text, 'Unknown argument(s): "x"',
               "an argument that the tool has not is refused")
    m.close()
    log = s.audit()
    ends = [c["escalationResult"] for c in log if "escalationResult" in c]
    t.equal(ends, ["approved", "denied", "cancelled"], "the log has the ends")


def test_join(s):
    t.equal(joins.check_chain(os.path.join(s.dir, "audit.jsonl")), None,
            "the chain holds")
    t.equal(joins.check_calls(s.audit(), server_lines(s)), [],
            "what servers saw is what the log says")
    r = s.icctl("audit", "verify")
    t.equal(r.returncode, 0, "icctl audit verify agrees: " + r.stdout.strip())


def test_bad_server(kind, *options, tool="echo", args=None):
    """One server misbehaves; its calls fail with a clear message, the others
    continue."""
    name = " ".join(options)
    with h.workdir() as work, t.case(name), build(work, options) as s:
        m = s.client()
        call = m.start_call("bad__" + tool, args or {"text": "x"})
        began = time.monotonic()
        r = m.call("other__echo", {"text": "still here"})
        t.contains(h.text_of(r), "still here", f"{name}: the other answers")
        t.ok(time.monotonic() - began < 5, f"{name}: and soon")
        if kind == "dead":
            r = call.wait(15)
            t.ok(r.get("isError"), f"{name}: its call fails", r)
            t.contains(h.text_of(r), "bad", f"{name}: the error names it")
        r = m.call("other__echo", {"text": "again"})
        t.contains(h.text_of(r), "again", f"{name}: the session goes on")
        m.close()


def test_disk_full():
    """Nothing is forwarded that was not logged: a log at its limit."""
    with h.workdir() as work, t.case("full disk"):
        s = build(work)
        import resource
        s.start()
        pid = s.workers()["auditd"][0]
        m = s.client()
        size = os.path.getsize(os.path.join(s.dir, "audit.jsonl"))
        try:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (size + 700,) * 2)
        except PermissionError:
            t.skip("full disk", "may not change auditd's limits here")
            s.stop()
            return
        before = len(h.read_lines(s.logs["echo"]))
        refused = None
        for i in range(4):
            r = m.call("echo__echo", {"text": f"{i}" * 300})
            if r.get("isError"):
                refused = h.text_of(r)
                break
        t.ok(refused and "audit log cannot be written" in refused,
             "a log that is full refuses", refused)
        m.call("echo__echo", {"text": "more"})
        t.ok(len(h.read_lines(s.logs["echo"])) - before <= 3,
             "and forwards nothing")
        m.close()
        s.stop()


def test_many_tools():
    """118 tools on 7 pages: sorting them must not need a new system call."""
    aliases = [x for i in range(110) for x in ("--alias", f"t{i}=echo")]
    tools = {**h.ECHO_TOOLS,
             **{f"t{i}": {"text": ["none"]} for i in range(110)}}
    with h.workdir() as work, t.case("many tools"):
        log = os.path.join(work, "log-many", "log.jsonl")
        with h.Session(work, {"many": h.echo_server(
                log, "--pages", "7", *aliases)},
                [h.rule("all", "allow", server=["many"])],
                {"many": tools}) as s:
            m = s.mcp()
            m.initialize()
            t.equal(len(m.list_tools()), 118, "118 tools are listed")
            t.contains(h.text_of(m.call("many__t109", {"text": "hi"})), "hi",
                       "and the last one answers")
            m.close()


def test_deny_mode():
    with h.workdir() as work, t.case("headless"), \
            build(work, options=["--escalations", "deny"]) as s:
        m = s.client()
        r = m.call("echo__lookup", {"path": s.paper})
        t.ok(h.text_of(r).startswith("ESCALATION REQUIRED: "),
             "--escalations deny refuses as such", r)
        m.close()


def main():
    with h.workdir() as work, t.case("ring"), build(work) as s:
        for part in (test_calls, test_holds, test_join):
            with t.case(part.__name__):
                part(s)
    for options in (("--die-on", "echo"), ("--endless-line", "call"),
                    ("--exit-at-start",)):
        test_bad_server("dead", *options)
    # The call waits for the server's tools for as long as for its answer.
    for options in (("--garbage", "init"), ("--garbage", "call"),
                    ("--silent", "call"), ("--silent", "all"),
                    ("--babble", "20000"), ("--bad-id", "other"),
                    ("--request", "sampling"), ("--request", "roots")):
        test_bad_server("odd", *options)
    test_disk_full()
    test_deny_mode()
    test_many_tools()
    t.done()


if __name__ == "__main__":
    main()
