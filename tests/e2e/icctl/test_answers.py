#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests who may answer a held call, what an answer is bound to, and that text
of an agent or a server reaches a person's terminal only as printable ASCII."""
import concurrent.futures
import contextlib
import ctypes
import json
import os
import subprocess
import sys
import unicodedata

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import answers_data as data  # noqa: E402
import harness as h  # noqa: E402
import other_user  # noqa: E402
from terminal import Terminal  # noqa: E402

t = h.Tap()
RULES = [h.rule("ask", "escalate", "A person decides.",
                tool=["echo", "big"])]


def build(work, session="session", options=(), config=None, **kw):
    log = os.path.join(work, "log-" + session, "log.jsonl")
    servers = {"echo": h.echo_server(
        log, "--name", data.EVIL, "--alias", data.NAME + "=echo")}
    if kw.pop("helper", False):
        # A server without a sandbox may not be led into the workspace.
        os.mkdir(os.path.join(work, "orders"))
        servers["helper"] = {"command": h.PYTHON, "args": [
            data.HELPER, os.path.join(work, "orders")],
                             "sandbox": False}
    s = h.Session(work, servers, RULES, {"echo": h.ECHO_TOOLS}, config=config,
                  session_dir=os.path.join(work, session), options=options,
                  **kw)
    s.log = log
    return s


def icctl_argv(s, *args):
    return [h.program("icctl"), "--session", s.dir, *args]


def run(argv, s, **kw):
    return subprocess.run(argv, env=s.env, capture_output=True, text=True,
                          timeout=20, check=False, **kw)


def forwarded(s):
    return sum('"tools/call"' in line.get("text", "")
               for line in h.read_lines(s.log))


# ---- who -----------------------------------------------------------------
def no_new_privs():
    if ctypes.CDLL(None).prctl(38, 1, 0, 0, 0) != 0:
        os._exit(99)


def askers(s):
    """Yields the ways in which a process that does not act for its user
    reaches icctl: name, wrapper, options of subprocess, and the reason of the
    refusal."""
    box = ["bwrap", "--bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
           "--die-with-parent"]
    space = "not permitted: the asker runs in a pid namespace of its own, " \
        "as agents do"
    nnp = "not permitted: the asker runs under no_new_privs, as processes " \
        "in sandboxes do"
    yield "in a box without network", [*box, "--unshare-all"], {}, space
    yield "in a box that shares pids", box, {}, nnp
    yield "under no_new_privs", [], {"preexec_fn": no_new_privs}, nnp
    if run(["unshare", "-Urpf", "true"], s).returncode == 0:
        yield "in a pid namespace", ["unshare", "-Urpf"], {}, space
    else:
        t.skip("in a pid namespace", "this kernel gives users none")


def test_who(s):
    m = s.client()
    call = m.start_call("echo__echo", {"text": "held"})
    hold = s.held()
    for name, wrapper, kw, why in askers(s):
        for command in (["approve", hold["id"]], ["deny", hold["id"]],
                        ["stop"], ["unlock"], ["attach"], ["policy", "reload"],
                        ["revoke", "1"], ["keys", "reload", "anthropic"],
                        ["budget", "set", "maxSteps", "9"]):
            r = run([*wrapper, *icctl_argv(s, *command)], s, **kw)
            t.equal((r.returncode, r.stderr), (1, f"icctl: {why}\n"),
                    f"{name}: {command[0]}")
        r = run([*wrapper, *icctl_argv(s, "--json", "approve", hold["id"])],
                s, **kw)
        t.equal(json.loads(r.stdout).get("code"), "not-permitted",
                f"{name}: as JSON")
    t.ok(not call.done.is_set() and [x["id"] for x in s.pending()] ==
         [hold["id"]], "the call is still held")
    t.contains(s.session_log(), "approve refused to pid", "the log says so")
    wrapper = other_user.wrapper()
    if wrapper is None:
        t.skip("another user", other_user.NEEDS)
    else:
        # The directories above may be closed to others as well.
        for d in (s.work, s.dir):
            os.chmod(d, 0o711)
        for command in (["approve", hold["id"]], ["attach"], ["status"]):
            r = run([*wrapper, *icctl_argv(s, *command)], s)
            t.ok(r.returncode == 3 and "Permission denied" in r.stderr,
                 f"another user: {command[0]}", r)
        for d in (s.work, s.dir):
            os.chmod(d, 0o700)
    r = run(icctl_argv(s, "approve", hold["id"]), s)
    t.equal((r.returncode, h.text_of(call.wait())), (0, "held"),
            "its user may")
    m.close()


def test_strict():
    """A supervisor under no_new_privs, as in a strict container: its user, who
    is under it as well, may answer, and a sandbox may not."""
    with h.workdir() as work:
        s = build(work)
        s.argv = ["setpriv", "--no-new-privs", *s.argv]
        with s:
            m = s.client()
            call = m.start_call("echo__echo", {"text": "held"})
            hold = s.held()
            box = ["bwrap", "--bind", "/", "/", "--dev", "/dev", "--proc",
                   "/proc", "--die-with-parent"]
            for name, wrapper, why in (
                    ("a pid namespace", [*box, "--unshare-all"],
                     "in a pid namespace of its own"),
                    ("a user namespace", [*box, "--unshare-user"],
                     "in another user namespace")):
                r = run([*wrapper, *icctl_argv(s, "approve", hold["id"])], s)
                t.ok(r.returncode == 1 and why in r.stderr,
                     f"strict: an asker in {name}", r)
            t.ok(not call.done.is_set(), "strict: the call is still held")
            r = run(icctl_argv(s, "approve", hold["id"]), s,
                    preexec_fn=no_new_privs)
            t.equal((r.returncode, h.text_of(call.wait())), (0, "held"),
                    f"strict: its user may {r.stderr}")
            r = run(icctl_argv(s, "stop"), s, preexec_fn=no_new_privs)
            t.equal(r.returncode, 0, f"strict: and may stop it {r.stderr}")
            m.close()


def test_elsewhere():
    """A supervisor in a pid namespace, asked from outside it."""
    with h.workdir() as work:
        s = h.Session(work)
        s.argv = ["bwrap", "--dev-bind", "/", "/", "--unshare-pid", "--proc",
                  "/proc", "--die-with-parent", "--", *s.argv]
        with s:
            r = run(icctl_argv(s, "stop"), s)
            t.ok(r.returncode == 1 and "another pid namespace" in r.stderr,
                 "an asker outside of it is told why it may not", r)
            r = run(icctl_argv(s, "status"), s)
            t.equal(r.returncode, 0, "and is told the status")


def test_descendant():
    """Processes that the session started must not answer: a server without a
    sandbox, and an orphan of it."""
    with h.workdir() as work, build(
            work, helper=True, options=["--allow-unsandboxed", "helper"]) \
            as s:
        m = s.client()
        call = m.start_call("echo__echo", {"text": "held"})
        hold = s.held()
        for how in ("child", "orphan"):
            out = os.path.join(work, "out-" + how)
            with open(os.path.join(work, "order"), "w",
                      encoding="utf-8") as f:
                json.dump({"how": how, "out": out, "argv": icctl_argv(
                    s, "approve", hold["id"])}, f)
            os.rename(os.path.join(work, "order"),
                      os.path.join(work, "orders", "order"))
            h.wait_for(lambda: os.path.exists(out), f"no word of the {how}")
            with open(out, encoding="utf-8") as f:
                t.equal(json.load(f),
                        [1, "icctl: not permitted: the asker was started by "
                         "this session\n"], f"a server's {how}")
        t.ok(not call.done.is_set(), "the call is still held")
        s.icctl("approve", hold["id"], check=True)
        m.close()


def test_box():
    """The agent's own sandbox has no control socket, by any name."""
    with h.workdir() as work:
        s = build(work, runtime="bwrap", options=[
            "--", h.PYTHON, "-c", data.AGENT, os.path.join(work, "session")])
        with s:
            m = s.client()
            call = m.start_call("echo__echo", {"text": "held"})
            s.held()
            path = os.path.join(s.workspace, "report.json")
            report = h.wait_for(lambda: h.read_lines(path), "no report")[0]
            t.equal(report["found"], [], "no control.sock in the agent's box")
            t.ok("FileNotFoundError" in report["connect"],
                 "its path does not exist there", report)
            t.ok(len(report["sockets"]) == 3 and not call.done.is_set(),
                 "of sockets it has the three of the session", report["sockets"])
            m.close()


# ---- the digest ---------------------------------------------------------
def test_bound(s):
    m = s.client()
    calls = [m.start_call("echo__echo", {"text": f"call {i}"})
             for i in range(2)]
    h.wait_for(lambda: len(s.pending()) == 2, "two holds")
    holds = {json.loads(x["arguments"])["text"]: x for x in s.pending()}
    a, b = holds["call 0"], holds["call 1"]
    r = control(s, op="approve", id=a["id"], digest=b["digest"])
    t.equal((r["ok"], r.get("code")), (False, "changed"),
            "the digest of another call")
    r = s.icctl("deny", b["id"], "--because", "\x1b[2Jno")
    t.equal(r.returncode, 0, "deny")
    t.equal(h.text_of(calls[1].wait()), "ESCALATION DENIED: the user denied this "
            "call (A person decides)\n"
            "The user says: \\x1b[2Jno\nDo not retry unless the user asks you "
            "to.", "what the agent reads")
    t.ok(not calls[0].done.is_set(), "the other call waits")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda _: s.icctl("approve", a["id"]), range(8)))
    t.equal(sorted(r.returncode for r in done), [0] + [1] * 7,
            "of eight approvals at once one counts")
    late = {r.stderr.strip() for r in done if r.returncode}
    t.ok(all("too late" in x or "was approved already" in x for x in late),
         "the others are told", late)
    t.equal((h.text_of(calls[0].wait()), forwarded(s)), ("call 0", 1),
            "and it happened once")
    ends = [c["escalationResult"] for c in s.audit()
            if "escalationResult" in c]
    t.equal(sorted(ends), ["approved", "denied"], "the log has both")
    m.close()


def control(s, **request):
    import socket
    with socket.socket(socket.AF_UNIX) as sock:
        fd = os.open(s.dir, os.O_PATH)
        sock.connect(f"/proc/self/fd/{fd}/control.sock")
        os.close(fd)
        sock.settimeout(20)
        sock.sendall(json.dumps(request).encode() + b"\n")
        return json.loads(sock.makefile().readline())


def test_prefix(s):
    m = s.client()
    calls, first = [], {}
    for i in range(33):
        calls.append(m.start_call("echo__echo", {"text": str(i)}))
        holds = h.wait_for(lambda n=i: len(s.pending()) == n + 1 and
                           s.pending(), "a hold")
        letters = [x["id"][0] for x in holds]
        first = {x for x in letters if letters.count(x) > 1}
        if first:
            break
    r = s.icctl("approve", first.copy().pop())
    t.equal((r.returncode, r.stderr),
            (1, "icctl: several pending calls have ids that begin like that; give more of the "
             "id. See: icctl pending\n"), "a prefix of two calls")
    t.equal(len(s.pending()), len(calls), "nothing was approved by it")
    alone = [x["id"] for x in holds if x["id"][0] not in first]
    if alone:
        for op in ("deny", "approve"):
            r = s.icctl(op, alone[0][0])
            t.equal((r.returncode, r.stderr), (
                1, "icctl: give the whole id, so that no other call is "
                "answered by mistake. The pending call that begins like that "
                f"is {alone[0]}\n"), f"{op}: a prefix of one call")
            r = control(s, op=op, id=alone[0][0], digest="0" * 64)
            t.equal(r.get("code"), "whole-id", f"{op}: by the socket itself")
        t.equal(s.icctl("show", alone[0][0]).returncode, 0,
                "show takes a prefix")
    t.equal(s.icctl("approve", "").returncode, 1, "no prefix at all")
    for x in s.pending():
        s.icctl("deny", x["id"])
    for call in calls:
        call.wait()
    t.equal(forwarded(s), 0, "none was forwarded")
    m.close()


def test_two_sessions():
    with h.workdir() as work, build(work, "one") as a, \
            build(work, "two") as b:
        m = a.client()
        call = m.start_call("echo__echo", {"text": "held"})
        hold = a.held()
        r = b.icctl("approve", hold["id"])
        t.equal((r.returncode, r.stderr.startswith(
            "icctl: no pending call has this id")), (1, True),
            "another session does not know the call")
        r = run([h.program("icctl"), "approve", "zzzz"], a)
        ids = sorted([os.path.basename(x.dir) for x in (a, b)])
        t.equal((r.returncode, sorted(r.stderr.split("\n  ")[1:])[0][:3],
                 len(r.stderr.strip().splitlines())), (3, ids[0][:3], 3),
                "without --session two are listed")
        t.ok(not call.done.is_set(), "and the call waits")
        r = run([h.program("icctl"), "approve", hold["id"]], a)
        t.ok(r.returncode == 0 and not call.wait().get("isError"),
             "its id says which session is meant", r)
        m.close()


def test_deny_mode():
    with h.workdir() as work, build(work, options=["--escalations", "deny"]) \
            as s:
        m = s.client()
        text = h.text_of(m.call("echo__echo", {"text": "x"}))
        t.equal(text, "ESCALATION REQUIRED: A person decides. Action denied "
                "(no escalation handler).\nDo not retry: the answer will be "
                "the same.", "--escalations deny")
        t.equal((s.pending(), forwarded(s)), ([], 0), "nothing waits or went")
        line = s.events("call")[-1]
        t.equal(line["policyDecision"]["status"], "escalate",
                "the log says that it was to be escalated")
        m.close()


def events(lines, n, kind):
    """Returns the next n events of that kind; others may come in between."""
    found = []
    while len(found) < n:
        event = json.loads(lines(1)[0])
        if event["event"] == kind:
            found.append(event)
        elif event["event"] != "state":
            raise RuntimeError(f"not a {kind}: {event}")
    return found


def test_watch(s):
    """Tests the stream of `icctl --json watch`."""
    m = s.client()
    with watch(s, "--json") as lines:
        t.equal(json.loads(lines(1)[0])["holds"], [], "nothing waits at first")
        calls = [m.start_call("echo__echo", {"text": str(i)})
                 for i in range(3)]
        new = events(lines, 3, "hold")
        t.equal([x["event"] for x in new], ["hold"] * 3, "three holds")
        ids = [x["hold"]["id"] for x in new]
        t.ok(all(x["hold"]["digest"] and x["hold"]["expires_ms"] > 290000
                 for x in new), "whole ones", new)
        s.icctl("approve", ids[0], check=True)
        s.icctl("deny", ids[1], check=True)
        m.cancel(calls[2])
        ends = events(lines, 3, "holdEnd")
        t.equal([(x["event"], x["id"], x["state"]) for x in ends],
                [("holdEnd", i, how) for i, how in
                 zip(ids, ("approved", "denied", "cancelled"))],
                "and how each ended")
        m.close()
        s.icctl("stop", check=True)
        last = events(lines, 1, "end")[0]
        t.equal(last["event"], "end", "and the end of the session")
        t.contains(last["why"], "icctl", "with its reason")


@contextlib.contextmanager
def watch(s, *options):
    """Yields a function that returns the next n lines of `icctl watch`."""
    p = subprocess.Popen([h.program("icctl"), *options, "--session", s.dir,
                          "watch"], env=s.env, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE)
    try:
        yield lambda n: [p.stdout.readline().decode("ascii")
                         for _ in range(n)]
    finally:
        p.kill()
        p.wait()
        p.stdout.close()


# ---- texts shown ---------------------------------------------------------
def printable(out, name):
    bad = sorted({b for b in out if b != 0x0a and not 0x20 <= b <= 0x7e})
    return t.ok(not bad and out, f"{name}: printable ASCII",
                f"{bad} in {out[:300]!r}")


def visible(out, name):
    """Allows letters of any language, and nothing that moves, hides or
    reorders text."""
    bad = sorted({c for c in out.decode("utf-8", "surrogateescape")
                  if c != "\n" and not c.isascii() and
                  unicodedata.category(c)[0] not in "LMNP" or
                  c.isascii() and c != "\n" and not c.isprintable()})
    return t.ok(not bad and out, f"{name}: nothing but letters",
                f"{bad} in {out[:300]!r}")


def shown(s, *args):
    return subprocess.run(icctl_argv(s, *args), env=s.env, timeout=20,
                          capture_output=True, check=True).stdout


def show_one(s, m, name, text):
    call = m.start_call("echo__echo", {"text": text})
    hold = s.held()
    t.equal(json.loads(hold["arguments"])["text"]
            if not hold.get("cut") else text, text,
            f"{name}: the arguments as JSON")
    for args in (["show", hold["id"]], ["pending"], ["status"],
                 ["--json", "show", hold["id"]],
                 ["--json", "pending"], ["--json", "status"]):
        (printable if args[0] == "--json" else visible)(
            shown(s, *args), f"{name}: {' '.join(args[:2])}")
    out = shown(s, "show", hold["id"])
    t.ok(len(out) < 8192 and out.count(b"\n") < 16,
         f"{name}: no more than a screen", len(out))
    whole = json.loads(shown(s, "--json", "show", hold["id"]))
    t.equal(json.loads(whole["hold"]["arguments"])["text"] == text,
            True, f"{name}: whole with --json")
    visible(shown(s, "deny", hold["id"]), f"{name}: deny")
    call.wait()


def test_shown(s):
    m = s.client()
    names = [x["name"] for x in m.list_tools()]
    t.ok("echo__echo" in names and not any("\x1b" in x for x in names),
         "a tool whose name is an escape is not listed", names)
    path = os.path.join(s.work, "watched")
    with open(path, "wb") as out:
        watcher = subprocess.Popen(icctl_argv(s, "watch"), env=s.env,
                                   stdin=subprocess.DEVNULL, stdout=out)
    h.wait_for(lambda: os.path.getsize(path), "icctl watch says nothing")
    for name, text in data.TEXTS:
        with t.case(name):
            show_one(s, m, name, text)
    s.icctl("stop", check=True)
    watcher.wait(20)
    with open(path, "rb") as f:
        out = f.read()
    visible(out, "icctl watch")
    t.equal(out.count(b"\n  arguments\n"), len(data.TEXTS),
            "which showed every call")
    m.close()
    with open(os.path.join(s.work, "stderr"), "rb") as f:
        printable(f.read() or b"-", "what icsupervisor wrote")
    with open(os.path.join(s.dir, "session.log"), "rb") as f:
        printable(f.read(), "session.log")


def test_keys(s):
    m = s.client()
    w = Terminal(icctl_argv(s, "watch", "--plain"), s.env)
    w.until(rb"no pending calls")
    calls = [m.start_call("echo__echo", {"text": data.EVIL}),
             m.start_call("echo__echo", {"text": "second"})]
    out = w.until(rb"\(2 pending\)")
    visible(out, "icctl watch on a terminal")
    # The first call ends just before its key is pressed.
    m.cancel(calls[0])
    out = w.until(rb"cancelled\r?\n[^\0]*\(1 pending\)")
    w.key(b"a")
    w.until(rb"check it, then press the key again[^\0]*pending\)")
    t.ok(not calls[1].done.is_set(),
         "a key for a call that has just gone approves no other")
    w.approve(out.decode())
    out = w.until(rb"approved")
    t.equal(h.text_of(calls[1].wait()), "second", "a approves")
    call = m.start_call("echo__echo", {"text": "third"})
    w.until(rb"\(1 pending\)")
    w.deny()
    w.until(rb"denied")
    t.contains(h.text_of(call.wait()), "ESCALATION DENIED", "d denies")
    w.key(b"x")
    w.until(rb"a: approve, or answer a question, s: approve for the session")
    w.key(b"q")
    t.equal(w.end(), 0, "q quits")
    m.close()


def in_session(part):
    def run_it():
        with h.workdir() as work, build(work) as s:
            part(s)
    return run_it


PARTS = {
    "who": in_session(test_who),
    "strict": test_strict,
    "elsewhere": test_elsewhere,
    "descendant": test_descendant,
    "box": test_box,
    "bound": in_session(test_bound),
    "prefix": in_session(test_prefix),
    "sessions": test_two_sessions,
    "deny": test_deny_mode,
    "watch": in_session(test_watch),
    "shown": in_session(test_shown),
    "keys": in_session(test_keys),
}


def main():
    for name in sys.argv[1:] or PARTS:
        with t.case(name):
            PARTS[name]()
    t.done()


if __name__ == "__main__":
    main()
