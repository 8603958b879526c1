#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The screen of `icctl watch`, in tmux: two sessions and what waits in them,
answers, a paste, sizes, a session that ends, and one that starts later."""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import tmux  # noqa: E402

t = h.Tap()
RULES = [h.rule("ask", "escalate", "A person decides.", tool=["echo", "lookup"]),
         h.rule("let", "allow", tool=["env"])]


def session(work, name):
    """A session of the user's whose home is shared with the others."""
    log = os.path.join(work, "log-" + name, "log.jsonl")
    s = h.Session(work, {"echo": h.echo_server(log)}, RULES,
                  {"echo": h.ECHO_TOOLS}, runtime="none",
                  session_dir=os.path.join(work, "home", "sessions", name))
    s.workspace = os.path.join(work, name)
    s.argv[s.argv.index("--workspace") + 1] = s.workspace
    os.mkdir(s.workspace, 0o700)
    return s


def joined(screen):
    return "\n".join(screen)


def chosen(screen):
    """Returns the id of the call on the right side."""
    found = re.search(r"(?:call|request) (\w+) ", joined(screen))
    return found.group(1) if found else None


def press(term, key, text):
    """Presses a key until the text is there: a call that has just appeared
    cannot be answered yet."""
    def pressed():
        if text in joined(term.screen()):
            return True
        term.text(key)
        return False
    h.wait_for(pressed, f"{key}: {text}", 30, 0.5)


def twice(term, first, text, second):
    """Presses two keys; the second may not come together with the first."""
    press(term, first, text)
    h.wait_for(iter((False, True)).__next__, "", poll=0.3)
    term.text(second)


def test_answers(work, term, one, two):
    a, b = one.client(), two.client()
    term.until("icctl watch   2 sessions   0 waiting")
    first = a.start_call("echo__echo", {"text": "red\x1b[31m\u202e"})
    screen = term.until("1 waiting")
    term.until("A person decides.")
    term.until("waiting, ")
    screen = term.screen()
    t.ok("\\x1b[31m\\u{202e}" in joined(screen)
         and "Ctrl-" not in joined(screen),
         "a call that waits is shown whole, and harmless", joined(screen))
    call = chosen(screen)
    b.call("echo__env", {})
    screen = term.until("allowed  echo__env")
    below = joined(screen[19:])
    t.ok("two  allowed  echo__env" in below and "one  waits" in below,
         "what happens in other sessions is told below it", joined(screen))
    second = b.start_call("echo__echo", {"text": "two"})
    screen = term.until("2 waiting")
    t.equal(chosen(screen), call, "the one on the screen stays")
    term.tmux("set-buffer", "-b", "p", f"aa{call[0]}qdd")
    term.tmux("paste-buffer", "-p", "-b", "p")
    screen = term.until("what is pasted is no command")
    t.ok("2 waiting" in joined(screen), "a paste answers nothing")
    twice(term, "a", f"press {call[0]} to approve", call[0])
    r = first.wait()
    t.ok("red" in h.text_of(r) and not r.get("isError"),
         "a and the id's first letter approve it", r)
    term.until("1 waiting")
    press(term, "d", "reason (Enter")
    term.text("not this one")
    term.keys("Enter")
    r = second.wait()
    t.ok(r.get("isError") and "not this one" in h.text_of(r),
         "d denies it, in the other session, with a reason", r)
    term.until("0 waiting")
    term.text("h")
    term.until("History of")
    t.ok("denied" in joined(term.screen()), "h: what was decided",
         joined(term.screen()))
    term.text("h")
    term.gone("History of")
    return a, b


def test_grant(term, one, a):
    first = a.start_call("echo__echo", {"text": "again"})
    screen = term.until("1 waiting")
    screen = term.until("A person decides.")
    call = chosen(screen)

    twice(term, "s", "for the session, any", call[0])
    first.wait()
    t.ok(not a.call("echo__echo", {"text": "again"}).get("isError"),
         "s: the same call is allowed for the session")
    term.until("0 waiting")
    term.text("g")
    term.until("icctl revoke")
    twice(term, "x", "press y to take back", "y")
    h.wait_for(lambda: not one.icctl("grants").stdout.count("revoke"),
               "the grant is gone")
    t.ok(True, "g, x and y take it back")
    term.keys("Escape")


def test_find(term, one, a):
    """Filters the list, and looks for a text on the right side."""
    call = a.start_call("echo__echo", {"text": "line\n" * 400 + "needle here"})
    term.until("1 waiting")
    term.keys("/")
    term.text("echo__ECHO")
    term.keys("Enter")
    screen = term.until("only: echo__ECHO")
    t.ok(any("echo__echo" in x[:33] for x in screen[1:19]),
         "/ finds a call by its tool", joined(screen))
    term.keys("/", "C-u")
    term.text("nowhere")
    term.keys("Enter")
    term.until("No session has this text")
    term.keys("Escape")
    term.gone("only: nowhere")
    t.ok(True, "Escape shows all again")
    term.text("nf")
    term.until("space: ")
    t.ok("needle" not in joined(term.screen()), "a long call is cut off")
    term.text("l")
    term.text("NEEDLE")
    term.keys("Enter")
    term.until("dle here")
    t.ok(True, "l looks for a text, whatever the case")
    press(term, "a", "there is more of it")
    t.ok(True, "and what was jumped over is not what was seen")
    term.keys("Escape")
    term.text("l")
    term.text("absent")
    term.keys("Enter")
    term.until("nothing on the right side has this text")
    term.keys("Escape")
    held = h.wait_for(one.pending, "the call")[0]
    # Parts of it are left out where nothing pages.
    one.icctl("approve", held["id"], "--digest", held["digest"], check=True)
    call.wait()
    term.text("f")
    term.until("0 waiting")


def test_paths(term, one, a):
    """Paths that begin alike are told apart in the list."""
    calls = []
    for name in ("plan.txt", "naïve-日本語.txt"):
        path = os.path.join(one.workspace, name)
        calls.append(a.start_call("echo__lookup", {"path": path}))
    term.until("2 waiting")
    rows = [x[:32].rstrip() for x in term.screen()[1:19]]
    t.ok(any(re.search(r" Reads \.\.\.\S*plan\.txt$", x) for x in rows)
         and any(re.search(r" Reads \.\.\.\S*日本語\.txt$",
                           x.split("│")[0].rstrip()) for x in rows),
         "the list has the ends of two long paths", rows)
    t.contains(term.screen()[-1], "n next", "80 columns have all answers")
    for held in h.wait_for(lambda: one.pending(), "the calls"):
        one.icctl("deny", held["id"], check=True)
    for call in calls:
        call.wait()
    term.until("0 waiting")


def test_always(term, call):
    """A rule of the call on the screen, which no key but y adds."""
    term.text("A")
    term.until("[y/N]")
    term.text("y")
    term.keys("Enter")
    term.until("In force now")
    term.keys("Enter")
    term.until("0 waiting")
    t.ok(not call.wait().get("isError"), "A makes a rule of a call")


def test_sizes(term, a):
    held = a.start_call("echo__echo", {"text": "x" * 3000})
    term.until("1 waiting")
    for cols, rows in ((40, 12), (200, 60), (80, 24)):
        term.tmux("resize-window", "-x", str(cols), "-y", str(rows))
        def drawn(cols=cols, rows=rows):
            s = term.screen()
            return (len(s) == rows and all(len(x) <= cols for x in s)
                    and "1 waiting" in s[0] and "quit" in s[-1]
                    and any("echo__echo" in x for x in s))
        h.wait_for(drawn, f"{cols}x{rows}", 30)
        t.ok(True, f"{cols}x{rows}")
    press(term, "a", "parts of it were left out: press f")
    t.ok(True, "what is cut is not approved")
    term.text("f")
    press(term, "a", "press space")
    t.ok(True, "what was not seen whole is not approved")
    term.text("f")
    return held


def main():
    if not tmux.PROGRAM:
        t.skip("the screen of icctl watch", "tmux is not installed")
        t.done()
    with h.workdir() as work, t.case("overview"):
        one, two = session(work, "one"), session(work, "two")
        with one:
            term = tmux.Tmux(work, {**one.env, "PATH": os.environ["PATH"]})
            before = term.stty()
            term.run(h.program("icctl") + " watch")
            term.until("1 session ")
            t.ok(True, "it shows the session that runs")
            with two:
                term.until("2 sessions")
                t.ok(True, "and one that starts later")
                a, _ = test_answers(work, term, one, two)
                test_grant(term, one, a)
                test_find(term, one, a)
                test_paths(term, one, a)
                test_always(term, test_sizes(term, a))
            term.until("ended")
            t.ok("2 sessions" in joined(term.screen()),
                 "it stays when a session ends")
            term.text("c")
            term.until("1 session ")
            t.ok(True, "c forgets it")
            term.text("?")
            term.until("Keys")
            term.keys("Escape")
            term.gone("Keys")
            term.text("/")
            term.text("nothing like it")
            term.keys("Enter")
            term.until("No session has this text")
            term.text("/")
            term.keys("C-u")
            term.keys("Enter")
            term.gone("No session has")
            t.ok(True, "/ shows only what has a text")
            term.text("q")
            term.until(tmux.PROMPT)
            h.wait_for(lambda: term.stty() == before, "the old settings")
            t.ok(True, "the terminal is as before")
            term.end()
    t.done()


if __name__ == "__main__":
    main()
