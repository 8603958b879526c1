#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Ten sessions at once, for two minutes or as many seconds as the argument says:
calls wait in all of them and are answered in turn from one `icctl watch` and from
one web page. Each agent gets its own answer, and neither memory nor descriptors
of any process grow. In a build for ASan there are three, for two rounds."""
import os
import re
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import tmux  # noqa: E402
import traces  # noqa: E402
import webpage  # noqa: E402

t = h.Tap()
COUNT = 3 if h.sanitized() else 10
SECONDS = 0 if h.sanitized() else float(sys.argv[1]) if sys.argv[1:] else 40
GROWTH = 4 * 1024 * 1024
RULES = [h.rule("ask", "escalate", "A person decides.", tool=["echo"])]


def build(work, i):
    """A session of the user's whose home is shared with the others, and so is
    the entry of its server: a tool of a changed entry is in quarantine."""
    name = f"session-{i}"
    log = os.path.join(work, "log", "log.jsonl")
    s = h.Session(work, {"echo": h.echo_server(log)}, RULES,
                  {"echo": h.ECHO_TOOLS},
                  session_dir=os.path.join(work, "home", "sessions", name))
    s.log = log
    s.workspace = os.path.join(work, name)
    s.argv[s.argv.index("--workspace") + 1] = s.workspace
    os.mkdir(s.workspace, 0o700)
    return s


def usage(pids):
    """Returns pid -> (descriptors, resident bytes)."""
    found = {}
    for pid in pids:
        with open(f"/proc/{pid}/status", encoding="utf-8") as f:
            rss = next(int(x.split()[1]) * 1024 for x in f
                       if x.startswith("VmRSS"))
        found[pid] = (os.stat(f"/proc/{pid}/fd").st_size, rss)  # Linux 6.2
    return found


def chosen(term):
    """Returns the id of the call on the right side."""
    found = re.search(r"(?:call|request) (\w+) ", "\n".join(term.screen()))
    return found.group(1) if found else None


def press(term, key, text):
    """Presses a key until the text is there: a call that has just appeared
    cannot be answered yet."""
    def pressed():
        if any(text in x for x in term.screen()):
            return True
        term.text(key)
        return False
    h.wait_for(pressed, f"{key}: {text}", 30, 0.4)


def next_call(term, ids):
    """Returns the id of a call that is shown and not answered yet."""
    def shown():
        if chosen(term) in ids:
            return chosen(term)
        term.text("n")
        return None
    return h.wait_for(shown, "a call that waits", 30, 0.4)


def answer(term, ident, i):
    """Approves the calls of even sessions and denies the others."""
    if i % 2:
        press(term, "d", "reason (Enter")
        term.text(f"reason-{i}.")
        term.keys("Enter")
        return
    press(term, "a", f"press {ident[0]} to approve")
    h.wait_for(iter((False, True)).__next__, "", poll=0.3)
    term.text(ident[0])


def check(i, text, r):
    got = h.text_of(r)
    if i % 2:
        return r.get("isError") and f"reason-{i}." in got
    return not r.get("isError") and text in got


def test_round(term, sessions, clients, n):
    """One call in each session. Returns the texts of those that went right."""
    texts = [f"text-{n}-{i}." for i in range(COUNT)]
    calls = [m.start_call("echo__echo", {"text": x})
             for m, x in zip(clients, texts)]
    term.until(f" {COUNT} waiting")
    ids = {s.held()["id"]: i for i, s in enumerate(sessions)}
    good = []
    while ids:
        ident = next_call(term, ids)
        i = ids.pop(ident)
        answer(term, ident, i)
        if check(i, texts[i], calls[i].wait()):
            good.append(texts[i])
        term.until(f" {len(ids)} waiting")
    return sorted(good) == sorted(texts)


def test_page(page, sessions, clients, n):
    """A round that is answered from the web page."""
    texts = [f"text-{n}-{i}." for i in range(COUNT)]
    calls = [m.start_call("echo__echo", {"text": x})
             for m, x in zip(clients, texts)]
    state = page.until(lambda o: sum(len(s["calls"]) for s in o["sessions"])
                       == COUNT, "a call in every session")
    names = [os.path.basename(s.dir) for s in sessions]
    shown = {}
    for row in state["sessions"]:
        ask = {"session": row["id"], "call": row["calls"][0]["id"]}
        shown[names.index(row["id"])] = h.wait_for(
            lambda ask=ask: (lambda r: r[0] == 200 and r[1])(
                page.ask("/api/call", ask)), "the call")
    time.sleep(1.1)     # the time is the test
    for i, o in shown.items():
        status, r = page.ask("/api/answer", {
            "session": o["session"], "call": o["call"],
            "digest": o["digest"], "verdict": "deny" if i % 2 else "approve",
            "text": f"reason-{i}." if i % 2 else ""})
        if status != 200:
            raise AssertionError(f"{o['session']}: {r}")
    return all(check(i, texts[i], calls[i].wait()) for i in range(COUNT))


def forwarded(s):
    return [line["text"] for line in h.read_lines(s.log)
            if '"tools/call"' in line.get("text", "")]


def test_rounds(term, page, sessions, clients):
    """Returns the number of rounds, and what each process used after the first
    two and after the last."""
    end = time.monotonic() + SECONDS
    before, n = None, 0
    while n < 2 or n % 2 or time.monotonic() < end:
        if n % 2:
            t.ok(test_page(page, sessions, clients, n),
                 f"round {n}: one web page answers all of them")
        else:
            t.ok(test_round(term, sessions, clients, n),
                 f"round {n}: every agent gets the answer to its own call")
        term.until(" 0 waiting")
        n += 1
        if n == 2:
            before = usage(processes(term, page, sessions))
    return n, before


def processes(term, page, sessions):
    """The watch, the page, and every process of the sessions."""
    with open(f"/proc/{term.pid()}/task/{term.pid()}/children",
              encoding="utf-8") as f:
        pids = [int(f.read().split()[0]), page.process.p.pid]
    pids += [s.pid for s in sessions]
    return pids + [c for p in pids[1:] for c in traces.children(p)]


def test_grown(before):
    pids = list(before)
    if all(fds == 0 for fds, _ in before.values()):
        t.skip("descriptors", "this kernel does not count them")
    else:
        h.wait_for(lambda: all(usage([p])[p][0] <= before[p][0]
                               for p in pids),
                   f"descriptors: {before}, {usage(pids)}")
        t.ok(True, f"descriptors of {len(pids)} processes do not grow")
    after = usage(pids)
    grown = {p: (before[p][1], after[p][1]) for p in pids
             if after[p][1] - before[p][1] >= GROWTH}
    t.ok(h.sanitized() or not grown, "nor does their memory", grown)


def test_sessions(work, sessions):
    term = tmux.Tmux(work, {**sessions[0].env, "PATH": os.environ["PATH"]})
    term.run(h.program("icctl") + " watch")
    term.until(f"{COUNT} sessions")
    clients = [s.client() for s in sessions]
    page = webpage.Page(sessions[0].home)
    page.login()
    rounds, before = test_rounds(term, page, sessions, clients)
    sent = re.findall(r"text-\d+-\d+\.", "".join(forwarded(sessions[0])))
    t.equal(sorted(sent), sorted(f"text-{n}-{i}." for n in range(rounds)
                                 for i in range(0, COUNT, 2)),
            "servers got what was approved, once, and nothing else")
    test_grown(before)
    page.stop()
    term.text("q")
    term.until(tmux.PROMPT)
    term.end()
    for m in clients:
        m.close()


def main():
    if not tmux.PROGRAM:
        t.skip("many sessions", "tmux is not installed")
        t.done()
    with h.workdir() as work, t.case("many sessions"):
        sessions = [build(work, i) for i in range(COUNT)]
        try:
            for s in sessions:
                s.start()
            test_sessions(work, sessions)
        finally:
            for s in sessions:
                s.stop()
    t.done()


if __name__ == "__main__":
    main()
