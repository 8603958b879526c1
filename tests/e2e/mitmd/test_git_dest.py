#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A git server as a destination, with git itself as the client: it clones
without a token, its pushes wait for a person, and nothing else on the server
can be reached."""
import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import joins  # noqa: E402
from bridge import Bridge  # noqa: E402

t = h.Tap()
HOST = "github.test"
TOKEN = "ghp_real0123456789abcdefABCDEF0123456789"
URL = f"https://{HOST}/owner/repo.git"
GIT = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0",
       "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b.test",
       "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b.test",
       "LC_ALL": "C"}


class GitServer(h.Process):
    def __init__(self, work, *options, name="git"):
        self.dir = os.path.join(work, name)
        self.root = os.path.join(self.dir, "root")
        os.makedirs(self.root)
        self.log = os.path.join(self.dir, "log.jsonl")
        for repo in ("owner/repo.git", "owner/other.git", "else/repo.git"):
            path = os.path.join(self.root, repo)
            plain("init", "-q", "--bare", "-b", "main", path)
            plain("-C", path, "config", "http.receivepack", "true")
        super().__init__([h.PYTHON, os.path.join(h.STANDINS, "git_server.py"),
                          "--ca-dir", self.dir, "--root", self.root, "--log",
                          self.log, "--token", TOKEN, *options],
                         os.path.join(self.dir, "stderr"))
        self.url = f"https://127.0.0.1:{self.ready['port']}"
        self.ca = os.path.join(self.dir, "ca.pem")

    def seen(self):
        return h.read_lines(self.log)

    def ref(self, name, repo="owner/repo.git"):
        r = plain("-C", os.path.join(self.root, repo), "rev-parse", "-q",
                  "--verify", name, check=False)
        return r.stdout.strip()


def plain(*args, check=True):
    return subprocess.run(["git", *args], env={
        "PATH": "/usr/bin:/bin", "HOME": "/nonexistent", **GIT}, check=check,
        capture_output=True, text=True)


class Client:
    """git as in an agent's sandbox: with a proxy and a CA, without a token."""

    def __init__(self, s, work):
        self.bridge = Bridge(s.ready["sockets"]["mitm"])
        self.env = {"PATH": "/usr/bin:/bin", "HOME": work, **GIT,
                    "https_proxy": self.bridge.url,
                    "GIT_SSL_CAINFO": os.path.join(s.dir, "orientation",
                                                   "ca-cert.pem")}
        self.dir = os.path.join(work, "clone")

    def __call__(self, *args, timeout=60):
        return subprocess.run(["git", *args], env=self.env, text=True,
                              capture_output=True, timeout=timeout,
                              check=False)

    def here(self, *args):
        return self("-C", self.dir, *args)

    def commit(self, name, data):
        with open(os.path.join(self.dir, name), "wb") as f:
            f.write(data)
        self.here("add", name)
        self.here("commit", "-q", "-m", name)
        return self.here("rev-parse", "HEAD").stdout.strip()


class Push(threading.Thread):
    def __init__(self, git, *args):
        super().__init__(daemon=True)
        self.git, self.args, self.result = git, args, None
        self.start()

    def run(self):
        self.result = self.git.here("push", *self.args)

    def wait(self):
        self.join(60)
        return self.result


def session(work, g, **settings):
    return h.Session(work, env={"GITHUB_TOKEN": TOKEN}, config={
        "destinations": {"github": {
            "kind": "git", "hosts": [HOST], "upstream": g.url, "ca": g.ca,
            "credential": {"env": "GITHUB_TOKEN"},
            "repositories": ["owner/repo", "new/*"], **settings},
            "store": {"kind": "web", "hosts": ["store.test"],
                      "upstream": g.url, "ca": g.ca}}})


def seed(g):
    """Make a repository to clone."""
    path = os.path.join(g.dir, "seed")
    plain("init", "-q", "-b", "main", path)
    with open(os.path.join(path, "README"), "w", encoding="ascii") as f:
        f.write("hello\n")
    plain("-C", path, "add", "README")
    plain("-C", path, "commit", "-q", "-m", "first")
    for repo in ("owner/repo.git", "owner/other.git", "else/repo.git"):
        plain("-C", path, "push", "-q", os.path.join(g.root, repo), "main")
    return plain("-C", path, "rev-parse", "HEAD").stdout.strip()


def test_clone(s, g, git, first):
    r = git("clone", "-q", URL, git.dir)
    t.equal((r.returncode, r.stderr), (0, ""), "clone works")
    t.equal(git.here("rev-parse", "HEAD").stdout.strip(), first,
            "it is the repository")
    t.ok(all(x["authorized"] for x in g.seen()), "with the real token")
    t.ok(any(n.lower() == "git-protocol" for x in g.seen()
             for n, _ in x["headers"]), "protocol v2 is spoken")
    with open(os.path.join(git.dir, ".git", "config"),
              encoding="ascii") as f:
        t.ok(TOKEN not in f.read(), "the clone holds no token")
    t.equal(s.pending(), [], "fetching asks nobody")
    os.makedirs(os.path.join(g.dir, "v0"))
    r = git("-c", "protocol.version=0", "clone", "-q", URL,
            os.path.join(g.dir, "v0", "c"))
    t.equal(r.returncode, 0, "protocol v0, too")


def approve(s, push, name, check=True):
    held = h.wait_for(lambda: s.pending() or push.result, f"{name}: no hold")
    if not isinstance(held, list):
        t.ok(False, name, held.stderr)
        return None
    if check:
        s.icctl("approve", held[0]["id"], check=True)
    return held[0]


def test_push(s, g, git, first):
    new = git.commit("one", b"1\n")
    before = len(g.seen())
    push = Push(git, "origin", "main", "main:refs/heads/topic")
    held = approve(s, push, "push", check=False)
    want = json.loads(held["arguments"])
    t.equal((want["repository"], want["refs"]), ("owner/repo.git", [
        {"action": "update", "name": "refs/heads/main", "new": new,
         "old": first},
        {"action": "create", "name": "refs/heads/topic", "new": new,
         "old": "0" * 40}]), "a push waits, with repository and refs")
    shown = s.icctl("show", held["id"]).stdout
    for part in (f"POST {URL}/git-receive-pack",
                 'repository = "owner/repo.git"',
                 'update = "refs/heads/main"', 'create = "refs/heads/topic"',
                 "Updates refs/heads/main, creates refs/heads/topic",
                 f'refs[0].new = "{new}"', f'refs[0].old = "{first}"',
                 "\n  github\n"):
        t.contains(shown, part, f"icctl show: {part}")
    t.contains(s.icctl("pending").stdout,
               'update = "refs/heads/main"', "icctl pending")
    t.equal(g.ref("refs/heads/main"), first, "nothing has changed yet")
    s.icctl("approve", held["id"], check=True)
    r = push.wait()
    t.equal(r.returncode, 0, "approved: git says it went")
    t.equal((g.ref("refs/heads/main"), g.ref("refs/heads/topic")),
            (new, new), "the refs are there")
    posts = [x for x in g.seen()[before:] if x["method"] == "POST"]
    t.equal([(x["bodyBytes"], x["bodySha256"]) for x in posts],
            [(want["body"]["bytes"], want["body"]["sha256"])],
            "the server saw it once, as it was shown")
    line = s.events("modelRequest")[-1]
    t.equal((line["approved"] >= 1 << 63, line["request"]["refs"]),
            (True, want["refs"]), "and it stands in the log")
    push = Push(git, "origin", ":topic")
    held = approve(s, push, "delete")
    t.equal([x["action"] for x in json.loads(held["arguments"])["refs"]],
            ["delete"], "a deletion is one")
    t.equal((push.wait().returncode, g.ref("refs/heads/topic")), (0, ""),
            "and goes, too")
    return new


def denied(s, git, version):
    """git reports the denial in its own way, over both protocols."""
    git.here("config", "http.version", version)
    push = Push(git, "origin", "main")
    held = approve(s, push, version, check=False)
    s.icctl("deny", held["id"], check=True)
    t.contains(push.wait().stderr, "[remote rejected] main -> main "
               "(IronCurtain: denied)", f"denied over {version}")


def test_deny(s, g, git, main):
    new = git.commit("two", b"2\n")
    push = Push(git, "origin", "main", "HEAD:refs/heads/no")
    held = approve(s, push, "deny", check=False)
    s.icctl("deny", held["id"], "--because", "not now", check=True)
    r = push.wait()
    t.ok(r.returncode != 0, "denied: git fails")
    t.contains(r.stderr, "[remote rejected] main -> main (IronCurtain: "
               "denied)", "git prints our reason beside each ref")
    t.contains(r.stderr, "remote: IronCurtain: The user was asked about this "
               "request and denied it", "and as a whole")
    t.equal((g.ref("refs/heads/main"), g.ref("refs/heads/no")), (main, ""),
            "nothing has changed")
    t.equal(s.events("askRefused")[-1]["escalationResult"], "denied",
            "it stands in the log")
    denied(s, git, "HTTP/2")
    denied(s, git, "HTTP/1.1")
    return new


def test_large(s, g, git):
    """More than http.postBuffer: git sends a probe first, then chunks."""
    new = git.commit("large", os.urandom(3 << 20))
    before = len(g.seen())
    push = Push(git, "origin", "main")
    held = approve(s, push, "large")
    t.equal(push.wait().returncode, 0, "a large push")
    t.equal(g.ref("refs/heads/main"), new, "is there")
    posts = [x["bodyBytes"] for x in g.seen()[before:]
             if x["method"] == "POST"]
    t.equal(posts, [4, json.loads(held["arguments"])["body"]["bytes"]],
            "an empty list was no push: one approval")
    git.here("config", "http.version", "HTTP/2")
    new = git.commit("more", os.urandom(3 << 20))
    push = Push(git, "origin", "main")
    approve(s, push, "large over HTTP/2")
    t.equal((push.wait().returncode, g.ref("refs/heads/main")), (0, new),
            "over HTTP/2 as well")


def test_gzip(s, g, git):
    """git compresses a negotiation with many haves with gzip."""
    for i in range(40):
        git.here("commit", "-q", "--allow-empty", "-m", str(i))
    seeds = os.path.join(g.dir, "seed")
    plain("-C", seeds, "commit", "-q", "--allow-empty", "-m", "more")
    plain("-C", seeds, "push", "-q", "-f",
          os.path.join(g.root, "owner/repo.git"), "HEAD:refs/heads/more")
    r = git.here("fetch", "-q", "origin", "more")
    t.equal(r.returncode, 0, "fetch with a long negotiation")
    t.ok(all(n.lower() != "content-encoding" for x in g.seen()
             for n, _ in x["headers"]), "no body goes on encoded")


def test_many(git):
    """More refs than a person is shown: git says so, over both protocols."""
    for version, count in (("HTTP/2", 67), ("HTTP/1.1", 200)):
        git.here("config", "http.version", version)
        r = git.here("push", "origin",
                     *(f"HEAD:refs/heads/b{n}" for n in range(count)))
        t.ok(r.returncode != 0, f"{count} refs over {version}")
        t.contains(r.stderr, f"remote: IronCurtain: {count} refs at once; at "
                   "most 64", "the reason, in git's own words")
        t.equal(r.stderr.count("[remote rejected]"), count,
                "beside each ref")


def test_refused(s, g, git):
    before = len(g.seen())
    for name, url in (("another repository",
                       f"https://{HOST}/owner/other.git"),
                      ("another owner", f"https://{HOST}/else/repo.git"),
                      ("another host", "https://gitlab.test/owner/repo.git")):
        r = git("ls-remote", url)
        t.ok(r.returncode != 0 and "403" in r.stderr, f"{name}: 403",
             r.stderr)
    t.contains(git("ls-remote", f"https://{HOST}/owner/other.git").stderr,
               "remote: IronCurtain: owner/other is not in \"repositories\" of "
               "destinations.github in config.json.",
               "git prints which repository, and the key to write")
    t.contains(git("ls-remote", "https://gitlab.test/owner/repo.git").stderr,
               "403", "a host off the list is refused at CONNECT")
    for name, status, method, target, headers, body in (
            ("dumb HTTP", 403, "GET", "/owner/repo.git/info/refs", [], None),
            ("dumb objects", 403, "GET", "/owner/repo.git/objects/info/packs",
             [], None),
            ("HEAD", 403, "GET", "/owner/repo.git/HEAD", [], None),
            ("another service", 403, "GET",
             "/owner/repo.git/info/refs?service=git-upload-archive", [], None),
            ("a query more", 403, "GET",
             "/owner/repo.git/info/refs?service=git-upload-pack&x=1", [],
             None),
            ("dots", 400, "GET",
             "/owner/../owner/repo.git/info/refs?service=git-upload-pack", [],
             None),
            ("an escaped slash", 400, "GET",
             "/owner%2frepo.git/info/refs?service=git-upload-pack", [], None),
            ("an escape", 403, "GET",
             "/owner/rep%6f.git/info/refs?service=git-upload-pack", [], None),
            ("a credential of its own", 403, "GET",
             "/owner/repo.git/info/refs?service=git-upload-pack",
             [("Authorization", "Basic eDp5")], None),
            ("another type", 415, "POST", "/owner/repo.git/git-receive-pack",
             [("Content-Type", "text/plain")], b"0000"),
            ("no list", 400, "POST", "/owner/repo.git/git-receive-pack",
             [("Content-Type", "application/x-git-receive-pack-request")],
             b"PACK"),
            ("no body", 400, "POST", "/owner/repo.git/git-receive-pack",
             [("Content-Type", "application/x-git-receive-pack-request")],
             b""),
            ("the web", 403, "GET", "/owner/repo", [], None)):
        m = s.model(HOST, key="")
        r = m.request(method, target, headers, body)
        t.equal(r.status, status, f"{name}: {status}")
        m.close()
    t.equal(len(g.seen()), before, "nothing of it reached the server")
    test_many(git)
    r = git.here("push", "--signed=if-asked", "-o", "ci.skip", "origin",
                 "HEAD:refs/heads/options")
    t.ok(r.returncode != 0, "push options are not taken", r.stderr)
    t.equal(s.pending(), [], "nothing waits")


LFS = "application/vnd.git-lfs+json"
# Its name begins with a digit: see git_server.py.
DATA = b"an object of git-lfs\n" * 1000
OID = hashlib.sha256(DATA).hexdigest()


def batch(s, oid, operation="download", repo="owner/repo.git", kind=LFS):
    """Returns status and answer, as JSON, of a batch request."""
    m = s.model(HOST, key="")
    r = m.request("POST", f"/{repo}/info/lfs/objects/batch",
                  [("Content-Type", kind), ("Accept", LFS)], json.dumps({
                      "operation": operation, "transfers": ["basic"],
                      "objects": [{"oid": oid, "size": len(DATA)}]}).encode())
    m.close()
    return r.status, json.loads(r.body), r.body


def get(s, host, target):
    m = s.model(host, key="")
    try:
        return m.request("GET", target, [], None)
    finally:
        m.close()


def test_lfs(s, g):
    with open(os.path.join(g.root, OID), "wb") as f:
        f.write(DATA)
    at = f"/owner/repo.git/info/lfs/objects/{OID}"
    before = len(g.seen())
    status, answer, raw = batch(s, OID)
    t.equal((status, answer), (200, {"transfer": "basic", "objects": [
        {"oid": OID, "size": len(DATA), "authenticated": True, "actions": {
            "download": {"href": f"https://{HOST}{at}", "expires_in": 60}}}]}),
            "a batch: where the object is")
    t.ok(base64.b64encode(b"x-access-token:" + TOKEN.encode()) not in raw and
         b"uthorization" not in raw,
         "the credential that the server repeats is not in it")
    for path in (at, f"/owner/repo.git/gitlab-lfs/objects/{OID}"):
        r = get(s, HOST, path)
        t.equal((r.status, r.body == DATA), (200, True), f"{path[:30]}...")
    t.equal([x["authorized"] for x in g.seen()[before:]], [True] * 3,
            "with the real token, at this host")
    href = batch(s, "a" * 64)[1]["objects"][0]["actions"]["download"]["href"]
    t.equal(href, "https://store.test/x/" + "a" * 64, "at another host")
    r = get(s, "store.test", "/x/" + "a" * 64)
    t.equal((r.status, r.body), (200, b"stored elsewhere"),
            "which a destination of its own reaches")
    r = get(s, HOST, "/owner/repo.git/info/lfs/objects/" + "b" * 64)
    t.equal((r.status, dict((n.lower(), v) for n, v in r.headers).get(
        "location")), (302, "https://store.test/x/b"),
            "an object may be redirected, by the client")
    t.ok(not g.seen()[-2]["authorized"] and not any(
        n.lower() == "authorization" for n, _ in g.seen()[-2]["headers"]),
         "and the other host sees no credential")
    answer = batch(s, "c" * 64)[1]["objects"][0]
    t.equal(("actions" in answer, answer["error"]["code"]), (False, 422),
            "an address with a user is none")
    answer = batch(s, OID, "upload")[1]["objects"][0]
    t.ok("actions" not in answer and answer["error"]["code"] == 403 and
         "can be fetched from the sandbox, and not sent" in
         answer["error"]["message"], "sending an object: a reason", answer)
    before = len(g.seen())
    status, answer, _ = batch(s, OID, repo="owner/other.git")
    t.ok(status == 403 and "owner/other is not in" in answer["message"],
         "another repository: git-lfs reads the reason", answer)
    t.equal(batch(s, OID, kind="application/json")[0], 415, "another type")
    for name, status, method, target, headers, body in (
            ("sending", 405, "PUT", at, [("Content-Type", LFS)], b"x"),
            ("no name of an object", 403, "GET", at[:-1], [], None),
            ("capital letters", 403, "GET", at.upper(), [], None),
            ("a query", 403, "GET", at + "?x=1", [], None),
            ("locks: there are none", 404, "POST",
             "/owner/repo.git/info/lfs/locks/verify",
             [("Content-Type", LFS)], b"{}"),
            ("making a lock", 403, "POST", "/owner/repo.git/info/lfs/locks",
             [("Content-Type", LFS)], b"{}")):
        m = s.model(HOST, key="")
        t.equal(m.request(method, target, headers, body).status, status, name)
        m.close()
    t.equal(len(g.seen()), before, "none of them reached the server")


def test_lfs_program(s, g, git):
    """The real git-lfs."""
    if not shutil.which("git-lfs"):
        return t.skip("git-lfs", "it is not installed")
    git.here("fetch", "-q", "origin", "main")
    git.here("reset", "-q", "--hard", "FETCH_HEAD")
    git.here("config", "filter.lfs.clean", "git-lfs clean -- %f")
    git.here("config", "filter.lfs.smudge", "git-lfs smudge -- %f")
    git.here("config", "filter.lfs.required", "true")
    h.put(os.path.join(git.dir, ".gitattributes"), "*.bin filter=lfs\n")
    h.put(os.path.join(git.dir, "x.bin"), "version https://git-lfs.github.com/"
          f"spec/v1\noid sha256:{OID}\nsize {len(DATA)}\n")
    r = git.here("lfs", "pull")
    r = git.here("-c", "filter.lfs.smudge=", "add", "-A")
    r = git.here("lfs", "fetch", "origin")
    git.here("commit", "-qm", "a pointer")
    r = git.here("lfs", "pull", "origin")
    with open(os.path.join(git.dir, "x.bin"), "rb") as f:
        t.ok(f.read() == DATA, "git lfs pull", r.stderr)
    # Before a push git-lfs sends the objects of its commits, also those that
    # are there already.
    r = git.here("push", "origin", "HEAD:refs/heads/pointer")
    t.ok(r.returncode != 0 and "can be fetched from the sandbox, and not sent"
         in r.stderr, "a push of git-lfs's objects: a reason", r.stderr)
    h.put(os.path.join(git.dir, "y.bin"), "something new\n")
    git.here("add", "-A")
    git.here("commit", "-qm", "a new object")
    r = git.here("lfs", "push", "origin", "HEAD")
    t.ok(r.returncode != 0 and "can be fetched from the sandbox" in r.stderr,
         "git lfs push says why not", r.stderr)
    return None


def test_lfs_reflected():
    """A credential in an address would leave by it."""
    with h.workdir() as work:
        g = GitServer(work)
        with session(work, g) as s:
            m = s.model(HOST, key="")
            r = m.request("POST", "/owner/repo.git/info/lfs/objects/batch",
                          [("Content-Type", LFS)], json.dumps({
                              "operation": "download", "objects": [
                                  {"oid": "d" * 64, "size": 1}]}).encode())
            t.equal((r.status, b"?t=" in r.body), (502, False),
                    "a credential in an address")
            h.wait_for(lambda: s.events("alarm"), "no alarm")
            t.equal(s.events("alarm")[0]["kind"], "credential-reflected",
                    "is an alarm, and the destination is locked")
            m.close()
        g.end()


def test_settings():
    for name, settings, clone, waits in (
            ("fetch: deny", {"fetch": "deny"}, False, False),
            ("fetch: ask", {"fetch": "ask"}, True, True),
            ("push: deny", {"push": "deny"}, True, False)):
        with h.workdir() as work, t.case(name):
            g = GitServer(work)
            seed(g)
            with session(work, g, **settings) as s:
                git = Client(s, work)
                done = []
                one = threading.Thread(target=lambda: done.append(
                    git("clone", "-q", URL, git.dir)))
                one.start()
                asked = 0
                while one.is_alive():
                    for item in s.pending():
                        asked += 1
                        s.icctl("approve", item["id"])
                    one.join(0.1)
                t.equal((done[0].returncode == 0, asked > 0), (clone, waits),
                        name)
                if name == "push: deny":
                    git.commit("x", b"x")
                    r = git.here("push", "origin", "main")
                    t.ok(r.returncode != 0 and "403" in r.stderr and
                         not s.pending(), f"{name}: refused at once",
                         r.stderr)
            g.end()


def test_opened():
    """A git server that a person opens because git asked for it."""
    with h.workdir() as work:
        g = GitServer(work, "--anonymous")
        seed(g)
        host = "git.example.com"
        url = f"https://{host}/owner/repo.git"
        with h.Session(work, options=("--open-hosts", "ask"), config={
                "proxyTools": {"enabled": False, "hosts": {
                    host: {"upstream": g.url, "ca": g.ca}}}}) as s:
            git = Client(s, work)
            done = []
            one = threading.Thread(target=lambda: done.append(
                git("clone", "-q", url, git.dir)))
            one.start()
            hold = s.held()
            t.ok("as a git server to fetch from (no push)" in hold["effect"]
                 and hold["reason"].endswith("the agent says: git"),
                 "git asks for a git server", hold)
            s.icctl("approve", hold["id"], check=True)
            one.join(60 * h.PATIENCE)
            t.equal(done[0].returncode, 0, "and clones from it")
            t.ok(not any(n.lower() == "authorization" for x in g.seen()
                         for n, _ in x["headers"]), "without a credential")
            git.commit("x", b"x")
            r = git.here("push", "origin", "main")
            t.ok(r.returncode != 0 and "403" in r.stderr and
                 s.pending() == [], "a push is refused at once", r.stderr)
        g.end()


def test_reflected():
    with h.workdir() as work:
        g = GitServer(work, "--echo")
        with session(work, g) as s:
            git = Client(s, work)
            r = git("ls-remote", URL)
            t.ok(r.returncode != 0, "an answer that holds the token")
            h.wait_for(lambda: s.events("alarm"), "no alarm")
            t.equal(s.events("alarm")[0]["kind"], "credential-reflected",
                    "is cut, with an alarm")
        g.end()


def main():
    with h.workdir() as work:
        g = GitServer(work)
        first = seed(g)
        with session(work, g) as s:
            git = Client(s, work)
            test_clone(s, g, git, first)
            with t.case("push"):
                new = test_push(s, g, git, first)
                test_deny(s, g, git, new)
            for test in (test_large, test_gzip, test_refused):
                with t.case(test.__name__):
                    test(s, g, git)
            with t.case("git-lfs"):
                test_lfs(s, g)
                test_lfs_program(s, g, git)
            t.equal(s.events("alarm"), [], "no alarm")
            t.equal(joins.check_requests(s.audit(), g.seen()), [],
                    "what reached the server stands in the log")
            log = json.dumps(s.audit()) + s.session_log()
            t.ok(TOKEN not in log, "no token in our logs")
            keys = s.icctl("keys").stdout
            t.contains(keys, "github", "icctl keys has it")
        g.end()
    test_settings()
    for test in (test_opened, test_reflected, test_lfs_reflected):
        with t.case(test.__name__):
            test()
    t.done()


if __name__ == "__main__":
    main()
