#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Another user of this machine connects to the page of `icctl web`: on its
port, and on its Unix socket when the file's mode no longer keeps others out.
The connection is closed before a byte of it is read. The same bytes of the
page's own user are answered. With --user NAME, root starts it: the page is
that user's, and the other one is nobody."""
import json
import os
import socket
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import other_user  # noqa: E402
import webpage  # noqa: E402

t = h.Tap()


def request(host, path, body, token=None):
    """Returns the bytes that the page itself would send."""
    body = json.dumps(body)
    heads = [f"POST {path} HTTP/1.1", f"Host: {host}", "Connection: close",
             f"Origin: http://{host}", "Sec-Fetch-Site: same-origin",
             "Content-Type: application/json", f"Content-Length: {len(body)}"]
    if token:
        heads.append(f"X-IronCurtain: {token}")
    return "\r\n".join([*heads, "", body]).encode()


def page(host):
    return (f"GET / HTTP/1.1\r\nHost: {host}\r\n"
            "Connection: close\r\n\r\n").encode()


def login(p, host):
    return request(host, "/api/login", {"secret": p.link.split("#login=")[1]})


def good(answer):
    return answer[1].startswith(b"HTTP/1.1 200 ")


def body(answer):
    return json.loads(answer[1].split(b"\r\n\r\n", 1)[1])


def test_reaches(other):
    """Baseline: the other user reaches ports of 127.0.0.1."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        def serve():
            c, _ = server.accept()
            with c:
                c.sendall(c.recv(100).upper())
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        t.equal(other.connect(server.getsockname(), b"hello"),
                ("closed", b"HELLO"),
                "baseline: another user reaches another port of 127.0.0.1")
        thread.join(20)


def test_refused(p, own, other, at, host, how):
    """Whatever another user sends, nothing comes back and nothing happens."""
    silent = own.connect(at, seconds=1)
    t.equal(silent, ("open", b""),
            f"{how}: baseline: its user's connection that says nothing stays")
    t.ok(good(own.connect(at, page(host))),
         f"{how}: baseline: its user gets the page")
    t.equal(other.connect(at), ("closed", b""),
            f"{how}: another user's is closed before it says anything")
    for what, data in (("the page", page(host)), ("a login", login(p, host)),
                       ("half a line", b"GET /"), ("no HTTP", b"\0" * 70000)):
        t.equal(other.connect(at, data), ("closed", b""),
                f"{how}: another user asks with {what}: no answer")
    # One that has left again before it is accepted.
    other.connect(at, login(p, host), leave=True)
    mine = own.connect(at, login(p, host))
    t.ok(good(mine), f"{how}: none of these has used the link: its user logs "
         "in", mine)
    ask = request(host, "/api/state", {"since": 0, "session": "", "page": 1},
                  body(mine)["token"])
    mine = own.connect(at, ask)
    t.ok(good(mine) and "sessions" in body(mine),
         f"{how}: baseline: the login is good for its user", mine)
    t.equal(other.connect(at, ask), ("closed", b""),
            f"{how}: and no good in the hands of another user")


def test_port(home, own, other):
    p = webpage.Page(home)
    host, port = p.address.split(":")
    test_refused(p, own, other, (host, int(port)), p.address, "port")
    p.stop()


def test_socket(home, work, own, other):
    path = os.path.join(work, "open", "page.sock")
    os.makedirs(os.path.dirname(path))
    p = webpage.Page(home, "--socket", path, "--host", "localhost:8080")
    os.chmod(work, 0o711)
    os.chmod(os.path.dirname(path), 0o755)
    t.equal(other.connect(path), ("PermissionError", b""),
            "socket: its mode keeps another user out")
    # Only the check of the peer is left.
    os.chmod(path, 0o666)
    test_refused(p, own, other, path, "localhost:8080", "socket")
    p.stop()


def main():
    words = other_user.wrapper()
    if words is None:
        print(f"1..0 # SKIP another user: {other_user.NEEDS}")
        return
    other = other_user.Client(words)
    if sys.argv[1:2] == ["--user"]:
        other_user.become(sys.argv[2])
    own = other_user.Client()
    with h.workdir() as work:
        home = os.path.join(work, "home")
        os.makedirs(home)
        test_reaches(other)
        test_port(home, own, other)
        test_socket(home, work, own, other)
    own.end()
    other.end()
    t.done()


main()
