#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests a corporate proxy: which connections use or bypass it, its credential,
a corporate CA, and the messages if it refuses. The proxy is simulated and
resolves names that nobody else knows."""
import http.server
import json
import os
import secrets
import socket
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from oauth_helper import Login, TokenServer, tokens  # noqa: E402
from web import Web  # noqa: E402

t = h.Tap()
USER = "corp\\me"
PASSWORD = "p@ss:w/" + secrets.token_hex(12)
ESCAPED = "corp%5Cme:" + PASSWORD.replace("@", "%40").replace(
    ":", "%3A").replace("/", "%2f")
PAGE = b"a page behind the proxy"
FETCH = {"fetch": {"http_fetch": {
    "url": ["fetch-url"], "headers": ["none"], "max_length": ["none"],
    "format": ["none"], "timeout": ["none"]}}}
NET = {"net": {n: {} for n in ("tunnel", "raw", "direct", "many", "https")}}


class Proxy(h.Process):
    def __init__(self, work, *options, password=PASSWORD, name="proxy"):
        self.dir = os.path.join(work, name)
        os.makedirs(self.dir, exist_ok=True)
        self.log_path = os.path.join(self.dir, "log.jsonl")
        self.mode_path = os.path.join(self.dir, "mode")
        argv = [h.PYTHON, os.path.join(h.STANDINS, "connect_proxy.py"),
                "--log", self.log_path, "--mode", self.mode_path, *options]
        if password is not None:
            argv += ["--user", USER, "--password", password]
        super().__init__(argv, os.path.join(self.dir, "stderr"))
        self.port = self.ready["port"]
        self.url = f"http://127.0.0.1:{self.port}"

    def seen(self):
        return [e for e in h.read_lines(self.log_path)
                if e["ev"] == "connect"]

    def mode(self, text, hold=False):
        with open(self.mode_path + ".new", "w", encoding="utf-8") as f:
            json.dump({"bytes": text, "hold": hold}, f)
        os.rename(self.mode_path + ".new", self.mode_path)


def ask(s, kind="anthropic"):
    m = s.model(f"api.{kind}.com")
    r = m.message("hello", kind)
    m.close()
    return r


def call(m, tool, **arguments):
    r = m.call(tool, arguments)
    return json.loads(h.text_of(r))


def net_server(*domains):
    return {"net": {
        "command": h.PYTHON,
        "args": [os.path.join(h.STANDINS, "mcp_net.py")],
        "sandbox": {"network": {"allowPrivate": True,
                                "allowedDomains": list(domains)},
                    "filesystem": {"allowRead": [h.STANDINS]}}}}


class Page(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)


def web():
    s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    s.daemon_threads = True
    threading.Thread(target=s.serve_forever, daemon=True).start()
    return s.server_address[1]


def speaks_first():
    """A server that sends a greeting, as SSH and mail servers do."""
    listener = socket.create_server(("127.0.0.1", 0))

    def run():
        while True:
            s, _ = listener.accept()
            s.sendall(b"220 hello\r\n")
            s.recv(100)
            s.close()

    threading.Thread(target=run, daemon=True).start()
    return listener.getsockname()[1]


def leaks(dirs, text):
    found = []
    for d in dirs:
        for root, _, names in os.walk(d):
            for n in names:
                path = os.path.join(root, n)
                if os.path.isfile(path) and not os.path.islink(path):
                    with open(path, "rb") as f:
                        if text.encode() in f.read():
                            found.append(path)
    return found


def refusal(s):
    """Returns the status and error of a model request, and the log's text for
    it."""
    n = len(s.events("modelResponse"))
    r = ask(s)
    end = h.wait_for(lambda: s.events("modelResponse")[n:], "a record")[-1]
    return r.status, r.body.decode(), end.get("error", "")


def test_all_through(work):
    pair = tokens()
    login = Login(work, pair, seconds=-10)
    server = TokenServer(work, seeds=[pair])
    p = h.Provider(work)
    proxy = Proxy(work, "--map", f"api.openai.com:443={p.port}",
                  "--map", f"auth.example:443={server.ready['port']}",
                  "--map", f"far.corp.example:7001={web()}",
                  "--map", f"mail.corp.example:25={speaks_first()}")
    ca = ""
    for path in (p.ca, server.ca):
        with open(path, encoding="ascii") as f:
            ca += f.read()
    h.put(os.path.join(work, "corporate.pem"), ca, 0o600)
    config = {
        "proxy": {"url": proxy.url, "ca": os.path.join(work, "corporate.pem"),
                  "credential": {"file": h.put(os.path.join(work, "proxy-key"),
                                               f"{USER}:{PASSWORD}\n",
                                               0o600)}},
        "credentials": {
            "openai": {"env": "OPENAI_API_KEY"},
            "anthropic": {"login": "claude-code", "file": login.path}},
        "providers": {"anthropic": {
            "upstream": "https://auth.example",
            "token": "https://auth.example/oauth/token"}}}
    rules = [h.rule("all", "allow", server=["net", "fetch"])]
    servers = {**net_server({"host": "mail.corp.example:25", "opaque": True}), "fetch": {
        "command": "icfetch", "workspace": False, "sandbox": {"network": {
            "allowedDomains": [{"host": "far.corp.example:7001",
                                "opaque": True}]}}}}
    with h.Session(work, servers, rules, {**NET, **FETCH},
                   config=config) as s:
        t.equal(ask(s, "openai").status, 200,
                "a model request, with the corporate CA")
        r = ask(s)
        t.equal(r.status, 200, "one with a login that is to be renewed")
        t.ok(len(server.seen("token")) == 1 or
             server.order("/state")["refreshed"] == 1,
             "which was renewed", server.order("/state"))
        mcp = s.client()
        r = mcp.call("fetch__http_fetch",
                     {"url": "http://far.corp.example:7001/x"})
        t.contains(h.text_of(r), PAGE.decode(),
                   "what a server fetches")
        for _ in range(5):
            got = call(mcp, "net__tunnel", target="mail.corp.example:25",
                       text="x")
            if got.get("body") != "220 hello\r\n":
                break
        t.ok(got.get("body") == "220 hello\r\n" or
             "220 hello" in got.get("head", ""),
             "a host that speaks first is heard", got)
        mcp.close()
        seen = proxy.seen()
        t.equal({e["target"] for e in seen},
                {"api.openai.com:443", "auth.example:443",
                 "far.corp.example:7001", "mail.corp.example:25"},
                "all of it by the proxy")
        t.equal({len(e["lines"]) for e in seen}, {3},
                "a line, a host, a credential")
        first = seen[0]["lines"]
        t.equal(first[:2], [f"CONNECT {seen[0]['target']} HTTP/1.1",
                            f"Host: {seen[0]['target']}"], "as is due")
        t.ok(all(e["rest"] == "" and e["status"] == 200 for e in seen),
             "and nothing else")
        status = json.loads(s.icctl("--json", "status").stdout)["proxy"]
        t.equal((status["host"], status["port"], status["credential"],
                 status["state"], status["from"]),
                ("127.0.0.1", proxy.port, True, "ok", "config.json"),
                "icctl status knows it")
        t.contains(s.icctl("status").stdout, f"127.0.0.1:{proxy.port}",
                   "for people, too")
        start = s.events("start")[0]["detail"]
        t.equal(start["proxy"], {
            "credential": True, "direct": [], "from": "config.json",
            "host": "127.0.0.1", "port": proxy.port, "resolves": "proxy"},
            "so does the first record")
        t.ok("tunneld" in s.workers(), "tunneld is one of the workers")
        for word in (PASSWORD, ESCAPED):
            t.equal(leaks([s.dir, s.home], word), [],
                    "the credential is in no file of ours")
    proxy.end()
    p.end()
    server.end()


def test_environment(work):
    p = h.Provider(work)
    proxy = Proxy(work, "--map", f"api.anthropic.com:443={p.port}")
    config = {"proxy": {"ca": p.ca},
              "credentials": {"anthropic": {"env": "ANTHROPIC_API_KEY"},
                              "openai": {"env": "OPENAI_API_KEY"}},
              "providers": {"openai": {"upstream": p.url, "ca": p.ca}}}
    url = f"http://{ESCAPED}@127.0.0.1:{proxy.port}/"
    env = {"https_proxy": url, "HTTP_PROXY": url, "no_proxy": "<local>,  10.0.0.0/8,"
           ".corp.example,[::1]:1"}
    with h.Session(work, config=config, env=env) as s:
        t.equal(ask(s).status, 200, "https_proxy, with a credential")
        t.equal([e["target"] for e in proxy.seen()][:1],
                ["api.anthropic.com:443"], "leads through it")
        n = len(proxy.seen())
        r = ask(s, "openai")
        t.ok(r.status == 200 and len(proxy.seen()) == n,
             "a loopback upstream does not", r.status)
        status = json.loads(s.icctl("--json", "status").stdout)["proxy"]
        t.equal((status["from"], status["direct"]), ("https_proxy", 3),
                "whence it is; <local> is left out")
        t.contains(s.icctl("status").stdout, "https_proxy, with a "
                   "credential): ok; it resolves host names", "in a line")
        r = s.icctl("doctor")
        t.ok(f"127.0.0.1:{proxy.port} (https_proxy, with a credential)" in
             r.stdout and PASSWORD not in r.stdout and ESCAPED not in
             r.stdout, "icctl doctor says it, and nothing more", r.stdout)
        t.ok(ESCAPED not in s.process.stderr() + s.session_log(), "no log does")
    proxy.end()
    p.end()


def test_no_proxy(work):
    p = h.Provider(work)
    proxy = Proxy(work, password=None)
    rules = [h.rule("all", "allow", server=["net"])]
    ours = f"127.0.0.1:{p.port}"
    config = {"proxy": {"url": proxy.url, "noProxy": [
        "127.0.0.1", "*.direct.example", "192.0.2.0/24"]}}
    targets = [ours, "a.direct.example:443", "192.0.2.7:443",
               "198.51.100.7:443", "169.254.169.254:80",
               "metadata.google.internal:80", "a.proxied.example:443"]
    with h.Session(work, net_server(*targets), rules, NET,
                   config=config) as s:
        m = s.client()
        t.contains(call(m, "net__tunnel", target=ours, text="x")["head"],
                   " 200 ", "loopback: direct")
        for target, words in (
                ("a.direct.example:443", "does not resolve"),
                ("192.0.2.7:443", "documentation address"),
                ("198.51.100.7:443", "documentation address"),
                ("169.254.169.254:80", "link-local address"),
                ("metadata.google.internal:80", "a metadata service")):
            got = call(m, "net__tunnel", target=target, text="x")
            t.contains(got["head"], words, f"{target}: screened or direct")
        t.equal(proxy.seen(), [], "none of them is asked of the proxy")
        got = call(m, "net__tunnel", target=targets[-1], text="x")
        t.contains(got["head"], "the proxy cannot reach the host (502)",
                   "a name that is not listed is")
        t.equal([e["lines"] for e in proxy.seen()],
                [[f"CONNECT {targets[-1]} HTTP/1.1", f"Host: {targets[-1]}"]],
                "without a credential, where there is none")
        m.close()
    proxy.end()
    p.end()


MODES = (
    ("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=x\r\n\r\n", False,
     "wants a credential", "the proxy wants a credential, and none is set "
     "(407)"),
    ("HTTP/1.1 407 No\r\nProxy-Authenticate: Negotiate, NTLM\r\n\r\n", False,
     "wants a credential", "takes no user name and password (407"),
    ("HTTP/1.1 403 No\r\nX: y\r\n\r\n", False, "forbids the provider's host",
     "the proxy forbids this host (403)"),
    ("HTTP/1.1 502 No\r\n\r\n", False, "cannot reach the provider",
     "the proxy cannot reach the host (502)"),
    ("HTTP/1.0 504 No\r\n\r\n", False, "cannot reach the provider",
     "the host does not answer the proxy (504)"),
    ("HTTP/1.1 204 No\r\n\r\n", False, "makes no sense",
     "the proxy answered 204 to a CONNECT"),
    ("SSH-2.0-OpenSSH_9.2\r\n", False, "makes no sense",
     "what the proxy answers is no HTTP"),
    ("HTTP/1.1 200 OK\r\nX: " + "y" * 9000 + "\r\n\r\n", False,
     "makes no sense", "over 8 KiB"),
    ("HTTP/1.1 200 OK\r\n\r\nearly", True, "makes no sense",
     "sent bytes before the tunnel was used"),
    ("", False, "makes no sense", "closed the connection without an answer"),
    ("HTTP/1.1 200 OK\r\nX:", False, "makes no sense",
     "closed the connection within its answer"),
)


def test_refusals(work):
    p = h.Provider(work)
    proxy = Proxy(work, "--map", f"api.anthropic.com:443={p.port}",
                  password=None)
    config = {"proxy": {"url": proxy.url, "ca": p.ca},
              "credentials": {"anthropic": {"env": "ANTHROPIC_API_KEY"}}}
    with h.Session(work, config=config) as s:
        for text, hold, body, detail in MODES:
            proxy.mode(text, hold)
            status, said, error = refusal(s)
            t.equal(status, 502, f"502: {detail}")
            t.contains(said, body, "the agent is told, in constant text")
            t.contains(error, detail, "the log, why")
        t.contains(json.loads(s.icctl("--json", "status").stdout)["proxy"][
            "text"], MODES[-1][3], "icctl status has the last")
        t.contains(s.session_log(), "corporate proxy 127.0.0.1",
                   "so has session.log")
        os.unlink(proxy.mode_path)
        t.equal(ask(s).status, 200, "and a request after them goes through")
        proxy.end()
        # The spare connection made ahead is used, or found closed.
        answers = [refusal(s) for _ in range(2)]
        t.contains(answers[-1][1], "cannot be reached", "a proxy that died")
        r = s.icctl("doctor")
        t.ok(r.returncode == 1 and f"127.0.0.1:{proxy.port} (config.json): "
             "Connection refused" in r.stdout, "icctl doctor sees that, too",
             r.stdout)
        t.contains(answers[-1][2], f"no connection to the proxy 127.0.0.1:"
                   f"{proxy.port}: Connection refused", "is named in the log")
    p.end()


def test_added(work):
    """A host that a person adds during the session also goes through the
    proxy."""
    w = Web(work, "docs", host="docs.example.com")
    proxy = Proxy(work, "--map", "docs.example.com:443="
                  + w.url.rsplit(":", 1)[1])
    config = {"proxyTools": True, "proxy": {
        "url": proxy.url, "ca": w.ca, "credential": {
            "command": ["printf", "%s\\n", f"{USER}:{PASSWORD}"]}}}
    with h.Session(work, {}, [], {}, config=config) as s:
        m = s.client()
        asked = m.start_call("proxy__add_proxy_domain", {
            "domain": "docs.example.com", "justification": "x"})
        s.icctl("approve", s.held()["id"], check=True)
        t.contains(h.text_of(asked.wait()), "added",
                   "a host is added in the session")
        a = s.model("docs.example.com")
        r = a.request("GET", "/x")
        a.close()
        t.equal((r.status, r.body), (200, b"docs /x"), "and read")
        t.equal({e["target"] for e in proxy.seen()},
                {"docs.example.com:443"}, "through the proxy")
        m.close()
    proxy.end()


INSIDE = "inside.corp.example"


def looked_into(work, proxy, **ca):
    """Runs sessions' servers behind a proxy that intercepts TLS. Returns their
    results."""
    entry = {"command": "icfetch", "workspace": False, "sandbox": {
        "network": {"allowedDomains": [INSIDE]}}}
    other = os.path.join(work, "other.pem")
    if not os.path.exists(other):
        Web(work, "other")
    own = {**entry, "env": {"SSL_CERT_FILE": other}, "sandbox": {
        **entry["sandbox"], "filesystem": {"allowRead": [other]}}}
    log = os.path.join(work, "echo" + str(len(ca)), "log")
    servers = {**net_server(INSIDE), "fetch": entry, "own": own,
               "echo": h.echo_server(log)}
    tools = {**FETCH, "own": FETCH["fetch"], **NET, "echo": h.ECHO_TOOLS}
    config = {"proxy": {"url": proxy.url, **ca}}
    got = {}
    with h.Session(os.path.join(work, "s" + str(len(ca))), servers,
                   [h.rule("all", "allow")], tools, config=config) as s:
        m = s.mcp()
        m.initialize()
        m.list_tools()
        url = f"https://{INSIDE}/x"
        for name in ("fetch", "own"):
            r = m.call(name + "__http_fetch", {"url": url})
            got[name] = r["content"][0]["text"]
        got["python"] = json.dumps(call(m, "net__https", url=url))
        if os.path.exists("/usr/bin/curl"):
            got["curl"] = json.dumps(call(m, "net__https", url=url,
                                          run="/usr/bin/curl -sS"))
        got["names"] = call(m, "net__https", url="", run="/usr/bin/printenv "
                            "NODE_EXTRA_CA_CERTS GIT_SSL_CAINFO "
                            "REQUESTS_CA_BUNDLE")["body"]
        env = m.call("echo__env", {})["content"][0]["text"]
        t.ok("SSL_CERT_FILE" not in env and "CA_BUNDLE" not in env,
             "a server without network is told of no roots", env)
        t.ok("ca-bundle" in s.agent_env()["SSL_CERT_FILE"] and
             s.agent_env()["NODE_EXTRA_CA_CERTS"].endswith("ca-cert.pem"),
             "nor does the agent get others than ever")
        with open(os.path.join(s.dir, "orientation", "ca-bundle.pem"),
                  encoding="ascii") as f:
            got["agent"] = f.read()
        m.close()
    return got


def test_looks_into(work):
    ca_dir = os.path.join(work, "mitm")
    proxy = Proxy(work, "--map", f"{INSIDE}:443={web()}", "--intercept",
                  INSIDE + ":443", "--ca-dir", ca_dir, password=None)
    ca = os.path.join(ca_dir, "ca.pem")
    got = looked_into(work, proxy)
    for name, words in (("fetch", "the host's certificate is not good: "),
                        ("python", "CERTIFICATE_VERIFY_FAILED"),
                        ("curl", "certificate")):
        if name in got:
            t.ok(words in got[name] and PAGE.decode() not in got[name],
                 f"a proxy that looks into TLS: {name} refuses it", got[name])
    t.equal(got["names"], "", "no variable names other roots")
    t.contains(got["fetch"], 'into config.json: "proxy":{"ca":...}',
               "and icfetch says what is missing")
    got = looked_into(work, proxy, ca=ca)
    for name in ("fetch", "python", "curl"):
        if name in got:
            t.contains(got[name], PAGE.decode(), f"with proxy.ca {name} "
                       "takes it")
    t.equal(got["names"], "/run/ironcurtain/ca-bundle.pem\n" * 3,
            "the variables of other clients name it, too")
    t.contains(got["own"], "the host's certificate is not good",
               "a server's own SSL_CERT_FILE wins")
    with open(ca, encoding="ascii") as f:
        t.ok(f.read().splitlines()[1] not in got["agent"],
             "the agent's bundle has no corporate CA")
    proxy.end()


def test_silent(work):
    proxy = Proxy(work, "--hold", "api.anthropic.com:443", password=None)
    config = {"proxy": {"url": proxy.url},
              "credentials": {"anthropic": {"env": "ANTHROPIC_API_KEY"}}}
    with h.Session(work, config=config) as s:
        status, said, error = refusal(s)
        t.ok(status == 502 and "does not answer" in said,
             "a proxy that says nothing", said)
        t.equal(error, "the proxy did not answer the CONNECT within 20 "
                "seconds", "is named with its deadline")
    proxy.end()


def test_wrong_credential(work):
    p = h.Provider(work)
    proxy = Proxy(work, "--map", f"api.anthropic.com:443={p.port}")
    config = {"proxy": {"url": proxy.url, "ca": p.ca, "credential": {
        "env": "CORPORATE"}},
        "credentials": {"anthropic": {"env": "ANTHROPIC_API_KEY"}}}
    wrong = "me:" + secrets.token_hex(16)
    with h.Session(work, config=config, env={"CORPORATE": wrong}) as s:
        status, said, error = refusal(s)
        t.ok(status == 502 and "does not accept" in said,
             "a wrong credential", said)
        t.contains(error, "does not accept the credential (407)", "is named")
        t.equal(json.loads(s.icctl("--json", "status").stdout)["proxy"][
            "state"], "refuses us", "by icctl status as well")
        t.contains(s.icctl("status").stdout, "proxy.credential of config",
                   "with what to do")
        t.contains(s.icctl("doctor").stdout, "proxy 127.0.0.1:"
                   f"{proxy.port} (config.json)".replace("proxy ", ""),
                   "icctl doctor tries that of config.json")
        t.equal(leaks([s.dir, s.home], wrong), [], "and not shown")
    proxy.end()
    p.end()


def test_end(work):
    proxy = Proxy(work)
    config = {"proxy": {"url": proxy.url},
              "credentials": {"anthropic": {"env": "ANTHROPIC_API_KEY"}}}
    with h.Session(work, config=config) as s:
        h.kill(s.workers()["tunneld"][0])
        t.equal(s.wait(), 70, "tunneld's end is the session's")
        t.contains(s.process.stderr() + s.session_log(), "tunneld",
                   "which says who it was")
    proxy.end()


def run(part):
    with h.workdir() as w, t.case(part.__name__):
        part(w)


# Runs in parallel, since it waits for a deadline.
silent = threading.Thread(target=run, args=(test_silent,))
silent.start()
for each in (test_all_through, test_environment, test_no_proxy,
             test_added, test_looks_into, test_refusals, test_wrong_credential, test_end):
    run(each)
silent.join()
t.done()
