#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Messages, interrupts and ends from the page of `icctl web`: each names its
session, and is refused for one that takes none, or has ended."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import webpage  # noqa: E402

t = h.Tap()
AGENT = r"""#!/bin/sh
m=$(cat)
case $m in
wait) echo waiting; exec sleep 1000 ;;
esac
echo "told: $m"
"""



def talk(p, sid):
    """Returns what the page shows of the conversation."""
    more = p.state(session=sid).get("chosen", {}).get("talk", [])
    return "\n".join(f"{x['event']} {x['text']}" for x in more)


def row(o, sid):
    return next((x for x in o["sessions"] if x["id"] == sid), {})


def test_starting(p, s):
    """Returns the session, which the page has seen starting."""
    path = os.path.join(s.workspace, "agent.sh")
    h.put(path, AGENT, 0o755)
    os.chmod(os.path.dirname(path), 0o700)
    start = subprocess.Popen(
        [h.program("icctl"), "start", "--detach", "--json", "--workspace",
         s.workspace, "--", "/workspace/agent.sh"], env=s.env, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    seen = []

    def ready(o):
        seen.extend((x["state"], x["workspace"]) for x in o["sessions"])
        return any(x["state"] == "ready" for x in o["sessions"])
    o = p.until(ready, "the session is ready")
    t.equal(seen[0], ("starting", s.workspace),
            "a session that starts is on the page, and says so")
    start.communicate()
    return o["sessions"][0]["id"]


def test_messages(p, s, sid):
    status, o = p.ask("/api/send", {"session": sid, "text": "two\nlines ✓"})
    t.equal((status, o), (200, {"ok": True}), "a message is sent")
    p.until(lambda o: "told: two\nlines ✓" in talk(p, sid) and
            row(o, sid)["state"] == "ready", "the answer", sid)
    t.contains(talk(p, sid), "told: two", "and the page shows the answer")
    with open(os.path.join(s.home, "sessions", sid, "session.log"),
              encoding="utf-8") as f:
        t.contains(f.read(), "came from the page", "the log says whence")
    for text, want, why in (("", 400, "1 to 4096"), ("x" * 5000, 400, "text"),
                            ("a\x1b[2J", 409, "control characters")):
        status, o = p.ask("/api/send", {"session": sid, "text": text})
        t.ok(status == want and why in o["error"],
             f"a message of {len(text)} bytes: {want}", (status, o))
    t.equal(p.ask("/api/send", {"session": sid, "text": "x" * 4096})[0], 200,
            "4096 bytes are taken")
    p.until(lambda o: row(o, sid)["state"] == "ready", "ready", sid)
    for path in ("/api/send", "/api/interrupt", "/api/stop"):
        for session in ("nobody", "", "../x"):
            status, o = p.ask(path, {"session": session, "text": "x"})
            t.ok(status == 404 and "no such session" in o["error"],
                 f"{path} {session!r}: 404", (status, o))


def test_interrupt(p, sid):
    t.equal(p.ask("/api/send", {"session": sid, "text": "wait"})[0], 200,
            "a turn that waits")
    p.until(lambda o: "waiting" in talk(p, sid), "it runs", sid)
    status, o = p.ask("/api/send", {"session": sid, "text": "more"})
    t.ok(status == 409 and "turn is running" in o["error"],
         "one turn at a time", (status, o))
    t.equal(p.ask("/api/interrupt", {"session": sid})[0], 200,
            "it is interrupted")
    p.until(lambda o: row(o, sid)["state"] == "ready", "its end", sid)
    status, o = p.ask("/api/interrupt", {"session": sid})
    t.ok(status == 409 and "no turn" in o["error"],
         "and then there is nothing to interrupt", (status, o))


def test_stop(p, sid):
    for heads, want in (({"Origin": "http://127.0.0.1:1"}, 403),
                        ({"Sec_Fetch_Site": "cross-site"}, 403),
                        ({"Content_Type": "text/plain"}, 415),
                        ({"X_IronCurtain": "00" * 32}, 401)):
        for path in ("/api/send", "/api/interrupt", "/api/stop"):
            t.equal(p.ask(path, {"session": sid, "text": "x"}, **heads)[0],
                    want, f"{path} {heads}: {want}")
    t.equal(row(p.state(), sid)["state"], "ready", "nothing of that was taken")
    t.equal(p.ask("/api/stop", {"session": sid})[0], 200, "it is ended")
    p.until(lambda o: row(o, sid)["is"] == "over", "its end")
    for path in ("/api/send", "/api/interrupt", "/api/stop"):
        status, o = p.ask(path, {"session": sid, "text": "x"})
        t.ok(status == 409 and o["error"] == row(p.state(), sid)["why"],
             f"{path} to one that has ended says why it ended", (status, o))


def test_task(p, s):
    """A session that does one task takes no message, and can be ended."""
    with s:
        sid = os.path.basename(s.dir)
        p.until(lambda o: row(o, sid).get("is") == "runs", "the task")
        status, o = p.ask("/api/send", {"session": sid, "text": "x"})
        t.ok(status == 409 and "in its terminal only" in o["error"],
             "a task takes no message from here", (status, o))
        status, o = p.ask("/api/interrupt", {"session": sid})
        t.equal(status, 409, "and has no turns")
        t.equal(p.ask("/api/stop", {"session": sid})[0], 200, "it is ended")
        p.until(lambda o: row(o, sid)["is"] == "over", "its end")


def main():
    with h.workdir() as work:
        s = h.Session(work, session_dir=os.path.join(
            work, "home", "sessions", "task"))
        p = webpage.Page(s.home)
        try:
            p.login()
            sid = test_starting(p, s)
            test_messages(p, s, sid)
            test_interrupt(p, sid)
            test_stop(p, sid)
            test_task(p, s)
        finally:
            p.stop()
    t.done()


main()
