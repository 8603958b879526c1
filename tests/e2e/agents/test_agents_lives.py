#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A conversation with each of the real agents as people have it: calls that
wait are approved in `icctl watch` and on the page of `icctl web`, the
supervisor is killed between turns and during one, and the conversation goes on
with all that was said.  With "all", each of them; otherwise Claude Code alone.
"""
import json
import os
import re
import secrets
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import agents_helper as agents  # noqa: E402
import chromium  # noqa: E402
import harness as h  # noqa: E402
import webpage  # noqa: E402
from terminal import Terminal  # noqa: E402

t = h.Tap()
AGENTS = {"claude-code": agents.CLAUDE, "codex": agents.CODEX,
          "opencode": agents.OPENCODE, "gemini-cli": agents.GEMINI}
PROVIDERS = {"claude-code": ("anthropic", "ANTHROPIC_API_KEY"),
             "codex": ("openai", "OPENAI_API_KEY"),
             "opencode": ("anthropic", "ANTHROPIC_API_KEY"),
             "gemini-cli": ("google", "GEMINI_API_KEY")}
FILES = {"read_text_file": {"path": ["read-path"], "head": ["none"],
                            "tail": ["none"]}}


class Life:
    """A conversation that dies and is resumed."""

    def __init__(self, work, agent, path):
        self.agent = agent
        self.word = f"paper-{secrets.token_hex(6)}"
        paper = h.put(os.path.join(work, "papers", "a.txt"), self.word)
        read = {"tool": "documents__read_text_file$", "args": {"path": paper}}
        self.p = h.Provider(work, "--bodies", script={
            "first": [{"text": "It is noted."}],
            "second": [read, read, {"text": "FINAL: $RESULT"}],
            "third": [read, {"text": "FINAL: $RESULT"}],
            "fourth": [{"text": "It is over."}]})
        provider, env = PROVIDERS[agent]
        self.s = h.Session(work, {"documents": {
            "command": "node", "args": [os.path.join(
                agents.MODULES, "@modelcontextprotocol/server-filesystem/"
                "dist/index.js"), os.path.dirname(paper)],
            "workspace": False, "sandbox": {"filesystem": {
                "allowRead": [os.path.dirname(paper)]}}}},
            [h.rule("papers", "escalate", "Papers are private.",
                    server=["documents"], roles=["read-path"])],
            {"documents": FILES}, provider=self.p, env=agents.ENV, config={
                "agent": {agent: {"path": path}},
                "providers": {provider: {"upstream": self.p.url,
                                         "ca": self.p.ca}},
                "credentials": {provider: {"env": env}}})
        self.take(self.icctl("start", "--detach", "--json", "--agent", agent,
                             "--workspace", self.s.workspace))

    def icctl(self, *args):
        return subprocess.run(
            [h.program("icctl"), *args], env=self.s.env,
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=120 * h.PATIENCE, check=False)

    def take(self, r):
        if r.returncode != 0:
            raise RuntimeError(r.stderr)
        told = json.loads(r.stdout)
        self.s.dir, self.id, self.pid = (told["dir"], told["session"],
                                         told["pid"])

    def sending(self, message):
        return subprocess.Popen(
            [h.program("icctl"), "send", "--json", "--session", self.id,
             message], env=self.s.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def ended(self, process, text, what):
        """Check that the turn has answered with the text."""
        out, err = process.communicate(timeout=120 * h.PATIENCE)
        events = [json.loads(x) for x in out.splitlines()]
        said = "".join(e["text"] for e in events
                       if e["event"] == "agent_text")
        t.ok(process.returncode == 0 and text in said,
             f"{self.agent}: {what}",
             (process.returncode, out[-1500:], err[-500:],
              self.s.session_log()[-1000:]))

    def held(self):
        h.wait_for(self.s.pending, "nothing was held", 90)
        return self.s.pending()[0]

    def kill(self):
        h.kill(self.pid)
        h.wait_for(lambda: not h.alive(self.pid), "it does not die")
        h.wait_for(lambda: self.s.audit()[-1]["event"] == "stop",
                   "no closing record")
        self.pid = 0

    def resume(self):
        self.take(self.icctl("resume", "--json", self.id, "--after-crash"))

    def end(self):
        if self.pid:
            self.icctl("stop", "--session", self.id)
            h.wait_for(lambda: not h.alive(self.pid), "it does not stop")
        self.p.end()


def by_watch(k, ident):
    term = Terminal([h.program("icctl"), "--session", k.s.dir, "watch",
                     "--plain"], {**k.s.env, "TERM": "xterm"})
    term.approve(term.until(ident.encode() + rb": \[a\]pprove").decode())
    term.until(rb"approved")
    term.key(b"q")
    return term.end() == 0


def by_page(k, work):
    p = webpage.Page(k.s.home)
    browser = chromium.Browser(work)
    try:
        tab = browser.tab(p.link)
        tab.until("document.querySelector('.row.call')", "the call")
        tab.click(".row.call")
        tab.until("document.querySelector('#call-text').innerText"
                  ".length > 20", "the call's text")
        tab.click("#approve")
        tab.until("!document.querySelector('.row.call')", "it is gone")
        return True
    finally:
        browser.end()
        p.stop()


def answered(k, work):
    """A turn with two calls that wait."""
    turn = k.sending("second: read the paper.")
    first = k.held()["id"]
    t.ok(by_watch(k, first), f"{k.agent}: one is approved in watch")
    h.wait_for(lambda: [x for x in k.s.pending() if x["id"] != first],
               "a second call", 90)
    if chromium.program():
        t.ok(by_page(k, work), f"{k.agent}: one is approved in the browser")
    else:
        t.skip(f"{k.agent}: the browser", "chromium is not installed")
        k.s.icctl("approve", k.held()["id"], check=True)
    k.ended(turn, k.word, "what was approved is in its answer")


def cut(k):
    """A turn that its supervisor does not survive."""
    turn = k.sending("third: read it again.")
    ident = k.held()["id"]
    k.kill()
    turn.communicate(timeout=60 * h.PATIENCE)
    k.resume()
    events = h.read_lines(os.path.join(k.s.dir, "events.jsonl"))
    names = [e["event"] for e in events if e.get("turn") == 3]
    t.equal([names.count(n) for n in ("usage", "result", "turn_end")],
            [1, 1, 1], f"{k.agent}: killed in a turn, which gets its ends")
    r = k.icctl("history", k.id)
    t.ok(r.returncode == 0 and ident in r.stdout + json.dumps(events),
         f"{k.agent}: the call that waited is in its history", r.stdout[-800:])
    t.equal(k.s.pending(), [], f"{k.agent}: and no longer waits")


def run(work, agent, path):
    k = Life(work, agent, path)
    note = f"note-{secrets.token_hex(6)}"
    try:
        k.ended(k.sending(f"first: remember {note}."), "noted", "a turn")
        answered(k, work)
        k.kill()
        k.resume()
        cut(k)
        k.ended(k.sending("fourth: what was it?"), "over",
                "after two deaths it goes on")
        last = [e["body"] for e in k.p.seen() if "fourth:" in e["body"]]
        t.ok(any(note in b and k.word in b for b in last),
             f"{agent}: and remembers what was said before them",
             [b[-800:] for b in last])
        audit = k.s.audit()
        results = [c.get("escalationResult") for c in audit
                   if c["event"] == "call"]
        t.equal(results[:2], ["approved", "approved"],
                f"{agent}: the log has both answers")
    finally:
        k.end()
    r = k.icctl("audit", "verify", os.path.join(k.s.dir, "audit.jsonl"))
    t.equal(r.returncode, 0, f"{agent}: the chain of its three lives is whole")


def main():
    chosen = list(AGENTS) if sys.argv[1:] == ["all"] else ["claude-code"]
    for agent in chosen:
        if not agents.installed(t, agent, AGENTS[agent]):
            continue
        with h.workdir() as work, t.case(agent):
            run(work, agent, AGENTS[agent])
    t.done()


if __name__ == "__main__":
    main()
