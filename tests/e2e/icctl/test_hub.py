#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""`icctl hub`: real sessions behind real relays on one screen, answers with the
digest that was shown, and relays that lie, hang, flood and die."""
import json
import os
import queue
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import tmux  # noqa: E402
from test_overview import RULES, chosen, joined, twice  # noqa: E402

t = h.Tap()
ICCTL = h.program("icctl")
HELLO = '{"relay":1,"host":"x","boot":"","user":"x","version":"0"}'


def session(work, name, **kw):
    """A session in a home of its own, as on another machine."""
    place = os.path.join(work, name)
    os.makedirs(place, mode=0o700)
    log = os.path.join(place, "log", "log.jsonl")
    return h.Session(place, {"echo": h.echo_server(log)}, RULES,
                     {"echo": h.ECHO_TOOLS},
                     session_dir=os.path.join(place, "home", "sessions", name),
                     **kw)


def relay_of(s):
    return ["/usr/bin/env", "IRONCURTAIN_HOME=" + s.home, ICCTL, "relay"]


def hub_file(work, relays, **more):
    path = os.path.join(work, "hub.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"relays": [x if isinstance(x, dict) else
                              {"name": x[0], "command": x[1]}
                              for x in relays], **more}, f)
    os.chmod(path, 0o600)
    return path


def env_of(work):
    home = os.path.join(work, "person")
    os.makedirs(home, mode=0o700, exist_ok=True)
    return {"PATH": "/usr/bin:/bin", "HOME": home, "LANG": "C.UTF-8",
            "IRONCURTAIN_HOME": os.path.join(home, ".ironcurtain")}


class Hub:
    """`icctl --json hub FILE`."""

    def __init__(self, work, path):
        self.p = subprocess.Popen(
            [ICCTL, "--json", "hub", path], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=env_of(work))
        self.lines = queue.Queue()
        self.holds = {}    # (session, id) -> pending call
        self.rows = {}     # session -> row
        self.replies = {}  # number -> reply
        self.n = 0
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.p.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def take(self, timeout):
        o = self.lines.get(timeout=timeout)
        if o is None:
            raise RuntimeError("the hub has ended: " + self.p.stderr.read())
        s = o.get("session")
        if "hold" in o:
            self.holds[s, o["hold"]["id"]] = o["hold"]
        elif "holdEnd" in o:
            self.holds.pop((s, o["holdEnd"]), None)
        elif "is" in o:
            self.rows[s] = o
        elif o.get("gone"):
            self.rows.pop(s, None)
            self.holds = {k: v for k, v in self.holds.items() if k[0] != s}
        elif "reply" in o:
            self.replies[o["reply"]] = o
        return o

    def until(self, what, predicate, timeout=20):
        def met():
            while not predicate():
                try:
                    self.take(0.05)
                except queue.Empty:
                    return False
            return True
        h.wait_for(met, what, timeout)

    def ask(self, op, s, **more):
        self.n += 1
        self.p.stdin.write(json.dumps({"n": self.n, "op": op, "session": s,
                                       **more}) + "\n")
        self.p.stdin.flush()
        return self.n

    def reply(self, n, timeout=20):
        self.until("a reply", lambda: n in self.replies, timeout)
        return self.replies[n]

    def held(self, s):
        self.until(f"no call of {s}",
                   lambda: any(k[0] == s for k in self.holds))
        return next(v for k, v in self.holds.items() if k[0] == s)

    def end(self):
        self.p.stdin.close()
        code = self.p.wait(20)
        self.reader.join()
        self.p.stdout.close()
        self.p.stderr.close()
        return code


def test_answers(work, one, two):
    """Two machines, one list; each answer goes to the session it is for."""
    a, b = one.client(), two.client()
    hub = Hub(work, hub_file(work, [("red", relay_of(one)),
                                    ("blue", relay_of(two))]))
    hub.until("both", lambda: {"red/one", "blue/two"} <= set(hub.rows))
    first = a.start_call("echo__echo", {"text": "of one"})
    second = b.start_call("echo__echo", {"text": "of two"})
    x, y = hub.held("red/one"), hub.held("blue/two")
    t.equal((x["digest"], "of one" in x["arguments"]),
            (one.held()["digest"], True), "the hub shows what the session has")
    r = hub.reply(hub.ask("approve", "red/one", id=x["id"],
                          digest=y["digest"]))
    t.equal((r["ok"], r.get("code")), (False, "changed"),
            "an answer with another call's digest is refused")
    r = hub.reply(hub.ask("approve", "red/one", id=x["id"]))
    t.equal((r["ok"], r.get("code")), (False, "bad-request"),
            "and one without a digest")
    r = hub.reply(hub.ask("approve", "blue/one", id=x["id"],
                          digest=x["digest"]))
    t.equal((r["ok"], r.get("code")), (False, "not-found"),
            "and one for a session that this machine does not have")
    r = hub.reply(hub.ask("approve", "red/one", id=x["id"],
                          digest=x["digest"]))
    t.ok(r["ok"] and "of one" in h.text_of(first.wait()),
         "one with the digest that was shown approves the call", r)
    r = hub.reply(hub.ask("approve", "red/one", id=x["id"],
                          digest=x["digest"]))
    t.equal(r["ok"], False, "and does so once")
    r = hub.reply(hub.ask("deny", "blue/two", id=y["id"], digest=y["digest"],
                          because="not there"))
    answer = second.wait()
    t.ok(r["ok"] and answer.get("isError") and
         "not there" in h.text_of(answer), "a denial has its reason", answer)
    record = one.audit("verdict")[-1]
    t.ok("@" in record.get("claimedBy", "") and
         record["digest"] == x["digest"],
         "the log says who claims to have answered", record)
    hub.until("no calls", lambda: not hub.holds)
    t.equal(hub.end(), 0, "it ends with its input")
    r = one.icctl("--json", "audit", "search", "--event", "verdict")
    t.ok(record["claimedBy"] in r.stdout, "icctl audit shows it", r.stdout)


SEAT = {"message": "Which seat?", "requestedSchema": {
    "type": "object", "required": ["seat"],
    "properties": {"seat": {"type": "string"}}}}


def test_question(work):
    """A server's question is answered through the hub, too."""
    place = os.path.join(work, "asking")
    log = os.path.join(place, "log", "asks.log")
    os.makedirs(os.path.dirname(log), mode=0o700)
    server = {"command": h.PYTHON, "args": [
        os.path.join(h.STANDINS, "mcp_asks.py"), log],
        "sandbox": {"filesystem": {"allowRead": [h.STANDINS],
                                   "allowWrite": [os.path.dirname(log)]}}}
    with h.Session(place, {"asks": server},
                   config={"policy": {"trustedServers": ["asks"]}},
                   session_dir=os.path.join(place, "home", "sessions",
                                            "asking")) as s:
        hub = Hub(work, hub_file(work, [("red", relay_of(s))]))
        call = s.client().start_call("asks__ask", {"ask": [SEAT]})
        hold = hub.held("red/asking")
        r = hub.reply(hub.ask("approve", "red/asking", id=hold["id"],
                              digest=hold["digest"],
                              answer='{"seat":"aisle"}'))
        t.ok(r["ok"], "a question is answered through the hub", r)
        if r["ok"]:
            t.equal(json.loads(h.text_of(call.wait())),
                    [{"action": "accept", "content": {"seat": "aisle"}}],
                    "and the server gets the answer")
        hub.end()


def test_screen(work, one, two):
    """The same on the screen of a person."""
    path = hub_file(work, [("red", relay_of(one)), ("blue", relay_of(two))])
    a = one.client()
    term = tmux.Tmux(work, env_of(work), rows=24, cols=100)
    term.text(f"{ICCTL} hub {path}")
    term.keys("Enter")
    term.until("2 sessions   0 waiting")
    call = a.start_call("echo__echo", {"text": "shown"})
    term.until("1 waiting")
    term.until("A person decides.")
    screen = term.screen()
    t.ok(any("red/" in x for x in screen), "rows name their machine",
         joined(screen))
    shown = chosen(screen)
    twice(term, "a", f"press {shown[0]} to approve", shown[0])
    t.ok("shown" in h.text_of(call.wait()), "two keys approve it there")
    term.until("0 waiting")
    term.text("q")
    term.until(tmux.PROMPT)
    term.end()


def fake(work, name, body):
    """A relay that is none of ours; what it is asked goes to a file."""
    path = os.path.join(work, name + ".py")
    h.put(path, f"""import json, sys, threading, time
def say(o):
    sys.stdout.write((o if isinstance(o, str) else json.dumps(o)) + "\\n")
    sys.stdout.flush()
def asked():
    with open({path + '.asked'!r}, "a") as f:
        for line in sys.stdin:
            f.write(line)
            f.flush()
            if "alive" in line:
                say({{"alive": True}})
say('{HELLO}')
{body}
""")
    return [h.PYTHON, path]


def running(work):
    """Returns the programs of this test's relays that run."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                line = f.read().decode(errors="replace")
        except OSError:
            continue
        if work in line and any(f"/{x}.py" in line for x in (
                "liar", "hang", "flood", "heavy", "eager", "noise")):
            found.append(line)
    return found


def row(name):
    return (f"say({{'session': '{name}', 'is': 'runs', 'agent': 'x', "
            "'workspace': '/etc', 'policy': '/etc/passwd'})\n")


def test_hostile(work, one, two):
    """Nine relays, of which one lies, one hangs, one floods, one is large and
    one dies; the others are as if they were alone."""
    a = one.client()
    first = a.start_call("echo__echo", {"text": "true"})
    real = one.held()
    lie = dict(real, id="k3k3", effect="read a file")
    noise = h.put(os.path.join(work, "noise.py"),
                  "import time\ntime.sleep(600)\n")
    relays = [
        ("red", relay_of(one)), ("blue", relay_of(two)),
        # The name and the call of another machine's session.
        ("liar", fake(work, "liar", row("one") + row("red/one")
                      + f"say({{'session': 'one', 'hold': {real!r}}})\n"
                      + f"say({{'session': 'one', 'hold': {lie!r}}})\n"
                      + "asked()\n")),
        ("hang", fake(work, "hang", row("one") + "time.sleep(600)\n")),
        ("flood", fake(
            work, "flood", row("one") + "item = json.dumps({'session': 'one', "
            "'item': {'kind': 0, 'us': 1, 'text': 'x' * 150}})\n"
            "while True:\n    say(item)\n    "
            "sys.stderr.write('y' * 9000 + '\\n')\n")),
        ("dies", ["/bin/sh", "-c", "echo 'not today' >&2; exit 3"]),
        # 270 KB of a state that would be 70 MB of objects here.
        ("heavy", fake(work, "heavy", row("one")
                       + "say({'session': 'one', 'status': {'ok': True, "
                       "'x': [{}] * 90000}})\n"
                       + row("two")
                       + f"say({{'session': 'two', 'hold': {lie!r}}})\n"
                       + "asked()\n")),
        # It answers what nobody asked.
        ("eager", fake(work, "eager", row("one") + "time.sleep(0.5)\n"
                       + "\n".join(f"say({{'reply': {n}, 'ok': True}})"
                                   for n in range(1, 9))
                       + "\nasked()\n")),
        ("noise", ["/bin/sh", "-c",
                   f"echo hello; {h.PYTHON} {noise} & wait"])]
    hub = Hub(work, hub_file(work, relays))
    lost = {"dies": "not today", "eager": "nobody had asked",
            "noise": "no relay's"}
    hub.until("the true call", lambda: ("red/one", real["id"]) in hub.holds)
    hub.until("the lie", lambda: ("liar/one", "k3k3") in hub.holds)
    hub.until("those that are lost", lambda: all(
        why in hub.rows.get(name, {}).get("why", "")
        for name, why in lost.items()))
    hub.until("the heavy one's other call",
              lambda: ("heavy/two", "k3k3") in hub.holds)
    t.ok("more than 64 MiB" in hub.rows["heavy/one"]["why"] and
         "heavy" not in hub.rows, "a machine with too much is not lost: the "
         "session says what is left out", hub.rows)
    names = {s.split("/")[0] for s in hub.rows}
    t.ok(names <= {x[0] for x in relays} and
         all(s.split("/")[0] == "liar" for s in hub.rows if "red/one" in s
             and s != "red/one"),
         "no relay has a session under another's name", sorted(hub.rows))
    n = hub.ask("approve", "liar/one", id=real["id"], digest=real["digest"])
    h.wait_for(lambda: os.path.exists(os.path.join(work, "liar.py.asked")) and
               "approve" in open(os.path.join(work, "liar.py.asked"),
                                 encoding="utf-8").read(), "the liar is asked")
    t.ok(n not in hub.replies and
         [x["id"] for x in one.pending()] == [real["id"]],
         "a yes to what a liar shows is a yes to the liar alone")
    r = hub.reply(hub.ask("approve", "red/one", id=real["id"],
                          digest=real["digest"]))
    t.ok(r["ok"] and "true" in h.text_of(first.wait()),
         "the others are answered as ever, before the hanging one is noticed",
         r)
    t.ok("hang" not in hub.rows, "which takes ten seconds", hub.rows)
    hub.until("the hanging one", lambda: "10 seconds" in
              hub.rows.get("hang", {}).get("why", ""), 40)
    t.ok("hang/one" not in hub.rows, "and then its sessions are gone")
    record = one.audit("verdict")[-1]
    t.equal((len(one.audit("verdict")) >= 1, record["digest"]),
            (True, real["digest"]), "one yes is in the log, of that call")
    t.equal(hub.end(), 0, "the hub ends")
    h.wait_for(lambda: not running(work), "what it started is gone")
    t.ok(True, "and what it started with it")


BAD_FILES = [
    ("{", "hub.json"), ("[]", "object"), ("{}", "relays"),
    ({"relays": {}}, "list"), ({"relays": []}, "from 1 to"),
    ({"relays": [1]}, "must be an object"), ({"relays": [{}]}, "command"),
    ({"relays": [{"name": "a"}]}, "needs a \"command\""),
    ({"relays": [{"name": "a", "command": []}]}, "program"),
    ({"relays": [{"name": "a", "command": "ssh"}]}, "command"),
    ({"relays": [{"name": "a", "command": ["no-such-program-1"]}]},
     "not found"),
    ({"relays": [{"name": "-a", "command": ["true"]}]}, "does not begin"),
    ({"relays": [{"name": "a/b", "command": ["true"]}]}, "letters"),
    ({"relays": [{"name": "", "command": ["true"]}]}, "empty"),
    ({"relays": [{"name": "a", "comand": ["true"]}]}, "comand"),
    ({"relays": [{"command": ["true"]}]}, "needs a \"name\""),
    ({"relays": [{"name": "a", "command": ["true"]}] * 2}, "two of the name"),
    ({"relays": [{"name": "a", "discover": ["true"],
                  "command": ["true", "{name}"]}]}, "or there is one"),
    ({"relays": [{"discover": ["true"], "command": ["true"]}]}, "{name}"),
    ({"relays": [{"discover": ["true"],
                  "command": ["true", "--host={name}"]}]}, "word of its own"),
    ({"relays": [{"name": "a", "command": ["true", "{name}"]}]},
     "write the name itself"),
    ({"relays": [{"name": "a", "command": ["true"], "every": 9}]}, "discover"),
    ({"relays": [{"discover": ["true"], "every": 1,
                  "command": ["true", "{name}"]}]}, "every"),
]


def test_files(work, one):
    path = os.path.join(work, "hub.json")

    def run(path=path):
        return subprocess.run([ICCTL, "--json", "hub", path],
                              env=dict(env_of(work), IRONCURTAIN_HOME=one.home),
                              stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=30, check=False)
    for text, want in BAD_FILES:
        h.put(path, text if isinstance(text, str) else json.dumps(text), 0o600)
        r = run()
        t.ok(r.returncode == 64 and want in r.stderr,
             f"{str(text)[:70]}: {want}", r.stderr)
    begun = os.path.join(work, "begun")
    wrong = [x["relays"][0] for x, _ in BAD_FILES
             if isinstance(x, dict) and x.get("relays")]
    wrong = (wrong + wrong)[:20]
    h.put(path, json.dumps({"relays": [
        {"name": "good", "command": ["/usr/bin/touch", begun]}, *wrong]}), 0o600)
    r = run()
    t.ok(r.returncode == 64 and "relays[1]: must be an object" in r.stderr and
         not os.path.exists(begun),
         "20 mistakes: the first is named, and nothing is begun", r)
    os.chmod(path, 0o666)
    t.contains(run().stderr, "write", "a file that others may write")
    # An agent that writes it would choose programs of the person's.
    inside = h.put(os.path.join(one.workspace, "hub.json"), json.dumps(
        {"relays": [{"name": "a", "command": ["true"]}]}), 0o600)
    t.contains(run(inside).stderr, "can write it", "a file of the workspace")
    own = h.put(os.path.join(one.workspace, "ssh"), "#!/bin/sh\n", 0o755)
    hub_file(work, [("a", [own])])
    t.contains(run().stderr, "can write it", "a program of the workspace")
    hub_file(work, [("a", ["/bin/sh", own])])
    t.contains(run().stderr, "can write it", "and one among the words")


def test_refused(work):
    """The reason why ssh cannot reach a machine stays on the screen while
    it is tried again."""
    tries = os.path.join(work, "tries")
    hub = Hub(work, hub_file(work, [("far", [
        "/bin/sh", "-c", f"echo >>{tries}; echo Connection refused >&2; "
        "exit 255"])]))
    whys = set()

    def tried():
        o = hub.rows.get("far")
        if o and o["is"] == "lost":
            whys.add(o["why"])
        return whys and os.path.getsize(tries) >= 4
    hub.until("attempts", tried, 40)
    t.equal(whys, {"it has ended: Connection refused"},
            "the reason of a relay that is lost is never missing")
    hub.end()


def test_discover(work, one):
    names = h.put(os.path.join(work, "names"), "red\n-bad\n../up\n")
    # The second one closes its output and goes on, which holds nobody up.
    path = hub_file(work, [{"discover": ["/bin/cat", names], "every": 5,
                            "command": [
        "/usr/bin/env", "IRONCURTAIN_HOME=" + one.home, "/bin/sh", "-c",
        f'test "$1" = red && exec {ICCTL} relay', "sh", "{name}"]},
        {"discover": ["/bin/sh", "-c", "exec >&-; exec sleep 600"],
         "command": ["/bin/true", "{name}"]}])
    hub = Hub(work, path)
    hub.until("red", lambda: "red/one" in hub.rows)
    t.equal(sorted(hub.rows), ["red/one"], "names that are none are left out")
    h.put(names, "")
    hub.until("nobody", lambda: not hub.rows)
    t.ok(True, "a relay that is printed no longer is ended")
    hub.end()


def main():
    with h.workdir() as work:
        with session(work, "one") as one, session(work, "two") as two:
            with t.case("answers"):
                test_answers(work, one, two)
            with t.case("question"):
                test_question(work)
            with t.case("screen"):
                test_screen(work, one, two)
            with t.case("hostile relays"):
                test_hostile(work, one, two)
            with t.case("files"):
                test_files(work, one)
            with t.case("refused"):
                test_refused(work)
            with t.case("discover"):
                test_discover(work, one)
    t.done()


if __name__ == "__main__":
    main()
