# SPDX-License-Identifier: ISC
"""Runs the shipped programs for end-to-end tests: a session directory, a
configuration, stand-ins for provider and MCP servers, and records of what they
saw.  Shares no code with the product."""
import contextlib
import glob
import json
import os
import re
import secrets
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LIB = os.path.dirname(os.path.abspath(__file__))
STANDINS = os.path.join(LIB, "standins")
sys.path[:0] = [LIB, STANDINS]
import known_machine  # noqa: E402
from agent import Mcp, Model, outcome, text_of  # noqa: E402,F401
from tap import Tap  # noqa: E402,F401

PREFIX = os.environ.get("IC_PREFIX", "/usr/local")
PYTHON = os.path.realpath("/usr/bin/python3")
# A factor on every time limit: an emulated machine is slow.
PATIENCE = int(os.environ.get("IC_PATIENCE", "1"))
ANTHROPIC_KEY = "sk-ant-api03-real-" + secrets.token_hex(24)
OPENAI_KEY = "sk-real-" + secrets.token_hex(24)
GOOGLE_KEY = "AIzaSyReal" + secrets.token_hex(16)


def sanitized():
    """Returns whether this is a build for ASan, in which no worker loads its
    filter."""
    try:
        with open(os.path.join(PREFIX, "libexec/ironcurtain/policyd"),
                  "rb") as f:
            return b"__asan_init" in f.read()
    except OSError:
        return False


def program(name):
    return os.path.join(PREFIX, "bin", name)


def put(path, text, mode=0o644):
    """Write a file, and create the directories above it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(fd, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def read_lines(path, has=()):
    """Returns the JSON lines of a file, without an incomplete last one; if
    `has` names some, only those with one of these texts."""
    if not os.path.exists(path):
        return []
    with open(path, "rb") as f:
        return [json.loads(line) for line in f if line.endswith(b"\n")
                and line.startswith(b"{")
                and (not has or any(x in line for x in has))]


def wait_for(predicate, what, timeout=60, poll=0.02):
    """Returns the first true value of the predicate. It polls, and is only for
    conditions without an event to wait for."""
    end = time.monotonic() + timeout * PATIENCE
    while time.monotonic() < end:
        value = predicate()
        if value:
            return value
        time.sleep(poll)
    raise TimeoutError(what)


class Process:
    """A child process whose first line on stdout is JSON; its stderr is kept.
    """

    def __init__(self, argv, stderr, env=None, timeout=60, **kw):
        self.stderr_path = stderr
        self.err = open(stderr, "ab")
        self.p = subprocess.Popen(argv, stdout=subprocess.PIPE,
                                  stderr=self.err, stdin=subprocess.DEVNULL,
                                  env=env, **kw)
        ready, _, _ = select.select([self.p.stdout], [], [],
                                    timeout * PATIENCE)
        line = self.p.stdout.readline() if ready else b""
        if not line.strip():
            self.p.kill()
            self.p.wait()
            raise RuntimeError(f"{argv[0]}: no ready line; exit "
                               f"{self.p.returncode}; {self.stderr()}")
        self.ready = json.loads(line)

    def stderr(self):
        with open(self.stderr_path, encoding="utf-8", errors="replace") as f:
            return f.read()

    def end(self, timeout=10):
        if self.p.poll() is None:
            self.p.terminate()
            try:
                self.p.wait(timeout * PATIENCE)
            except subprocess.TimeoutExpired:
                self.p.kill()
                self.p.wait()
        self.p.stdout.close()
        self.err.close()
        return self.p.returncode


class Provider(Process):
    """The recording provider. Its log: self.seen()."""

    def __init__(self, work, *options, script=None, name="provider"):
        self.dir = os.path.join(work, name)
        os.makedirs(self.dir, exist_ok=True)
        self.log_path = os.path.join(self.dir, "log.jsonl")
        argv = [PYTHON, os.path.join(STANDINS, "provider.py"), "--ca-dir",
                self.dir, "--log", self.log_path, "--key", ANTHROPIC_KEY,
                "--key", OPENAI_KEY, "--key", GOOGLE_KEY, *options]
        if script is not None:
            path = os.path.join(self.dir, "script.json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump(script, f)
            argv += ["--script", path]
        super().__init__(argv, os.path.join(self.dir, "stderr"))
        self.port = self.ready["port"]
        self.ca = os.path.join(self.dir, "ca.pem")
        self.url = f"https://127.0.0.1:{self.port}"

    def seen(self):
        """Returns the requests, in order."""
        return [r for r in read_lines(self.log_path) if r["ev"] == "request"]


class Tunnel(Process):
    """A TCP port (self.port) that leads to `target` through a session's proxy.
    """

    def __init__(self, path, target):
        super().__init__([PYTHON, os.path.join(STANDINS, "tunnel.py"), path,
                          target], os.devnull)
        self.port = self.ready["port"]


def echo_server(log, *options, **entry):
    """Returns an entry of mcp-servers.json for mcp_echo.py; log: its log file,
    in a directory of its own that is bound writable."""
    os.makedirs(os.path.dirname(log), exist_ok=True)
    sandbox = entry.pop("sandbox", {})
    filesystem = dict(sandbox.get("filesystem", {}))
    filesystem["allowWrite"] = [*filesystem.get("allowWrite", []),
                                os.path.dirname(log)]
    filesystem["allowRead"] = [*filesystem.get("allowRead", []), STANDINS]
    return {"command": PYTHON,
            "args": [os.path.join(STANDINS, "mcp_echo.py"), "--log", log,
                     *options],
            "sandbox": {**sandbox, "filesystem": filesystem}, **entry}


def annotation(server, tools):
    """Returns annotations; tools: name -> {argument: [roles]}."""
    return {"inputHash": "test", "tools": [
        {"toolName": t, "serverName": server, "comment": "", "args": args,
         "inputSchema": {"type": "object"}} for t, args in tools.items()]}


ECHO_TOOLS = {
    "echo": {"text": ["none"]}, "lookup": {"path": ["read-path"]},
    "slow": {"ms": ["none"], "until": ["none"]}, "fail": {"text": ["none"]},
    "big": {"bytes": ["none"]}, "structured": {},
    "progress": {"steps": ["none"], "ms": ["none"]}, "env": {},
}


def rule(name, then, reason=None, **conditions):
    return {"name": name, "description": name, "principle": "test",
            "if": conditions, "then": then, "reason": reason or name}


NO_BUDGET = {"maxTotalTokens": None, "maxSteps": None,
             "maxSessionSeconds": None, "maxEstimatedCostUsd": None}


class Session:
    """A running session with --runtime none (or with `options`).

    servers: mcp-servers.json; rules: compiled rules; annotations: server ->
    tools as for annotation(); config: further members of config.json."""

    def __init__(self, work, servers=None, rules=None, annotations=None,
                 config=None, provider=None, options=(), env=None,
                 libexecdir=None, runtime="none", session_dir=None,
                 lists=None, prefix=None):
        self.work = work
        self.home = os.path.join(work, "home")
        self.dir = session_dir or os.path.join(work, "session")
        self.workspace = os.path.join(work, "workspace")
        self.user_home = os.path.join(work, "user")
        # ./dev test runtimes: the same session in a container.
        engine = os.environ.get("IC_RUNTIME") if runtime == "bwrap" else None
        if engine:
            runtime = engine
            options = ["--image", os.environ["IC_IMAGE"], *options]
            env = {**json.loads(os.environ["IC_ENGINE_ENV"]), **(env or {})}
        for d in (self.home, self.workspace, self.user_home):
            os.makedirs(d, mode=0o700, exist_ok=True)
        known_machine.give(self.home)
        self.config = dict(config or {})
        # Tests may exceed the default budget of a session.
        self.config.setdefault("resourceBudget", dict(NO_BUDGET))
        self.provider = provider
        if provider is not None:
            providers = self.config.setdefault("providers", {})
            for name in ("anthropic", "openai"):
                providers.setdefault(name, {"upstream": provider.url,
                                            "ca": provider.ca})
            self.config.setdefault("credentials", {
                "anthropic": {"env": "ANTHROPIC_API_KEY"},
                "openai": {"env": "OPENAI_API_KEY"}})
        self.write("config.json", self.config)
        self.write("mcp-servers.json", {"filesystem": False,
                                        **(servers or {})})
        if rules is not None:
            self.policy(rules, annotations or {}, lists)
        self.env = {"PATH": "/usr/bin:/bin", "HOME": self.user_home,
                    "IRONCURTAIN_HOME": self.home, "LANG": "C.UTF-8",
                    "ANTHROPIC_API_KEY": ANTHROPIC_KEY,
                    "OPENAI_API_KEY": OPENAI_KEY,
                    "GEMINI_API_KEY": GOOGLE_KEY, **(env or {})}
        argv = [os.path.join(prefix or PREFIX, "bin", "icsupervisor"),
                "--session-dir", self.dir, "--runtime", runtime,
                "--workspace", self.workspace, "--print-ready"]
        if libexecdir:
            argv += ["--libexecdir", libexecdir]
        self.argv = argv + list(options)
        self.process = None

    def write(self, name, value):
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            json.dump(value, f)
        os.chmod(path, 0o600)
        return path

    def policy(self, rules, annotations, lists=None):
        self.write("policy/compiled-policy.json", {
            "generatedAt": "2026-11-21T00:00:00Z", "constitutionHash": "",
            "inputHash": "", "rules": rules})
        self.write("policy/tool-annotations.json", {
            "generatedAt": "2026-11-21T00:00:00Z",
            "servers": {s: annotation(s, t) for s, t in annotations.items()}})
        if lists is not None:
            self.write("policy/dynamic-lists.json", lists)

    def start(self, timeout=60):
        self.process = Process(self.argv, os.path.join(self.work, "stderr"),
                               env=self.env, timeout=timeout)
        self.ready = self.process.ready
        return self

    @property
    def pid(self):
        return self.process.p.pid

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        return self.process.end() if self.process else None

    def wait(self, timeout=10):
        return self.process.p.wait(timeout * PATIENCE)

    def mcp(self):
        return Mcp(path=self.ready["sockets"]["mcp"])

    def client(self):
        """Returns an agent's connection, once it has the list of tools."""
        m = self.mcp()
        m.initialize()
        m.list_tools()
        return m

    def orient(self, name):
        with open(os.path.join(self.dir, "orientation", name),
                  encoding="utf-8") as f:
            return f.read()

    def agent_env(self):
        return dict(line.split("=", 1) for line in
                    self.orient("agent.env").splitlines() if "=" in line)

    def model(self, host="api.anthropic.com", **kw):
        names = {"api.anthropic.com": "ANTHROPIC_API_KEY",
                 "api.openai.com": "OPENAI_API_KEY"}
        kw.setdefault("key", self.agent_env().get(names.get(host, "")))
        kw.setdefault("ca", os.path.join(self.dir, "orientation",
                                         "ca-cert.pem"))
        return Model(proxy=self.ready["sockets"]["mitm"], host=host, **kw)

    def icctl(self, *args, check=False, timeout=30, answers=None):
        r = subprocess.run([program("icctl"), "--session", self.dir, *args],
                           env=self.env, capture_output=True, text=True,
                           input=answers,
                           timeout=timeout * PATIENCE, check=False)
        if check and r.returncode != 0:
            raise RuntimeError(f"icctl {args}: {r.returncode} {r.stderr}")
        return r

    def pending(self):
        """Returns the pending calls; none while the session does not exist
        yet."""
        r = self.icctl("--json", "pending")
        return json.loads(r.stdout)["holds"] if r.returncode == 0 else []

    def held(self, timeout=60):
        """Returns the first pending call, once there is one."""
        return wait_for(self.pending, "no call was held", timeout)[0]

    def audit(self, *names):
        """Returns the records of the log, the earlier files' first; if there
        are `names`, only those of these events. A log may be long: others are
        not parsed."""
        old = [x for x in
               (os.listdir(self.dir) if os.path.isdir(self.dir) else ())
               if re.fullmatch(r"audit\.\d+\.jsonl", x)]
        old.sort(key=lambda x: int(x.split(".")[1]))
        has = [f'"event":"{name}"'.encode() for name in names]
        return [e for x in old + ["audit.jsonl"]
                for e in read_lines(os.path.join(self.dir, x), has)
                if not names or e["event"] in names]

    def events(self, name):
        return self.audit(name)

    def session_log(self):
        path = os.path.join(self.dir, "session.log")
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read()

    def workers(self):
        """Returns name -> [pid] of the live processes, from icctl status."""
        found = {}
        status = json.loads(self.icctl("--json", "status", check=True).stdout)
        for w in status["workers"]:
            found.setdefault(w["name"].split()[0], []).append(w["pid"])
        return found


def end_pauses(path):
    """Ends the process that rootless podman leaves for its namespace, for each
    XDG_RUNTIME_DIR that a test made: a command as short as `podman ps` does."""
    for name in glob.glob(path + "/**/libpod/tmp/pause.pid", recursive=True):
        with contextlib.suppress(OSError, ValueError):
            with open(name, encoding="ascii") as f:
                pid = int(f.read())
            with open(f"/proc/{pid}/comm", encoding="ascii") as f:
                if f.read().startswith(("podman", "catatonit")):
                    os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def workdir(keep=bool(os.environ.get("IC_KEEP"))):
    path = tempfile.mkdtemp(prefix="ic-test-")
    os.chmod(path, 0o700)
    try:
        yield path
    finally:
        end_pauses(path)
        known_machine.keep(path)
        if keep:
            print(f"# kept {path}")
        else:
            shutil.rmtree(path, ignore_errors=True)


def born(pid):
    """Returns when a process that lives began, in the kernel's ticks, or None:
    a number may belong to another process by now."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            fields = f.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if fields[0] in ("Z", "X") else int(fields[19])


def alive(pid):
    return born(pid) is not None


def kill(pid, sig=signal.SIGKILL):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, sig)
