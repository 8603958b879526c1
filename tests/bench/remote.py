# SPDX-License-Identifier: ISC
"""The cost of a call of a remote MCP server: the time from a client's request to its
answer, with a POST directly to the server, over a TLS connection that stays, and
through a session. Both ways have one server, a process that answers at once, or
after 20 ms, and the same program as their client. Each round runs both ways, in
alternating order; a ratio is the median of the rounds' ratios."""
import http.client
import http.server
import json
import os
import socket
import ssl
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
import harness as h  # noqa: E402
from provider_ca import make_certificates  # noqa: E402

REVISION = "2025-11-25"
# Calls in each round, and the most that a session may add to their time.
ROWS = {0: (500, None), 20: (100, 1.05)}
WAYS = ("direct", "session")
HELLO = {"protocolVersion": REVISION, "capabilities": {},
         "clientInfo": {"name": "bench", "version": "1"}}
TOOL = {"name": "wait", "description": "waits", "inputSchema": {
    "type": "object", "properties": {"ms": {"type": "integer"},
                                     "n": {"type": "integer"}}}}


class Handler(http.server.BaseHTTPRequestHandler):
    """The server. It keeps no sessions, so that both ways may use it at once."""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16

    def log_message(self, *_):
        pass

    def do_POST(self):
        m = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        params = m.get("params", {})
        answer = {"error": {"code": -32601, "message": "no such method"}}
        if m["method"] == "initialize":
            answer = {"result": {"protocolVersion": REVISION, "serverInfo": {
                "name": "far", "version": "1"}, "capabilities": {"tools": {}}}}
        elif m["method"] == "tools/list":
            answer = {"result": {"tools": [TOOL]}}
        elif m["method"] == "tools/call":
            time.sleep(params["arguments"]["ms"] / 1000)
            answer = {"result": {"content": [{"type": "text", "text": "done"}]}}
        body = json.dumps({"jsonrpc": "2.0", "id": m.get("id"),
                           **answer}).encode() if "id" in m else b""
        self.send_response(200 if body else 202)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def serve(directory):
    """Serve until the process is ended; its port is printed first."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(directory, "leaf.pem"),
                            os.path.join(directory, "leaf.key"))
    s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    s.daemon_threads = True
    s.handle_error = lambda *_: None
    s.socket = context.wrap_socket(s.socket, server_side=True,
                                   do_handshake_on_connect=False)
    print(json.dumps({"port": s.server_address[1]}), flush=True)
    s.serve_forever()


class Direct:
    """POSTs to the server."""

    def __init__(self, port, ca):
        self.n = 0
        self.c = http.client.HTTPSConnection(
            "localhost", port, context=ssl.create_default_context(cafile=ca))
        self.c.connect()
        self.c.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.request("initialize", HELLO)

    def request(self, method, params):
        self.n += 1
        self.c.request("POST", "/mcp", json.dumps({
            "jsonrpc": "2.0", "id": self.n, "method": method,
            "params": params}).encode(),
            {"Content-Type": "application/json",
             "MCP-Protocol-Version": REVISION,
             "Accept": "application/json, text/event-stream"})
        return json.loads(self.c.getresponse().read())["result"]

    def call(self, args):
        return self.request("tools/call", {"name": "wait", "arguments": args})


class Through:
    """An agent's connection to a session."""

    def __init__(self, path):
        self.n = 0
        self.s = socket.socket(socket.AF_UNIX)
        self.s.connect(path)
        self.lines = self.s.makefile("rb")
        self.request("initialize", HELLO)

    def request(self, method, params):
        self.n += 1
        self.s.sendall(json.dumps({
            "jsonrpc": "2.0", "id": self.n, "method": method,
            "params": params}).encode() + b"\n")
        while (m := json.loads(self.lines.readline())).get("id") != self.n:
            pass
        return m["result"]

    def call(self, args):
        return self.request("tools/call", {"name": "far__wait",
                                           "arguments": args})


def p50(way, ms):
    """Returns the median time of a call, in microseconds."""
    took, n = [], ROWS[ms][0]
    for i in range(n + n // 10):
        began = time.perf_counter()
        result = way.call({"ms": ms, "n": i})
        took.append((time.perf_counter() - began) * 1e6)
        if h.text_of(result) != "done":
            raise RuntimeError(result)
    return statistics.median(took[n // 10:])


def found(rounds):
    """Returns row -> way -> values, one for each round."""
    values = {ms: {w: [] for w in WAYS} for ms in ROWS}
    with h.workdir() as work:
        make_certificates(work, ["localhost"])
        ca = os.path.join(work, "ca.pem")
        server = h.Process([sys.executable, os.path.abspath(__file__), work],
                           os.path.join(work, "server"))
        url = f"https://localhost:{server.ready['port']}/mcp"
        with h.Session(work, {"far": {"url": url, "ca": ca}},
                       rules=[h.rule("all", "allow", server=["far"])],
                       config={"policy": {"trustedServers": ["far"]}}) as s:
            h.wait_for(lambda: json.loads(s.icctl("--json", "status").stdout)
                       ["servers"][0]["state"] == "ready", "the server")
            ways = {"direct": Direct(server.ready["port"], ca),
                    "session": Through(s.ready["sockets"]["mcp"])}
            for i in range(rounds):
                for ms, row in values.items():
                    for w in WAYS[::-1] if i % 2 else WAYS:
                        row[w].append(p50(ways[w], ms))
                print(f"round {i + 1} of {rounds}", file=sys.stderr)
        server.end()
    return values


def report(rounds, as_json):
    values = found(rounds)
    if as_json:
        print(json.dumps(values))
        return
    print(f"load {os.getloadavg()[0]:.2f}; {rounds} rounds; "
          "a call of a remote server, p50 us")
    for ms, v in values.items():
        pairs = list(zip(v["session"], v["direct"]))
        ratio, most = statistics.median(a / b for a, b in pairs), ROWS[ms][1]
        print(f"answered after {ms:2} ms  direct "
              f"{statistics.median(v['direct']):8.0f}  session "
              f"{statistics.median(v['session']):8.0f}  added "
              f"{statistics.median(a - b for a, b in pairs):6.0f}  "
              f"ratio {ratio:.3f}" + (f" (at most {most})" if most else ""))


if __name__ == "__main__":
    serve(sys.argv[1])
