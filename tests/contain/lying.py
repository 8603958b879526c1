# SPDX-License-Identifier: ISC
"""Tests that a compromised mitmd gains nothing by showing a person another
request than the one that it makes, because keyd computes the digest itself;
that a compromised egressd reaches no port that is not a service, and that a
compromised followd answers only what keyd redirects."""
import json
import os
import socket
import sys
import threading

import harness
from agent import Closed

sys.path.insert(0, harness.STANDINS)
from forge import BLOBS  # noqa: E402

HOST = "databases.test"
FILE = {
    "name": "databases", "host": HOST,
    "credential": {"env": "DATABASES_API_KEY", "sentinel": "sk-db-sentinel-",
                   "headers": [{"name": "x-api-key"}]},
    "requestHeaders": ["content-type"], "responseHeaders": ["content-type"],
    "routes": [{"method": "DELETE", "path": "/v1/databases/*", "ask": True},
               {"method": "GET", "path": "/v1/models"}]}


def libexec(work, args, lie="mitmd"):
    d = os.path.join(work, "libexec-lying")
    real = os.path.join(args.prefix, "libexec", "ironcurtain")
    os.makedirs(d)
    for name in os.listdir(real):
        os.symlink(os.path.join(args.build, "lying_" + lie)
                   if name == lie else os.path.join(real, name),
                   os.path.join(d, name))
    return d


def session(work, args, provider, lying):
    s = harness.Session(
        work, provider=provider, env={"DATABASES_API_KEY": "db-real-key-" * 3},
        libexecdir=libexec(work, args) if lying else None, config={
            "providers": {"databases": {"upstream": provider.url,
                                        "ca": provider.ca}},
            "credentials": {"databases": {"env": "DATABASES_API_KEY"},
                            "anthropic": {"env": "ANTHROPIC_API_KEY"},
                            "openai": {"env": "OPENAI_API_KEY"}}})
    s.write("providers/databases.json", FILE)
    return s


def delete(s):
    """Makes the agent's request, and approves it as shown. Returns hold,
    status."""
    m = s.model(HOST, key=s.agent_env()["DATABASES_API_KEY"], timeout=60)
    status = []

    def ask():
        r = m.request("DELETE", "/v1/databases/customers",
                      [("x-api-key", m.key)], None)
        status.append(r.status)

    asker = threading.Thread(target=ask, daemon=True)
    asker.start()
    hold = s.held()
    s.icctl("approve", hold["id"], check=True)
    asker.join(30)
    m.close()
    return hold, status


def reached(provider, before):
    return [r["target"] for r in provider.seen()[before:]
            if r["target"].startswith("/v1/databases")]


def test_lying(tap, args, work, provider):
    before = len(provider.seen())
    with session(os.path.join(work, "honest"), args, provider, False) as s:
        hold, _ = delete(s)
        tap.equal((hold["tool"], reached(provider, before)),
                  (f"DELETE https://{HOST}/v1/databases/customers",
                   ["/v1/databases/customers"]),
                  "an honest mitmd: what was shown and approved is sent")
    before = len(provider.seen())
    with session(os.path.join(work, "lying"), args, provider, True) as s:
        hold, status = delete(s)
        tap.equal(hold["tool"],
                  "GET https://docs.example/v1/databases/customers",
                  "a lying mitmd shows another request")
        tap.equal(status, [403], "approved: it is refused")
        tap.equal(reached(provider, before), [],
                  "and nothing reaches the provider")
        alarm = harness.wait_for(lambda: s.events("alarm"), "no alarm")
        tap.ok(alarm and alarm[-1]["kind"] == "request-mismatch" and
               "not the request that was approved" in alarm[-1]["text"],
               "with an alarm of keyd", alarm)


FORGE = "api.github.com"
FORGE_TOKEN = "github_pat_real0123456789abcdefABCDEF012345"
MUTATION = ("mutation($i:AddCommentInput!)"
            "{addComment(input:$i){commentEdge{node{url}}}}")


class Forge(harness.Process):
    def __init__(self, work):
        os.makedirs(work, exist_ok=True)
        self.log = os.path.join(work, "forge.jsonl")
        super().__init__(
            [harness.PYTHON, os.path.join(harness.STANDINS, "forge.py"),
             "--ca-dir", work, "--log", self.log, "--token", FORGE_TOKEN],
            os.path.join(work, "forge.err"))
        self.config = {"destinations": {"shop": {
            "kind": "forge", "forge": "github", "hosts": [FORGE],
            "upstream": f"https://127.0.0.1:{self.ready['port']}",
            "ca": os.path.join(work, "ca.pem"),
            "credential": {"env": "SHOP_TOKEN"},
            "repositories": ["me/shop"]}}}

    def mutations(self):
        return [r["body"] for r in harness.read_lines(self.log)
                if "mutation" in r["body"]]


def comment(s, text):
    """Sends a comment as an agent does, and approves whatever is shown. Returns
    what was shown, and the status."""
    m = s.model(FORGE, key=s.agent_env()["GH_TOKEN"], timeout=60)
    status = []

    def ask():
        body = json.dumps({"query": MUTATION, "variables": {
            "i": {"subjectId": "PR_12", "body": text}}}).encode()
        try:
            r = m.request("POST", "/graphql", [
                ("authorization", "token " + m.key),
                ("content-type", "application/json")], body)
            status.append(r.status)
        except (OSError, Closed):
            status.append(None)

    asker = threading.Thread(target=ask, daemon=True)
    asker.start()
    hold = harness.wait_for(
        lambda: s.pending() or not asker.is_alive() or
        s.process.p.poll() is not None, "neither held nor answered")
    shown = ""
    if isinstance(hold, list):
        shown = s.icctl("show", hold[0]["id"]).stdout
        s.icctl("approve", hold[0]["id"])
    asker.join(60)
    m.close()
    return shown, status


def test_forge(tap, args, work):
    """A lying mitmd can send no mutation as a read, and nothing of a forge
    whose sentence was not shown."""
    for text in ("evil", "evil-direct", "evil-query", "evil-body"):
        d = os.path.join(work, text)
        g = Forge(d)
        s = harness.Session(
            d, config=g.config, env={"SHOP_TOKEN": FORGE_TOKEN},
            libexecdir=None if text == "evil" else libexec(d, args)).start()
        shown, status = comment(s, text)
        if text == "evil":
            tap.ok("Comments on me/shop #12" in shown and "| evil" in shown,
                   "an honest mitmd: the comment is shown by name", shown)
            tap.ok(len(g.mutations()) == 1 and "evil" in g.mutations()[0],
                   "and sent once it is approved", g.mutations())
        elif text == "evil-body":
            tap.ok("good-body" in shown and "evil" not in shown,
                   "a lying mitmd shows another comment", shown)
            tap.equal(g.mutations(), [], "approved: neither of them is sent")
            tap.equal([e["kind"] for e in s.events("alarm")],
                      ["stream-mismatch"], "with an alarm of keyd")
        elif text == "evil-direct":
            tap.equal((shown, g.mutations()), ("", []),
                      "a mutation that goes around policyd is not sent")
            tap.equal([e["kind"] for e in s.events("alarm")],
                      ["request-mismatch"], "with an alarm of keyd")
        else:
            tap.equal(s.wait(30), 70,
                      "a mutation with the tree of a query ends the session")
            tap.contains(s.process.stderr(), "a body that its tree does not",
                         "because policyd composes it again")
            tap.equal((shown, g.mutations()), ("", []), "and it is not sent")
        s.stop()
        g.end()


def logs(s, run, answers):
    """Asks for the logs of a run, as an agent does. Returns the thread."""
    def ask():
        m = s.model(FORGE, key=s.agent_env()["GH_TOKEN"], timeout=60)
        try:
            r = m.request("GET", f"/repos/me/shop/actions/runs/{run}/logs",
                          [("authorization", "token " + m.key)], None)
            answers[run] = (r.status, r.body[:2])
        except (OSError, Closed):
            answers[run] = None
        m.close()

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    return thread


def test_follow(tap, args, work):
    """A lying followd or keyd can answer no request that keyd has not
    redirected: here one that still waits for a person."""
    for lie in (None, "followd", "keyd"):
        d = os.path.join(work, lie or "honest")
        g = Forge(d)
        g.config["destinations"]["shop"].update(read="ask")
        del g.config["destinations"]["shop"]["upstream"]
        del g.config["destinations"]["shop"]["ca"]
        port = g.ready["port"]
        proxy = harness.Process(
            [harness.PYTHON, os.path.join(harness.STANDINS,
                                          "connect_proxy.py"),
             "--log", os.devnull, "--map", f"{FORGE}:443={port}", "--map",
             f"{BLOBS}:443={port}"], os.devnull)
        g.config["proxy"] = {"url": f"http://127.0.0.1:{proxy.ready['port']}",
                             "ca": os.path.join(d, "ca.pem")}
        answers = {}
        with harness.Session(
                d, config=g.config, env={"SHOP_TOKEN": FORGE_TOKEN},
                libexecdir=libexec(d, args, lie) if lie else None) as s:
            logs(s, 4711, answers)
            first = s.held()
            second = logs(s, 4712, answers)
            hold = harness.wait_for(
                lambda: [h for h in s.pending() if h["id"] != first["id"]],
                "the second is not held")[0]
            s.icctl("approve", hold["id"], check=True)
            if not lie:
                second.join(60)
                tap.equal(answers, {4712: (200, b"PK")},
                          "an honest followd answers what was redirected")
                tap.equal(s.events("alarm"), [], "without an alarm")
            elif lie == "keyd":
                harness.wait_for(lambda: s.process.p.poll() is not None,
                                 "the session goes on")
                end = json.dumps(s.events("stop"))
                tap.ok("FOLLOW of a request that was not released to it" in
                       end, "a lying keyd ends the session", end)
                tap.equal(s.events("redirect"), [], "nothing is fetched")
                tap.ok(answers.get(4711, (0, b""))[0] != 200, "or answered",
                       answers)
            else:
                alarm = harness.wait_for(
                    lambda: s.events("alarm") or answers, "no alarm")
                tap.ok(isinstance(alarm, list) and
                       "keyd has not redirected" in alarm[0]["text"],
                       "a lying followd answers another: an alarm", alarm)
                tap.equal([h["id"] for h in s.pending()], [first["id"]],
                          "that request still waits for its person")
                tap.ok(4711 not in answers, "and has no answer", answers)
        proxy.end()
        g.end()


ASK = """import socket, time
try:
    with socket.create_connection(("127.0.0.1", 5432), 20) as c:
        got = c.recv(16)
except OSError:
    got = b""
open("/workspace/told", "wb").write(got)
time.sleep(60)
"""


def connect(s, host):
    """Returns the answer to a CONNECT, which may wait; None: there is none."""
    try:
        m = s.model(host, timeout=60)
    except (OSError, Closed):
        return None
    m.close()
    return m.connect_response.status


def test_hosts(tap, args, work):
    """A lying mitmd can open no host but the one that a person was shown."""
    reached = []
    evil = socket.create_server(("127.0.0.1", 0))
    greet(evil, b"evil", reached)
    hosts = {"evil.example.com": {
        "upstream": "https://127.0.0.1:%d" % evil.getsockname()[1]}}
    with harness.Session(
            work, libexecdir=libexec(work, args),
            options=("--open-hosts", "ask"),
            config={"proxyTools": {"enabled": False, "hosts": hosts}}) as s:
        status = []
        asker = threading.Thread(
            target=lambda: status.append(connect(s, "evil.example.com")),
            daemon=True)
        asker.start()
        hold = s.held()
        tap.equal(hold["tool"], "open docs.example.com:443",
                  "a lying mitmd asks for another host than the program")
        s.icctl("approve", hold["id"], check=True)
        added = harness.wait_for(lambda: s.events("destinationAdded"),
                                 "nothing was opened")
        tap.equal([e["detail"]["host"] for e in added], ["docs.example.com"],
                  "approved: that host is opened")
        wild = s.model("wild.example.com", connect=False)
        wild.sock.sendall(b"CONNECT wild.example.com:443 HTTP/1.1\r\n\r\n")
        tap.equal(s.wait(30), 70, "it asks for localhost: the session ends")
        tap.contains(s.process.stderr(), "HOST_ASK",
                     "because policyd checks the name, too")
        wild.close()
        asker.join(60)
        tap.ok(status in ([None], [503]) and reached == [],
               "and the other one was never reached", (status, reached))
    evil.close()


def neighbours():
    """Two listeners, one port after the other."""
    while True:
        first = socket.create_server(("127.0.0.1", 0))
        try:
            return first, socket.create_server(
                ("127.0.0.1", first.getsockname()[1] + 1))
        except (OSError, OverflowError):
            first.close()


def greet(listener, text, reached):
    def run():
        while True:
            try:
                c, _ = listener.accept()
            except OSError:
                return
            reached.append(text)
            with c:
                c.sendall(text)
    threading.Thread(target=run, daemon=True).start()


def test_service(tap, args, work):
    service, other = neighbours()
    reached = []
    greet(service, b"service", [])
    greet(other, b"other", reached)
    for lie in (False, True):
        d = os.path.join(work, "lying" if lie else "honest")
        os.makedirs(d)
        s = harness.Session(
            d, runtime="bwrap", options=(
                "--agent", "command", "--", "/usr/bin/python3", "-c", ASK),
            config={"services": {"db": {
                "port": 5432,
                "to": "127.0.0.1:%d" % service.getsockname()[1]}}},
            libexecdir=libexec(d, args, "egressd") if lie else None).start()
        if lie:
            tap.equal(s.wait(30), 70, "a lying egressd: the session ends")
            tap.contains(s.process.stderr(), "auditd",
                         "because auditd has the list, too")
            tap.equal((s.events("connect"), reached), ([], []),
                      "nothing is connected, and no such record written")
            continue
        told = os.path.join(s.workspace, "told")
        harness.wait_for(lambda: os.path.exists(told) and
                         os.path.getsize(told), "no answer")
        with open(told, encoding="ascii") as f:
            tap.equal(f.read(), "service", "an honest egressd: the service")
        s.stop()
    service.close()
    other.close()
