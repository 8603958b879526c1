#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""`icctl watch` on a terminal: what is held shows up, single keys answer it,
and the terminal is as before afterwards."""
import os
import pty
import select
import sys
import termios
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()


class Terminal:
    def __init__(self, argv, env):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(argv[0], argv, env)
        self.seen = ""

    def until(self, text, timeout=15):
        end = time.monotonic() + timeout
        while text not in self.seen and time.monotonic() < end:
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.fd, 65536).decode()
                except OSError:
                    break
        return text in self.seen

    def key(self, key):
        # An answer counts once its call has stood there for a second.
        time.sleep(1.1 if key in (b"a", b"d") else 0)
        self.seen = ""
        os.write(self.fd, key)

    def echo(self):
        return bool(termios.tcgetattr(self.fd)[3] & termios.ECHO)

    def end(self, timeout=10):
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            self.until("\0never", 0.1)
        return None


def main():
    with h.workdir() as work, t.case("watch"):
        log = os.path.join(work, "log", "log.jsonl")
        with h.Session(work, {"echo": h.echo_server(log)},
                       [h.rule("ask", "escalate", "A person decides.",
                               tool=["echo"])],
                       {"echo": h.ECHO_TOOLS}) as s:
            term = Terminal([h.program("icctl"), "--session", s.dir, "watch"],
                            {**s.env, "TERM": "xterm"})
            t.ok(term.until("nothing waits"), "it says that nothing waits",
                 term.seen)
            t.ok(not term.echo(), "keys are taken one by one")
            m = s.client()
            call = m.start_call("echo__echo", {"text": "one\x1b[2J\u202e"})
            t.ok(term.until("[a]pprove"), "a held call shows up", term.seen)
            t.ok("A person decides." in term.seen and "\x1b[2J" not in
                 term.seen and "\u202e" not in term.seen,
                 "with its reason, and harmless", term.seen)
            second = m.start_call("echo__echo", {"text": "two"})
            t.ok(term.until("two"), "a second one, on a line", term.seen)
            term.key(b"a")
            t.ok("one" in str(call.wait()["content"]),
                 "a: the first one happens")
            t.ok(term.until("[a]pprove"), "and the second is asked for",
                 term.seen)
            term.key(b"d")
            r = second.wait()
            t.ok(r.get("isError") and "ESCALATION DENIED" in
                 h.text_of(r), "d: it is denied", r)
            term.until("nothing waits")
            term.key(b"q")
            t.equal(term.end(), 0, "q leaves")
            term = Terminal([h.program("icctl"), "--session", s.dir, "watch"],
                            {**s.env, "TERM": "xterm"})
            term.until("nothing waits")
            s.icctl("stop")
            t.ok(term.until("The session ended."), "the end is told",
                 term.seen)
            t.equal(term.end(), 0, "and ends it")
            m.close()
    t.done()


if __name__ == "__main__":
    main()
