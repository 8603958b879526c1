# SPDX-License-Identifier: ISC
"""A program for a sandbox that makes calls which the policy holds: it reads
files outside of its workspace, one after the other, and prints what it gets."""

AGENT = r"""#!/usr/bin/python3
import json, socket, sys

s = socket.socket(socket.AF_UNIX)
s.connect("/run/ironcurtain/proxy.sock")
f = s.makefile("rw")
notes = []

def ask(n, method, params):
    f.write(json.dumps({"jsonrpc": "2.0", "id": n, "method": method,
                        "params": params}) + "\n")
    f.flush()

def answer(n):
    while True:
        m = json.loads(f.readline())
        if m.get("id") == n:
            return m
        if m.get("method") == "notifications/progress":
            notes.append(m["params"].get("message"))

ask(0, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                      "clientInfo": {"name": "asks", "version": "1"}})
answer(0)
f.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
ask(1, "tools/list", {})
answer(1)
for i, path in enumerate(sys.argv[1:], 2):
    print("asking for", path, flush=True)
    ask(i, "tools/call", {"name": "filesystem__read_file",
                          "arguments": {"path": path},
                          "_meta": {"progressToken": i}})
    r = answer(i)
    text = r["result"]["content"][0]["text"] if "result" in r else str(r)
    print("got", text.splitlines()[0], flush=True)
for x in notes:
    print("note", x, flush=True)
"""
