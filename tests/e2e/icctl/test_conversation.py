#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A conversation with a stand-in for an agent, which keeps what it was told in
its home: turns, their events, interrupts, an agent that dies, processes that
it leaves behind, and messages that are refused."""
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
from terminal import Terminal  # noqa: E402

t = h.Tap()
# Says what it was told before; `m` is the message.
AGENT = r"""#!/bin/sh
m=$(cat)
printf 'before: %s\n' "$(cat ~/told 2>/dev/null | tr '\n' ' ')"
printf '%s\n' "$m" >>~/told
case $m in
die) kill -9 $$ ;;
silent) exec >/dev/null ;;
leave) sleep 1000 & echo "left $!" ;;
look) ls /proc | grep -c '^[0-9]' ;;
wait) echo waiting; sleep 1000 ;;
deaf) trap '' INT TERM; echo waiting; while :; do sleep 1000; done ;;
colour) printf '\033[31mred\033[0m \033]0;title\007end\r\nnext\n' ;;
many) for i in 1 2 3 4 5 6 7 8; do head -c 4000000 /dev/zero | tr '\0' x; done ;;
esac
echo "told: $m" >&2
"""
JSON_AGENT = r"""#!/usr/bin/python3
import json, sys
m = sys.stdin.read()
def out(o):
    print(json.dumps(o), flush=True)
out({"type": "say", "content": [{"type": "text", "text": "said " + m},
                                {"type": "think", "text": "hm"}]})
print('{"type": "say", "type": "twice"}')
print("no JSON \x1b[31m")
print("[" * 100000)
out({"type": "say", "content": {"type": "text", "text": "a\x1b[2J\u202eb"}})
out({"type": "other", "content": [{"type": "text", "text": "unseen"}]})
print('{"type": "say", "content": "' + "x" * 1200000 + '"}')
print("a warning", file=sys.stderr)
"""
# Calls the tools that the message names, and says what it uses.
CALL_AGENT = r"""#!/usr/bin/python3
import json, subprocess, sys
bridge = subprocess.Popen(
    ["/opt/ironcurtain/bin/ic-bridge", "stdio", "/run/ironcurtain/proxy.sock"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def ask(n, method, params):
    print(json.dumps({"jsonrpc": "2.0", "id": n, "method": method,
                      "params": params}), file=bridge.stdin, flush=True)
    while True:
        answer = json.loads(bridge.stdout.readline())
        if answer.get("id") == n:
            return answer["result"]
def out(**o):
    print(json.dumps(o), flush=True)
ask(0, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                      "clientInfo": {"name": "test", "version": "1"}})
ask(1, "tools/list", {})
out(type="use", tool="shell")
for n, tool in enumerate(sys.stdin.read().split(), 2):
    out(type="use", tool="mcp__ironcurtain__" + tool)
    out(type="say", text=ask(n, "tools/call", {
        "name": tool,
        "arguments": {"text": "hello"}})["content"][0]["text"])
"""
# Fails as the message says, in words that the adapter's rules know.
TROUBLED_AGENT = r"""#!/usr/bin/python3
import json, sys, time
m = sys.stdin.read()
say = {"quota": "Limit reached, back at %d" % (time.time() + 3600),
       "spent": "Limit reached",
       "busy": "Overloaded", "key": "401 Unauthorized",
       "end": "context is full"}.get(m, "the word Overloaded means nothing")
print(json.dumps({"type": "say", "text": say}))
sys.exit(m != "fine")
"""
TROUBLED = {
    "name": "troubled", "program": ["troubled"], "providers": [],
    "turn": [], "output": {"format": "json-lines", "events": [
        {"when": "type=say", "text": "text", "event": "agent_text"}]},
    "errors": [
        {"kind": "quota", "contains": ["limit reached"],
         "reset": ["back at "]},
        {"kind": "transient", "contains": ["overloaded"]},
        {"kind": "authentication", "contains": ["401"]},
        {"kind": "hard", "contains": ["context is full"]}]}
CALLER = {
    "name": "caller", "program": ["caller"], "providers": [],
    "turn": [], "output": {"format": "json-lines", "events": [
        {"when": "type=say", "text": "text", "event": "agent_text"},
        {"when": "type=use", "text": "tool", "event": "tool_call"}]}}
ADAPTER = {
    "name": "parrot", "program": ["parrot"], "providers": [],
    "turn": ["--new", "{conversation}"],
    "resume": ["--again", "{conversation}"],
    "output": {"format": "json-lines", "events": [
        {"when": "type=say", "each": "content", "part": "type=text",
         "text": "text", "event": "agent_text", "whole": True},
        {"when": "type=say", "each": "content", "part": "type=think",
         "text": "text", "event": "thinking"}]}}


class Talk:
    """A session that icctl start --detach has started."""

    def __init__(self, work, *start, session=None):
        self.s = session or h.Session(work)
        r = self.icctl("start", "--detach", "--json", "--workspace",
                       self.s.workspace, *start)
        self.started = r
        if r.returncode == 0:
            self.told = json.loads(r.stdout)
            self.s.dir = self.told["dir"]

    def __enter__(self):
        return self

    def __exit__(self, kind=None, *_):
        if self.started.returncode == 0:
            self.icctl("stop")
            h.wait_for(lambda: not os.path.exists(
                f"/proc/{self.told['pid']}/ns"), "the session does not end")
            if kind is None:
                self.check_kept()

    def check_kept(self):
        """Each event of the conversation is as the schema says."""
        if not os.path.exists(os.path.join(self.s.dir, "events.jsonl")):
            return
        schema = events_schema(h.PREFIX)
        bad = [(why, e) for e in self.kept() if (why := fits(schema, e))]
        if bad:
            raise RuntimeError(f"events that do not fit: {bad[:3]}"[:2000])

    def popen(self, *args, **kw):
        return subprocess.Popen([h.program("icctl"), *args], env=self.s.env,
                                stdout=subprocess.PIPE, text=True, **kw)

    def icctl(self, *args, **kw):
        kw.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run([h.program("icctl"), *args], env=self.s.env,
                              capture_output=True, text=True, check=False,
                              timeout=60 * h.PATIENCE, **kw)

    def send(self, message):
        r = self.icctl("send", "--json", "--", message)
        return r.returncode, [json.loads(x) for x in r.stdout.splitlines()]

    def kept(self):
        return h.read_lines(os.path.join(self.s.dir, "events.jsonl"))


def texts(events, name="agent_text"):
    return "".join(e["text"] for e in events if e["event"] == name)


def shell(work):
    """Returns the command of the stand-in in the workspace."""
    path = os.path.join(work, "workspace", "agent.sh")
    h.put(path, AGENT, 0o755)
    os.chmod(os.path.dirname(path), 0o700)
    return ["--", "/workspace/agent.sh"]


def ends_properly(events):
    names = [e["event"] for e in events]
    return ([names.count(n) for n in ("turn_start", "usage", "result",
                                      "turn_end")] == [1, 1, 1, 1]
            and names[0] == "turn_start" and names[-1] == "turn_end")


def test_turns(work):
    with Talk(work, *shell(work)) as k:
        t.ok(k.started.returncode == 0 and k.told["session"],
             "it starts in the background", k.started.stderr)
        row = json.loads(k.icctl("ls", "--json").stdout)[0]
        t.equal((row["id"], row["state"], row["pid"]),
                (k.told["session"], "ready", k.told["pid"]),
                "ls shows it, and it is ready")
        status, first = k.send("one")
        t.ok(status == 0 and ends_properly(first), "a turn", first)
        t.ok("told: one" in texts(first), "all its output is text", first)
        status, second = k.send("two")
        t.ok(status == 0 and "before: one" in texts(second),
             "the second remembers the first", second)
        r = k.icctl("send", "colour")
        t.ok("red end\nnext\n" in r.stdout and "\033" not in r.stdout,
             "no sequence of a terminal comes through", r.stdout)
        r = k.icctl("history")
        t.ok([x.split()[0] for x in r.stdout.splitlines()] ==
             ["1", "2", "3"] and "completed" in r.stdout, "history", r.stdout)
        _, left = k.send("leave")
        t.equal(left[-1]["leftovers"], 1, "what a turn leaves is ended")
        _, look = k.send("look")
        t.ok(int(texts(look).split("\n")[1]) <= 6, "and gone", texts(look))
        _, many = k.send("many")
        t.ok(ends_properly(many) and len(texts(many)) <= 16 << 20
             and "16 MiB" in texts(many, "error"),
             "the output of a turn is limited", len(texts(many)))
        t.ok(any("16 MiB" in e.get("why", "") for e in many
                 if e.get("event") == "result"),
             "and its result says why it failed", many[-3:])
        events = [e for e in h.read_lines(os.path.join(
            k.s.dir, "audit.jsonl")) if e.get("event") == "turn"]
        t.equal([e["detail"]["turn"] for e in events], [1, 2, 3, 4, 5, 6],
                "each turn is in the log")


def test_trouble(work):
    with Talk(work, *shell(work)) as k:
        status, died = k.send("die")
        t.ok(status == 1 and ends_properly(died)
             and died[-1]["status"] == "failed" and
             "status 137" in texts(died, "error"),
             "an agent that dies", died)
        p = k.popen("send", "--json", "wait")
        while "waiting" not in p.stdout.readline():
            pass
        r = k.icctl("send", "another")
        t.ok(r.returncode == 75 and "a turn is running" in r.stderr,
             "one turn at a time", r.stderr)
        p.send_signal(signal.SIGINT)
        events = [json.loads(x) for x in p.stdout]
        t.ok(p.wait() == 1 and events[-1]["status"] == "interrupted",
             "Ctrl-C interrupts the turn", events)
        p.stdout.close()
        p = k.popen("send", "--json", "deaf")
        while "waiting" not in p.stdout.readline():
            pass
        for _ in range(2):
            k.icctl("interrupt")
        events = [json.loads(x) for x in p.stdout]
        t.ok(p.wait() == 1 and events[-1]["status"] == "interrupted",
             "an agent that ignores it is killed", events)
        p.stdout.close()
        status, after = k.send("after")
        t.ok(status == 0 and "die wait deaf" in texts(after),
             "the conversation goes on", after)
        for name, text, why in (("nothing", "", "the message is empty"),
                                ("blanks", " \n\t ", "the message is empty"),
                                ("NUL", "a\0b", "contains a NUL byte"),
                                ("64 MiB", "x" * (64 << 20), "at most 1 MiB")):
            path = h.put(os.path.join(work, "message"), text)
            r = k.icctl("send", "--file", path)
            t.ok(r.returncode == 1 and why in r.stderr, f"refused: {name}",
                 (r.returncode, r.stderr))
        link = os.path.join(work, "a link")
        os.symlink(path, link)
        for option in ("--file", "--schema"):
            r = k.icctl("send", option, link,
                        *(["hello"] if option == "--schema" else []))
            t.ok(r.returncode == 1 and "none is followed" in r.stderr,
                 f"{option} follows no link", (r.returncode, r.stderr))
        inside = h.put(os.path.join(k.s.workspace, "named"), "{}")
        open_ = h.put(os.path.join(work, "open"), "{}", 0o666)
        os.chmod(open_, 0o666)
        for option in ("--file", "--schema"):
            for name, why in ((inside, "can write there"),
                              (open_, "nobody else may write"),
                              (work, "is no plain file")):
                r = k.icctl("send", option, name,
                            *(["hello"] if option == "--schema" else []))
                t.ok(r.returncode == 1 and why in r.stderr,
                     f"{option} {name}: {why}", (r.returncode, r.stderr))
        path = h.put(os.path.join(work, "message"), "y" * (1 << 20))
        r = k.icctl("send", "--file", path)
        t.equal(r.returncode, 0, "1 MiB is not too much")
        p = k.popen("send", "--json", "wait")
        while "waiting" not in p.stdout.readline():
            pass
        k.icctl("stop")
        events = [json.loads(x) for x in p.stdout]
        t.ok(p.wait() == 1 and events[-1]["event"] == "turn_end"
             and "the session ended" in texts(events, "error"),
             "a turn ends with its session", events)
        p.stdout.close()
        h.wait_for(lambda: k.kept()[-1]["event"] == "end", "no end")
        ends = [e["turn"] for e in k.kept() if e["event"] == "turn_end"]
        t.equal(ends, list(range(1, len(ends) + 1)), "every turn has an end")
    r = k.icctl("send", "--session", k.told["session"], "more")
    t.ok(r.returncode == 3, "no message after the end", r.stderr)


def adapted(work, adapter, program, **session):
    """A conversation with an agent that has an adapter of the user's."""
    name = adapter["name"]
    path = h.put(os.path.join(work, "bin", name), program, 0o755)
    s = h.Session(work, **session)
    s.write(f"agents/{name}.json", adapter)
    s.write("config.json", {**s.config, "agent": {name: {"path": path}}})
    return Talk(work, "--agent", name, session=s)


def test_parser(work):
    with adapted(work, ADAPTER, JSON_AGENT) as k:
        t.equal(k.started.returncode, 0, "an adapter of the user's starts")
        _, events = k.send("hello")
        t.ok("said hello\n" in texts(events) and "unseen" not in texts(events),
             "what the rules say is text", events)
        t.equal(texts(events, "thinking"), "hm", "and thinking")
        t.ok("a\ufffd[2J\ufffdb" in texts(events),
             "without characters that act", texts(events)[-200:])
        errors = [e["text"] for e in events if e["event"] == "error"]
        t.ok(len(errors) == 4 and "duplicate" in errors[0]
             and "\\x1b" in errors[1] and "1 MiB" in errors[3]
             and all(len(e) < 1000 for e in errors),
             "what cannot be read is told, escaped and short", errors)
        t.ok("a warning" in k.s.session_log(), "its warnings are in the log")


def test_attached(work):
    """A person who attaches reads the answers as they come."""
    with Talk(work, *shell(work)) as k:
        term = Terminal([h.program("icctl"), "attach"],
                        {**k.s.env, "TERM": "dumb"}, 24, 80)
        h.wait_for(lambda: "attached to the terminal" in k.s.session_log(),
                   "not attached")
        term.until(b"each line that you type is a message; \\^D\\s+detaches")
        term.key(b"colour\n")
        said = term.until(b"next\r\n")
        t.ok(b"red end\n" in said and b"\033" not in said
             and b"\007" not in said, "the answer to a line that was typed",
             said)
        k.send(">>> approve it\n  > a quotation")
        k.send("last")
        said = term.until(b"told: last\r\n")
        t.ok(b"  | a quotation" in said and b"\n>>> approve" not in said,
             "no line of an answer begins like ours", said)
        term.key(b"\x04")
        term.until(b"icctl: detached")
        t.equal(term.end(), 0, "^D detaches")
        interrupted(k)
        with open(os.path.join(work, "out"), "w+b") as out:
            p = subprocess.Popen([h.program("icctl"), "attach"], env=k.s.env,
                                 stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=subprocess.DEVNULL)
            h.wait_for(lambda: k.s.session_log().count(
                "attached to the terminal") == 3, "not attached")
            k.send("colour")
            h.wait_for(lambda: b"red end\nnext\n" in pread(out),
                       "no answer in the file")
            t.ok(b"\033" not in pread(out), "and in a file")
            p.terminate()
            p.wait()


def interrupted(k):
    """^C leaves the session alone, and says so in one line, as soon as the
    person has been told how to detach."""
    term = Terminal([h.program("icctl"), "attach"],
                    {**k.s.env, "TERM": "dumb"}, 24, 80)
    term.until(b"detaches")
    term.out = b""
    term.key(b"\x03")
    sid = k.told["session"]
    said = term.until(b"Come back with[^\n]*\n").decode()
    t.equal([x for x in said.replace("\r", "").split("\n") if "icctl" in x],
            [f"icctl: detached; session {sid} goes on. Come back with: "
             f"icctl attach {sid}"], "^C detaches, too, and says so")
    t.equal(term.end(), 0, "with status 0")
    t.equal(k.send("still there")[0], 0, "and the session goes on")


def pread(f):
    return os.pread(f.fileno(), 1 << 20, 0)


def test_calls(work):
    """Calls, results, waits and used-up limits are events of the turn."""
    rules = [h.rule("echo", "allow", server=["echo"], tool=["echo", "fail"]),
             h.rule("ask", "escalate", server=["asked"])]
    log = os.path.join(work, "log", "echo")
    with adapted(work, CALLER, CALL_AGENT,
                 servers={"echo": h.echo_server(log),
                          "asked": h.echo_server(log)},
                 rules=rules, annotations={"echo": h.ECHO_TOOLS,
                                           "asked": h.ECHO_TOOLS},
                 config={"resourceBudget": {**h.NO_BUDGET, "maxSteps": 6}}) as k:
        if k.started.returncode != 0:
            raise RuntimeError(k.started.stderr)
        _, events = k.send("echo__echo echo__fail echo__lookup")
        # Two paths: the agent's own tools are told as its output is read.
        calls = sorted((e for e in events if e["event"] == "tool_call"),
                       key=lambda e: e.get("call", 0))
        t.equal([(e["server"], e["tool"], e["decision"]) for e in calls],
                [("", "shell", "own"), ("echo", "echo", "allow"),
                 ("echo", "fail", "allow"), ("echo", "lookup", "deny")],
                "every call is told once, with its decision")
        t.ok(calls[1]["preview"] == '{"text":"hello"}' and
             "reason" not in calls[1] and calls[3]["reason"],
             "with its arguments, and the reason of a denial", calls)
        t.ok(all(e["turn"] == 1 for e in calls), "they are of this turn", calls)
        h.wait_for(lambda: sum(e["event"] == "tool_result"
                               for e in k.kept()) == 2, "no results")
        results = [e for e in k.kept() if e["event"] == "tool_result"]
        t.equal([(e["call"], e["status"]) for e in results],
                [(calls[1]["call"], "success"), (calls[2]["call"], "error")],
                "and so is the end of each that went to its server")
        p = k.popen("send", "--json", "asked__echo")
        k.s.icctl("approve", str(k.s.held()["id"]), check=True)
        events = [json.loads(x) for x in p.communicate()[0].splitlines()]
        names = [e["event"] for e in events]
        call = [e for e in events
                if e["event"] == "tool_call" and e["server"] != ""][0]
        t.ok(names.index("escalation") < names.index("escalation_end")
             < events.index(call) and call["decision"] == "approved",
             "a call that waited is told once it is decided", events)
        _, events = k.send("echo__echo echo__echo echo__echo")
        names = [e["event"] for e in k.kept()]
        t.ok("budget_warning" in names and "budget_exhausted" in names,
             "limits are told", names)




def test_provider(work):
    """Troubles of the provider: what they are, and what helps."""
    with adapted(work, TROUBLED, TROUBLED_AGENT) as k:
        def told(message):
            status, events = k.send(message)
            errors = [e for e in events if e["event"] == "error"
                      and "kind" in e]
            result = [e for e in events if e["event"] == "result"][0]
            return status, result.get("trouble"), [e["kind"] for e in errors]

        def state():
            return json.loads(k.icctl("ls", "--json").stdout)[0]["state"]

        t.equal(told("quota"), (75, "quota", ["quota"]),
                "a quota that is used up")
        until = [e["until"] for e in k.kept() if "until" in e
                 and e["event"] == "error"]
        t.ok(len(until) == 1 and until[0].endswith("Z"),
             "with the time at which it returns", until)
        t.equal(state(), "quota", "the session waits for it")
        t.equal(told("fine"), (0, None, []), "an answer that only names it")
        t.equal(state(), "ready", "is no trouble, and ends one")
        t.equal(told("spent"), (75, "quota", ["quota"]), "without a time")
        t.equal(told("busy"), (75, "transient", ["transient"]), "overload")
        t.equal(state(), "ready", "which a next try may not meet")
        t.equal(told("key"), (1, "authentication", ["authentication"]),
                "a refused credential")
        t.ok("icctl login" in texts(k.kept(), "error"), "what helps is said")
        t.equal(told("end"), (1, "hard", ["hard"]), "an agent that is stuck")


def test_no_conversation(work):
    s = h.Session(work, options=["--quiet"])
    with s:
        r = s.icctl("send", "hello")
        t.ok(r.returncode == 1 and "icctl start --detach" in r.stderr,
             "a session without an agent takes no message", r.stderr)


def main():
    if not shutil.which("bwrap"):
        t.skip("conversations", "bubblewrap is not installed")
        t.done()
    for test in (test_turns, test_trouble, test_parser, test_attached,
                 test_calls,
                 test_provider, test_no_conversation):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
