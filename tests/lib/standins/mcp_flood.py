#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""An MCP server that floods, for tests; shares no code with the product.  Its
one tool, `flood`, answers at once and then writes to its output, its standard
error or its proxy as fast as it can, for that many seconds."""
import json
import os
import socket
import sys
import threading
import time
from urllib.parse import urlsplit

TOOL = {"name": "flood", "description": "Floods.", "inputSchema": {
    "type": "object", "properties": {
        "kind": {"type": "string"}, "seconds": {"type": "number"},
        "target": {"type": "string"}}}}


def line(**members):
    return json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"


def texts(own):
    """Returns the text to repeat for that kind of flood."""
    many = range(64)
    return {
        "answers": b"".join(line(id=own + 1 + i, result={}) for i in many),
        "repeated": line(id=own, result={}) * 64,
        "errors": b"".join(line(id=i + 1, error={"code": 1, "message": "no"})
                           for i in many),
        "pages": line(id="t1", result={"tools": []}) * 64,
        "requests": b"".join(line(id=i, method="ping") for i in many),
        "changes": line(method="notifications/tools/list_changed") * 64,
        "progress": line(method="notifications/progress",
                         params={"progressToken": own, "progress": 1}) * 64,
        "large": line(id=own + 1, result={"text": "x" * 1000000}),
    }


def write(fd, data, until):
    while time.monotonic() < until:
        os.write(fd, data)


def connect(target, until):
    """Open connections and give them up at once."""
    url = urlsplit(os.environ["HTTPS_PROXY"])
    ask = f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode()
    while time.monotonic() < until:
        try:
            with socket.create_connection((url.hostname, url.port), 5) as s:
                s.sendall(ask)
                s.recv(4096)
        except OSError:
            pass


def names(target, until):
    """Ask for ever new names below the target."""
    url = urlsplit(os.environ["HTTPS_PROXY"])
    me = threading.get_ident()
    n = 0
    while time.monotonic() < until:
        n += 1
        name = target.replace("*", f"{n}-{me}")
        try:
            with socket.create_connection((url.hostname, url.port), 5) as s:
                s.sendall(f"CONNECT {name} HTTP/1.1\r\nHost: {name}\r\n\r\n"
                          .encode())
                s.settimeout(max(0.01, until - time.monotonic()))
                s.recv(4096)
        except OSError:
            pass


def flood(own, kind, seconds, target):
    until = time.monotonic() + seconds
    if kind == "stderr":
        write(2, b"a complaint\n" * 64, until)
    elif kind == "connects":
        for _ in range(8):
            threading.Thread(target=connect, args=(target, until)).start()
    elif kind == "names":
        for _ in range(64):
            threading.Thread(target=names, args=(target, until)).start()
    else:
        write(1, texts(own)[kind], until)


def answer(m):
    result = {}
    if m["method"] == "initialize":
        result = {"protocolVersion": m["params"]["protocolVersion"],
                  "capabilities": {"tools": {"listChanged": True}},
                  "serverInfo": {"name": "flood", "version": "1"}}
    elif m["method"] == "tools/list":
        result = {"tools": [TOOL]}
    elif m["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": "it begins"}]}
    os.write(1, line(id=m["id"], result=result))
    if m["method"] == "tools/call":
        a = m["params"]["arguments"]
        flood(m["id"], a["kind"], a["seconds"], a.get("target", ""))


for text in sys.stdin:
    message = json.loads(text)
    if "id" in message and "method" in message:
        answer(message)
