#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""icctl start --acp: an editor and an agent in a sandbox. What the agent is
told, what reaches the editor, requests for the editor's files and terminals,
a held call, hostile lines from both sides, and every kind of end."""
import base64
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from asks import AGENT  # noqa: E402
from editor import Editor  # noqa: E402
from started import Place, named  # noqa: E402
from terminal import Terminal  # noqa: E402

t = h.Tap()
COMMAND = ("--", "/usr/bin/python3", "/workspace/acp_agent.py")


class Edited(Place):
    """A project, and an editor whose agent is the stand-in."""

    def __init__(self, work):
        super().__init__(work)
        shutil.copy(os.path.join(h.STANDINS, "acp_agent.py"), self.project)
        self.secret = h.put(os.path.join(self.user, "secret"), "the secret\n")
        h.put(os.path.join(self.project, "asks.py"), AGENT, 0o755)

    def edit(self):
        """Returns an editor with a session."""
        e = Editor(self, "--quiet", *COMMAND)
        e.first = e.initialize()
        e.new = e.request("session/new", cwd=self.project, mcpServers=[
            {"name": "tickets", "command": "/bin/x", "args": [], "env": []}])
        return e

    def audit(self):
        return h.read_lines(os.path.join(self.session(), "audit.jsonl"))


def prompt(e, **order):
    """Has the agent do something. Returns what it says."""
    before = len(e.seen)
    r = e.request("session/prompt", sessionId="the-session",
                  prompt=[{"type": "text", "text": json.dumps(order)}])
    if r.get("result") != {"stopReason": "end_turn"}:
        raise RuntimeError(f"no end of the turn: {r}")
    return "".join(m["params"]["update"]["content"]["text"]
                   for m in e.seen[before:]
                   if m.get("method") == "session/update" and
                   m["params"]["update"]["sessionUpdate"] ==
                   "agent_message_chunk")


def told(p, e):
    t.equal(e.first["result"], {
        "protocolVersion": 1, "authMethods": [], "agentCapabilities": {
            "mcpCapabilities": {"http": False, "sse": False}}},
            "the editor sees an agent without ways to log in, nor MCP")
    t.equal(e.new["result"], {"sessionId": "the-session"},
            "and a session without private members")
    prompt(e)
    said = json.loads(e.texts())
    t.equal(said["initialize"]["clientCapabilities"],
            {"fs": {"readTextFile": False, "writeTextFile": False},
             "terminal": False}, "the agent sees no files and no terminal")
    t.equal(said["new"], {"cwd": "/workspace", "mcpServers": []},
            "and the workspace as the sandbox has it, without MCP servers")
    t.contains(e.said(), "MCP servers of the editor are not used: tickets",
               "they are named on standard error")
    r = e.request("session/new", cwd="/etc", mcpServers=[])
    t.ok(r["error"]["code"] == -32602 and p.project in r["error"]["message"],
         "another directory is refused, with the reason", r)


def refused(p, e):
    victim = os.path.join(p.user, "written")
    for method, params in (
            ("terminal/create", {"sessionId": "the-session",
                                 "command": "/usr/bin/touch",
                                 "args": [victim]}),
            ("fs/write_text_file", {"sessionId": "the-session",
                                    "path": victim, "content": "x"}),
            ("fs/read_text_file", {"sessionId": "the-session",
                                   "path": p.secret})):
        got = json.loads(prompt(e, ask=method, params=params))
        t.ok(got["error"]["code"] == -32601 and
             "Do not retry" in got["error"]["message"] and
             "sandbox" in got["error"]["message"],
             f"{method}: the agent is told why it is refused", got)
    t.equal({m.get("method") for m in e.seen} - {None},
            {"session/update"}, "the editor sees none of them")
    t.ok(not os.path.exists(victim), "and does nothing")
    def alarms():
        return [x["detail"] if "detail" in x else x for x in p.audit()
                if x["event"] == "alarm"]
    # The log is written beside the agent's answer.
    h.wait_for(lambda: len(alarms()) >= 3, "fewer than three alarms")
    t.ok(len(alarms()) == 3 and "terminal/create" in json.dumps(alarms()) and
         "acpd" in json.dumps(alarms()), "each is an alarm in the log",
         alarms())


def updates(p, e):
    prompt(e, update="tool_call", members={
        "toolCallId": "t", "title": "edit", "_meta": {"terminal_info": {}},
        "locations": [{"path": "/workspace/a.c"}, {"path": "/etc/passwd"}],
        "content": [{"type": "terminal", "terminalId": "1"}]})
    t.equal(e.updates("tool_call"), [{
        "sessionUpdate": "tool_call", "toolCallId": "t", "title": "edit",
        "locations": [{"path": os.path.join(p.project, "a.c")}],
        "content": []}], "an update has paths of the host")
    n = e.start_request(
        "session/prompt", sessionId="the-session",
        prompt=[{"type": "text", "text": json.dumps(
            {"ask": "session/request_permission",
             "params": {"sessionId": "the-session", "options": [],
                        "toolCall": {"toolCallId": "t"}}})}])
    m = e.until(lambda m: m.get("method") == "session/request_permission")
    e.send(id=m["id"], result={"outcome": {"outcome": "selected",
                                           "optionId": "yes"}})
    e.until(lambda m: m.get("id") == n and "method" not in m)
    t.contains(e.texts(), '"optionId": "yes"', "a permission request is asked "
               "and answered")


def held(p, e):
    n = e.start_request(
        "session/prompt", sessionId="the-session",
        prompt=[{"type": "text", "text": json.dumps(
            {"run": ["/usr/bin/python3", "/workspace/asks.py", p.secret]})}])
    line = h.wait_for(lambda: re.findall(
        r".*pending call .*icctl approve (\w{4}).*", e.said()),
        "no line on standard error")
    t.equal(len(line), 1, "a held call is one line on standard error")
    t.equal(p.icctl("approve", line[0]).returncode, 0, "it is approved")
    e.until(lambda m: m.get("id") == n and "method" not in m)
    t.contains(e.texts(), "got the secret", "and the agent goes on")


def last_turn(p):
    """Returns the number of the turn that the newest checkpoint is before."""
    r = p.icctl("--json", "undo", "--list")
    return max(c["turn"] for c in json.loads(r.stdout)["checkpoints"]
               if c["of"] in ("start", "turn"))


def turn_with(p, name):
    """Returns the number of the last turn, once its checkpoint has a file."""
    turn = last_turn(p)
    r = p.icctl("--json", "undo", "--dry-run", "--turn", str(turn))
    plan = json.loads(r.stdout)
    return 0 if name in [x["path"] for x in plan["goAway"]] else turn


def waits(name, then):
    """Returns a command that does something once the test has put a file."""
    return ("while [ ! -e /workspace/%s ]; do sleep 0.05; done; %s"
            % (name, then))


def turns(p, e):
    """Each prompt begins a turn, to which an undo goes back; a change between
    two of them, by a process in the background, belongs to the first one."""
    def at(name):
        return os.path.join(p.project, name)
    for name in ("kept", "other"):
        h.put(at(name), "as it was\n")
    prompt(e, run=["/bin/sh", "-c", "(%s) >/dev/null 2>&1 &" % waits(
        "go-1", "rm /workspace/kept; echo >/workspace/went")])
    first = h.wait_for(lambda: turn_with(p, "other"),
                       "a checkpoint at the prompt")
    h.put(at("go-1"), "")
    h.wait_for(lambda: os.path.exists(at("went")), "the background")
    n = e.start_request("session/prompt", sessionId="the-session", prompt=[
        {"type": "text", "text": json.dumps({"run": ["/bin/sh", "-c", waits(
            "go-2", "rm /workspace/other; echo >/workspace/did")]})}])
    second = h.wait_for(lambda: turn_with(p, "went"),
                        "a checkpoint at the next prompt")
    h.put(at("go-2"), "")
    e.until(lambda m: m.get("id") == n and "method" not in m)
    r = p.icctl("undo", "--yes", "--turn", str(second))
    t.equal([os.path.exists(at(x)) for x in ("other", "did", "kept", "went")],
            [True, False, False, True], f"the second prompt is undone {r}")
    r = p.icctl("undo", "--yes", "--turn", str(first))
    t.equal([os.path.exists(at(x)) for x in ("other", "kept", "went")],
            [True, True, False],
            f"then the first, with what its background did {r}")


def images(p, e):
    """Each image of a prompt is a file that the agent's tools can read and not
    change, and its path is in the prompt."""
    one = b"\x89PNG\r\n\x1a\n" + os.urandom(900000)
    block = {"type": "image", "mimeType": "image/png",
             "data": base64.b64encode(one).decode()}
    other = {**block, "data": base64.b64encode(b"\x7fELF").decode()}

    def sent(*blocks):
        before = len(e.seen)
        e.request("session/prompt", sessionId="the-session", prompt=[
            {"type": "text", "text": '{"repeat": true}'}, *blocks])
        said = [m["params"]["update"]["content"]["text"]
                for m in e.seen[before:] if m.get("method") == "session/update"]
        return json.loads(said[-1])[1:]

    got = sent(block, other, block)
    t.equal([x["type"] for x in got],
            ["image", "text", "image", "image", "text"],
            "images have a path behind them, a program that is none has not")
    t.equal([got[i] for i in (0, 2, 3)], [block, other, block],
            "and are what they were")
    paths = [re.findall(r"/run/ironcurtain/inbox/\d+\.png", got[i]["text"])
             for i in (1, 4)]
    t.ok(len(paths[0]) == len(paths[1]) == 1 and paths[0] != paths[1],
         "each has a path of its own", paths)
    path = paths[0][0]
    t.equal(prompt(e, run=["/bin/sh", "-c", f"sha256sum <{path}; rm -f {path}; "
                           f"echo x >{path}; ls {path}"]).splitlines()[:2],
            [hashlib.sha256(one).hexdigest() + "  -", path],
            "the sandbox reads it, and cannot change it")
    pasted = [x for x in p.audit() if x["event"] == "paste"]
    t.equal([x["detail"]["sha256"] for x in pasted],
            [hashlib.sha256(one).hexdigest()] * 2, "both are recorded")
    t.contains(e.said(), "no PNG, JPEG, GIF or WebP",
               "and the editor's log has the reason for the other")
    # A prompt that is sent behind one with an image stays behind it.
    n = [e.start_request("session/prompt", sessionId="the-session", prompt=[
        {"type": "text", "text": json.dumps({"run": ["/bin/echo", word]})},
        *more]) for word, more in (("first", [block]), ("second", []))]
    ends = [e.until(lambda m: m.get("id") in n and "method" not in m)["id"]
            for _ in n]
    t.equal(ends, n, "the order of prompts is kept")


def hostile(p, e):
    """Lines of the agent that are no message, or too long."""
    before = len(e.seen)
    prompt(e, lines=[
        "starting up...", "[]", "{}", '{"jsonrpc":"2.0","id":1}',
        '{"jsonrpc":"2.0","id":4,"result":{},"error":{}}',
        '{"jsonrpc":"2.0","id":99999,"result":{"sessionId":"x"}}',
        '{"jsonrpc":"2.0","method":"session/update","method":'
        '"terminal/create","params":{}}',
        '{"jsonrpc":"2.0","method":"\\u0000","params":{}}', "\x1b[31m\x07",
        "[" * 100000, '"\\ud800"'],
        long=5 << 20, stderr="\x1b]0;title\x07 of the agent")
    t.equal([m for m in e.seen[before:] if m.get("id") is None], [],
            "none of it reaches the editor")
    h.wait_for(lambda: "\\x07 of the agent" in e.said(),
               "no standard error")
    said = e.said()
    t.ok("\x1b" not in said and "agent: \\x1b]0;title\\x07 of the agent" in
         said, "its standard error is printable", said[-600:])
    t.ok("It begins: starting up..." in said and "longer than 4 MiB" in said,
         "and the user is told which lines they are", said[-3000:])
    # Lines of the editor.
    e.raw(b"{\n")
    r = e.next()
    t.ok(r["id"] is None and r["error"]["code"] == -32700,
         "a line of the editor that is no JSON is answered", r)
    e.raw(b'{"jsonrpc":"2.0","id":"long","method":"session/prompt","params":'
          b'{"sessionId":"the-session","prompt":"' + b"x" * (5 << 20) +
          b'"}}\n')
    r = e.next()
    t.ok(r["id"] == "long" and "4 MiB" in r["error"]["message"],
         "and so is one that is too long", r)
    r = e.request("_ext/execute", x=1)
    t.equal(r["error"]["code"], -32601, "and a method that nobody knows")
    e.send(id=1, result={"outcome": {}})
    t.equal(prompt(e, run=["/bin/echo", "alive"]), "alive\n",
            "the agent is still there")


def slow(p, e):
    """An agent that writes more than an editor reads."""
    count, size = 4000, 10000
    e.start_request("session/prompt", sessionId="the-session", prompt=[
        {"type": "text", "text": json.dumps({"chunks": count,
                                             "size": size})}])
    acpd = named(named(e.p.pid, "icsupervisor"), "acpd")
    n = 0
    while n < count:
        m = e.next()
        if m.get("method") == "session/update":
            text = m["params"]["update"]["content"]["text"]
            if int(text[:7]) != n:
                break
            n += 1
    with open(f"/proc/{acpd}/status", encoding="ascii") as f:
        peak = int(re.search(r"VmHWM:\s+(\d+)", f.read())[1])
    t.equal(n, count, "40 MB of updates arrive whole and in order")
    # A sanitizer keeps what was freed for a while.
    t.ok(peak < 65536 or h.sanitized(), "and the relay holds little of it",
         f"{peak} KiB")
    e.until(lambda m: "result" in m)


def ends(p):
    e = p.edit()
    t.equal(e.end(), 0, "an editor that closes ends the session")
    e = p.edit()
    supervisor = named(e.p.pid, "icsupervisor")
    os.kill(named(supervisor, "acpd"), signal.SIGKILL)
    t.ok(e.p.wait(20 * h.PATIENCE) != 0 and "acpd" in e.said(),
         "without its relay the session ends, and says why", e.said())
    e = p.edit()
    supervisor = named(e.p.pid, "icsupervisor")
    e.p.kill()
    h.wait_for(lambda: not h.alive(supervisor), "the session went on")
    t.ok(True, "an icctl that is killed ends the session")
    # An agent that does not end with its standard input.
    e = Editor(p, "--quiet", "--", "/bin/sleep", "600")
    h.wait_for(lambda: named(e.p.pid, "icsupervisor"), "no session")
    t.equal(e.end(), 0, "an agent that goes on is ended")


def misused(p):
    def run(*args):
        return subprocess.run([h.program("icctl"), "start", *args],
                              env=p.env, cwd=p.project, capture_output=True,
                              stdin=subprocess.DEVNULL, text=True,
                              timeout=60, check=False)
    r = run("--acp", "--agent", "command")
    t.ok(r.returncode != 0 and '"acp"' in r.stderr, "an agent whose file says "
         "nothing of editors", r.stderr)
    for more in (("--task", "x"), ("--detach",), ("--clone", p.project)):
        r = run("--acp", *more)
        t.ok(r.returncode != 0 and "--acp" in r.stderr,
             f"--acp with {more[0]} is refused", r.stderr)
    term = Terminal([h.program("icctl"), "start", "--acp"], p.env)
    t.contains(term.until(rb"this is a\s+terminal"), b"for an editor",
               "on a terminal it says that it is for editors")
    term.end()


with h.workdir() as work:
    place = Edited(work)
    with t.case("an editor"):
        editor = place.edit()
        for part in (told, refused, updates, turns, held, images, hostile, slow):
            with t.case(part.__name__):
                part(place, editor)
        r = place.icctl("attach")
        t.ok(r.returncode != 0 and "belongs to an editor" in r.stderr,
             "there is no terminal to attach to", r.stderr)
        t.equal(editor.end(), 0, "the session ends with the editor")
    with t.case("ends"):
        ends(place)
    with t.case("misused"):
        misused(place)
t.done()
