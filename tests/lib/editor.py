# SPDX-License-Identifier: ISC
"""An editor that runs `icctl start --acp` and speaks the Agent Client Protocol
to it, as Zed and JetBrains' editors do."""
import json
import os
import queue
import subprocess
import threading

import harness as h

# As an editor offers both; the relay must not pass them on.
CAPABILITIES = {"fs": {"readTextFile": True, "writeTextFile": True},
                "terminal": True,
                "_meta": {"terminal_output": True, "terminal-auth": True}}


class Editor:
    """A running editor. `seen`: all messages that came, in order."""

    def __init__(self, s, *options):
        self.err = os.path.join(s.work, "editor.err")
        with open(self.err, "wb") as f:
            self.p = subprocess.Popen(
                [h.program("icctl"), "start", "--acp", *options],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=f,
                env=s.env, cwd=getattr(s, "project", None) or s.workspace)
        self.seen, self.n = [], 0
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.p.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def raw(self, data):
        self.p.stdin.write(data)
        self.p.stdin.flush()

    def send(self, **message):
        self.raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def next(self, seconds=30):
        """Returns the next message, or None at the end."""
        m = self.lines.get(timeout=seconds * h.PATIENCE)
        if m is not None:
            self.seen.append(m)
        return m

    def until(self, predicate, seconds=60):
        """Returns the next message for which the predicate holds."""
        while True:
            m = self.next(seconds)
            if m is None:
                raise RuntimeError(f"the editor's agent ended: {self.said()}")
            if predicate(m):
                return m

    def start_request(self, method, **params):
        self.n += 1
        self.send(id=self.n, method=method, params=params)
        return self.n

    def request(self, method, **params):
        """Returns the answer to a request."""
        n = self.start_request(method, **params)
        return self.until(lambda m: m.get("id") == n and "method" not in m)

    def notify(self, method, **params):
        self.send(method=method, params=params)

    def initialize(self):
        return self.request("initialize", protocolVersion=1,
                            clientCapabilities=CAPABILITIES,
                            clientInfo={"name": "editor", "version": "1"})

    def updates(self, kind):
        return [m["params"]["update"] for m in self.seen
                if m.get("method") == "session/update" and
                m["params"]["update"]["sessionUpdate"] == kind]

    def texts(self):
        return "".join(u["content"]["text"]
                       for u in self.updates("agent_message_chunk"))

    def said(self):
        with open(self.err, encoding="utf-8", errors="replace") as f:
            return f.read()

    def end(self):
        """Closes the editor. Returns the exit status of icctl."""
        self.p.stdin.close()
        try:
            return self.p.wait(30 * h.PATIENCE)
        finally:
            if self.p.poll() is None:
                self.p.kill()
