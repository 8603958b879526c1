#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""An MCP server on stdio whose list of tools is a file: {"pages": [TEXT, ...]},
where each text is the JSON of one page's array, sent as it is. A call gives
back the tool's name and arguments; a call of "reload" reads the file again
first, and says that the list has changed. Shares no code with the product."""
import json
import sys

path = sys.argv[1]


def pages():
    with open(path, encoding="utf-8") as f:
        return json.load(f)["pages"]


def send(text):
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass") + b"\n")
    sys.stdout.buffer.flush()


def answer(ident, result):
    send('{"jsonrpc":"2.0","id":%s,"result":%s}' % (json.dumps(ident), result))


lists = pages()
for line in sys.stdin:
    message = json.loads(line)
    method, ident = message.get("method"), message.get("id")
    params = message.get("params") or {}
    if method == "initialize":
        answer(ident, json.dumps({
            "protocolVersion": "2025-06-18", "capabilities": {
                "tools": {"listChanged": True}},
            "serverInfo": {"name": "list", "version": "1"}}))
    elif method == "tools/list":
        n = int(params.get("cursor", "0"))
        more = ',"nextCursor":"%d"' % (n + 1) if n + 1 < len(lists) else ""
        answer(ident, '{"tools":%s%s}' % (lists[n], more))
    elif method == "tools/call":
        if params["name"] == "reload":
            lists = pages()
            send('{"jsonrpc":"2.0","method":'
                 '"notifications/tools/list_changed"}')
        answer(ident, json.dumps({"content": [{"type": "text", "text":
               json.dumps([params["name"], params["arguments"]])}]}))
    elif ident is not None:
        answer(ident, "{}")
