# SPDX-License-Identifier: ISC
"""The one checker that joins three records which share no code: the audit log,
the lines that reached MCP servers, and the requests that reached the provider.
"""
import hashlib
import json


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"),
                      ensure_ascii=False)


def check_chain(path):
    """Returns the fault in the chain of the log, or None. It relies on the man
    page alone."""
    prev, seq = "0" * 64, 1
    with open(path, "rb") as f:
        for number, line in enumerate(f.read().splitlines(), 1):
            body, digest = line[:-75] + b"}", line[-66:-2].decode()
            record = json.loads(line)
            if hashlib.sha256(body).hexdigest() != digest:
                return f"line {number}: hash"
            if record["prev"] != prev or record["seq"] != seq:
                return f"line {number}: prev or seq"
            if canonical(json.loads(body)).encode() != body and \
                    b"." not in body:
                return f"line {number}: not canonical"
            prev, seq = digest, seq + 1
    return None if seq > 1 else "empty"


def check_calls(audit, servers):
    """Check that every call that a server received is in the log before, as
    allowed, with the same tool, arguments and digest, and that every forwarded
    call arrived, or its end says why not. servers: name -> log of that server
    (mcp_echo.py)."""
    wrong = []
    calls = {c["id"]: c for c in audit if c["event"] == "call"}
    ends = {e["id"]: e for e in audit if e["event"] == "result"}
    seen = {}
    for name, lines in servers.items():
        for line in lines:
            if line["ev"] != "line":
                continue
            message = json.loads(line["text"])
            if message.get("method") != "tools/call":
                continue
            ident = message["id"]
            seen[ident] = name
            call = calls.get(ident)
            params = message["params"]
            if call is None:
                wrong.append(f"{name} received {ident}, not in the log")
                continue
            named = [call["named"]] if "named" in call else []
            digest = hashlib.sha256(canonical(
                [name, params["name"], params["arguments"]] + named).encode())
            if call["policyDecision"]["status"] != "allow" and \
                    call.get("escalationResult") != "approved":
                wrong.append(f"{ident} reached {name} without being allowed")
            if call["digest"] != digest.hexdigest():
                wrong.append(f"{ident}: another digest than the log's")
            if not call.get("redacted") and \
                    call["arguments"] != params["arguments"]:
                wrong.append(f"{ident}: other arguments than the log's")
    for ident, end in ends.items():
        if end["status"] in ("success", "error") and ident not in seen and \
                end["serverName"] in servers:
            wrong.append(f"{ident} ended but no server saw it")
    return wrong


def check_requests(audit, seen):
    """Check that every request that reached the provider is in the log before.
    """
    asked = [a["path"] + ("?" + a["query"] if a["query"] else "")
             for a in audit if a["event"] == "modelRequest"]
    wrong = []
    for r in seen:
        if r["target"] in asked:
            asked.remove(r["target"])
        else:
            wrong.append(f"{r['target']} reached the provider, not the log")
    return wrong
