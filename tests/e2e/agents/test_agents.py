#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Runs the real Claude Code, Codex CLI, OpenCode and Gemini CLI and the real
reference filesystem server from npm, pinned in agents.json and installed by
./dev: each is asked to read a file outside the workspace, which is held and
approved; then the real key is searched for in everything that the sandbox can
read."""
import os
import secrets
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import agents_helper as agents  # noqa: E402
import harness as h  # noqa: E402

t = h.Tap()
AGENTS = {
    "claude-code": (agents.CLAUDE, h.ANTHROPIC_KEY),
    "codex": (agents.CODEX, h.OPENAI_KEY),
    "opencode": (agents.OPENCODE, h.ANTHROPIC_KEY),
    "gemini-cli": (agents.GEMINI, h.GOOGLE_KEY),
}
# Providers of agents for which a session's two do not suffice.
MORE = {"opencode": ["anthropic"], "gemini-cli": ["google"]}
FILES = {"read_text_file": {"path": ["read-path"], "head": ["none"],
                            "tail": ["none"]},
         "list_directory": {"path": ["read-path"]}}
ENV = {"anthropic": "ANTHROPIC_API_KEY", "google": "GEMINI_API_KEY"}


def config(agent, path, provider, http2):
    made = {"agent": {agent: {"path": path}}}
    if not http2:
        made["providers"] = {"openai": {
            "upstream": provider.url, "ca": provider.ca, "http2": False}}
    if agent in MORE:
        made["providers"] = {n: {"upstream": provider.url, "ca": provider.ca}
                             for n in MORE[agent]}
        made["credentials"] = {n: {"env": ENV[n]} for n in MORE[agent]}
    return made


def by_websocket(s):
    """Returns the shipped adapter, except for what makes Codex try a
    WebSocket."""
    share = os.path.join(os.path.dirname(h.program("icctl")), "..", "share",
                         "ironcurtain", "agents", "codex.json")
    with open(share, encoding="utf-8") as f:
        text = f.read()
    made = os.path.join(s.home, "agents", "codex.json")
    os.makedirs(os.path.dirname(made), exist_ok=True)
    with open(made, "w", encoding="utf-8") as f:
        f.write(text.replace("supports_websockets = false",
                             "supports_websockets = true"))


def run(agent, websocket=False, http2=True):
    path, key = AGENTS[agent]
    paper = "paper-" + secrets.token_hex(12)
    with h.workdir() as work:
        papers = os.path.join(work, "papers")
        os.makedirs(papers)
        name = os.path.join(papers, "a.txt")
        with open(name, "w", encoding="utf-8") as f:
            f.write(paper)
        how = "--websocket" if websocket else "--bodies"
        p = h.Provider(work, how, script=[
            {"tool": "documents__read_text_file$", "args": {"path": name}},
            {"text": "FINAL: $RESULT"}])
        s = h.Session(work, {"documents": {
            "command": "node", "args": [os.path.join(
                agents.MODULES, "@modelcontextprotocol/server-filesystem/dist/"
                "index.js"), papers], "workspace": False,
            "sandbox": {"filesystem": {"allowRead": [papers]}}}},
            [h.rule("papers", "escalate", "Papers are private.",
                    server=["documents"], roles=["read-path"])],
            {"documents": FILES}, provider=p,
            config=config(agent, path, p, http2), env=agents.ENV)
        if websocket:
            by_websocket(s)
        out, err = agents.check_held_run(
            t, s, agent, [*agents.command(s, agent, "--model",
                                            agents.MODELS[agent]),
                          "Read the paper."],
            ("documents", "read_text_file"), key, ("sk-", "AIza"))
        t.ok(paper in out, f"{agent}: its answer holds the paper", out[-800:])
        seen = p.seen()
        t.ok(len(seen) >= (1 if websocket else 2) and
             all(r["keyOk"] for r in seen),
             f"{agent}: the provider saw the real key",
             [(r["target"], r["keyOk"]) for r in seen])
        t.ok(not websocket or {r["status"] for r in seen} == {101},
             f"{agent}: by WebSocket alone, where that was asked for",
             [(r["target"], r["status"]) for r in seen])
        if not websocket:
            agents.check_model(t, agent, p, agents.MODELS[agent])
            agents.check_told(t, agent, p, agents.TOOL)
        # The protocol chosen by ALPN, from mitmd's log: only Codex offers h2,
        # and not for a WebSocket.
        h2 = "HTTP/2 with api.openai.com" in s.session_log()
        t.equal(h2, agent == "codex" and http2 and not websocket,
                f"{agent}: HTTP/{2 if h2 else 1.1}")
        agents.check_logs(t, s, agent, seen, [key], out + err)
        p.end()


def main():
    for agent, (path, _) in AGENTS.items():
        if not agents.installed(t, agent, path):
            continue
        with t.case(agent):
            run(agent)
        if agent == "codex":
            with t.case("codex, WebSocket"):
                run(agent, websocket=True)
            with t.case("codex, HTTP/1.1"):
                run(agent, http2=False)
    t.done()


if __name__ == "__main__":
    main()
