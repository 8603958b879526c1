# SPDX-License-Identifier: ISC
"""Starts hostile builds of the workers: under the real icsupervisor, or bare
under single layers. Shares no code with the product; the table of attempts
comes from contain_list."""
import contextlib
import hashlib
import json
import os
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
import harness  # noqa: E402

MAGIC = b"IC-CONTAIN-ORDER"
QUIET = -1
ORDER = struct.Struct("=iIIiQI36s256s256s256s")
LAYERS = {"bare": 0, "landlock": 1, "seccomp": 2, "private": 4}
EXIT, RAN = 42, 43
CODES = {200: "WORKS", 205: "HARMLESS", 206: "SENT", 207: "CLOSED"}
SENT_DEADLINE = 10
G_PIDS = 1 << 12
NEAR = 36       # siblings, too, are then among the pids that are tried


def wait(p, seconds):
    """The exit status, None when it is still running by then."""
    fd = os.pidfd_open(p.pid)
    try:
        ended = select.select([fd], [], [], seconds)[0]
    finally:
        os.close(fd)
    return p.wait() if ended else None


class Table:
    """What contain_list says."""

    def __init__(self, build):
        text = subprocess.run([os.path.join(build, "contain_list")],
                              capture_output=True, text=True, check=True)
        d = json.loads(text.stdout)
        self.attempts = d["attempts"]
        for a in self.attempts:
            a["roles"] = [r for r in a["roles"] if r]
        self.messages = {k: d[k] for k in ("PEER", "START", "LOG")}
        self.roles = {k: v for k, v in d["roles"].items()
                      if k != "icsupervisor"}
        self.exceptions = {(e["name"], e["role"]): e for e in d["exceptions"]}

    def of(self, role):
        return [a for a in self.attempts if role in a["roles"]]

    def expected(self, a, role, layer):
        """The outcomes that are right."""
        e = self.exceptions.get((a["name"], role), {})
        return self.resolve(e.get(layer) or a[layer])

    @staticmethod
    def resolve(outcomes):
        abi = landlock_abi()
        known = {"PORT": ("EACCES", 4), "SCOPE": ("EPERM", 6),
                 "TRUNC": ("EACCES", 3)}
        return [o if o not in known else
                known[o][0] if abi >= known[o][1] else "WORKS"
                for o in outcomes]


def landlock_abi(_cache=[]):
    if not _cache:
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        _cache.append(max(libc.syscall(444, None, 0, 1), 0))
    return _cache[0]


def name_of(code):
    import errno
    if code == 0:
        return "WORKS"
    if code == errno.EOPNOTSUPP:
        return "EOPNOTSUPP"
    return CODES.get(code) or errno.errorcode.get(code, str(code))


class Binary:
    """A copy of a hostile build, whose order is rewritten in place."""

    def __init__(self, source, path):
        shutil.copyfile(source, path)
        os.chmod(path, 0o755)
        with open(path, "rb") as f:
            data = f.read()
        self.path = path
        self.offset = data.index(MAGIC) + len(MAGIC)
        assert data.count(MAGIC) == 1, f"{source}: not one order"

    def order(self, attempt, arg=0, layers=0, victim=0, address=0, port=0,
              abstract="", session="", home="", libexec=""):
        for p in (session, home, libexec):
            assert len(p) < 200, f"too long for an order: {p}"
        with open(self.path, "r+b") as f:
            f.seek(self.offset)
            f.write(ORDER.pack(attempt, arg, layers, victim, address,
                               socket.htons(port), abstract.encode(),
                               session.encode(), home.encode(),
                               libexec.encode()))


def verify_chain(path):
    """None, or what is wrong with the audit log."""
    prev, seq = "0" * 64, None
    with open(path, "rb") as f:
        for n, line in enumerate(f, 1):
            if not line.startswith(b"{"):
                continue    # the torn end of an auditd that was killed
            m = re.fullmatch(rb'(.*),"hash":"([0-9a-f]{64})"\}\n', line)
            if not m:
                return f"line {n} is torn"
            if hashlib.sha256(m[1] + b"}").hexdigest() != m[2].decode():
                return f"line {n} does not match its hash"
            d = json.loads(line)
            if d["prev"] != prev:
                return f"line {n} does not continue the one before"
            if seq is not None and d["seq"] != seq + 1:
                return f"line {n} is not the next"
            prev, seq = d["hash"], d["seq"]
    return None if seq is not None else "it is empty"


class Result:
    """What came of an attempt, in the words of the table."""

    def __init__(self, outcome, detail="", channels=0, pid=0):
        self.outcome = outcome
        self.detail = detail
        self.channels = channels
        self.pid = pid


class Targets:
    """Listeners that a worker might connect to."""

    def __init__(self, abstract):
        self.tcp = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.port = self.tcp.getsockname()[1]
        self.abstract = abstract
        self.un = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.un.bind("\0" + abstract)


class Confined:
    """Real sessions in which one worker's binary is hostile. One at a time:
    the binary is rewritten in between."""

    def __init__(self, work, build, prefix, table):
        self.work = work
        self.table = table
        self.prefix = prefix
        self.build = build
        self.n = 0
        self.binaries = {}
        self.real = os.path.join(prefix, "libexec", "ironcurtain")
        os.makedirs(work, mode=0o700, exist_ok=True)
        self.targets = Targets(f"ic-contain-all-{os.getpid()}")
        self.servers = {"quiet": {"command": "/bin/sleep", "args": ["600"]}}

    def libexec(self, role):
        """A libexecdir: links to the shipped workers, and the hostile one."""
        d = os.path.join(self.work, "libexec-" + role)
        program = "dialerd" if role == "resolver" else role
        if role not in self.binaries:
            os.makedirs(d)
            for name in os.listdir(self.real):
                if name != program:
                    os.symlink(os.path.join(self.real, name),
                               os.path.join(d, name))
            shutil.copy(os.path.join(self.build, "contain_code"),
                        os.path.join(d, "code"))
            self.binaries[role] = Binary(
                os.path.join(self.build, "hostile_" + role),
                os.path.join(d, program))
        return d

    def run(self, role, a, arg=0, servers=False):
        attempt, given = a["n"], a["given"]
        libexec = self.libexec(role)
        self.n += 1
        sdir = os.path.join(self.work, f"s{self.n}")
        # By name where there is a resolver to be asked.
        host = "localhost" if role == "resolver" else "127.0.0.1"
        s = harness.Session(
            self.work, servers=self.servers if servers or role == "mcp-backd"
            else {}, libexecdir=libexec, session_dir=sdir,
            prefix=self.prefix, config={
                "providers": {"anthropic": {"upstream": f"https://{host}:9"}},
                "credentials": {"anthropic": {"env": "ANTHROPIC_API_KEY"}}})
        self.binaries[role].order(attempt, arg=arg, session=sdir, home=s.home,
                                  libexec=libexec, port=self.targets.port,
                                  abstract=self.targets.abstract)
        for name in ("pids", "victim", "spare"):
            with open(os.path.join(s.home, name), "wb") as f:
                f.write(b"" if name == "pids" else b"#" * 8192)
        with open(os.path.join(self.work, "stderr"), "w+b") as err:
            p = subprocess.Popen(s.argv, env=s.env, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=err)
            try:
                if given & G_PIDS:
                    self.tell_pids(p, s.home, role)
                if role == "resolver":
                    return self.judge_resolver(attempt, s, p)
                status = wait(p, SENT_DEADLINE)
                err.seek(0)
                said = err.read().decode(errors="replace")
                return self.judge(role, attempt, s, p.pid, status, said)
            finally:
                if p.poll() is None:
                    p.terminate()
                    p.wait()
                shutil.rmtree(sdir, ignore_errors=True)

    def tell_pids(self, p, home, role):
        """Once all are there: siblings and supervisor, not the hostile."""
        names = set(self.table.roles)
        if role != "mcp-backd":
            names.discard("mcp-backd")

        def children():
            found = {}
            for pid in filter(str.isdigit, os.listdir("/proc")):
                with contextlib.suppress(OSError):
                    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
                        name, rest = f.read().rsplit(")", 1)
                    if int(rest.split()[1]) == p.pid:
                        found[name.split("(", 1)[1]] = pid
            return found if names <= set(found) else None

        pids = harness.wait_for(children, "not all workers came", 5)
        with open(os.path.join(home, "pids"), "w", encoding="ascii") as f:
            f.write(f"{p.pid}" + "".join(
                f" {pids[name]}" for name in names if name != role))
            f.write("\n")

    def judge(self, role, attempt, s, pid, status, said):
        log = s.session_log()
        probe = re.search(rf"PROBE {attempt} .*?pid (\d+)"
                          r"(?:, (\d+) channels)?", log)
        result = re.search(rf"RESULT {attempt} (-?\d+)", log)
        detail = f"exit {status}\n{said}\n{log}"
        if status is None:
            return Result("TAKEN", "the session went on\n" + detail)
        if not probe:
            return Result("NOT MADE", detail)
        if abs(int(probe[1]) - pid) > NEAR:
            return Result("TOO FAR", f"the supervisor is {pid}\n{detail}")
        ends = s.events("workerEnd")
        end = ends[0]["detail"] if ends else {}
        stop = (s.events("stop") or [{"detail": {}}])[-1]["detail"]
        detail = f"{end} {stop}\n{detail}"
        broken = verify_chain(os.path.join(s.dir, "audit.jsonl"))
        if broken:
            return Result("LOG BROKEN", f"{broken}\n{detail}")
        outcome = self.outcome(role, result, end, stop)
        return Result(outcome, detail, int(probe[2] or 0), int(probe[1]))

    @staticmethod
    def judge_resolver(attempt, s, p):
        """Its end is not the session's: it stays dialerd's dead child, whose
        status nobody else may read. What ended without a word was killed."""
        def ended():
            log = s.session_log()
            m = re.search(rf"PROBE {attempt} resolver.*pid (\d+)", log)
            if not m or p.poll() is not None:
                return p.poll() is not None and "the session ended"
            result = re.search(rf"RESULT {attempt} (-?\d+)", log)
            if result:
                return name_of(int(result[1]))
            try:
                with open(f"/proc/{m[1]}/stat", encoding="utf-8") as f:
                    fields = f.read().rsplit(")", 1)[1].split()
            except FileNotFoundError:
                return "GONE"
            if fields[0] != "Z":
                return None
            return "WORKS" if "RAN" in s.session_log() else "KILLED"

        try:
            outcome = harness.wait_for(ended, "no end", 10, poll=0.003)
        except TimeoutError:
            outcome = "STUCK"
        return Result(outcome, s.session_log())

    @staticmethod
    def outcome(role, result, end, stop):
        mine = end.get("role") == role
        how = end.get("how", "")
        if result and int(result[1]) == 206:
            why = stop.get("reason", "") + end.get("lastLog", "")
            if f"{role} " in why + " " and ("broke the protocol" in why or
                                            "closed its channel" in why):
                return "SENT"
            return "SENT, and " + why
        if mine and not result and "SIGSYS" in how:
            return "KILLED"
        if mine and result and how == f"exited with status {EXIT}":
            return name_of(int(result[1]))
        if mine and how == f"exited with status {RAN}":
            return "WORKS"
        return f"ended as {end.get('role')} {how}"


class Bare:
    """Hostile builds under single layers, started by hand. One at a time."""

    def __init__(self, work, build, table):
        self.work = work
        self.build = build
        self.table = table
        self.binaries = {}
        self.victims = {}
        self.session = os.path.join(work, "session")
        self.home = os.path.join(work, "home")
        self.lib = os.path.join(work, "libexec")
        for d in (self.session, self.session + "/sockets", self.home,
                  self.lib):
            os.makedirs(d)
        shutil.copy(os.path.join(build, "contain_code"), self.lib + "/code")
        self.listeners = [self.listen_unix("control.sock"),
                          self.listen_unix("sockets/mitm-proxy.sock")]
        self.targets = Targets(f"ic-contain-bare-{os.getpid()}")
        self.log = os.path.join(self.session, "audit.jsonl")

    def listen_unix(self, name):
        s = socket.socket(socket.AF_UNIX)
        old = os.getcwd()
        os.chdir(self.session)      # the address is short
        s.bind(name)
        os.chdir(old)
        s.listen(128)
        return s

    def reset(self):
        for name in os.listdir(self.home):
            path = os.path.join(self.home, name)
            (os.rmdir if os.path.isdir(path) and not os.path.islink(path)
             else os.unlink)(path)
        for path in (self.home + "/victim", self.home + "/spare",
                     self.home + "/config.json", self.log,
                     self.lib + "/auditd"):
            with open(path, "wb") as f:
                f.write(b"#" * 8192)
            os.chmod(path, 0o600)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.lib + "/new")

    def binary(self, role, layer, kind):
        key = (role, layer, kind)
        if key not in self.binaries:
            self.binaries[key] = Binary(
                os.path.join(self.build, "bare_" + role),
                os.path.join(self.work, "-".join(key)))
        return self.binaries[key]

    def start(self, binary):
        """The process, its channel and its log, up to START."""
        ours, theirs = socket.socketpair(socket.AF_UNIX,
                                         socket.SOCK_SEQPACKET)
        r, w = os.pipe()
        null = os.open("/dev/null", os.O_RDWR)

        def window():
            os.setsid()
            fd = os.dup(theirs.fileno())
            os.dup2(fd, 3)
            os.set_inheritable(3, True)

        p = subprocess.Popen(
            [os.path.basename(binary.path)], executable=binary.path, env={},
            stdin=null, stdout=w, stderr=w, close_fds=True, pass_fds=(3,),
            preexec_fn=window, cwd="/")
        theirs.close()
        os.close(w)
        os.close(null)
        return p, ours, r

    def setup(self, role, ours):
        ours.settimeout(10)
        ours.recv(65536)            # HELLO
        peers = []
        for name, number in self.table.roles.items():
            if name == role or len(peers) == 2:
                continue
            a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            a.setblocking(False)
            socket.send_fds(ours, [self.msg("PEER", struct.pack(
                "<BH", number, 0))], [a.fileno()])
            a.close()
            peers.append(b)
        if role == "auditd":
            with open(self.log, "ab") as f:
                socket.send_fds(ours, [self.msg("LOG", struct.pack(
                    "<QI32sB", 1, 32, b"\0" * 32, 0))], [f.fileno()])
        ours.send(self.msg("START", b""))
        return peers

    def msg(self, name, fields):
        return struct.pack("<HBB", self.table.messages[name], 0, 0) + fields

    def victim(self, layer):
        v = self.victims.get(layer)
        if v is None or v[0].poll() is not None:
            b = self.binary("mcp-backd", layer, "victim")
            b.order(QUIET, layers=LAYERS[layer])
            p, ours, r = self.start(b)
            keep = self.setup("mcp-backd", ours)
            line = self.read_line(r)
            m = re.search(r"quiet pid (\d+) at 0x([0-9a-f]+)", line)
            if not m:
                raise RuntimeError(f"victim under {layer}: {line!r}")
            v = (p, int(m[1]), int(m[2], 16), ours, keep, r)
            self.victims[layer] = v
        return v

    @staticmethod
    def read_line(fd):
        line = b""
        end = time.monotonic() + 10
        while not line.endswith(b"\n") and time.monotonic() < end:
            if not select.select([fd], [], [], 1)[0]:
                continue
            got = os.read(fd, 4096)
            if not got:
                break
            line += got
        return line.decode(errors="replace")

    def run(self, role, a, layer):
        self.reset()
        victim = self.victim(layer)
        b = self.binary(role, layer, "attacker")
        b.order(a["n"], layers=LAYERS[layer], victim=victim[1],
                address=victim[2], port=self.targets.port,
                abstract=self.targets.abstract, session=self.session, home=self.home, libexec=self.lib)
        before = self.content()
        p, ours, r = self.start(b)
        try:
            keep = self.setup(role, ours)
        except OSError as e:
            keep = e
        said = self.finish(p, r)
        ours.close()
        del keep
        result = re.search(rf"RESULT {a['n']} (-?\d+)", said)
        detail = f"exit {p.returncode}\n{said}"
        if f"PROBE {a['n']} " not in said:
            return Result("NOT MADE", detail)
        if p.returncode == -signal.SIGSYS and not result:
            return Result("KILLED", detail)
        if p.returncode == RAN:
            return Result("WORKS", detail)
        if not result:
            return Result(f"status {p.returncode}", detail)
        outcome = name_of(int(result[1]))
        if a["call"] in ("pwrite64", "pwritev", "pwritev2", "ftruncate",
                         "fallocate") and a["roles"] == ["auditd"] and \
                outcome == "WORKS" and self.content() == before:
            outcome = "UNCHANGED"
        return Result(outcome, detail)

    def content(self):
        with open(self.log, "rb") as f:
            return f.read()

    @staticmethod
    def finish(p, r):
        """Its log until it ends; one that sent a frame is ended by us."""
        said = b""
        end = time.monotonic() + 10
        while time.monotonic() < end:
            if not select.select([r], [], [], 1)[0]:
                continue
            got = os.read(r, 65536)
            said += got
            if not got or re.search(rb"RESULT \d+ 206\n", said):
                break
        sent = re.search(rb"RESULT \d+ 206\n", said)
        if wait(p, 0.01 if sent else 5) is None:
            p.kill()
            p.wait()
        os.close(r)
        return said.decode(errors="replace")

    def close(self):
        for v in self.victims.values():
            v[0].kill()
            v[0].wait()
        for s in self.listeners:
            s.close()
