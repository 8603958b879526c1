#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Real agents with their own full screen, on a terminal that tmux draws: ^Z
suspends them; a prompt is typed, its tool call waits and is told in our line,
it is approved in our panel, and its result is on the agent's screen; the window
changes its size, the person detaches, attaches from another terminal and leaves
the agent, and both terminals are as they were."""
import os
import shlex
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import agents_helper as agents  # noqa: E402
import harness as h  # noqa: E402
from tmux import PROGRAM, PROMPT, Tmux  # noqa: E402

t = h.Tap()
# The agent's program, what is on its screen once it takes a prompt, and what a
# person types to leave it.
AGENTS = {
    "claude-code": (agents.CLAUDE, "bypass permissions on", ["/exit"]),
    "codex": (agents.CODEX, "Ask Codex", ["/quit"]),
    "gemini-cli": (agents.GEMINI, "Type your message", ["/quit"]),
    "opencode": (agents.OPENCODE, "Ask anything", []),
}
PROVIDERS = {"claude-code": "anthropic", "codex": "openai",
             "gemini-cli": "google", "opencode": "anthropic"}
ENV = {"anthropic": "ANTHROPIC_API_KEY", "google": "GEMINI_API_KEY",
       "openai": "OPENAI_API_KEY"}
FILES = {"read_text_file": {"path": ["read-path"], "head": ["none"],
                            "tail": ["none"]}}
# Those that stop themselves at ^Z.
STOP = ("claude-code", "codex", "opencode")
SECONDS = 120
PASTE = ("xbegin \u65e5\u672c \u042f \U0001f600 \u00e9 \U0001f970 "
         "\U0001f9d1\u200d\U0001f91d\u200d\U0001f9d1 "
         "\U0001f469\u200d\U0001f469\u200d\U0001f467 xend")


def rig(work, agent, path, paper):
    """Returns a session's surroundings, and the provider."""
    name = h.put(os.path.join(work, "papers", "a.txt"), paper)
    p = h.Provider(work, "--bodies", script=[
        {"tool": "documents__read_text_file$", "args": {"path": name}},
        {"text": "FINAL: $RESULT"}])
    provider = PROVIDERS[agent]
    s = h.Session(work, {"documents": {
        "command": "node", "args": [os.path.join(
            agents.MODULES, "@modelcontextprotocol/server-filesystem/dist/"
            "index.js"), os.path.dirname(name)], "workspace": False,
        "sandbox": {"filesystem": {"allowRead": [os.path.dirname(name)]}}}},
        [h.rule("papers", "escalate", "Papers are private.",
                server=["documents"], roles=["read-path"])],
        {"documents": FILES}, provider=p, env=agents.ENV, config={
            "agent": {agent: {"path": path}},
            "providers": {provider: {"upstream": p.url, "ca": p.ca}},
            "credentials": {provider: {"env": ENV[provider]}}})
    return s, p


def panel(tmux, ident):
    """Approve a call in the panel: the first key counts once the call was
    shown for a second."""
    tmux.keys("C-]", "a")
    tmux.until(f"{ident}: [a]pprove")
    time.sleep(1.1)
    tmux.text("a")
    tmux.until(f"press {ident[0]} to")
    tmux.text(ident[0])


def resize(agent, tmux):
    for rows, cols in ((24, 80), (40, 110)):
        tmux.resize(rows, cols)
        h.wait_for(lambda n=rows: tmux.screen()[n - 1].startswith(
            " ironcurtain ") or None, "our line at the bottom")
        tmux.until("FINAL", SECONDS)
    t.ok(True, f"{agent}: it follows the window")


def restored(agent, tmux, before, what):
    tmux.until(PROMPT)
    h.wait_for(lambda: tmux.stty() == before[0] or None, "its settings")
    t.equal(tmux.modes(), before[1],
            f"{agent}: {what}, the terminal is as it was")


def suspended(agent, tmux, before, ready):
    """^Z: the shell has its terminal, and fg brings the agent back. One that
    knows no ^Z goes on, which the prompt that is typed next shows."""
    if agent not in STOP:
        tmux.keys("C-z")
        return
    for _ in range(1 if agent == "codex" else 2):
        tmux.keys("C-z")
        h.wait_for(lambda: tmux.ask("alternate_on") == "0" or None,
                   f"{agent} is suspended", SECONDS)
        restored(agent, tmux, before, "suspended")
        tmux.run("clear; fg")
        tmux.until(ready, SECONDS)
        t.equal(tmux.ask("alternate_on"), "1", f"{agent}: fg brings it back")
    if agent == "codex":
        # Also without us, it drops keys for a moment after a continuation.
        h.wait_for(lambda: tmux.text("~") or
                   any("~" in x for x in tmux.screen()) or None,
                   "Codex takes keys", SECONDS, 0.5)
        tmux.keys("C-u")
        tmux.gone("~")


def pasted(agent, tmux):
    """A paste with letters of several code points stands once on the screen,
    each as it is, and nothing of it is left when it is taken back."""
    tmux.tmux("set-buffer", "--", PASTE)
    tmux.tmux("paste-buffer", "-p")
    tmux.until("xend", SECONDS)
    h.wait_for(lambda: [x.count("xbegin") for x in tmux.screen()
                        if "xbegin" in x] == [1] or None,
               f"{agent}: a paste stands once")
    line = next(x for x in tmux.screen() if "xbegin" in x)
    t.ok(all(x in line for x in PASTE.split()),
         f"{agent}: the paste is whole", line)
    tmux.keys("C-u")
    tmux.gone("xbegin", SECONDS)
    tmux.gone("xend")


def again(work, agent, s, leave):
    """Attach from another terminal, and leave the agent there."""
    other = Tmux(os.path.join(work, "other"), s.env, rows=40, cols=110)
    try:
        before = (other.stty(), other.modes())
        other.run(shlex.join([h.program("icctl"), "attach"]))
        other.until("FINAL", SECONDS)
        t.ok(True, f"{agent}: attached from another terminal")
        for keys in leave:
            other.text(keys)
            other.until(keys, SECONDS)
            time.sleep(1)       # it takes fast keys for a paste
            other.keys("Enter")
        if not leave:
            t.equal(s.icctl("stop").returncode, 0, f"{agent}: stopped")
        other.until("has ended; log: ", SECONDS)
        restored(agent, other, before, "left")
    finally:
        other.end()


def screen(work, agent, path, ready, leave):
    paper = "the-plan-is-blue"
    s, p = rig(work, agent, path, paper)
    tmux = Tmux(work, s.env, rows=40, cols=110)
    try:
        before = (tmux.stty(), tmux.modes())
        tmux.run(shlex.join(agents.command(s, agent)))
        tmux.until(ready, SECONDS)
        suspended(agent, tmux, before, ready)
        pasted(agent, tmux)
        tmux.text("Read the paper.")
        tmux.until("Read the paper.", SECONDS)
        tmux.keys("Enter")
        lines = tmux.until("1 PENDING CALL: Ctrl-] a", SECONDS)
        t.ok(lines[39].startswith(" ironcurtain "),
             f"{agent}: the last line counts the call", lines[39])
        s.dir = agents.latest(s)
        h.wait_for(lambda: tmux.ask("pane_title") ==
                   "ironcurtain: 1 pending call", "the title")
        hold = s.pending()[0]
        t.equal((hold["server"], hold["tool"]),
                ("documents", "read_text_file"), f"{agent}: held")
        panel(tmux, hold["id"])
        tmux.until("FINAL", SECONDS)
        t.equal([c["escalationResult"] for c in s.audit()
                 if c["event"] == "call"], ["approved"],
                f"{agent}: approved in the panel")
        t.ok(any(paper in x for x in tmux.until(paper)),
             f"{agent}: the result is on its screen")
        agents.check_told(t, agent, p, agents.TOOL)
        resize(agent, tmux)
        tmux.keys("C-]", "d")
        tmux.until("detached")
        restored(agent, tmux, before, "detached")
        again(work, agent, s, leave)
        t.equal([e["toolName"] for e in s.events("hold")], ["read_text_file"],
                f"{agent}: it asks about no host by itself")
    finally:
        tmux.end()
        p.end()


def main():
    if PROGRAM is None:
        t.skip("agents_screen", "tmux is not here: apt-get install tmux")
        t.done()
    for agent, (path, ready, leave) in AGENTS.items():
        if not agents.installed(t, agent, path):
            continue
        with h.workdir() as work, t.case(agent):
            screen(work, agent, path, ready, leave)
    t.done()


if __name__ == "__main__":
    main()
