#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The page of `icctl web`, as browsers and others ask for it: who gets an
answer, links and logins, what the page shows, and answers to calls."""
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import webpage  # noqa: E402

t = h.Tap()
RULES = [h.rule("ask", "escalate", "A person decides.",
                tool=["echo", "lookup"]),
         h.rule("let", "allow", tool=["env"])]


def session(work, name):
    log = os.path.join(work, "log", "log.jsonl")
    s = h.Session(work, {"echo": h.echo_server(log)}, RULES,
                  {"echo": h.ECHO_TOOLS},
                  session_dir=os.path.join(work, "home", "sessions", name))
    return s


def test_files(p):
    status, heads, data = p.raw("GET", "/")
    t.equal((status, b"<!doctype html>" in data), (200, True), "the page")
    policy = heads["Content-Security-Policy"]
    for part in ("default-src 'none'", "script-src 'self'",
                 "frame-ancestors 'none'", "form-action 'none'",
                 "require-trusted-types-for 'script'"):
        t.contains(policy, part, f"its policy has {part}")
    for name, value in (("X-Content-Type-Options", "nosniff"),
                        ("Cache-Control", "no-store"),
                        ("Referrer-Policy", "no-referrer"),
                        ("Cross-Origin-Resource-Policy", "same-origin"),
                        ("Set-Cookie", None),
                        ("Access-Control-Allow-Origin", None)):
        t.equal(heads[name], value, f"{name} is {value}")
    for path in ("/page.js", "/page.css", "/icon.svg"):
        t.equal(p.raw("GET", path)[0], 200, path)
    for method, path, want in (("GET", "/nothing", 404),
                               ("GET", "/api/state", 405),
                               ("POST", "/", 405), ("OPTIONS", "/", 405),
                               ("OPTIONS", "/api/answer", 405),
                               ("GET", "/../etc/passwd", 404)):
        t.equal(p.raw(method, path)[0], want, f"{method} {path}: {want}")


def test_strangers(p):
    port = p.address.split(":")[1]
    for host in ("evil.example:" + port, "127.0.0.1", "127.0.0.1:1",
                 "localhost.evil.example:" + port, "", None):
        t.ok(p.raw("GET", "/", Host=host)[0] in (400, 421),
             f"no page for the host {host!r}")
    t.equal(p.raw("GET", "/", Host="localhost:" + port)[0], 200,
            "localhost is a name of it")
    for site in ("same-site", "cross-site", "anything"):
        t.equal(p.raw("GET", "/", Sec_Fetch_Site=site)[0], 403,
                f"no page for {site}")
    for heads, want in (
            ({"Origin": None}, 403), ({"Origin": "null"}, 403),
            ({"Origin": "http://127.0.0.1:1"}, 403),
            ({"Origin": "http://localhost:" + port}, 403),
            ({"Origin": "https://" + p.address}, 403),
            ({"Sec_Fetch_Site": "same-site"}, 403),
            ({"Sec_Fetch_Site": "none"}, 403),
            ({"Content_Type": "text/plain"}, 415),
            ({"Content_Type": None}, 415),
            ({"X_IronCurtain": None}, 401),
            ({"X_IronCurtain": "00" * 32}, 401),
            ({"X_IronCurtain": "zz" * 32}, 401)):
        t.equal(p.ask("/api/state", {}, **heads)[0], want,
                f"{heads}: {want}")
    with socket.create_connection(p.address.split(":")) as s:
        s.sendall(f"GET / HTTP/1.1\r\nHost: {p.address}\r\n"
                  "Host: evil.example\r\n\r\n".encode())
        t.contains(s.recv(4096).decode(), " 400 ", "two hosts are no host")


def test_bodies(p):
    for body, want in ((b"", 400), (b"[]", 400), (b"{", 400),
                       (b'{"since":-1}', 400), (b'{"since":1e3}', 400),
                       (b'{"what":1}', 400), (b'{"page":"1"}', 400),
                       (b'{"session":"' + b"x" * 161 + b'"}', 400),
                       (b'{"since":1,"since":1}', 400),
                       (b'{"verdict":"both"}', 400),
                       (b'{"secret":"' + b"00" * 32 + b'"}', 400),
                       (b'{"text":"a\\u0000b"}', 400),
                       (b'{"text":"' + b"x" * 20000 + b'"}', 413)):
        status, _, data = p.raw(
            "POST", "/api/state", body, Origin=f"http://{p.address}",
            Content_Type="application/json", X_IronCurtain=p.token)
        t.ok(status == want and b'"error":"' in data,
             f"{body[:24]}: {want}", (status, data))


def test_login(p):
    status, o = p.ask("/api/login", {"secret": "00" * 32})
    t.equal(status, 401, "a wrong secret")
    t.contains(o["error"], "icctl web", "the refusal says what helps")
    t.equal(p.login()[0], 200, "the link logs in")
    t.equal(p.ask("/api/state", {"page": 9})[0], 200, "the token is good")
    token = p.token
    t.equal(p.login()[0], 401, "the link is good once")
    p.token = token
    with open(f"/proc/{p.process.p.pid}/cmdline", "rb") as f:
        t.ok(p.link.split("=")[1].encode() not in f.read(),
             "the secret is in no command line")
    status, out, _ = p.run()
    t.equal(status, 0, "another icctl web gets a link")
    second = webpage.Page.__new__(webpage.Page)
    second.__dict__.update(p.__dict__)
    t.equal(second.login(out.strip().split('"')[-1])[0], 200,
            "it logs another browser in")
    r = subprocess.run(["setpriv", "--no-new-privs", h.program("icctl"),
                        "web"], env=p.env, capture_output=True, text=True,
                       timeout=30, check=False)
    t.ok(r.returncode == 1 and "no_new_privs" in r.stderr and not r.stdout,
         "a process that may not answer calls gets no link", r)
    return second


def call_of(p, s, what="a call"):
    name = os.path.basename(s.dir)
    state = p.until(lambda o: any(x["calls"] for x in o["sessions"]), what,
                    name)
    row = next(x for x in state["sessions"] if x["calls"])
    return row["id"], row["calls"][0]["id"]


def shown(p, sid, call):
    """Asks for the call until all of it is there."""
    def whole():
        status, o = p.ask("/api/call", {"session": sid, "call": call})
        return o if status == 200 else None
    return h.wait_for(whole, "the call")


def answer(p, o, verdict, **more):
    return p.ask("/api/answer", {"session": o["session"], "call": o["call"],
                                 "digest": o["digest"], "verdict": verdict,
                                 **more})


def test_answers(p, second, s, agent):
    first = agent.start_call("echo__echo", {"text": "red\x1b[31m\u202e<b>"})
    sid, call = call_of(p, s)
    t.equal(answer(p, {"session": sid, "call": call, "digest": "0" * 64},
                   "approve")[0], 409, "an unseen call is not approved")
    o = shown(p, sid, call)
    t.ok("\\x1b[31m\\u{202e}<b>" in o["text"]
         and "A person decides." in o["text"] and o["whole"],
         "the page gets it whole, and harmless", o)
    status, r = answer(p, o, "approve")
    t.ok(status == 409 and "just appeared" in r["error"],
         "it must have been shown for a second", r)
    time.sleep(1.1)     # the time is the test
    status, r = answer(p, {**o, "digest": "0" * 64}, "approve")
    t.ok(status == 409 and "changed" in r["error"],
         "with the digest of what was shown", r)
    status, r = answer(second, o, "approve")
    t.ok(status == 409 and "not shown" in r["error"],
         "another login has not seen it", r)
    t.equal(answer(p, o, "approve")[0], 200, "it is approved")
    r = first.wait()
    t.ok("red" in h.text_of(r) and not r.get("isError"), "and made", r)
    status, r = answer(p, o, "approve")
    t.ok(status in (404, 409), "it is answered once", (status, r))


def test_two_answer(p, second, s, agent):
    waits = agent.start_call("echo__echo", {"text": "two"})
    sid, call = call_of(p, s)
    one, two = shown(p, sid, call), shown(second, sid, call)
    time.sleep(1.1)     # the time is the test
    t.equal(answer(second, two, "deny", text="not <this> one")[0], 200,
            "one page denies it, with a reason")
    r = waits.wait()
    t.ok(r.get("isError") and "not <this> one" in h.text_of(r),
         "the agent gets the reason", r)
    status, r = answer(p, one, "approve")
    t.ok(status in (404, 409) and r.get("error"), "the other is told", r)


def test_grants(p, s, agent):
    waits = agent.start_call("echo__echo", {"text": "again"})
    sid, call = call_of(p, s)
    o = shown(p, sid, call)
    t.ok(o["grant"], "it can be allowed for the session", o)
    time.sleep(1.1)     # the time is the test
    t.equal(answer(p, o, "session", grant="0" * 64)[0], 409,
            "what is granted was shown, too")
    t.equal(answer(p, o, "session", grant=o["grant"])[0], 200, "it is")
    t.ok(not waits.wait().get("isError"), "the call is made")
    r = agent.call("echo__echo", {"text": "again"})
    t.ok(not r.get("isError"), "and the next one like it", r)
    state = p.until(lambda o: o.get("chosen", {}).get("grants"), "a grant",
                    sid)
    grant = state["chosen"]["grants"][0]
    t.equal(p.ask("/api/revoke", {"session": sid, "call": grant["id"]})[0],
            200, "it is taken back")
    waits = agent.start_call("echo__echo", {"text": "again"})
    sid, call = call_of(p, s)
    o = shown(p, sid, call)
    time.sleep(1.1)     # the time is the test
    t.equal(answer(p, o, "deny")[0], 200, "the next one waits again")
    waits.wait()


def always(p, o, **more):
    return p.ask("/api/always", {"session": o["session"], "call": o["call"],
                                 "digest": o["digest"], **more})


def test_always(p, second, s, agent):
    """A call becomes a rule: shown first, and added on a second yes."""
    path = h.put(os.path.join(s.workspace, "one"), "")
    waits = agent.start_call("echo__lookup", {"path": path})
    sid, call = call_of(p, s)
    status, r = always(p, {"session": sid, "call": call, "digest": "0" * 64})
    t.equal(status, 409, "an unseen call makes no rule")
    o = shown(p, sid, call)
    t.equal(always(p, o)[0], 409, "nor does one that has just appeared")
    time.sleep(1.1)     # the time is the test
    t.equal(always(p, o, grant="0" * 64)[0], 409,
            "no rule is added that was not shown")
    status, rule = always(p, o)
    t.ok(status == 200 and "/workspace/one" in rule.get("text", "")
         and rule["policy"].endswith("compiled-policy.json"),
         "the rule is shown, and its place", (status, rule))
    t.equal(len(rules_of(s)), 1 + 1, "and not added yet")
    status, r = always(p, o, grant=rule["rule"])
    t.ok(status == 409 and "for a second" in r["error"],
         "not before it was shown for a second", r)
    time.sleep(1.1)     # the time is the test
    shown(second, sid, call)
    time.sleep(1.1)     # the time is the test
    status, r = always(second, o, grant=rule["rule"])
    t.equal(status, 409, "and not for another login")
    changed = rules_of(s)
    with open(policy_of(s), "r+", encoding="utf-8") as f:
        old = f.read()
        f.seek(0)
        f.write(old.replace("decides.", "chooses."))
    status, r = always(p, o, grant=rule["rule"])
    t.ok(status == 409 and "another one now" in r["error"]
         and len(s.pending()) == 1,
         "a policy that was changed meanwhile is looked at again", r)
    with open(policy_of(s), "w", encoding="utf-8") as f:
        f.write(old)
    status, r = always(p, o, grant=rule["rule"])
    t.equal(status, 200, f"then it is added: {r}")
    t.ok(not waits.wait().get("isError"), "and the call is made")
    t.equal(len(rules_of(s)), len(changed) + 1, "the policy has it")
    t.ok(not agent.call("echo__lookup", {"path": path}).get("isError")
         and not s.pending(), "the next one like it is not asked about")
    # A call that was denied in this session makes no rule.
    other = h.put(os.path.join(s.workspace, "other"), "")
    for last in (False, True):
        waits = agent.start_call("echo__lookup", {"path": other})
        sid, call = call_of(p, s)
        o = shown(p, sid, call)
        time.sleep(1.1)     # the time is the test
        if last:
            status, r = always(p, o)
            t.ok(status == 409 and "no rule is added" in r["error"],
                 "the page is told why there is no rule", r)
        answer(p, o, "deny")
        waits.wait()
    t.ok("icctl" not in children(p), "no process is left")


def policy_of(s):
    return os.path.join(s.home, "policy", "compiled-policy.json")


def rules_of(s):
    with open(policy_of(s), encoding="utf-8") as f:
        return json.load(f)["rules"]


def children(p):
    pid = p.process.p.pid
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [comm(x) for x in f.read().split()]


def comm(pid):
    with open(f"/proc/{pid}/comm", encoding="ascii") as f:
        return f.read().strip()


def test_shown(p, s):
    sid = os.path.basename(s.dir)
    state = p.state(session=sid)
    t.ok(state["chosen"]["id"] == sid and state["chosen"]["items"],
         "the chosen session has its activity", state["chosen"])
    t.ok(any("echo" in i["text"] for i in state["chosen"]["items"]),
         "with the calls")
    status, o = p.ask("/api/audit", {"session": sid, "text": "NOT <this>"})
    t.ok(status == 200 and o["records"]
         and all("not <this>" in r["text"].lower() for r in o["records"]),
         "the log is searched, whatever the case", o)
    t.equal(p.ask("/api/audit", {"session": sid, "text": "nowhere-at-all"})
            [1]["records"], [], "without a record that lacks the text")
    status, o = p.ask("/api/policy", {"session": sid})
    t.ok(status == 200 and '"ask"' in o["text"] and o["rules"] == 3,
         "the policy in force", o)
    for path in ("/api/audit", "/api/policy", "/api/call", "/api/revoke",
                 "/api/always"):
        t.equal(p.ask(path, {"session": "../../etc"})[0], 404,
                f"{path}: only sessions that are known")
    begun = time.monotonic()
    state = p.state(state["rev"], sid, page=77)
    t.ok(time.monotonic() - begun < 35, "a page that waits is answered")


def webd(p):
    """Returns icwebd's pid."""
    with open(f"/proc/{p.process.p.pid}/task/{p.process.p.pid}/children",
              encoding="ascii") as f:
        return int(f.read().split()[0])


def test_icwebd(p):
    pid = webd(p)
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        status = f.read()
    if not h.sanitized():
        t.contains(status, "Seccomp:\t2", "icwebd has a filter")
    t.contains(status, "NoNewPrivs:\t1", "and no new privileges")
    idle = [socket.create_connection(p.address.split(":"))
            for _ in range(100)]
    for s in idle[:50]:
        s.sendall(b"GET / HTTP/1.1\r\nHost: x")
    for s in idle:
        s.close()
    # More than it takes are closed, and a browser tries again.
    t.equal(h.wait_for(lambda: tries(p), "an answer"), 200,
            "a hundred connections that say little leave it well")
    os.kill(pid, signal.SIGKILL)
    h.wait_for(lambda: webd_is_new(p, pid), "a new icwebd")
    status = h.wait_for(lambda: tries(p), "an answer")
    t.equal(status, 200, "it is started again, and the login is kept")


def webd_is_new(p, old):
    try:
        return webd(p) != old
    except (IndexError, OSError):
        return False


def tries(p):
    try:
        return p.ask("/api/state", {"page": 6})[0]
    except OSError:
        return None


def test_end(p, second, s):
    sid = os.path.basename(s.dir)
    s.stop()
    state = p.until(lambda o: all(x["is"] == "over" for x in o["sessions"]),
                    "the end of the session")
    t.equal([x["id"] for x in state["sessions"]], [sid],
            "a session that has ended stays on the page")
    t.equal(second.ask("/api/logout")[0], 200, "one login ends")
    t.equal(second.ask("/api/state")[0], 401, "and is no longer good")
    t.equal(p.ask("/api/state")[0], 200, "the other is")
    t.equal(p.run("--logout")[0], 0, "icctl web --logout")
    t.equal(p.ask("/api/state")[0], 401, "ends all of them")
    t.equal(p.stop()[0], 0, "icctl web --stop")
    t.equal(p.process.p.returncode, 0, "ends the page")
    t.equal(os.listdir(os.path.join(p.home, "web")), [], "nothing is left")
    status, _, err = p.run("--stop")
    t.ok(status == 3 and "no page" in err, "and then none runs", err)


def test_death(work):
    """A session whose icsupervisor is killed while a call waits."""
    with session(work, "two") as s:
        agent = s.client()
        p = webpage.Page(os.path.join(work, "home"))
        p.login()
        agent.start_call("echo__echo", {"text": "nobody answers"})
        sid, call = call_of(p, s)
        o = shown(p, sid, call)
        os.kill(s.pid, signal.SIGKILL)
        s.wait()
        state = p.until(lambda o: all(x["is"] == "over" for x in o["sessions"]),
                        "the death of the session")
        row = next(x for x in state["sessions"] if x["id"] == sid)
        t.equal((row["state"], row["calls"]), ("crashed", []),
                "a session that was killed has crashed")
        t.contains(row["why"], f"icctl resume {sid}", "and says how to go on")
        status, r = answer(p, o, "approve")
        t.ok(status == 409 and "died" in r["error"] and
             f"icctl resume {sid}" in r["error"],
             "so does an answer to its call", (status, r))
        p.stop()


def test_socket(work):
    home = os.path.join(work, "home")
    path = os.path.join(work, "page.sock")
    p = webpage.Page(home, "--socket", path, "--host", "localhost:8080")
    t.equal(os.stat(path).st_mode & 0o777, 0o600, "a Unix socket is private")
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    s.sendall(b"GET / HTTP/1.1\r\nHost: localhost:8080\r\n"
              b"Connection: close\r\n\r\n")
    data = b"".join(iter(lambda: s.recv(65536), b""))
    s.close()
    t.contains(data.decode(), "<!doctype html>", "and serves the page")
    t.equal(p.url, "http://localhost:8080/", "under the name that was given")
    p.stop()
    t.ok(not os.path.exists(path), "its socket is removed")
    for args, want in ((("--socket", "x"), "--host"),
                       (("--port", "0"), "--port"),
                       (("--port", "x"), "--port"),
                       (("--host", "a b"), "--host"), (("--what",), "--what")):
        status, _, err = p.run(*args)
        t.ok(status == 64 and want in err, f"{args}: usage", err)


def loopback():
    """Sets the loopback interface of this network namespace up, with ::1 and
    without 127.0.0.1."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        up = struct.pack("16sH14x", b"lo", 0x49)    # IFF_UP, LOOPBACK, RUNNING
        fcntl.ioctl(s, 0x8914, up)                  # SIOCSIFFLAGS
        none = struct.pack("16sHH4s8x", b"lo", socket.AF_INET, 0, bytes(4))
        fcntl.ioctl(s, 0x8916, none)                # SIOCSIFADDR


def only_ipv6(home):
    """Run in a network namespace of its own."""
    loopback()
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        t.skip("only ::1", "no IPv6 here")
        t.done()
    p = webpage.Page(home)
    t.ok(p.url.startswith("http://[::1]:"), "only ::1: the link says so", p.url)
    t.contains(p.raw("GET", "/")[2].decode(), "<!doctype html>",
               "only ::1: the page")
    t.equal(p.raw("GET", "/", Host="127.0.0.1:" + p.address.split(":")[-1])[0],
            421, "only ::1: another name gets no page")
    p.login()
    t.equal(p.ask("/api/state", {"since": 0, "session": "", "page": 1})[0],
            200, "only ::1: a login works")
    p.stop()
    t.done()


def test_only_ipv6(work):
    """The page listens on ::1 if there is no 127.0.0.1."""
    home = os.path.join(work, "home-ipv6")
    os.mkdir(home, 0o700)
    r = subprocess.run(
        ["unshare", "-Un", "--map-current-user", "--keep-caps", "--",
         sys.executable, os.path.abspath(__file__), "only-ipv6", home],
        capture_output=True, text=True, timeout=120 * h.PATIENCE, check=False)
    if "unshare" in r.stderr:
        t.skip("only ::1", r.stderr.strip())
        return
    t.ok(r.returncode == 0, "only ::1: the page works there",
         r.stdout + r.stderr)


def main():
    if sys.argv[1:2] == ["only-ipv6"]:
        only_ipv6(sys.argv[2])
        return
    with h.workdir() as work:
        with session(work, "one") as s:
            agent = s.client()
            p = webpage.Page(os.path.join(work, "home"))
            test_files(p)
            second = test_login(p)
            test_strangers(p)
            test_bodies(p)
            test_answers(p, second, s, agent)
            test_two_answer(p, second, s, agent)
            test_grants(p, s, agent)
            test_always(p, second, s, agent)
            test_shown(p, s)
            test_icwebd(p)
            test_end(p, second, s)
        test_death(work)
        test_socket(work)
        test_only_ipv6(work)
    t.done()


main()
