#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The workspace at the path that the user knows (--workspace-path same): where
the agent is, what it and its files are told, calls that name either path, and
paths at which the sandbox has something else."""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from lives import ADAPTER, Life  # noqa: E402

t = h.Tap()
AGENT = r"""#!/usr/bin/python3
import json, os, socket, sys
sys.stdin.read()
s = socket.socket(socket.AF_UNIX)
s.connect("/run/ironcurtain/proxy.sock")
f = s.makefile("rw")

def ask(n, method, params):
    f.write(json.dumps({"jsonrpc": "2.0", "id": n, "method": method,
                        "params": params}) + "\n")
    f.flush()
    while True:
        m = json.loads(f.readline())
        if m.get("id") == n:
            return m["result"]

told = ask(0, "initialize", {
    "protocolVersion": "2025-06-18", "capabilities": {},
    "clientInfo": {"name": "asks", "version": "1"}}).get("instructions", "")
f.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
here = os.getcwd()
both = [os.path.join(d, "letter") for d in (here, "/workspace")]
with open("written", "w") as out:
    out.write("by the agent")
print(json.dumps({
    "args": sys.argv[1:], "here": here, "told": told,
    "file": open(os.path.expanduser("~/.parrotrc")).read(),
    "same": os.path.samefile(here, "/workspace"),
    "beside": sorted(os.listdir("..")) if here != "/workspace" else [],
    "read": [ask(n, "tools/call", {
        "name": "filesystem__read_text_file", "arguments": {"path": p}})
        ["content"][0]["text"] for n, p in enumerate(both, 1)]}))
"""
TOLD = {**ADAPTER, "turn": ["--cd", "{workspace}"],
        "resume": ["--cd", "{workspace}", "{conversation}"],
        "home": {".parrotrc": {"trusted": {"{workspace}": True}}},
        "state": [".parrotrc"]}


class Place(Life):
    """A conversation with an agent that is told where it is."""

    def __init__(self, work, path, *options):
        self.path_here = path
        os.makedirs(path, mode=0o700)
        h.put(os.path.join(path, "letter"), "dear agent")
        h.put(os.path.join(os.path.dirname(path), "private"), "not yours")
        super().__init__(
            work, *options, workspace=path, agent=AGENT, adapter=TOLD,
            servers={"filesystem": {"command": "icfs",
                                    "args": ["/workspace"]}},
            rules=[h.rule("ask", "escalate", server=["filesystem"])],
            annotations={"filesystem": {"read_text_file": {
                "path": ["read-path"]}}})

    def report(self, message):
        events = self.send(message)
        said = "".join(e["text"] for e in events if e["event"] == "agent_text")
        try:
            return json.loads(said)
        except ValueError as e:
            raise AssertionError(events) from e


def check(k, said, path, what):
    t.equal((said["here"], said["same"]), (path, True),
            f"{what}: the agent is there, and the same is at /workspace")
    t.equal((said["args"][:2], json.loads(said["file"])),
            (["--cd", path], {"trusted": {path: True}}),
            f"{what}: its arguments and files name this path")
    t.contains(said["told"], f"below {path}, ", f"{what}: so it is told")
    t.equal(said["read"], ["dear agent"] * 2,
            f"{what}: a call may name either path")


def test_same(work):
    path = os.path.join(work, "projects", "my project", "it's")
    with Place(work, path, "--workspace-path", "same") as k:
        said = k.report("one")
        check(k, said, path, "same")
        t.equal(said["beside"], ["it's"], "nothing beside it is visible")
        t.ok(os.path.exists(os.path.join(path, "written")),
             "a file in the current directory is the user's")
        t.equal([r["policyDecision"]["rule"] for r in k.records()
                 if r["event"] == "call"], ["structural-sandbox-allow"] * 2,
                "both are calls within the workspace")
        k.stop()
        t.equal(k.resume().returncode, 0, "it is resumed")
        check(k, k.report("two"), path, "resumed")


def test_short(work):
    path = os.path.join(work, "projects", "one")
    with Place(work, path) as k:
        check(k, k.report("one"), "/workspace", "by default")


def test_refused(work):
    # A sandbox has a /dev of its own.
    shared = tempfile.mkdtemp(dir="/dev/shm")
    try:
        check_refused(work, [(shared, "a place of its own"), *(
            (os.path.join(work, name), "quotes")
            for name in ('a"b', "a\\b", "a\nb"))])
    finally:
        os.rmdir(shared)


def check_refused(work, places):
    for path, why in places:
        name = os.path.basename(path)
        os.makedirs(path, mode=0o700, exist_ok=True)
        s = h.Session(work, runtime="bwrap",
                      options=["--workspace-path", "same"])
        at = s.argv.index("--workspace")
        s.argv[at + 1] = path
        r = subprocess.run([*s.argv, "--", "true"], env=s.env, timeout=60,
                           capture_output=True, text=True, check=False)
        t.ok(r.returncode == 78 and why in r.stderr and
             "without --workspace-path same" in r.stderr,
             f"{name!r} is refused, with the reason", r.stderr)
    s = h.Session(work, options=["--workspace-path", "other"])
    r = subprocess.run(s.argv, env=s.env, timeout=60, capture_output=True,
                       text=True, check=False)
    t.ok(r.returncode == 64 and "same or short" in r.stderr,
         "another word is refused", (r.returncode, r.stderr))


def main():
    for test in (test_same, test_short, test_refused):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
