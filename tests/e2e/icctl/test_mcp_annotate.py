#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Tests `icctl mcp annotate`: the proposal for the tools of a user's server,
the file that is written, that it loads, and that a session uses it."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
STRING = {"type": "string"}
PATHS = {"type": "array", "items": STRING}
TOOLS = [
    ("read_file", {"path": STRING, "head": {"type": "integer"}}, {}),
    ("writeFile", {"filePath": STRING, "content": STRING}, {}),
    ("delete_files", {"paths": PATHS}, {}),
    ("move_file", {"source": STRING, "destination": STRING}, {}),
    ("frobnicate", {"path": STRING}, {"readOnlyHint": True}),
    ("list_dir", {"dir": STRING}, {"readOnlyHint": False}),
    ("get_page", {"url": STRING, "n": {"type": "number"}},
     {"destructiveHint": True}),
    ("create_issue", {"owner": STRING, "repo": STRING, "title": STRING}, {}),
    ("send", {"to": {"type": "string", "format": "email"}, "body": STRING},
     {}),
]
WANT = {
    "read_file": {"path": ["read-path"], "head": ["none"]},
    "writeFile": {"filePath": ["write-path"], "content": ["none"]},
    "delete_files": {"paths": ["delete-path"]},
    "move_file": {"source": ["read-path", "delete-path"],
                  "destination": ["write-path"]},
    "frobnicate": {"path": ["read-path", "write-path"]},
    "list_dir": {"dir": ["read-path", "write-path"]},
    "get_page": {"url": ["fetch-url"], "n": ["none"]},
    "create_issue": {"owner": ["github-owner"], "repo": ["github-repo"],
                     "title": ["none"]},
    "send": {"to": ["email-address"], "body": ["none"]},
}


def server(work):
    tools = [{"name": n, "annotations": a, "inputSchema": {
        "type": "object", "properties": p}} for n, p, a in TOOLS]
    return h.put(os.path.join(work, "tools", "server.py"), f"""#!/usr/bin/python3
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        r = {{"protocolVersion": "2025-06-18", "capabilities": {{"tools": {{}}}},
             "serverInfo": {{"name": "mine", "version": "1"}}}}
    elif m.get("method") == "tools/list":
        r = {{"tools": json.loads({json.dumps(json.dumps(tools))})}}
    elif m.get("method") == "tools/call":
        r = {{"content": [{{"type": "text", "text": "done"}}]}}
    else:
        continue
    print(json.dumps({{"jsonrpc": "2.0", "id": m["id"], "result": r}}),
          flush=True)
""", 0o755)


def run(home, *args, given=""):
    return subprocess.run(
        [h.program("icctl"), *args], input=given,
        env={"PATH": os.environ["PATH"], "HOME": home}, capture_output=True,
        text=True, timeout=60, check=False)


def read(*names):
    with open(os.path.join(*names), encoding="utf-8") as f:
        return json.load(f)


def main():
    with h.workdir() as work:
        home = os.path.join(work, "home")
        own = os.path.join(home, ".ironcurtain")
        policy = os.path.join(own, "policy")
        os.makedirs(own, 0o700)
        h.put(os.path.join(own, "mcp-servers.json"),
              json.dumps({"mine": {"command": server(work)}}), 0o600)
        r = run(home, "mcp", "annotate", "nobody", "--yes")
        t.ok(r.returncode == 1 and "nobody is not in" in r.stderr,
             "a server that is not there", r)
        r = run(home, "mcp", "annotate", "mine", given="n\n")
        t.ok(r.returncode == 1 and not os.path.exists(policy),
             "a no writes nothing", r)
        t.contains(r.stdout, "source: read-path, delete-path",
                   "the proposal is shown")
        r = run(home, "mcp", "annotate", "mine", given="y\n")
        t.equal(r.returncode, 0, "a yes writes it")
        tools = read(policy, "tool-annotations.json")["servers"]["mine"]
        t.equal({x["toolName"]: x["args"] for x in tools["tools"]}, WANT,
                "roles by schema and name; hints make it stricter alone")
        rules = read(policy, "compiled-policy.json")["rules"]
        t.equal((rules[-1]["if"], rules[-1]["then"]),
                ({"server": ["mine"]}, "escalate"), "a rule asks")
        t.ok(len(rules) > 1, "behind those of the shipped policy")
        r = run(home, "policy", "check")
        t.equal(r.returncode, 0, "the policy is good")
        # A person's correction is kept.
        path = os.path.join(policy, "tool-annotations.json")
        whole = read(path)
        whole["servers"]["mine"]["tools"][0]["args"]["path"] = ["none"]
        whole["servers"]["mine"]["tools"].pop()
        h.put(path, json.dumps(whole))
        r = run(home, "mcp", "annotate", "mine", "--yes")
        tools = read(path)["servers"]["mine"]["tools"]
        t.equal((r.returncode, tools[0]["args"]["path"], len(tools)),
                (0, ["none"], len(TOOLS)), "what is there stays")
        t.equal(len(read(policy, "compiled-policy.json")["rules"]),
                len(rules), "and no second rule")
        gained(work, home, policy)
        session(work, policy)
        # Sessions use "generated" where there is no "policy".
        generated = os.path.join(own, "generated")
        os.rename(policy, generated)
        os.remove(os.path.join(generated, "tool-annotations.json"))
        r = run(home, "mcp", "annotate", "mine", "--yes")
        t.ok(not os.path.exists(policy) and "mine" in read(
            generated, "tool-annotations.json")["servers"],
            "the policy that sessions use is changed, not a copy beside it", r)
    t.done()


def gained(work, home, policy):
    """A tool has an argument that its annotation does not know."""
    path = os.path.join(policy, "tool-annotations.json")
    whole = read(path)
    tools = {x["toolName"]: x for x in whole["servers"]["mine"]["tools"]}
    del tools["writeFile"]["args"]["filePath"]
    tools["read_file"]["args"]["path"] = ["none"]
    h.put(path, json.dumps(whole))
    with h.Session(os.path.join(work, "g"),
                   {"mine": {"command": os.path.join(work, "tools",
                                                     "server.py")}},
                   config={"policy": {"strict": True}},
                   options=["--policy", policy]) as s:
        m = s.client()
        t.contains(h.outcome(m.call("mine__writeFile", {
            "filePath": "/workspace/x", "content": "y"}))[1],
            "its annotation does not cover. The user can add them: icctl mcp "
            "annotate mine, then icctl policy reload", "the agent is told")
        h.wait_for(lambda: "To add them: icctl mcp annotate mine, then icctl "
                   "policy reload" in s.process.stderr(), "the warning")
        t.ok(True, "and the user")
        m.close()
    r = run(home, "mcp", "annotate", "mine", "--yes")
    t.contains(r.stdout, "New arguments of writeFile: filePath\n",
               "the command does what it says")
    t.contains(r.stdout, "written to ~/.ironcurtain/policy/"
               "tool-annotations.json", "in a path that can be pasted")
    tools = {x["toolName"]: x["args"] for x in
             read(path)["servers"]["mine"]["tools"]}
    t.equal((tools["writeFile"], tools["read_file"]["path"]),
            (WANT["writeFile"], ["none"]), "and keeps the rest")
    r = run(home, "mcp", "annotate", "mine", "--yes")
    t.contains(r.stdout, "All of its tools and their arguments are annotated "
               "in ~/.ironcurtain/policy already; nothing was written.\n",
               "once")


def session(work, policy):
    with h.Session(os.path.join(work, "s"),
                   {"mine": {"command": os.path.join(work, "tools",
                                                     "server.py")}},
                   options=["--policy", policy]) as s:
        m = s.client()
        call = m.start_call("mine__writeFile", {
            "filePath": "/workspace/x", "content": "y"})
        hold = s.held()
        t.equal((hold["rule"], [x["role"] for x in hold["resources"]]),
                ("ask-mine", ["write-path"]), "a session judges by it")
        s.icctl("deny", hold["id"], check=True)
        call.wait()
        m.close()


if __name__ == "__main__":
    main()
