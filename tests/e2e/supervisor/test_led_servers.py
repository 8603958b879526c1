#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Attacks on MCP servers whose code an agent could write: it would have the
server's variables, hosts and files. Such an entry is left out by name, and the
start goes on. An entry that has nothing of these runs, which is the baseline:
there the agent's code runs."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
TOKEN = {"env": {"API_TOKEN": "a-token-of-the-users"}}
HOSTS = {"sandbox": {"network": {"allowedDomains": ["example.org"]}}}
PY = h.PYTHON


class Case:
    def __init__(self, work, workspace="workspace"):
        self.work = work
        self.told = 0
        self.ws = os.path.join(work, workspace)
        self.trace = os.path.join(self.ws, "trace")
        code = ("import os\nopen('/workspace/trace', 'a').write("
                "os.environ.get('API_TOKEN', 'nothing') + '\\n')\n")
        for name in ("srv.py", "pkg/__main__.py", "srv/__init__.py", "srv/__main__.py",
                     "sitecustomize.py"):
            h.put(os.path.join(self.ws, name), code, 0o755)
        h.put(os.path.join(self.ws, "prog"), f"#!{PY}\n" + code, 0o755)
        os.chmod(os.path.join(self.ws, "prog"), 0o755)
        h.put(os.path.join(self.ws, "srv.sh"),
              "echo \"${API_TOKEN:-nothing}\" >>/workspace/trace\n")
        self.tools = os.path.join(work, "tools")
        os.makedirs(self.tools)
        os.symlink("/workspace/srv.py", os.path.join(self.tools, "link.py"))
        h.put(os.path.join(self.tools, "good.py"), "import json\n")
        h.put(os.path.join(self.tools, "good.sh"), "exit 0\n")

    def rows(self):
        """Returns name -> (entry, whether it is left out by name)."""
        see = {"sandbox": {"filesystem": {"allowRead": [self.tools]}}}
        return {
            "a program": ({"command": self.ws + "/prog", **TOKEN}, True),
            "a script": ({"command": PY, "args": ["/workspace/srv.py"], **TOKEN}, True),
            "a script by a relative path": (
                {"command": PY, "args": ["srv.py"], **TOKEN}, True),
            "an untidy path": (
                {"command": PY, "args": ["//workspace/./pkg/..//srv.py"], **TOKEN}, True),
            "a path out of the system and back": (
                {"command": PY, "args": ["/usr/../workspace/srv.py"], **TOKEN}, True),
            "a link to a script": (
                {"command": PY, "args": [self.tools + "/link.py"], **see, **TOKEN}, True),
            "a directory that Python runs": (
                {"command": PY, "args": ["/workspace/pkg"], **TOKEN}, True),
            "a shell's script": (
                {"command": "sh", "args": ["/workspace/srv.sh"], **TOKEN}, True),
            "a module in the working directory": (
                {"command": PY, "args": ["-m", "srv"], **TOKEN}, False),
            "a module path in a variable": (
                {"command": PY, "args": [self.tools + "/good.py"], **see,
                 "env": {**TOKEN["env"], "PYTHONPATH": "/workspace"}}, True),
            "a relative module path in a variable": (
                {"command": PY, "args": [self.tools + "/good.py"], **see,
                 "env": {**TOKEN["env"], "PYTHONPATH": "."}}, True),
            "an empty part of a module path": (
                {"command": PY, "args": [self.tools + "/good.py"], **see,
                 "env": {**TOKEN["env"], "PYTHONPATH": self.tools + ":"}}, True),
            "a module behind an option with a value": (
                {"command": PY, "args": ["-X", "dev", "-m", "srv"], **TOKEN}, False),
            "a text that names a relative script": (
                {"command": "sh", "args": ["-c", f"exec {PY} srv.py"], **TOKEN}, False),
            "an option with a relative file": (
                {"command": "bash", "args": ["--rcfile=./srv.sh", "-i"], **TOKEN}, True),
            "an assignment of env": (
                {"command": "env", "args": ["PYTHONPATH=/workspace", PY, "/dev/null"],
                 **TOKEN}, True),
            "a script behind a wrapper": (
                {"command": "nice", "args": [PY, "/workspace/srv.py"], **TOKEN}, True),
            "the working directory by /proc": (
                {"command": PY, "args": ["/proc/self/cwd/srv.py"], **TOKEN}, True),
            "a directory whose programs are run": (
                {"command": "run-parts", "args": ["/workspace"], **TOKEN}, True),
            "a script, with hosts only": (
                {"command": PY, "args": ["/workspace/srv.py"], **HOSTS}, True),
            "a script, with other files only": (
                {"command": PY, "args": ["/workspace/srv.py"], **see}, True),
        }

    def texts(self):
        """Returns entries whose text composes a path of the workspace."""
        def text(command, *args, **more):
            return {"command": command, "args": list(args), **TOKEN, **more}
        see = {"sandbox": {"filesystem": {"allowRead": [os.path.dirname(self.ws)]}}}
        shell = f'x=/work; exec {PY} $x"space"/srv.py 1'
        python = "import os; p = '/work'; os.execv('%s', ['x', p + 'space/srv.py'])" % PY
        return {
            "a shell's variable": text("sh", "-c", shell),
            "a shell behind another program": text("nice", "sh", "-ec", shell),
            "a pattern of a shell": text("sh", "-c", f"exec {PY} /w*/srv.py 1"),
            "a pattern of the host's path": text(
                "sh", "-c", f"exec {PY} {self.ws[:-4]}????/srv.py 1", **see),
            "a path of the host": text(
                "sh", "-c", f'x={self.ws[:-4]}; exec {PY} "$x"pace/srv.py 1', **see),
            "Python's text": text(PY, "-c", python),
            "perl's text": text(
                "perl", "-e", "$p = '/work'; exec '%s', $p . 'space/srv.py'" % PY),
            "a text that env divides": text("env", "-S", f"sh -c '{shell}'"),
            "a search for a file": text(
                "sh", "-c", f"find / -name srv.py -exec {PY} '{{}}' ';'"),
            "a variable that bash expands": text(
                "bash", self.tools + "/good.sh",
                sandbox={"filesystem": {"allowRead": [self.tools]}},
                env={**TOKEN["env"], "P": "/work", "Q": "space", "F": "srv.sh",
                     "BASH_ENV": "$P$Q/$F"}),
            "a hosts-only entry": {"command": "sh", "args": ["-c", shell], **HOSTS},
        }

    def run(self, entry):
        """Starts a session with this entry beside a good one, until both have
        ended or listed their tools. Returns it, its errors and its status."""
        log = os.path.join(self.work, "log", "echo.jsonl")
        s = h.Session(self.work, {"x": entry, "good": h.echo_server(log)},
                      [h.rule("all", "allow", server=["good"])],
                      {"good": h.ECHO_TOOLS})
        s.argv[s.argv.index("--workspace") + 1] = self.ws
        before = self.told
        with s:
            m = s.client()
            text = m.call("good__echo", {"text": "hello"})
            servers = json.loads(s.icctl("--json", "status").stdout)["servers"]
            m.close()
            errors = s.process.stderr()
        # The file has what earlier sessions said, too.
        self.told = len(s.process.stderr())
        errors = errors[before:]
        there = os.path.exists(self.trace)
        if there:
            os.unlink(self.trace)
        row = [x for x in servers if x["name"] == "x"][0]
        return "hello" in json.dumps(text), errors, row, there


def test_attacks(work):
    c = Case(work)
    for name, (entry, left_out) in c.rows().items():
        good, errors, row, ran = c.run(entry)
        t.ok(not ran, f"{name}: the agent's code does not run", errors)
        t.ok(good, "the start goes on, and another server answers", errors)
        if left_out:
            t.ok("server x is left out: its " in errors and
                 "icctl mcp import --copy x" in errors and row["state"] == "gone" and
                 "left out" in row["text"], "it is named, with the remedy",
                 f"{errors} {row}")


def test_texts(work):
    """A text may compose any path, so that what agents write is refused."""
    c = Case(work, "p/workspace")
    for name, entry in c.texts().items():
        good, errors, row, ran = c.run(entry)
        t.ok(not ran, f"{name}: the agent's code does not run", errors)
        t.ok(good and row["state"] == "gone" and "server x runs a text" in errors and
             "workspace" in errors and '"shell": true' in errors,
             "it is named, with the remedy", f"{errors} {row}")
    _, errors, row, ran = c.run({**c.texts()["a shell's variable"], "shell": True})
    t.ok(ran and "runs a text" not in errors, "with the person's word it runs",
         f"{errors} {row}")
    log = os.path.join(work, "own", "text.jsonl")
    entry = h.echo_server(log, env=TOKEN["env"])
    entry["args"] = ["-c", 'd=/work; ls "$d"space || exec "$@"', "sh",
                     entry["command"], *entry["args"]]
    entry["command"] = "sh"
    good, errors, row, _ = c.run(entry)
    t.ok(good and row["state"] == "ready" and "server x runs a text" in errors,
         "a server that a text starts runs, without the workspace",
         f"{errors} {row}")


def test_baseline(work):
    """Without anything of its own, the agent's server runs."""
    c = Case(work)
    for name in ("a program", "a script", "a script by a relative path",
                 "a directory that Python runs", "a shell's script",
                 "a module in the working directory", "an untidy path"):
        entry = {k: v for k, v in c.rows()[name][0].items()
                 if k in ("command", "args")}
        good, errors, row, ran = c.run(entry)
        t.ok(good and ran and "left out" not in errors,
             f"baseline: without variables, hosts and files it runs: {name}",
             f"{errors} {row}")


def test_data(work):
    """Directories of the workspace are data: servers are given them."""
    c = Case(work)
    log = os.path.join(work, "log", "data.jsonl")
    entry = h.echo_server(log, env={**TOKEN["env"], "PROJECT_ROOT": "/workspace",
                                    "LIST": "/workspace/pkg:/workspace"})
    good, errors, row, _ = c.run(entry)
    t.ok(good and row["state"] == "ready" and "left out" not in errors,
         "a server with variables that name directories of the workspace runs",
         f"{errors} {row}")
    entry["env"]["PROJECT_ROOT"] = "/workspace/srv.py"
    _, errors, row, _ = c.run(entry)
    t.ok("its variable PROJECT_ROOT leads into" in errors,
         "one with a variable that names a file there does not", errors)


def test_two_sessions(work):
    """The directories that an entry lists as its own are no place of another
    session's agent, although the same server of that session writes there. Code
    in another session's workspace is, and code that another server can write."""
    c = Case(work)
    data = os.path.join(work, "data")
    h.put(os.path.join(data, "tool.py"), "import json\n")
    own = h.echo_server(os.path.join(data, "log.jsonl"), env={
        **TOKEN["env"], "MEMORY_FILE_PATH": data + "/memory.jsonl",
        "HOME": data, "XDG_CACHE_HOME": data + "/cache"})
    servers = {
        "own": own,
        "theirs": {"command": PY, "args": ["/workspace/../" + work + "/o/workspace/s.py"],
                   "sandbox": {"filesystem": {"allowRead": [work + "/o/workspace"]}},
                   **TOKEN},
        "shared": {"command": PY, "args": [data + "/tool.py"],
                   "sandbox": {"filesystem": {"allowRead": [data]}}, **TOKEN}}
    h.put(os.path.join(work, "o", "workspace", "s.py"), "import json\n")
    first = h.Session(os.path.join(work, "o"), {"own": own},
                      [h.rule("all", "allow", server=["own"])], {"own": h.ECHO_TOOLS})
    second = h.Session(work, servers, [h.rule("all", "allow", server=["own"])],
                       {"own": h.ECHO_TOOLS}, env={"IRONCURTAIN_HOME": first.home})
    first.write("mcp-servers.json", {"filesystem": False, **servers})
    with first:
        with second:
            errors = second.process.stderr()
            t.ok("server own is left out" not in errors,
                 "a server's own directories are its own in two sessions", errors)
            m = second.client()
            t.ok("hello" in json.dumps(m.call("own__echo", {"text": "hello"})),
                 "and it answers")
            m.close()
            t.ok("server theirs is left out: its argument" in errors and
                 "of session" in errors,
                 "a script in the other session's workspace is not", errors)
            t.ok("server shared is left out: its argument" in errors,
                 "nor one that another server can write", errors)


def icctl(c, s, *words):
    return subprocess.run([h.program("icctl"), "mcp", "import", *words], env=s.env,
                          cwd=c.ws, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)


def test_copy(work):
    """icctl mcp import --copy NAME: the server runs from a copy, whatever the
    agent writes, and not at all if the copy changes."""
    c = Case(work)
    seen = os.path.join(c.ws, "seen")
    h.put(os.path.join(c.ws, "tools", "srv.py"), "import helper\n")
    h.put(os.path.join(c.ws, "tools", "helper.py"),
          "open('/workspace/seen', 'w').write('copied')\n")
    h.put(os.path.join(c.ws, "tools", ".git", "config"), "x")
    entry = {"command": PY, "args": ["/workspace/tools/srv.py"], **TOKEN}
    s = h.Session(work, {"x": entry})
    path = os.path.join(s.home, "mcp-servers.json")

    def stored():
        with open(path, encoding="utf-8") as f:
            return json.load(f)["x"]

    r = icctl(c, s, "--copy", "x", "--dry-run")
    t.ok(r.returncode == 0 and "2 files" in r.stdout and stored() == entry,
         "--dry-run shows it and writes nothing", r)
    t.ok(icctl(c, s, "--copy", "x").returncode == 1 and stored() == entry,
         "it asks")
    r = icctl(c, s, "--copy", "x", "--yes")
    new = stored()
    to = new["copy"]["to"]
    t.ok(r.returncode == 0 and new["args"] == [to + "/srv.py"] and
         to in new["sandbox"]["filesystem"]["allowRead"] and
         sorted(os.listdir(to)) == ["helper.py", "srv.py"] and
         to.startswith(s.user_home + "/.local/share/ironcurtain/data/x"),
         "the entry leads to the copy", f"{r} {new}")
    h.put(os.path.join(c.ws, "tools", "helper.py"), "open('/workspace/trace', 'w')\n")
    h.put(os.path.join(c.ws, "tools", "srv.py"), "open('/workspace/trace', 'w')\n")
    with s:
        h.wait_for(lambda: os.path.exists(seen), "the copy did not run")
        t.ok("left out" not in s.process.stderr(), "it is started", s.process.stderr())
    t.ok(not os.path.exists(c.trace), "and not what the agent wrote since")
    os.unlink(seen)
    h.put(os.path.join(to, "helper.py"), "open('/workspace/trace', 'w')\n")
    with s:
        t.ok("are not those that were copied" in s.process.stderr(),
             "a copy with another digest is left out", s.process.stderr())
    t.ok(not os.path.exists(c.trace), "and does not run")
    h.put(os.path.join(c.ws, "tools", "helper.py"),
          "open('/workspace/seen', 'w').write('again')\n")
    h.put(os.path.join(c.ws, "tools", "srv.py"), "import helper\n")
    t.equal(icctl(c, s, "--copy", "x", "--yes").returncode, 0, "it is copied again")
    with s:
        h.wait_for(lambda: os.path.exists(seen), "the new copy did not run")
    for what, make in (
            ("a link out of it", lambda d: os.symlink("/etc/passwd", d + "/l")),
            ("a relative link out of it", lambda d: os.symlink("../../srv.py", d + "/m")),
            ("a pipe", lambda d: os.mkfifo(d + "/p"))):
        d = os.path.join(c.ws, "odd." + what.replace(" ", ""))
        h.put(os.path.join(d, "srv.py"), "")
        make(d)
        s.write("mcp-servers.json", {"x": {**entry, "args": [d + "/srv.py"]}})
        r = icctl(c, s, "--copy", "x", "--yes")
        t.ok(r.returncode == 1 and r.stderr, what + " is refused", r)
    s.write("mcp-servers.json", {"x": {**entry, "args": ["srv.py"]}})
    t.ok(icctl(c, s, "--copy", "x", "--yes").returncode == 0 and
         os.listdir(stored()["copy"]["to"]) == ["srv.py"],
         "of a script directly in the workspace the file alone is copied")


def main():
    for test in (test_attacks, test_texts, test_baseline, test_data, test_two_sessions,
                 test_copy):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
