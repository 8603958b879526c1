#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Published ports: a browser of the host reaches a server in the sandbox, with
pages, a large file, a long connection and a crowd; and what it must not be: a
way in for other sandboxes, a host that shares cookies, or what is left over."""
import concurrent.futures
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import other_user  # noqa: E402

t = h.Tap()
CURL = "/usr/bin/curl"
# Serves files of the workspace, echoes lines on 3001, and listens on 3002 of
# ::1 alone, when it is told to.
SERVER = r"""
import http.server, os, socket, socketserver, threading, time
class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(line.upper())
class Threads(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 256
class Six(Threads):
    address_family = socket.AF_INET6
class Files(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_HEADERS(self):
        body = str(self.headers.get("Cookie")).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *a):
        pass
os.chdir("/workspace")
def run(server):
    threading.Thread(target=server.serve_forever, daemon=True).start()
run(Threads(("127.0.0.1", 3000), Files))
run(Threads(("127.0.0.1", 3001), Echo))
open("/workspace/up", "w").close()
while not os.path.exists("/workspace/go"):
    time.sleep(0.05)
run(Six(("::1", 3002), Files))
open("/workspace/six", "w").close()
time.sleep(600)
"""
PORTS = ("--publish", "3000", "--publish", "28091:3001", "--publish",
         "28092:3002")


def session(work, *options, command=("/usr/bin/python3", "-c", SERVER)):
    return h.Session(work, runtime="bwrap", options=(
        *options, "--agent", "command", "--", *command))


def url_of(s, port):
    return next(p["url"] for p in s.ready["published"] if p["port"] == port)


def get(url):
    with urllib.request.urlopen(url, timeout=20) as r:
        return r.read()


def address(url):
    host, port = url[7:].strip("/").split(":")
    return host, int(port)


def published(s, port):
    status = json.loads(s.icctl("--json", "status", check=True).stdout)
    return next(p for p in status["published"] if p["port"] == port)


def reset(url):
    """Returns true if a connection is accepted and then closed."""
    with socket.create_connection(address(url), timeout=20) as c:
        try:
            c.sendall(b"GET / HTTP/1.0\r\n\r\n")
            return c.recv(1) == b""
        except ConnectionError:
            return True


def test_serves(s):
    url = url_of(s, 3000)
    h.put(os.path.join(s.workspace, "page.html"), "<p>hello</p>\n")
    big = os.urandom(10 << 20)
    with open(os.path.join(s.workspace, "big"), "wb") as f:
        f.write(big)
    t.equal(get(url + "page.html"), b"<p>hello</p>\n", "a page")
    t.equal(hashlib.sha256(get(url + "big")).digest(),
            hashlib.sha256(big).digest(), "10 MB arrive whole")
    t.ok(published(s, 3000)["connections"] >= 1, "status counts them")
    with concurrent.futures.ThreadPoolExecutor(200) as pool:
        got = list(pool.map(get, [url + "page.html"] * 200))
    t.equal(set(got), {b"<p>hello</p>\n"}, "200 connections at once")


def test_long(s):
    with socket.create_connection(address(url_of(s, 3001)), timeout=20) as c:
        f = c.makefile("rwb")
        for n in range(300):
            f.write(b"line %d\n" % n)
            f.flush()
            if f.readline() != b"LINE %d\n" % n:
                t.ok(False, "a connection that talks both ways")
                return
        c.shutdown(socket.SHUT_WR)
        t.equal(f.readline(), b"", "a connection that talks both ways")


def test_later(s):
    url = url_of(s, 3002)
    t.ok(reset(url), "nothing listens yet: the connection is closed")
    h.wait_for(lambda: published(s, 3002)["nothingListened"] == 1,
               "it was not counted")
    h.put(os.path.join(s.workspace, "go"), "")
    h.wait_for(lambda: os.path.exists(os.path.join(s.workspace, "six")),
               "the second server did not start")
    t.equal(get(url + "page.html"), b"<p>hello</p>\n",
            "a server at ::1 that starts later is reached")


def test_cookies(s, work):
    """A client with a cookie of 127.0.0.1 gives it to every port there, and
    not to the session's own address."""
    jar = os.path.join(work, "jar")
    h.put(jar, "# Netscape HTTP Cookie File\n"
          "127.0.0.1\tFALSE\t/\tFALSE\t0\ttoken\tsecret\n")

    def cookie(url):
        return subprocess.run([CURL, "-s", "-b", jar, "-X", "HEADERS", url],
                              capture_output=True, timeout=20,
                              check=False).stdout

    plain = next(p["url"] for p in s.ready["published"]
                 if "//127.0.0.1:" in p["url"])
    t.equal(cookie(plain), b"token=secret", "baseline: at 127.0.0.1 the page "
            "gets another program's cookie")
    own = plain.replace("127.0.0.1", address(url_of(s, 3001))[0])
    t.ok(own != plain, "and a session has an address of its own")


def test_words(s, err):
    t.contains(err, "port 3000 of the sandbox is open to your browser, which "
               "can send anything anywhere: " + url_of(s, 3000),
               "the start says what publishing is")
    shown = s.icctl("status").stdout
    t.contains(shown, "is open to your browser, which can send anything "
               "anywhere", "and so does icctl status")
    start = s.events("start")[0]["detail"]["published"]
    t.equal([p["port"] for p in start], [3000, 3001, 3002],
            "and the first record")
    t.ok(any(e["port"] == 3000 and e["connections"] >= 1
             for e in s.events("portUse")), "use is in the log")


def test_session():
    with h.workdir() as work, t.case("session"):
        s = session(work, *PORTS).start()
        urls = [url_of(s, p) for p in (3000, 3001, 3002)]
        t.ok(all(u.startswith("http://127.83.") for u in urls),
             "each port has a URL at an address of the session", urls)
        h.wait_for(lambda: os.path.exists(os.path.join(s.workspace, "up")),
                   "the server did not start")
        test_serves(s)
        test_long(s)
        test_later(s)
        test_words(s, s.process.stderr())
        test_other(work, urls[0])
        test_user(urls[0])
        t.equal(s.stop(), 143, "it ends when it is asked to")
        for u in urls:
            try:
                socket.create_connection(address(u), timeout=5).close()
                t.ok(False, f"{u} is gone with the session")
            except ConnectionRefusedError:
                t.ok(True, f"{u} is gone with the session")
        t.ok(not os.path.exists(os.path.join(s.dir, "sockets",
                                             "publish.sock")),
             "and so is the socket")
        t.equal(s.icctl("audit", "verify", os.path.join(
            s.dir, "audit.jsonl")).returncode, 0, "the log is whole")


def test_other(work, url):
    """Another sandbox tries the address of this session's port."""
    host, port = address(url)
    code = (f"import socket,sys\ntry:\n socket.create_connection(('{host}',"
            f"{port}),5)\n print('in')\nexcept OSError as e:\n"
            " print('out')\n")
    told = os.path.join(work, "other", "workspace", "told")
    os.makedirs(os.path.join(work, "other"))
    o = session(os.path.join(work, "other"), command=(
        "/bin/sh", "-c", f"python3 -c \"$0\" > told", code)).start()
    o.wait(20)
    with open(told, encoding="ascii") as f:
        t.equal(f.read(), "out\n", "another sandbox does not reach it")
    t.equal(subprocess.run([h.PYTHON, "-c", code], capture_output=True,
                           text=True, check=False).stdout, "in\n",
            "baseline: a program outside does")


def test_user(url):
    """Another user of this machine tries it."""
    ask = b"GET /page.html HTTP/1.0\r\n\r\n"
    own = other_user.Client()
    t.contains(own.connect(address(url), ask)[1].decode(), "<p>hello</p>",
               "baseline: a page for these bytes")
    own.end()
    words = other_user.wrapper()
    if words is None:
        t.skip("another user does not reach it", other_user.NEEDS)
        return
    other = other_user.Client(words)
    for data in (b"", ask):
        t.equal(other.connect(address(url), data), ("closed", b""),
                f"another user does not reach it, sending {data}")
    other.end()


def test_plain():
    with h.workdir() as work, t.case("127.0.0.1"):
        s = session(work, "--publish", "127.0.0.1:28093:3000", "--publish",
                    "28094:3001").start()
        t.contains(s.process.stderr(), "gets the cookies of every other "
                   "program there", "127.0.0.1 comes with a warning")
        h.wait_for(lambda: os.path.exists(os.path.join(s.workspace, "up")),
                   "the server did not start")
        test_cookies(s, work)
        pid = s.workers()["portd"][0]
        h.kill(pid, signal.SIGKILL)
        t.equal(s.wait(), 70, "portd killed: the session ends")
        t.contains(s.process.stderr(), "portd", "and says so")
        t.equal(s.events("workerEnd")[0]["detail"]["role"], "portd",
                "and so does the log")


def test_taken():
    with h.workdir() as work, t.case("taken"), \
            socket.create_server(("0.0.0.0", 0)) as other:
        port = other.getsockname()[1]
        s = session(work, "--publish", f"{port}:3000")
        r = subprocess.run(s.argv, env=s.env, capture_output=True, text=True,
                           timeout=60, check=False)
        t.equal(r.returncode, 78, "a port that is taken")
        t.contains(r.stderr, f"port {port} of this machine is in use. Choose "
                   "another one: --publish HOSTPORT:3000", "is named")
        t.ok(not os.path.exists(s.dir), "and nothing is left")


test_session()
test_plain()
test_taken()
t.done()
