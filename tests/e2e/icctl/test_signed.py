#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Signed answers: with "approvers" in config.json a call is approved by so many
people's signatures of exactly that call, and by nothing else."""
import base64
import hashlib
import json
import os
import select
import shutil
import socket
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import tmux  # noqa: E402
import webpage  # noqa: E402
from test_hub import Hub, hub_file, relay_of  # noqa: E402
from test_overview import RULES  # noqa: E402

t = h.Tap()
SPACE = "ironcurtain"


class People:
    """Keys of ssh's, and the file of approvers."""

    def __init__(self, work):
        self.dir = os.path.join(work, "people")
        os.makedirs(self.dir, mode=0o700)
        self.lines = {}
        for name in ("ann", "bob", "bob-2", "eve"):
            self.run("-q", "-t", "ed25519", "-N", "", "-C", "",
                     "-f", self.key(name))
        for name in ("ann", "bob", "bob-2"):
            with open(self.key(name) + ".pub", encoding="ascii") as f:
                self.lines[name] = f"{name.split('-')[0]} {f.read().strip()}"
        # A key of a device, whose signatures this test composes.
        self.run("-q", "-t", "ed25519", "-N", "", "-m", "PEM", "-C", "",
                 "-f", self.key("device"))
        self.secret = os.path.join(self.dir, "device.pem")
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out",
                        self.secret], check=True, capture_output=True)
        der = subprocess.run(["openssl", "pkey", "-in", self.secret, "-pubout",
                              "-outform", "DER"], check=True,
                             capture_output=True).stdout
        self.device = (text(b"sk-ssh-ed25519@openssh.com") + text(der[-32:]) +
                       text(b"ssh:"))
        self.lines["dan"] = ("dan sk-ssh-ed25519@openssh.com " +
                             base64.b64encode(self.device).decode())
        self.file = os.path.join(self.dir, "approvers")
        h.put(self.file, "# those who may\n\n" +
              "\n".join(self.lines.values()) + "\n", 0o644)

    def key(self, name):
        return os.path.join(self.dir, name)

    @staticmethod
    def run(*args, **kw):
        return subprocess.run(["ssh-keygen", *args], check=True,
                              capture_output=True, **kw).stdout

    def signed(self, key, name, to_sign, expires=None, namespace=SPACE):
        """Returns a signature as `icctl sign` prints it."""
        expires = int(time.time()) + 600 if expires is None else expires
        return f"{name} {expires}\n" + self.run(
            "-Y", "sign", "-f", self.key(key), "-n", namespace,
            input=f"{to_sign}expires {expires}\n".encode()).decode()

    def touched(self, to_sign):
        """The same of the device: a composed signature of a hardware key."""
        expires = int(time.time()) + 600
        message = f"{to_sign}expires {expires}\n".encode()
        blob = (b"SSHSIG" + text(SPACE.encode()) + text(b"") + text(b"sha512")
                + text(hashlib.sha512(message).digest()))
        tail = b"\x01" + struct.pack(">I", 7)
        h.put(os.path.join(self.dir, "raw"), "")
        with open(os.path.join(self.dir, "raw"), "wb") as f:
            f.write(hashlib.sha256(b"ssh:").digest() + tail +
                    hashlib.sha256(blob).digest())
        sig = subprocess.run(
            ["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", self.secret,
             "-in", os.path.join(self.dir, "raw")], check=True,
            capture_output=True).stdout
        whole = (b"SSHSIG" + struct.pack(">I", 1) + text(self.device) +
                 text(SPACE.encode()) + text(b"") + text(b"sha512") +
                 text(text(b"sk-ssh-ed25519@openssh.com") + text(sig) + tail))
        lines = base64.b64encode(whole).decode()
        return (f"dan {expires}\n-----BEGIN SSH SIGNATURE-----\n" + "\n".join(
            lines[i:i + 70] for i in range(0, len(lines), 70)) +
            "\n-----END SSH SIGNATURE-----\n")


def text(b):
    return struct.pack(">I", len(b)) + b


def session(work, people, name, needed=2, libexecdir=None, **more):
    place = os.path.join(work, name)
    os.makedirs(place, mode=0o700)
    asks = h.put(os.path.join(place, "asks", "log"), "")
    return h.Session(
        place, {"echo": h.echo_server(os.path.join(place, "log", "log")),
                "asks": {"command": h.PYTHON, "args": [
                    os.path.join(h.STANDINS, "mcp_asks.py"), asks],
                    "sandbox": {"filesystem": {
                        "allowRead": [h.STANDINS],
                        "allowWrite": [os.path.dirname(asks)]}}}},
        RULES, {"echo": h.ECHO_TOOLS},
        config={"approvers": {"file": people.file, "needed": needed},
                "policy": {"trustedServers": ["asks"]}, **more},
        session_dir=os.path.join(place, "home", "sessions", name),
        libexecdir=libexecdir)


def ask(s, **request):
    """Sends a request, without the start of a program."""
    with socket.socket(socket.AF_UNIX) as c:
        c.connect(os.path.join(s.dir, "control.sock"))
        with c.makefile("rw", encoding="utf-8") as f:
            f.write(json.dumps(request) + "\n")
            f.flush()
            return json.loads(f.readline())


def approve(s, hold, *signatures):
    path = h.put(os.path.join(s.work, "signed"), "".join(signatures))
    return s.icctl("--json", "approve", hold["id"], "--digest", hold["digest"],
                   "--signed", path)


def refused(s, hold, why, name, *signatures):
    r = ask(s, op="approve", id=hold["id"], digest=hold["digest"],
            signed="".join(signatures))
    waits = [x["id"] for x in ask(s, op="pending")["holds"]]
    t.ok(not r["ok"] and why in r["error"] and waits == [hold["id"]],
         f"refused: {name}", (r, waits))


def sign(s, people, key, name, *words, answers=None, **kw):
    return s.icctl("sign", *words, "--as", name, "--key", people.key(key),
                   answers=answers, **kw)


def test_rows(people, s, other):
    call = s.client().start_call("echo__echo", {"text": "of one"})
    hold = s.held()
    other.client().start_call("echo__echo", {"text": "of one"})
    elsewhere = other.held()
    me, boot = hold["toSign"].splitlines()[1:3]
    t.ok(me == "host " + os.uname().nodename and boot.startswith("boot ") and
         "session one" in hold["toSign"] and "session two" in
         elsewhere["toSign"] and hold["digest"] in hold["toSign"],
         "the text names machine, boot, session and call", hold["toSign"])
    text_, now = hold["toSign"], int(time.time())
    ann = people.signed("ann", "ann", text_)
    bob = people.signed("bob", "bob", text_)
    refused(s, hold, "signed approvals only", "no signature")
    refused(s, hold, "1 of 2 people", "one of two", ann)
    refused(s, hold, "1 of 2 people", "one person twice", ann, ann)
    refused(s, hold, "1 of 2 people", "one person with two keys", bob,
            people.signed("bob-2", "bob", text_))
    refused(s, hold, "is nobody's", "somebody who is no approver", ann,
            people.signed("eve", "eve", text_))
    refused(s, hold, "not that key's", "somebody else's signature", ann,
            people.signed("eve", "bob", text_))
    refused(s, hold, "not that key's", "ann as bob", ann,
            people.signed("ann", "bob", text_))
    refused(s, hold, "has expired", "expired", ann,
            people.signed("bob", "bob", text_, now - 1))
    refused(s, hold, "more than 24 hours", "valid for ever", ann,
            people.signed("bob", "bob", text_, now + 90000))
    refused(s, hold, "not that key's", "another time than was signed", ann,
            bob.replace(bob.split()[1], str(now + 9000), 1))
    refused(s, hold, "not that key's", "of another session", ann,
            people.signed("bob", "bob", elsewhere["toSign"]))
    refused(s, hold, "not that key's", "another machine", ann,
            people.signed("bob", "bob", text_.replace(me, "host else")))
    refused(s, hold, "not that key's", "another verdict", ann, people.signed(
        "bob", "bob", text_.replace("verdict approve", "verdict deny")))
    refused(s, hold, "not that key's", "another use of the key", ann,
            people.signed("bob", "bob", text_, namespace="git"))
    refused(s, hold, "no base64", "a damaged one", ann,
            bob.replace("U1NIU0lH", "U1N!U0lH"))
    refused(s, hold, "has no end", "one that is cut", ann, bob[:200])
    refused(s, hold, "must begin", "no signature at all", "yes please\n")
    refused(s, hold, "more than 8", "nine", *([ann] * 9))
    r = s.icctl("--json", "approve", hold["id"], "--for-session", "--signed",
                h.put(os.path.join(s.work, "signed"), ann + bob))
    t.ok(r.returncode != 0, "refused: for the session", r)
    r = approve(s, hold, ann, bob)
    t.ok(r.returncode == 0 and "of one" in h.text_of(call.wait()),
         "two people's signatures approve it", r)
    record = s.audit("signedAnswer")[-1]
    t.ok(record["detail"]["signers"] == "ann bob" and
         record["detail"]["digest"] == hold["digest"] and
         len(s.audit("signedAnswer")) == 1, "the log says whose", record)
    again = s.client().start_call("echo__echo", {"text": "of one"})
    hold = s.held()
    t.ok(hold["digest"] in text_, "the same call comes again")
    refused(s, hold, "not that key's", "signatures of the first", ann, bob)
    r = approve(s, hold, people.signed("ann", "ann", hold["toSign"]),
                people.touched(hold["toSign"]))
    t.ok(r.returncode == 0 and "of one" in h.text_of(again.wait()),
         "a key of a device signs, too", r)


def test_sign(people, s):
    call = s.client().start_call("echo__echo", {"text": "shown"})
    hold = s.held()
    r = sign(s, people, "ann", "ann", hold["id"])
    t.ok(r.returncode == 64 and "--digest" in r.stderr and r.stdout == "",
         "icctl sign asks a person", r)
    r = sign(s, people, "ann", "ann", hold["id"], "--digest", "0" * 64)
    t.ok(r.returncode != 0 and r.stdout == "", "of this call", r)
    r = sign(s, people, "ann", "ann", hold["id"], "--digest", hold["digest"])
    t.ok(r.returncode == 0 and "shown" in r.stderr and
         "session one on" in r.stderr and r.stdout.startswith("ann "),
         "it shows the call, and prints a signature", r)
    ann = r.stdout
    for name, change in (
            ("arguments", {"arguments": '{"text":"harmless"}'}),
            ("a tool", {"tool": "other"}),
            ("a digest", {"digest": "0" * 64}),
            ("the text's form", {"toSign": hold["toSign"].replace(
                "session one", "session  two")}),
            ("a verdict", {"toSign": hold["toSign"] + "verdict approve\n"}),
            ("it to a question", {"question": True}),
            ("nothing to sign", {"toSign": ""})):
        path = h.put(os.path.join(s.work, "lie"),
                     json.dumps({"hold": {**hold, **change}}))
        r = sign(s, people, "bob", "bob", "--hold", path, "--digest",
                 hold["digest"])
        t.ok(r.returncode != 0 and r.stdout == "",
             f"a relay that changes {name}: nothing is signed", r)
    for name, change in (
            ("as a request", {"request": True}),
            ("as a host", {"host": True}),
            ("as a limit", {"limit": True}),
            ("as a login", {"login": True}),
            ("with its arguments as roles", {"request": True, "resources": [
                {"role": "read-path", "argument": "text",
                 "value": "shown"}]}),
            ("with another effect", {"host": True, "asks": [], "rule": "x",
                                     "effect": "reads one file"})):
        path = h.put(os.path.join(s.work, "lie"),
                     json.dumps({"hold": {**hold, **change}}))
        r = sign(s, people, "bob", "bob", "--hold", path, "--digest",
                 hold["digest"])
        bound = r.stderr.partition("This is what is signed.")[2]
        t.ok('    text = "shown"\n' in bound and
             'signs: "echo" / "echo"\n' in bound,
             f"a relay that shows it {name}: what is signed is shown", r)
    hub = Hub(s.work, hub_file(s.work, [("red", relay_of(s))]))
    far = hub.held("red/one")
    r = sign(s, people, "bob", "bob", "--hold", "-", "--digest",
             hold["digest"], answers=json.dumps({"hold": far}))
    t.ok(r.returncode == 0, "a call that a hub shows is signed", r)
    reply = hub.reply(hub.ask("approve", "red/one", id=far["id"],
                              digest=far["digest"]))
    t.equal((reply["ok"], reply["code"]), (False, "needs-signatures"),
            "through a hub, too, nothing else approves it")
    reply = hub.reply(hub.ask("approve", "red/one", id=far["id"],
                              digest=far["digest"], signed=ann + r.stdout))
    t.ok(reply["ok"] and "shown" in h.text_of(call.wait()),
         "and two signatures do", reply)
    hub.end()


def stood():
    """Waits until a call has been on a screen for a second: the time is the
    test's subject."""
    h.wait_for(iter((False, True)).__next__, "", poll=1.2)


def signs_here(term, people, name):
    """Answers what `icctl sign` asks."""
    term.until("Sign the approval of this call? [y/N]")
    term.run("y")
    term.until("Your name in the file of approvers")
    term.run(name)
    term.until("Your key of ssh's")
    term.run(people.key(name))


def test_screens(people, s):
    """The key S of watch and of its screen, and the command on the page."""
    agent = s.client()
    term = tmux.Tmux(s.work, {
        "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": people.dir,
        "USER": "bob", "IRONCURTAIN_HOME": s.home}, 48, 100)
    watch = f"{h.program('icctl')} --session {s.dir} watch"
    call = agent.start_call("echo__echo", {"text": "by a key"})
    hold = s.held()
    term.run(watch + " --plain")
    t.ok(not any("[a]pprove" in x for x in term.until("[S]ign")),
         "watch offers to sign, and no other approval")
    term.text("a")
    term.until("press S to sign it")
    stood()
    term.text("S")
    term.until("This is what is signed.")
    term.until("Sign the approval of this call? [y/N]")
    term.run("n")
    term.until("Nothing was signed.")
    t.equal(s.held()["id"], hold["id"], "who says no signs nothing")
    term.until("[S]ign")
    stood()
    term.text("S")
    signs_here(term, people, "eve")
    term.until("is nobody's")
    t.equal(s.held()["id"], hold["id"], "nor does one who is no approver")
    term.until("[S]ign")
    stood()
    term.text("S")
    signs_here(term, people, "ann")
    t.ok("by a key" in h.text_of(call.wait()) and
         s.audit("signedAnswer")[-1]["detail"]["signers"] == "ann",
         "the key S signs the call and approves it")
    term.text("q")
    term.run("clear")
    call = agent.start_call("echo__echo", {"text": "on the screen"})
    hold = s.held()
    term.run(watch)
    term.until("on the screen")
    stood()
    term.text("a")
    term.until("S signs it")
    term.text("S")
    signs_here(term, people, "bob")
    term.until("Enter goes back")
    term.keys("Enter")
    t.ok("on the screen" in h.text_of(call.wait()) and
         s.audit("signedAnswer")[-1]["detail"]["signers"] == "bob",
         "so does that of the screen")
    term.text("q")
    term.end()
    call = agent.start_call("echo__echo", {"text": "on the page"})
    hold = s.held()
    page = webpage.Page(s.home)
    page.login()
    sid = page.until(lambda o: any(x["calls"] for x in o["sessions"]),
                     "the call")["sessions"][0]["id"]
    def whole():
        status, o = page.ask("/api/call", {"session": sid, "call": hold["id"]})
        return o if status == 200 else None
    shown = h.wait_for(whole, "the call")
    t.ok(shown["sign"].endswith(f"--digest {hold['digest']} --signed -"),
         "the page shows the command", shown)
    words = shown["sign"].replace(
        f" sign {hold['id']}", f" sign {hold['id']} --as ann --key "
        f"{people.key('ann')} --digest {hold['digest']}").replace(
            "icctl ", h.program("icctl") + " ")
    r = subprocess.run(["sh", "-c", words], env=page.env, capture_output=True,
                       text=True, timeout=60 * h.PATIENCE, check=False)
    t.ok(r.returncode == 0 and "on the page" in h.text_of(call.wait()),
         "which approves it", r)
    page.stop()


def test_question(people, s):
    """One that asks for a consent alone, so that an approval is an answer."""
    call = s.client().start_call("asks__ask", {"ask": [{
        "message": "Is it agreed?", "requestedSchema": {
            "type": "object", "properties": {}}}]})
    hold = s.held()
    r = sign(s, people, "ann", "ann", hold["id"], "--digest", hold["digest"])
    t.ok(r.returncode != 0 and r.stdout == "" and "declined" in r.stderr,
         "a server's question is not signed", r)
    refused(s, hold, "only be declined", "signatures of a question",
            people.signed("ann", "ann", hold["toSign"]),
            people.signed("bob", "bob", hold["toSign"]))
    s.icctl("deny", hold["id"], check=True)
    call.wait()


def rules_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def test_wider(s):
    for words in (["budget", "set", "maxSteps", "9999"], ["unlock"],
                  ["keys", "reload", "anthropic"]):
        r = s.icctl(*words)
        t.ok(r.returncode != 0 and "signed answers" in r.stderr,
             f"refused without signatures: {words}", r)
    for op in ("reload", "trust"):
        t.equal(ask(s, op=op)["code"], "needs-signatures", f"refused: {op}")
    call = s.client().start_call("echo__echo", {"text": "no"})
    hold = s.held()
    for words in (["always"], ["--json", "always"]):
        policy = os.path.join(s.home, "policy", "compiled-policy.json")
        before = rules_of(policy)
        r = s.icctl(*words, hold["id"], answers="y\n")
        t.ok(r.returncode != 0 and "signed answers" in r.stderr and
             rules_of(policy) == before,
             f"refused without signatures, and no rule is left: {words}", r)
    r = s.icctl("deny", hold["id"])
    t.ok(r.returncode == 0 and call.wait().get("isError"),
         "to deny needs no signature", r)
    r = s.icctl("stop")
    t.equal(r.returncode, 0, "nor does to stop")


def slow_libexec(work):
    """Returns programs of which ic-signed waits for a line of a fifo before it
    checks an answer, and the fifo: who opens it knows that it waits."""
    real = os.path.join(h.PREFIX, "libexec", "ironcurtain")
    place, fifo = os.path.join(work, "slow"), os.path.join(work, "fifo")
    os.makedirs(place)
    os.mkfifo(fifo)
    for name in os.listdir(real):
        if name != "ic-signed":
            os.symlink(os.path.join(real, name), os.path.join(place, name))
    h.put(os.path.join(place, "ic-signed"), f"""#!/bin/sh
[ "$1" = file ] || read -r _ <{fifo}
exec {real}/ic-signed "$@"
""", 0o755)
    return place, fifo


def asked(s, hold, signed):
    """Sends an approval. Returns the connection."""
    c = socket.socket(socket.AF_UNIX)
    c.connect(os.path.join(s.dir, "control.sock"))
    c.sendall(json.dumps({"op": "approve", "id": hold["id"], "digest": hold[
        "digest"], "signed": signed}).encode() + b"\n")
    return c


def test_slow(people, s, fifo):
    """Signatures whose check takes longer than other answers may."""
    call = s.client().start_call("echo__echo", {"text": "slowly"})
    hold = s.held()
    ann = people.signed("ann", "ann", hold["toSign"])
    with asked(s, hold, ann) as c:
        with open(fifo, "w", encoding="ascii") as f:
            early = select.select([c], [], [], 4)[0]
            t.equal(early, [], "a check of seconds is waited for")
            r = ask(s, op="approve", id=hold["id"], digest=hold["digest"],
                    signed=ann)
            t.equal(r["code"], "busy", "another answer has to wait")
            f.write("\n")
        reply = json.loads(c.makefile("r", encoding="utf-8").readline())
    t.ok(reply["ok"] and "slowly" in h.text_of(call.wait()),
         "and good signatures count then", reply)
    call = s.client().start_call("echo__echo", {"text": "nobody"})
    hold = s.held()
    c = asked(s, hold, people.signed("ann", "ann", hold["toSign"]))
    with open(fifo, "w", encoding="ascii") as f:
        c.close()
        f.write("\n")
    h.wait_for(lambda: "in vain" in s.session_log(), "it is not noted")
    t.ok(s.held()["id"] == hold["id"],
         "of a client that is gone they do not, and the log says so")
    s.icctl("deny", hold["id"], check=True)
    call.wait()


def test_stuck(people, s, fifo):
    """A check that never ends is ended, after a minute, and the next begins."""
    call = s.client().start_call("echo__echo", {"text": "stuck"})
    hold = s.held()
    ann = people.signed("ann", "ann", hold["toSign"])
    with asked(s, hold, ann) as c, open(fifo, "w", encoding="ascii"):
        reply = json.loads(c.makefile("r", encoding="utf-8").readline())
    t.ok(not reply["ok"] and "has not ended in time" in reply["error"],
         "a check that never ends is ended", reply)
    with asked(s, hold, ann) as c, open(fifo, "w", encoding="ascii") as f:
        f.write("\n")
        f.flush()
        reply = json.loads(c.makefile("r", encoding="utf-8").readline())
    t.ok(reply["ok"] and "stuck" in h.text_of(call.wait()),
         "and the next one begins", reply)


def test_files(work, people):
    inside = "of the workspace"
    for n, (name, path, lines, needed, why) in enumerate((
            ("no file", "/no/such", None, 1, "No such file"),
            ("a relative path", "approvers", None, 1, "absolute"),
            ("three of two", None, [people.lines["ann"],
                                    people.lines["bob"]], 3, "names 2"),
            ("a pattern", None, [people.lines["ann"].replace("ann", "*", 1)],
             1, "plain name"),
            ("a certificate", None, ["ann cert-authority " +
                                     people.lines["bob"].split(" ", 1)[1]],
             1, "certificates"),
            ("one key of two names", None, [people.lines["ann"],
             "eve " + people.lines["ann"].split(" ", 1)[1]], 1,
             "another name"),
            ("no key", None, ["ann"], 1, "line 1 has no key"),
            ("nobody", None, ["# nobody"], 1, "names nobody"),
            ("a file of the agent's", inside, [people.lines["ann"]], 1,
             "can write"))):
        place = os.path.join(work, f"bad{n}")
        os.makedirs(os.path.join(place, "workspace"), mode=0o700)
        if path == inside:
            path = os.path.join(place, "workspace", "approvers")
        elif path is None:
            path = os.path.join(place, "approvers")
        if lines is not None:
            h.put(path, "\n".join(lines) + "\n")
        try:
            with h.Session(place, config={"approvers": {
                    "file": path, "needed": needed}}):
                t.ok(False, f"refused at the start: {name}")
        except RuntimeError as e:
            t.ok(why in str(e), f"refused at the start: {name}", e)


def main():
    if not shutil.which("bwrap") or not shutil.which("openssl"):
        t.skip("signed answers", "bubblewrap or openssl is not installed")
        t.done()
    with h.workdir() as work:
        people = People(work)
        if sys.argv[1:] == ["stuck"]:
            place, fifo = slow_libexec(work)
            with session(work, people, "stuck", needed=1,
                         libexecdir=place) as s:
                test_stuck(people, s, fifo)
            t.done()
        with session(work, people, "one") as one, \
                session(work, people, "two") as two:
            with t.case("rows"):
                test_rows(people, one, two)
            with t.case("sign"):
                test_sign(people, one)
            with t.case("question"):
                test_question(people, one)
            with t.case("wider"):
                test_wider(one)
        if tmux.PROGRAM:
            with t.case("screens"), session(work, people, "screens",
                                            needed=1) as s:
                test_screens(people, s)
        place, fifo = slow_libexec(work)
        with t.case("slow"), session(work, people, "slowly", needed=1,
                                     libexecdir=place) as s:
            test_slow(people, s, fifo)
        with t.case("files"):
            test_files(work, people)
    t.done()


if __name__ == "__main__":
    main()
