#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""An MCP server on stdio that runs git in a repository and returns its output,
as a git server does.  It guards against nothing. Shares no code with the
product."""
import json
import subprocess
import sys

STR = {"type": "string"}
TOOLS = {
    "git_run": ({"path": STR, "words": {"type": "array", "items": STR}},
                lambda a: a["words"]),
    "git_fetch": ({"path": STR, "remote": STR},
                  lambda a: ["fetch", *filter(None, [a.get("remote")])]),
    "git_push": ({"path": STR, "remote": STR},
                 lambda a: ["push", *filter(None, [a.get("remote")])]),
    "git_clone": ({"path": STR, "url": STR}, None),
    "git_direct": ({"path": STR, "program": STR}, None),
}


def run(name, args):
    if name == "git_clone":
        argv, cwd = ["git", "clone", "--", args["url"], args["path"]], "/"
    elif name == "git_direct":
        argv, cwd = [args["program"], "status", "--short"], args["path"]
    else:
        argv, cwd = ["git", *TOOLS[name][1](args)], args["path"]
    try:
        p = subprocess.run(argv, cwd=cwd, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           timeout=60, check=False)
        text, code = p.stdout.decode("utf-8", "replace"), p.returncode
    except (OSError, subprocess.TimeoutExpired) as e:
        text, code = str(e), -1
    return {"content": [{"type": "text", "text": f"exit {code}\n{text}"}],
            "isError": code != 0}


def answer(m):
    if m["method"] == "initialize":
        return {"protocolVersion": m["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "mcp_git", "version": "1"}}
    if m["method"] == "tools/list":
        return {"tools": [{"name": n, "inputSchema": {
            "type": "object", "properties": t[0]}}
            for n, t in TOOLS.items()]}
    return run(m["params"]["name"], m["params"].get("arguments", {}))


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"],
                          "result": answer(message)}), flush=True)
