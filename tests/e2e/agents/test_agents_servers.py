#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Real MCP servers from npm, taken over from a Claude Desktop file as their own
README has them: each call is held, approved and answered. And the clients of
the Node that is installed, which get out through the proxy of a sandbox."""
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

t = h.Tap()
SCOPE = "@modelcontextprotocol"
MEMORY = os.path.join(agents.MODULES, SCOPE, "server-memory")


def desktop(work):
    """A home with Claude Desktop's file, and the packages where the import's
    own advice installs them."""
    user = os.path.join(work, "user")
    h.put(os.path.join(user, ".config/Claude/claude_desktop_config.json"),
          json.dumps({"mcpServers": {
              "memory": {"command": "npx", "args": [
                  "-y", f"{SCOPE}/server-memory"]},
              "thinking": {"command": "npx", "args": [
                  "-y", f"{SCOPE}/server-sequential-thinking"]},
              "elsewhere": {"url": "https://mcp.example.org/mcp"}}}))
    place = os.path.join(user, ".local/share/ironcurtain")
    os.makedirs(place)
    os.symlink(agents.MODULES, os.path.join(place, "node_modules"))
    return user


def approved(s, m, tool, arguments):
    """Returns the answer to a call that was held, and what the person saw."""
    call = m.start_call(tool, arguments)
    hold = s.held()
    s.icctl("approve", hold["id"], check=True)
    return h.outcome(call.wait()), hold


def imported(work):
    user = desktop(work)
    s = h.Session(work, env=agents.ENV)
    os.unlink(os.path.join(s.home, "mcp-servers.json"))
    r = subprocess.run([h.program("icctl"), "mcp", "import", "--yes"],
                       env=s.env, capture_output=True, text=True, timeout=90,
                       stdin=subprocess.DEVNULL, check=False)
    t.ok(r.returncode == 0 and "memory: 9 tools" in r.stdout and
         "thinking: 1 tool" in r.stdout and
         "posts to https://mcp.example.org/mcp" in r.stdout,
         "both are imported and start, and so is the remote one", r)
    # The shipped policy: it knows neither server.
    shutil.rmtree(os.path.join(s.home, "policy"), ignore_errors=True)
    with s:
        m = s.client()
        names = {x["name"] for x in m.list_tools()}
        t.ok({"memory__create_entities", "thinking__sequentialthinking"} <=
             names, "their tools are offered", sorted(names))
        entity = {"name": "anna", "entityType": "person",
                  "observations": ["likes tests"]}
        got, hold = approved(s, m, "memory__create_entities",
                             {"entities": [entity]})
        t.contains(hold["reason"], "No policy knows this tool",
                   "the call is held")
        t.ok(not got[0] and "anna" in got[1], "approved, it is answered", got)
        got, _ = approved(s, m, "memory__read_graph", {})
        t.ok(not got[0] and "likes tests" in got[1],
             "what it wrote is there: its file has a place", got)
        got, _ = approved(s, m, "thinking__sequentialthinking", {
            "thought": "one", "thoughtNumber": 1, "totalThoughts": 1,
            "nextThoughtNeeded": False})
        t.ok(not got[0] and "thoughtNumber" in got[1],
             "the second server answers too", got)
        m.close()
    with s:
        m = s.client()
        got, _ = approved(s, m, "memory__read_graph", {})
        t.ok("likes tests" in got[1], "and the next session remembers", got)
        m.close()


def clients(work):
    far = h.Provider(work)
    target = far.url.removeprefix("https://")
    entry = {"command": h.PYTHON,
             "args": [os.path.join(h.STANDINS, "mcp_net.py")],
             "env": {"NODE_EXTRA_CA_CERTS": far.ca,
                     "NODE_OPTIONS": "--no-warnings"},
             "sandbox": {"network": {"allowPrivate": True,
                                     "allowedDomains": [target]},
                         "filesystem": {"allowRead": [h.STANDINS, far.ca]}}}
    node = os.path.realpath(shutil.which("node"))
    if not node.startswith("/usr/"):
        entry["sandbox"]["filesystem"]["allowRead"].append(
            os.path.dirname(node))
    run = f"{node} {os.path.join(h.STANDINS, 'node_fetch.js')}"
    with h.Session(work, {"net": entry}, [h.rule("all", "allow")],
                   {"net": {"https": {"url": ["none"], "run": ["none"]}}},
                   env=agents.ENV) as s:
        m = s.client()
        got = json.loads(h.text_of(m.call("net__https", {
            "url": far.url + "/x", "run": run})))
        lines = got.get("body", "").split("\n")
        t.ok(lines[0].startswith("fetch 4") and lines[1].startswith("https 4"),
             "fetch() and https reach a listed host", got)
        t.equal(len([e for e in far.seen() if e["target"] == "/x"]), 2,
                "the far side got both")
        got = json.loads(h.text_of(m.call("net__https", {
            "url": "https://127.0.0.2:8443/x", "run": run})))
        t.equal(got.get("body", "").count("allowedDomains"), 2,
                "a host that is not listed is refused, with the reason")
        m.close()


if __name__ == "__main__":
    if agents.installed(t, "servers", MEMORY):
        for part in (imported, clients):
            with h.workdir() as directory, t.case(part.__name__):
                part(directory)
    t.done()
