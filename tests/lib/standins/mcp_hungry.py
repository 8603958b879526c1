#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""An MCP server that lists no tools and allocates memory until it is killed.
"""
import json
import sys

for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": {
            "protocolVersion": m["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "hungry", "version": "1"}}}), flush=True)
    elif m.get("method") == "tools/list":
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"],
                          "result": {"tools": []}}), flush=True)
        held = []
        while True:
            held.append(bytearray(8 << 20))
