#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The real Codex and the real Claude Code log in inside the sandbox, each in
its own way, at a simulated authorization server; a later session of the same
agent uses the login that was kept."""
import fcntl
import json
import os
import pty
import re
import secrets
import select
import struct
import subprocess
import sys
import termios
import threading
import time
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import agents_helper as agents  # noqa: E402
import harness as h  # noqa: E402
from capture_helper import HOSTS, AuthServer  # noqa: E402
from traces import files_have  # noqa: E402

t = h.Tap()
ADAPTERS = os.path.join(h.PREFIX, "share", "ironcurtain", "agents")


def session(work, server, provider, login, agent, path):
    config = server.config(provider, login)
    config["agent"] = {n: {"path": path} for n in (agent, agent + "-login")}
    s = h.Session(work, {}, config=config, env={
        **agents.ENV, "ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": "",
        "TERM": "xterm-256color"})
    s.config = config
    return s


def adapter(s, agent, args, env):
    """Returns the agent's own adapter with the arguments of a login."""
    with open(os.path.join(ADAPTERS, agent + ".json"),
              encoding="utf-8") as f:
        a = json.load(f)
    for other in ("interactive", "prompt"):
        a.pop(other, None)
    a.update(name=agent + "-login", args=args)
    a["env"].update(env)
    s.write(f"agents/{agent}-login.json", a)


class Terminal:
    """icctl start on a terminal."""

    def __init__(self, s, agent):
        self.main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ,
                    struct.pack("HHHH", 50, 1000, 0, 0))
        self.p = subprocess.Popen(
            agents.command(s, agent), env=s.env, stdin=side, stdout=side,
            stderr=side, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(side)
        self.raw = b""

    def read(self):
        """Reads output. Returns False at the end."""
        if not select.select([self.main], [], [], 0.2)[0]:
            return self.p.poll() is None
        try:
            data = os.read(self.main, 65536)
        except OSError:
            return False
        self.raw += data
        return bool(data)

    def text(self):
        return re.sub(rb"\x1b\][^\x07]*\x07|\x1b\[[0-9;?<>=]*[a-zA-Z]|"
                      rb"\x1b[()>=].?|\r", b"", self.raw).decode(
                          errors="replace")

    def until(self, pattern, seconds=60):
        end = time.time() + seconds
        while time.time() < end:
            m = re.search(pattern, self.text())
            if m:
                return m
            if not self.read():
                break
        return re.search(pattern, self.text())

    def end(self):
        end = time.time() + 60
        while time.time() < end and self.read():
            pass
        try:
            rv = self.p.wait(10)
        except subprocess.TimeoutExpired:
            self.p.kill()
            rv = self.p.wait()
        os.close(self.main)
        return rv


def answers(s, server, provider, agent):
    """Runs a later session of the same agent with the kept login."""
    word = "word-" + secrets.token_hex(8)
    p = h.Provider(s.work, "--key", server.issued()[0],
                   script=[{"text": "It is " + word}])
    s.config["providers"][provider]["upstream"][HOSTS[provider][0]] = p.url
    with open(server.ca, encoding="utf-8") as a, \
            open(p.ca, encoding="utf-8") as b:
        pem = a.read() + b.read()
    both = os.path.join(s.work, "both.pem")
    with open(both, "w", encoding="utf-8") as f:
        f.write(pem)
    s.config["providers"][provider]["ca"] = both
    s.write("config.json", s.config)
    agents.check_answer(t, s, agent, p, word)
    t.equal(set(agents.headers(p.seen(), "authorization")),
            {"Bearer " + server.issued()[0]},
            f"{agent}: the provider saw the real token")
    agents.check_files(t, s, agent, server.issued())
    p.end()


def run_codex():
    with h.workdir() as work:
        server = AuthServer(work, "--jwt")
        s = session(work, server, "chatgpt", "codex", "codex", agents.CODEX)
        p = subprocess.Popen(
            [h.program("icctl"), "start", "--workspace", s.workspace, "--",
             agents.CODEX, "login", "--device-auth"], env=s.env,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        said = []
        reader = threading.Thread(
            target=lambda: said.extend(p.stdout), daemon=True)
        reader.start()
        h.wait_for(lambda: server.seen("login") or p.poll() is not None,
                   "codex asked nobody", 60)
        server.order("approve")
        rv = p.wait(60)
        reader.join(10)
        t.ok(rv == 0 and "Successfully logged in" in "".join(said),
             "codex: the device login ends well", (rv, said[-20:]))
        s.dir = agents.latest(s)
        t.equal(os.listdir(os.path.join(s.home, "logins")),
                ["chatgpt-codex.json"], "codex: the login is kept")
        agents.check_files(t, s, "codex login", server.issued())
        found = [f for f in files_have(s.dir, b"login_owner_id")
                 if f.endswith("auth.json")]
        t.ok(found or files_have(s.dir, b"eyJhbGciOiJub25lI"),
             "codex: the box has sentinels", found)
        answers(s, server, "chatgpt", "codex")
        server.end()


def run_claude():
    with h.workdir() as work:
        server = AuthServer(work)
        s = session(work, server, "anthropic", "claude-code", "claude-code",
                    agents.CLAUDE)
        adapter(s, "claude-code", ["auth", "login"],
                {"CLAUDE_CODE_FULL_SIGN_IN_LINK": "1"})
        tty = Terminal(s, "claude-code-login")
        url = tty.until(r"https://\S+/oauth/authorize\?\S+state=\S+\s")
        t.ok(url, "claude-code: shows where to log in", tty.text()[-800:])
        if url:
            q = dict(urllib.parse.parse_qsl(url[0].strip().split("?", 1)[1]))
            code = server.order("authorize",
                                challenge=q["code_challenge"])["code"]
            tty.until("Paste code")
            os.write(tty.main, f"{code}#{q['state']}".encode())
            tty.until(re.escape(q["state"][-20:]) + r"\s*$", 5)
            os.write(tty.main, b"\r")
        rv = tty.end()
        t.ok(rv == 0 and "Login successful" in tty.text(),
             "claude-code: the login ends well", (rv, tty.text()[-800:]))
        s.dir = agents.latest(s)
        t.equal(os.listdir(os.path.join(s.home, "logins")),
                ["anthropic-claude-code.json"],
                "claude-code: the login is kept")
        t.ok({e["path"] for e in server.seen() if e["good"]} >=
             {"/api/oauth/profile"}, "claude-code: its profile was had",
             server.seen())
        box = [f for f in files_have(s.dir, b"sk-ant-oat01-ironcurtain-")
               if f.endswith(".credentials.json")]
        t.ok(box, "claude-code: the box has sentinels", box)
        agents.check_files(t, s, "claude-code login", server.issued())
        answers(s, server, "anthropic", "claude-code")
        server.end()


def main():
    for name, path, run in (("codex", agents.CODEX, run_codex),
                            ("claude-code", agents.CLAUDE, run_claude)):
        if agents.installed(t, name, path):
            with t.case(name):
                run()
    t.done()


if __name__ == "__main__":
    main()
