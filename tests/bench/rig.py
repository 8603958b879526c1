# SPDX-License-Identifier: ISC
"""The programs that the bench measures: a session of IronCurtain, other
proxies with the same two TLS legs, a cheap provider; and their use of
resources."""
import contextlib
import glob
import json
import os
import resource
import secrets
import shutil
import subprocess
import sys

from proxies import HOST, MANY, PROXIES

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
import known_machine  # noqa: E402
OURS = ("icsupervisor", "mcp-proxyd", "mcp-backd", "policyd", "auditd",
        "mitmd", "keyd", "dialerd")
FILES = 64      # number of directories, and of files in each

class Failed(Exception):
    """A measurement that failed, and why."""


# ---- processes ------------------------------------------------------------

def processes():
    """Returns pid -> (parent, name) of all running processes."""
    found = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError):
            with open(path, encoding="utf-8", errors="replace") as f:
                text = f.read()
            name = text[text.index("(") + 1:text.rindex(")")]
            state, parent = text[text.rindex(")") + 2:].split()[:2]
            if state not in ("Z", "X"):
                found[int(path.split("/")[2])] = (int(parent), name)
    return found


def family(root):
    """Returns pid -> name of a process and its descendants."""
    everyone = processes()
    found = {root: everyone[root][1]}
    grown = True
    while grown:
        more = {p: n for p, (parent, n) in everyone.items()
                if parent in found and p not in found}
        found.update(more)
        grown = bool(more)
    return found


def ours(root):
    """Returns the product's programs among them: no wrapper, no server."""
    return {p: n for p, n in family(root).items() if n in OURS}


def memory(pids):
    """Returns (kilobytes, "PSS" or "RSS") of the processes; PSS if
    permitted."""
    try:
        total = 0
        for pid in pids:
            with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
                total += next(int(line.split()[1]) for line in f
                              if line.startswith("Pss:"))
        return total, "PSS"
    except OSError:
        pages = 0
        for pid in pids:
            with open(f"/proc/{pid}/statm", encoding="ascii") as f:
                pages += int(f.read().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") // 1024, "RSS"


class Child:
    """A program of the bench; with `ready`, its first line is JSON."""

    def __init__(self, argv, ready=False, **kw):
        self.argv = argv
        self.p = subprocess.Popen(argv, stdin=subprocess.PIPE, text=True,
                                  stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, **kw)
        self.ready = None
        if ready:
            line = self.p.stdout.readline()
            if not line:
                raise Failed(f"{os.path.basename(argv[0])}: "
                             + self.p.stderr.read().strip())
            self.ready = json.loads(line)

    def end(self):
        """Closes its stdin. Returns its output as JSON."""
        out, err = self.p.communicate(timeout=60)
        if self.p.returncode != 0:
            raise Failed(f"{os.path.basename(self.argv[0])}: {err.strip()}")
        return json.loads(out) if out.strip() else None

    def kill(self):
        if self.p.poll() is None:
            self.p.kill()
        self.p.communicate()


def pinned(cpu):
    """Runs children started inside on that processor (None: on any)."""
    @contextlib.contextmanager
    def manager():
        before = os.sched_getaffinity(0)
        if cpu is not None:
            os.sched_setaffinity(0, {cpu})
        try:
            yield
        finally:
            os.sched_setaffinity(0, before)
    return manager()


# ---- the rig --------------------------------------------------------------

class Rig:
    """opts: prefix, build, pin. Starts nothing before it is needed."""

    def __init__(self, opts, work):
        os.environ["IC_PREFIX"] = opts.prefix
        # Programs may have 1,000 connections on either side.
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft < MANY:
            resource.setrlimit(resource.RLIMIT_NOFILE, (
                MANY if hard == resource.RLIM_INFINITY else min(MANY, hard),
                hard))
        import harness
        from provider_ca import make_certificates
        self.h, self.opts, self.work = harness, opts, work
        self.bin = os.path.join(opts.build, "tests", "bench")
        self.proxy_cpu, self.load_cpu = (0, 1) if opts.pin else (None, None)
        self.real = harness.ANTHROPIC_KEY
        self.agent_key = "sk-ant-agent-" + secrets.token_hex(24)
        self.certs = os.path.join(work, "certs")
        make_certificates(self.certs, [HOST, "api.openai.com"])
        self.ca = os.path.join(self.certs, "ca.pem")
        self.stack = contextlib.ExitStack()
        self.session = self.upstream = None
        self.proxies = {}
        self.files = 0
        self.sessions = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()

    def tool(self, name):
        return os.path.join(self.bin, name)

    def start_upstream(self):
        if self.upstream is None:
            with pinned(self.load_cpu):
                self.upstream = Child(
                    [self.tool("bench_upstream"),
                     os.path.join(self.certs, "leaf.pem"),
                     os.path.join(self.certs, "leaf.key"), self.real],
                    ready=True)
            self.stack.callback(self.upstream.kill)
        return self.upstream.ready["port"]

    def pin_proxy(self):
        return pinned(self.proxy_cpu)

    def start_proxy(self, name):
        """Starts another proxy by its name in PROXIES; it must be
        installed."""
        if name not in self.proxies:
            with open(os.path.join(self.certs, "both.pem"), "w",
                      encoding="ascii") as out:
                for part in ("leaf.pem", "leaf.key"):
                    with open(os.path.join(self.certs, part),
                              encoding="ascii") as f:
                        out.write(f.read())
            proxy = PROXIES[name](self)
            proxy.start()
            self.proxies[name] = proxy
        return self.proxies[name]

    def server(self):
        """Returns an entry of mcp-servers.json for the echo server."""
        return {"command": self.tool("bench_mcp_echo"), "args": []}

    def new_session(self, servers=1, **kw):
        """Returns a session, not started: the shipped policy, two providers,
        audit on."""
        self.sessions += 1
        work = os.path.join(self.work, f"s{self.sessions}")
        port = self.start_upstream()
        names = ["filesystem", "second", "third"][:servers]
        to = {"upstream": f"https://127.0.0.1:{port}", "ca": self.ca}
        config = {"providers": {"anthropic": to, "openai": to},
                  "credentials": {"anthropic": {"env": "ANTHROPIC_API_KEY"},
                                  "openai": {"env": "OPENAI_API_KEY"}}}
        return self.h.Session(work, servers={n: self.server() for n in names},
                              config=config, **kw)

    @staticmethod
    def keep_machine(session):
        """Gives later sessions what this one noted about the machine."""
        known_machine.keep(session.work)

    def lone_session(self):
        """Returns a session, not started: no server, one credential."""
        self.sessions += 1
        work = os.path.join(self.work, f"s{self.sessions}")
        return self.h.Session(work, config={
            "providers": {"anthropic": {"upstream": "https://127.0.0.1:9"}},
            "credentials": {"anthropic": {"env": "ANTHROPIC_API_KEY"}}})

    def rules_session(self, n):
        """Starts a session with n rules of other servers before the shipped
        ones."""
        shipped = os.path.join(self.opts.prefix, "share", "ironcurtain",
                               "policies")
        own = os.path.join(self.work, f"rules-{n}-{self.sessions}")
        os.makedirs(own)
        for name in ("tool-annotations.json", "dynamic-lists.json"):
            shutil.copy(os.path.join(shipped, name), own)
        with open(os.path.join(shipped, "compiled-policy.json"),
                  encoding="utf-8") as f:
            policy = json.load(f)
        policy["rules"][:0] = [self.h.rule(
            f"r{i}", "escalate", server=[f"server{i}"], roles=["read-path"],
            paths={"roles": ["read-path"], "within": f"/srv/d{i}"})
            for i in range(n)]
        with open(os.path.join(own, "compiled-policy.json"), "w",
                  encoding="utf-8") as f:
            json.dump(policy, f)
        s = self.new_session(options=["--policy", own])
        with pinned(self.proxy_cpu):
            s.start()
        self.make_files(s.workspace)
        return s

    def start_session(self):
        """Returns the session that the loads of all rounds use."""
        self.has_ended()
        if self.session is None:
            s = self.new_session()
            with pinned(self.proxy_cpu):
                s.start()
            self.stack.callback(s.stop)
            self.session = s
            self.make_files(s.workspace)
            self.pids = ours(s.pid)
        return self.session

    def has_ended(self, within=0):
        """Returns why the session ended, or None; the next load gets a new
        one."""
        if self.session is None:
            return None
        try:
            self.session.wait(within)
        except subprocess.TimeoutExpired:
            return None
        why = self.session.process.stderr().strip().splitlines()
        self.session = None
        return "the session ended: " + (why or ["without a word"])[-1]

    @staticmethod
    def make_files(workspace):
        """Creates empty files, so that the paths in calls exist."""
        top = os.path.join(workspace, "src")
        for d in range(FILES):
            path = os.path.join(top, f"d{d:02x}")
            os.makedirs(path)
            at = os.open(path, os.O_PATH | os.O_DIRECTORY)
            for f in range(FILES):
                os.close(os.open(f"file-{f:02x}.txt", os.O_WRONLY |
                                 os.O_CREAT, 0o600, dir_fd=at))
            os.close(at)

    def cpu_of(self, target):
        """Returns --cpu-of for a target: the processes whose time it uses."""
        if target in self.proxies:
            return list(family(self.proxies[target].p.pid))
        return list(self.pids) if target == "ironcurtain" else []

    # ---- loads ----------------------------------------------------------
    def load(self, argv):
        with pinned(self.load_cpu):
            child = Child(argv)
        try:
            return child.end()
        finally:
            child.kill()

    def timing(self):
        return ["--warm-ms", str(self.opts.warm), "--run-ms",
                str(self.opts.run)]

    def mcp(self, target, outstanding, each=False):
        """each: the client makes a write for each call."""
        argv = [self.tool("bench_mcp_load"), *self.timing(), "--from",
                str(self.files), "--outstanding", str(outstanding),
                *(["--each"] if each else [])]
        if target == "direct":
            result = self.load([*argv, self.tool("bench_mcp_echo")])
        elif target == "hops":
            with pinned(self.proxy_cpu):
                result = Child([
                    self.tool("bench_hops"), *(["--each"] if each else []),
                    str(outstanding), str(self.opts.warm), str(self.opts.run),
                    *([] if self.load_cpu is None else [str(self.load_cpu)])
                ]).end()
        elif isinstance(target, self.h.Session):
            result = self.load([*argv, "--tool", "filesystem__read_file",
                                "--unix", target.ready["sockets"]["mcp"]])
        else:
            s = self.start_session()
            result = self.load([*argv, "--tool", "filesystem__read_file",
                                "--unix", s.ready["sockets"]["mcp"],
                                "--cpu-of",
                                ",".join(map(str, self.cpu_of(target)))])
            self.files = result["next"]
        return self.checked(result)

    def model_argv(self, target, *options):
        """Returns the options that reach a target, with the key that it
        requires."""
        argv = [self.tool("bench_tls_load"), "--host", HOST, *options]
        port = self.start_upstream()
        if target == "direct":
            argv += ["--port", str(port), "--key", self.real, "--ca", self.ca]
            cpu = [self.upstream.p.pid]
        elif target in PROXIES:
            proxy = self.start_proxy(target)
            argv += ["--port", str(proxy.port), "--key", self.agent_key,
                     "--ca", proxy.ca]
            if proxy.connect:
                argv += ["--connect", str(port)]
            cpu = self.cpu_of(target)
        else:
            s = self.start_session()
            argv += ["--unix", s.ready["sockets"]["mitm"], "--key",
                     s.agent_env()["ANTHROPIC_API_KEY"], "--ca",
                     os.path.join(s.dir, "orientation", "ca-cert.pem")]
            cpu = self.cpu_of(target)
        return [*argv, "--cpu-of", ",".join(map(str, cpu))]

    def model(self, target, *options):
        return self.checked(self.load(self.model_argv(target, *options)))

    @staticmethod
    def checked(result):
        if result["errors"]:
            raise Failed(f"{result['errors']} of {result['n']} were refused "
                         + result.get("trouble", ""))
        return result
