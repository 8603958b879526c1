#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The client that the official conformance suite of MCP starts for one of its
client scenarios: a person's login with `icctl mcp login`, a session, and an agent
that calls the tools. The suite's servers speak plain HTTP on loopback; a front
of TLS stands before them, with names and addresses as on the public net, and
rewrites addresses in heads and documents both ways.

Argument: the address of the suite's server. The environment has the scenario's
name, revision and context."""
import http.client
import http.server
import json
import os
import re
import ssl
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness as h  # noqa: E402
from agent import RpcError  # noqa: E402
import mcp_login as ml  # noqa: E402
from provider_ca import make_certificates  # noqa: E402

# The suite wants a name that is reserved, which is no address of a document.
DOCUMENTS = (b"client.linear-like.com", b"conformance-test.local")
OURS = re.compile(rb"http(:|%3a)(//|%2f%2f)localhost(:|%3a)(\d+)", re.I)
THEIRS = re.compile(rb"https(:|%3a)(//|%2f%2f)(?:" + b"|".join(
    x.encode() for x in (ml.MCP_HOST, ml.AUTH_HOST)) + rb")(:|%3a)(\d+)", re.I)
# These are the connection's own.
HOP = ("connection", "keep-alive", "transfer-encoding", "content-length", "host",
       "date")
RULES = [h.rule("all", "allow", server=["far"]),
         *(h.rule(x, "allow", server=["far"], **{x: ["*"]})
           for x in ("resources", "prompts"))]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def pass_on(self):
        f = self.server.front
        n = int(self.headers.get("Content-Length", 0))
        body = f.inner(self.rfile.read(n))
        c = http.client.HTTPConnection("127.0.0.1", self.server.inner,
                                       timeout=60)
        c.request(self.command, f.inner(self.path.encode()).decode(),
                  body or None,
                  {k: f.inner(v.encode("latin-1")).decode("latin-1")
                   for k, v in self.headers.items() if k.lower() not in HOP})
        r = c.getresponse()
        flows = r.getheader("Content-Type", "").startswith("text/event-stream")
        self.send_response_only(r.status)
        for k, v in r.getheaders():
            if k.lower() not in HOP:
                self.send_header(k, f.outer(v.encode("latin-1")).decode(
                    "latin-1"))
        if flows:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for line in r:
                text = f.outer(line)
                self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")
        else:
            text = f.outer(r.read())
            if r.status not in (202, 204, 304):
                self.send_header("Content-Length", str(len(text)))
            elif r.status == 202:
                self.send_header("Content-Length", "0")
                text = b""
            self.end_headers()
            self.wfile.write(text)
        c.close()

    do_GET = do_POST = do_DELETE = do_PUT = do_HEAD = pass_on


class Front:
    """A listener for each of the suite's servers, made when its address is seen
    first: that is the MCP server, the others are those to log in at."""

    def __init__(self, work):
        self.dir = os.path.join(work, "tls")
        make_certificates(self.dir, [ml.MCP_HOST, ml.AUTH_HOST])
        self.ca = os.path.join(self.dir, "ca.pem")
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(os.path.join(self.dir, "leaf.pem"),
                                     os.path.join(self.dir, "leaf.key"))
        self.lock = threading.Lock()
        self.by_inner, self.by_outer = {}, {}

    def listen(self, inner):
        """Returns host and port before this port of the suite."""
        with self.lock:
            if inner not in self.by_inner:
                s = http.server.ThreadingHTTPServer((ml.ADDRESS, 0), Handler)
                s.daemon_threads = True
                s.handle_error = lambda *_: None
                s.socket = self.context.wrap_socket(
                    s.socket, server_side=True, do_handshake_on_connect=False)
                s.front, s.inner = self, inner
                host = ml.AUTH_HOST if self.by_inner else ml.MCP_HOST
                self.by_inner[inner] = host, s.server_address[1]
                self.by_outer[s.server_address[1]] = inner
                threading.Thread(target=s.serve_forever, daemon=True).start()
            return self.by_inner[inner]

    def outer(self, text):
        def put(m):
            host, port = self.listen(int(m[4]))
            return b"https%s%s%s%s%d" % (m[1], m[2], host.encode(), m[3], port)
        return OURS.sub(put, text)

    def inner(self, text):
        def put(m):
            return b"http%s%slocalhost%s%d" % (
                m[1], m[2], m[3], self.by_outer.get(int(m[4]), 1))
        return THEIRS.sub(put, text).replace(*DOCUMENTS)


class Client:
    def __init__(self, work, url, scenario, context):
        self.front = Front(work)
        self.scenario, self.context = scenario, context
        self.url = self.front.outer(url.encode()).decode()
        entry = {"url": self.url, "ca": self.front.ca}
        config = {"policy": {"trustedServers": ["far"]}}
        if scenario == "auth/pre-registration":
            entry["oauth"] = {"clientId": context["client_id"]}
            secret = os.path.join(work, "secret")
            h.put(secret, context["client_secret"], 0o600)
            config["serverCredentials"] = {
                "far": {"clientSecret": {"file": secret}}}
        elif scenario == "auth/basic-cimd":
            entry["oauth"] = {
                "clientIdMetadata": f"https://{DOCUMENTS[0].decode()}/"
                                    "client-metadata.json"}
        self.s = h.Session(work, {"far": entry}, rules=RULES, config=config)
        self.m = None

    def log_in(self, *options):
        status, text = ml.log_in(self.s.env, "far", self.front.ca, *options)
        print(f"login: {status}\n{text}", flush=True)
        return status == 0

    def row(self):
        rows = json.loads(self.s.icctl("--json", "status").stdout)["servers"]
        return next(r for r in rows if r["name"] == "far")

    def begin(self):
        self.s.start()
        h.wait_for(lambda: self.row()["state"] in ("ready", "gone"),
                   "the server")
        print("server:", self.row(), flush=True)
        self.m = self.s.mcp()
        self.m.initialize()
        return self.m.list_tools()

    def call(self, tool, args=None):
        """Call it, and accept the questions that are asked meanwhile."""
        p = self.m.start_call("far__" + tool, args or {})
        while not p.done.is_set():
            h.wait_for(lambda: p.done.is_set() or self.s.pending(), tool)
            for q in self.s.pending():
                if q.get("rule") == "login-scope":
                    continue
                r = self.s.icctl("answer", "--yes", q["id"])
                print("answer:", r.returncode, r.stdout, r.stderr)
        try:
            text = h.text_of(p.wait())
        except RpcError as e:
            text = e.error["message"]
        print(f"{tool}: {text}", flush=True)
        return text

    def calls(self, tools):
        name = self.scenario
        own = [x["name"][5:] for x in tools if x["name"].startswith("far__")]
        print("tools:", own, flush=True)
        if name == "tools_call":
            self.call("add_numbers", {"a": 5, "b": 3})
        elif name == "http-custom-headers":
            for x in self.context["toolCalls"]:
                self.call(x["name"], x["arguments"])
        elif name == "json-schema-2020-12-preservation":
            schema = next(x["inputSchema"] for x in tools
                          if x["name"] == "far__json_schema_2020_12_tool")
            self.call("json_schema_echo", {"schema": schema})
        elif name == "json-schema-ref-no-deref":
            pass
        else:
            for x in own:
                self.call(x)
        if name == "http-standard-headers":
            for r in self.m.request("resources/list")["resources"]:
                self.m.request("resources/read", {"uri": r["uri"]})
            for p in self.m.request("prompts/list")["prompts"]:
                self.m.request("prompts/get", {"name": p["name"]})

    def run(self):
        # Old servers publish no addresses: the person says that it is right.
        yes = ["--yes"] if self.scenario.endswith("-fallback") else []
        if self.scenario.startswith("auth/") and not self.log_in(*yes):
            return 1
        try:
            self.calls(self.begin())
            if self.scenario in ("auth/scope-step-up",
                                 "auth/scope-retry-limit"):
                hold = self.s.held()
                print(hold["effect"], flush=True)
                self.log_in("--scope", hold["effect"].split("--scope ")[1]
                            .rsplit(" ", 1)[0].strip("'"))
                self.call("test-tool")
            elif self.scenario == "auth/authorization-server-migration":
                self.call("test-tool")
                self.log_in()
                self.call("test-tool")
            print(self.s.session_log())
        finally:
            self.s.stop()
        return 0


def main():
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    with h.workdir() as work:
        return Client(work, sys.argv[1], os.environ["MCP_CONFORMANCE_SCENARIO"],
                      context).run()


if __name__ == "__main__":
    sys.exit(main())
