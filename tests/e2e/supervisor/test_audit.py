#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests the end of the audit log: arguments that imitate a closing record,
torn lines, a full disk, killed sessions, and where the last hash is shown."""
import json
import os
import resource
import signal
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import joins  # noqa: E402
from traces import children  # noqa: E402

t = h.Tap()


def build(work, **kw):
    log = os.path.join(work, "log-echo", "log.jsonl")
    return h.Session(work, {"echo": h.echo_server(log)},
                     [h.rule("echo", "allow", tool=["echo", "slow"])],
                     {"echo": h.ECHO_TOOLS}, **kw)


def log_of(s):
    return os.path.join(s.dir, "audit.jsonl")


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)
    return path


def verify(s, path=None):
    r = s.icctl("--json", "audit", "verify", path or log_of(s))
    return r.returncode, json.loads(r.stdout)


def killed(work, **kw):
    """Runs a session and kills all its processes after the last line was
    written."""
    s = build(work, **kw).start()
    s.client().call("echo__echo", {"text": "x"})
    everyone = [*children(s.pid), s.pid]
    for pid in everyone:
        h.kill(pid, signal.SIGSTOP)
    for pid in everyone:
        h.kill(pid)
    s.wait()
    h.wait_for(lambda: not any(map(h.alive, everyone)), "all are gone")
    s.process.end()
    return s


def test_forged():
    """Arguments are an agent's own text."""
    with h.workdir() as work, t.case("forged"):
        with build(work) as s:
            m = s.client()
            m.call("echo__echo", {"text": "x", "event": "stop",
                                  "detail": {"torn": 7}})
            m.call("echo__nothing", {"event": "stop"})
        whole = read(log_of(s))
        t.equal((verify(s)[0], verify(s)[1]["closed"]), (0, True),
                "a log with its closing record is closed")
        lines = whole.splitlines(keepends=True)
        at = max(i for i, line in enumerate(lines)
                 if b'{"arguments":{' in line and b'"event":"stop"' in line)
        cut = write(os.path.join(work, "cut.jsonl"),
                    b"".join(lines[:at + 1]))
        t.equal((verify(s, cut)[0], verify(s, cut)[1]["closed"]), (0, False),
                "one that is cut behind such arguments is not")
        for name, where in (("before such arguments", at),
                            ("before the closing record", len(lines) - 1),
                            ("in the middle", 3)):
            forged = write(os.path.join(work, "forged.jsonl"), b"".join(
                [*lines[:where], b"garbage\n", *lines[where:]]))
            status, said = verify(s, forged)
            t.equal((status, said["ok"], said["line"]),
                    (1, False, where + 1), f"a line of garbage {name}: found")


def test_torn():
    """A log cut at any byte of its last records is continued."""
    with h.workdir() as work, t.case("torn"):
        with build(work) as s:
            s.client().call("echo__echo", {"text": '{"a":{"b":"}"}}'})
        whole = read(log_of(s))
        ends = [i + 1 for i, b in enumerate(whole) if b == ord("}")]
        inner = [i for i in ends if whole[i:i + 1] not in (b"\n", b"")]
        cuts = [*inner[-4:], inner[len(inner) // 2], len(whole) - 1,
                len(whole) - 30]
        for cut in cuts:
            write(log_of(s), whole[:cut])
            again = build(work).start()
            status = again.stop()
            code, said = verify(s)
            t.equal((status, code, said["closed"]), (0, 0, True),
                    f"cut {len(whole) - cut} bytes before its end: continued "
                    "and good")
        # The record after a torn line has the length of that line.
        whole = read(log_of(s))
        i = whole.index(b'"torn":') if b'"torn":' in whole else -1
        t.ok(i > 0, "the first record behind a torn line says its length")
        torn = [n for n, line in enumerate(whole.splitlines())
                if not line.endswith(b'"}')][:1]
        lines = whole.splitlines(keepends=True)
        lines[torn[0]] = lines[torn[0]][:-1] + b"x\n"
        forged = write(os.path.join(work, "longer.jsonl"), b"".join(lines))
        t.equal(verify(s, forged)[0], 1, "another length is found")


def test_old():
    """A log of a version whose records did not mention torn lines."""
    import hashlib
    with h.workdir() as work, t.case("old"):
        prev, out = "0" * 64, []
        for seq, (event, torn) in enumerate(
                (("start", ""), ("call", "torn li"), ("stop", "")), 1):
            body = json.dumps({"detail": {}, "event": event, "mono": 1,
                               "prev": prev, "seq": seq, "time": "x"},
                              separators=(",", ":"))
            prev = hashlib.sha256(body.encode()).hexdigest()
            out.append(body[:-1] + f',"hash":"{prev}"}}\n')
            if torn:
                out.append(torn + "\n")
        path = write(os.path.join(work, "old.jsonl"), "".join(out).encode())
        r = subprocess.run([h.program("icctl"), "audit", "verify", path],
                           env={"HOME": work}, capture_output=True, text=True,
                           check=False)
        t.equal(r.returncode, 0, "a torn line in an older log is taken")
        t.contains(r.stdout, "older version", "and noted")


def test_close():
    with h.workdir() as work, t.case("close"):
        s = killed(work)
        t.equal(verify(s)[1]["closed"], False,
                "all processes killed: no closing record")
        with open(log_of(s), "ab") as f:
            f.write(b'{"arguments":{"a":1}')
        before = os.stat(log_of(s)).st_blocks
        # As a session with --publish leaves it.
        h.put(os.path.join(s.dir, "sockets", "publish.sock"), "")
        r = s.icctl("close", s.dir)
        t.equal(r.returncode, 0, "icctl close")
        code, said = verify(s)
        t.equal((code, said["closed"]), (0, True), "writes one")
        t.contains(r.stdout, said["hash"], "says the last hash")
        last = json.loads(read(log_of(s)).splitlines()[-1])
        t.equal((last["detail"]["status"], last["detail"]["torn"]), (137, 20),
                "which says what was torn")
        with open(os.path.join(s.dir, "session.json"), encoding="utf-8") as f:
            t.equal(json.load(f)["state"], "crashed",
                    "session.json says so")
        t.equal(os.listdir(os.path.join(s.home, "run")), [],
                "its link is gone")
        t.equal([n for _, _, names in os.walk(s.dir) for n in names
                 if n.endswith(".sock")], [], "and so are its sockets")
        t.ok(os.stat(log_of(s)).st_blocks < before,
             "the reserved disk is given back")
        size = os.path.getsize(log_of(s))
        r = s.icctl("close", s.dir)
        t.equal((r.returncode, os.path.getsize(log_of(s))), (0, size),
                "once more changes nothing")
        t.contains(r.stdout, "already closed", "and says so")
        with build(work) as s:
            r = s.icctl("close", s.dir)
            t.equal(r.returncode, 1, "one that runs is refused")
            t.contains(r.stderr, "stop", "with what to do")
        t.equal(verify(s)[0], 0, "a closed log can be continued")
        # An epilog closes every session, also one that has ended by itself.
        size = os.path.getsize(log_of(s))
        r = s.icctl("close", s.dir)
        t.equal((r.returncode, "already closed" in r.stdout,
                 os.path.getsize(log_of(s))), (0, True, size),
                "one that has ended by itself gets no second closing record")
        r = s.icctl("close", work)
        t.equal(r.returncode, 3, "a directory without a log is none")


def test_under_way():
    with h.workdir() as work, t.case("under way"):
        with build(work) as s:
            m = s.client()
            m.start_call("echo__slow", {"ms": 60000})
            h.wait_for(lambda: s.events("call"), "the call")
        call = s.events("call")[0]["id"]
        t.equal([(r["status"], r["error"]) for r in s.events("result")
                 if r["id"] == call], [("lost", "the session ended")],
                "a call under way at the end gets a last line")
        t.equal(s.audit()[-1]["event"], "stop", "before the closing record")


def reserved(path):
    st = os.stat(path)
    return st.st_blocks * 512 - st.st_size


def test_full():
    """Simulates a full disk by a limit on the size of files."""
    with h.workdir() as work, t.case("full"):
        s = build(work)
        s.argv = ["/usr/bin/prlimit", "--fsize=unlimited:unlimited", "--",
                  *s.argv]
        s.start()
        t.ok(reserved(log_of(s)) > 500000, "disk is reserved while it runs")
        auditd = s.workers()["auditd"][0]
        m = s.client()
        m.call("echo__echo", {"text": "x"})
        # auditd's next line does not fit: only a part is written.
        limit = os.path.getsize(log_of(s)) + 100
        resource.prlimit(auditd, resource.RLIMIT_FSIZE, (limit, limit))
        said = h.text_of(m.call("echo__echo", {"text": "y"}))
        t.contains(said, "audit log cannot be written", "the agent is told")
        t.ok(not read(log_of(s)).endswith(b"\n"), "a torn piece is left")
        s.icctl("stop", check=True)
        t.equal(s.wait(), 71, "an end after that is 71, not 0")
        code, said = verify(s)
        t.equal((code, said["closed"]), (0, True),
                "the log is good and has its closing record")
        t.equal(joins.check_chain(log_of(s)), None, "the chain holds")
        t.equal(s.audit()[-1]["detail"]["cut"], 100,
                "which says that a torn piece was cut off")
        with open(os.path.join(s.dir, "session.json"), encoding="utf-8") as f:
            t.equal(json.load(f)["state"], "ended", "session.json as well")
        t.ok(reserved(log_of(s)) < 70000, "the reserved disk is given back",
             reserved(log_of(s)))
    with h.workdir() as work, t.case("reserved"):
        with build(work) as s:
            pass
        t.ok(reserved(log_of(s)) < 70000,
             "as it is after every session", reserved(log_of(s)))


def test_unrecorded():
    """A person's answer that the full disk does not take."""
    for verb in ("deny", "approve"):
        with h.workdir() as work, t.case(verb):
            log = os.path.join(work, "log-echo", "log.jsonl")
            s = h.Session(work, {"echo": h.echo_server(log)},
                          [h.rule("ask", "escalate", "A person decides.",
                                  server=["echo"])], {"echo": h.ECHO_TOOLS})
            s.argv = ["/usr/bin/prlimit", "--fsize=unlimited:unlimited", "--",
                      *s.argv]
            s.start()
            s.client().start_call("echo__echo", {"text": "x"})
            hold = s.held()
            size = os.path.getsize(log_of(s))
            resource.prlimit(s.workers()["auditd"][0], resource.RLIMIT_FSIZE,
                             (size, size))
            r = s.icctl("--json", verb, hold["id"])
            said = json.loads(r.stdout)
            t.ok(r.returncode != 0 and said.get("code") == "audit" and
                 "audit log cannot be written" in said.get("error", ""),
                 f"{verb}: who answers is told that it is not recorded", r)
            t.ok(not s.events("verdict"), f"{verb}: and it is not")
            s.icctl("stop", check=True)
            t.equal(s.wait(), 71, f"{verb}: the session ends with 71")


def halt(pid):
    """Stops a process, and waits until it has stopped."""
    h.kill(pid, signal.SIGSTOP)

    def stopped():
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            return f.read().rpartition(")")[2].split()[0] == "T"
    h.wait_for(stopped, f"{pid} does not stop")


def pasted(s):
    return [x["detail"]["name"] for x in h.read_lines(log_of(s))
            if x["event"] == "paste"]


def ask(sock, **req):
    sock.sendall(json.dumps(req).encode() + b"\n")


def control(s):
    """Returns a connection that the session has taken."""
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(20 * h.PATIENCE)
    sock.connect(os.path.join(s.dir, "control.sock"))
    ask(sock, op="ping")
    sock.recv(4096)
    return sock


def test_own_record():
    """Two clients wait for their records: the first record, once it is written,
    answers the first client alone."""
    with h.workdir() as work, t.case("two records"), build(work) as s:
        auditd = s.workers()["auditd"][0]
        socks = [control(s), control(s)]
        try:
            halt(auditd)
            ask(socks[0], op="paste", id="1.png", digest="0" * 64, value="1")
            control(s).close()
            # The second request is there before the first one's record is.
            halt(s.pid)
            ask(socks[1], op="paste", id="2.png", digest="0" * 64, value="1")
            h.kill(auditd, signal.SIGCONT)
            h.wait_for(lambda: pasted(s) == ["1.png"], "the first record")
            halt(auditd)
            h.kill(s.pid, signal.SIGCONT)
            socks[0].recv(4096)
            control(s).close()
            socks[1].setblocking(False)
            try:
                early = socks[1].recv(4096)
            except BlockingIOError:
                early = b""
            t.ok(b'"ok":true' not in early and pasted(s) == ["1.png"],
                 "a client is not answered by another one's record", early)
        finally:
            h.kill(auditd, signal.SIGCONT)
            h.kill(s.pid, signal.SIGCONT)
        socks[1].settimeout(20 * h.PATIENCE)
        if not early:
            early = socks[1].recv(4096)
        h.wait_for(lambda: pasted(s) == ["1.png", "2.png"], "both records")
        t.ok(b'"ok":true' in early or b"unconfirmed" in early,
             "but by its own", early)
        for sock in socks:
            sock.close()


def test_small_disk():
    """A file system of 3 MiB that fills up during the session."""
    inner = [sys.executable, os.path.abspath(__file__), "small"]
    r = subprocess.run(
        ["/usr/bin/unshare", "-Urm", "--", "/bin/sh", "-c",
         'mount -t tmpfs -o size=3m,mode=700 none /mnt && exec "$@"', "sh",
         *inner], env=dict(os.environ), capture_output=True, text=True,
        timeout=90, check=False)
    if "mount" in r.stderr or "unshare" in r.stderr:
        t.skip("a small disk", "cannot be mounted here")
        return
    for line in r.stdout.splitlines():
        if line.startswith(("ok", "not ok")):
            word, _, name = line.partition(" - ")
            t.ok(word.startswith("ok"), name, r.stdout + r.stderr)
    t.equal(r.returncode, 0, "the session on a small disk")


def small():
    with h.workdir() as work:
        # The watcher would end the session when half of the disk is used.
        s = build(work, session_dir="/mnt/session",
                  config={"limits": {"minFreeDiskMb": None}}).start()
        m = s.client()
        with open("/mnt/ballast", "wb", buffering=0) as f:
            try:
                while True:
                    f.write(b"x" * 4096)
            except OSError:
                pass
        full = False
        for i in range(150):
            # The same arguments again would be refused, and only counted.
            text = h.text_of(m.call("echo__echo",
                                    {"text": f"{i} " + "x" * 15000}))
            if "audit log cannot be written" in text:
                full = True
                break
        t.ok(full, "a full disk: the agent is told")
        s.icctl("stop", check=True)
        t.equal(s.wait(), 71, "a full disk: status 71")
        code, said = verify(s)
        t.equal((code, said.get("closed")), (0, True),
                "a full disk: good, with its closing record")
        with open("/mnt/session/session.json", encoding="utf-8") as f:
            t.equal(json.load(f)["state"], "ended",
                    "a full disk: session.json says that it ended")
    t.done()


def test_anchor():
    with h.workdir() as work, t.case("anchor"):
        anchor = os.path.join(work, "anchors")
        with build(work, config={"audit": {"anchor": anchor}}) as s:
            pass
        with open(anchor, encoding="utf-8") as f:
            words = f.read().split()
        _, said = verify(s)
        t.equal(words[1:], [str(said["records"]), said["hash"],
                            os.path.realpath(s.dir)],
                "the last hash is in the anchor's file")
        t.contains(s.process.stderr(), said["hash"],
                   "and on standard error")
        log = os.path.join(s.dir, "audit.jsonl")
        r = s.icctl("audit", "verify")
        t.ok(r.returncode == 0 and "the one recorded in the anchor" in r.stdout,
             "a log that ends where the anchor says is good", r.stdout)
        with open(log, "rb") as f:
            lines = f.read().splitlines(True)
        h.put(log, b"".join(lines[:-1]).decode(), 0o600)
        r = s.icctl("audit", "verify")
        t.ok(r.returncode == 1 and "WRONG END" in r.stdout
             and "cut off" in r.stdout, "one whose end is cut is not", r.stdout)
        t.equal(s.icctl("audit", "verify", "--anchor", "/dev/null",
                        log).returncode, 1, "an anchor that knows no such log")
        journal = f"{os.path.realpath(s.dir)}/audit.jsonl ends with record " \
            f"{words[1]}, hash {words[2]}\n"
        for name, text, status in (("as the journal says", lines, 0),
                                   ("not as it says", lines[:-1], 1)):
            h.put(log, b"".join(text).decode(), 0o600)
            r = subprocess.run(
                [h.program("icctl"), "audit", "verify", "--anchor", "-", log],
                input="noise\n" + journal, text=True, capture_output=True,
                env=s.env, check=False)
            t.equal(r.returncode, status, "journalctl's lines: " + name)
        inside = os.path.join(s.dir, "anchors")
        try:
            build(work, config={"audit": {"anchor": inside}}).start()
            t.ok(False, "a file in the session's directory is refused")
        except RuntimeError as e:
            t.ok("exit 78" in str(e) and "elsewhere" in str(e),
                 "a file in the session's directory is refused", e)
    with h.workdir() as work, t.case("journal"):
        place = os.path.join(work, "journal")
        os.mkdir(place)
        s = build(work, config={"audit": {"anchor": "journal"}})
        s.argv = ["/usr/bin/bwrap", "--dev-bind", "/", "/", "--tmpfs", "/run",
                  "--bind", place, "/run/systemd/journal", "--", *s.argv]
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.bind(os.path.join(place, "socket"))
            sock.settimeout(20)
            s.start()
            h.kill(s.ready["pid"], signal.SIGTERM)
            s.wait()
            text = sock.recv(65536).decode()
        _, said = verify(s)
        t.contains(text, f"IRONCURTAIN_HASH={said['hash']}\n",
                   "the journal is told the last hash")
        t.contains(text, f"IRONCURTAIN_RECORDS={said['records']}\n",
                   "and how many records there are")


def main():
    if sys.argv[1:] == ["small"]:
        small()
        return
    test_forged()
    test_torn()
    test_old()
    test_close()
    test_under_way()
    test_full()
    test_unrecorded()
    test_own_record()
    test_small_disk()
    test_anchor()
    t.done()


if __name__ == "__main__":
    main()
