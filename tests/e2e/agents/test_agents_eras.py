#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Claude Code, Codex, OpenCode and Gemini CLI call a tool of an older MCP server,
of one of revision 2026-07-28, and of one that speaks both, in one session."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import agents_helper as agents  # noqa: E402
import harness as h  # noqa: E402

t = h.Tap()
ERAS = ("legacy", "dual", "modern")
# Providers that are no agent's only one.
PROVIDERS = {"opencode": ("anthropic", "ANTHROPIC_API_KEY"),
             "gemini-cli": ("google", "GEMINI_API_KEY")}


def server(era):
    return {"command": h.PYTHON, "args": [
        os.path.join(h.STANDINS, "mcp_eras.py"), "--era", era],
        "sandbox": {"filesystem": {"allowRead": [h.STANDINS]}}}


def by_agent(agent, path):
    with h.workdir() as work:
        script = [{"tool": f"{era}__echo$", "args": {"text": f"I-am-{era}"}}
                  for era in ERAS]
        p = h.Provider(work, "--bodies", script=[
            *script, {"text": "FINAL: $RESULT"}])
        config = {"agent": {agent: {"path": path}},
                  "policy": {"trustedServers": list(ERAS)}}
        if agent in PROVIDERS:
            name, variable = PROVIDERS[agent]
            config["providers"] = {name: {"upstream": p.url, "ca": p.ca}}
            config["credentials"] = {name: {"env": variable}}
        s = h.Session(work, {era: server(era) for era in ERAS},
                      [h.rule("all", "allow")], provider=p, config=config,
                      env=agents.ENV)
        r = subprocess.run(
            [*agents.command(s, agent, "--model", agents.MODELS[agent]),
             "Call the tools."], env=s.env, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120 * h.PATIENCE,
            check=False)
        s.dir = agents.latest(s)
        calls = {e["serverName"]: e for e in s.audit("call")}
        for era in ERAS:
            t.ok(era in calls, f"{agent} calls a tool of the {era} server",
                 (r.returncode, r.stdout[-300:], r.stderr[-600:]))
        t.ok("I-am-modern" in r.stdout, f"{agent} gets the answers", r.stdout)
        p.end()


def main():
    for agent in agents.AGENTS:
        if agents.installed(t, agent, agents.AGENTS[agent]):
            by_agent(agent, agents.AGENTS[agent])
    t.done()


if __name__ == "__main__":
    main()
