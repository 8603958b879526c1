# SPDX-License-Identifier: ISC
"""An MCP client for tests: JSON-RPC lines over proxy.sock or a command's
stdio, concurrent requests, progress, cancellation, and every line kept."""
import json
import socket
import subprocess
import threading


class Malformed(Exception):
    """The peer sent something that it must not send."""


class Closed(Exception):
    """The peer closed the connection."""


class RpcError(Exception):
    def __init__(self, error):
        super().__init__(error.get("message"))
        self.code, self.error = error.get("code"), error


def strict_json(text):
    def no_twice(pairs):
        names = [n for n, _ in pairs]
        if len(set(names)) != len(names):
            raise Malformed("duplicate member")
        return dict(pairs)

    def no_constant(name):
        raise Malformed(name)
    return json.loads(text, object_pairs_hook=no_twice,
                      parse_constant=no_constant)


def text_of(result):
    """Returns the whole text of an answer to a call."""
    return "\n".join(c.get("text", "") for c in result.get("content", []))


def outcome(result):
    """Returns (whether it is an error, its text)."""
    return bool(result.get("isError")), text_of(result)


class Pending:
    """A request in flight."""

    def __init__(self, ident, progress):
        self.id, self.progress = ident, progress
        self.done = threading.Event()
        self.message = None

    def wait(self, timeout=30):
        """Returns the result, or raises RpcError, Closed or TimeoutError."""
        if not self.done.wait(timeout):
            raise TimeoutError(f"no answer to {self.id} in {timeout} s")
        if self.message is None:
            raise Closed(f"closed before the answer to {self.id}")
        if "error" in self.message:
            raise RpcError(self.message["error"])
        return self.message["result"]


class Mcp:
    """A connection; path: a Unix socket; argv: a command whose stdio is the
    connection."""

    def __init__(self, path=None, argv=None):
        self.process = self.sock = None
        if path is not None:
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.connect(path)
            self.input = self.sock.makefile("rb")
        else:
            self.process = subprocess.Popen(argv, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE)
            self.input = self.process.stdout
        self.lock = threading.Lock()
        self.changed = threading.Condition()
        self.pending = {}
        self.next_id = 1
        self.lines = []             # raw, as received
        self.notifications = []     # decoded
        self.strays = []            # answers to no request, requests, lines that are not JSON
        self.closed = False
        self.server = None
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        try:
            for line in self.input:
                self.lines.append(line)
                self._dispatch(line)
        except (OSError, ValueError):
            pass
        with self.changed:
            self.closed = True
            for pending in self.pending.values():
                pending.done.set()
            self.pending.clear()
            self.changed.notify_all()

    def _dispatch(self, line):
        try:
            message = strict_json(line)
        except (ValueError, Malformed):
            message = None
        with self.changed:
            self.changed.notify_all()
            if not isinstance(message, dict):
                self.strays.append(line)
                return
            if "method" in message and "id" not in message:
                self.notifications.append(message)
                self._progress(message)
                return
            pending = None
            if "method" not in message:
                pending = self.pending.pop(message.get("id"), None)
            if pending is None:
                self.strays.append(message)
            else:
                pending.message = message
                pending.done.set()
        if "method" in message:
            self.send({"id": message["id"], "error": {
                "code": -32601, "message": "no such method"}})

    def _progress(self, message):
        params = message.get("params", {})
        for pending in self.pending.values():
            if (pending.progress is not None and
                    params.get("progressToken") == f"token-{pending.id}"):
                pending.progress(params)

    def wait_for(self, predicate, timeout=30):
        """Wait until predicate(self) holds; it is tested after each line."""
        with self.changed:
            return self.changed.wait_for(
                lambda: self.closed or predicate(self), timeout)

    def send_raw(self, data):
        with self.lock:
            if self.sock is not None:
                self.sock.sendall(data)
            else:
                self.process.stdin.write(data)
                self.process.stdin.flush()

    def send(self, message):
        self.send_raw(json.dumps({"jsonrpc": "2.0", **message}).encode() +
                      b"\n")

    def start(self, method, params=None, ident=None, progress=None):
        """Send a request. Returns a Pending to wait for."""
        with self.changed:
            if ident is None:
                ident, self.next_id = self.next_id, self.next_id + 1
            pending = Pending(ident, progress)
            if self.closed:
                pending.done.set()
                return pending
            self.pending[ident] = pending
        message = {"id": ident, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)
        return pending

    def request(self, method, params=None, timeout=30):
        return self.start(method, params).wait(timeout)

    def notify(self, method, params=None):
        self.send({"method": method, **({"params": params} if params else {})})

    def initialize(self, version="2025-06-18", capabilities=None):
        self.server = self.request("initialize", {
            "protocolVersion": version, "capabilities": capabilities or {},
            "clientInfo": {"name": "standin-agent", "version": "1"}})
        self.notify("notifications/initialized")
        return self.server

    def list_tools(self, timeout=60):
        tools, cursor = [], None
        while True:
            page = self.request("tools/list", {"cursor": cursor} if cursor
                                else {}, timeout)
            tools += page["tools"]
            cursor = page.get("nextCursor")
            if not cursor:
                return tools

    def start_call(self, tool, args=None, progress=None, ident=None,
                   **params):
        """Begin a call; progress: called with the params of each notification.
        """
        with self.changed:
            if ident is None:
                ident, self.next_id = self.next_id, self.next_id + 1
        if progress is not None:
            params["_meta"] = {"progressToken": f"token-{ident}"}
        return self.start("tools/call", {
            "name": tool, "arguments": args or {}, **params}, ident, progress)

    def call(self, tool, args=None, timeout=30, progress=None):
        return self.start_call(tool, args, progress).wait(timeout)

    def cancel(self, pending, reason="no longer needed"):
        self.notify("notifications/cancelled", {"requestId": pending.id,
                                                "reason": reason})

    def close(self):
        if self.sock is not None:
            try:
                self.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            self.sock.close()
        else:
            self.process.stdin.close()
            self.process.wait()
