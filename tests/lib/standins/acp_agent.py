# SPDX-License-Identifier: ISC
"""An agent that speaks the Agent Client Protocol, and does what a prompt says:
a JSON text with one of the members that do() knows. Runs in a sandbox."""
import json
import subprocess
import sys


class Agent:
    def __init__(self):
        self.n = 100
        self.session = None

    @staticmethod
    def write(text):
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    def send(self, **message):
        self.write(json.dumps({"jsonrpc": "2.0", **message}))

    def update(self, kind, **members):
        self.send(method="session/update", params={
            "sessionId": self.session,
            "update": {"sessionUpdate": kind, **members}})

    def say(self, text):
        self.update("agent_message_chunk",
                    content={"type": "text", "text": text})

    def ask(self, method, params):
        """Returns what a request of the editor is answered."""
        self.n += 1
        self.send(id=self.n, method=method, params=params)
        for line in sys.stdin:
            m = json.loads(line)
            if m.get("id") == self.n and "method" not in m:
                return m
        return None

    def do(self, order):
        if "ask" in order:
            self.say(json.dumps(self.ask(order["ask"], order["params"])))
        for line in order.get("lines", ()):
            self.write(line)
        if "update" in order:
            self.update(order["update"], **order["members"])
        if "long" in order:
            self.write("x" * order["long"])
        if "chunks" in order:
            for i in range(order["chunks"]):
                self.say("%07d" % i + "x" * order["size"])
        if "stderr" in order:
            sys.stderr.write(order["stderr"] + "\n")
            sys.stderr.flush()
        if "run" in order:
            r = subprocess.run(order["run"], capture_output=True, text=True)
            self.say(r.stdout + r.stderr)

    def serve(self):
        for line in sys.stdin:
            m = json.loads(line)
            method, params = m.get("method"), m.get("params", {})
            if method == "initialize":
                self.seen = params
                self.send(id=m["id"], result={
                    "protocolVersion": 1,
                    "agentCapabilities": {"mcpCapabilities": {"http": True}},
                    "authMethods": [{"id": "x", "name": "x", "_meta": {
                        "terminal-auth": {"command": "/bin/sh"}}}]})
            elif method == "session/new":
                self.session = "the-session"
                self.send(id=m["id"], result={"sessionId": self.session,
                                              "_meta": {"x": 1}})
                self.say(json.dumps({"initialize": self.seen, "new": params}))
            elif method == "session/prompt":
                order = json.loads(params["prompt"][0]["text"])
                if "repeat" in order:
                    self.say(json.dumps(params["prompt"]))
                self.do(order)
                self.send(id=m["id"], result={"stopReason": "end_turn"})


Agent().serve()
