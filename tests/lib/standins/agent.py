#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A scripted agent for tests and the demo.  Shares no code with the product.
Mcp speaks JSON-RPC to proxy.sock or to a bridge command; Model speaks HTTPS
through a CONNECT proxy, well-formed or (raw) not.

As a program: `agent.py run STEPS.json` prints one JSON line a step.  Steps:
  {"mcp": "list"}
  {"mcp": "call", "tool": T, "args": {...}, "timeout": S, "background": NAME}
  {"mcp": "request", "method": M, "params": {...}}   {"mcp": "raw", "text": T}
  {"model": {"kind": "anthropic"|"openai", "text": T, "stream": true,
             "key": K, "host": H, "method": M, "target": T, "headers": {...}}}
  {"join": NAME}   {"net": "HOST:PORT"}   {"read": PATH}   {"env": NAME}
  {"wait": PATH}   {"say": TEXT}
Defaults come from the environment that an agent has: HTTPS_PROXY,
SSL_CERT_FILE or NODE_EXTRA_CA_CERTS, ANTHROPIC_API_KEY, OPENAI_API_KEY.
"""
import argparse
import errno
import json
import os
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from agent_mcp import (  # noqa: E402
    Closed, Malformed, Mcp, RpcError, outcome, text_of)
from agent_model import PROVIDERS, Model, Response  # noqa: E402

__all__ = ["Closed", "Malformed", "Mcp", "Model", "Response", "RpcError",
           "outcome", "text_of"]

SOCKET = "/run/ironcurtain/proxy.sock"


class Agent:
    def __init__(self, opts):
        self.opts = opts
        self.client = None
        self.background = {}

    @property
    def mcp(self):
        if self.client is None:
            self.client = Mcp(argv=self.opts.spawn) if self.opts.spawn else \
                Mcp(path=self.opts.socket)
            self.client.initialize()
        return self.client

    def step_mcp(self, step):
        kind = step["mcp"]
        if kind == "list":
            return {"tools": [t["name"] for t in self.mcp.list_tools()]}
        if kind == "request":
            return {"result": self.mcp.request(step["method"],
                                               step.get("params"))}
        if kind == "raw":
            self.mcp.send_raw(step["text"].encode())
            return {}
        progress = []
        result = self.mcp.call(step["tool"], step.get("args"),
                               step.get("timeout", 60), progress.append)
        failed, text = outcome(result)
        return {"isError": failed, "text": text, "progress": len(progress),
                "result": result}

    def step_model(self, step):
        want = step["model"]
        kind = want.get("kind", "anthropic")
        host, variable, _ = PROVIDERS[kind]
        env = os.environ
        model = Model(
            proxy=self.opts.proxy or env.get("HTTPS_PROXY"),
            host=want.get("host", host), port=want.get("port", 443),
            ca=self.opts.ca or env.get("SSL_CERT_FILE") or
            env.get("NODE_EXTRA_CA_CERTS"),
            key=want.get("key", env.get(variable, "")),
            timeout=want.get("timeout", 30))
        response = model.connect_response
        if response is None or response.status == 200:
            headers = list(want.get("headers", {}).items())
            if "target" in want:
                body = want.get("body")
                response = model.request(
                    want.get("method", "GET"), want["target"],
                    model.key_headers(kind) + headers,
                    body.encode() if body is not None else None)
            else:
                response = model.message(
                    want.get("text", "hello"), kind,
                    bool(want.get("stream")), headers)
        model.close()
        return {"status": response.status, "headers": response.headers,
                "body": response.body.decode("utf-8", "replace")}

    def step_net(self, step):
        """Try a way out of the sandbox that must not exist."""
        host, port = step["net"].rsplit(":", 1)
        socket.create_connection((host, int(port)), 5).close()
        return {"connected": True}

    def step_read(self, step):
        with open(step["read"], encoding="utf-8", errors="replace") as f:
            return {"text": f.read()}

    def step_env(self, step):
        return {"value": os.environ.get(step["env"])}

    def step_wait(self, step):
        end = time.monotonic() + step.get("timeout", 60)
        while not os.path.exists(step["wait"]):
            if time.monotonic() > end:
                raise TimeoutError(step["wait"])
            time.sleep(0.01)
        return {}

    def step_say(self, _step):
        return {}

    def step_join(self, step):
        thread, result = self.background.pop(step["join"])
        thread.join()
        return result

    def attempt(self, function, step):
        """Returns the result of a step; an error is a result too."""
        began = time.monotonic()
        try:
            result = dict({"ok": True}, **function(step))
        except RpcError as e:
            result = {"ok": False, "error": e.error}
        except OSError as e:
            result = {"ok": False, "error": str(e), "errno":
                      errno.errorcode.get(e.errno) if e.errno else None}
        except (Closed, Malformed) as e:
            result = {"ok": False, "error": f"{type(e).__name__}: {e}"}
        result.setdefault("ms", round((time.monotonic() - began) * 1000, 1))
        return result

    def run(self, steps):
        for number, step in enumerate(steps):
            name = next((k for k in ("mcp", "model", "net", "read", "env",
                                     "wait", "say", "join") if k in step),
                        None)
            if name is None:
                raise SystemExit(f"step {number}: what is {step}?")
            function = getattr(self, "step_" + name)
            if step.get("background"):
                self.mcp            # connect before other threads start
                slot = {}
                thread = threading.Thread(
                    target=lambda f=function, s=step, r=slot:
                    r.update(self.attempt(f, s)), daemon=True)
                thread.start()
                self.background[step["background"]] = (thread, slot)
                result = {"ok": True, "background": True}
            elif name == "join":
                result = self.step_join(step)
            else:
                result = self.attempt(function, step)
            print(json.dumps({"step": number, "do": step, **result}),
                  flush=True)


def parse_args(argv=None):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.
                                RawDescriptionHelpFormatter)
    commands = p.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="the steps of a file (- is stdin)")
    run.add_argument("steps")
    call = commands.add_parser("call", help="one tool call")
    call.add_argument("tool")
    call.add_argument("args", nargs="?", default="{}", help="JSON")
    commands.add_parser("list", help="the tools")
    model = commands.add_parser("model", help="one model request")
    model.add_argument("--kind", choices=sorted(PROVIDERS),
                       default="anthropic")
    model.add_argument("--key")
    model.add_argument("--host")
    model.add_argument("--target", help="instead of a message")
    model.add_argument("--method", default="GET", help="with --target")
    model.add_argument("--stream", action="store_true")
    model.add_argument("text", nargs="?", default="hello")
    for c in commands.choices.values():
        c.add_argument("--socket", default=SOCKET, help="of MCP")
        c.add_argument("--spawn", nargs="+", help="bridge command instead")
        c.add_argument("--proxy", help="PATH or HOST:PORT; else HTTPS_PROXY")
        c.add_argument("--ca", help="else SSL_CERT_FILE")
    return p.parse_args(argv)


def main():
    opts = parse_args()
    if opts.command == "run":
        with open(0 if opts.steps == "-" else opts.steps,
                  encoding="utf-8") as f:
            steps = json.load(f)
    elif opts.command == "call":
        steps = [{"mcp": "call", "tool": opts.tool,
                  "args": json.loads(opts.args)}]
    elif opts.command == "list":
        steps = [{"mcp": "list"}]
    else:
        want = {"kind": opts.kind, "text": opts.text, "stream": opts.stream}
        want.update({n: v for n, v in (
            ("key", opts.key), ("host", opts.host), ("target", opts.target),
            ("method", opts.target and opts.method)) if v})
        steps = [{"model": want}]
    agent = Agent(opts)
    agent.run(steps)
    if agent.client is not None:
        agent.client.close()


if __name__ == "__main__":
    main()
