#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Keys that the old forms cannot tell apart, such as Shift and Enter: the agent
asks for Kitty's form or xterm's, the person's terminal is switched to it for as
long, and each key reaches the agent in the form for which it asked, whichever
the terminal has. The session's own keys keep their meaning."""
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from started import Place  # noqa: E402

t = h.Tap()
ON, OFF = rb"\x1b\[>1u\x1b\[>4;1m", rb"\x1b\[>4m\x1b\[<u"
AGENT = r"""
import os, sys, tty
tty.setraw(0)
forms = {b"k": b"\033[>1u", b"o": b"\033[<u\033[>4;2m", b"n": b"\033[>4m",
         b"a": b"\033[?1049h\033[>1u", b"m": b"\033[?1049l"}
os.write(1, b"<ready>")
row = 1
while True:
    key = os.read(0, 64)
    # On a row that was blank, so that the whole text is drawn.
    row = row % 20 + 1
    os.write(1, forms.get(key, b"") + b"\033[2J\033[%d;1H<%s>" % (
        row, key.hex().encode()))
    if key == b"q":
        sys.exit(0)
"""
SHIFT_ENTER, XTERM = b"\x1b[13;2u", b"\x1b[27;2;13~"


def gets(term, what, typed, want):
    term.key(typed)
    got = re.search(rb"<([0-9a-f]*)>", term.until(rb"<[0-9a-f]+>")).group(1)
    t.equal(bytes.fromhex(got.decode()), want, what)


def say(term, key, then):
    """Have the agent change its form of keys."""
    term.key(key)
    term.until(rb"(?s)(" + then + rb".*<" + key.hex().encode() + rb">|<" +
               key.hex().encode() + rb">.*" + then + rb")")


def test_forms(work):
    p = Place(work)
    h.put(os.path.join(p.project, "agent.py"), AGENT)
    term = p.terminal("/usr/bin/python3", "/workspace/agent.py", rows=24,
                      cols=80)
    term.until(b"<ready>")
    t.ok(not re.search(ON, term.all), "nothing is switched unasked")
    gets(term, "a form that nobody asked for is passed on", SHIFT_ENTER,
         SHIFT_ENTER)
    gets(term, "but a key that has an old form has that", b"\x1b[99;5u",
         b"\x03")
    say(term, b"k", ON)
    for typed, want in ((SHIFT_ENTER, SHIFT_ENTER), (XTERM, SHIFT_ENTER),
                        (b"\x1b[99;5u", b"\x1b[99;5u"),
                        (b"\x1b[13u", b"\r"), (b"\r", b"\r"),
                        (b"\x1b[27u", b"\x1b[27u"),
                        (b"\x1b[13;133u", b"\x1b[13;5u"),
                        (b"\x1b[1;5A", b"\x1b[1;5A"), (b"x", b"x"),
                        (b"\x1b[120;2u", b"X")):
        gets(term, f"Kitty's form: {typed!r}", typed, want)
    say(term, b"o", b"")
    for typed, want in ((SHIFT_ENTER, XTERM), (XTERM, XTERM),
                        (b"\x1b[99;5u", b"\x03"),
                        (b"\x1b[9;2u", b"\x1b[Z"),
                        (b"\x1b[9;5u", b"\x1b[27;5;9~")):
        gets(term, f"xterm's form: {typed!r}", typed, want)
    say(term, b"n", OFF)
    say(term, b"a", rb"\x1b\[\?1049h(?s:.)*")
    gets(term, "on the other screen", b"\x1b[99;5u", b"\x1b[99;5u")
    say(term, b"m", OFF)
    say(term, b"k", ON)
    # The prefix key and the key after it, as the terminal now sends them.
    term.key(b"\x1b[93;5u\x1b[93;5u")
    got = term.until(rb"<[0-9a-f]+>")
    t.contains(got, b"<1d>", "the prefix key twice is that key")
    term.key(b"\x1b[93;5u\x1b[1;5A\x1b[93;5u\x1b[100;5u")
    rest = term.until(b"icctl attach")
    t.ok(re.search(OFF, rest), "the terminal has its own keys again", rest)
    t.equal(term.end(), 0, "the prefix key and d detach")


def main():
    if not shutil.which("bwrap"):
        t.skip("keys", "bubblewrap is not installed")
        t.done()
    with h.workdir() as work, t.case("forms"):
        test_forms(work)
    t.done()


if __name__ == "__main__":
    main()
