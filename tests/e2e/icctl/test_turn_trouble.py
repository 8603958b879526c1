#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Turns that fail because of the provider: by the status of its answers, and by
what the agent says, as its adapter classifies that."""
import base64
import datetime
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import tmux  # noqa: E402
from test_conversation import Talk, ends_properly, texts  # noqa: E402
from webpage import Page  # noqa: E402

t = h.Tap()
# "ask N...": ask for these replies, one after the other, and fail if the last
# one is an error.  "linger N... - N...": wait between them.  "say TEXT": fail
# with that as the last words.
AGENT = r"""#!/usr/bin/python3
import json, os, sys, urllib.error, urllib.request
line = sys.stdin.read().strip() or sys.argv[-1]
word, _, rest = line.partition(" ")
print(json.dumps({"type": "args", "text": " ".join(sys.argv[1:])}))
status = 0
# A FIFO: it lingers until somebody writes into it.
for n in rest.split() if word in ("ask", "linger") else []:
    if n == "-":
        open("/workspace/go").read()
        continue
    request = urllib.request.Request(
        "https://api.anthropic.com/v1/messages",
        b'{"model": "test", "max_tokens": 1, "messages": []}',
        {"x-api-key": os.environ["ANTHROPIC_API_KEY"],
         "content-type": "application/json", "x-stainless-reply": n})
    try:
        urllib.request.urlopen(request).read()
        status = 0
    except urllib.error.HTTPError as e:
        e.read()
        status = 1
if word == "say":
    print(json.dumps({"type": "bad", "text": rest}))
if word == "echo":
    print(json.dumps({"type": "args", "text": rest}))
    print(json.dumps({"type": "bad", "text": rest}))
if word == "cry":
    print(rest, file=sys.stderr)
    status = 1
sys.exit(status)
"""
ADAPTER = {
    "name": "poll", "program": ["poll"], "providers": ["anthropic"],
    "taskArgs": ["{task}"], "continue": ["again"],
    "turn": ["new", "{conversation}"], "resume": ["old", "{conversation}"],
    "output": {"format": "json-lines", "events": [
        {"when": "type=args", "text": "text", "event": "agent_text"},
        {"when": "type=bad", "text": "text", "event": "error"}]},
    "errors": [
        {"kind": "quota", "contains": ["limit reached"],
         "reset": ["resets in "]},
        {"kind": "authentication", "contains": ["not logged in"]},
        {"kind": "transient", "contains": ["too busy"]},
        {"kind": "hard", "contains": ["too long"]}]}
AHEAD = datetime.datetime.now(datetime.timezone.utc) + \
    datetime.timedelta(hours=2)
REPLIES = [(200, ""), (429, "Retry-After: 3600\r\n"), (429, ""), (529, ""),
           (403, ""), (429, "Retry-After: tomorrow\r\n"),
           (429, "Date: Sun, 22 Nov 2026 04:00:00 GMT\r\n"
            "Retry-After: Sun, 22 Nov 2026 05:00:00 GMT\r\n"),
           (429, "anthropic-ratelimit-tokens-remaining: 0\r\n"
            f"anthropic-ratelimit-tokens-reset: {AHEAD:%Y-%m-%dT%H:%M:%SZ}\r\n"),
           (429, "anthropic-ratelimit-unified-status: rejected\r\n"
            f"anthropic-ratelimit-unified-reset: {int(AHEAD.timestamp())}\r\n"),
           (402, "")]


def replies(work):
    rows = []
    for status, more in REPLIES:
        body = (b'{"type": "message", "content": [], "usage": '
                b'{"input_tokens": 1, "output_tokens": 1}}'
                if status == 200 else b'{"type": "error"}')
        head = (f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n"
                f"{more}Content-Length: {len(body)}\r\n\r\n").encode()
        rows.append({"parts": [base64.b64encode(head + body).decode()]})
    return h.put(os.path.join(work, "replies.json"), json.dumps(rows))


def expect(k, message, kind, text, name):
    """One turn that ends with that trouble; returns its time and its events."""
    status, events = k.send(message)
    said = [e for e in events if e["event"] == "error" and "kind" in e]
    result = [e for e in events if e["event"] == "result"][0]
    want = {"": 0, "quota": 75, "transient": 75}.get(kind, 1)
    t.ok(status == want and ends_properly(events) and
         [e["kind"] for e in said] == ([kind] if kind else []) and
         result.get("trouble", "") == kind and
         (not kind or text in said[0]["text"]), name, (status, events))
    return said[0].get("until") if said else None, events


def state(k):
    """Returns the state in ls, status and session.json."""
    row = json.loads(k.icctl("ls", "--json").stdout)[0]
    now = json.loads(k.icctl("status", "--json").stdout)
    with open(os.path.join(k.s.dir, "session.json"), encoding="utf-8") as f:
        kept = json.load(f)
    return [(row["state"], row.get("quotaUntil")),
            (now["state"], now.get("quotaUntil")),
            (row["state"], kept.get("quotaUntil"))]


def test_all(work):
    path = h.put(os.path.join(work, "bin", "poll"), AGENT, 0o755)
    p = h.Provider(work, "--replies", replies(work))
    s = h.Session(work, provider=p)
    s.write("agents/poll.json", ADAPTER)
    s.write("config.json", {**s.config, "agent": {"poll": {"path": path}}})
    with Talk(work, "--agent", "poll", session=s) as k:
        if k.started.returncode != 0:
            raise RuntimeError(k.started.stderr)
        by_status(k)
        waits(k)
        by_words(k)
        shown(k)
        kept(k, work)
        crashed(k)
    task(s)
    p.end()


def task(s):
    """One task in the foreground that ends because of the quota."""
    plain = {**ADAPTER, "name": "plain"}
    del plain["continue"]
    s.write("agents/plain.json", plain)
    path = os.path.join(s.work, "bin", "poll")
    s.write("config.json", {**s.config, "agent": {"poll": {"path": path},
                                                  "plain": {"path": path}}})
    for args, resume, name in (
            (["--agent", "poll", "ask 1"], "ID", "an agent"),
            (["--agent", "plain", "ask 1"], "--detach ID",
             "one that cannot go on in a terminal"),
            (["--agent", "poll", "--", path, "ask 1"],
             "ID -- COMMAND...", "a command")):
        r = subprocess.run([h.program("icctl"), "start", "--workspace",
                            s.workspace, *args], env=s.env,
                           stdin=subprocess.DEVNULL, capture_output=True,
                           text=True, timeout=60 * h.PATIENCE, check=False)
        found = re.search(
            r"session (\S+) ended.*the gateway's quota is used up until "
            r"(\S+)\. To go on then: icctl resume ([^\n]*)\n", r.stderr, re.S)
        t.ok(r.returncode == 1 and found and
             found[3] == resume.replace("ID", found[1]) and
             f"until {found[2]}. The agent may wait" in r.stderr and
             "See: icctl status" not in r.stderr,
             f"one task of {name}: how to go on, and when", r.stderr)
    r = subprocess.run([h.program("icctl"), "start", "--workspace",
                        s.workspace, "--agent", "poll", "ask 1 0"], env=s.env,
                       stdin=subprocess.DEVNULL, capture_output=True,
                       text=True, timeout=60 * h.PATIENCE, check=False)
    t.ok(r.returncode == 0 and "quota" not in r.stderr,
         "not after an answer that came", r.stderr)


def by_status(k):
    expect(k, "ask 0", "", "", "a turn without trouble")
    until, _ = expect(k, "ask 1", "quota", "icctl resume",
                      "429 with a time: the quota is used up")
    t.ok(until is not None and until.endswith("Z"), "until that time", until)
    t.equal(state(k), [("quota", until)] * 3, "it is the session's status")
    r = k.icctl("ls")
    t.ok(f"quota used up until {until} (in " in r.stdout, "ls says it",
         r.stdout)
    r = k.icctl("status")
    t.ok(f"\nquota       used up until {until} (in " in r.stdout and
         f"for now, until {until} (in " in r.stdout,
         "status says it, and which provider", r.stdout)
    with open(os.path.join(k.s.dir, "session.log"), encoding="utf-8") as f:
        t.contains(f.read(), f"LIMITED (429): the gateway takes no more "
                   f"requests for now, until {until}. See: icctl status",
                   "and the session's log")
    expect(k, "ask 0", "", "", "a message may be sent before that")
    t.equal(state(k), [("ready", None)] * 3, "and the status is gone")
    until, _ = expect(k, "ask 5", "transient", "again in a minute",
                      "a time that cannot be read is none")
    t.equal(until, None, "and is not told")
    by_headers(k)
    expect(k, "ask 2", "transient", "(429)", "429 without a time is transient")
    expect(k, "ask 3", "transient", "(529)", "and so is 529")
    expect(k, "ask 4", "authentication", "icctl login anthropic",
           "403 is about the credential")
    expect(k, "ask 9", "quota", "the gateway's quota is used up",
           "402 is a budget that is used up, and the gateway's")
    expect(k, "ask 3 0", "", "", "a later answer clears the provider")
    expect(k, "ask 1 0", "", "", "also of a quota")
    r = k.icctl("status")
    t.ok("FAILING (529)" in r.stdout or "LIMITED (429)" in r.stdout or
         "REFUSED (403)" in r.stdout, "status names the provider", r.stdout)


def by_headers(k):
    """The other headers that say when a provider takes requests again."""
    hour = datetime.timedelta(hours=1)
    for n, ahead, name in ((6, hour, "Retry-After as a date"),
                           (7, 2 * hour, "the reset of a limit"),
                           (8, 2 * hour, "the reset of a subscription")):
        now = datetime.datetime.now(datetime.timezone.utc)
        until, _ = expect(k, f"ask {n}", "quota", "used up until", name)
        when = datetime.datetime.fromisoformat(
            (until or "1970-01-01T00:00:00Z").replace("Z", "+00:00"))
        wanted = now + ahead if n == 6 else AHEAD
        t.ok(abs((when - wanted).total_seconds()) < 60,
             f"{name}: the quota returns then", (until, str(wanted)))


def linger(k, message, during):
    """A turn whose agent waits; returns its events. `during` gets the text of
    the error that is told meanwhile."""
    p = subprocess.Popen(
        [h.program("icctl"), "send", "--json", message], env=k.s.env,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    events = []
    for line in p.stdout:
        events.append(json.loads(line))
        if events[-1].get("event") == "error" and \
                "by itself" in events[-1]["text"]:
            during(events[-1]["text"])
    p.wait()
    return p.returncode, events


def waits(k):
    """An agent that waits for the quota, or tries again and again."""
    go = os.path.join(k.s.workspace, "go")
    os.mkfifo(go, 0o600)
    told, refused = [], []

    def during(text):
        told.append((text, state(k)))
        refused.append(k.send("another")[1][-1].get("error", ""))
        # Its agent has asked for good and waits.
        with open(go, "w", encoding="ascii"):
            pass

    def interrupt(text):
        told.append((text, state(k)))
        k.icctl("interrupt")
    status, events = linger(k, "linger 1 - 0", during)
    text, states = told.pop()
    until = states[0][1]
    t.ok(status == 0 and ends_properly(events) and
         f"takes no more requests for now, until {until}. The agent may wait "
         "for that by itself. To end its turn: icctl interrupt" in text,
         "an agent that waits for the quota: it is told", (text, events))
    t.equal(states, [("quota", until)] * 3, "and the status is quota meanwhile")
    t.contains(refused.pop(), f"waits for the gateway's quota until {until}",
               "another message is refused, and why")
    t.equal([e["status"] for e in events if e["event"] == "session"],
            ["processing", "quota", "processing"],
            "until it goes on")
    t.equal(state(k), [("ready", None)] * 3, "nothing is left of it")
    status, events = linger(k, "linger 1 -", interrupt)
    until = told.pop()[1][0][1]
    t.equal((status, [e["status"] for e in events
                      if e["event"] == "turn_end"],
             [e.get("until") for e in events
              if e["event"] == "error" and "kind" in e],
             state(k)[0]),
            (75, ["interrupted"], [until], ("quota", until)),
            "interrupted: it stays until the time that the provider named")
    status, events = linger(k, "linger 3 3 0", during)
    t.ok(status == 0 and not told, "two failures are no news", told)
    status, events = linger(k, "linger 3 3 3 - 0", during)
    t.ok(status == 0 and len(told) == 1 and told[0][1][0] == ("processing",
                                                              None) and
         "FAILING (529): the gateway is overloaded or out of order. The agent "
         "may try again by itself." in told[0][0],
         "three in a row are", (told, events))


def by_words(k):
    until, _ = expect(k, "say limit reached, resets in 2 hours", "quota",
                      "used up until", "an agent that says when")
    t.ok(until is not None, "its time is understood", until)
    until, _ = expect(k, "say limit reached", "quota", "again later",
                      "and one that does not")
    t.equal((until, state(k)[0]), (None, ("quota", None)),
            "the status is quota without a time")
    expect(k, "say I am not logged in", "authentication", "icctl login",
           "a refused credential")
    expect(k, "cry it is too busy", "transient", "again", "a last word")
    _, events = expect(k, "say far too long", "hard", "begins a new one",
                       "a conversation that is at its end")
    old = texts(events).split()
    _, events = k.send("go")
    new = texts(events).split()
    t.ok(old[0] == "old" and new[0] == "new" and old[1] != new[1],
         "the next message begins another", (old, new))


def shown(k):
    r = k.icctl("send", "echo it\u2019s \u00b7 \u2713 \\n \u202e")
    t.equal([x[x.index("it\u2019s"):] for x in r.stdout.split("\n")
             if "\u00b7" in x], ["it\u2019s \u00b7 \u2713 \\n \ufffd"],
            "what the agent says twice is printed once, as it says it")


def screens(k, work, until):
    """`icctl watch` and the page say the time, too."""
    page = Page(k.s.home)
    page.login()
    row = page.until(lambda s: s["sessions"] and
                     s["sessions"][0]["state"] == "quota", "the page is late")
    t.equal(row["sessions"][0]["until"], until, "the page is told the time")
    page.stop()
    if not tmux.PROGRAM:
        t.skip("watch", "tmux is not installed")
        return
    term = tmux.Tmux(work, k.s.env, cols=120)
    try:
        term.run(f"{h.program('icctl')} watch")
        term.until(f"quota      used up until {until} (in ")
    finally:
        term.end()
    t.ok(True, "watch says it")


def ended(k, until):
    r = k.icctl("--session", k.told["session"], "status")
    t.ok(f"\nquota       used up until {until} (in " in r.stdout,
         "status of an ended session says it", r.stdout)
    path = os.path.join(k.s.dir, "session.json")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    h.put(path, text.replace(until, "2026-01-01T00:00:00Z"), 0o600)
    r = k.icctl("ls", "--json")
    t.equal(["quota" in k.icctl("ls").stdout, "quotaUntil" in r.stdout],
            [False, False], "ls does not say a time that is over")
    h.put(path, text, 0o600)


def kept(k, work):
    until, _ = expect(k, "ask 1", "quota", "", "a quota again")
    screens(k, work, until)
    k.icctl("stop")
    h.wait_for(lambda: not os.path.exists(f"/proc/{k.told['pid']}/ns"),
               "the session does not end")
    row = json.loads(k.icctl("ls", "--json").stdout)[0]
    t.equal((row["state"], row.get("quotaUntil")), ("closed", until),
            "an ended session keeps the time")
    ended(k, until)
    r = k.icctl("resume", "--json", k.told["session"])
    t.equal(r.returncode, 0, "it is resumed")
    k.told = json.loads(r.stdout)
    t.equal(state(k)[:2], [("quota", until)] * 2, "and knows it")
    expect(k, "ask 0", "", "", "a message goes through")


def crashed(k):
    """The supervisor is killed while the agent waits for the quota."""
    states = []

    def die(_):
        states.append(state(k))
        h.kill(k.told["pid"])
    linger(k, "linger 1 -", die)
    until = states[0][0][1]

    def crash():
        row = json.loads(k.icctl("ls", "--json").stdout)[0]
        return row if row["state"] == "crashed" else None
    t.equal(h.wait_for(crash, "it does not end").get("quotaUntil"), until,
            "killed in a turn that waits: the time is kept")
    r = k.icctl("resume", "--json", "--after-crash", k.told["session"])
    if not t.ok(r.returncode == 0, "it is resumed", r.stderr):
        return
    k.told = json.loads(r.stdout)
    t.equal(state(k), [("quota", until)] * 3, "and waits for it")
    last = max(e.get("turn", 0) for e in k.kept())
    t.equal([e["event"] for e in k.kept() if e.get("turn") == last][-3:],
            ["usage", "result", "turn_end"], "the turn has its ends")
    expect(k, "ask 0", "", "", "and a message goes through")


def main():
    if not shutil.which("bwrap"):
        t.skip("troubles", "bubblewrap is not installed")
        t.done()
    with h.workdir() as work, t.case("troubles"):
        test_all(work)
    t.done()


if __name__ == "__main__":
    main()
