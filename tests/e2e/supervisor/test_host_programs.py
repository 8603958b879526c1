#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests programs of the host that a session runs outside its sandboxes. PATH
and the configuration lead into the workspace, where the agent plants programs
of those names: none of them must ever run on the host. Also tests sockets of
the host in the workspace, which the agent could connect to."""
import os
import shutil
import socket
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
RULES = [h.rule("ask", "escalate", server=["filesystem"])]
SERVERS = {"filesystem": {"command": "icfs", "args": ["/workspace"]}}
TOOLS = {"filesystem": {"read_text_file": {"path": ["read-path"]}}}
# Checks itself first: the planted program does leave a trace.
PLANTED = "#!/bin/sh\nid >>{trace}\nenv >>{trace}\n"


def script(path, text):
    h.put(path, "#!/bin/sh\n" + text, 0o755)
    os.chmod(path, 0o755)
    return path


def plant(work, s, *names):
    """Plants programs in the workspace, as the agent."""
    trace = os.path.join(work, "trace")
    for name in names:
        path = h.put(os.path.join(s.workspace, "bin", name),
                     PLANTED.format(trace=trace), 0o755)
        os.chmod(path, 0o755)
    return trace


def baseline(work, s, name):
    trace = plant(work, s, name)
    subprocess.run([os.path.join(s.workspace, "bin", name)], check=True)
    t.ok(os.path.exists(trace), f"baseline: the planted {name} leaves a trace")
    os.unlink(trace)
    return trace


def session(work, **kw):
    """Returns a session with the workspace's bin/ first in PATH, as in an
    active venv."""
    workspace = os.path.join(work, "workspace")
    os.makedirs(os.path.join(workspace, "bin"), exist_ok=True)
    path = f"{workspace}/bin:{work}/tools:/usr/bin:/bin"
    return h.Session(work, SERVERS, RULES, TOOLS,
                     env={"PATH": path, **kw.pop("env", {})}, **kw)


def refused(s, *parts, name):
    r = subprocess.run(s.argv, env=s.env, capture_output=True, text=True,
                       timeout=30, check=False)
    t.ok(r.returncode == 78 and all(p in r.stderr for p in parts), name,
         f"{r.returncode} {r.stderr}")


def hold(s):
    m = s.client()
    m.start_call("filesystem__read_text_file", {"path": "/etc/hostname"})
    held = s.held()
    return m, held


def test_notify(work):
    told = os.path.join(work, "told")
    s = session(work, config={"notify": ["tell", "IronCurtain"]})
    trace = baseline(work, s, "tell")
    refused(s, "notify: ", "the agent can write",
            name="notify found in the workspace alone: refused, with the name")
    script(os.path.join(work, "tools", "tell"),
           f'pwd >{told}.new\necho "$PATH" >>{told}.new\n'
           f'echo "$*" >>{told}.new\nmv {told}.new {told}\n')
    with s:
        t.contains(s.process.stderr(), "looks up no program",
                   "a PATH that leads into the workspace is warned about")
        t.equal(s.process.stderr().count("looks up no program"), 1, "once")
        plant(work, s, "tell", "sh", "pwd", "mv")
        os.rename(os.path.join(work, "tools", "tell"),
                  os.path.join(work, "tools", "gone"))
        m, held = hold(s)
        h.wait_for(lambda: os.path.exists(told), "nobody was told")
        with open(told, encoding="utf-8") as f:
            cwd, path, said = f.read().splitlines()
        t.equal(cwd, "/", "the notify command runs in /")
        t.equal(path, f"{work}/tools:/usr/bin:/bin",
                "its PATH leaves out what the agent can write")
        t.ok(said.startswith("IronCurtain ") and held["id"] in said,
             "it gets the line", said)
        m.close()
    t.ok(not os.path.exists(trace), "nothing that was planted has run")


def test_command(work, provider):
    real = h.ANTHROPIC_KEY
    seen = os.path.join(work, "seen")
    config = {"credentials": {"anthropic": {"command": ["getkey"]},
                              "openai": {"env": "OPENAI_API_KEY"}}}
    s = session(work, config=config, provider=provider)
    trace = baseline(work, s, "getkey")
    refused(s, "credentials.anthropic.command: ", "the agent can write",
            name="a credential command in the workspace is refused")
    script(os.path.join(work, "tools", "getkey"),
           f"env >{seen}\npwd >>{seen}\necho {real}\n")
    with s:
        plant(work, s, "getkey", "env", "pwd")
        r = s.icctl("keys", "reload", "anthropic")
        t.equal(r.returncode, 0, "keys reload asks it again: " + r.stderr)
        m = s.model()
        t.equal(m.message("hello").status, 200, "its key is used")
        m.close()
        with open(seen, encoding="utf-8") as f:
            text = f.read()
        t.ok(h.OPENAI_KEY not in text and h.GOOGLE_KEY not in text,
             "it does not inherit the keys of other providers")
        t.equal(text.splitlines()[-1], "/", "it runs in /")
    t.ok(not os.path.exists(trace), "no planted command has run")


def test_order(work, provider):
    """The command belongs to the provider that is named first."""
    seen = os.path.join(work, "seen")
    s = session(work, provider=provider, config={"credentials": {
        "anthropic": {"command": [script(os.path.join(work, "first"),
                                         f"env >{seen}\necho "
                                         f"{h.ANTHROPIC_KEY}\n")]},
        "openai": {"env": "OPENAI_API_KEY"}}})
    with s:
        with open(seen, encoding="utf-8") as f:
            text = f.read()
        t.ok("_API_KEY" not in text, "keys are wiped before any command runs",
             [x.split("=")[0] for x in text.splitlines()])


def test_paths(work, provider):
    """Absolute paths, links and secret-tool are checked in the same way."""
    inside = os.path.join(work, "workspace", "bin", "getkey")
    link = os.path.join(work, "link")
    os.symlink(os.path.dirname(inside), link)
    for name, value in (
            ("a whole path", {"command": [inside]}),
            ("a link to it", {"command": [link + "/getkey"]}),
            ("an interpreter there", {"command": [script(
                os.path.join(work, "byenv"), "")]}),
            ("secret-tool", {"secret-service": {"service": "x"}})):
        s = session(work, provider=provider, config={
            "credentials": {"anthropic": value,
                            "openai": {"env": "OPENAI_API_KEY"}}})
        plant(work, s, "getkey", "secret-tool", "ic-interp")
        h.put(os.path.join(work, "byenv"), "#!/usr/bin/env ic-interp\n")
        os.chmod(os.path.join(work, "byenv"), 0o755)
        if name == "secret-tool" and os.path.exists("/usr/bin/secret-tool"):
            t.skip(name, "the host has one outside of the workspace")
            continue
        refused(s, "credentials.anthropic", "the agent can write",
                name=f"{name}: refused")


def test_desktop(work):
    """Without configuration, the desktop's own program is used, found at the
    start."""
    told = os.path.join(work, "told")
    script(os.path.join(work, "tools", "notify-send"),
           f'printf "%s\\n" "$@" >{told}.new\nmv {told}.new {told}\n')
    desktop = {"DISPLAY": ":7", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/no"}
    with session(work, env=desktop) as s:
        trace = plant(work, s, "notify-send")
        m, held = hold(s)
        h.wait_for(lambda: os.path.exists(told), "nobody was told")
        with open(told, encoding="utf-8") as f:
            t.equal(f.read().splitlines(), [
                "--app-name=IronCurtain", "IronCurtain", "A call needs "
                f"your approval: icctl approve {held['id']} or icctl deny "
                f"{held['id']}"], "a desktop notifies in words of ours alone")
        m.close()
    t.ok(not os.path.exists(trace), "with no program of the agent's")
    os.unlink(told)
    for env, config in (({}, {}), (desktop, {"notify": []})):
        with session(work, env=env, config=config) as s:
            m, held = hold(s)
            s.icctl("deny", held["id"], check=True)
            m.close()
    t.ok(not os.path.exists(told), "without a desktop, or with an empty list, "
         "nobody is notified")


def test_views(work):
    """A directory that a server can write belongs to the agent as well."""
    tools = os.path.join(work, "tools")
    script(os.path.join(tools, "tell"), "exit 0\n")
    s = session(work, config={"notify": [os.path.join(tools, "tell")]})
    with s:
        t.ok(True, "baseline: it is taken")
    SERVERS["filesystem"]["sandbox"] = {"filesystem": {"allowWrite": [tools]}}
    s = session(work, config={"notify": [os.path.join(tools, "tell")]})
    refused(s, "notify: ", f"the agent can write {tools}",
            name="a program in a writable view is refused")
    del SERVERS["filesystem"]["sandbox"]


def test_plain(work):
    """A server without a sandbox."""
    inside = os.path.join(work, "workspace", "bin", "server")
    entry = {"plain": {"command": inside, "sandbox": False}}
    s = session(work, options=["--allow-unsandboxed", "plain"])
    s.write("mcp-servers.json", entry)
    trace = plant(work, s, "server")
    refused(s, "server plain", "the agent can write",
            name="an unsandboxed server in the workspace is refused")
    t.ok(not os.path.exists(trace), "and was not started")
    where = os.path.join(work, "where")
    s.write("mcp-servers.json", {"plain": {"sandbox": False, "command": script(
        os.path.join(work, "outside"), f'pwd >{where}\necho "$PATH" >>{where}\n'
        "exec cat\n")}})
    with s:
        h.wait_for(lambda: os.path.exists(where) and
                   os.path.getsize(where) > 3, "the server did not start")
        with open(where, encoding="utf-8") as f:
            cwd, path = f.read().splitlines()
        t.equal(cwd, "/", "one that is taken starts in /")
        t.ok(s.workspace not in path, "its PATH leaves out the workspace",
             path)


def test_own(work):
    """IronCurtain's own programs and configuration in the workspace."""
    s = session(work)
    inside = h.put(os.path.join(s.workspace, "config.json"), "{}", 0o600)
    s.argv[1:1] = ["--config", inside]
    refused(s, "the configuration: ", "the agent can write",
            name="a configuration in the workspace is refused")
    s = session(work)
    mine = os.path.join(s.workspace, "policy")
    shutil.copytree(os.path.join(s.home, "policy"), mine)
    s.argv[1:1] = ["--policy", mine]
    refused(s, f"policy {mine}/", "the agent can write",
            name="a policy in the workspace is refused")
    s = session(work)
    link = os.path.join(work, "policy")
    os.symlink(mine, link)
    s.argv[1:1] = ["--policy", link]
    refused(s, "the agent can write",
            name="and a link that leads to it")


def test_sockets(work):
    """A program of the host that listens in the workspace."""
    s = session(work)
    path = os.path.join(s.workspace, "door")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        with s:
            t.ok(True, "baseline: a socket that nobody listens on is taken")
        listener.listen()
        refused(s, f"workspace {s.workspace}: refused", path, "--allow-sockets",
                name="a listening socket in the workspace is refused")
        s.argv[1:1] = ["--allow-sockets"]
        with s:
            t.contains(s.process.stderr(), f"{path}: a program in the sandbox",
                       "with --allow-sockets it is named")
    for how in ("renamed", "linked"):
        s = session(work, session_dir=os.path.join(work, how))
        elsewhere = os.path.join(work, "bound." + how)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(elsewhere)
            listener.listen()
            os.unlink(path)
            with s:
                t.ok(True, "baseline: a socket elsewhere is taken")
            (os.rename if how == "renamed" else os.link)(elsewhere, path)
            refused(s, f"workspace {s.workspace}: refused", path,
                    name=f"one that was {how} into the workspace is refused")
    s = session(work)
    for path, why in (("/tmp", "temporary"), ("/var/tmp", "temporary"),
                      ("/run", "the host's programs"),
                      ("/proc", "the kernel"), (f"/proc/{os.getpid()}/fd", "the kernel"),
                      ("/sys", "the kernel"), ("/sys/kernel", "the kernel"),
                      ("/dev", "the kernel"), ("/dev/pts", "the kernel"),
                      ("/dev/shm", "memory that they share")):
        s.argv[s.argv.index("--workspace") + 1] = path
        refused(s, f"workspace {os.path.realpath(path)}: refused, because it is", why,
                name=f"--workspace {path} is refused")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as path:
        s.argv[s.argv.index("--workspace") + 1] = path
        with s:
            t.ok(True, "a directory of one's own in /dev/shm is taken")
    s = session(work)
    inside = os.path.join(s.workspace, "s")
    s.argv[s.argv.index("--session-dir") + 1] = inside
    refused(s, "refused, because it contains this session's directory",
            name="a session directory in the workspace is refused")


def test_other(work):
    """The places of another running session's agent are none for programs of
    this one either."""
    b = session(os.path.join(work, "b"), session_dir=os.path.join(work, "sb"))
    tools = os.path.join(b.workspace, "bin")
    told = os.path.join(work, "told")
    script(os.path.join(tools, "tell"), f"echo ours >{told}\n")
    a = session(work, config={"notify": ["tell"]},
                env={"IRONCURTAIN_HOME": b.home, "PATH": f"{tools}:/usr/bin:/bin"})
    shutil.copytree(os.path.join(a.home, "policy"), os.path.join(b.home, "policy"),
                    dirs_exist_ok=True)
    b.write("config.json", {"notify": ["tell"], "policy": {}})
    a.argv += ["--config", b.write("a.json", {"notify": ["tell"]})]
    with a:
        m, held = hold(a)
        h.wait_for(lambda: os.path.exists(told), "nobody was told")
        m.close()
        t.ok(True, "baseline: a program of a directory where no agent works runs")
    os.unlink(told)
    b.write("config.json", {"notify": []})
    with b:
        refused(a, "notify: ", f"{b.workspace} of session sb",
                name="in a running session's workspace it is refused, by name")
        a.argv[a.argv.index("--config") + 1] = b.write("a.json", {
            "notify": [], "packageCaches": {"pip": tools}})
        a.argv[a.argv.index("--runtime") + 1] = "bwrap"
        a.argv += ["--", "/bin/true"]
        refused(a, "packageCaches.pip", f"an agent can write {b.workspace}",
                name="and so is a package cache there")
    t.ok(not os.path.exists(told), "nothing there has run")


def main():
    for test in (test_notify, test_other, test_desktop, test_views, test_plain, test_own, test_sockets):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    with h.workdir() as place:
        provider = h.Provider(place)
        for test in (test_command, test_order, test_paths):
            with h.workdir() as work, t.case(test.__name__):
                test(work, provider)
        provider.end()
    t.done()


if __name__ == "__main__":
    main()
