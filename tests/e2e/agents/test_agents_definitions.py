#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Odd definitions of tools, through the official SDK and the real agents: each
of them would take all tools of all servers from a client that checks its list.
"""
import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import agents_helper as agents  # noqa: E402
import harness as h  # noqa: E402
import odd_tools  # noqa: E402

t = h.Tap()
SDK = os.path.join(agents.MODULES, "@modelcontextprotocol", "sdk")
PROVIDERS = {"opencode": ["anthropic"]}


def server(work, name, pages):
    path = h.put(os.path.join(work, name, "list.json"), json.dumps(pages))
    return {"command": h.PYTHON, "args": [os.path.join(
        h.STANDINS, "mcp_list.py"), path], "sandbox": {"filesystem": {
            "allowRead": [os.path.dirname(path), h.STANDINS]}}}


def listed(s):
    """Returns the names that the SDK lists, or its error."""
    r = subprocess.run(
        [shutil.which("node"), os.path.join(h.STANDINS, "sdk_list.mjs"), SDK,
         h.program("ic-bridge"), s.ready["sockets"]["mcp"]],
        capture_output=True, text=True, timeout=60 * h.PATIENCE, check=False)
    out = json.loads(r.stdout or '{"error":"no output"}')
    return out.get("tools", out.get("error"))


def by_sdk():
    """Every shape, in servers of their own, 20 a session; then all in one."""
    names = [*odd_tools.SHAPES, *odd_tools.RAW]
    groups = [{f"odd{k}": odd_tools.pages(n) for k, n in
               enumerate(names[i:i + 20])} for i in range(0, len(names), 20)]
    groups.append({"all": odd_tools.pages(*[
        n for n in names if n not in ("too-long",)])})
    for n, group in enumerate(groups):
        with h.workdir() as work:
            servers = {k: server(work, k, v) for k, v in group.items()}
            with h.Session(work, servers, rules=[h.rule("all", "allow")]) as s:
                s.client().close()
                got = listed(s)
                t.ok(isinstance(got, list) and
                     {f"{x}__good" for x in servers} <= set(got),
                     f"group {n}: the SDK lists the tools of all "
                     f"{len(servers)} servers", got)


def by_agent(agent, path):
    """An agent calls the honest tool beside the odd ones."""
    with h.workdir() as work:
        p = h.Provider(work, "--bodies", script=[
            {"tool": "fine__good$", "args": {"word": "so-it-is"}},
            {"text": "FINAL: $RESULT"}])
        odd = ["hint-yes", "properties-array", "output-array", "root-anyof",
               "annotation-null", "type-unknown", "pattern-open"]
        config = {"agent": {agent: {"path": path}},
                  "policy": {"trustedServers": ["odd", "fine"]}}
        if agent in PROVIDERS:
            config["providers"] = {"anthropic": {"upstream": p.url,
                                                 "ca": p.ca}}
            config["credentials"] = {"anthropic": {"env":
                                                   "ANTHROPIC_API_KEY"}}
        s = h.Session(work, {
            "odd": server(work, "odd", odd_tools.pages(*odd)),
            "fine": server(work, "fine", {"pages": [json.dumps([
                odd_tools.GOOD])]})},
            [h.rule("all", "allow")], provider=p, config=config,
            env=agents.ENV)
        r = subprocess.run(
            [*agents.command(s, agent, "--model", agents.MODELS[agent]),
             "Call the tool."], env=s.env, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120, check=False)
        t.ok("so-it-is" in r.stdout, f"{agent}: an honest tool is called "
             "beside seven odd ones", (r.returncode, r.stdout[-400:],
                                       r.stderr[-800:]))
        t.contains(r.stderr, "tool bad5 is left out: inputSchema/properties/"
                   "a/type", f"{agent}: the start names what is left out")
        p.end()


def main():
    if agents.installed(t, "SDK", SDK):
        by_sdk()
    for agent in ("claude-code", "codex", "opencode"):
        if agents.installed(t, agent, agents.AGENTS[agent]):
            by_agent(agent, agents.AGENTS[agent])
    t.done()


if __name__ == "__main__":
    main()
