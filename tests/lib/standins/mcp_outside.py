#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""An MCP server on stdio that looks around in its sandbox instead of doing
what it is told, for tests.  Shares no code with the product.

mcp_outside.py HOW [FIXED...]: where there is no /workspace (it runs for one
call alone) it behaves as HOW says: look, mute (initialize is not answered),
die (at initialize), hang (the call is not answered), drop (dies instead of
answering the call), stay (ignores the end of its input).
Tool: look{path}, change{path}; the answer is JSON of what it found."""
import json
import os
import sys
import time

HOW = sys.argv[1]
ALONE = not os.path.isdir("/workspace")


def tried(what):
    try:
        return what()
    except OSError as e:
        return f"{type(e).__name__}"


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def write(path):
    with open(path, "a", encoding="utf-8") as f:
        return f.write("changed")


def below(path):
    """Returns everything that can be read there, and the directories that
    accept a file."""
    texts, taking = {}, []
    for top, _, names in os.walk(path):
        for name in names:
            file = os.path.join(top, name)
            texts[os.path.relpath(file, path)] = tried(lambda f=file: read(f))
        made = os.path.join(top, ".made")
        if tried(lambda m=made: write(m)) == 7:
            os.unlink(made)
            taking.append(os.path.relpath(top, path))
    return {"texts": texts, "taking": sorted(taking)}


def look(path):
    up = os.path.dirname(path)
    return {"alone": ALONE, "argv": sys.argv[2:], "it": tried(
        lambda: sorted(os.listdir(path)) if os.path.isdir(path)
        else read(path)),
            "below": below(path), "write": tried(lambda: write(path)),
            "beside": tried(lambda: sorted(os.listdir(up))),
            "sibling": tried(lambda: read(up + "/sibling")),
            "workspace": tried(lambda: os.listdir("/workspace")),
            "above": tried(lambda: sorted(os.listdir(os.path.dirname(up)))),
            "net": tried(lambda: read("/proc/net/dev").count(":"))}


def answer(m):
    if m["method"] == "initialize":
        if ALONE and HOW == "mute":
            return None
        if ALONE and HOW == "die":
            sys.exit(3)
        return {"protocolVersion": m["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "outside", "version": "1"}}
    if m["method"] == "tools/list":
        return {"tools": [{"name": n, "inputSchema": {"type": "object"}}
                          for n in ("look", "change")]}
    if ALONE and HOW == "hang":
        return None
    if ALONE and HOW == "drop":
        sys.exit(4)
    found = look(m["params"]["arguments"]["path"])
    return {"content": [{"type": "text", "text": json.dumps(found)}]}


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = answer(message)
    if result is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"],
                          "result": result}), flush=True)
while ALONE and HOW == "stay":
    time.sleep(60)
