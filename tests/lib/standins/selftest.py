#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Runs the stand-ins against each other, without the product, to check that
the instruments do what the tests rely on.  TAP on stdout."""
import base64
import hashlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import agent  # noqa: E402
import provider  # noqa: E402
from provider_bad import BAD_FRAMING  # noqa: E402

KEY = "sk-real-0123456789abcdef0123456789"
count = failed = 0


def ok(good, what):
    global count, failed
    count += 1
    failed += not good
    print(f"{'' if good else 'not '}ok {count} - {what}", flush=True)


def raises(kinds, function, *args):
    try:
        function(*args)
    except kinds:
        return True
    return False


def forward(path, port):
    """A CONNECT proxy on a Unix socket that leads to that port, whatever the
    target."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()

    def copy(a, b):
        try:
            while data := a.recv(65536):
                b.sendall(data)
            b.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def serve(client):
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(1)
        if b"forbidden" in head:
            client.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2"
                           b"\r\n\r\nno")
            return
        server = socket.create_connection(("127.0.0.1", port))
        client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        threading.Thread(target=copy, args=(server, client),
                         daemon=True).start()
        copy(client, server)

    def accept():
        while True:
            client, _ = listener.accept()
            threading.Thread(target=serve, args=(client,),
                             daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()


class Setup:
    def __init__(self, directory):
        self.dir = directory
        self.ca = os.path.join(directory, "ca", "ca.pem")

    def provider(self, *args):
        opts = provider.parse_args(["--ca-dir", self.dir + "/ca", "--key",
                                    KEY, "--bodies", "--timeout", "20",
                                    *args])
        return provider.Provider(opts).start()

    def model(self, server, **more):
        more = {"key": KEY, "ca": self.ca, "timeout": 10, **more}
        return agent.Model(direct=f"127.0.0.1:{server.port}", **more)

    def mcp(self, *args):
        client = agent.Mcp(argv=[sys.executable, HERE + "/mcp_echo.py",
                                 "--log", self.dir + "/mcp.log", *args])
        return client


def test_provider(setup):
    log = setup.dir + "/provider.log"
    server = setup.provider("--log", log)
    path = setup.dir + "/proxy.sock"
    forward(path, server.port)
    model = agent.Model(proxy=path, ca=setup.ca, key=KEY)
    answer = model.message("hi")
    ok(answer.status == 200 and
       answer.json()["content"][0]["text"] == "FINAL: hello",
       "Anthropic message through a CONNECT proxy")
    answer = model.message("hi", stream=True)
    ok(answer.header("content-type") == "text/event-stream" and
       b"event: message_stop" in answer.body, "Anthropic stream")
    answer = model.message("hi", kind="openai", stream=True)
    ok(b"event: response.completed" in answer.body, "Responses stream")
    answer = model.request("POST", "/v1/chat/completions",
                           model.key_headers("openai"),
                           b'{"messages":[],"stream":true}')
    ok(answer.body.endswith(b"data: [DONE]\n\n"), "chat stream")
    answer = model.request("GET", "/v1/models", model.key_headers("openai"))
    ok(answer.json()["data"][0]["id"] == "test-model", "models")
    answer = model.request("GET", "/other", model.key_headers("openai"))
    ok(answer.status == 404, "other endpoint")
    model.key = "sk-other"
    ok(model.message("hi").status == 401, "wrong key is refused")
    ok(model.request("GET", "/v1/models").status == 401, "no key likewise")
    answer = model.request("GET", "/v1/models", [("x-api-key", KEY),
                                                 ("x-api-key", KEY)])
    ok(answer.status == 401, "key twice likewise")
    model.close()
    model = agent.Model(proxy=path, ca=setup.ca, key=KEY)
    ok(model.raw(b"x y\r\nx-api-key: " + KEY.encode() + b"\r\n\r\n").status ==
       404, "raw bytes get an answer")

    with open(log, encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    seen = [x for x in lines if x["ev"] == "request"]
    first = seen[0]
    ok(first["conn"] == 1 and [x["nth"] for x in seen[:9]] ==
       list(range(1, 10)), "connection and request numbers")
    raw = base64.b64decode(first["raw"])
    ok(raw.startswith(b"POST /v1/messages HTTP/1.1\r\nHost: ") and
       raw.endswith(b"\r\n\r\n") and raw.decode() == first["head"],
       "raw head is kept")
    ok(["x-api-key", KEY] in first["headers"], "headers are kept")
    ok(first["bodySha256"] == hashlib.sha256(
        first["body"].encode()).hexdigest() and
       first["bodyBytes"] == len(first["body"]), "body and digest")
    ok([x["keyOk"] for x in seen[:9]] == [True] * 6 + [False] * 3,
       "key or not")
    opened = next(x for x in lines if x["ev"] == "open")
    ok(opened["sni"] == "api.anthropic.com" and
       opened["alpn"] == "http/1.1", "SNI and ALPN")
    blocked = agent.Model(proxy=path, ca=setup.ca, key=KEY,
                          host="forbidden.example")
    ok(blocked.connect_response.status == 403, "refused CONNECT is reported")
    server.stop()


def tool_result(text):
    return {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "x",
         "content": [{"type": "text", "text": text}]}]}


def test_script(setup):
    script = setup.dir + "/script.json"
    with open(script, "w", encoding="utf-8") as f:
        json.dump([{"tool": "read$", "args": {"path": "/x"}},
                   {"text": "FINAL: $RESULT"}], f)
    server = setup.provider("--script", script)
    model = setup.model(server)

    def turn(messages):
        return model.request("POST", "/v1/messages", [("x-api-key", KEY)],
                             json.dumps({"messages": messages, "tools": [
                                 {"name": "a"}, {"name": "b_read"}]}).encode()
                             ).json()
    block = turn([])["content"][0]
    ok(block["name"] == "b_read" and block["input"] == {"path": "/x"},
       "first step calls the tool")
    ok(turn([tool_result("found")])["content"][0]["text"] == "FINAL: found",
       "second step has its result")
    tools = [{"type": "namespace", "name": "mcp__x", "tools": [
        {"type": "function", "name": "read"}]}]
    reply = model.request("POST", "/v1/responses",
                          model.key_headers("openai"), json.dumps(
                              {"input": [], "tools": tools}).encode()).json()
    ok(reply["output"][0]["name"] == "read" and
       reply["output"][0]["namespace"] == "mcp__x", "Responses namespaces")
    server.stop()


def test_misbehaviour(setup):
    server = setup.provider("--reflect", "raw")
    ok(KEY.encode() in setup.model(server).message().body, "reflect in JSON")
    ok(KEY.encode() in setup.model(server).message(stream=True).body,
       "reflect in a stream")
    server.opts.reflect_in = "header"
    server.opts.reflect = "base64"
    answer = setup.model(server).message()
    ok("req_" + base64.b64encode(KEY.encode()).decode() in
       answer.all("request-id"), "reflect in a header, base64")
    server.opts.reflect_in, server.opts.reflect_split = "body", 5
    model = setup.model(server)
    model.send("POST", "/v1/messages", model.key_headers("anthropic"), b"{}")
    answer = model.read_response(body=False)
    pieces = list(model.pieces(answer, "POST"))
    text = base64.b64encode(KEY.encode())
    ok(text in b"".join(pieces) and not any(text in p for p in pieces),
       "reflect split over chunks")
    server.stop()

    server = setup.provider("--status", "529", "--after", "1")
    model = setup.model(server)
    ok([model.message().status, model.message().status] == [200, 529],
       "--status, --after")
    server.stop()

    server = setup.provider("--early")
    model = setup.model(server)
    model.send("POST", "/v1/messages", model.key_headers("anthropic") +
               [("Content-Length", "5")])
    ok(model.read_response().status == 400 and not server.requests,
       "--early answers before the body")
    model.send_raw(b"abcde")
    ok(server.wait_requests(1) and server.requests[0]["body"] == "abcde",
       "and reads it then")
    server.stop()

    server = setup.provider("--reset-at", "20")
    model = setup.model(server)
    ok(raises((OSError, agent.Closed), model.message), "--reset-at")
    ok(len(model.buf) == 20, "after so many bytes")
    server.stop()

    server = setup.provider("--stall", "30")
    model = setup.model(server, timeout=0.3)
    ok(raises(TimeoutError, model.message), "--stall")
    ok(len(model.buf) == 30, "after so many bytes")
    server.stop()

    server = setup.provider("--idle-bytes")
    model = setup.model(server)
    model.message()
    ok(model.read_response().body == b"idle", "--idle-bytes")
    server.stop()

    server = setup.provider("--bad-framing", "cl-te")
    for kind in ("no-final", "empty", "nul", "headers-flood"):
        server.opts.bad_framing = kind
        model = setup.model(server)
        model.send("POST", "/v1/messages", model.key_headers("anthropic"),
                   b"{}")
        want, got = BAD_FRAMING[kind], b""
        while len(got) < len(want):
            got += model.sock.recv(65536)
        ok(got == want, f"--bad-framing {kind}")
        model.close()
    server.stop()

    server = setup.provider("--wrong-name")
    ok(raises(OSError, setup.model, server), "--wrong-name")
    server.stop()


def test_mcp(setup):
    client = setup.mcp("--pages", "3", "--list-changed-on", "fail",
                       "--request", "sampling", "--alias", "say=echo")
    ok(client.initialize()["serverInfo"]["name"] == "echo", "initialize")
    names = [t["name"] for t in client.list_tools()]
    ok(names[:2] == ["echo", "lookup"] and "say" in names and
       len(names) == len(set(names)), "tools over pages")
    text = "a\u20ac\U0001f600\n\0"
    ok(client.call("echo", {"text": text})["content"][0]["text"] == text,
       "echo")
    ok(client.call("say", {"text": "x"})["content"][0]["text"] == "x",
       "alias")
    path = setup.dir + "/file"
    with open(path, "w", encoding="utf-8") as f:
        f.write("content")
    ok(client.call("lookup", {"path": path})["content"][0]["text"] ==
       "content", "lookup")
    ok(client.call("fail")["isError"] is True, "fail")
    ok(client.wait_for(lambda c: any(
        n["method"] == "notifications/tools/list_changed"
        for n in c.notifications)), "list_changed")
    ok("extra" in [t["name"] for t in client.list_tools()], "extra tool")
    ok(len(client.call("big", {"bytes": 100001})["content"][0]["text"]) ==
       100001, "big")
    ok(client.call("structured", {"a": [1, None]})["structuredContent"] ==
       {"a": [1, None]}, "structured")
    steps = []
    client.call("progress", {"steps": 3}, progress=steps.append)
    ok([s["progress"] for s in steps] == [1, 2, 3], "progress")
    until = setup.dir + "/until"
    slow = client.start_call("slow", {"until": until})
    ok(client.call("echo", {"text": "y"})["content"][0]["text"] == "y" and
       not slow.done.is_set(), "calls run side by side")
    with open(until, "w", encoding="utf-8"):
        pass
    ok(slow.wait()["content"][0]["text"] == "slept", "slow, until")
    slow = client.start_call("slow", {"ms": 60000}, ident="text-id")
    client.cancel(slow)
    ok(raises(agent.RpcError, client.call, "nothing"), "unknown tool")
    ok(any(s.get("method") == "sampling/createMessage"
           for s in client.strays), "its request reached us")
    client.send_raw(b'{"jsonrpc": "2.0",  "method":"notifications/x"}\r\n')
    client.close()
    with open(setup.dir + "/mcp.log", encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    raw = [base64.b64decode(x["raw"]) for x in lines if x["ev"] == "line"]
    ok(raw[-1] == b'{"jsonrpc": "2.0",  "method":"notifications/x"}\r',
       "lines are kept as they came")
    ok(any(x["ev"] == "cancelled" and x["id"] == "text-id" for x in lines),
       "cancellation is noted")
    ok(any("-32601" in x.get("text", "") for x in lines),
       "and our answer to its request")


def test_mcp_misbehaviour(setup):
    client = setup.mcp("--die-on", "echo")
    client.initialize()
    ok(raises(agent.Closed, client.call, "echo", {"text": "x"}), "--die-on")
    client = setup.mcp("--garbage")
    client.initialize()
    client.start_call("echo", {"text": "x"})
    ok(client.wait_for(lambda c: c.strays) and
       client.strays[0].startswith(b"this is not JSON"), "--garbage")
    client.close()
    client = setup.mcp("--babble", "100")
    client.initialize()
    ok(client.wait_for(lambda c: len(c.notifications) == 100), "--babble")
    client.close()
    client = setup.mcp("--silent")
    pending = client.start("initialize", {})
    ok(raises(TimeoutError, pending.wait, 0.2), "--silent")
    client.close()
    client = setup.mcp("--bad-id")
    client.initialize()
    client.start_call("echo", {"text": "x"})
    ok(client.wait_for(lambda c: c.strays) and
       client.strays[0]["id"] == 10**15, "--bad-id")
    client.close()
    client = setup.mcp("--exit-at-start")
    ok(client.wait_for(lambda c: c.closed) and client.process.wait() == 3,
       "--exit-at-start")
    process = subprocess.Popen(
        [sys.executable, HERE + "/mcp_echo.py", "--endless-line", "init"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"initialize"}\n')
    process.stdin.flush()
    got = b""
    while len(got) < 1 << 20:
        got += process.stdout.read1(65536)
    ok(b"\n" not in got, "--endless-line")
    process.stdout.close()
    process.kill()
    process.wait()


def test_program(setup):
    steps = setup.dir + "/steps.json"
    with open(steps, "w", encoding="utf-8") as f:
        json.dump([{"mcp": "list"},
                   {"mcp": "call", "tool": "slow", "background": "s",
                    "args": {"ms": 1}},
                   {"mcp": "call", "tool": "echo", "args": {"text": "x"}},
                   {"join": "s"},
                   {"read": setup.dir + "/nothing"},
                   {"net": "127.0.0.1:1"}], f)
    done = subprocess.run(
        [sys.executable, HERE + "/agent.py", "run", steps, "--spawn",
         sys.executable, HERE + "/mcp_echo.py"], capture_output=True,
        timeout=30, check=False, cwd=setup.dir)
    ok(done.returncode == 0 and done.stderr == b"", "agent.py ran")
    lines = [json.loads(x) for x in done.stdout.splitlines()]
    ok([x["ok"] for x in lines] == [True] * 4 + [False] * 2 and
       lines[2]["text"] == "x" and lines[3]["text"] == "slept" and
       lines[4]["errno"] == "ENOENT" and lines[5]["errno"] == "ECONNREFUSED",
       "each step told its outcome")
    done = subprocess.run(
        [sys.executable, HERE + "/provider.py", "--ca-dir",
         setup.dir + "/ca", "--stdin"], stdin=subprocess.DEVNULL,
        capture_output=True, timeout=30, check=True)
    ok(json.loads(done.stdout)["port"] > 0, "provider.py says its port")


def main():
    with tempfile.TemporaryDirectory() as directory:
        setup = Setup(directory)
        for test in (test_provider, test_script, test_misbehaviour, test_mcp,
                     test_mcp_misbehaviour, test_program):
            test(setup)
    print(f"1..{count}")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
