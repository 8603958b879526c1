#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""icctl driver: an orchestrator's requests, each in a session of its own; their
messages, usage and results; every way in which one fails; and nothing that is
left when one ends."""
import asyncio
import contextlib
import glob
import json
import os
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from container_driver import (ContainerDriver, Failed,  # noqa: E402
                              Orchestrator)

t = h.Tap()
# Does what the lines of the message say.
AGENT = r"""#!/usr/bin/python3
import json, os, subprocess, sys, time, urllib.request
m = sys.stdin.read()
def out(**o):
    print(json.dumps(o), flush=True)
def ask():
    urllib.request.urlopen(urllib.request.Request(
        "https://api.anthropic.com/v1/messages",
        b'{"model": "test", "max_tokens": 1, "messages": []}',
        {"x-api-key": os.environ["ANTHROPIC_API_KEY"],
         "content-type": "application/json"})).read()
def call(name):
    bridge = subprocess.Popen(
        ["/opt/ironcurtain/bin/ic-bridge", "stdio",
         "/run/ironcurtain/proxy.sock"], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True)
    for n, method, params in (
            (0, "initialize", {"protocolVersion": "2025-06-18",
             "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
            (1, "tools/list", {}),
            (2, "tools/call", {"name": name, "arguments": {"text": "hi"}})):
        print(json.dumps({"jsonrpc": "2.0", "id": n, "method": method,
                          "params": params}), file=bridge.stdin, flush=True)
        while True:
            answer = json.loads(bridge.stdout.readline())
            if answer.get("id") == n:
                break
    bridge.stdin.close()
    return str(answer.get("result", answer.get("error")))
for line in m.splitlines():
    word, _, rest = line.partition(" ")
    if word == "ask": ask()
    if word == "say": out(type="say", text=rest)
    if word == "think": out(type="think", text=rest)
    if word == "whole": out(type="say", text=m)
    if word == "where": out(type="say", text=os.getcwd() + " " + " ".join(
        sorted(os.listdir("."))))
    if word == "told": out(type="say", text=" ".join(sys.argv[1:]))
    if word == "write": open(rest, "a").write("x")
    if word == "tool": out(type="say", text=call(rest))
    if word == "later": open(os.path.expanduser("~/later"), "w").write(rest)
    if word == "keep": open(os.path.expanduser("~/kept"), "a").write(rest)
    if word == "kept": out(type="say", text=open(os.path.expanduser(
        "~/kept")).read() if os.path.exists(os.path.expanduser("~/kept"))
        else "nothing")
    if line.startswith("Your answer does not fit"):
        out(type="say", text=open(os.path.expanduser("~/later")).read())
    if word == "noise": print("no JSON " + "x" * 300, flush=True)
    if word == "wait": out(type="say", text="waiting"); time.sleep(1000)
    if word == "bad": out(type="bad", text=rest)
    if word == "exit": sys.exit(int(rest))
"""
ADAPTER = {
    "name": "amy", "program": ["amy"], "providers": ["anthropic"],
    "turn": ["new"], "resume": ["again"], "model": ["{model}"],
    "output": {"format": "json-lines", "events": [
        {"when": "type=say", "text": "text", "event": "agent_text"},
        {"when": "type=think", "text": "text", "event": "thinking"},
        {"when": "type=bad", "text": "text", "event": "error"}]},
    "errors": [{"kind": "quota", "contains": ["limit reached"]},
               {"kind": "transient", "contains": ["unreachable"]},
               {"kind": "authentication", "contains": ["not logged in"]}]}


class Point:
    """The schema that Pydantic makes of a class with an integer and a pattern, where
    Pydantic itself is not installed."""

    def __init__(self, n, name):
        self.n, self.name = n, name

    @staticmethod
    def model_json_schema():
        return {"title": "Point", "type": "object", "required": ["n", "name"],
                "properties": {
                    "n": {"title": "N", "type": "integer"},
                    "name": {"type": "string", "pattern": "^[a-z]+$"},
                    "at": {"type": "string", "format": "date-time",
                           "default": "2026-01-01T00:00:00Z"}}}

    @classmethod
    def model_validate_json(cls, text):
        o = json.loads(text)
        return cls(o["n"], o["name"])


class Place:
    """A home, a workspace, and agent and servers for the driver."""

    def __init__(self, work, provider=None, config=None):
        self.s = h.Session(work, provider=provider, config=config, servers={
            "echo": h.echo_server(os.path.join(work, "log", "echo"))},
            rules=[h.rule("echo", "allow", server=["echo"])],
            annotations={"echo": h.ECHO_TOOLS})
        # Neither kind of tool may come back by itself.
        self.s.config["policy"] = {"trustedServers": ["echo"]}
        path = h.put(os.path.join(work, "bin", "amy"), AGENT, 0o755)
        self.s.write("agents/amy.json", ADAPTER)
        self.s.write("config.json", {**self.s.config,
                                     "agent": {"amy": {"path": path}}})
        os.chmod(self.s.workspace, 0o700)

    def argv(self, *more):
        return [h.program("icctl"), "driver", "--agent", "amy",
                "--workspace", self.s.workspace, *more]

    def orchestrator(self, *more):
        return Orchestrator(self.argv("--messages", "amelia", *more),
                            self.s.env, self.s.work)

    def run(self, text, *more):
        """Returns status, events and messages of a driver with this input."""
        r = subprocess.run(self.argv(*more), env=self.s.env, input=text,
                           capture_output=True, text=True, check=False,
                           timeout=60 * h.PATIENCE)
        return (r.returncode, [json.loads(x) for x in r.stdout.splitlines()],
                r.stderr)

    def once(self, request, *more):
        return self.run(json.dumps({"id": 1, **request}) + "\n", "--once",
                        *more)

    def left(self):
        """Returns what requests have left: processes, policies, links."""
        found = [os.path.basename(x) for x in
                 glob.glob(self.s.home + "/run/*") +
                 glob.glob(self.s.home + "/driver/*")]
        for path in glob.glob("/proc/[0-9]*/environ"):
            try:
                with open(path, "rb") as f:
                    if self.s.home.encode() in f.read():
                        found.append(path)
            except OSError:
                pass
        return found


async def agentic(o):
    d = ContainerDriver(o)
    got = [m async for m in d.execute_agentic(
        "think hm\nask\ntool echo__echo\nsay done", instructions="say first")]
    t.equal(d.order[-2:], ["usage", "result"],
            "exactly one usage, and then exactly one result")
    t.equal((d.order.count("usage"), d.order.count("result")), (1, 1),
            "of each")
    said = [m["content"] for m in got if m["type"] == "thinking"]
    t.ok(said[0] == "first" and "hm" in said and said[-1] == "done",
         "texts are thoughts, and instructions come first", said)
    calls = [m for m in got if m["type"].startswith("tool_")]
    t.ok([m["type"] for m in calls] == ["tool_call", "tool_result"] and
         calls[0]["tool_name"] == calls[1]["tool_name"] == "echo__echo" and
         calls[0]["tool_input"] == {"text": "hi"} and
         calls[0]["tool_call_id"] == calls[1]["tool_call_id"] and
         calls[1]["is_error"] is False, "a call, and its result", calls)
    t.ok(got[-1]["is_error"] is False and "done" in got[-1]["content"],
         "the result", got[-1])
    u = d.get_usage()
    t.ok(u["input_tokens"] == 100 and u["output_tokens"] == 20 and
         u["num_turns"] == 1 and u["model"] == "test" and
         u["duration_ms"] > 0, "usage is what our meters say", u)


async def generated(o):
    d = ContainerDriver(o, model="other")
    t.equal(await d.generate("say hello", system_prompt="say you"),
            "youhello", "an answer")
    t.equal(d.order, ["usage", "result"], "and nothing else")
    t.ok("other" in await d.generate("told"), "the request names its model")
    d = ContainerDriver(o)
    p = await d.generate('say {"n": 1, "name": "x"}', schema=Point)
    t.equal((p.n, p.name), (1, "x"), "an instance of a schema's class")
    p = await d.generate('later {"n": 2, "name": "y"}\nsay {"n": "two"}',
                         schema=Point)
    t.equal(p.n, 2, "an answer that is repaired")
    try:
        import pydantic
    except ImportError:
        return
    if int(pydantic.VERSION.split(".", maxsplit=1)[0]) < 2:
        return

    class Item(pydantic.BaseModel):
        name: str = pydantic.Field(pattern="^[a-z]+$")
        at: pydantic.AwareDatetime

    class Items(pydantic.BaseModel):
        evaluated_items: list[Item]

    text = json.dumps({"evaluated_items": [
        {"name": "ab", "at": "2026-11-29T01:02:03Z"}]})
    got = await d.generate("say " + text, schema=Items)
    t.equal(got.evaluated_items[0].name, "ab", "and of Pydantic's")


async def fails(o, code, prompt, name, **more):
    d = ContainerDriver(o)
    began = time.monotonic()
    try:
        got = [m async for m in d.execute_agentic(prompt, **more)]
        t.ok(False, name, got)
    except Failed as e:
        t.ok(e.code == code and e.status != 0 and e.text,
             f"{name}: {code}", (e.code, e.status, e.text))
        t.equal(d.order.count("error"), 1, f"{name}: one error")
        return e.text, time.monotonic() - began
    return "", 0


async def contract(o):
    d = ContainerDriver(o)
    try:
        await d.generate(" \n\t")
        t.ok(False, "an empty prompt")
    except ValueError as e:
        t.ok("empty" in str(e), "an empty prompt is a ValueError", e)
    text, _ = await fails(o, "BAD_OUTPUT", "noise\nwait",
                          "output that is no message")
    t.ok("no JSON xxx" in text and len(text) < 500, "with its beginning", text)
    await fails(o, "AGENT_EXIT", "say a\nexit 3", "an agent that fails")
    await fails(o, "NO_RESULT", "nothing", "an agent that says nothing")
    await fails(o, "QUOTA", "bad limit reached\nexit 1", "a quota")
    await fails(o, "PROVIDER_UNREACHABLE", "bad unreachable\nexit 1",
                "a provider that does not answer")
    await fails(o, "AUTHENTICATION", "bad not logged in\nexit 1", "no login")
    text, _ = await fails(o, "SCHEMA_MISMATCH", 'later {}\nsay {"n": 1}',
                          "an answer that does not fit",
                          schema=Point.model_json_schema())
    t.ok("lacks" in text, "and why", text)
    got = [m async for m in d.execute_agentic("bad it is broken\nsay x")]
    t.ok(got[-1]["type"] == "result" and got[-1]["is_error"] is True,
         "what the agent itself calls an error is a result", got[-1])


async def refused(o):
    """Requests that cannot be read, each refused on its id."""
    for name, line, code in (
            ("no JSON", '{"id": "x1", "mode"', "MALFORMED"),
            ("a member twice", '{"id": "x2", "mode": 1, "mode": 2}',
             "MALFORMED"),
            ("the id last", '{"mode": "agentic", "prompt": [}, "id": "x3"}',
             "MALFORMED"),
            ("no mode", '{"id": "x4", "prompt": "a"}', "BAD_REQUEST"),
            ("no prompt", '{"id": "x5", "mode": "agentic"}', "BAD_REQUEST"),
            ("another member", '{"id": "x6", "mode": "agentic", "prompt": "a",'
             ' "promt": 1}', "BAD_REQUEST"),
            ("no number", '{"id": "x7", "mode": "agentic", "prompt": 1}',
             "BAD_REQUEST"),
            ("a schema that is none", '{"id": "x8", "mode": "generate", '
             '"prompt": "a", "schema": {"type": "int"}}', "BAD_REQUEST"),
            ("tools that are none", '{"id": "x9", "mode": "generate", '
             '"prompt": "a", "allowed_tools": "echo"}', "BAD_REQUEST"),
            ("a workflow above", '{"id": "x10", "mode": "agentic", '
             '"prompt": "a", "workflow_id": "../a"}', "BAD_REQUEST"),
            ("over 1 MiB", json.dumps({"id": "x11", "mode": "agentic",
                                       "prompt": "x" * (1 << 20) + "x"}),
             "TOO_LONG"),
            ("over 64 MiB", json.dumps({"prompt": "x" * (64 << 20),
                                        "mode": "agentic", "id": "x12"}),
             "TOO_LONG"),
            ("a link", json.dumps({"id": "x13", "mode": "agentic",
             "prompt_file": o.cwd + "/link"}), "BAD_REQUEST"),
            ("a directory", json.dumps({"id": "x14", "mode": "agentic",
             "prompt_file": o.cwd}), "BAD_REQUEST"),
            ("a file of the workspace", json.dumps(
                {"id": "x15", "mode": "agentic", "prompt_file":
                 o.cwd + "/workspace/prompt"}), "BAD_REQUEST"),
            ("a relative path", json.dumps(
                {"id": "x16", "mode": "agentic", "prompt_file": "prompt"}),
             "BAD_REQUEST"),
            ("a file that is no text", json.dumps(
                {"id": "x18", "mode": "agentic",
                 "prompt_file": o.cwd + "/latin1"}), "BAD_REQUEST"),
            ("a directory outside", json.dumps(
                {"id": "x17", "mode": "agentic", "prompt": "where",
                 "cwd": o.cwd}), "BAD_REQUEST")):
        number = next(x for x in json.dumps(line).replace("\\", "").split('"')
                      if x.startswith("x") and x[1:].isdigit())
        d = ContainerDriver(o)
        try:
            async for _ in d.messages({"id": number}, line):
                pass
            t.ok(False, f"refused: {name}")
        except Failed as e:
            t.equal(e.code, code, f"refused: {name}")
    await o.write("[1]")
    await o.write("")
    got = await ContainerDriver(o).generate("say still here")
    t.equal(got, "still here", "the driver lives on")
    t.equal([(x["id"], x["code"]) for x in o.strange],
            [(None, "BAD_REQUEST")], "what has no id is refused without one")


async def narrowed(o):
    for tools, allowed in ((None, True), (["echo__echo"], True),
                           (["echo"], True), (["lookup"], False), ([], False)):
        d = ContainerDriver(o)
        got = [m async for m in d.execute_agentic(
            "tool echo__echo", allowed_tools=tools)]
        names = [m["is_error"] for m in got if m["type"] == "tool_result"]
        t.ok((names == [False]) == allowed and
             ("hi" in got[-1]["content"]) == allowed,
             f"allowed_tools {tools}: {allowed}", got)
    got = [m async for m in ContainerDriver(o).execute_agentic(
        "tool other__tool", allowed_tools=["other__tool"])]
    t.ok("hi" not in got[-1]["content"], "it can widen nothing", got)


async def placed(o):
    path = os.path.join(o.cwd, "workspace", "part")
    h.put(os.path.join(path, "file"), "")
    d = ContainerDriver(o)
    got = [m async for m in d.execute_agentic("where", cwd=path)]
    t.equal(got[-1]["content"], "/workspace file",
            "a directory of the workspace is all of the request's")
    got = [m async for m in d.messages(
        {"mode": "agentic", "prompt_file": o.cwd + "/prompt"})]
    t.equal(got[-1]["content"], "from a file", "a prompt in a file")


async def cancelled(o, place):
    d = ContainerDriver(o)
    began = None
    try:
        async for m in d.execute_agentic("wait"):
            if m.get("content") == "waiting":
                number = "r%d" % (next(o.numbers) - 1)
                for line in ({"id": number, "mode": "none"},
                             {"id": number, "cancel": number},
                             {"cancel": number, "why": "no reason"},
                             {"id": {number: 1}, "mode": "none"},
                             '{"id": "' + number + '", "mode'):
                    await o.write(line)
                began = time.monotonic()
                await o.cancel(number)
        t.ok(False, "cancelled")
    except Failed as e:
        t.ok(e.code == "CANCELLED" and began is not None and
             time.monotonic() - began < 5, "a cancelled request", e)
    t.equal([(x["id"], x["type"]) for x in o.strange], [(None, "error")] * 5,
            "lines that are refused while it is open do not end it")
    o.strange.clear()
    t.equal([x for x in place.left() if f"/{o.p.pid}/" not in x], [],
            "leaves nothing")


async def all_of(place):
    h.put(os.path.join(place.s.work, "prompt"), "say from a file", 0o600)
    h.put(os.path.join(place.s.workspace, "prompt"), "say x", 0o600)
    os.symlink("prompt", os.path.join(place.s.work, "link"))
    with open(os.path.join(place.s.work, "latin1"), "wb") as f:
        f.write(b"say caf\xe9")
    async with place.orchestrator("--workers", "4") as o:
        await cancelled(o, place)
        await asyncio.gather(agentic(o), generated(o), narrowed(o), placed(o),
                             contract(o))
        await refused(o)
    t.equal(o.p.returncode, 64, "its status is that of the first failure")
    t.equal(place.left(), [], "nothing is left")


def cut(place):
    """A request that is cut at every byte, as a line and at the end of input."""
    whole = json.dumps({"id": "x", "mode": "agentic", "prompt": "say \u00e9",
                        "schema": {"type": "object"}, "continue": False,
                        "workflow_id": "w"}, ensure_ascii=False).encode()
    lines = [whole[:n] for n in range(1, len(whole))]
    r = subprocess.run(place.argv(), env=place.s.env, check=False,
                       input=b"\n".join(lines), capture_output=True,
                       timeout=60 * h.PATIENCE)
    got = [json.loads(x) for x in r.stdout.splitlines()]
    t.equal([(x["event"], x["code"]) for x in got],
            [("error", "MALFORMED")] * len(lines),
            "each is refused, and none begins a session")
    t.equal({x["id"] for x in got}, {None, "x"}, "on its id, where it has one")
    t.equal(os.path.exists(place.s.home + "/sessions"), False,
            "nothing is left of them")


def git(path, *args):
    return subprocess.run(
        ["git", "-C", path, "-c", "user.name=t", "-c", "user.email=t@t",
         *args], check=True, capture_output=True, text=True).stdout


async def flows(o):
    async def ask(prompt, **more):
        got = [m async for m in ContainerDriver(o).execute_agentic(
            prompt, **more)]
        return got[-1]["content"]
    first, other = await asyncio.gather(
        ask("write one\nwhere", workflow_id="wf-1",
            cwd="/workspace/worktrees/wf-1"),
        ask("write two\nwhere", workflow_id="wf-2"))
    t.equal((first, other), ("/workspace .git base one",
                             "/workspace .git base two"),
            "each workflow has a clone of its own")
    d = ContainerDriver(o)
    both = await asyncio.gather(*(
        ask(f"write {name}\nwhere\ntold", workflow_id="wf-1")
        for name in ("three", "four")))
    t.ok("one three" in both[0] and "four one three" in both[1] and
         all(x.endswith("new") for x in both),
         "which stays, and whose requests run one after the other", both)
    told = await ask("ask\ntold", workflow_id="wf-1", **{"continue": True})
    t.ok(told.endswith("again"), "continue goes on with the conversation",
         told)
    async for _ in d.execute_agentic("ask\nask\nsay x", workflow_id="wf-1",
                                     **{"continue": True}):
        pass
    t.equal((d.get_usage()["num_turns"], d.get_usage()["input_tokens"]),
            (2, 200), "whose usage is that of the request")
    await fails(o, "BAD_REQUEST", "where", "another directory",
                workflow_id="wf-1", cwd="/workspace/worktrees/wf-2")


async def torn(place):
    repo = os.path.join(place.s.work, "repo")
    os.makedirs(repo, mode=0o700)
    git(repo, "init", "-q")
    h.put(os.path.join(repo, "base"), "x")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "base")
    argv = [h.program("icctl"), "driver", "--agent", "amy", "--clone", repo,
            "--messages", "amelia"]
    async with Orchestrator(argv, place.s.env, place.s.work) as o:
        await flows(o)
        r = subprocess.run([h.program("icctl"), "pull", "--workflow", "wf-1"],
                           env=place.s.env, capture_output=True, text=True,
                           check=False, timeout=60 * h.PATIENCE)
        t.ok(r.returncode == 0 and "workflow-wf-1" in git(repo, "branch"),
             "icctl pull --workflow brings its work out", r)
        for _ in range(2):
            await o.write({"teardown": "wf-1"})
        where = [m["content"] async for m in ContainerDriver(o).
                 execute_agentic("where", workflow_id="wf-1")]
        t.equal(where[-1], "/workspace .git base",
                "after its end a workflow begins again")
    t.ok([x["type"] for x in o.strange] == ["teardown"] * 2 and
         os.path.exists(os.path.join(place.s.home, "sessions",
                                     o.strange[0]["session"])) and
         o.strange[1]["session"] is None, "and nothing was lost", o.strange)
    t.equal(place.left(), [], "nothing is left of workflows")


async def crowd(place, n):
    """n requests at once, a third of them in 20 workflows; one of them is
    cancelled, and one loses its worker."""
    repo = os.path.join(place.s.work, "repo")
    argv = [h.program("icctl"), "driver", "--agent", "amy", "--clone", repo,
            "--messages", "amelia", "--workers", str(n)]

    def flow(i):
        return {"workflow_id": f"c-{i % 20}"} if i % 3 == 0 else {}

    async def one(i):
        got = [m async for m in ContainerDriver(o).execute_agentic(
            f"write mark-{i}\nsay own {i}\nwhere", **flow(i))]
        marks = got[-1]["content"].split("mark-")[1:]
        good = str(i) in (x.strip() for x in marks)
        for x in marks:
            good = good and (int(x) == i or
                             (flow(i) and flow(int(x)) == flow(i)))
        return good and f"own {i}" in got[-1]["content"]

    async def lost(cancel):
        try:
            async for m in ContainerDriver(o).execute_agentic("wait"):
                if m.get("content") == "waiting" and cancel:
                    await o.cancel("r1")
                elif m.get("content") == "waiting":
                    with open(f"/proc/{o.p.pid}/task/{o.p.pid}/children",
                              encoding="ascii") as f:
                        h.kill(int(f.read().split()[0]))
        except Failed as e:
            return e.code
        return ""

    async with Orchestrator(argv, place.s.env, place.s.work) as o:
        t.equal(await lost(False), "SESSION_CLOSED", "a worker is killed")
        o.numbers = iter(["1", *(f"n{i}" for i in range(n + 1))])
        ends = await asyncio.gather(lost(True), *(one(i) for i in range(n)))
    t.equal(ends[0], "CANCELLED", "one request is cancelled")
    t.equal(ends[1:], [True] * n, f"{n} requests at once, and no cross-talk")
    with contextlib.suppress(TimeoutError):
        h.wait_for(lambda: not place.left(), "something is left")
    t.equal(place.left(), [], "nothing is left of them")


WORKER = r"""#!/usr/bin/python3
import json, sys
m = sys.stdin.read()
print(json.dumps({"type": "thinking", "content": "hm" * 100000}), flush=True)
for line in m.split("\n\n")[0].splitlines():
    if line.startswith(("{", "bad", "[")):
        print(line, flush=True)
"""


async def worked(place):
    path = h.put(os.path.join(place.s.workspace, "worker"), WORKER, 0o755)
    argv = [h.program("icctl"), "driver", "--workspace", place.s.workspace,
            "--messages", "amelia", "--", "/workspace/worker"]
    result = {"type": "result", "content": '{"n": 1, "name": "a"}',
              "is_error": False}
    async with Orchestrator(argv, place.s.env, place.s.work) as o:
        d = ContainerDriver(o)
        got = [m async for m in d.execute_agentic("\n".join(map(json.dumps, [
            {"type": "usage", "usage": {"input_tokens": 7}}, result])))]
        t.ok(len(got[0]["content"]) == 200000 and got[-1]["content"] ==
             result["content"] and d.order[-2:] == ["usage", "result"] and
             d.get_usage()["input_tokens"] == 0,
             "a worker of the orchestrator's own: usage is ours", d.order)
        p = await d.generate(json.dumps(result), schema=Point)
        t.equal(p.n, 1, "its answer fits the schema")
        for name, line, code in (
                ("no JSON", "bad " + "x" * 1000, "BAD_OUTPUT"),
                ("no object", "[1]", "BAD_OUTPUT"),
                ("another type", '{"type": "other"}', "BAD_OUTPUT"),
                ("another member", '{"type": "result", "content": 1}',
                 "BAD_OUTPUT"),
                ("no result", '{"type": "thinking"}', "NO_RESULT")):
            text, _ = await fails(o, code, line, f"a worker: {name}")
            t.ok(len(text) < 400, f"in short: {name}", text)
        await fails(o, "SCHEMA_MISMATCH", json.dumps({**result, "content":
                                                      "{}"}),
                    "a worker's answer", schema=Point.model_json_schema())
        got = [m async for m in d.execute_agentic(
            json.dumps({**result, "is_error": True}))]
        t.equal(got[-1]["is_error"], True, "a failure that it reports")
    os.unlink(path)


def once(place):
    status, events, _ = place.once({"mode": "agentic", "prompt": "say one"})
    names = [e.get("event") for e in events]
    t.ok(status == 0 and names[-2:] == ["usage", "result"] and
         all(e["id"] == 1 for e in events) and "agent_text" in names and
         events[-1]["content"] == "one", "--once: one request", events)
    t.ok("limits" in events[-2]["budget"], "with our whole budget", events[-2])
    status, events, _ = place.once({"mode": "generate", "prompt": "exit 3"})
    t.equal((status, events[-1]["code"]), (70, "AGENT_EXIT"),
            "its status is the failure's")
    status, events, _ = place.once({"mode": "generate", "prompt": ""})
    t.equal((status, events[-1]["code"]), (64, "EMPTY_PROMPT"),
            "also of one that was not begun")
    status, events, _ = place.run("", "--once")
    t.equal((status, events[-1]["code"]), (65, "MALFORMED"),
            "and of none at all")
    status, events, _ = place.once({"mode": "generate", "prompt": "say x"},
                                   "--policy", "no-such-policy")
    t.ok(status == 71 and events[-1]["code"] == "SESSION_INIT_FAILED" and
         "no-such-policy" in events[-1]["text"], "no session", events)
    status, events, _ = place.run('{"id": 1, "mode": "agentic", '
                                  '"prompt": "wait"}\n')
    t.ok(status == 130 and events[-1]["code"] == "CANCELLED",
         "the end of input cancels", (status, events))
    for words, why in ((["--workers", "0"], "from 1 to"),
                       (["--messages", "x"], "ironcurtain or"),
                       (["--detach"], "no place here"), (["--"], "COMMAND")):
        status, events, err = place.run("", *words)
        t.ok(status == 64 and why in err and not events,
             f"refused: {words}", (status, err))
    t.equal(place.left(), [], "nothing is left of these")


def main():
    if not shutil.which("bwrap"):
        t.skip("the driver", "bubblewrap is not installed")
        t.done()
    with h.workdir() as work, t.case("requests"):
        provider = h.Provider(work, script=[{"text": "x"}])
        try:
            place = Place(work, provider)
            asyncio.run(all_of(place))
            asyncio.run(torn(place))
            asyncio.run(worked(place))
            # ./dev driver: a hundred.
            asyncio.run(crowd(place, int(os.environ.get(
                "IC_DRIVER_REQUESTS", "4"))))
            once(place)
        finally:
            provider.end()
    with h.workdir() as work, t.case("cut lines"):
        cut(Place(work))
    with h.workdir() as work, t.case("a budget"):
        place = Place(work, config={"resourceBudget": {
            **h.NO_BUDGET, "maxTurnSteps": 1}})
        status, events, _ = place.once({
            "mode": "agentic", "prompt":
            "tool echo__echo\ntool echo__echo\ntool echo__echo\nwait"})
        t.ok(status == 124 and events[-1]["code"] == "BUDGET_EXHAUSTED",
             "a limit that is used up", (status, events[-3:]))
    t.done()


if __name__ == "__main__":
    main()
