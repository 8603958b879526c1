#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Random SIGKILL and SIGSTOP of every process of a session under load: calls of
tools to two servers, and requests to a provider.  Afterwards the records of
the servers, the provider and the log are joined with what the agent saw:
nothing is lost, doubled or out of order.

usage: test_kills.py [SIGNALS [SEED]]"""
import collections
import contextlib
import json
import os
import random
import signal
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import joins  # noqa: E402
from started import children  # noqa: E402

t = h.Tap()
SIGNALS = int(sys.argv[1]) if len(sys.argv) > 1 else 4
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
EACH = 8                # signals at most before a session is replaced
SERVERS = ("echo", "other")
DONE = 60               # seconds, for whatever must happen


def comm(pid):
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/comm", encoding="ascii") as f:
            return f.read().strip()
    return ""


def family(pid):
    """Returns the process and all below it."""
    return [pid] + [x for p in children(pid) for x in family(p)]


class Caller(threading.Thread):
    """Calls tools, one after the other, until the connection ends."""

    def __init__(self, load, number):
        super().__init__(daemon=True)
        self.load, self.number = load, number
        self.client = load.s.client()

    def run(self):
        n = 0
        try:
            while not self.load.over.is_set():
                server = SERVERS[n % len(SERVERS)]
                text = f"{self.load.name} {self.number} {n}"
                n += 1
                r = self.client.call(f"{server}__echo", {"text": text},
                                     timeout=DONE * h.PATIENCE)
                self.load.answered(server, text, r)
        except Exception as e:  # pylint: disable=broad-except
            self.load.ends.append(f"{type(e).__name__}: {e}")
        with contextlib.suppress(OSError):
            self.client.close()


class Asker(threading.Thread):
    """Asks the provider, one request after the other."""

    def __init__(self, load):
        super().__init__(daemon=True)
        self.load = load

    def run(self):
        try:
            m = self.load.s.model()
            while not self.load.over.is_set():
                if m.message(self.load.name).status == 200:
                    self.load.replies += 1
                    self.load.moved.set()
            m.close()
        except Exception as e:  # pylint: disable=broad-except
            self.load.ends.append(f"{type(e).__name__}: {e}")


class Load:
    """A session, and an agent that works in it."""

    def __init__(self, work, name, provider):
        self.name, self.provider = name, provider
        self.before = len(provider.seen())
        self.over, self.moved = threading.Event(), threading.Event()
        self.good, self.wrong, self.ends = [], [], []
        self.replies = 0
        self.logs = {n: os.path.join(work, name, "log-" + n, "log.jsonl")
                     for n in SERVERS}
        self.s = h.Session(
            os.path.join(work, name),
            {n: h.echo_server(p) for n, p in self.logs.items()},
            [h.rule("all", "allow", tool=["echo"])],
            {n: h.ECHO_TOOLS for n in SERVERS}, provider=provider)
        self.s.start(timeout=DONE)
        self.all = family(self.s.pid)
        self.threads = [Caller(self, i) for i in range(3)] + [Asker(self)]
        for x in self.threads:
            x.start()
        self.moves("the first answers")

    def answered(self, server, text, r):
        if r.get("isError"):
            self.ends.append(h.text_of(r))
            return
        if h.text_of(r) != text:
            self.wrong.append(f"{text!r} was answered with {h.text_of(r)!r}")
        self.good.append((server, text))
        self.moved.set()

    def moves(self, what):
        """Waits for another answer."""
        self.moved.clear()
        if not self.moved.wait(DONE * h.PATIENCE):
            raise TimeoutError(f"{what}: nothing moves; {self.ends[-3:]}")

    def victim(self):
        """Returns a process of the session."""
        self.all = sorted({*self.all, *family(self.s.pid)})
        return random.choice([p for p in self.all if comm(p)])

    def end(self):
        self.over.set()
        self.s.stop()
        for x in self.threads:
            x.join(DONE * h.PATIENCE)
        return [p for p in self.all if h.alive(p)]


def log_of(load, victim):
    """Returns the path of a log, without the incomplete line that a killed
    auditd may leave."""
    path = os.path.join(load.s.dir, "audit.jsonl")
    with open(path, "rb") as f:
        data = f.read()
    if data.endswith(b"\n") or victim != "auditd":
        return path
    whole = path + ".whole"
    with open(whole, "wb") as f:
        f.write(data[:data.rindex(b"\n") + 1])
    return whole


def judge(load, victim):
    """Returns what is wrong with the records of one session."""
    wrong = list(load.wrong)
    fault = joins.check_chain(log_of(load, victim))
    if fault:
        wrong.append(f"the chain: {fault}")
    servers = {n: h.read_lines(p) for n, p in load.logs.items()}
    return wrong + joined(load, servers)


def notices(load):
    """Checks that the checker notices a call that is doubled, lost, swapped or
    not in the log."""
    servers = {n: h.read_lines(p) for n, p in load.logs.items()}
    lines = servers["echo"]
    at = [i for i, x in enumerate(lines) if x["ev"] == "line"
          and json.loads(x["text"]).get("method") == "tools/call"]
    a, b = at[0], at[-1]
    other = dict(lines[a], text=lines[a]["text"].replace("echo", "big"))
    for what, changed in (
            ("doubled", lines + [lines[a]]),
            ("lost", lines[:a] + lines[a + 1:]),
            ("swapped", lines[:a] + [lines[b]] + lines[a + 1:b] + [lines[a]]
             + lines[b + 1:]),
            ("of another tool", lines[:a] + [other] + lines[a + 1:])):
        t.ok(joined(load, {**servers, "echo": changed}),
             f"a call that is {what} is noticed")


def joined(load, servers):
    """Returns what is wrong with the servers' records beside the others."""
    audit, wrong = load.s.audit(), []
    wrong += joins.check_calls(audit, servers)
    seen = load.provider.seen()[load.before:]
    wrong += joins.check_requests(audit, seen)
    if load.replies > len(seen):
        wrong.append(f"{load.replies} answers of a model to {len(seen)} "
                     "requests")
    place = {c["id"]: i for i, c in enumerate(audit) if c["event"] == "call"}
    results = collections.Counter(
        c["id"] for c in audit if c["event"] == "result")
    wrong += [f"{i} has {n} results" for i, n in results.items() if n > 1]
    for name, lines in servers.items():
        calls = [json.loads(x["text"]) for x in lines if x["ev"] == "line"]
        calls = [c for c in calls if c.get("method") == "tools/call"]
        ids = [c["id"] for c in calls]
        if len(ids) != len(set(ids)):
            wrong.append(f"{name} received a call twice")
        where = [place[i] for i in ids if i in place]
        if where != sorted(where):
            wrong.append(f"{name} received calls in another order than the "
                         "log's")
        got = [c["params"]["arguments"]["text"] for c in calls]
        if len(got) != len(set(got)):
            wrong.append(f"{name} received a text twice")
        lost = {text for s, text in load.good if s == name} - set(got)
        wrong += [f"{text} was answered, and {name} did not receive it"
                  for text in sorted(lost)]
    return wrong


def stop(load, pid):
    """Stops a process for a while, in which others go on or wait for it."""
    h.kill(pid, signal.SIGSTOP)
    # The moment until it goes on is what varies; nothing waits for it.
    threading.Event().wait(random.uniform(0, .3))
    h.kill(pid, signal.SIGCONT)
    load.moves(f"{comm(pid)} went on")


def once(work, number, provider, left, counts):
    """One session. Returns how many signals, who was killed, and what is
    wrong."""
    load = Load(work, f"s{number}", provider)
    sent, victim, wrong = 0, "", []
    try:
        while sent < min(left, EACH) and not victim:
            pid = load.victim()
            name, dies = comm(pid), random.random() < .5
            workers = [p for w in load.s.workers().values() for p in w]
            sent += 1
            counts[name, "SIGKILL" if dies else "SIGSTOP"] += 1
            if not dies:
                stop(load, pid)
                continue
            victim = name
            h.kill(pid)
            if pid in (load.s.pid, *workers):
                load.s.wait(DONE)
    except (TimeoutError, OSError, RuntimeError) as e:
        wrong.append(f"{type(e).__name__}: {e}")
    with contextlib.suppress(TimeoutError):
        h.wait_for(lambda: not load.end(), "", DONE, .05)
    wrong += [f"{comm(p)} is left" for p in load.all if h.alive(p)]
    wrong += judge(load, victim)
    if number == 0:
        notices(load)
    return sent, victim, wrong


def main():
    print(f"# seed {SEED}")
    random.seed(SEED)
    counts, total, number, bad = collections.Counter(), 0, 0, 0
    with h.workdir() as work:
        provider = h.Provider(work)
        try:
            while total < SIGNALS:
                sent, victim, wrong = once(work, number, provider,
                                           SIGNALS - total, counts)
                total, number = total + sent, number + 1
                if wrong:
                    bad += 1
                    t.ok(False, f"session {number}, {victim or 'none'} killed",
                         "\n".join(wrong[:10]))
        finally:
            provider.end()
    for (name, what), n in sorted(counts.items()):
        print(f"# {what} {name} {n}")
    t.equal(bad, 0, f"{total} signals in {number} sessions: nothing is lost, "
            "doubled or out of order")
    t.done()


main()
