#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""An MCP server that tries the network, for tests; shares no code with the
product.  Tools: `tunnel` asks its proxy for host:port, sends text, half-closes
and returns the answer; `tls` does it with TLS for a name; `retry` sends two
ClientHellos, the second one after an answer; `raw` writes bytes to the proxy as they are; `direct`
connects without it; `many` holds n tunnels at once and uses the last; `https`
fetches a URL with Python's own client, or with a given command."""
import base64
import json
import os
import socket
import ssl
import subprocess
import sys
import urllib.request
from urllib.parse import urlsplit

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
TOOLS = {
    "tunnel": {"target": TEXT, "text": TEXT},
    "tls": {"target": TEXT, "name": TEXT, "text": TEXT},
    "retry": {"target": TEXT, "names": TEXT},
    "raw": {"bytes": TEXT},
    "direct": {"kind": TEXT, "address": TEXT, "port": NUMBER},
    "many": {"target": TEXT, "count": NUMBER},
    "https": {"url": TEXT, "run": TEXT},
}


def proxy():
    url = urlsplit(os.environ["HTTPS_PROXY"])
    return socket.create_connection((url.hostname, url.port), 20)


def rest(s):
    parts = []
    while True:
        part = s.recv(65536)
        if not part:
            return b"".join(parts)
        parts.append(part)


def connect(target):
    """Returns the socket and the head of the answer; data that came with it is
    kept."""
    s = proxy()
    s.settimeout(30)
    s.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
    head = b""
    while b"\r\n\r\n" not in head:
        part = s.recv(4096)
        if not part:
            break
        head += part
    return s, head


def tunnel(target, text):
    s, head = connect(target)
    if not head.startswith(b"HTTP/1.1 200"):
        return {"head": head.decode() + rest(s).decode()}
    s.sendall(text.encode())
    s.shutdown(socket.SHUT_WR)
    return {"head": head.decode(), "body": rest(s).decode()}


def tls(target, name, text):
    """Names `name` in its ClientHello, or no host."""
    s, head = connect(target)
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    s = context.wrap_socket(s, server_hostname=name or None)
    s.sendall(text.encode())
    part = s.recv(65536)
    return {"head": head.decode(), "body": part.decode()}


def hello(name):
    """Returns a ClientHello for this name."""
    out = ssl.MemoryBIO()
    try:
        ssl.create_default_context().wrap_bio(
            ssl.MemoryBIO(), out, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        pass
    return out.read()


def retry(target, names):
    first, second = names.split()
    s, _ = connect(target)
    s.sendall(hello(first))
    s.recv(65536)
    s.sendall(b"\x14\3\3\0\1\1" + hello(second))
    return {"body": rest(s).hex()}


def raw(**args):
    s = proxy()
    s.settimeout(30)
    s.sendall(base64.b64decode(args["bytes"]))
    return {"answer": rest(s).decode(errors="replace")}


def direct(kind, address, port=0):
    try:
        if kind == "tcp":
            socket.create_connection((address, int(port)), 5).close()
        elif kind == "unix":
            s = socket.socket(socket.AF_UNIX)
            s.connect(address.replace("@", "\0", 1))
        elif kind == "udp":
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            s.sendto(b"x", (address, int(port)))
        else:
            socket.getaddrinfo(address, 443)
    except OSError as e:
        return {"error": e.errno or str(e)}
    return {"connected": True}


def many(target, count):
    held = [connect(target) for _ in range(int(count))]
    good = sum(h.startswith(b"HTTP/1.1 200") for _, h in held)
    for s, _ in held:
        s.close()
    return {"good": good}


def https(url, run=""):
    if not run:
        with urllib.request.urlopen(url, timeout=20) as r:
            return {"body": r.read().decode()}
    r = subprocess.run([*run.split(), url], capture_output=True, text=True,
                       timeout=30, check=False)
    return {"body": r.stdout, "error": r.stderr}


CALLS = {"tunnel": tunnel, "tls": tls, "retry": retry, "raw": raw,
         "direct": direct, "many": many,
         "https": https}


def answer(message):
    method = message.get("method")
    if method == "initialize":
        return {"protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "net", "version": "1"}}
    if method == "tools/list":
        return {"tools": [
            {"name": n, "description": n,
             "inputSchema": {"type": "object", "properties": p}}
            for n, p in TOOLS.items()]}
    params = message["params"]
    try:
        got = CALLS[params["name"]](**params["arguments"])
    except Exception as e:  # pylint: disable=broad-except
        got = {"exception": repr(e)}
    return {"content": [{"type": "text", "text": json.dumps(got)}]}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"],
                          "result": answer(request)}), flush=True)
