#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests sessions in containers of one real engine, which IC_RUNTIME names:
start and status, an approved and a denied call, the break-out test with a
container that lacks a layer, and that nothing is left behind. runtimes.py
starts the engine and this."""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
NAME = os.environ["IC_RUNTIME"]
ENV = json.loads(os.environ["IC_ENGINE_ENV"])
CLIENT = "/usr/bin/" + NAME

# Calls a tool outside the workspace, and writes down what came of it.
AGENT = """
import sys
sys.path.insert(0, "/workspace")
from agent_mcp import Mcp, outcome
m = Mcp(argv=["/opt/ironcurtain/bin/ic-bridge", "stdio",
              "/run/ironcurtain/proxy.sock"])
m.initialize()
m.list_tools()
for name in ("one", "two"):
    print(outcome(m.call("echo__echo", {"text": name})), flush=True)
"""


def session(work, *command, **kw):
    return h.Session(work, kw.pop("servers", None), kw.pop("rules", None),
                     kw.pop("annotations", None), runtime="bwrap",
                     options=["--", *command], **kw)


def finish(s):
    return subprocess.run(s.argv, env=s.env, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True,
                          timeout=60 * h.PATIENCE, check=False)


def containers(s):
    """Returns the ids of the session's containers."""
    r = subprocess.run(
        [CLIENT, "ps", "--all", "--quiet", "--filter",
         "label=ironcurtain.session=" + os.path.basename(s.dir)],
        env={**s.env, **ENV}, capture_output=True, text=True, check=True,
        cwd="/")
    return r.stdout.split()


def test_start(work):
    s = session(work, "/bin/sh", "-c", "id -u; id -g; cat /proc/sys/kernel/"
                "hostname; ls /sys/class/net; echo $HOME $PATH; exit 3")
    r = finish(s)
    t.ok(r.returncode == 3 and r.stdout.splitlines()[1:] ==
         [str(os.getuid()), str(os.getgid()), "ironcurtain", "lo",
          "/home/agent /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:"
          "/sbin:/bin"], "the agent runs, as this user, without a network",
         f"{r.returncode} {r.stdout} {r.stderr}")
    with open(s.dir + "/session.json", encoding="utf-8") as f:
        told = json.load(f)
    t.ok(told["runtime"] == NAME and told["breakoutTest"]["attempts"] >= 100,
         "session.json has the runtime, and the break-out test of at least "
         "100 attempts", str(told))
    t.equal(containers(s), [], "no container is left")


def test_long_command(work):
    r = finish(session(work, "/bin/sh", "-c", "echo $#", "sh", *["x"] * 900))
    t.ok(r.returncode == 0 and r.stdout.splitlines()[1:] == ["900"],
         "a command of 900 words runs whole",
         f"{r.returncode} {r.stdout} {r.stderr[-400:]}")


def test_caches(work):
    cache = os.path.join(work, "wheels")
    os.makedirs(cache)
    h.put(os.path.join(cache, "one.whl"), "wheel")
    s = session(work, "/bin/sh", "-c", "cat $PIP_FIND_LINKS/one.whl; "
                "echo mine > $PIP_FIND_LINKS/one.whl; "
                "touch $PIP_FIND_LINKS/../new; chmod 777 $PIP_FIND_LINKS",
                config={"packageCaches": {"pip": cache}})
    r = finish(s)
    with open(os.path.join(cache, "one.whl"), encoding="ascii") as f:
        t.ok(r.stdout.splitlines()[1:2] == ["wheel"] and f.read() == "wheel"
             and (r.stdout + r.stderr).count("Read-only") == 3,
             "a package cache can be read and not written",
             f"{r.returncode} {r.stdout} {r.stderr}")


def builtin(work):
    """Returns a provider and what a session of the built-in agent needs."""
    p = h.Provider(work, script=[{"text": "FINAL: fine"}])
    return p, {"config": {
        "providers": {"anthropic": {"upstream": p.url, "ca": p.ca}},
        "credentials": {"anthropic": {"env": "ANTHROPIC_API_KEY"}}},
        "env": {"ANTHROPIC_API_KEY": h.ANTHROPIC_KEY}}


def test_builtin(work):
    p, more = builtin(work)
    s = h.Session(work, runtime="bwrap", options=[
        "--agent", "builtin", "--task", "say fine"], **more)
    r = finish(s)
    p.end()
    t.ok(r.returncode == 0 and "FINAL: fine" in r.stdout,
         "the built-in agent runs in an image that has none of it",
         f"{r.returncode} {r.stdout} {r.stderr} {s.session_log()[-900:]}")


def test_calls(work):
    """One pending call is approved and one denied."""
    log = os.path.join(work, "log", "log.jsonl")
    s = session(work, "/usr/bin/python3", "/workspace/agent.py",
                servers={"echo": h.echo_server(log)},
                rules=[h.rule("ask", "escalate", server=["echo"])],
                annotations={"echo": h.ECHO_TOOLS})
    with open(os.path.join(h.STANDINS, "agent_mcp.py"),
              encoding="utf-8") as f:
        h.put(os.path.join(s.workspace, "agent_mcp.py"), f.read())
    h.put(os.path.join(s.workspace, "agent.py"),
          'import sys\nsys.stdout = open("/workspace/told", "w")\n' + AGENT)
    with s:
        first = s.held(30)
        s.icctl("approve", first["id"], check=True)
        second = h.wait_for(
            lambda: [p for p in s.pending() if p["id"] != first["id"]],
            "the second call is not pending", 30)[0]
        s.icctl("deny", second["id"], check=True)
        t.equal(s.wait(30), 0, "the agent ended well")
    with open(s.workspace + "/told", encoding="utf-8") as f:
        told = f.read().splitlines()
    t.ok(len(told) == 2 and told[0].startswith("(False") and
         told[1].startswith("(True"), "one call was approved and one denied",
         str(told))
    calls = [e["text"] for e in h.read_lines(log)
             if "tools/call" in e.get("text", "")]
    t.ok(len(calls) == 1 and '"text":"one"' in calls[0],
         "the server got the approved one alone", str(calls))


# A hostile image may say all of this about itself; none of it counts.
METADATA = """FROM %s
ENV LD_PRELOAD=/evil.so HTTPS_PROXY=http://evil:1 HOME=/evil IRONCURTAIN=0
USER 0
WORKDIR /evil
VOLUME /var/lib/data
HEALTHCHECK CMD touch /workspace/healthy
STOPSIGNAL SIGWINCH
ENTRYPOINT ["/bin/false"]
CMD ["evil"]
"""


def image(work, name, dockerfile):
    """Builds an image with the engine's own client."""
    place = os.path.join(work, "build-" + name)
    os.mkdir(place)
    h.put(os.path.join(place, "Dockerfile"), dockerfile)
    r = subprocess.run([CLIENT, "build", "--network", "host", "-t",
                        "ironcurtain-test-" + name, place],
                       env={"PATH": "/usr/bin:/bin", **ENV}, cwd="/",
                       capture_output=True, text=True, check=False)
    if r.returncode != 0:
        raise RuntimeError(r.stdout + r.stderr)
    return "ironcurtain-test-" + name


def in_image(work, name, dockerfile, *command):
    place = os.path.join(work, name)
    os.mkdir(place)
    s = session(place, *command)
    s.argv[s.argv.index("--image") + 1] = image(work, name, dockerfile)
    return s, finish(s)


def test_metadata(work):
    s, r = in_image(
        work, "metadata", METADATA % os.environ["IC_IMAGE"], "/bin/sh", "-c",
        "unset LD_PRELOAD; id -u; pwd; echo $HOME $IRONCURTAIN; "
        "env | grep -ci evil; touch /var/lib/data/x; exit 3")
    t.ok(r.returncode == 3 and r.stdout.splitlines()[1:] ==
         [str(os.getuid()), "/workspace", "/home/agent 1", "0"] and
         not os.path.exists(s.workspace + "/healthy") and
         "cannot touch" in r.stderr,
         "an image's user, entry point, health check, volume, directory and "
         "variables do not count", f"{r.returncode} {r.stdout} {r.stderr}")
    t.equal(containers(s), [], "and no container is left")


# Places where a session mounts something of its own, as links.
LINKS = {"ours": ("/opt/ironcurtain", "/usr"), "work": ("/workspace", "/etc"),
         "home": ("/home/agent", "/"), "sockets": ("/run/ironcurtain", "/tmp")}


def files(top):
    """Returns the files that are not empty.  Docker makes empty ones in the
    workspace to mount on, if the image sends it to /etc."""
    return [os.path.join(d, n) for d, _, names in os.walk(top) for n in names
            if os.path.getsize(os.path.join(d, n))]


def test_links(work):
    """Links in an image lead nowhere on the host (CVE-2026-41579)."""
    for name, (path, target) in LINKS.items():
        s, r = in_image(
            work, name, f"FROM {os.environ['IC_IMAGE']}\nRUN mkdir -p "
            f"{os.path.dirname(path)} && ln -sfn {target} {path}\n",
            "/bin/sh", "-c", "echo > /workspace/began; exit 3")
        t.ok(r.returncode == 3 and os.path.exists(s.workspace + "/began") or
             r.returncode in (71, 127) and files(s.workspace) == [],
             f"{path} as a link: the session is right, or none",
             f"{r.returncode} {r.stdout} {r.stderr}")
        t.equal(containers(s), [], f"{path} as a link: nothing is left")


def test_no_shell(work):
    """An image with no file at all."""
    s, r = in_image(work, "empty", "FROM scratch\nLABEL empty=1\n",
                    "/bin/sh", "-c", "true")
    t.ok(r.returncode == 127 and "the image has no program /bin/sh" in r.stderr,
         "an image without a shell: it is said what is missing", r.stderr)
    t.equal(containers(s), [], "and no container is left")


def test_tmp(work):
    """An image whose /tmp is closed: it opens, or it is said what to do."""
    s, r = in_image(work, "tmp", f"FROM {os.environ['IC_IMAGE']}\n"
                    "RUN chmod 0755 /tmp\n",
                    "/bin/sh", "-c", "echo fine > /tmp/x && cat /tmp/x")
    said = [x for x in r.stderr.splitlines() if "chmod 1777 /tmp" in x]
    t.ok((r.returncode == 0 and "fine" in r.stdout) or
         (NAME == "podman" and r.returncode == 71 and said),
         "an image with a closed /tmp", f"{r.stdout} {r.stderr}")
    t.equal(containers(s), [], "and no container is left")


# The name, the edit of the client's arguments `a`, icsupervisor's message.
LAYERS = [
    ("the network namespace", 'a[a.index("none")] = "host"',
     "the sandbox lacks the network namespace"),
    ("capabilities", 'at = a.index("--cap-drop"); del a[at:at + 2]',
     "the sandbox lacks the user namespace without capabilities"),
    ("the process namespace", 'a[2:2] = ["--pid", "host"]',
     "the sandbox lacks the process namespace"),
    ("the mount namespace", 'a[2:2] = ["--mount", f"type=bind,source={DIR},'
     'target={DIR}"]', "the sandbox lacks the mount namespace"),
    ("an exchanged workspace",
     'a[:] = [x.replace(f"source={WORKSPACE},", f"source={OTHER},") '
     'for x in a]', "mounts of other files than the session's: 1"),
    ("no_new_privs", 'a.remove("no-new-privileges"); '
     'a.remove("--security-opt")', "ic-bridge"),
]
WRAPPER = """#!/usr/bin/python3 -I
import os, sys
DIR, WORKSPACE, OTHER = %r, %r, %r
a = sys.argv[1:]
if "run" in a:
    at = a.index("run")
    before, a = a[:at], a[at:]
    %s
    a = before + a
os.closerange(3, 64)
os.execv(%r, [%r] + a)
"""


def test_layers(work):
    for i, (name, edit, want) in enumerate([("nothing", "pass", "")] + LAYERS):
        place = os.path.join(work, str(i))
        other = os.path.join(place, "other")
        os.makedirs(other)
        s = session(place, "/bin/sh", "-c", "echo > /workspace/began")
        h.put(os.path.join(place, "tools", NAME),
              WRAPPER % (s.dir, s.workspace, other, edit, CLIENT, NAME), 0o755)
        os.chmod(os.path.join(place, "tools", NAME), 0o755)
        s.env["PATH"] = os.path.join(place, "tools") + ":" + s.env["PATH"]
        r = finish(s)
        began = os.path.exists(os.path.join(s.workspace, "began"))
        if not want:
            t.ok(r.returncode == 0 and began, "an unchanged container passes",
                 r.stderr)
            continue
        t.ok(r.returncode == 71 and not began and want in r.stderr,
             f"refused without: {name}", f"{r.returncode} {began} {r.stderr}")


def begun(work):
    s = session(work, "/bin/sh", "-c", "echo > began; exec sleep 1000")
    s.start(60)
    h.wait_for(lambda: os.path.exists(os.path.join(s.workspace, "began")),
               "the agent did not begin", 60)
    return s


def test_stop(work):
    s = begun(work)
    t.equal(len(containers(s)), 1, "there is a container")
    s.icctl("stop", check=True)
    t.equal(s.wait(30), 143, "it is told to stop")
    t.equal(containers(s), [], "no container is left after a stop")


def test_killed(work):
    """kill -9 of icsupervisor: its container ends by itself."""
    s = begun(work)
    os.kill(s.pid, signal.SIGKILL)
    s.wait(10)
    h.wait_for(lambda: not containers(s), "the container is still there", 30)
    t.ok(True, "no container is left after kill -9")


# Two requests: of a tool, which is held, and to the proxy, which refuses it.
TCP_AGENT = AGENT + """
import socket, time
c = socket.create_connection(("127.0.0.1", 18080))
c.sendall(b"CONNECT nowhere.example:443 HTTP/1.1\\r\\n"
          b"Host: nowhere.example:443\\r\\n\\r\\n")
print(c.recv(64).split(b"\\r")[0], flush=True)
time.sleep(1000)
"""


def docker(s, *args):
    return subprocess.run([CLIENT, *args], env={**s.env, **ENV}, cwd="/",
                          capture_output=True, text=True, check=True).stdout


def ours(s):
    """Returns what the engine has of the session: containers, networks and
    volumes."""
    label = "label=ironcurtain.session=" + os.path.basename(s.dir)
    return [docker(s, *words, "--quiet", "--filter", label).split()
            for words in (("ps", "--all"), ("network", "ls"), ("volume", "ls"))]


def tcp_session(work, *command, **kw):
    s = session(work, *command, **kw)
    s.argv[s.argv.index("--"):s.argv.index("--")] = ["--transport", "tcp"]
    return s


def knock(s, text):
    """Connects to one of the session's ports. Returns the seconds until it was
    closed, and what came before."""
    argv = json.loads(docker(s, "inspect", "--format", "{{json .Args}}",
                             f"ironcurtain-{os.path.basename(s.dir)}-gate"))
    host, port = next(a for a in argv if a.startswith("proxy.sock=")) \
        .partition("=")[2].split(":")
    began = time.monotonic()
    with socket.create_connection((host, int(port)), 10) as c:
        c.sendall(text)
        try:
            got = c.recv(64)
        except ConnectionResetError:
            got = b""
    return time.monotonic() - began, got


def test_tcp(work):
    """A session over TCP, as the agent sees it and as others do."""
    log = os.path.join(work, "log", "log.jsonl")
    s = tcp_session(work, "/usr/bin/python3", "/workspace/agent.py",
                    servers={"echo": h.echo_server(log)},
                    rules=[h.rule("ask", "escalate", server=["echo"])],
                    annotations={"echo": h.ECHO_TOOLS})
    with open(os.path.join(h.STANDINS, "agent_mcp.py"),
              encoding="utf-8") as f:
        h.put(os.path.join(s.workspace, "agent_mcp.py"), f.read())
    h.put(os.path.join(s.workspace, "agent.py"),
          'import sys\nsys.stdout = open("/workspace/told", "w")\n' + TCP_AGENT)
    with s:
        first = s.held(30)
        s.icctl("approve", first["id"], check=True)
        second = h.wait_for(
            lambda: [p for p in s.pending() if p["id"] != first["id"]],
            "the second call is not pending", 30)[0]
        s.icctl("deny", second["id"], check=True)

        def told():
            with open(s.workspace + "/told", encoding="utf-8") as f:
                return f.read().splitlines()

        h.wait_for(lambda: len(told()) == 3, "the agent says no more", 30)
        t.ok(told()[0].startswith("(False") and told()[1].startswith("(True") and
             "403" in told()[2], "tcp: one call is approved, one denied, and a "
             "host off the list refused", str(told()))
        with open(s.dir + "/session.json", encoding="utf-8") as f:
            t.equal(json.load(f)["transport"], "tcp", "tcp: session.json says so")
        name = "ironcurtain-" + os.path.basename(s.dir)
        every = ours(s)
        t.equal([len(x) for x in every], [2, 1, 1],
                "tcp: two containers, a network and a volume")
        shown = docker(s, "inspect", *every[0], *every[1], name)
        shown += docker(s, "volume", "inspect", name)
        t.ok(not re.findall(r"(?<![\w-])[\w-]{43}(?![\w-])", shown) and
             not os.path.exists(s.dir + "/engine/token"),
             "tcp: no token in docker inspect, and its file is gone")
        t.equal(json.loads(docker(s, "inspect", "--format",
                                  "{{json .HostConfig.NetworkMode}}", name)),
                "none", "tcp: the agent's container has no network")
        took, got = knock(s, b"A" * 43 + b"\n")
        t.ok(took < 2 and not got, "tcp: another token is refused, silently",
             f"{took} {got}")
        took, got = knock(s, b"")
        t.ok(2.5 < took < 6 and not got, "tcp: none is refused after 3 s",
             f"{took} {got}")
        gate = json.loads(s.icctl("--json", "status",
                                  check=True).stdout)["gate"]
        t.ok(gate["wrongToken"] == 1, "tcp: status counts them", str(gate))
        s.icctl("stop", check=True)
        t.equal(s.wait(30), 143, "tcp: it is told to stop")
    t.equal(ours(s), [[], [], []], "tcp: nothing is left")


# Why the check refuses a network, and what is taken off it for that.
OPEN = [
    ("its default route leads to this machine",
     "at = a.index('--aux-address'); del a[at:at + 2]"),
    ("it is no internal network",
     "a.remove('--internal'); at = a.index('--aux-address'); "
     "del a[at:at + 2]"),
]
TCP_WRAPPER = """#!/usr/bin/python3 -I
import os, sys
a = sys.argv[1:]
if "create" in a and "--aux-address" in a:
    %s
os.closerange(3, 64)
os.execv(%r, [%r] + a)
"""


def test_tcp_open(work):
    for i, (why, edit) in enumerate([("nothing is taken off", "pass")] + OPEN):
        place = os.path.join(work, str(i))
        s = tcp_session(place, "/bin/sh", "-c", "echo > /workspace/began")
        tool = os.path.join(place, "tools", NAME)
        h.put(tool, TCP_WRAPPER % (edit, CLIENT, NAME), 0o755)
        os.chmod(tool, 0o755)
        s.env["PATH"] = os.path.join(place, "tools") + ":" + s.env["PATH"]
        r = finish(s)
        began = os.path.exists(os.path.join(s.workspace, "began"))
        if i == 0:
            t.ok(r.returncode == 0 and began, "tcp: an isolated network passes",
                 r.stderr)
        else:
            t.ok(r.returncode == 71 and not began and
                 "Docker does not isolate its internal networks" in r.stderr,
                 "tcp: refused, since " + why, f"{r.returncode} {r.stderr}")
        t.equal(ours(s), [[], [], []], "tcp: nothing is left of that")


def test_tcp_killed(work):
    s = tcp_session(work, "/bin/sh", "-c", "echo > began; exec sleep 1000")
    s.start(60)
    h.wait_for(lambda: os.path.exists(os.path.join(s.workspace, "began")),
               "the agent did not begin", 60)
    os.kill(s.pid, signal.SIGKILL)
    s.wait(10)
    h.wait_for(lambda: not ours(s)[0], "a container is still there", 30)
    t.ok(True, "tcp: both containers end after kill -9")
    after = session(os.path.join(work, "next"), "/bin/true")
    r = finish(after)
    t.equal((r.returncode, ours(s)), (0, [[], [], []]),
            "tcp: the next session removes network and volume")


def main():
    tests = [test_start, test_long_command, test_caches, test_builtin, test_calls, test_metadata,
             test_links, test_no_shell,
             test_tmp, test_layers, test_stop, test_killed]
    if NAME == "docker":
        tests += [test_tcp, test_tcp_open, test_tcp_killed]
    only = sys.argv[1:]
    for test in tests if not only else [x for x in tests
                                        if x.__name__ in only]:
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
