#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests the viewer with a termd that the agent has compromised: whatever termd
sends, the terminal gets only known sequences, the last row belongs to icctl,
and the terminal's settings are restored."""
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import termios

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import fake_termd as ft  # noqa: E402
import harness as h  # noqa: E402
from fake_termd import FakeTermd, cells  # noqa: E402
from screens import Screen, Strange  # noqa: E402
from started import named  # noqa: E402
from terminal import Terminal  # noqa: E402

t = h.Tap()
ROWS, COLS = 24, 80
ENV = {"PATH": "/usr/bin:/bin", "HOME": "/", "TERM": "xterm-256color",
       "COLORTERM": "truecolor", "LANG": "C.UTF-8"}


class Rig:
    """A full-screen viewer on a terminal, with a simulated termd."""

    def __init__(self, env=None, session=None, how="",
                 name="session-name"):
        self.d = FakeTermd()
        self.term = Terminal(
            [h.program("icctl"), "viewer", "0",
             f"screen:{ROWS - 1}x{COLS},attached{how}", name,
             *([session] if session else [])],
            {**ENV, **(env or {})}, ROWS, COLS,
            fds={3: self.d.theirs.fileno()})
        self.before = self.term.settings()
        self.d.start()
        self.d.until(ft.SIZE)
        self.screen = Screen(ROWS, COLS)
        self.d.pump = self.see

    def see(self):
        """Feeds the terminal's output to the screen."""
        while self.term.read(0):
            pass
        self.screen.feed(self.term.out)
        self.term.out = b""
        return self.screen

    def draw(self, rows):
        self.d.screen()
        for i, text in enumerate(rows):
            self.d.row(i, cells(text))
        self.d.frame()
        return self.see()

    def viewer(self):
        return h.wait_for(lambda: named(self.term.pid, "icctl"),
                          "the viewer")

    def end(self):
        """Returns the viewer's status; feeds the rest of the output to the
        screen."""
        self.d.close()
        while self.term.read(30):
            pass
        self.screen.feed(self.term.out)
        self.term.out = b""
        return self.term.end()

    def ours(self):
        return self.screen.line(ROWS - 1).startswith(" ironcurtain session")


def crowded(_):
    """Messages come faster than the terminal takes them: none is lost, and
    none is drawn into the middle of another."""
    link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    says, ours = os.pipe()
    term = Terminal([h.program("icctl"), "viewer", "0",
                     f"screen:{ROWS - 1}x{COLS}", "session-name"], ENV, ROWS,
                    COLS, fds={3: theirs.fileno(), 4: says})
    os.close(says)
    theirs.close()
    text = "".join(f"message {i} " + "x" * 150 + "\n" for i in range(2000))
    # Nobody reads the terminal, so that the viewer waits for it.
    with os.fdopen(ours, "w") as f:
        f.write(text)
    link.close()
    screen = Screen(ROWS, COLS)
    while term.read(30):
        screen.feed(term.out)
        term.out = b""
    t.equal(term.end(), 0, "the viewer ends as usual")
    shown = term.all.decode().split("\x1b[?1049l")[-1]
    t.ok("1800 earlier messages" in shown and "message 1999 x" in shown and
         "message 1800 x" in shown, "the last 200 messages are repeated",
         shown[:2000])


class Control:
    """A session's control socket, in a directory of its own."""

    def __init__(self, directory):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(os.path.join(directory, "control.sock"))
        self.listener.listen(4)
        self.listener.settimeout(20)
        self.conn = None

    def watched(self, holds, **more):
        """Answers the viewer's request with the pending calls."""
        self.conn = self.listener.accept()[0]
        self.conn.settimeout(20)
        ask = json.loads(self.conn.makefile().readline())
        self.say({"ok": True, "session": "x", "holds": holds, **more})
        return ask

    def asked(self):
        """Returns the next request of a connection, and its end."""
        conn = self.listener.accept()[0]
        conn.settimeout(20)
        return json.loads(conn.makefile().readline()), conn

    def say(self, message):
        self.conn.sendall(json.dumps(message).encode() + b"\n")

    @staticmethod
    def hold(ident):
        return {"id": ident, "server": "fs", "tool": "read\x1b]0;x\x07",
                "effect": "Reads ~/x", "expires_ms": 300000}


def told(_):
    """Pending calls, as a session reports them."""
    with h.workdir() as work:
        c = Control(work)
        r = Rig(session=work)
        r.draw(["the agent's"])
        t.equal(c.watched([]), {"op": "watch"}, "the viewer listens")
        r.d.send(ft.TITLE, ft.blob(b"its own"))
        r.d.frame()

        def line(text):
            h.wait_for(lambda: text in r.see().line(ROWS - 1), text)
        c.say({"event": "hold", "hold": c.hold("k3f9")})
        line("1 PENDING CALL: Ctrl-] a")
        t.ok({"bell", "notice", "title"} <= r.screen.kinds and
             b"\x1b]2;ironcurtain: 1 pending call\x1b\\" in r.term.all,
             "a pending call: the last line, the bell, the title, and the "
             "terminal's notification, in words of ours", r.screen.kinds)
        t.ok(r.screen.line(0) == "the agent's", "nothing else of the screen")
        c.say({"event": "hold", "hold": c.hold("m4g2")})
        line("2 PENDING CALLS: Ctrl-] a")
        r.term.key(b"\x1d")
        line(" a answer ")
        r.term.key(b" ")
        line("2 PENDING CALLS")
        t.ok(True, "the prefix names the key")
        c.say({"event": "holdEnd", "id": "m4g2", "state": "approved"})
        line("1 PENDING CALL:")
        c.conn.close()
        c.watched([])
        h.wait_for(lambda: "PENDING" not in r.see().line(ROWS - 1), "none")
        own = b"\x1b]2;ironcurtain: the agent says: its own\x1b\\"
        t.ok(r.term.all.rindex(own) > r.term.all.rindex(b"pending call\x1b\\"),
             "it listens again after a break; none is left, and the agent's "
             "title is back")
        c.say({"event": "hold", "hold": c.hold("k9k9")})
        line("1 PENDING CALL:")
        c.say({"event": "holdEnd", "id": "k9k9", "state": "expired"})
        line("pending call k9k9  fs__read")
        c.say({"event": "hold", "hold": 7})
        c.conn.close()
        c.watched([])
        t.ok(r.ours(), "an event that is none changes nothing")
        r.d.send(ft.BOX_END)
        t.equal(r.end(), 0, "the end")
        # It is divided between words.
        t.contains(" ".join(r.term.all.decode(errors="replace").split()),
                   "nobody answered within 300 s. It was refused, and the "
                   "agent may ask again. To be asked for longer, raise "
                   "escalationTimeoutSeconds", "what happened, and how to "
                   "allow it next time, is said at the end as well")


def metered(_):
    """The last line has the budget and alarms, and room for what waits."""
    def used(usd, steps=0):
        return {"warnThresholdPercent": 80, "limits": {
            "maxEstimatedCostUsd": {"used": usd, "max": 5},
            "maxTotalTokens": {"used": 9, "max": None},
            "maxSteps": {"used": steps, "max": 200}}}

    def alarm(text):
        return {"who": "mitmd", "kind": "leak", "text": text}
    with h.workdir() as work:
        c = Control(work)
        r = Rig(session=work, name="20261125-024754-iy9w")
        r.draw(["the agent's"])
        c.watched([], budget=used(0.421))

        def line(*texts):
            h.wait_for(lambda: all(
                x in r.see().line(ROWS - 1) for x in texts), texts)
        line("20261125-024754-iy9w  0.421 of 5 USD", "Ctrl-] d leaves")
        t.ok(True, "the last line has the session's cost")
        c.say({"event": "usage", "budget": used(0.5)})
        line("0.500 of 5 USD")
        for ident in ("k3f9", "m4g2"):
            c.say({"event": "hold", "hold": c.hold(ident)})
        line(" ironcurtain 2 PENDING CALLS: Ctrl-] a  0.500 of 5 USD",
             "Ctrl-] d leaves")
        t.ok(True, "in 80 columns the key that answers is named, too")
        c.say({"event": "usage", "budget": used(0.6, 170)})
        line("170 of 200 steps")
        t.ok(True, "a limit that is nearly reached is shown instead")
        c.say({"event": "alarm", **alarm("a key \x1b[31mcame back")})
        line("2 PENDING CALLS: Ctrl-] a  ALARM of mitmd", "m: messages")
        c.conn.close()
        c.watched([], alarms=[alarm("a key \x1b[31mcame back"),
                              alarm("more")])
        line("leak: more")
        t.ok(True, "alarms are told, also those of a time without connection")
        r.d.send(ft.BOX_END)
        t.equal(r.end(), 0, "the end")
        said = r.term.all.decode(errors="replace").split("\x1b[?7h")[-1]
        t.equal((said.count("a key \\x1b[31mcame back"),
                 said.count("more")), (1, 1), "each of them once")


def spoken(_):
    """The input line: the agent sees nothing before Enter, and pasted bytes
    are only text."""
    with h.workdir() as work:
        c = Control(work)
        r = Rig(session=work)
        r.draw(["the agent's"])
        c.watched([])

        def line(text):
            h.wait_for(lambda: text in r.see().line(ROWS - 1),
                       text + " in " + r.screen.line(ROWS - 1))

        def sends(want, answer):
            r.term.key(b"\r")
            ask, conn = c.asked()
            t.equal(ask, {"op": "say", "message": want}, f"sent: {want!r}")
            line(" being sent")
            r.term.key(b"x\r\x1b[200~y\x1b[201~")
            t.ok(r.d.nothing(0.1), "the agent has nothing before the answer")
            conn.sendall(json.dumps(answer).encode() + b"\n")

        def typed_in(want):
            t.equal((r.d.text(ft.PASTE), r.d.text(ft.KEYS)),
                    (want.encode(), b"\r"), "it is pasted, and Enter")
            h.wait_for(lambda: r.see() and r.ours(), "the line is back")
        yes = {"ok": True, "type": True}
        for keys, want in (
                (b"read ~/x", "read ~/x"),
                (b"wrong\x15right", "right"),
                (b"one two  \x17three", "one three"),
                (b"ac\x1b[Db\x1b[Cd\x1b[H0\x1b[F9", "0abcd9"),
                (b"ab\x1bOD\x1b[3~c\x01d\x05e", "dace"),
                ("\u00e9\u4e16x\x7f\x7f!".encode(), "\u00e9!"),
                (b"a\xff\xc3b\x80c\xed\xa0\x80d", "abcd"),
                (b"\tz\x1by\x1b[A", "z"),
                (b"\x1b[200~two\nlines\x1dd\x1b[2J\x1ds\x03\r\x1b[201~.",
                 "two linesd[2Js ."),
                ("a\u202eb\u200bc".encode(), "abc")):
            r.term.key(b"\x1ds")
            line(" say: ")
            r.term.key(keys)
            sends(want, yes)
            typed_in(want)
        r.term.key(b"\x1ds" + b"secret\x1b")
        h.wait_for(lambda: r.see() and r.ours(), "cancelled")
        r.term.key(b"\x1dsanother\x03")
        h.wait_for(lambda: r.see() and r.ours(), "cancelled")
        r.term.key(b"\x1ds\r")
        h.wait_for(lambda: r.see() and r.ours(), "empty")
        t.ok(r.d.nothing(), "cancelled or empty: nothing is sent")
        r.term.key(b"\x1ds\x1b[200~" + b"x" * 9000 + b"\x1b[201~")
        line(" full: Enter sends")
        t.ok(r.screen.line(ROWS - 2) == "", "it stays in the last row")
        sends("x" * 2000, {"ok": False, "code": "busy", "error": "a turn runs"})
        line("not sent: a turn runs")
        r.term.key(b"\x1ds")
        line("xxx")
        r.term.key(b"\x15again")
        sends("again", {"ok": True, "type": False, "turn": 3})
        h.wait_for(lambda: r.see() and r.ours(), "a turn")
        t.ok(r.d.nothing(), "in a conversation nothing is typed")
        r.term.key(b"\x1ds" + b"lost\r")
        c.asked()[1].close()
        line("not sent: the session")
        r.d.send(0x0b0c, b"\0")  # TYPIST
        line("another viewer has the")
        r.term.key(b"\x1ds")
        line("another viewer has the keyb")
        r.term.key(b"k")
        t.equal(r.d.text(ft.KEYS), b"k", "without the keyboard: no line")
        r.d.send(ft.BOX_END)
        t.equal(r.end(), 0, "the end")


def own_key(_):
    """Another key than Ctrl-], wherever a key is named."""
    with h.workdir() as work:
        c = Control(work)
        r = Rig(session=work, how=",key:7")
        r.draw([])
        c.watched([])
        h.wait_for(lambda: "Ctrl-G d leaves" in r.see().line(ROWS - 1),
                   "the key's name")
        c.say({"event": "hold", "hold": c.hold("k3f9")})
        h.wait_for(lambda: "1 PENDING CALL: Ctrl-G a" in
                   r.see().line(ROWS - 1), "the call")
        r.term.key(b"\x1d")
        t.equal(r.d.text(ft.KEYS), b"\x1d", "Ctrl-] is the agent's")
        r.term.key(b"\x07")
        h.wait_for(lambda: "Ctrl-G send it" in r.see().line(ROWS - 1), "help")
        r.term.key(b"\x07")
        t.equal(r.d.text(ft.KEYS), b"\x07", "twice: it is sent")
        t.ok("Ctrl-]" not in r.term.all.decode(), "no text names Ctrl-]")
        r.term.key(b"\x07d")
        r.d.gone()
        t.equal(r.end(), 0, "and it leaves")
    for bad in ("key:9", "key:13", "key:27", "key:29x", "key:", "key:300"):
        run = subprocess.run([h.program("icctl"), "viewer", "0",
                              f"screen:23x80,{bad}", "x"], env=ENV,
                             capture_output=True, check=False)
        t.equal(run.returncode, 64, f"{bad} is none")
    # A number of 32 bits would be 24.
    run = subprocess.run([h.program("icctl"), "viewer", "0", "screen:4294967320x80", "x"],
                         env=ENV, capture_output=True, check=False)
    t.equal(run.returncode, 64, "nor is a screen of 4294967320 lines")


def draws(_):
    r = Rig()
    s = r.draw(["hello", "", "third"])
    t.equal((s.line(0), s.line(2)), ("hello", "third"), "rows are drawn")
    t.ok(r.ours(), "the last row is ours", s.line(ROWS - 1))
    t.ok({"2004", "25"} <= s.modes and "1000" not in s.modes,
         "pastes are bracketed; no mouse", s.modes)
    r.d.screen(modes=ft.CURSOR | ft.DRAGS | ft.CURSOR_KEYS)
    r.d.frame()
    t.ok({"1002", "1006", "1"} <= r.see().modes,
         "the modes that the agent needs are set by us", s.modes)
    r.d.row(1, cells("a\u4e16b", wide={1}, extra={2: "\u0301"}.items()))
    r.d.row(3, cells("red", attr=1, fg=0x02ff0000))
    r.d.frame()
    r.see()
    t.ok("\u4e16".encode() in r.term.all and b"b\xcc\x81" in r.term.all,
         "wide and combining characters")
    t.ok(b"\x1b[0;1;38;2;255;0;0mred" in r.term.all, "colours")
    r.d.send(ft.TITLE, ft.blob("hi \u4e16".encode()))
    r.d.send(ft.BELL)
    r.d.frame()
    r.see()
    t.ok(b"\x1b]2;ironcurtain: the agent says: hi ???\x1b\\" in r.term.all and
         b"\x07" in r.term.all, "title behind our own words; the bell")
    r.d.send(ft.TITLE, ft.blob(b"1 pending call"))
    r.d.frame()
    r.see()
    t.ok(b"\x1b]2;ironcurtain: 1 pending call" not in r.term.all and
         b": the agent says: 1 pending call\x1b" in r.term.all,
         "a title can never be a text of ours")
    r.d.line(cells("scrolled out"))
    r.d.frame()
    t.equal(r.see().line(1), "third",
            "a line that scrolled off takes the others along")
    r.d.screen(modes=ft.CURSOR | ft.ALTERNATE)
    r.d.row(0, cells("other screen"))
    r.d.frame()
    t.ok("1049" in r.see().modes and r.screen.line(0) == "other screen" and
         r.ours(), "the alternate screen, with our row", r.screen.line(0))
    r.d.send(ft.BOX_END)
    t.equal(r.end(), 0, "the end")
    t.ok(not r.screen.modes - {"25", "7"},
         "and no mode is left", r.screen.modes)


def typed(_):
    r = Rig()
    r.draw(["prompt"])
    for keys, want in (
            (b"hello", b"hello"), (b"\x03", b"\x03"), (b"\x1a", b"\x1a"),
            ("\u00e9".encode(), "\u00e9".encode()), (b"\x1b[A", b"\x1b[A"),
            (b"\x1b[1;5C", b"\x1b[1;5C"), (b"\x1bOP", b"\x1bOP"),
            (b"\x1b[15~", b"\x1b[15~"), (b"\x1bx", b"\x1bx"),
            (b"\x1b", b"\x1b"), (b"\x1d\x1d", b"\x1d")):
        r.term.key(keys)
        t.equal(r.d.text(ft.KEYS), want, f"{keys!r} is typed")
    for report in (b"\x1b[24;80R", b"\x1b[?1;2c", b"\x1b[>41;1;0c",
                   b"\x1b]11;rgb:0000/0000/0000\x1b\\", b"\x1b]0;x\x07",
                   b"\x1bP1$r0m\x1b\\", b"\x1b[?2004;1$y", b"\x1b[0n",
                   b"\x1b[<0;1;24M", b"\x1b[I", b"\x1b[8;24;80t",
                   b"\x1bP" + b"A" * 300 + b"\x1b\\",
                   b"\x1b[" + b"1;" * 60 + b"A"):
        r.term.key(report + b"~")
        t.equal(r.d.text(ft.KEYS), b"~", f"{report[:24]!r} is dropped")
    r.term.key(b"\x1b[200~one\x1dd\x1b[Atwo\x1b[201~")
    t.equal(r.d.text(ft.PASTE), b"one\x1dd\x1b[Atwo",
            "a paste that holds our prefix is data")
    r.term.key(b"\x1b[200~" + b"x" * 9000 + b"\x1b[201~after")
    t.equal(sum(len(r.d.text(ft.PASTE)) for _ in range(3)), 9000,
            "a long paste comes in pieces")
    t.equal(r.d.text(ft.KEYS), b"after", "and what follows is typed")
    r.d.screen(modes=ft.CURSOR | ft.CLICKS)
    r.d.frame()
    r.term.key(b"\x1b[<0;5;3M")
    t.equal(r.d.until(ft.MOUSE), struct.pack("<BBBHH", 0, 0, 0, 2, 4),
            "a click")
    r.term.key(b"\x1d")
    r.term.until(b"z suspend")
    t.ok(True, "the prefix shows what there is")
    r.term.key(b"d")
    r.d.gone()
    t.equal(r.end(), 0, "and d leaves")
    t.contains(r.term.all.decode(), "icctl attach session-name",
               "saying how to come back")
    t.equal(r.term.all.count(b"\x1b[?1049l"), 0,
            "what the agent had on the main screen stays there")


HOSTILE = {
    "a row below the grid": lambda d: d.row(23, cells("x")),
    "the last row of the terminal": lambda d: (d.screen(24, 80),
                                               d.row(23, cells("x" * 80))),
    "many rows": lambda d: (d.screen(300, 500),
                            [d.row(i, cells("x" * 500)) for i in range(300)]),
    "a column too far": lambda d: d.row(0, cells("x" * 81)),
    "a wide one at the end": lambda d: d.row(0, cells(
        "x" * 79 + "\u4e16", wide={79})),
    "no columns": lambda d: d.screen(23, 0),
    "no rows": lambda d: d.screen(0, 80),
    "more rows than there may be": lambda d: d.screen(301, 80),
    "a cursor outside": lambda d: d.screen(row=23),
    "a control character": lambda d: d.row(0, cells("\x1b")),
    "a C1 control": lambda d: d.row(0, cells("\x9b")),
    "a newline": lambda d: d.row(0, cells("\n")),
    "a bidi override": lambda d: d.row(0, cells("\u202e")),
    "zero width": lambda d: d.row(0, cells("\u200b")),
    "a tag": lambda d: d.row(0, cells("a", extra={0: "\U000e0041"}.items())),
    "a surrogate": lambda d: d.row(0, cells("\ud800")),
    "beyond Unicode": lambda d: d.row(0, cells("a")[:-3] + b"\xff\xff\xff"),
    "six characters": lambda d: d.row(0, cells(
        "a", extra={0: "\u0301" * 5}.items())),
    "a colour of no kind": lambda d: d.row(0, cells("a", fg=0x03000000)),
    "an attribute of no kind": lambda d: d.row(0, cells("a", attr=0x8000)),
    "a cut run": lambda d: d.row(0, cells("abc")[:-1]),
    "an empty run": lambda d: d.row(0, struct.pack("<HHII", 0, 0, 0, 0)),
    "raw bytes": lambda d: d.send(ft.RAW, b"\0" + ft.blob(b"\x1b[2J")),
    "a title of controls": lambda d: d.send(ft.TITLE, ft.blob(
        b"\x07\x1b]52;c;aGk=\x07")),
    "room that is not there": lambda d: d.send(ft.ROOM, struct.pack("<I", 9)),
    "a message of another": lambda d: d.send(0x0103),
    "no message": lambda d: d.send(0xffff),
    "half a message": lambda d: d.send(ft.SCREEN, b"\1"),
    "two endings": lambda d: (d.send(ft.BOX_END), d.send(ft.BOX_END),
                              d.frame(wait=False)),
    "lines without end": lambda d: [d.line(cells("x" * 80))
                                    for _ in range(3000)],
    "sizes without end": lambda d: [d.screen(300 - i % 2, 500)
                                    for i in range(400)],
    "bells": lambda d: [d.send(ft.BELL) for _ in range(1000)],
}


def memory(pid):
    """Returns the peak memory in KiB; 0 if the process has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            return next((int(x.split()[1]) for x in f
                         if x.startswith("VmHWM")), 0)
    except OSError:
        return 0


def hostile(_):
    for name, attack in HOSTILE.items():
        r = Rig()
        r.draw(["before"])
        pid = r.viewer()
        used = memory(pid)
        try:
            attack(r.d)
            r.d.frame(wait=False)
            while True:
                msg = r.d.read(5)
                if msg is None or msg[0] == ft.FRAME_ACK:
                    break
                r.see()
            grown = memory(pid) - used
        except OSError:
            grown = 0
        r.see()
        # If it has left already, the row is empty.
        ours = r.ours() or r.screen.line(ROWS - 1) == ""
        status = r.end()
        # A sanitizer keeps freed memory for a while.
        small = grown < 8192 or h.sanitized()
        t.ok(ours and status in (0, 1) and small, name,
             (ours, status, grown, r.screen.line(ROWS - 1)))
        t.ok(r.term.all.count(b"\x07") < 50, "and it is quiet")


def noise(_):
    """Random well-formed messages: the last row stays icctl's."""
    rng = random.Random(7)
    pool = "ab \u00e9\u2500\u4e16\u0301\uff21\U0001f600"
    r = Rig()
    r.draw([])
    rows, cols = 23, 80
    for i in range(400):
        kind = rng.randrange(8)
        if kind == 0:
            rows, cols = rng.choice(((23, 80), (10, 40), (100, 200), (2, 20)))
            r.d.screen(rows, cols, rng.randrange(rows), rng.randrange(cols),
                       rng.randrange(3), rng.randrange(0x400))
        elif kind == 1:
            r.d.line(cells(rng.choice("xyz") * rng.randrange(120)) if
                     rng.random() < .9 else b"")
        elif kind == 2:
            r.d.frame()
            r.see()
        else:
            text = "".join(rng.choice("ab\u00e9\u2500") for _ in
                           range(rng.randrange(1, cols)))
            r.d.row(rng.randrange(rows), cells(
                text, rng.randrange(0x400),
                rng.choice((0, 0x01000000 + rng.randrange(256),
                            0x02000000 + rng.randrange(1 << 24)))),
                    rng.randrange(cols - len(text) + 1))
        del i
    del pool
    r.d.frame()
    r.see()
    t.ok(r.ours(), "400 random messages", r.screen.line(ROWS - 1))
    r.end()


def resized(_):
    r = Rig()
    r.draw(["one"])
    r.term.resize(30, 100)
    t.equal(r.d.until(ft.SIZE), struct.pack("<HH", 29, 100),
            "a new size is told, without our row")
    r.screen = Screen(30, 100)
    r.term.out = b""
    r.d.screen(29, 100)
    r.d.row(28, cells("last"))
    r.d.frame()
    s = r.see()
    t.ok(s.line(28) == "last" and
         s.line(29).startswith(" ironcurtain session"),
         "and all of it is used", (s.line(28), s.line(29)))
    r.end()


def killed(_):
    for who in ("viewer", "parent"):
        r = Rig()
        r.d.screen(modes=ft.CURSOR | ft.MOVES | ft.ALTERNATE)
        r.d.frame()
        r.see()
        viewer = r.viewer()
        t.ok(r.term.settings() != r.before and "1003" in r.screen.modes,
             "the terminal is ours")
        # The parent leads the terminal's session: its end hangs up the
        # terminal.
        os.kill(viewer if who == "viewer" else r.term.pid, signal.SIGKILL)
        if who == "viewer":
            while r.term.read(30):
                pass
            t.equal(r.term.end_status(), 137, "viewer killed: as a shell "
                    "says it")
            r.screen.feed(r.term.out)
            t.ok(not r.screen.modes - {"25", "7"},
                 "the terminal's modes are back", r.screen.modes)
        else:
            os.waitpid(r.term.pid, 0)
            h.wait_for(lambda: not h.alive(viewer), "the viewer's end")
            t.ok(True, "parent killed: the viewer ends")
        r.d.close()


def restored(_):
    """A shell runs the viewer, and checks its terminal afterwards."""
    for how in ("viewer", "parent", "term", "channel"):
        d = FakeTermd()
        term = Terminal(
            ["/bin/bash", "--norc", "-c",
             f"stty -a >&2; {h.program('icctl')} viewer 0 screen:23x80,attach"
             "ed name; read x; stty -a; echo over; read x"], ENV, ROWS, COLS,
            fds={3: d.theirs.fileno()})
        d.start()
        d.until(ft.SIZE)
        d.screen(modes=ft.CURSOR | ft.MOVES)
        d.frame()
        parent = h.wait_for(lambda: named(term.pid, "icctl"), "icctl")
        viewer = h.wait_for(lambda: named(parent, "icctl"), "the viewer")
        if how == "channel":
            d.close()
        else:
            os.kill(viewer if how == "viewer" else parent,
                    signal.SIGTERM if how == "term" else signal.SIGKILL)
        h.wait_for(lambda viewer=viewer: not h.alive(viewer), "the viewer")
        h.wait_for(lambda: term.settings()[3] & termios.ECHO or
                   term.read(0), "the terminal's settings")
        term.key(b"\n")
        out = term.until(rb"over\r?\n").replace(b"\r", b"")
        first = out[:out.index(b"\x1b")].split(b"\n")
        last = out[out.rindex(b"speed"):].split(b"\n")[:len(first) - 1]
        t.equal(last, first[:len(last)],
                f"{how} ended: the settings are as before")
        s = Screen(ROWS, COLS)
        begin = out.index(b"\x1b")
        s.feed(out[begin:out.rindex(b"\x1b")])
        t.ok("1003" not in s.modes or b"\x1b[?1003l" in out,
             "and the mouse is off")
        term.key(b"\n")
        term.end()
        d.close()


def main():
    for part in (draws, told, metered, spoken, own_key, crowded, typed, hostile, noise, resized, killed,
                 restored):
        with t.case(part.__name__):
            try:
                part(None)
            except Strange as e:
                t.ok(False, f"{part.__name__}: outside of the grammar", e)
    t.done()


if __name__ == "__main__":
    main()
