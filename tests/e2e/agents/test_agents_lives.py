#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A conversation with each of the real agents as people have it: calls that
wait are approved in `icctl watch` and on the page of `icctl web`, the
supervisor is killed between turns and during one, and the conversation goes on
with all that was said.  With "all", each of them; otherwise Claude Code alone.
"""
import os
import secrets
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import agent_life as life  # noqa: E402
import agents_helper as agents  # noqa: E402
import chromium  # noqa: E402
import harness as h  # noqa: E402
import webpage  # noqa: E402
from terminal import Terminal  # noqa: E402

t = h.Tap()


def begin(work, agent, path, word):
    """Returns a conversation in which a paper that has the word is private."""
    paper = h.put(os.path.join(work, "papers", "a.txt"), word)
    read = {"tool": "documents__read_text_file$", "args": {"path": paper}}
    p = h.Provider(work, "--bodies", script={
        "first": [{"text": "It is noted."}],
        "second": [read, read, {"text": "FINAL: $RESULT"}],
        "third": [read, {"text": "FINAL: $RESULT"}],
        "fourth": [{"text": "It is over."}]})
    s = h.Session(work, {"documents": {
        "command": "node", "args": [os.path.join(
            agents.MODULES, "@modelcontextprotocol/server-filesystem/"
            "dist/index.js"), os.path.dirname(paper)],
        "workspace": False, "sandbox": {"filesystem": {
            "allowRead": [os.path.dirname(paper)]}}}},
        life.RULES, {"documents": life.FILES}, provider=p, env=agents.ENV,
        config=life.config(agent, p, agent={agent: {"path": path}}))
    return life.Life(t, s, agent)


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


def answered(k, work, word):
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
    k.ended(turn, word, "what was approved is in its answer")


def run(work, agent, path):
    note, word = (f"{x}-{secrets.token_hex(6)}" for x in ("note", "paper"))
    k = begin(work, agent, path, word)
    p = k.s.provider
    try:
        k.ended(k.sending(f"first: remember {note}."), "noted", "a turn")
        answered(k, work, word)
        k.kill()
        k.resume()
        k.cut(3, "third: read it again.")
        k.ended(k.sending("fourth: what was it?"), "over",
                "after two deaths it goes on")
        last = [e["body"] for e in p.seen() if "fourth:" in e["body"]]
        t.ok(any(note in b and word in b for b in last),
             f"{agent}: and remembers what was said before them",
             [b[-800:] for b in last])
        results = [c.get("escalationResult") for c in k.s.audit()
                   if c["event"] == "call"]
        t.equal(results[:2], ["approved", "approved"],
                f"{agent}: the log has both answers")
    finally:
        k.end()
        p.end()
    k.check_log("three")


def main():
    for agent, path in agents.chosen(t):
        with h.workdir() as work, t.case(agent):
            run(work, agent, path)
    t.done()


if __name__ == "__main__":
    main()
