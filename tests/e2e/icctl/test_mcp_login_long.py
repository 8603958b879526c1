#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Twenty sessions that share one rotating token, at a server that ends the whole
login when a spent refresh token comes back; keyds and sessions are killed while
they renew it. And the search for its secrets in the memory of all other
processes, in files, logs and results. Arguments: how many renewals (1000), a
seed."""
import fcntl
import json
import os
import random
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from agent import RpcError  # noqa: E402
import mcp_login as ml  # noqa: E402
import owner_scan  # noqa: E402
import public_net  # noqa: E402
import traces  # noqa: E402

t = h.Tap()
SESSIONS = 20
ANNOTATIONS = {"far": {"act": {"how": ["none"]}, "read": {"text": ["none"]}},
               "echo": h.ECHO_TOOLS}
RULES = [h.rule("act", "allow", server=["far"], tool=["act", "read"]),
         h.rule("echo", "allow", server=["echo"], tool=["echo"])]
OVER = "mcp login far"
# A keyd or session is killed when the server has its request, when it has
# rotated the token, at random when it answers, or without regard to that.
MOMENTS = ("asked", "rotated", "answered", "else")
# How long anything may take on a busy machine.
LONG = 120


class Issuer:
    """The authorization server's requests for tokens, and the moments at which a
    test may act: `before(form)` and `after(form, body)` are called around the
    rotation, before the answer is sent."""

    def __init__(self, auth):
        self.auth, self.real = auth, auth.token
        self.before = self.after = None
        self.old = []           # spent tokens that were sent, and when
        self.given = []         # every token that was issued
        self.refused = set()    # tokens that were answered with a refusal
        self.repeated = []      # those that were sent again after that
        self.busy = 0           # requests for a token that are under way
        auth.token = self.token

    def token(self, form, headers):
        with self.auth.lock:
            self.busy += 1
        try:
            return self.answer(form, headers)
        finally:
            with self.auth.lock:
                self.busy -= 1

    def quiet(self):
        """Nothing is done at any moment from now on; what has begun ends."""
        self.before = self.after = None
        h.wait_for(lambda: self.busy == 0, "the last request", LONG)

    def answer(self, form, headers):
        old = form.get("refresh_token")
        with self.auth.lock:
            if old in self.auth.spent:
                self.old.append(old)
            if old in self.refused:
                self.repeated.append(old)
        before, after = self.before, self.after
        if before:
            before(form)
        status, body = self.real(form, headers)
        if status == 200:
            self.given += [body["access_token"], body["refresh_token"]]
        elif old:
            self.refused.add(old)
        if after and status == 200:
            after(form, body)
        return status, body


class Life:
    """A session of the herd, and its agent."""

    def __init__(self, herd, number):
        name = f"session-{number}"
        self.s = h.Session(
            herd.work, herd.servers, RULES, ANNOTATIONS,
            session_dir=os.path.join(herd.work, "home", "sessions", name))
        self.s.workspace = os.path.join(herd.work, name)
        self.s.argv[self.s.argv.index("--workspace") + 1] = self.s.workspace
        os.mkdir(self.s.workspace, 0o700)
        self.s.work = self.s.workspace      # its standard error
        self.s.start(LONG)
        self.born = {p: h.born(p) for p in
                     [self.s.pid] + traces.children(self.s.pid)}
        self.m = self.s.client()

    @property
    def pids(self):
        """Those of its processes that live: thousands die in this test, and
        their numbers are used again."""
        return [p for p, at in self.born.items() if at and h.born(p) == at]

    def keyd(self):
        return [p for p in self.pids if comm(p) == "keyd"]

    def call(self):
        """Returns what the agent reads of a call."""
        try:
            return h.text_of(self.m.call("far__act", {"how": "good"}))
        except RpcError as e:
            return e.error["message"]
        except Exception as e:  # pylint: disable=broad-except
            return f"closed: {e}"       # the session was killed

    def alive(self):
        return h.alive(self.s.pid) and self.s.process.p.poll() is None

    def end(self):
        self.m.close()
        self.s.stop()
        h.wait_for(lambda: not self.pids, "its end", LONG)


class Herd:
    def __init__(self, work, far):
        self.work, self.made, self.lives = work, 0, []
        self.servers = {"far": {"url": far.url, "ca": far.ca}}
        self.texts = set()

    def fill(self):
        """Start sessions until there are enough."""
        while len(self.lives) < SESSIONS:
            self.lives.append(self.more())

    def more(self):
        self.made += 1
        return Life(self, self.made)

    def call(self, some):
        """One call in each of these sessions, at once. Returns the answers."""
        out = [""] * len(some)

        def one(i):
            out[i] = some[i].call()
        threads = [threading.Thread(target=one, args=(i,))
                   for i in range(len(some))]
        for x in threads:
            x.start()
        for x in threads:
            x.join()
        self.texts.update(out)
        return out

    def until(self, some, good, what):
        """Call until `good` holds for the answer in each of them."""
        rest, read = list(some), []

        def all_good():
            read[:] = self.call(rest)
            rest[:] = [x for x, text in zip(rest, read) if not good(text)]
            return not rest
        try:
            h.wait_for(all_good, what, LONG, 0.1)
        except TimeoutError as e:
            raise TimeoutError(f"{what}: {read}, in {[x.s.dir for x in rest]}, "
                               f"alive {[x.alive() for x in rest]}") from e

    def replace(self):
        """New sessions for those that have died. Returns how many."""
        gone = [x for x in self.lives if not x.alive()]
        for x in gone:
            x.end()
            self.lives[self.lives.index(x)] = self.more()
        return len(gone)

    def holder(self):
        """Returns the session that has the lock of the login, or None."""
        path = os.path.join(self.work, "home", "logins", ".ironcurtain.lock")
        try:
            inode = os.stat(path).st_ino
        except OSError:
            return None
        with open("/proc/locks", encoding="ascii") as f:
            pids = {int(x.split()[4]) for x in f
                    if x.split()[5].endswith(f":{inode}")}
        return next((x for x in self.lives if x.s.pid in pids), None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for x in self.lives:
            x.end()


def comm(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="ascii") as f:
            return f.read().strip()
    except OSError:
        return ""


def kept(work):
    with open(os.path.join(work, "home", "logins", "mcp-far.json"),
              encoding="utf-8") as f:
        return json.load(f)


def slay(life, how):
    """Kill -9: its keyd, its icsupervisor, or all of it at once. A session ends
    with its keyd; returns when it is gone."""
    for p in {"keyd": life.keyd(), "icsupervisor": [life.s.pid],
              "all": life.pids}[how]:
        h.kill(p)
    h.wait_for(lambda: not life.pids, "its end", LONG)


def one_renewal(herd, issuer, rng, kills):
    """Everyone's token is refused; some sessions call at once, and one of them
    renews it, or is killed at a moment of that."""
    done = threading.Event()
    moment = rng.choice((*MOMENTS, "", "", ""))
    how = rng.choice(("keyd", "icsupervisor", "all"))

    def strike(which):
        if moment != which or done.is_set():
            return
        done.set()
        life = herd.holder()
        if life is not None:
            slay(life, how)
            kills.append((which, how))

    def later():
        # At random: before keyd has read it, before the file is written, or
        # after that.
        time.sleep(rng.random() * 0.03)
        strike("answered")

    def after(form, body):
        strike("rotated")
        if moment == "answered":
            threads.append(threading.Thread(target=later))
            threads[-1].start()

    threads = []
    before = issuer.auth.counts["refreshed"]
    issuer.before = lambda form: strike("asked")
    issuer.after = after
    some = rng.sample(herd.lives, rng.randint(1, 5))
    issuer.auth.expire()
    if moment == "else":        # one that may have no part in it
        some_one = rng.choice(herd.lives)
        threads.append(threading.Thread(target=slay, args=(some_one, how)))
        threads[-1].start()
        kills.append((moment, how))
    herd.call(some)
    h.wait_for(lambda: issuer.auth.counts["refreshed"] > before or
               herd.call([x for x in herd.lives if x.alive()][:3]) is None,
               "a renewal", LONG, 0.1)
    issuer.quiet()
    for x in threads:
        x.join()
    herd.replace()
    herd.until(rng.sample(herd.lives, 3), lambda x: x == "done",
               "calls with the new token")


def renew(herd, issuer, renewals, rng):
    """Renewals with kills. Returns the kills, with the moment of each."""
    auth, kills = issuer.auth, []
    began, first, told = time.monotonic(), auth.counts["refreshed"], 0
    while auth.counts["refreshed"] - first < renewals:
        one_renewal(herd, issuer, rng, kills)
        n = auth.counts["refreshed"] - first
        if n // 100 > told // 100 or n >= renewals:
            print(f"# {n} renewals by {herd.made} sessions in "
                  f"{time.monotonic() - began:.0f} s, {len(kills)} kills",
                  flush=True)
            told = n
    auth.expire()
    herd.until(herd.lives, lambda x: x == "done", "all sessions work")
    return kills


def test_grace(work, renewals, rng):
    """A server that takes the previous token for 30 s: none is lost."""
    far, auth = ml.pair(work, sessions=False)
    issuer = Issuer(auth)
    auth.grace = 30
    first_login(work, far)
    with Herd(work, far) as herd:
        herd.fill()
        kills = renew(herd, issuer, renewals, rng)
        t.ok(auth.counts["refreshed"] >= renewals, f"{renewals} renewals")
        by = {k: sum(x[0] == k for x in kills) for k in MOMENTS}
        print(f"# killed when {by}; {len(issuer.old)} times the previous token")
        t.ok(renewals < 50 or min(by.values()) > 0, "killed at each moment",
             by)
        t.equal((auth.counts["revoked"], issuer.refused), (0, set()),
                "none is lost")
        t.ok(not any(OVER in x for x in herd.texts),
             "no agent reads that it is", herd.texts)
        t.ok(len(issuer.old) <= len(kills) - by["asked"],
             "a spent token comes only after a kill", (issuer.old, by))
        t.ok(kept(work)["access_token"] in auth.access, "the file is whole")
        t.equal([x for x in os.listdir(os.path.join(work, "home", "logins"))
                 if "ironcurtain-" in x], [], "and no other is left")
        no_traces(work, herd, issuer)


def first_login(work, far):
    s = h.Session(work, {"far": {"url": far.url, "ca": far.ca}}, RULES,
                  ANNOTATIONS)
    status, text = ml.log_in(s.env, "far", far.ca)
    if status != 0:
        raise RuntimeError(text)
    return s.env


def no_traces(work, herd, issuer):
    """No token in what sessions wrote, and in what agents read."""
    text = "\n".join(herd.texts).encode()
    left = {}
    tokens = [x.encode() for x in issuer.given]
    for where, _, names in os.walk(work):
        for name in names:
            path = os.path.join(where, name)
            if not os.path.isfile(path) or name == "mcp-far.json":
                continue
            with open(path, "rb") as f:
                data = f.read()
            if any(x in data for x in tokens):
                left[path] = 1
    t.equal(list(left), [], f"none of {len(tokens)} tokens is in a file")
    t.ok(not any(x in text for x in tokens), "nor in a result")


def end_login(herd, issuer, env, how, rng):
    """A kill between rotation and file, at a server without grace."""
    auth, struck = issuer.auth, threading.Event()
    ended = auth.counts["revoked"]

    def after(*_):
        if not struck.is_set():
            struck.set()
            slay(herd.holder(), how)

    issuer.after = after
    auth.expire()
    victim = rng.choice(herd.lives)
    victim.call()
    h.wait_for(struck.is_set, "the renewal", LONG)
    issuer.quiet()
    herd.until([x for x in herd.lives if x is not victim],
               lambda x: OVER in x, "everyone reads that it needs a login")
    herd.replace()
    herd.until(herd.lives, lambda x: OVER in x, "and who comes later")
    t.equal(auth.counts["revoked"] - ended, 1,
            f"{how} killed between answer and file: the login ends once")
    counted = sum(any(e["event"] == "credential" and
                      "refused" in json.dumps(e) for e in x.s.audit())
                  for x in herd.lives)
    t.equal(counted, SESSIONS, "each session's log counts it")
    t.equal(issuer.repeated, [], "a refused token is never sent again")
    status, text = ml.log_in(env, "far", herd.servers["far"]["ca"])
    t.ok(status == 0, "a new login", text)
    herd.until(herd.lives, lambda x: x == "done", "which all sessions use")
    old = len(issuer.old)
    auth.expire()
    herd.until(herd.lives, lambda x: x == "done", "and renew")
    t.equal(issuer.old[old:], [], "without an old token")


def test_no_grace(work, rng):
    """A server without that: a kill between answer and file ends the login,
    which is said and counted. The spent token is sent once, by the session that
    finds it in the file, and never again."""
    far, auth = ml.pair(work, sessions=False)
    issuer = Issuer(auth)
    auth.grace = -1
    env = first_login(work, far)
    with Herd(work, far) as herd:
        herd.fill()
        for how in ("keyd", "icsupervisor", "all"):
            with t.case(how):
                end_login(herd, issuer, env, how, rng)
        no_traces(work, herd, issuer)


class Held:
    """The token endpoint, stopped between rotation and answer."""

    def __init__(self, issuer, grant):
        self.issuer, self.grant = issuer, grant
        self.there, self.go = threading.Event(), threading.Event()
        self.form, self.body = {}, {}

    def __enter__(self):
        self.issuer.after = self.after
        return self

    def after(self, form, body):
        if form.get("grant_type") == self.grant:
            self.form, self.body = form, body
            self.there.set()
            self.go.wait(LONG)

    def __exit__(self, *_):
        self.issuer.after = None
        self.go.set()


def check(pids, secrets, stage, owner, open_memory):
    """Look for the secrets in these processes. Where memory is not secret, they
    are found in `owner` alone, and there they must be."""
    rows = owner_scan.scan(pids, secrets)
    bad = [r for r in rows if "error" in r and h.alive(r["pid"])]
    t.equal(bad, [], f"{stage}: each of {len(rows)} processes can be read")
    found = {(r["name"], what) for r in rows for what, _ in r["found"]}
    at = [(r["name"], r["found"]) for r in rows if r["found"]]
    mine = {x for x in found if x[0] == owner}
    t.ok(found == mine and (open_memory or not found),
         f"{stage}: {', '.join(secrets)} in no process" +
         (f" but {owner}" if open_memory else ""), at)
    if open_memory:
        t.equal({x for _, x in mine}, set(secrets),
                f"{stage}: the search finds them in {owner}")
    hidden = {(r["name"], x.split()[0]) for r in rows for x in r["hidden"]}
    t.ok(all("secretmem" in x for _, x in hidden),
         f"{stage}: only secret memory cannot be read", hidden)
    if not open_memory:
        t.ok(any(n == owner for n, _ in hidden), f"{stage}: as {owner}'s",
             hidden)
    size = sum(r["bytes"] for r in rows) >> 20
    print(f"# {stage}: {len(rows)} processes, {size} MiB: "
          f"{sorted({r['name'] for r in rows})}")


def scan_login(s, far, issuer, open_memory):
    """A login that is stopped twice: with the code at the token endpoint, and
    before its file is put in place."""
    logins = os.path.join(s.home, "logins")
    os.makedirs(logins, mode=0o700, exist_ok=True)
    with open(os.path.join(logins, ".ironcurtain.lock"), "wb") as lock, \
            Held(issuer, "authorization_code") as held:
        login = ml.Login(s.env, "far")
        back = ml.browse(login.url, far.ca)
        browser = threading.Thread(target=ml.come_back, args=(back,))
        browser.start()
        h.wait_for(held.there.is_set, "the code comes", LONG)
        client = next(iter(issuer.auth.clients.values()))
        secrets = {"verifier": held.form["code_verifier"],
                   "code": held.form["code"],
                   "client secret": client["client_secret"]}
        pids = [login.p.pid] + traces.children(login.p.pid)
        check(pids, secrets, "code sent", "mcp-grantd", open_memory)
        fcntl.flock(lock, fcntl.LOCK_EX)
        held.go.set()
        h.wait_for(lambda: any(
            x == ".mcp-far.login.json" and
            os.stat(os.path.join(logins, x)).st_size
            for x in os.listdir(logins)), "the new file", LONG)
        secrets["token"] = held.body["access_token"]
        secrets["refresh token"] = held.body["refresh_token"]
        pids = [login.p.pid] + traces.children(login.p.pid)
        rows = owner_scan.scan(pids, secrets)
        found = {(r["name"], what) for r in rows for what, _ in r["found"]}
        t.ok(all(n == "mcp-grantd" for n, _ in found) and
             (open_memory or not found),
             "file written: and in no other process", found)
        fcntl.flock(lock, fcntl.LOCK_UN)
        browser.join()
        status, text = login.end(LONG)
    t.equal(status, 0, "the login")
    return text, secrets


def test_scan(work, open_memory):
    """Secrets of a login, during it, during a call, and during a renewal."""
    far, auth = ml.pair(work, sessions=False)
    auth.metadata["token_endpoint_auth_methods_supported"] = [
        "client_secret_basic"]
    issuer = Issuer(auth)
    log = os.path.join(work, "echo", "log.jsonl")
    s = h.Session(work, {"far": {"url": far.url, "ca": far.ca},
                         "echo": h.echo_server(log)}, RULES, ANNOTATIONS)
    text, secrets = scan_login(s, far, issuer, open_memory)
    s.start(LONG)
    m = s.client()
    out = []

    def call():
        try:
            out.append(h.text_of(m.call("far__act", {"how": "good"})))
        except RpcError as e:
            out.append(e.error["message"])
        return out[-1]

    h.wait_for(lambda: call() == "done", "a call", LONG, 0.1)
    pids = [s.pid] + traces.children(s.pid)
    used = {k: secrets[k] for k in ("client secret", "token",
                                    "refresh token")}
    check(pids, used, "a call was made", "keyd", open_memory)
    with Held(issuer, "refresh_token") as held:
        auth.expire()
        call()
        h.wait_for(held.there.is_set, "the renewal", LONG)
        check(pids, used, "renewal asked for", "keyd", open_memory)
    h.wait_for(lambda: call() == "done", "a call with the new token", LONG,
               0.1)
    new = {"client secret": secrets["client secret"],
           "new token": held.body["access_token"],
           "new refresh token": held.body["refresh_token"]}
    check(pids, new, "renewed", "keyd", open_memory)
    printed = [text, *out, *(s.icctl(*x).stdout for x in (
        ("--json", "status"), ("mcp", "status"), ("mcp", "ls"), ("keys",)))]
    m.close()
    s.stop()
    every = {**secrets, **new}
    t.equal([k for k, v in every.items() if v in "".join(printed)], [],
            "none of them is printed, or in a result")
    t.equal({k: traces.files_have(work, v.encode()) for k, v in every.items()},
            {k: [os.path.join(s.home, "logins", "mcp-far.json")]
             if k in new else [] for k in every},
            "nor in a file or log, but the login's own")


def main():
    renewals = int(sys.argv[1]) if sys.argv[1:] else 1000
    seed = int(sys.argv[2]) if sys.argv[2:] else random.randrange(1 << 32)
    owner_scan.start()
    why = public_net.enter(ml.MCP_HOST, ml.AUTH_HOST)
    if why is not None:
        t.skip("logins", f"no network of its own: {why}")
        t.done()
        return
    print(f"# seed {seed}")
    rng = random.Random(seed)
    only = os.environ.get("IC_ONLY", "").split()

    def case(name, test, *args):
        if only and name not in only:
            return
        with h.workdir() as work, t.case(name):
            test(work, *args)

    def baseline():
        owner_scan.refuse_secret_memory()
        case("baseline", test_scan, True)

    x = threading.Thread(target=baseline)
    x.start()
    x.join()
    case("scan", test_scan, False)
    case("no_grace", test_no_grace, rng)
    case("grace", test_grace, renewals, rng)
    owner_scan.end()
    t.done()


main()
