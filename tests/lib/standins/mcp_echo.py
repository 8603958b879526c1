#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A recording MCP server on stdio (newline-delimited JSON-RPC), for tests.
Shares no code with the product.  Every line that it receives goes to the log
as {"ev":"line","time","raw" (base64, as received),"text"}, before it is
answered; so do "start" (with argv and environment names), "out" and "eof".

Tools: echo, lookup (reads a file), slow, fail, big, structured, progress, env.
"""
import argparse
import base64
import json
import os
import select
import signal
import stat
import sys
import threading
import time

TEXT = {"type": "string"}
NUMBER = {"type": "number"}


def schema(required=(), **properties):
    return {"type": "object", "properties": properties,
            "required": list(required)}


TOOLS = {
    "echo": ("Gives back its text.", schema(["text"], text=TEXT)),
    "lookup": ("Reads a file.", schema(["path"], path=TEXT)),
    "slow": ("Answers after ms, or when file `until` exists (a fifo: has data).",
             schema(ms=NUMBER, until=TEXT)),
    "fail": ("Reports an error.", schema(text=TEXT)),
    "big": ("Text of that many bytes.", schema(["bytes"], bytes=NUMBER)),
    "structured": ("Gives back its arguments as structuredContent.",
                   schema()),
    "progress": ("Sends `steps` progress notifications, `ms` apart.",
                 schema(steps=NUMBER, ms=NUMBER)),
    "env": ("Its environment and working directory.", schema()),
}


def text_result(text, **more):
    return dict({"content": [{"type": "text", "text": text}]}, **more)


class Server:
    def __init__(self, opts):
        self.opts = opts
        self.out_lock = threading.Lock()
        self.log_lock = threading.Lock()
        self.log_fd = None
        if opts.log:
            self.log_fd = os.open(opts.log, os.O_WRONLY | os.O_CREAT |
                                  os.O_APPEND | os.O_CLOEXEC, 0o600)
        self.cancelled = {}     # id of a call -> Event
        self.extra = False
        self.pages = 0

    def log(self, event, **fields):
        if self.log_fd is None:
            return
        line = json.dumps({"ev": event, "time": time.time(),
                           "mono": time.monotonic(), **fields})
        with self.log_lock:
            os.write(self.log_fd, line.encode() + b"\n")

    # ---- output -------------------------------------------------------
    def send_bytes(self, data):
        with self.out_lock:
            view = memoryview(data)
            while view:
                view = view[os.write(1, view):]

    def send(self, **message):
        data = json.dumps({"jsonrpc": "2.0", **message},
                          ensure_ascii=False).encode() + b"\n"
        if self.opts.log_out:
            self.log("out", text=data.decode())
        self.send_bytes(data)

    def reply(self, ident, result):
        if self.opts.bad_id:
            ident = {"other": 10**15, "string": str(ident), "null": None,
                     "twice": ident, "missing": None}[self.opts.bad_id]
        if self.opts.bad_id == "missing":
            self.send(result=result)
            return
        self.send(id=ident, result=result)
        if self.opts.bad_id == "twice":
            self.send(id=ident, result=result)

    # ---- misbehaviour -------------------------------------------------
    def misbehave(self, when):
        """Misbehave at that point. Returns True if no answer is to be sent."""
        if self.opts.garbage == when:
            self.send_bytes(b"this is not JSON \xff\xfe {]\n")
            return True
        if self.opts.endless_line == when:
            self.log("endless")
            self.send_bytes(b'{"jsonrpc":"2.0","result":"')
            while True:
                self.send_bytes(b"x" * 65536)
        return self.opts.silent in (when, "all")

    def babble(self):
        for n in range(self.opts.babble):
            self.send(method="notifications/message",
                      params={"level": "info", "data": f"babble {n}"})

    def ask(self):
        params = {
            "sampling": ("sampling/createMessage", {
                "messages": [{"role": "user", "content": {
                    "type": "text", "text": "hi"}}], "maxTokens": 10}),
            "elicitation": ("elicitation/create", {
                "message": "name?", "requestedSchema": schema(name=TEXT)}),
            "roots": ("roots/list", {}),
            "ping": ("ping", {}),
        }
        for kind in self.opts.request:
            method, args = params[kind]
            self.send(id=f"server-{kind}", method=method, params=args)

    # ---- requests -----------------------------------------------------
    def handle(self, message):
        method, ident = message.get("method"), message.get("id")
        params = message.get("params") or {}
        if method == "notifications/initialized":
            if self.opts.garbage == "start":
                self.misbehave("start")
            self.babble()
            self.ask()
        elif method == "notifications/cancelled":
            event = self.cancelled.get(params.get("requestId"))
            if event is not None:
                event.set()
        elif method is None or ident is None:
            pass
        elif method == "initialize":
            if not self.misbehave("init"):
                self.send(id=ident, result=self.initialize(params))
        elif method == "ping":
            self.send(id=ident, result={})
        elif method == "tools/list":
            if not self.misbehave("list"):
                self.send(id=ident, result=self.list_tools(params))
        elif method == "tools/call":
            self.cancelled[ident] = threading.Event()
            threading.Thread(target=self.call, args=(ident, params),
                             daemon=True).start()
        else:
            self.send(id=ident, error={"code": -32601,
                                       "message": "no such method"})

    def initialize(self, params):
        version = self.opts.protocol or params.get("protocolVersion",
                                                   "2025-06-18")
        return {"protocolVersion": version, "capabilities": {
                    "tools": {"listChanged": True}},
                "serverInfo": {"name": self.opts.name, "version": "1"}}

    def list_tools(self, params):
        closed = ({"additionalProperties": False} if self.opts.closed else {})
        tools = [{"name": n, "description": d, "inputSchema": {**s, **closed}}
                 for n, (d, s) in TOOLS.items()]
        for alias in self.opts.alias:
            name, target = alias.split("=")
            tools.append(dict(tools[list(TOOLS).index(target)], name=name))
        if self.extra:
            tools.append(dict(tools[0], name="extra"))
        tools = self.redefine(tools)
        if self.opts.pages <= 1:
            return {"tools": tools}
        page = int(params.get("cursor", "page-0").removeprefix("page-"))
        each = -(-len(tools) // self.opts.pages)
        result = {"tools": tools[page * each:(page + 1) * each]}
        if page + 1 < self.opts.pages:
            result["nextCursor"] = f"page-{page + 1}"
        return result

    def redefine(self, tools):
        """Apply the definitions file: members of a tool, null for a tool that
        is no longer listed; another name adds a tool."""
        if not self.opts.definitions or \
                not os.path.exists(self.opts.definitions):
            return tools
        with open(self.opts.definitions, encoding="utf-8") as f:
            changes = json.load(f)
        known = {t["name"] for t in tools}
        tools = [{**t, **(changes.get(t["name"]) or {})} for t in tools
                 if changes.get(t["name"], t) is not None]
        return tools + [{**tools[0], "name": n, **(more or {})}
                        for n, more in changes.items() if n not in known]

    def call(self, ident, params):
        name, args = params.get("name"), params.get("arguments") or {}
        for alias in self.opts.alias:
            if alias.startswith(f"{name}="):
                name = alias.split("=")[1]
        token = (params.get("_meta") or {}).get("progressToken")
        event = self.cancelled[ident]
        if self.opts.die_on == name:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.misbehave("call"):
            return
        if name == "extra" and self.extra:
            name = "echo"
        tool = getattr(self, "tool_" + str(name), None)
        if name not in TOOLS or tool is None:
            self.send(id=ident, error={"code": -32602,
                                       "message": f"unknown tool {name}"})
            return
        try:
            result = tool(args, token, event)
        except (OSError, KeyError, ValueError, TypeError) as e:
            result = text_result(f"{type(e).__name__}: {e}", isError=True)
        del self.cancelled[ident]
        if event.is_set():
            self.log("cancelled", id=ident)
            return
        self.reply(ident, result)
        if self.opts.list_changed_on == name:
            self.extra = not self.opts.definitions
            self.send(method="notifications/tools/list_changed")

    # ---- tools --------------------------------------------------------
    def tool_echo(self, args, _token, _event):
        return text_result(args["text"])

    def tool_lookup(self, args, _token, _event):
        with open(args["path"], encoding="utf-8", errors="replace") as f:
            return text_result(f.read())

    def tool_slow(self, args, _token, event):
        if "until" not in args:
            event.wait(float(args.get("ms", 0)) / 1000)
        elif stat.S_ISFIFO(os.stat(args["until"]).st_mode
                           if os.path.exists(args["until"]) else 0):
            fd = os.open(args["until"], os.O_RDONLY | os.O_NONBLOCK)
            while not event.is_set() and not (
                    select.select([fd], [], [], 0.05)[0] and os.read(fd, 1)):
                event.wait(0.005)
            os.close(fd)
        else:
            while not os.path.exists(args["until"]) and not event.is_set():
                event.wait(0.05)
        return text_result("slept")

    def tool_fail(self, args, _token, _event):
        return text_result(args.get("text", "failed as told"), isError=True)

    def tool_big(self, args, _token, _event):
        return text_result("0123456789abcdef" * (int(args["bytes"]) // 16) +
                           "x" * (int(args["bytes"]) % 16))

    def tool_structured(self, args, _token, _event):
        return text_result(json.dumps(args), structuredContent=args)

    def tool_progress(self, args, token, event):
        steps = int(args.get("steps", 3))
        for n in range(steps):
            if token is not None:
                self.send(method="notifications/progress", params={
                    "progressToken": token, "progress": n + 1,
                    "total": steps, "message": f"step {n + 1}"})
            event.wait(float(args.get("ms", 0)) / 1000)
        return text_result(f"{steps} steps")

    def tool_env(self, _args, _token, _event):
        seen = {"env": dict(os.environ), "cwd": os.getcwd(),
                "uid": os.getuid(), "argv": sys.argv}
        return text_result(json.dumps(seen), structuredContent=seen)

    # ---- input --------------------------------------------------------
    def run(self):
        self.log("start", pid=os.getpid(), argv=sys.argv,
                 env=sorted(os.environ))
        pending = b""
        while True:
            data = os.read(0, 65536)
            if not data:
                break
            pending += data
            *lines, pending = pending.split(b"\n")
            for line in lines:
                self.log("line", raw=base64.b64encode(line).decode(),
                         text=line.decode("utf-8", "replace"))
                try:
                    message = json.loads(line)
                except ValueError:
                    self.send(id=None, error={"code": -32700,
                                              "message": "parse error"})
                    continue
                self.handle(message)
        self.log("eof", left=base64.b64encode(pending).decode())


def parse_args(argv=None):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.
                                RawDescriptionHelpFormatter)
    a = p.add_argument
    a("--log", default=os.environ.get("MCP_ECHO_LOG"))
    a("--log-out", action="store_true", help="log what is sent as well")
    a("--name", default="echo", help="in serverInfo")
    a("--protocol", help="version to answer, whatever was asked")
    a("--closed", action="store_true",
      help="schemas do not take further properties")
    a("--alias", action="append", default=[], metavar="NAME=TOOL",
      help="one more tool, the same under another name")
    a("--definitions", metavar="FILE",
      help="read at each tools/list: what differs from the usual tools")
    a("--pages", type=int, default=1, help="of tools/list")
    m = p.add_argument_group("misbehaviour")
    b = m.add_argument
    b("--garbage", nargs="?", const="call", help="no JSON, instead of an "
      "answer", choices=["start", "init", "list", "call"])
    b("--endless-line", nargs="?", const="call",
      choices=["init", "list", "call"])
    b("--silent", nargs="?", const="all", help="never answers",
      choices=["all", "init", "list", "call"])
    b("--die-on", metavar="TOOL", help="SIGKILL itself on that call")
    b("--babble", type=int, default=0, help="notifications at the start")
    b("--list-changed-on", metavar="TOOL", help="then lists one tool more")
    b("--request", action="append", default=[], help="asks the client",
      choices=["sampling", "elicitation", "roots", "ping"])
    b("--bad-id", nargs="?", const="other", help="in results of calls",
      choices=["other", "string", "null", "missing", "twice"])
    b("--exit-at-start", nargs="?", const=3, type=int, metavar="STATUS")
    b("--stderr", help="text written to stderr at the start")
    return p.parse_args(argv)


def main():
    opts = parse_args()
    if opts.stderr:
        sys.stderr.write(opts.stderr + "\n")
        sys.stderr.flush()
    if opts.exit_at_start is not None:
        sys.exit(opts.exit_at_start)
    try:
        Server(opts).run()
    except (BrokenPipeError, KeyboardInterrupt):
        pass
    sys.stdout = None


if __name__ == "__main__":
    main()
