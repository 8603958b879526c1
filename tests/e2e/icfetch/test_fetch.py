#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""icfetch through a session: the pages that it fetches, the requests that it
refuses, and that it reaches only hosts on its list."""
import http.server
import os
import ssl
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
TOGETHER = 8        # calls that icfetch serves concurrently
TOOLS = {"fetch": {"http_fetch": {
    "url": ["fetch-url"], "headers": ["none"], "max_length": ["none"],
    "format": ["none"], "timeout": ["none"]}}}
PAGE = b"<html><head><title>T</title><script>no</script></head>" \
       b"<body><h1>Head</h1><p>One <a href='/two'>two</a></p></body></html>"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, body, status=200, kind="text/html", **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for k, v in headers.items():
            self.send_header(k.replace("_", "-"), v)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        s = self.server
        s.seen.append((self.path, dict(self.headers)))
        if self.path == "/slow":
            s.release.wait(30)
        if self.path == "/together":
            s.together.wait(20)
        moves = {"/here": "/page", "/round": "/round",
                 "/away": f"https://localhost:{s.other}/page",
                 "/down": f"http://localhost:{s.port}/page",
                 "/bad": "https://u@x/"}
        if self.path in moves:
            self.answer(b"", 302, Location=moves[self.path])
        elif self.path == "/long":
            self.answer("é".encode() * 20000, kind="text/plain")
        elif self.path == "/huge":
            self.answer(b"x" * (11 << 20), kind="text/plain")
        elif self.path == "/bytes":
            self.answer(b"\0\1\2", kind="image/png")
        elif self.path == "/gzip":
            self.answer(b"zz", Content_Encoding="gzip")
        elif self.path == "/gone":
            self.answer(b"<p>gone</p>", 404)
        elif self.path == "/chunks":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
        elif self.path == "/smuggle":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n"
                             b"Content-Length: 2\r\n\r\nab")
            self.close_connection = True
        else:
            self.answer(PAGE)


def origin(context):
    s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    s.daemon_threads = True
    s.other = 0
    s.seen, s.port, s.release = [], s.server_address[1], threading.Event()
    s.together = threading.Barrier(TOGETHER)
    if context is not None:
        s.socket = context.wrap_socket(s.socket, server_side=True)
    threading.Thread(target=s.serve_forever, daemon=True).start()
    return s


def certificate(work, name):
    """Returns a root certificate that is also a host's certificate, and its
    context."""
    cert, key = (os.path.join(work, f"{name}.{x}") for x in ("pem", "key"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                    "-subj", f"/CN={name}", "-addext",
                    f"subjectAltName=DNS:{name}", "-keyout", key, "-out",
                    cert], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return cert, context


def main(work):
    cert, context = certificate(work, "localhost")
    other_cert, wrong = certificate(work, "other.example")
    del other_cert
    good, away, bad = origin(context), origin(context), origin(wrong)
    plain = origin(None)
    good.other = away.port
    ports = [good.port, bad.port, plain.port]
    servers = {"fetch": {
        "command": "icfetch", "workspace": False,
        "env": {"SSL_CERT_FILE": cert},
        "sandbox": {"filesystem": {"allowRead": [cert]},
                    "network": {"allowPrivate": True, "allowedDomains": [
                        *(f"localhost:{p}" for p in ports[:2]),
                        {"host": f"localhost:{plain.port}",
                         "opaque": True}]}}}}
    rules = [h.rule("all", "allow", server=["fetch"])]
    with h.Session(work, servers, rules, TOOLS) as s:
        m = s.client()

        def get(path, port=None, scheme="https", **more):
            r = m.call("fetch__http_fetch", {
                "url": f"{scheme}://localhost:{port or good.port}{path}",
                **more})
            return h.outcome(r)

        t.equal(get("/page"), (False, "HTTP 200, text/html\n\nT\n\n# Head\n\n"
                                      "One [two](/two)"), "a page")
        t.equal(get("/page", format="text")[1].split("\n\n", 1)[1],
                "T\n\nHead\n\nOne two", "as text")
        t.contains(get("/page", format="html")[1], PAGE.decode(), "as it is")
        t.equal(get("/here")[1].startswith("HTTP 200"), True,
                "a redirect within the origin is followed")
        err, text = get("/away")
        t.ok(not err and f"https://localhost:{away.port}/page" in text and
             "call http_fetch" in text,
             "one to another origin is told, not followed", text)
        t.equal(away.seen, [], "nothing was asked there")
        err, text = get("/down")
        t.ok("another origin" in text, "nor is one without TLS", text)
        for path, words in (("/round", "more than 5 redirects"),
                            ("/bad", "leads nowhere"),
                            ("/gzip", "compressed"),
                            ("/smuggle", "no good HTTP")):
            err, text = get(path)
            t.ok(err and words in text, f"{path}: {words}", text)
        t.equal(get("/gone"), (True, "HTTP 404, text/html\n\ngone"),
                "an error of the host, with what it says")
        t.contains(get("/bytes")[1], "3 bytes that are no text", "no text")
        t.contains(get("/chunks")[1], "abcde", "chunks")
        err, text = get("/long", max_length=100)
        t.ok(text.count("é") == 100 and "100 of 20000" in text,
             "cut where it was asked to", text)
        err, text = get("/huge", max_length=10)
        t.contains(text, "the first 10 MiB", "a body of 11 MiB")
        err, text = get("/slow", timeout=1)
        good.release.set()
        t.ok(err and "time that the call allowed" in text, "too slow", text)
        calls = [m.start_call("fetch__http_fetch", {
            "url": f"https://localhost:{good.port}/together"})
            for _ in range(TOGETHER)]
        said = [c.wait(30) for c in calls]
        t.ok(all("HTTP 200" in h.text_of(r) for r in said) and
             not good.together.broken,
             f"{TOGETHER} calls at once: none is answered before all are "
             "asked", said)
        many = [m.start_call("fetch__http_fetch", {
            "url": f"https://localhost:{good.port}/long",
            "max_length": 20000 + i}) for i in range(3 * TOGETHER)]
        said = [h.text_of(c.wait(30)) for c in many]
        t.ok(all(x.count("é") == 20000 for x in said),
             "more than that wait, and come whole", [x[:200] for x in said])
        t.contains(get("/page", plain.port, "http")[1], "HTTP 200",
                   "without TLS, where it is asked for")
        err, text = get("/page", bad.port)
        t.ok(err and "certificate" in text, "a certificate of another", text)
        t.equal(bad.seen, [], "to whom nothing was said")
        err, text = get("/page", away.port)
        t.ok(err and "not among the hosts" in text and "Do not retry" in text,
             "a port that is not on the list", text)
        waiting = m.start_call("fetch__http_fetch",
                               {"url": "https://elsewhere.example/"})
        held = s.held()
        t.equal(held["rule"], "structural-domain-escalate",
                "a host that is not on the list: policyd's gate asks")
        s.icctl("deny", held["id"], check=True)
        t.ok(waiting.wait().get("isError"), "and takes no for an answer")
        n = len(good.seen)
        get("/page", headers={"X-Mine": "1", "User-Agent": "me"})
        seen = good.seen[-1][1]
        t.equal((seen.get("X-Mine"), seen.get("User-Agent"),
                 seen.get("Accept-Encoding"), seen.get("Host")),
                ("1", "me", "identity", f"localhost:{good.port}"),
                "headers of the call, and ours")
        for headers in ({"Host": "x"}, {"Content-Length": "3"},
                        {"A": "b\r\nC: d"}, {"A:": "b"}, {"A": 1},
                        {"Transfer-Encoding": "chunked"}):
            err, text = get("/page", headers=headers)
            t.ok(err and "headers" in text, f"not {headers!r}", text)
        for more in ({"format": "pdf"}, {"timeout": 61}, {"timeout": 0},
                     {"max_length": 0}, {"max_length": "9"}):
            err, text = get("/page", **more)
            t.ok(err and next(iter(more)) in text, f"not {more!r}", text)
        t.equal(len(good.seen), n + 1, "nothing of that was asked")
        hosts = {(e["host"], e["port"]) for e in s.events("connect")}
        t.equal(hosts, {("localhost", p) for p in ports},
                "the log has every host that was asked")
        m.close()


with h.workdir() as w:
    main(w)
t.done()
