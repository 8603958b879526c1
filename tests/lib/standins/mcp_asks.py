#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""An MCP server on stdio that asks the person (elicitation/create). Its tool `ask`
sends the questions that its arguments have and answers with what came back;
`wanted` fails with -32042; `later` asks when its call is over; `die` asks and
ends. With the argument "early" it asks before any call. Every line that it
gets goes to the file that its last argument names. Shares no code with the
product."""
import json
import sys

LOG = next((x for x in sys.argv[1:] if x.startswith("/")), None)
SCHEMA = {"type": "object", "properties": {}}
next_id = 0


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    if LOG:
        with open(LOG, "a", encoding="utf-8") as f:
            f.write(line)
    return json.loads(line)


def ask(params, method="elicitation/create"):
    global next_id
    next_id += 1
    rid = f"ask-{next_id}"
    send({"id": rid, "method": method, "params": params})
    return rid


def answers(rids):
    """Waits for the answers to these requests, and serves what else comes."""
    got = {}
    while len(got) < len(rids):
        m = receive()
        if m.get("id") in rids and "method" not in m:
            got[m["id"]] = m.get("result", m.get("error"))
        elif m.get("method") == "notifications/cancelled":
            return None
        elif "method" in m and "id" in m:
            serve(m)
    return [got[r] for r in rids]


def text(value):
    return {"content": [{"type": "text", "text": json.dumps(value)}]}


def call(m):
    name, args = m["params"]["name"], m["params"].get("arguments", {})
    if name == "wanted":
        send({"id": m["id"], "error": {
            "code": -32042, "message": "open it first",
            "data": {"elicitations": args["elicitations"]}}})
        return
    if name == "later":
        send({"id": m["id"], "result": text("done")})
        ask(args["ask"])
        return
    if name == "die":
        ask(args["ask"])
        receive_until("die now")
        sys.exit(3)
    if args.get("parallel"):
        got = answers([ask(x) for x in args["ask"]])
    else:
        got = [answers([ask(x)]) for x in args["ask"]]
        got = [x and x[0] for x in got]
    send({"id": m["id"], "result": text(got)})


def receive_until(word):
    while word not in json.dumps(receive()):
        pass


def serve(m):
    method = m.get("method")
    if method == "initialize":
        send({"id": m["id"], "result": {
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "asks", "version": "1"}}})
    elif method == "notifications/initialized" and "early" in sys.argv:
        ask({"message": "before any call", "requestedSchema": SCHEMA})
    elif method == "tools/list":
        send({"id": m["id"], "result": {"tools": [
            {"name": n, "description": n, "inputSchema": SCHEMA}
            for n in ("ask", "wanted", "later", "die")]}})
    elif method == "tools/call":
        call(m)
    elif "id" in m and "method" in m:
        send({"id": m["id"], "result": {}})


while True:
    serve(receive())
