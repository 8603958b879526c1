#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests the shipped programs with bad input: every row of the tables in
bad_*.py gets exactly its error, and the receiver still answers afterwards; it
must never crash, hang or stay silent."""
import contextlib
import json
import os
import re
import socket
import ssl
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import bad_args  # noqa: E402
import bad_config  # noqa: E402
import bad_control  # noqa: E402
import bad_http  # noqa: E402
import bad_policy  # noqa: E402
import bad_provider  # noqa: E402
import bad_rpc  # noqa: E402
import harness as h  # noqa: E402
from agent import Closed, Malformed  # noqa: E402

t = h.Tap()
SHOW = os.environ.get("BAD_SHOW")   # a file for the results, for new rows
seen = {}
HELLO = (b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":'
         b'{"protocolVersion":"2025-06-18","capabilities":{},'
         b'"clientInfo":{"name":"t","version":"1"}}}\n')


def check(group, name, got, want):
    seen.setdefault(group, []).append([name, got])
    if not SHOW:
        t.equal(got, want, f"{group}: {name}")


# ---- proxy.sock ----------------------------------------------------------
def rpc_lines(sock, count=1):
    """Returns that many lines, or the input up to its end."""
    data = b""
    while data.count(b"\n") < count:
        more = sock.recv(65536)
        if not more:
            break
        data += more
    return data.splitlines()


def rpc(path, data, hello=False):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(20)
        sock.connect(path)
        if hello:
            sock.sendall(HELLO)
            rpc_lines(sock)
        sock.sendall(data)
        if not data.endswith(b"\n"):
            sock.shutdown(socket.SHUT_WR)
        line = (rpc_lines(sock) or [b"nothing"])[0]
    answer = json.loads(line)
    # With a null id, an SDK would wait for its own time limit.
    if set(answer) | {"id"} != {"jsonrpc", "id", "error"} or \
            answer.get("id", 0) is None or \
            set(answer["error"]) != {"code", "message"}:
        return line.decode()
    return answer.get("id"), answer["error"]["code"], answer["error"]["message"]


def rpc_session(work):
    tools = {k: v for k, v in h.ECHO_TOOLS.items()}
    log = os.path.join(work, "log-echo", "log.jsonl")
    return h.Session(
        work, {"echo": h.echo_server(log, "--alias", "bare=echo")},
        [h.rule("echo", "allow", tool=["echo", "lookup"])], {"echo": tools},
        config={"policy": {"unknownTools": "deny"}})


def test_rpc(s):
    path = s.ready["sockets"]["mcp"]
    m = s.client()
    for group, hello in (("FRESH", False), ("HELLO", True)):
        for name, data, *want in getattr(bad_rpc, group):
            check(f"rpc.{group}", name, rpc(path, data, hello), tuple(want))
    for name, tool, args, want in bad_rpc.CALLS:
        r = m.call(tool, args)
        text = h.text_of(r) if r.get("isError") else repr(r)
        check("rpc.CALLS", name, text, want)
    r = m.call("echo__echo", {"text": "still here"})
    t.equal(h.text_of(r), "still here",
            "and then a good call is answered")
    m.close()


# ---- mitm-proxy.sock -----------------------------------------------------
def http_log(s, ident):
    """Returns the message of refusal `ident` in session.log."""
    def find():
        for line in s.session_log().splitlines():
            if f"request {ident}" in line:
                return line
        return None
    line = h.wait_for(find, f"no line about {ident} in session.log", 20)
    return re.sub(r"^.*?request [0-9a-f]{8}:? ?", "", line)


def http_connect(s, data):
    m = s.model(connect=False)
    m.send_raw(data)
    if b"\r\n\r\n" not in data and b"\n\n" not in data:
        m.sock.shutdown(socket.SHUT_WR)
    try:
        r = m.read_response("GET")
    except (Closed, ConnectionResetError):
        return "closed", ""
    finally:
        m.close()
    text = r.body.decode()
    ident = re.search(r"\(request ([0-9a-f]{8})\)", text)
    log = http_log(s, ident.group(1))
    return r.status, re.sub(r" \(request [0-9a-f]{8}\)\n$", "", text), log


def http_request(s, data, key):
    m = s.model()
    m.send_raw(data.replace(b"KEY", key))
    try:
        r = m.read_response("GET")
    except (Closed, Malformed, ConnectionResetError, ssl.SSLError) as e:
        return type(e).__name__, "", ""
    finally:
        m.close()
    error = json.loads(r.body)["error"]
    ident = re.search(r"\(request ([0-9a-f]{8})\)$", error["message"])
    return r.status, error["code"], http_log(s, ident.group(1))


def test_http(s):
    key = s.agent_env()["ANTHROPIC_API_KEY"].encode()
    for name, data, *want in bad_http.CONNECT:
        check("http.CONNECT", name, http_connect(s, data), tuple(want))
    for name, data, *want in bad_http.REQUESTS:
        check("http.REQUESTS", name, http_request(s, data, key), tuple(want))
    m = s.model()
    t.equal(m.message("still here").status, 200,
            "and then a good request is answered")
    m.close()


# ---- files and command lines ---------------------------------------------
class Bench:
    """A user's directories, without a session."""

    def __init__(self, work):
        self.work, self.home = work, os.path.join(work, "home")
        self.user = os.path.join(work, "user")
        self.names = [
            ("{" + name + "}", os.path.join(self.home, path))
            for name, path in bad_config.NAMES] + [
                ("{home}", self.home), ("{work}", work),
                ("{prefix}", h.PREFIX)]
        # The directory that the tests are run in may be a repository's.
        self.cwd = os.path.join(work, "cwd")
        for d in (self.home, self.user, self.cwd):
            os.mkdir(d, 0o700)
        self.env = {"PATH": "/usr/bin:/bin", "HOME": self.user,
                    "IRONCURTAIN_HOME": self.home, "LANG": "C.UTF-8",
                    "ANTHROPIC_API_KEY": "sk-ant-" + "secret" * 5}

    def fill(self, text):
        return text.replace("{home}", self.home).replace("{work}", self.work)

    def write(self, name, value):
        path, mode = os.path.join(self.home, name), 0o600
        if isinstance(value, tuple):
            value, mode = value
        if isinstance(value, (dict, list)):
            value = self.fill(json.dumps(value))
        if isinstance(value, str):
            value = value.encode()
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        with open(path, "wb") as f:
            f.write(value)
        os.chmod(path, mode)

    def run(self, argv):
        """Returns the exit status, or "started", and the first line of stderr
        with names replaced."""
        p = subprocess.Popen(
            [h.program(argv[0]), *map(self.fill, argv[1:])], env=self.env,
            cwd=self.cwd,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        out = p.stdout.readline()
        if out.startswith(b'{"'):
            p.terminate()
        _, err = p.communicate(timeout=20)
        err = err.decode("utf-8", "replace")
        for name, path in self.names:
            err = err.replace(path, name)
        lines = [line for line in err.splitlines()
                 if ": running as root: " not in line] or [""]
        if out.startswith(b'{"'):
            return "started", lines[0]
        return p.returncode, lines[0]


def test_files():
    for group, rows in (("config", bad_config.CONFIG),
                        ("providers", bad_provider.PROVIDERS),
                        ("servers", bad_config.SERVERS),
                        ("policy", bad_policy.POLICY)):
        for name, files, *want in rows:
            if os.geteuid() == 0 and name == "readable by nobody":
                t.skip(f"{group}: {name}", "root reads everything")
                continue
            with h.workdir() as work, t.case(name):
                b = Bench(work)
                for path, value in files.items():
                    b.write(path, value)
                got = b.run(["icsupervisor", "--session-dir", "{work}/s",
                             "--runtime", "none", "--print-ready"])
                got = got[0], got[1].removeprefix("icsupervisor: ")
                check(group, name, got, tuple(want))
                if "secret" in got[1].replace("secret-service", ""):
                    t.ok(False, f"{name}: a secret is shown", got[1])


def doctor(b):
    """Returns the faults that `icctl doctor` finds in files, and its exit
    status."""
    p = subprocess.run([h.program("icctl"), "--json", "doctor"], env=b.env,
                       stdin=subprocess.DEVNULL, capture_output=True,
                       text=True, timeout=30, check=False)
    found = p.stdout
    for name, path in b.names:
        found = found.replace(path, name)
    return p.returncode, [(c["check"], c["found"])
                          for c in json.loads(found)["checks"]
                          if c["result"] == "WRONG"]


def test_doctor():
    """icctl doctor reports the same fault of a provider file as the start of a
    session."""
    for name, files, _, want in bad_provider.PROVIDERS:
        # These concern two files, or none.
        if name in ("two files with one host", "a good one"):
            want = None
        with h.workdir() as work, t.case(name):
            b = Bench(work)
            for path, value in files.items():
                b.write(path, value)
            status, wrong = doctor(b)
            t.equal(wrong, [("provider", want)] if want else [],
                    f"doctor: {name}")
            if want:
                t.equal(status, 1, f"doctor: {name}: its status")
    for what, files, want in bad_provider.OTHERS:
        with h.workdir() as work, t.case(what):
            b = Bench(work)
            for path, value in files.items():
                b.write(path, value)
            t.equal(doctor(b), (1, want), f"doctor: {what}")
            t.ok(not os.path.exists(os.path.join(b.home, "sessions")),
                 "it makes nothing")


def start_with(work, worker, script):
    """icsupervisor with one worker replaced by another program."""
    b = Bench(work)
    os.mkdir(os.path.join(work, "lx"))
    real = os.path.join(h.PREFIX, "libexec", "ironcurtain")
    for name in os.listdir(real):
        if name != worker:
            os.symlink(os.path.join(real, name),
                       os.path.join(work, "lx", name))
    with open(os.path.join(work, "lx", worker), "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\n" + script)
    os.chmod(os.path.join(work, "lx", worker), 0o755)
    p = subprocess.run(
        [h.program("icsupervisor"), "--session-dir", f"{work}/s",
         "--runtime", "none", "--print-ready", "--libexecdir", f"{work}/lx"],
        env=b.env, stdin=subprocess.DEVNULL, capture_output=True, timeout=30,
        check=False)
    return p.returncode, p.stderr.replace(work.encode(), b"{work}")


MORE = (b"icsupervisor: icctl doctor checks this machine and your "
        b"configuration")


def test_workers():
    """The messages of a worker that ends at the start are shown to the user,
    escaped for the terminal."""
    rows = [
        ("auditd", "its last words",
         "echo 'auditd: Landlock: no' >&2\necho 'auditd: refusing' >&2\n"
         "exit 3\n",
         [rb"auditd \(pid \d+\) exited with status 3; it last said: "
          rb"refusing", rb"auditd said before: Landlock: no"]),
        ("mcp-backd", "silence", "exit 4\n",
         [rb"mcp-backd filesystem \(pid \d+\) exited with status 4"]),
        ("policyd", "a signal", "echo now >&2\nkill -KILL $$\n",
         [rb"policyd \(pid \d+\) was killed by SIGKILL; it last said: "
          rb"now"]),
        ("mcp-proxyd", "escapes, and bytes that are no text",
         "printf '\\033]0;x\\007\\033[2J\\r\\377\\302\\233\\n' >&2\n"
         "printf '\\033[31mred' >&2\nexit 1\n",
         [rb"mcp-proxyd \(pid \d+\) exited with status 1; it last said: "
          rb"\\x1b\[31mred",
          rb"mcp-proxyd said before: \\x1b\]0;x\\x07\\x1b\[2J\\x0d\\xff"
          rb"\\xc2\\x9b"]),
        ("mitmd", "more than is kept",
         "for i in 1 2 3 4 5 6 7 8 9; do echo line $i >&2; done\n"
         "head -c 50000 /dev/zero | tr '\\0' x >&2\nexit 1\n",
         [rb"mitmd \(pid \d+\) exited with status 1; it last said: "
          rb"x{200,255}\.\.\."] +
         [b"mitmd said before: line %d" % i for i in (7, 8, 9)]),
    ]
    for worker, name, script, want in rows:
        with h.workdir() as work, t.case(name):
            status, err = start_with(work, worker, script)
            lines = [x for x in err.splitlines()
                     if b": running as root: " not in x]
            t.equal(status, 71, f"{name}: status")
            t.equal(lines[-1], MORE, f"{name}: where there is more")
            t.equal(len(lines), len(want) + 1, f"{name}: lines")
            for line, pattern in zip(lines, want):
                t.ok(re.fullmatch(b"icsupervisor: " + pattern, line),
                     f"{name}: {pattern[:60]!r}", line)
            t.ok(all(0x20 <= c < 0x7f or c == 0x0a for c in err),
                 f"{name}: nothing but printable text", err)


def test_gone():
    """Servers that cannot be used do not prevent a session, which reports
    why."""
    servers = {f"s{i}": {"workspace": False, **entry} for i, (_, entry, *_)
               in enumerate(bad_config.GONE)}
    with h.workdir() as work:
        # npx needs node first, whether it is installed here or not.
        os.symlink("/bin/false", os.path.join(work, "node"))
        with h.Session(work, servers, env={
                "PATH": f"{work}:/usr/bin:/bin"}) as s:
            gone_status(s)


def gone_status(s):
    m = s.mcp()
    m.initialize()
    t.equal(m.list_tools(), [], "none of them offers a tool")

    def settled():
        """Returns the servers once each is gone and its program's end is
        known."""
        found = json.loads(s.icctl("--json", "status").stdout)["servers"]
        for (_, _, state, want), server in zip(bad_config.GONE, found):
            if server["state"] != state or \
                    ("; it " in want and "; it " not in server["text"]):
                return None
        return found

    status = h.wait_for(settled, "a program does not end")
    for (name, _, *want), server in zip(bad_config.GONE, status):
        check("gone", name, (server["state"], server["text"]),
              tuple(want))
    m.close()


def test_args():
    with h.workdir() as work:
        b = Bench(work)
        os.mkdir(os.path.join(work, "open"))
        os.chmod(os.path.join(work, "open"), 0o755)
        with open(os.path.join(work, "file"), "w", encoding="utf-8"):
            pass
        for name, argv, *want in bad_args.ARGS:
            with t.case(name):
                check("args", name, b.run(argv), tuple(want))


# ---- control.sock --------------------------------------------------------
def control(s, data):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(20)
        fd = os.open(s.dir, os.O_PATH)
        sock.connect(f"/proc/self/fd/{fd}/control.sock")
        os.close(fd)
        sock.sendall(data)
        lines = rpc_lines(sock)
    answer = json.loads(lines[0]) if lines else {}
    return answer.get("code"), answer.get("error")


def control_session(work):
    log = os.path.join(work, "log-echo", "log.jsonl")
    return h.Session(
        work, {"echo": h.echo_server(log)},
        [h.rule("ask", "escalate", tool=["echo"])], {"echo": h.ECHO_TOOLS})


def test_control(s):
    m = s.client()
    call = m.start_call("echo__echo", {"text": "held"})
    hold = s.held()
    for name, data, *want in bad_control.CONTROL:
        data = data.replace(b"ID", hold["id"].encode())
        data = data.replace(b"DIGEST", hold["digest"].encode())
        check("control", name, control(s, data), tuple(want))
    again = subprocess.run(s.argv, env=s.env, capture_output=True, text=True,
                           timeout=20, check=False)
    t.equal((again.returncode, again.stderr.splitlines()[-1]),
            (75, f"icsupervisor: session directory {s.dir}: another "
             "icsupervisor is running in it. See: icctl status"),
            "a second session in the directory")
    t.equal([x["id"] for x in s.pending()], [hold["id"]],
            "and then the call is still held")
    s.icctl("approve", hold["id"], check=True)
    t.equal(h.text_of(call.wait()), "held",
            "and can be approved")
    m.close()


def run_part(part, make, with_provider):
    with h.workdir() as work, contextlib.ExitStack() as stack:
        provider = None
        if with_provider:
            provider = h.Provider(work)
            stack.callback(provider.end)
        if make is None:
            part(stack.enter_context(h.Session(work, provider=provider)))
        else:
            part(stack.enter_context(make(work)))


PARTS = {
    "rpc": lambda: run_part(test_rpc, rpc_session, False),
    "http": lambda: run_part(test_http, None, True),
    "control": lambda: run_part(test_control, control_session, False),
    "files": test_files,
    "doctor": test_doctor,
    "workers": test_workers,
    "gone": test_gone,
    "args": test_args,
}


def main():
    for name in sys.argv[1:] or PARTS:
        with t.case(name):
            PARTS[name]()
    if SHOW:
        with open(SHOW, "w", encoding="utf-8") as f:
            json.dump(seen, f, indent=1)
    t.done()


if __name__ == "__main__":
    main()
