#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests containers with a stand-in for docker and podman: the exact arguments
(golden files beside this one), a session in such a container, refusals, and
that nothing is left behind. ./dev test runtimes tests the real engines."""
import difflib
import json
import os
import re
import resource
import shutil
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
HERE = os.path.dirname(os.path.abspath(__file__))
HARD = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
INFO = {
    "docker": {"os": "linux", "version": "20.10", "memory": True,
               "pids": True, "options": ["name=seccomp,profile=default"]},
    "podman": {"os": "linux", "version": "4.3", "cgroups": "v2",
               "rootless": True, "remote": False, "runtime": "/usr/bin/crun",
               "manager": "systemd"},
}
IMAGE = {"id": "sha256:" + "ab" * 32, "volumes": None}
ID = "0123456789abcdef" * 4
STALE = "f" * 64


class Engine:
    """A session in a container of the stand-in."""

    def __init__(self, work, name, env=None, options=("--image", "some/image"),
                 servers=None, config=None, **answers):
        self.name, self.work = name, work
        tools = os.path.join(work, "tools")
        os.makedirs(tools, exist_ok=True)
        os.makedirs(os.path.join(work, "xdg"), exist_ok=True)
        shutil.copy(os.path.join(h.STANDINS, "engine.py"),
                    os.path.join(tools, name))
        self.socket = os.path.join(work, "engine.sock")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.socket)
        self.listener.listen(8)
        runtime = [] if config and "runtime" in config else [name]
        self.s = h.Session(
            work, servers, runtime=name, options=options, config=config,
            env={"PATH": f"{tools}:/usr/bin:/bin", "DOCKER_HOST": "given",
                 "XDG_RUNTIME_DIR": os.path.join(work, "xdg"),
                 "HTTP_PROXY": "http://user:secret@proxy:1",
                 **(env or {})})
        if not runtime:
            at = self.s.argv.index("--runtime")
            del self.s.argv[at:at + 2]
        h.put(os.path.join(self.s.user_home, "engine.json"), json.dumps({
            "context": "unix://" + self.socket, "info": INFO[name],
            "image": IMAGE, **answers}))

    def start(self, *command, **kw):
        self.s.argv += ["--", *command]
        self.result = subprocess.run(
            self.s.argv, env=self.s.env, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60 * h.PATIENCE,
            check=False, **kw)
        self.listener.close()
        return self.result

    def calls(self):
        path = os.path.join(self.s.user_home, "engine.jsonl")
        return h.read_lines(path) if os.path.exists(path) else []

    def of(self, word):
        return [c for c in self.calls() if word in c["args"]]


def shown(e, args):
    """Writes a command line with names instead of what differs each time."""
    text = "\n".join(args) + "\n"
    for path, name in ((e.s.dir, "SESSION"), (e.s.workspace, "WORKSPACE"),
                       (e.socket, "SOCKET"), (h.PREFIX, "PREFIX")):
        text = text.replace(os.path.realpath(path), name).replace(path, name)
    text = re.sub(r"(owner-uid|owner-pid|owner-start)=\d+", r"\1=N", text)
    text = text.replace(f"owner-host={socket.gethostname()}\n",
                        "owner-host=HOST\n")
    text = re.sub(r"boot-id=[0-9a-f-]{36}:\d+\n", "boot-id=BOOT\n", text)
    text = re.sub(r"^\d+:\d+$", "UID:GID", text, flags=re.M)
    # At most half of what the user may open.
    text = re.sub(r"^nofile=(\d+):\1$", lambda m: "nofile=FILES" if int(m[1])
                  <= min(16384, HARD // 2) else m[0], text, flags=re.M)
    text = re.sub(r",uid=\d+,gid=\d+", ",uid=UID,gid=GID", text)
    text = re.sub(r"(processes=\d+,file=\d+),cpus=\d+", r"\1,cpus=N", text)
    # With no more processors than the limit there is no such option.
    return re.sub(r"^--cpus\n\d+\n", "", text, flags=re.M)


def agent_said(r):
    """Returns what comes after the line that says that the session is up."""
    return r.stdout.splitlines()[1:]


def test_arguments(work, name):
    e = Engine(work, name)
    r = e.start("/bin/sh", "-c", "id -u; exit 3")
    t.ok(r.returncode == 3 and agent_said(r) == [str(os.geteuid())],
         f"{name}: the agent runs, as this user, and its status comes out",
         f"{r.returncode} {r.stdout} {r.stderr}")
    run = e.of("run")
    got = shown(e, run[0]["args"]) if run else ""
    golden = os.path.join(HERE, f"engine_{name}.txt")
    if os.environ.get("IC_GOLDEN"):
        with open(golden, "w", encoding="utf-8") as f:
            f.write(got)
    with open(golden, encoding="utf-8") as f:
        want = f.read()
    t.ok(got == want, f"{name}: the arguments are those of the golden file",
         "\n".join(difflib.unified_diff(want.split("\n"), got.split("\n"),
                                        "golden", "now", lineterm="")))
    t.ok(not {"-t", "-i", "-v", "--privileged", "exec", "attach", "cp"} &
         {a for c in e.calls() for a in c["args"]},
         f"{name}: no terminal, no volume, and it is never entered again")
    t.equal([c["args"][-1] for c in e.of("rm")], [ID],
            f"{name}: the container is removed by its id")
    configs = [c["env"].get("DOCKER_CONFIG", c["env"].get(
        "REGISTRY_AUTH_FILE")) for c in run]
    t.ok(run and configs[0].startswith(e.s.dir) and "HTTP_PROXY" not in
         run[0]["env"] and "ANTHROPIC_API_KEY" not in run[0]["env"],
         f"{name}: its client has an empty configuration and a small "
         "environment", str(run[:1]))
    with open(os.path.join(e.s.dir, "session.json"), encoding="utf-8") as f:
        told = json.load(f)
    first = e.s.events("start")[0]["detail"]
    t.equal((told["runtime"], told["image"], first["runtime"],
             first["image"], told["limits"]["memory"]),
            (name, f"some/image ({IMAGE['id']})") * 2 +
            ("4096 MiB, by a control group",),
            f"{name}: session.json and the first record say what it is")


def test_docker(work):
    test_arguments(work, "docker")


def test_podman(work):
    test_arguments(work, "podman")


def test_inside(work):
    """The container has the environment of agent.env, with what it had."""
    e = Engine(work, "docker")
    r = e.start("/bin/sh", "-c", "echo $HOME $IRONCURTAIN $PATH; "
                "cat /etc/passwd /etc/resolv.conf; ls /run/ironcurtain; "
                "grep ^Seccomp_filters /proc/self/status")
    root = [] if os.geteuid() == 0 else ["root:x:0:0:root:/root:/bin/sh"]
    t.equal(agent_said(r),
            ["/home/agent 1 /usr/bin:/bin", *root,
             f"agent:x:{os.geteuid()}:{os.getegid()}:agent:/home/agent:"
             "/bin/sh", "mitm-proxy.sock", "proxy.sock", "terminal.sock",
             "Seccomp_filters:\t1"],
            "the container has our environment, its own PATH, our files of "
            "/etc and our filter")


def test_workspace_path(work):
    e = Engine(work, "docker", options=("--image", "some/image",
                                        "--workspace-path", "same"))
    r = e.start("/bin/sh", "-c", "pwd; echo made >here")
    path = os.path.realpath(e.s.workspace)
    args = e.of("run")[0]["args"]
    mounts = [a for a in args if a.startswith(f"type=bind,source={path},")]
    t.equal((mounts, args[args.index("--workdir") + 1]),
            ([f"type=bind,source={path},target={at}"
              for at in ("/workspace", path)], path),
            "the workspace has both paths, and the agent works at its own")
    t.ok(r.returncode == 0 and agent_said(r) == [path] and
         os.path.exists(os.path.join(path, "here")), "it is there",
         r.stdout + r.stderr)


def test_caches(work):
    """Package caches are mounted in both engines, read-only and without what
    is mounted below them."""
    for name in ("docker", "podman"):
        place = os.path.join(work, name)
        cache = os.path.join(place, "wheels")
        os.makedirs(cache)
        h.put(os.path.join(cache, "one.whl"), "wheel")
        e = Engine(place, name, config={"packageCaches": {"pip": cache}})
        r = e.start("/bin/sh", "-c", "cat $PIP_FIND_LINKS/one.whl")
        run = e.of("run")
        mount = (f"type=bind,source={os.path.realpath(cache)},"
                 "target=/opt/ironcurtain/caches/pip,readonly,"
                 "bind-nonrecursive")
        t.ok(r.returncode == 0 and agent_said(r) == ["wheel"] and run and
             mount in run[0]["args"],
             f"{name}: a package cache is mounted read-only",
             f"{r.stdout} {r.stderr} {run}")
    cache = os.path.join(work, "a,readonly=false")
    os.makedirs(cache)
    e = Engine(os.path.join(work, "comma"), "docker",
               config={"packageCaches": {"pip": cache}})
    r = e.start("true")
    t.ok(r.returncode == 78 and "cannot mount a path with a comma" in r.stderr,
         "a cache whose path would be options is refused", r.stderr)


def test_read_only(work):
    """A read-only workspace is that at both of its paths."""
    for name in ("docker", "podman"):
        place = os.path.join(work, name)
        os.makedirs(place)
        e = Engine(place, name, options=("--image", "some/image",
                                         "--workspace-path", "same"))
        where = os.path.realpath(e.s.workspace)
        e.s.argv[e.s.argv.index("--workspace") + 1] += ":ro"
        e.start("/bin/sh", "-c", "true")
        t.equal([a for c in e.of("run") for a in c["args"]
                 if f"source={where}," in a],
                [f"type=bind,source={where},target={x},readonly,"
                 "bind-nonrecursive" for x in ("/workspace", where)],
                f"{name}: the workspace is mounted read-only")


def builtin(work):
    """Returns a provider and what a session of the built-in agent needs."""
    p = h.Provider(work, script=[{"text": "FINAL: fine"}])
    return p, {"config": {
        "providers": {"anthropic": {"upstream": p.url, "ca": p.ca}},
        "credentials": {"anthropic": {"env": "ANTHROPIC_API_KEY"}}},
        "env": {"ANTHROPIC_API_KEY": h.ANTHROPIC_KEY}}


def test_builtin(work):
    """The built-in agent and its libraries are mounted into every image."""
    for name in ("docker", "podman"):
        place = os.path.join(work, name)
        os.makedirs(place)
        p, more = builtin(place)
        e = Engine(place, name, **more)
        e.s.argv += ["--agent", "builtin", "--task", "say fine"]
        r = subprocess.run(e.s.argv, env=e.s.env, stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, check=False,
                           timeout=60 * h.PATIENCE)
        e.listener.close()
        p.end()
        run = e.of("run")[0]["args"] if e.of("run") else []
        t.ok(r.returncode == 0 and "FINAL: fine" in r.stdout,
             f"{name}: the built-in agent runs in any image",
             f"{r.returncode} {r.stdout} {r.stderr} {e.s.session_log()[-900:]}")
        ours = [a for a in run if "target=/opt/ironcurtain/lib/" in a]
        t.ok(any(a.endswith("/ld.so,readonly") for a in ours) and
             any("/libcurl" in a for a in ours) and
             all(a.endswith(",readonly") for a in ours) and
             run[run.index("--") + 1:][:1] == ["/opt/ironcurtain/bin/ic-agent"],
             f"{name}: its loader and its libraries are mounted read-only",
             str(run))


REFUSED = [
    ("an engine elsewhere", "docker", {"context": "tcp://10.0.0.1:2375"}, {},
     "tcp://10.0.0.1:2375 is refused"),
    ("an engine reached by ssh", "docker", {"context": "ssh://host"}, {},
     "ssh://host is refused"),
    ("no engine", "docker", {"context": "unix:///nowhere/docker.sock"}, {},
     "no engine answers on /nowhere/docker.sock"),
    ("a dead engine", "podman", {"info": None}, {},
     "`podman info` failed: Error: no engine"),
    ("a variable for another machine", "podman", {},
     {"env": {"CONTAINER_HOST": "ssh://host"}}, "CONTAINER_HOST is set"),
    ("an engine that maps users", "docker",
     {"info": {**INFO["docker"], "options": ["name=userns"]}}, {},
     "maps users (userns)"),
    ("a user without further ids", "podman",
     {"info": {**INFO["podman"], "maps": [{"container_id": 0, "size": 1}]}},
     {}, "your user has no further user ids. Give it a range"),
    ("Windows containers", "docker",
     {"info": {**INFO["docker"], "os": "windows"}}, {}, "another system"),
    ("a missing image", "docker", {"image": None}, {},
     "Docker has no image some/image, and none is fetched: docker pull"),
    ("no image", "podman", {}, {"options": ()},
     "--runtime podman needs an image: --image NAME"),
    ("an image that is an option", "docker", {},
     {"options": ("--image", "--privileged")}, "--image must be a name"),
    *((f"an image with a volume at {path}", "docker",
       {"image": {**IMAGE, "volumes": {path: {}}}}, {},
       f"declares a volume at {path}")
      for path in ("/workspace", "/workspace/sub", "/home/agent", "/etc",
                   "/opt", "/", "/data,readonly", "/data/../etc")),
]


def test_refused(work):
    for i, (what, name, answers, kw, want) in enumerate(REFUSED):
        e = Engine(os.path.join(work, str(i)), name, **answers, **kw)
        r = e.start("true")
        lines = [x for x in r.stderr.split("\n") if x]
        t.ok(r.returncode == 78 and len(lines) == 1 and want in r.stderr,
             f"refused: {what}", f"{r.returncode} {r.stderr}")
        t.ok(not e.of("run") and not os.path.exists(e.s.dir),
             f"nothing is left: {what}")


def test_paths(work):
    e = Engine(work, "docker")
    at = e.s.argv.index("--workspace") + 1
    e.s.argv[at] = os.path.join(work, "a,readonly")
    os.mkdir(e.s.argv[at])
    r = e.start("true")
    t.ok(r.returncode == 78 and "cannot mount a path with a comma" in r.stderr,
         "a comma in a path is no option of --mount", r.stderr)


def test_volumes(work):
    """Docker makes no directory of the host where something is mounted."""
    e = Engine(work, "docker", image={**IMAGE, "volumes": {
        "/var/lib/docker": {}, "/homes": {}}})
    r = e.start("/bin/sh", "-c", "ls -d /var/lib/docker /homes; exit 3")
    t.ok(r.returncode == 3, "an image with volumes can be used", r.stderr)
    args = e.of("run")[0]["args"]
    t.equal([a for a in args if a.startswith("type=tmpfs,")],
            [f"type=tmpfs,target={p},tmpfs-size=4096,tmpfs-mode=0555"
             for p in ("/var/lib/docker", "/homes")],
            "an empty file system stands at each volume of the image")


def test_no_program(work):
    """An image without the program, or without a shell."""
    e = Engine(work, "docker")
    r = e.start("/no/such/shell")
    t.ok(r.returncode == 127 and
         "usually means that the image has no program /no/such/shell" in
         r.stderr, "it is said what is missing", r.stderr)


def test_not_made(work):
    e = Engine(work, "docker", run="docker: Error response from daemon: no")
    r = e.start("true")
    t.ok(r.returncode == 71 and "Error response from daemon: no" in r.stderr
         and "the sandbox could not be created: docker exited with status 125"
         in r.stderr, "a container that cannot be made", r.stderr)


def test_swept(work):
    """Containers whose supervisor is gone are removed; others stay."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
        boot = f.read().strip()
    here = f"{boot}:{os.stat('/proc/self/ns/pid').st_ino}"
    with open("/proc/self/stat", encoding="ascii") as f:
        own = f.read().rsplit(")", 1)[1].split()[19]
    e = Engine(work, "docker", ps=[
        f"{STALE} {os.getpid()} 1 {here}",
        f"{'e' * 64} {os.getpid()} {own} {here}",
        f"{'c' * 64} {os.getpid()} 1 {boot}:1",
        f"{'d' * 64} {os.getpid()} {own} other:1",
        f"{'b' * 64} {os.getpid()} {own} ",
        "--volumes 1 1 1"],
        networks=[f"{'a' * 64} {os.getpid()} 1 {here}",
                  f"{'9' * 64} {os.getpid()} {own} {here}"],
        volumes=[f"ironcurtain-old {os.getpid()} 1 {here}",
                 f"other-old {os.getpid()} 1 {here}"],
        removing={STALE: 2, ID: 2})
    e.start("true")
    # A session that is resumed at once needs the name of the old container.
    t.equal([c["args"][-1] for c in e.of("rm")],
            [STALE, STALE, STALE, "d" * 64, "a" * 64, "ironcurtain-old", ID],
            "only what belongs to nobody, and our own, is removed; what the "
            "engine is removing is waited for, but at the end")
    t.ok(f"label=ironcurtain.owner-host={socket.gethostname()}" in
         e.of("ps")[0]["args"],
         "and only this machine's containers are looked at")


def test_gc(work):
    """icctl gc removes them too, where a session ran in a container."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
        boot = f.read().strip()
    here = f"{boot}:{os.stat('/proc/self/ns/pid').st_ino}"
    e = Engine(work, "docker", ps=[f"{STALE} {os.getpid()} 1 {here}"])

    def gc(*options):
        r = subprocess.run([h.program("icctl"), "--json", "gc", *options],
                           env=e.s.env, capture_output=True, text=True,
                           timeout=60 * h.PATIENCE, check=False)
        return json.loads(r.stdout) if r.stdout else r

    t.equal(gc().get("containers"), 0,
            "without such a session no engine is asked")
    os.makedirs(os.path.join(e.s.home, "sessions", "one", "engine"))
    told = gc("--dry-run")
    t.ok(told["containers"] == 1 and not e.of("rm"),
         "--dry-run only tells", told)
    told = gc()
    t.ok(told["containers"] == 1 and STALE[:12] in json.dumps(told)
         and [c["args"][-1] for c in e.of("rm")] == [STALE],
         "a container that a session left behind is removed", told)


def test_config(work):
    e = Engine(work, "docker", options=(), config={
        "runtime": "docker", "containerRuntime": "podman",
        "image": "for/all", "agent": {"command": {"image": "for/one"}}})
    e.start("true")
    t.ok([c for c in e.of("inspect") if c["args"][-1] == "for/one"],
         "config.json says the runtime and the agent's image",
         e.result.stderr)


def test_client_killed(work):
    """The engine's client dies: the session ends, and removes the
    container."""
    e = Engine(work, "docker")
    e.s.argv += ["--", "/bin/sh", "-c", "echo > began; exec sleep 1000"]
    e.s.start()
    h.wait_for(lambda: os.path.exists(os.path.join(e.s.workspace, "began")),
               "the agent did not begin")
    found = [int(p) for p in os.listdir("/proc") if p.isdigit()
             and parent(p) == e.s.pid and b"bwrap" in command(p)
             and e.s.dir.encode() in command(p)]
    t.equal(len(found), 1, "the container's client is found")
    h.kill(found[0])
    t.ok(e.s.wait() == 137 and e.of("rm"), "it ends with its client, and the "
         "container is removed")


def test_stopped(work):
    """A session is stopped while its agent runs: auditd has written the last
    record by the time that the container is gone."""
    e = Engine(work, "docker")
    e.s.argv += ["--", "/bin/sh", "-c", "echo > began; exec sleep 1000"]
    e.s.start()
    h.wait_for(lambda: os.path.exists(os.path.join(e.s.workspace, "began")),
               "the agent did not begin")
    e.s.stop()
    t.equal([x["event"] for x in e.s.audit()].count("stop"), 1,
            "its log has one last record")


def command(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read()
    except OSError:
        return b""


def parent(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            return int(f.read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def shown_tcp(e, args):
    """Also without ports, and with a name for the gateway."""
    return re.sub(r"(GATEWAY|ironcurtain-host):\d+", r"\1:PORT",
                  shown(e, args).replace("127.77.0.1", "GATEWAY"))


def everything(e):
    """Returns the commands of networks and volumes, and removals."""
    return [" ".join(a for a in c["args"][2:] if "ironcurtain.owner" not in a)
            for c in e.calls() if c["args"][2] in ("network", "volume", "rm")
            and "ls" not in c["args"]]


def open_network():
    """Returns what the sidecar's check finds wrong with this machine's own
    network, in which the stand-in starts the sidecar."""
    with open("/proc/net/route", encoding="ascii") as f:
        routes = [x.split()[1] for x in f.readlines()[1:]]
    return "the sidecar" if routes else None


def test_tcp(work):
    """The stand-in's sidecar has the network of this machine, which is not
    isolated. The check finds that out, and nothing is left."""
    e = Engine(work, "docker", options=("--image", "some/image",
                                        "--transport", "tcp"),
               network="127.77.0.0/24 127.77.0.1 ")
    r = e.start("/bin/sh", "-c", "echo > /workspace/began; ls /run/ironcurtain")
    began = os.path.exists(os.path.join(e.s.workspace, "began"))
    if open_network():
        t.ok(r.returncode == 71 and not began and
             re.search("sidecar: it (reaches port .* must not|has a "
                       "default route)", r.stderr),
             "a network that is not isolated is refused",
             r.stderr + e.s.session_log()[-3000:])
    else:
        t.ok(r.returncode == 0 and began, "the agent runs", r.stderr)
    runs = e.of("run")
    golden = os.path.join(HERE, "engine_tcp.txt")
    got = shown_tcp(e, runs[0]["args"]) if runs else ""
    if os.environ.get("IC_GOLDEN"):
        with open(golden, "w", encoding="utf-8") as f:
            f.write(got)
    with open(golden, encoding="utf-8") as f:
        want = f.read()
    t.ok(got == want, "the sidecar's arguments are those of the golden file",
         "\n".join(difflib.unified_diff(want.split("\n"), got.split("\n"),
                                        "golden", "now", lineterm="")))
    name = "ironcurtain-" + os.path.basename(e.s.dir)
    made = [x for x in everything(e) if x.startswith(("network", "volume"))]
    t.ok([x for x in made if "--aux-address" in x and "--internal" in x and
          "DefaultGatewayIPv4=127.77.0.254" in x],
         "the network is internal, and its default route leads nowhere",
         str(made))
    t.ok(everything(e)[-3:] == [f"rm --force {name}-gate",
                                f"network rm {name}", f"volume rm {name}"],
         "sidecar, network and volume are removed", str(everything(e)))
    words = [w for c in e.calls() for w in c["args"] + [*c["env"].values()]]
    t.ok(not [w for w in words if re.search(r"(?<![\w-])[\w-]{43}(?![\w-])",
                                            w)] and
         not os.path.exists(os.path.join(e.s.dir, "engine", "token")),
         "no token in a command line or environment, nor a file of it")


def test_tcp_far(work):
    """The gateway is no address of this machine."""
    e = Engine(work, "docker", options=("--image", "some/image",
                                        "--transport", "tcp"),
               network="198.51.100.0/24 198.51.100.1 ")
    r = e.start("/bin/true")
    run = shown_tcp(e, e.of("run")[0]["args"])
    t.ok("--add-host\nironcurtain-host:host-gateway\n" in run and
         "=ironcurtain-host:PORT\n" in run,
         "the sidecar uses the engine's name of this machine", run)
    t.ok(r.returncode == (71 if open_network() else 0) and
         "within 20 s" not in r.stderr, "and reaches it", r.stderr)


def test_tcp_refused(work):
    for what, name, options in (
            ("podman", "podman", ("--image", "x", "--transport", "tcp")),
            ("an unknown one", "docker", ("--image", "x", "--transport", "udp"))):
        e = Engine(os.path.join(work, name), name, options=options)
        r = e.start("/bin/true")
        t.ok(r.returncode in (64, 78) and not e.of("run") and
             "transport" in r.stderr, "refused: " + what,
             f"{r.returncode} {r.stderr}")


def test_no_new_privs(work):
    """As in a unit of systemd as it is: newuidmap has no effect."""
    for name, refused in (("podman", True), ("docker", False)):
        place = os.path.join(work, name)
        os.mkdir(place, 0o700)
        e = Engine(place, name)
        e.s.argv[:0] = ["/usr/bin/setpriv", "--no-new-privs"]
        r = e.start("/bin/true")
        t.equal(("newuidmap" in r.stderr, r.returncode == 78),
                (refused, refused), name + " under no_new_privs")


def main():
    if not shutil.which("bwrap"):
        t.skip("containers", "bubblewrap is not installed")
        t.done()
    for test in (test_docker, test_podman, test_inside, test_workspace_path,
                 test_caches, test_read_only, test_builtin, test_refused,
                 test_paths, test_volumes, test_no_program,
                 test_not_made, test_swept, test_gc, test_config,
                 test_client_killed, test_stopped, test_tcp, test_tcp_far,
                 test_tcp_refused, test_no_new_privs):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
