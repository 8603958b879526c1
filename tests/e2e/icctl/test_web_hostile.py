#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""`icctl web` with a compromised icwebd, which sends whatever it likes: without
a login it reads and answers nothing; with a stolen one it can do what that login
may, and the log has it."""
import json
import os
import shutil
import socket
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import webpage  # noqa: E402

t = h.Tap()
LOGIN, STATE, CALL, ANSWER = 0, 2, 3, 4
DENY, APPROVE = 0, 1


class Hostile:
    """A browser of the page whose icwebd is the one of this test."""

    def __init__(self, work, home):
        bindir = os.path.join(work, "own", "bin")
        libexec = os.path.join(work, "own", "libexec", "ironcurtain")
        os.makedirs(bindir)
        os.makedirs(libexec)
        program = shutil.copy(h.program("icctl"), bindir)
        shutil.copy(sys.argv[1], os.path.join(libexec, "icwebd"))
        self.page = webpage.Page(home, program=program)
        self.sock = socket.create_connection(self.page.address.split(":"))
        self.lines = self.sock.makefile("r", encoding="utf-8")

    def ask(self, route, verdict=DENY, token="-", session="-", call="-",
            digest="-"):
        """Returns the status and the answer of icctl."""
        line = f"{route} {verdict} {token} {session} {call} {digest}\n"
        self.sock.sendall(line.encode())
        status, _, text = self.lines.readline().partition(" ")
        return int(status), json.loads(text)

    def secret(self):
        return self.page.link.split("#login=")[1]


def test_without(web, of):
    for name, token in (("none", "-"), ("zeros", "00" * 32),
                        ("a guess", "a5" * 32),
                        ("the secret of the link", web.secret())):
        for route in (STATE, CALL, ANSWER):
            status, o = web.ask(route, APPROVE, token, *of)
            t.ok(status == 401 and set(o) == {"error"},
                 f"token {name}, route {route}: refused", (status, o))
    t.equal(web.ask(LOGIN, token="5a" * 32)[0], 401, "no login by a guess")


def test_stolen(web, s, of, call):
    status, o = web.ask(LOGIN, token=web.secret())
    t.equal(status, 200, "a link's secret that passes through it is a login")
    token = o["token"]
    t.equal(web.ask(ANSWER, APPROVE, token, *of)[0], 409,
            "what this login was never sent cannot be approved")
    t.equal(web.ask(CALL, APPROVE, token, *of)[0], 200, "it asks for the call")
    t.equal(web.ask(ANSWER, APPROVE, token, *of)[0], 409,
            "and has to wait as a person does")
    time.sleep(1.1)     # the time is the test
    t.equal(web.ask(ANSWER, APPROVE, token, *of[:2], "0" * 64)[0], 409,
            "not with another digest")
    t.ok(s.held(), "until then, nothing was answered")
    t.equal(web.ask(ANSWER, DENY, token, *of)[0], 200, "then it can answer")
    t.ok(call.wait().get("isError"), "as this login may")
    said = [e for e in s.audit() if e["event"] == "verdict"]
    t.ok(len(said) == 1 and said[0]["verdict"] == "deny",
         "the log has this answer, and no other", said)


def main():
    with h.workdir() as work, t.case("hostile icwebd"):
        with h.Session(work, {"echo": h.echo_server(
                os.path.join(work, "log", "log.jsonl"))},
                [h.rule("ask", "escalate", "A person decides.",
                        tool=["echo"])], {"echo": h.ECHO_TOOLS},
                session_dir=os.path.join(work, "home", "sessions",
                                         "one")) as s:
            m = s.client()
            call = m.start_call("echo__echo", {"text": "one"})
            held = s.held()
            of = ("one", held["id"], held["digest"])
            web = Hostile(work, s.home)
            test_without(web, of)
            t.ok(s.held(), "no answer passed")
            test_stolen(web, s, of, call)
            web.page.stop()
            m.close()
    t.done()


if __name__ == "__main__":
    main()
