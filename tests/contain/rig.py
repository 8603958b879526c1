# SPDX-License-Identifier: ISC
"""Starts hostile builds of the workers under the real icsupervisor. Shares no
code with the product; the table of attempts comes from contain_list."""
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

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
import harness  # noqa: E402

MAGIC = b"IC-CONTAIN-ORDER"
QUIET = -1
ORDER = struct.Struct("=iIIiQI36s256s256s256s")
LAYERS = {"bare": 0, "landlock": 1, "seccomp": 2, "private": 4}
EXIT, RAN = 42, 43
CODES = {200: "WORKS", 205: "HARMLESS", 206: "SENT", 207: "CLOSED"}
DEADLINE = 20
G_PIDS = 1 << 12


def wait(p, seconds):
    """Returns the exit status, or None if it still runs after that time."""
    fd = os.pidfd_open(p.pid)
    try:
        ended = select.select([fd], [], [], seconds)[0]
    finally:
        os.close(fd)
    return p.wait() if ended else None


class Child:
    """A process in a session of its own, started without a copy of this one's
    page tables, which takes longer than all that an attempt does. `files` has
    each of its descriptors."""

    def __init__(self, path, argv, files):
        self.returncode = None
        self.pid = os.posix_spawn(
            path, argv, {}, setsid=True, file_actions=[
                (os.POSIX_SPAWN_DUP2, ours, to) for to, ours in files.items()])

    def poll(self, flags=os.WNOHANG):
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, flags)
            if pid != 0:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self):
        return self.poll(0)

    def kill(self):
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


def named(name, parent):
    """Returns the children of `parent` of that name."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/stat", encoding="ascii") as f:
                who, rest = f.read().rsplit(")", 1)
            if who.split("(", 1)[1] == name and int(rest.split()[1]) == parent:
                found.append(int(pid))
    return found


# Workers that are attacked alone: icwebd and those of `icctl mcp login` are no
# part of a session, and gated only of one in a container.
ALONE = ("icwebd", "gated", "mcp-logind", "mcp-grantd", "mcp-callbackd")


class Table:
    """The table that contain_list prints."""

    def __init__(self, build):
        text = subprocess.run([os.path.join(build, "contain_list")],
                              capture_output=True, text=True, check=True)
        d = json.loads(text.stdout)
        self.attempts = d["attempts"]
        for a in self.attempts:
            a["roles"] = [r for r in a["roles"] if r]
            a["plain"] = a["bare"]
            # A keyd of another protocol, with fewer rights.
            if "keyd" in a["roles"]:
                a["roles"].append("pgkeyd")
        self.messages = {k: d[k] for k in ("PEER", "START", "LOG",
                                           "WEB_SITE")}
        # The workers of a session.
        self.roles = {k: v for k, v in d["roles"].items()
                      if k not in ("icsupervisor", "viewer", *ALONE)}
        self.roles["pgkeyd"] = self.roles["keyd"]
        self.exceptions = {(e["name"], e["role"]): e for e in d["exceptions"]}

    def of(self, role):
        return [a for a in self.attempts if role in a["roles"]]

    def expected(self, a, role, layer):
        """Returns the expected results."""
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
    """Returns None, or what is wrong with the audit log."""
    prev, seq = "0" * 64, None
    with open(path, "rb") as f:
        for n, line in enumerate(f, 1):
            if not line.startswith(b"{"):
                continue    # torn by killing auditd
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
    """The result of an attempt, in the words of the table."""

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


# Workers that exist only with a server, and a server that needs all of them.
PER_SERVER = {"mcp-backd", "egressd"}
# Workers that exist only with an agent, and an idle agent.
PER_AGENT = {"termd", "portd"}
# The worker that takes termd's place if an editor talks to the agent.
PER_EDITOR = {"acpd"}
AGENT = {"runtime": "bwrap",
         "options": ("--publish", "28083", "--agent", "command", "--",
                     "/bin/sleep", "600")}
EDITOR = {"runtime": "bwrap",
          "options": ("--acp", "--agent", "command", "--", "/bin/sleep",
                      "600")}
# The worker that exists only with a login at a database, of which nothing
# listens.
PER_LOGIN = {"pgkeyd"}
LOGIN = {"services": {"db": {"port": 5432, "to": "127.0.0.1:9", "login": {
    "kind": "postgres", "user": "app", "database": "shop",
    "credential": {"env": "DB_PASSWORD"}}}}}
# The worker that exists only with a forge, and a forge that needs it.
PER_FORGE = {"followd"}
FORGE_TOKEN = "github_pat_real0123456789abcdefABCDEF012345"
FORGE = {"destinations": {"shop": {
    "kind": "forge", "forge": "github", "hosts": ["api.github.com"],
    "credential": {"env": "SHOP_TOKEN"}, "repositories": ["me/shop"]}}}
QUIET_SERVER = {"quiet": {"command": "/bin/sleep", "args": ["600"],
                   "sandbox": {"network": {"allowedDomains": ["localhost:9"],
                                           "allowPrivate": True}}}}


class Confined:
    """Real sessions in which one worker's binary is hostile, one at a time:
    the binary is rewritten in between."""

    def __init__(self, work, build, prefix, table, kind="hostile"):
        self.kind = kind
        self.work = work
        self.table = table
        self.prefix = prefix
        self.build = build
        self.n = 0
        self.binaries = {}
        self.real = os.path.join(prefix, "libexec", "ironcurtain")
        os.makedirs(work, mode=0o700, exist_ok=True)
        self.targets = Targets(f"ic-contain-all-{os.getpid()}")
        self.servers = QUIET_SERVER

    def libexec(self, role):
        """Creates a libexecdir with links to the shipped workers, and the
        hostile one."""
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
                os.path.join(self.build, f"{self.kind}_{role}"),
                os.path.join(d, program))
        return d

    def run(self, role, a, arg=0, servers=False, order=True):
        attempt, given = a["n"], a["given"]
        libexec = self.libexec(role)
        self.n += 1
        sdir = os.path.join(self.work, f"s{self.n}")
        # Use a name if the resolver must be asked.
        host = "localhost" if role == "resolver" else "127.0.0.1"
        s = harness.Session(
            self.work, servers=self.servers if servers or role in PER_SERVER
            else {}, libexecdir=libexec, session_dir=sdir,
            prefix=self.prefix, config={
                "providers": {"anthropic": {"upstream": f"https://{host}:9"}},
                "credentials": {"anthropic": {"env": "ANTHROPIC_API_KEY"}},
                # With an open list; adding to it gives no more rights.
                "proxyTools": True,
                # Starts the approver; nothing asks it.
                "autoApprove": {"enabled": True},
                # Starts tunneld; nothing is connected.
                "proxy": {"url": "http://127.0.0.1:9",
                          "credential": {"env": "PROXY_PAIR"}},
                **(FORGE if role in PER_FORGE else {}),
                **(LOGIN if role in PER_LOGIN else {})},
            env={"DB_PASSWORD": "a password of app",
                 "PROXY_PAIR": "corp:" + "x" * 20,
                 "SHOP_TOKEN": FORGE_TOKEN},
            **(AGENT if role in PER_AGENT | PER_LOGIN else
               EDITOR if role in PER_EDITOR else {}))
        if order:
            self.binaries[role].order(
                attempt, arg=arg, session=sdir, home=s.home, libexec=libexec,
                port=self.targets.port, abstract=self.targets.abstract)
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
                if role == "termd":
                    return self.judge_restarted(role, attempt, s, p, err)
                status = wait(p, DEADLINE)
                err.seek(0)
                said = err.read().decode(errors="replace")
                return self.judge(role, attempt, s, status, said)
            finally:
                if p.poll() is None:
                    p.terminate()
                    p.wait()
                shutil.rmtree(sdir, ignore_errors=True)

    def tell_pids(self, p, home, role):
        """Waits for all workers. Returns the pids of siblings and supervisor,
        without the hostile one."""
        names = set(self.table.roles)
        if role not in PER_SERVER:
            names -= PER_SERVER
        if role not in PER_AGENT:
            names -= PER_AGENT
        if role not in PER_EDITOR:
            names -= PER_EDITOR
        if role not in PER_FORGE:
            names -= PER_FORGE
        if role not in PER_LOGIN:
            names -= PER_LOGIN

        def children():
            found = {}
            for pid in filter(str.isdigit, os.listdir("/proc")):
                with contextlib.suppress(OSError):
                    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
                        name, rest = f.read().rsplit(")", 1)
                    if int(rest.split()[1]) == p.pid:
                        found[name.split("(", 1)[1]] = pid
            return found if names <= set(found) else None

        pids = harness.wait_for(children, "not all workers came", DEADLINE)
        with open(os.path.join(home, "pids"), "w", encoding="ascii") as f:
            f.write(f"{p.pid}" + "".join(
                f" {pids[name]}" for name in names if name != role))
            f.write("\n")

    def judge(self, role, attempt, s, status, said):
        log = s.session_log()
        probe = re.search(rf"PROBE {attempt} .*?pid (\d+)"
                          r"(?:, (\d+) channels)?", log)
        result = re.search(rf"RESULT {attempt} (-?\d+)", log)
        detail = f"exit {status}\n{said}\n{log}"
        if status is None:
            return Result("TAKEN", "the session went on\n" + detail)
        if not probe:
            return Result("NOT MADE", detail)
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
        """The resolver's end ends dialerd, and so the session. If it ended
        without a message, it was killed."""
        def ended():
            over = p.poll() is not None
            log = s.session_log()
            result = re.search(rf"RESULT {attempt} (-?\d+)", log)
            if result:
                return name_of(int(result[1]))
            if not over:
                return None
            if not re.search(rf"PROBE {attempt} resolver", log) or \
                    "the resolver, which reads" not in log:
                return "the session ended"
            return "WORKS" if "RAN" in log else "KILLED"

        try:
            outcome = harness.wait_for(ended, "no end", DEADLINE, poll=0.003)
        except TimeoutError:
            outcome = "STUCK"
        return Result(outcome, s.session_log())

    def judge_restarted(self, role, attempt, s, p, err):
        """termd's end does not end the session: it is recorded as an alarm."""
        def ended():
            if p.poll() is not None:
                return {}
            return next((e["detail"] for e in s.events("workerEnd")
                         if e["detail"]["role"] == role), None)

        try:
            end = harness.wait_for(lambda: ended() is not None and [ended()],
                                   "no end", DEADLINE)[0]
        except TimeoutError:
            return Result("TAKEN", s.session_log())
        # A session that did not start has no log.
        err.seek(0)
        log = err.read().decode(errors="replace") + s.session_log()
        detail = f"{end}\n{log}"
        if not end:
            return Result("SESSION ENDED", f"exit {p.poll()}\n{detail}")
        probe = re.search(rf"PROBE {attempt} .*?pid (\d+)"
                          r"(?:, (\d+) channels)?", log)
        result = re.search(rf"RESULT {attempt} (-?\d+)", log)
        if not probe:
            return Result("NOT MADE", detail)
        said = re.search(rf"{role} .*broke the protocol.*", log)
        outcome = self.outcome(role, result, end,
                               {"reason": said[0] if said else ""})
        # icsupervisor kills termd if its channel looks closed, before or after
        # it could tell.
        if not said and "SIGKILL" in end["how"] and (
                not result or name_of(int(result[1])) == "CLOSED"):
            outcome = "CLOSED"
        return Result(outcome, detail, int(probe[2] or 0), int(probe[1]))

    @staticmethod
    def outcome(role, result, end, stop):
        role = "keyd" if role in PER_LOGIN else role
        mine = end.get("role") == role
        how = end.get("how", "")
        # The receiver may end the session before it can report this.
        why = stop.get("reason", "") + " " + end.get("lastLog", "")
        if f"{role} " in why and "broke the protocol" in why and \
                (not result or name_of(int(result[1])) == "SENT"):
            return "SENT"
        if mine and not result and "SIGSYS" in how:
            return "KILLED"
        if mine and not result and "SIGSEGV" in how:
            return "FAULT"
        if mine and result and how == f"exited with status {EXIT}":
            return name_of(int(result[1]))
        if mine and how == f"exited with status {RAN}":
            return "WORKS"
        return f"ended as {end.get('role')} {how}"
