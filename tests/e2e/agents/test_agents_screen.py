#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Real agents with their own full screen, on a terminal that tmux draws: a
prompt is typed, its tool call waits and is told on the terminal, it is approved
and its result is on the agent's screen; then the person detaches, and the
terminal is as it was."""
import os
import shlex
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import agents_helper as agents  # noqa: E402
import harness as h  # noqa: E402
from tmux import PROGRAM, PROMPT, Tmux  # noqa: E402

t = h.Tap()
# The agent's program, and what is on its screen once it takes a prompt.
AGENTS = {
    "claude-code": (agents.CLAUDE, "bypass permissions on"),
    "codex": (agents.CODEX, "Ask Codex"),
    "gemini-cli": (agents.GEMINI, "Type your message"),
    "opencode": (agents.OPENCODE, "Ask anything"),
}
PROVIDERS = {"claude-code": "anthropic", "codex": "openai",
             "gemini-cli": "google", "opencode": "anthropic"}
ENV = {"anthropic": "ANTHROPIC_API_KEY", "google": "GEMINI_API_KEY",
       "openai": "OPENAI_API_KEY"}
FILES = {"read_text_file": {"path": ["read-path"], "head": ["none"],
                            "tail": ["none"]}}
SECONDS = 120


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


def screen(work, agent, path, ready):
    paper = "the-plan-is-blue"
    s, p = rig(work, agent, path, paper)
    tmux = Tmux(work, s.env, rows=40, cols=110)
    try:
        before = (tmux.stty(), tmux.modes())
        tmux.run(shlex.join(agents.command(s, agent)))
        tmux.until(ready, SECONDS)
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
        t.equal(s.icctl("approve", hold["id"]).returncode, 0,
                f"{agent}: approved")
        tmux.until("FINAL", SECONDS)
        t.ok(any(paper in x for x in tmux.until(paper)),
             f"{agent}: the result is on its screen")
        agents.check_told(t, agent, p, agents.TOOL)
        tmux.keys("C-]", "d")
        tmux.until("detached")
        tmux.until(PROMPT)
        h.wait_for(lambda: tmux.stty() == before[0] or None, "its settings")
        t.equal(tmux.modes(), before[1],
                f"{agent}: detached, the terminal is as it was")
        t.equal(s.icctl("stop").returncode, 0, f"{agent}: stopped")
    finally:
        tmux.end()
        p.end()


def main():
    if PROGRAM is None:
        t.skip("agents_screen", "tmux is not here: apt-get install tmux")
        t.done()
    for agent, (path, ready) in AGENTS.items():
        if not agents.installed(t, agent, path):
            continue
        with h.workdir() as work, t.case(agent):
            screen(work, agent, path, ready)
    t.done()


if __name__ == "__main__":
    main()
