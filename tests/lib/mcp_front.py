# SPDX-License-Identifier: ISC
"""Streamable HTTP in front of an MCP server that listens on a Unix socket, for
clients that speak nothing else. A session of an older revision, and each
request of 2026-07-28, is a connection of its own. With a server's name, the
socket is proxy.sock of a session: that name is put before names and addresses,
and taken away again."""
import http.server
import json
import queue
import select
import socket
import threading
import uuid

META = "io.modelcontextprotocol/"
OLD = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATUS = {-32601: 404, -32020: 400, -32021: 400, -32022: 400}


class Line:
    """A connection to the server. Its messages go to the stream of the request
    that they answer, others to the stream that was opened last."""

    def __init__(self, path, server):
        self.server, self.streams = server, {}
        self.lock = threading.Lock()
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(path)
        threading.Thread(target=self.read, daemon=True).start()

    def named(self, m):
        p, name = m.get("params"), self.server
        if not isinstance(p, dict) or not name:
            return m
        for holder in (p, p.get("ref") or {}):
            if isinstance(holder.get("uri"), str):
                holder["uri"] = f"icmcp://{name}/{holder['uri']}"
            if m.get("method") in ("tools/call", "prompts/get",
                                   "completion/complete") and \
                    isinstance(holder.get("name"), str):
                holder["name"] = f"{name}__{holder['name']}"
        return m

    def send(self, m):
        self.sock.sendall((json.dumps(self.named(m)) + "\n").encode())

    def stream(self, key):
        q = queue.Queue()
        with self.lock:
            self.streams[key] = q
        return q

    def drop(self, key):
        with self.lock:
            self.streams.pop(key, None)

    def own(self, line):
        """Returns the message as the server alone would have sent it."""
        m, name = json.loads(line), self.server
        if not name:
            return m
        result = m.get("result") or {}
        for part, key, start in (
                ("tools", "name", name + "__"),
                ("prompts", "name", name + "__"),
                ("resources", "uri", f"icmcp://{name}/"),
                ("resourceTemplates", "uriTemplate", f"icmcp://{name}/")):
            if isinstance(result.get(part), list):
                result[part] = [x for x in result[part]
                                if x[key].startswith(start)]
        text = json.dumps(m, ensure_ascii=False)
        return json.loads(text.replace(f"icmcp://{name}/", "").replace(
            f'"{name}__', '"'))

    def read(self):
        for line in self.sock.makefile(encoding="utf-8"):
            m = self.own(line)
            key = json.dumps(m.get("id"))
            with self.lock:
                if "method" in m or key not in self.streams:
                    key = next(reversed(self.streams), None)
                q = self.streams.get(key)
            if q is not None:
                q.put(m)
        with self.lock:
            for q in self.streams.values():
                q.put(None)

    def close(self):
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.sock.close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def plain(self, status, value=None, **headers):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        for k, v in headers.items():
            self.send_header(k.replace("_", "-"), v)
        if value is not None:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def error(self, status, ident, code, text):
        self.plain(status, {"jsonrpc": "2.0", "id": ident, "error": {
            "code": code, "message": text}})

    def here(self):
        """Returns false, and refuses, if another site's page asks."""
        def local(name):
            return name.split("//")[-1].rsplit(":", 1)[0] in (
                "127.0.0.1", "localhost", "[::1]")
        if local(self.headers.get("Host", "")) and local(
                self.headers.get("Origin", "localhost")):
            return True
        self.error(403, None, -32000, "not from here")
        return False

    def begin(self, **headers):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Connection", "close")
        for k, v in headers.items():
            self.send_header(k.replace("_", "-"), v)
        self.end_headers()
        self.close_connection = True

    def event(self, m):
        self.wfile.write(
            f"event: message\ndata: {json.dumps(m)}\n\n".encode())
        self.wfile.flush()

    def gone(self):
        """Returns whether the client has closed its end."""
        ready, _, _ = select.select([self.connection], [], [], 0)
        return bool(ready) and not self.connection.recv(1, socket.MSG_PEEK)

    def relay(self, q, ident, **headers):
        """Send what comes for a request, until its answer has come."""
        self.begin(**headers)
        while True:
            try:
                m = q.get(timeout=0.2)
            except queue.Empty:
                if self.gone():
                    return
                continue
            if m is None:
                return
            self.event(m)
            if "method" not in m and m.get("id") == ident:
                return

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.here():
            return
        try:
            m = json.loads(raw)
        except ValueError:
            self.error(400, None, -32700, "not JSON")
            return
        version = self.headers.get("MCP-Protocol-Version")
        meta = (m.get("params") or {}).get("_meta") or {}
        session = self.server.sessions.get(self.headers.get("Mcp-Session-Id"))
        new = version is not None and version not in OLD or any(
            x.startswith(META + "protocol") for x in meta)
        if new and session is None and m.get("id") is not None:
            self.modern(m, version, meta)
        elif session is None and m.get("method") == "initialize":
            self.legacy(m, self.server.connect(), str(uuid.uuid4()))
        elif session is None:
            self.error(404 if self.headers.get("Mcp-Session-Id") else 400,
                       None, -32001, "no such session")
        else:
            self.legacy(m, session, None)

    def legacy(self, m, session, ident):
        if "method" not in m or "id" not in m:
            session.send(m)
            self.plain(202)
            return
        more = {"Mcp_Session_Id": ident} if ident else {}
        if ident:
            self.server.sessions[ident] = session
        key = json.dumps(m["id"])
        q = session.stream(key)
        session.send(m)
        self.relay(q, m["id"], **more)
        session.drop(key)

    def mismatch(self, m, version, meta):
        """Returns why headers and body differ, or None."""
        params = m.get("params") or {}
        name = params.get("uri") if m.get("method") == "resources/read" else \
            params.get("name")
        if version is None:
            return "there is no MCP-Protocol-Version"
        if meta.get(META + "protocolVersion", version) != version:
            return "MCP-Protocol-Version is another one"
        if self.headers.get("Mcp-Method", "").strip() != m.get("method"):
            return "Mcp-Method is another one"
        if m.get("method") in ("tools/call", "prompts/get",
                               "resources/read") and \
                self.headers.get("Mcp-Name", "").strip() != name:
            return "Mcp-Name is another one"
        return None

    def modern(self, m, version, meta):
        why = self.mismatch(m, version, meta)
        if why:
            self.error(400, m["id"], -32020, why)
            return
        line = self.server.connect()
        q = line.stream(json.dumps(m["id"]))
        try:
            line.send(m)
            first = q.get(timeout=60)
            if first is None:
                self.error(502, m["id"], -32603, "the server has gone")
            elif "method" in first:
                q.queue.appendleft(first)
                self.relay(q, m["id"])
            else:
                code = first.get("error", {}).get("code")
                bad = META + "protocolVersion" not in meta or \
                    META + "clientCapabilities" not in meta
                self.plain(400 if code == -32602 and bad else
                           STATUS.get(code, 200), first)
        finally:
            line.close()

    def do_GET(self):
        session = self.server.sessions.get(self.headers.get("Mcp-Session-Id"))
        if not self.here():
            return
        if session is None:
            self.error(405, None, -32000, "there is no stream")
            return
        key = "get " + str(uuid.uuid4())
        self.relay(session.stream(key), key)
        session.drop(key)

    def do_DELETE(self):
        session = self.server.sessions.pop(
            self.headers.get("Mcp-Session-Id"), None)
        if self.here():
            if session:
                session.close()
            self.plain(200 if session else 404)


class Front(http.server.ThreadingHTTPServer):
    """A front on a free port of the loopback; `server` as above, or None."""
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, path, server=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.path, self.name, self.sessions = path, server, {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # a client that has gone

    def connect(self):
        return Line(self.path, self.name)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/mcp"

    def end(self):
        for s in list(self.sessions.values()):
            s.close()
        self.shutdown()
        self.server_close()
