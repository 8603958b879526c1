#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Slow tests: calls that nobody answers, limits that are reached, agents that
do not read, and servers that die or misbehave beside good ones."""
import contextlib
import json
import os
import re
import socket
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
RULES = [
    h.rule("ask", "escalate", "A person decides.", tool=["lookup", "fail"]),
    h.rule("rest", "allow", "Harmless.", tool=["echo", "slow", "big"]),
]
TOOLS = {**h.ECHO_TOOLS, "lookup": {"path": ["none"]}}
CALLS = 200         # in each measurement
ATTEMPTS = 3        # the machine may be busy with something else


def build(work, names, options=None, **kw):
    logs = {n: os.path.join(work, "log-" + n, "log.jsonl") for n in names}
    servers = {n: h.echo_server(path, *(options or {}).get(n, ()))
               for n, path in logs.items()}
    s = h.Session(work, servers, RULES, {n: TOOLS for n in names}, **kw)
    s.logs = logs
    return s


def lines(s, server, method="tools/call"):
    return [x["text"] for x in h.read_lines(s.logs[server])
            if f'"{method}"' in x.get("text", "")]


# ---- nobody answers ------------------------------------------------------
class Expiry:
    """Started first and checked last: it takes 30 seconds."""

    def __init__(self, stack):
        self.s = stack.enter_context(build(
            stack.enter_context(h.workdir()), ["echo"],
            config={"escalationTimeoutSeconds": 30}))
        self.m = self.s.client()
        self.notes = []
        self.began = time.monotonic()
        self.call = self.m.start_call(
            "echo__lookup", {"path": "/x"},
            progress=lambda p: self.notes.append(
                (time.monotonic() - self.began, p)))
        self.hold = self.s.held()
        denied = self.m.start_call("echo__fail", {"text": "no"})
        other = h.wait_for(lambda: [x for x in self.s.pending()
                                    if x["tool"] == "fail"], "second hold")
        self.s.icctl("deny", other[0]["id"], check=True)
        self.denied = h.text_of(denied.wait())

    def look(self):
        s = self.s
        result = self.call.wait(120)
        took = time.monotonic() - self.began
        t.ok(took > 29, "a call that nobody answers ends after 30 s, no sooner",
             took)
        t.equal((result.get("isError"), h.text_of(result)), (
            True, "ESCALATION EXPIRED: nobody answered within 30 s: A person "
            "decides. It was not denied; the user may not be there.\nDo not "
            "retry unless the user asks you to."), "and is said to be expired")
        t.equal(self.denied, "ESCALATION DENIED: the user denied this call "
                "(A person decides)\nDo not "
                "retry unless the user asks you to.",
                "which is not what a denied one says")
        name = self.hold["id"]
        said = [re.fullmatch(
            "waiting for approval: (?:a pending call \\(icctl pending\\)|"
            f"pending call {name} \\(icctl approve {name}\\)), "
            "([0-9]+) s of 30 s", p["message"]) for _, p in self.notes]
        t.ok(all(said) and name in said[-1][0], "progress says what is waited "
             "for, and by which id it is answered", self.notes)
        counted = [int(m[1]) for m in said if m]
        t.ok(counted == sorted(counted) and counted[0] == 0 and
             counted[-1] >= 20, "it counts up", counted)
        values = [p["progress"] for _, p in self.notes]
        t.ok(sorted(set(values)) == values, "and rises", values)
        r = s.icctl("approve", self.hold["id"])
        t.equal((r.returncode, r.stderr), (
            1, f"icctl: call {self.hold['id']} expired: nobody answered in "
            "time. The agent may ask again. See: icctl pending\n"),
            "an approval comes too late")
        t.equal([c["escalationResult"] for c in s.audit()
                 if "escalationResult" in c], ["denied", "expired"],
                "the log tells the two apart")
        t.equal(lines(s, "echo"), [], "nothing reached the server")
        self.m.close()


def test_disconnect():
    with h.workdir() as work, build(work, ["echo"]) as s:
        m = s.client()
        m.start_call("echo__lookup", {"path": "/x"})
        hold = s.held()
        m.close()
        h.wait_for(lambda: not s.pending(), "it is still held")
        t.ok(True, "a call whose agent is gone waits no longer")
        t.equal(s.icctl("approve", hold["id"]).returncode, 1,
                "and cannot be approved")
        t.equal([c["escalationResult"] for c in s.audit()
                 if "escalationResult" in c], ["cancelled"], "it is cancelled")
        t.equal(lines(s, "echo"), [], "and was never sent")


# ---- limits --------------------------------------------------------------
def test_holds():
    with h.workdir() as work, build(work, ["one", "two"]) as s:
        m = s.client()
        calls = [m.start_call("one__lookup", {"path": str(i)})
                 for i in range(64)]
        h.wait_for(lambda: len(s.pending()) == 64, "64 holds")
        second = s.client()
        text = h.text_of(second.call("two__lookup", {"path": "65"}))
        t.equal(text, "DENIED: Too many calls wait for approval already\n"
                "Try again when the user has answered some.",
                "the 65th held call is refused")
        t.equal(h.text_of(second.call("two__echo", {"text": "hi"})), "hi",
                "what needs no person goes on")
        # Vary the arguments: identical calls would be refused.
        go = os.path.join(work, "never")
        slow = [m.start_call("one__slow", {"until": go, "ms": i})
                for i in range(64)]
        h.wait_for(lambda: len(lines(s, "one")) == 64, "64 calls under way")
        more = m.start_call("one__echo", {"text": "later"})
        second.request("ping")
        t.equal((more.done.is_set(), len(lines(s, "one"))), (False, 64),
                "a server's 129th call waits, 64 of them for the user")
        holds = s.pending()
        t.equal(len(holds), 64, "all of them are shown")
        s.icctl("deny", holds[5]["id"], check=True)
        t.equal(h.text_of(more.wait()), "later", "until one has ended")
        m.close()
        h.wait_for(lambda: not s.pending(), "holds are left")
        t.equal(sum(c.done.is_set() and c.message is not None
                    for c in calls), 1, "one was answered, the rest dropped")
        t.equal([c for c in slow if c.done.is_set() and c.message is not None],
                [], "and those under way with them")
        second.close()


def test_admission():
    """At most 256 calls are in flight: the next one waits and is not
    refused."""
    names = ["a", "b", "c", "d", "last"]
    with h.workdir() as work, build(work, names) as s:
        m, second = s.client(), s.client()
        go = {n: os.path.join(os.path.dirname(s.logs[n]), "go")
              for n in names[:4]}
        # Vary the arguments: identical calls would be refused.
        slow = [m.start_call(f"{n}__slow", {"until": path, "ms": i})
                for i in range(64) for n, path in go.items()]
        h.wait_for(lambda: sum(len(lines(s, n)) for n in names[:4]) == 256,
                   "256 calls under way")
        call = second.start_call("last__echo", {"text": "the 257th"})
        t.equal((call.done.is_set(), lines(s, "last")), (False, []),
                "the 257th call waits")
        third = s.mcp()
        third.initialize()
        t.equal(third.request("ping"), {}, "another connection is served")
        for path in go.values():
            h.put(path, "")
        t.equal(h.text_of(call.wait()), "the 257th", "it is answered later")
        h.wait_for(lambda: any(c.done.is_set() for c in slow),
                   "it was answered before another had ended")
        t.ok(True, "after another has ended")
        t.equal({h.text_of(c.wait()) for c in slow}, {"slept"},
                "and so are all the others")
        for c in (m, second, third):
            c.close()


def test_unread():
    """An agent that does not read its answers only loses its connection."""
    with h.workdir() as work, build(work, ["echo", "two"]) as s:
        m = s.client()
        deaf = socket.socket(socket.AF_UNIX)
        deaf.connect(s.ready["sockets"]["mcp"])
        deaf.sendall(b"".join(json.dumps(x).encode() + b"\n" for x in [
            {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": {"name": "deaf", "version": "1"}}},
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                "name": "two__slow", "arguments": {"ms": 60000}}},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
                "name": "two__lookup", "arguments": {"path": "/x"}}}]))
        h.wait_for(lambda: lines(s, "two") and s.pending(), "its calls")
        deaf.sendall(b"".join(json.dumps({
            "jsonrpc": "2.0", "id": i + 3, "method": "tools/call", "params": {
                "name": "echo__big", "arguments": {"bytes": 1000000 + i}}})
            .encode() + b"\n" for i in range(12)))
        h.wait_for(lambda: "leaves more than 8388608 bytes unread: closed" in
                   s.session_log(), "nothing was closed")
        t.ok(True, "the connection is closed at 8 MiB")
        h.wait_for(lambda: lines(s, "two", "notifications/cancelled"),
                   "the server is not told")
        t.ok(True, "its call under way is cancelled")
        h.wait_for(lambda: not s.pending(), "its hold stays")
        t.ok(True, "and its held one")
        t.equal(h.text_of(m.call("echo__echo", {"text": "hi"})), "hi",
                "another agent is served")
        deaf.settimeout(20)
        got = 0
        with contextlib.suppress(ConnectionResetError):
            while data := deaf.recv(1 << 20):
                got += len(data)
        t.ok(got < 9 << 20, "and the deaf one reads its end", got)
        deaf.close()
        m.close()


# ---- bad servers next to a good one --------------------------------------
class Plain:
    """An agent without threads, to keep its own delay out of the
    measurement."""

    def __init__(self, s):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(s.ready["sockets"]["mcp"])
        self.id = 0
        self.ask("initialize", {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "plain", "version": "1"}})

    def ask(self, method, params):
        """Returns the answer; skips notifications before it."""
        self.id += 1
        self.sock.sendall(json.dumps({
            "jsonrpc": "2.0", "id": self.id, "method": method,
            "params": params}).encode() + b"\n")
        mark, data = b'"id":%d,' % self.id, b""
        while mark not in data or not data.endswith(b"\n"):
            more = self.sock.recv(65536)
            if not more:
                raise RuntimeError("the connection was closed")
            data += more
        return data

    def read(self, name):
        return self.ask("tools/call", {"name": "good__read_text_file",
                                       "arguments": {"path": name}})


def p99(agent, s):
    """Returns the times of CALLS calls to the good server, in seconds."""
    times = []
    for i in range(CALLS):
        name = os.path.join(s.workspace, f"{i}.txt")
        began = time.perf_counter()
        answer = agent.read(name)
        times.append(time.perf_counter() - began)
        if f"text {i} of it".encode() not in answer:
            raise RuntimeError(f"the good server: {answer}")
    return sorted(times)[CALLS * 99 // 100 - 1]


@contextlib.contextmanager
def pair(options):
    """Yields a session with icfs and a server that misbehaves as told."""
    with h.workdir() as work:
        log = os.path.join(work, "log", "log.jsonl")
        reader = {"read_text_file": {"path": ["read-path"], "head": ["none"],
                                     "tail": ["none"]}}
        s = h.Session(work, {
            "good": {"command": "icfs", "args": ["/workspace"]},
            "bad": h.echo_server(log, *options, workspace=False)},
            [h.rule("all", "allow", server=["good", "bad"])],
            {"good": reader, "bad": TOOLS})
        for i in range(CALLS):
            with open(os.path.join(s.workspace, f"{i}.txt"), "w",
                      encoding="utf-8") as f:
                f.write(f"text {i} of it\n")
        with s:
            agent = Plain(s)
            # The bad one may never list its tools.
            first = os.path.join(s.workspace, "0.txt")
            h.wait_for(lambda: b"text 0" in agent.read(first),
                       "the good server does not answer")
            yield s, agent
            agent.sock.close()


def state_of_bad(s):
    status = json.loads(s.icctl("--json", "status", check=True).stdout)
    return status["servers"][1]["state"]


def measure_bad(options, trigger, state):
    """Compares the 99th percentiles, quiet and beside a bad server, in
    seconds."""
    if not trigger:
        with pair([]) as (s, agent):
            h.wait_for(lambda: state_of_bad(s) == "ready", "not ready")
            quiet = p99(agent, s)
        with pair(options) as (s, agent):
            # Wait until its interpreter has started, which is no misbehaviour.
            log = os.path.join(s.work, "log", "log.jsonl")
            h.wait_for(lambda: state_of_bad(s) == state and (
                state == "gone" or h.read_lines(log)),
                "it does not come to misbehave")
            return quiet, p99(agent, s), state_of_bad(s)
    with pair(options) as (s, agent):
        m = s.client()
        quiet = p99(agent, s)
        calls = [m.start_call("bad__echo", {"text": str(i)})
                 for i in range(trigger)]
        bad = p99(agent, s)
        # An endless line ends it after 256 MiB; one that dies is restarted.
        h.wait_for(lambda: state_of_bad(s) == state, "it does not get there",
                   timeout=60)
        m.close()
        del calls
        return quiet, bad, state_of_bad(s)


# The time that a busy machine of two processors adds by itself, in seconds. A
# server that blocked another would add its whole flood or silence.
NOISE = 0.02
BAD = [
    ("dies on a call", ["--die-on", "echo"], 1, "ready"),
    ("writes garbage for an answer", ["--garbage", "call"], 16, "ready"),
    ("writes an endless line", ["--endless-line", "call"], 1, "gone"),
    ("never answers", ["--silent", "call"], 16, "ready"),
    ("answers what was not asked", ["--bad-id", "other"], 16, "ready"),
    ("answers twice", ["--bad-id", "twice"], 16, "ready"),
    ("asks for sampling and roots", ["--request", "sampling", "--request",
                                     "roots"], 16, "ready"),
    ("ends at the start", ["--exit-at-start"], 0, "gone"),
    ("writes garbage at the start", ["--garbage", "init"], 0, "starting"),
    ("never says anything", ["--silent", "all"], 0, "starting"),
    # The server sends garbage as long as it is measured, and then its list.
    ("babbles", ["--babble", "200000"], 0, "listing its tools"),
]


def test_bad_servers():
    for name, options, trigger, state in BAD:
        with t.case(name):
            seen = []
            for _ in range(ATTEMPTS):
                quiet, bad, was = measure_bad(options, trigger, state)
                seen.append(f"quiet {quiet * 1e6:.0f} us, "
                            f"beside it {bad * 1e6:.0f} us")
                if bad <= max(2 * quiet, quiet + NOISE):
                    break
            t.ok(bad <= max(2 * quiet, quiet + NOISE), f"a server that {name}: another's p99 "
                 f"stays within twice its own", "\n".join(seen))
            t.equal(was, state, "which is as far as it gets")
            print("# " + "; ".join(seen))


PARTS = {
    "disconnect": test_disconnect,
    "holds": test_holds,
    "admission": test_admission,
    "unread": test_unread,
    "bad": test_bad_servers,
}


def main():
    names = sys.argv[1:] or [*PARTS, "expiry"]
    with contextlib.ExitStack() as stack:
        expiry = None
        if "expiry" in names:
            with t.case("expiry begins"):
                expiry = Expiry(stack)
        for name in names:
            if name in PARTS:
                with t.case(name):
                    PARTS[name]()
        if expiry:
            with t.case("expiry"):
                expiry.look()
    t.done()


if __name__ == "__main__":
    main()
