#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Makes the pictures of README.md, beside this file, from what the programs
print: a recording of the demo, the screen of `icctl watch`, the page of `icctl
web` in dark and light, and the trust diagram.  The demo's own pauses are kept
where a reader could follow; shorter ones are lengthened.

usage: ./dev pictures [NAME...]"""
import base64
import contextlib
import os
import pty
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "lib")]
import ansi  # noqa: E402
import chromium  # noqa: E402
import harness as h  # noqa: E402
import tmux  # noqa: E402
import trust  # noqa: E402
import webpage  # noqa: E402

COLUMNS, ROWS = 100, 28
LEAST, MOST = .7, 3.0           # seconds between two lines of a recording
LARGEST = 100000                # bytes of a picture that is committed
RULES = [h.rule("documents-ask", "escalate",
                "Documents are private: a person decides.", tool=["lookup"]),
         h.rule("let", "allow", tool=["echo"])]


def put(name, data):
    path = os.path.join(HERE, name)
    if len(data) > LARGEST:
        raise SystemExit(f"{name} would have {len(data)} bytes, and at most "
                         f"{LARGEST} are committed; make less of it visible")
    with open(path, "wb") as f:
        f.write(data)
    print(f"{os.path.relpath(path)}  {len(data)} bytes")


def demo():
    """Runs the demo on a terminal, and keeps the time of each line."""
    here, there = pty.openpty()
    argv = [sys.executable, os.path.join(HERE, "..", "e2e", "demo.py"),
            "--prefix", h.PREFIX]
    began, lines, rest = time.monotonic(), [], b""
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=there,
                          stderr=there) as p:
        os.close(there)
        with contextlib.suppress(OSError):      # the terminal's end
            while data := os.read(here, 4096):
                *whole, rest = (rest + data).split(b"\n")
                lines += [(time.monotonic() - began, x) for x in whole]
        os.close(here)
    if p.returncode != 0:
        raise SystemExit("the demo failed; ./dev demo shows why")
    at, shown, last = 0, [(0, "$ ./dev demo")], lines[0][0]
    for when, line in lines:
        at += min(max(when - last, LEAST), MOST)
        last = when
        shown.append((at, line.rstrip(b"\r").decode()))
    put("demo.svg", ansi.recording(shown, COLUMNS, ROWS,
                                   "./dev demo").encode())


@contextlib.contextmanager
def waiting(work):
    """Two sessions, one of which has two pending calls and a history."""
    home = os.path.join(work, "home", "sessions")
    with contextlib.ExitStack() as ends:
        sessions = []
        for name in ("shop", "website"):
            s = h.Session(work, {"documents": h.echo_server(
                os.path.join(work, "log-" + name, "log.jsonl"))}, RULES,
                {"documents": h.ECHO_TOOLS},
                session_dir=os.path.join(home, name))
            s.workspace = os.path.join(work, name)
            os.mkdir(s.workspace, 0o700)
            s.argv[s.argv.index("--workspace") + 1] = s.workspace
            s.start(timeout=120)
            ends.callback(s.stop)
            sessions.append(s)
        agents = [s.client() for s in sessions]
        for a in agents:
            ends.callback(a.close)
        for text in ("npm test", "git log"):
            agents[0].call("documents__echo", {"text": text})
        for name in ("plan.txt", "salaries.txt"):
            agents[0].start_call("documents__lookup",
                                 {"path": os.path.join(work, "notes", name)})
        agents[1].call("documents__echo", {"text": "make html"})
        yield s.env


def watch():
    with h.workdir() as work, waiting(work) as env:
        term = tmux.Tmux(work, env, ROWS, COLUMNS)
        try:
            term.run(f"{h.program('icctl')} watch")
            term.until("2 waiting")
            term.until("a person decides")
            lines = term.tmux("capture-pane", "-p", "-e").split("\n")[:ROWS]
            term.text("q")
        finally:
            term.end()
    put("watch.svg", ansi.screen(lines, COLUMNS, "icctl watch").encode())


def web():
    with h.workdir() as work, waiting(work):
        p = webpage.Page(os.path.join(work, "home"))
        browser = None
        try:
            browser = chromium.Browser(work)
            tab = browser.tab(p.link)
            tab.until("!document.querySelector('#page').hidden", "logged in")
            tab.size(1000, 660)
            tab.click(".row.call")
            tab.until("document.querySelector('#call-text').innerText.length"
                      " > 20", "the call's text")
            for kind in ("dark", "light"):
                tab.send("Emulation.setEmulatedMedia", features=[
                    {"name": "prefers-color-scheme", "value": kind}])
                tab.until("!document.querySelector('#approve').disabled")
                data = tab.send("Page.captureScreenshot", format="webp",
                                quality=85)["data"]
                put(f"web-{kind}.webp", base64.b64decode(data))
        finally:
            if browser:
                browser.end()
            p.stop()


def diagram():
    golden = os.path.join(HERE, "..", "unit", "ipc", "proto_golden.txt")
    put("trust.svg", trust.picture(golden).encode())


MADE = {"trust": diagram, "demo": demo, "watch": watch, "web": web}


def main():
    unknown = [n for n in sys.argv[1:] if n not in MADE]
    if unknown:
        raise SystemExit(f"no such picture: {' '.join(unknown)}; there are "
                         + " ".join(MADE))
    for name in sys.argv[1:] or MADE:
        MADE[name]()


if __name__ == "__main__":
    main()
