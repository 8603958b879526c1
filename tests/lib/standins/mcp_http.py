# SPDX-License-Identifier: ISC
"""A remote MCP server for tests: streamable HTTP over TLS on loopback, in the
test's own process.  The argument "how" of its tools says how it misbehaves.
Shares no code with the product."""
import base64
import http.server
import json
import os
import ssl
import threading

from provider_ca import make_certificates

VERSION = "io.modelcontextprotocol/protocolVersion"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
RAW = {
    "interim": b"HTTP/1.1 100 Continue\r\n\r\n" * 50,
    "early hints": b"HTTP/1.1 103 Early Hints\r\n\r\n" + HEAD +
                   b"Content-Length: LENGTH\r\n\r\nGOOD",
    "switch": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
    "big head": HEAD + b"X-A: " + b"a" * 100000 + b"\r\n\r\n",
    "cookie": HEAD + b"Set-Cookie: a=b\r\nContent-Length: LENGTH\r\n\r\nGOOD",
    "trailer": HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n"
               b"X-A: b\r\n\r\n",
    "short": HEAD + b"Content-Length: 20\r\n\r\nGOOD",
    "old": b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\nGOOD",
    "no http": b"GOOD",
    "both lengths": HEAD + b"Content-Length: LENGTH\r\n"
                    b"Transfer-Encoding: chunked\r\n\r\nGOOD",
    "bad chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nGOOD",
    "plain": b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
             b"Content-Length: LENGTH\r\n\r\nGOOD",
    "no type": b"HTTP/1.1 200 OK\r\nContent-Length: LENGTH\r\n\r\nGOOD",
}
BODIES = {
    "array": b'[{"jsonrpc":"2.0","id":ID,"result":{}}]',
    "no id": b'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"x"}}',
    "text id": b'{"jsonrpc":"2.0","id":"ID","result":{}}',
    "deep": b'{"jsonrpc":"2.0","id":ID,"result":{"a":' + b"[" * 100000 +
            b"]" * 100000 + b"}}",
    "wide": '{"jsonrpc":"2.0"}'.encode("utf-16"),
    "zero": b'{"jsonrpc":"2.0","id":ID,"result":{"a":"\0"}}',
    "empty": b"",
    "result and error": b'{"jsonrpc":"2.0","id":ID,"result":{},"error":'
                        b'{"code":1,"message":"x"}}',
    "no result": b'{"jsonrpc":"2.0","id":ID}',
    "list": b'{"jsonrpc":"2.0","id":ID,"result":[]}',
    "old revision": b'{"id":ID,"result":{}}',
    "error": b'{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,'
             b'"message":"the moon is full"}}',
}

READ = {"name": "read", "description": "reads", "inputSchema": {
    "type": "object", "properties": {"text": {"type": "string"}}},
    "annotations": {"readOnlyHint": True}}
ACT = {"name": "act", "description": "acts", "inputSchema": {
    "type": "object", "properties": {"how": {"type": "string"},
                                     "text": {"type": "string"}}}}

# Wants a parameter in a header, too, and is good at once.
MARK = {"name": "mark", "description": "marks", "inputSchema": {
    "type": "object", "properties": {"team": {
        "type": "string", "x-mcp-header": "Team"}}}}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def raw(self, text):
        """Send a whole answer as it is, and close."""
        self.close_connection = True
        self.wfile.write(text if isinstance(text, bytes) else text.encode())

    def answer(self, body, status=200, kind="application/json", **headers):
        body = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        if kind:
            self.send_header("Content-Type", kind)
        for k, v in headers.items():
            self.send_header(k.replace("_", "-"), v)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def result(self, message, value, **headers):
        self.answer(json.dumps({"jsonrpc": "2.0", "id": message["id"],
                                "result": value}), **headers)

    def events(self, *parts, close=True):
        """Send parts of an event stream, each in a chunk of its own."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for p in parts:
            p = p if isinstance(p, bytes) else p.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(p), p))
            self.wfile.flush()
        if close:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def do_POST(self):
        s = self.server.site
        body = self.rfile.read(int(self.headers["Content-Length"]))
        message = json.loads(body)
        headers = {k.lower(): v for k, v in self.headers.items()}
        with s.lock:
            s.seen.append((self.path, headers, message))
            s.changed.notify_all()
        if self.path in s.moves:
            self.answer("", s.moved, None, Location=s.moves[self.path])
        elif not s.accepts(headers.get(s.header)):
            self.answer("who are you?", 401, "text/plain",
                        **s.challenge and {"WWW_Authenticate": s.challenge})
        elif s.how != "":
            self.behave(message, s.how)
        else:
            self.serve(message, s, headers)

    def refuse(self, message, code, text, data=None, status=400):
        self.answer(json.dumps({"jsonrpc": "2.0", "id": message.get("id"),
                                "error": {"code": code, "message": text,
                                          **({"data": data} if data else {})}}),
                    status)

    def serve_modern(self, message, s, headers):
        """Revision 2026-07-28: headers and message must agree."""
        method, params = message.get("method"), message.get("params", {})
        meta = params.get("_meta", {})
        name = params.get("name", params.get("uri"))
        told = headers.get("mcp-name")
        if told and told.startswith("=?base64?"):
            told = base64.b64decode(told[9:-2]).decode()
        if VERSION not in meta:
            self.refuse(message, -32602, "_meta has no version")
        elif meta[VERSION] != s.modern:
            self.refuse(message, -32022, "another one", {
                "supported": [s.modern], "requested": meta[VERSION]})
        elif (headers.get("mcp-protocol-version") != meta[VERSION] or
              headers.get("mcp-method") != method or told != name or
              "mcp-session-id" in headers):
            self.refuse(message, -32020, "headers and message differ")
        elif method == "server/discover":
            self.result(message, {
                "resultType": "complete", "supportedVersions": [s.modern],
                "capabilities": {"tools": {"listChanged": True}},
                "ttlMs": 0, "cacheScope": "private"})
        elif method == "tools/list":
            self.result(message, {
                "resultType": "complete", "tools": s.tools, "ttlMs": 0,
                "cacheScope": "private"})
        elif method == "subscriptions/listen":
            self.events(json_event({
                "jsonrpc": "2.0", "method":
                "notifications/subscriptions/acknowledged", "params": {
                    "notifications": params["notifications"]}}), close=False)
            s.release.wait(60)
        elif method == "tools/call":
            args = params["arguments"]
            if "how" in args or name == "mark":
                self.behave(message, args.get("how", "good"))
            elif "text" in args and "requestState" not in params:
                self.result(message, {
                    "resultType": "input_required", "requestState": "s",
                    "inputRequests": {"r": {"method": "roots/list"}}})
            else:
                self.result(message, {"resultType": "complete", **text(
                    "read: " + json.dumps(params["inputResponses"]))})
        else:
            self.refuse(message, -32601, "no such method", None, 404)

    def do_GET(self):
        s = self.server.site
        if self.path == "/mcp" and s.own is not None:
            self.stream(s)
            return
        doc = s.documents.get(self.path)
        if callable(doc):
            doc(self)
        elif doc is not None:
            self.answer(doc if isinstance(doc, bytes) else json.dumps(doc))
        else:
            self.answer("", 405 if self.path == "/mcp" else 404, None)

    def do_DELETE(self):
        """The client has no more use for its session."""
        s = self.server.site
        with s.lock:
            s.ends.append((self.path,
                           {k.lower(): v for k, v in self.headers.items()}))
            s.changed.notify_all()
        if s.end is None:
            s.release.wait(60)
        elif s.end == "reflect":
            self.answer(self.headers.get(s.header, ""))
        else:
            self.answer("", s.end, None)

    def stream(self, s):
        """The server's own stream, or the rest of one that had an answer."""
        last = self.headers.get("Last-Event-ID", "")
        with s.lock:
            s.gets.append({k.lower(): v for k, v in self.headers.items()})
            rest = s.later.get(last)
            rest = rest.pop(0) if rest else None
            s.changed.notify_all()
        if rest is not None:
            self.part(rest)
        elif isinstance(s.own, int):
            self.answer("no", s.own, "text/plain")
        elif self.headers.get("Mcp-Session-Id") != \
                s.name_of.format(s.session):
            self.answer("no such session", 404, "text/plain")
        elif not s.own:
            self.events(": nothing\n\n", close=False)
            s.release.wait(60)
        else:
            part = s.own.pop(0)
            self.part(part() if callable(part) else part)

    def part(self, part):
        """Answer a GET: events, a status, or "" for no answer at all."""
        if isinstance(part, int):
            self.answer("no", part, "text/plain")
        elif part == "":
            self.raw("")
        else:
            self.events(part, close=part.endswith("\n\n"))
            if not part.endswith("\n\n"):
                self.server.site.release.wait(60)

    def serve(self, message, s, headers):
        method = message.get("method")
        if s.modern:
            self.serve_modern(message, s, headers)
            return
        if method == "initialize":
            s.session += 1
            self.result(message, {
                "protocolVersion": s.revision, "capabilities": {
                    "tools": {}, **({"resources": {"subscribe": True}}
                                    if s.resources else {})},
                "serverInfo": {"name": "remote", "version": "1"}},
                **({"Mcp_Session_Id": s.name_of.format(s.session)}
                   if s.sessions else {}))
            return
        if s.sessions and headers.get("mcp-session-id") != \
                s.name_of.format(s.session):
            self.answer("no such session", 404, "text/plain")
        elif "id" not in message or "method" not in message:
            self.answer("", 202, None)
        elif method == "tools/list" and s.tools is None:
            self.answer("no", 401, "text/plain")
        elif method == "tools/list":
            self.result(message, {"tools": s.tools})
        elif method == "resources/list":
            self.result(message, {"resources": [
                {"uri": u, "name": u} for u in s.resources]})
        elif method == "resources/subscribe":
            uri = message["params"]["uri"]
            if uri in s.restless:
                self.events(json_event({
                    "jsonrpc": "2.0", "method":
                    "notifications/resources/updated", "params": {"uri": uri}}),
                            json_event({"jsonrpc": "2.0", "id": message["id"],
                                        "result": {}}))
            else:
                self.result(message, {})
        elif method == "tools/call":
            args = message["params"]["arguments"]
            if "how" in args:
                self.behave(message, args["how"])
            else:
                self.result(message, text("read: " + args.get("text", "")))
        else:
            self.answer(json.dumps({
                "jsonrpc": "2.0", "id": message["id"],
                "error": {"code": -32601, "message": "no"}}))

    def behave(self, message, how):
        number = message.get("id")
        good = json.dumps({"jsonrpc": "2.0", "id": number,
                           "result": text("done")})
        event = f"event: message\ndata: {good}\n\n"
        if how.startswith("status "):
            self.answer("<b>no</b>", int(how[7:]), "text/html",
                        Retry_After="7")
        elif how.startswith("scope "):
            self.answer("no", 403, "text/plain", WWW_Authenticate=(
                f'Bearer error="insufficient_scope", scope="{how[6:]}"'))
        elif how.startswith("away "):
            self.answer("", 307, None, Location=how[5:])
        elif how == "good":
            self.answer(good)
        elif how == "reflect":
            self.answer(good.replace("done", self.headers[
                self.server.site.header]))
        elif how == "reflect event":
            key = self.headers[self.server.site.header]
            self.events(": " + key[:30], key[30:] + "\n\n", event)
        elif how == "html":
            self.answer("<html>hello", 200, "text/html")
        elif how == "nothing":
            self.answer("", 202, None)
        elif how == "garbage":
            self.answer('{"jsonrpc":"2.0","id":%s,"result":{"a":1,"a":2}}'
                        % number)
        elif how == "other id":
            self.answer(good.replace(f'"id": {number}', f'"id": {number + 1}'))
        elif how == "big":
            self.answer(good.replace("done", "x" * (5 << 20)))
        elif how == "events":
            self.events(
                "\ufeff: hi\r\n\r\nid: 1\r\nretry: 5\r\n\r\n", json_event(
                    {"jsonrpc": "2.0", "method": "notifications/message",
                     "params": {"level": "info", "data": "in between"}}),
                event[:20], event[20:].replace("\n", "\r"))
        elif how.startswith("resume"):
            # The stream ends, and the answer is where it goes on.
            key = f"c{number}"
            later = self.server.site.later
            later[key] = {
                "resume": [event],
                "resume twice": [f"id: {key}x\ndata:\n\n"],
                "resume quietly": [": still working\n\n"] * 2 + [event],
                "resume after 503": [503, 429, event],
                "resume after nothing": ["", event],
                "resume after 404": [404, event],
            }[how]
            later[key + "x"] = [event]
            self.events(f"id: {key}\nretry: 100\ndata: \n\n")
        elif how == "ping":
            self.events(json_event({"jsonrpc": "2.0", "id": "p1",
                                    "method": "ping"}), event)
        elif how == "events open":
            # Without an end: until the client goes.
            self.events(event, close=False)
            self.rfile.read(1)
        elif how.startswith("wait"):
            self.server.site.release.wait(60)
            self.answer(good)
        elif how == "events cut":
            self.events(event[:40], close=False)
        elif how == "events none":
            self.events(": nothing\n\n")
        elif how == "events long":
            self.events("data: ", b"x" * (5 << 20), "\n\n", event)
        elif how == "endpoint":
            self.events("event: endpoint\ndata: /messages\n\n")
        elif how == "cut":
            self.raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                     f"Content-Length: 500\r\n\r\n{good}")
        elif how == "close":
            self.raw("")
        elif how == "gzip":
            self.answer(good, Content_Encoding="gzip")
        elif how == "twice":
            self.raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n"
                     "Content-Length: 4\r\n\r\n{}")
        elif how in RAW:
            self.raw(RAW[how].replace(b"GOOD", good.encode()).replace(
                b"LENGTH", str(len(good)).encode()))
        elif how == "second answer":
            self.events(event, event.replace("done", "changed"))
        elif how == "ask":
            self.events(json_event({
                "jsonrpc": "2.0", "id": 1, "method": "elicitation/create",
                "params": {"message": "Your password?"}}), event)
        elif how == "bad notice":
            self.events(json_event({"jsonrpc": "2.0", "method": 5}), event)
        elif how in BODIES:
            self.answer(BODIES[how].replace(b"ID", str(number).encode()))
        elif how == "lose":
            self.server.site.session += 1
            self.answer(good)
        else:
            raise ValueError(how)


def text(value):
    return {"content": [{"type": "text", "text": value}]}


def json_event(message):
    return f"data: {json.dumps(message)}\n\n"


class McpHttp:
    """url, ca: its address and CA; seen: (path, headers, message) of each
    POST; how: not empty: how it answers everything; release: ends calls that
    wait."""

    def __init__(self, work, name, wants="", header="authorization",
                 sessions=True, revision="2025-06-18", name_of="session-{}",
                 host="localhost", address="127.0.0.1", tls=None,
                 modern=None):
        self.dir = tls or os.path.join(work, "tls-" + name)
        make_certificates(self.dir, [host])
        self.ca = os.path.join(self.dir, "ca.pem")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(self.dir, "leaf.pem"),
                                os.path.join(self.dir, "leaf.key"))
        s = http.server.ThreadingHTTPServer((address, 0), Handler)
        s.daemon_threads = True
        # Clients that do not trust the certificate, or go away.
        s.handle_error = lambda *_: None
        s.socket = context.wrap_socket(s.socket, server_side=True,
                                       do_handshake_on_connect=False)
        s.site = self
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)
        self.seen, self.how, self.session = [], "", 0
        self.release = threading.Event()
        self.wants, self.header, self.sessions = wants, header, sessions
        self.revision, self.tools = revision, [READ, ACT]
        self.name_of, self.modern = name_of, modern
        self.challenge = 'Bearer resource_metadata="https://localhost/x"'
        self.moves, self.moved = {}, 307  # path -> Location of a redirect
        # Its own stream: None: 405; a status; or what each GET is answered.
        self.own, self.gets, self.later = None, [], {}
        # How it answers the end of a session: a status; None: not at all.
        self.end, self.ends = 200, []
        self.resources = []  # addresses; some: they can be subscribed to
        self.restless = ()   # of these: they change before that is answered
        self.documents = {}  # path -> JSON, bytes, or function(handler)
        self.accepts = lambda token: not self.wants or token == self.wants
        threading.Thread(target=s.serve_forever, daemon=True).start()
        self.origin = f"https://{host}:{s.server_address[1]}"
        self.url = self.origin + "/mcp"

    def methods(self):
        """Returns the methods of all messages; "-" for an answer."""
        with self.lock:
            return [m.get("method", "-") for _, _, m in self.seen]

    def calls(self, how):
        """Returns how often a call came with this argument."""
        with self.lock:
            return sum(m.get("params", {}).get("arguments", {})
                       .get("how") == how for _, _, m in self.seen)
