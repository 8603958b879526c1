#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests that a session starts with all that `icctl mcp import` writes: servers
whose script lies in the home, files that no server may see, keys of providers,
and fifteen files (with the word "all": fifty), which are imported before
sessions start."""
import json
import os
import random
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import known_machine  # noqa: E402

t = h.Tap()
KEY = "sk-ant-REDACTED-in-this-test"
CONFIGURATIONS = 50 if "all" in sys.argv[1:] else 15
SERVER = """import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        r = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
             "serverInfo": {"name": "s", "version": "1"}}
    elif m.get("method") == "tools/list":
        r = {"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
"""


class User:
    """Somebody with a home directory and no IronCurtain yet."""

    def __init__(self, work, name):
        self.home = os.path.join(work, name)
        self.project = os.path.join(work, name + ".project")
        os.makedirs(self.home)
        os.makedirs(self.project)
        os.makedirs(os.path.join(self.home, ".ironcurtain"), mode=0o700)
        known_machine.give(os.path.join(self.home, ".ironcurtain"))
        self.data = os.path.join(self.home, ".local/share/ironcurtain/data")
        self.env = {"PATH": os.environ["PATH"], "HOME": self.home,
                    "LANG": "C.UTF-8"}

    def put(self, name, text):
        return h.put(os.path.join(self.home, name), text)

    def icctl(self, *args, **env):
        return subprocess.run(
            [h.program("icctl"), *args], env={**self.env, **env}, timeout=90,
            cwd=self.project, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL)

    def take(self, servers, *options, **env):
        """Imports from a file with these servers, or with this text."""
        text = servers if isinstance(servers, str) else json.dumps(
            {"mcpServers": servers})
        path = self.put("theirs.json", text)
        return self.icctl("mcp", "import", "--yes", *options, path, **env)

    def servers(self):
        path = os.path.join(self.home, ".ironcurtain", "mcp-servers.json")
        if not os.path.exists(path):
            return {}
        with open(path, encoding="utf-8") as f:
            return json.load(f)

    def start(self, **env):
        return self.icctl("start", "--workspace", self.project, "--", "true", **env)


def reads(entry):
    return entry.get("sandbox", {}).get("filesystem", {}).get("allowRead", [])


def test_scripts(work):
    """A server whose script is in the home starts, and sees what belongs to it."""
    u = User(work, "scripts")
    helped = "import helper\n" + SERVER
    u.put("alone.py", SERVER)
    u.put("tools/srv.py", helped)
    u.put("tools/helper.py", "")
    u.put("proj/pyproject.toml", "")
    u.put("proj/src/srv.py", "import sys\nsys.path.insert(0, " +
          repr(os.path.join(u.home, "proj/lib")) + ")\n" + helped)
    u.put("proj/lib/helper.py", "")
    u.put("modules/srvmod/__main__.py", SERVER)
    u.put("modules/srvmod/__init__.py", "")
    u.put("here/srv.py", helped)
    u.put("here/helper.py", "")
    py = h.PYTHON
    r = u.take({
        "alone": {"command": py, "args": [u.home + "/alone.py"]},
        "own": {"command": py, "args": ["-u", "~/tools/srv.py", "/x"]},
        "package": {"command": py, "args": ["${userHome}/proj/src/srv.py"]},
        "from-cwd": {"command": py, "args": ["srv.py"], "cwd": u.home + "/here"},
        "behind": {"command": "env", "args": ["A=b", py, u.home + "/tools/srv.py"]}})
    s = u.servers()
    for name, want in (("alone", "/alone.py"), ("own", "/tools"), ("package", "/proj"),
                       ("from-cwd", "/here"), ("behind", "/tools")):
        t.equal(reads(s.get(name, {})), [u.home + want], f"{name}: its view")
        t.contains(r.stdout, f"{name}: 1 tool: look", f"{name} starts", )
    t.ok(r.stdout.count("\n  reads ") == 5, "the person was shown what they read",
         r.stdout)
    t.equal(u.start().returncode, 0, "and a session starts with them")


def test_moved(work):
    """A file in a directory that no server may see is copied."""
    u = User(work, "moved")
    u.put("memory.json", "remembered")
    u.put("notes.db", "a database")
    u.put("notes.db-wal", "its journal")
    r = u.take({
        "memory": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"],
                   "env": {"MEMORY_FILE_PATH": u.home + "/memory.json"}},
        "db": {"command": "mcp-server-sqlite", "args": ["--db-path", "~/notes.db"]},
        "files": {"command": "npx", "args": [
            "-y", "@modelcontextprotocol/server-filesystem", "~", u.home + "/sub"]},
        "all": {"command": "npx", "args": [
            "-y", "@modelcontextprotocol/server-filesystem", "/"]}}, "--no-start")
    t.ok(r.returncode == 0 and "  sets     MEMORY_FILE_PATH\n" in r.stdout,
         "they are imported", r)
    s = u.servers()
    for name, text in (("memory/memory.json", "remembered"),
                       ("db/notes.db", "a database"), ("db/notes.db-wal", "its journal")):
        with open(os.path.join(u.data, name), encoding="utf-8") as f:
            t.equal(f.read(), text, f"{name} has the same contents")
    t.equal(s["memory"]["env"]["MEMORY_FILE_PATH"], u.data + "/memory/memory.json",
            "the server uses the copy")
    t.equal(s["memory"]["sandbox"]["filesystem"]["allowWrite"], [u.data + "/memory"],
            "and sees its own directory alone")
    t.ok(s["db"]["args"][1] == u.data + "/db/notes.db" and os.path.exists(
        u.home + "/memory.json"), "an argument is changed, the original stays", s)
    t.ok("all" not in s and "Name directories" in r.stdout,
         "a server for everything is left out", r.stdout)
    r = u.start()
    t.ok(r.returncode == 0 and "MCP server memory does not run: npx" in r.stderr,
         "and a session starts with them", r)


def test_keys(work):
    """A variable that is a provider's key is refused, with a next step."""
    u = User(work, "keys")
    u.put("alone.py", SERVER)
    py = {"command": h.PYTHON, "args": [u.home + "/alone.py"]}
    r = u.take({
        "one": {**py, "env": {"ANTHROPIC_API_KEY": "${ANTHROPIC_API_KEY}", "A": "b"}},
        "two": {**py, "env": {"THE_TOKEN": KEY}},
        "three": {"command": h.PYTHON,
                  "args": [u.home + "/alone.py", "${GEMINI_API_KEY}"]}},
        "--no-start", ANTHROPIC_API_KEY=KEY, GEMINI_API_KEY="x")
    stored = json.dumps(u.servers())
    with open(u.home + "/theirs.json", encoding="utf-8") as f:
        t.ok(KEY in f.read(), "the key was in the file")
    path = os.path.join(u.home, ".ironcurtain", "config.json")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            stored += f.read()
    t.ok(KEY not in stored + r.stdout and "ANTHROPIC_API_KEY" not in stored and
         "GEMINI" not in stored, "no key of a provider is written", stored)
    t.ok("env.ANTHROPIC_API_KEY is refused: it is a key of anthropic" in r.stdout and
         "export ONE_ANTHROPIC_API_KEY=..." in r.stdout, "the person reads why", r.stdout)
    t.equal(sorted(u.servers()), ["one", "two"], "an argument refuses the entry")
    t.equal(u.start().returncode, 0, "and a session starts with them")


def test_files(work):
    """Forms of files."""
    mark = "\ufeff"
    entry = '{"mcpServers":{"a":{"command":"%s","args":["s.js"]}}}' % h.PYTHON
    for name, text, good in (
            ("a byte order mark", mark + entry, True),
            ("a mark, comments and commas",
             mark + "// mine\r\n" + entry[:-1] + ",}", True),
            ("nothing", "", "it is empty")):
        u = User(work, name.replace(" ", ""))
        r = u.take(text, "--no-start")
        t.ok(r.returncode == 0 and "a" in u.servers() if good is True
             else good in r.stderr, name, r)


def choices(u, rng):
    """Yields entries of many kinds, some of which no session starts with."""
    py = h.PYTHON
    places = ["~", u.home, u.home + "/f.json", "~/docs/f.json", "/tmp/f.json", "/f.json",
              "/etc/f.json", u.home + "/.ironcurtain/f.json", "/proc/self/f", "/dev/shm/f",
              "/run/f", "rel/f.json", "/workspace/f.json", "/usr/f.json", "", "/"]
    memory = "@modelcontextprotocol/server-memory"
    while True:
        place = rng.choice(places)
        yield rng.choice([
            lambda: {"command": "npx", "args": ["-y", memory],
                     "env": {"MEMORY_FILE_PATH": place}},
            lambda: {"command": "npx", "args": [
                "-y", "@modelcontextprotocol/server-filesystem",
                *rng.sample(places, rng.randint(1, 4))]},
            lambda: {"command": "mcp-server-sqlite", "args": ["--db-path", place]},
            lambda: {"command": "mcp-server-git", "args": ["--repository", place]},
            lambda: {"command": py, "args": [place, "-m", "x"]},
            lambda: {"command": py, "env": {"PYTHONPATH": place, "A": "${NOT_SET_HERE}"}},
            lambda: {"command": py, "env": {"A": "${NOT_SET:-default}"}},
            lambda: {"command": py, "args": ["x"] * rng.choice([255, 256, 257, 300])},
            lambda: {"command": py, "env": {rng.choice(
                ["A-B", "", "1A", "A=B", "PATH", "LD_PRELOAD", "A\n"]): "v"}},
            lambda: {"command": rng.choice(["", " ", "no-such-program", "./x", "../x", "~/x",
                                            "/nowhere/x", "a b c", "icfs", "icgit"])},
            lambda: {"command": py, "description": "d" * rng.choice([1, 1000, 100000])},
            lambda: {"command": py, "args": ["a" * rng.choice([10, 100000, 300000])]},
            lambda: {"command": py, "args": ["${", "${}", "$X", "${a b}", "$${Y:-}"]},
            lambda: {"command": py, "args": ["--token", "abcdefghijkl"],
                     "env": {"MY_SECRET_KEY": "0123456789ab"}},
            lambda: {"command": py, "args": ["\u202e\x07", "\ud83d\ude00"]},
        ])()


def test_many(work):
    """Imports the files, five into each home, and starts a session there."""
    rng = random.Random(24)
    names = ["a", "B c", "filesystem", "proxy", "git", "x" * 40, "ic", "fetch", "web", "\u00e9"]
    imported = 0
    bad = re.compile(r"(left out|refused|note):? *\n|/tmp/ic-import|\.import-|/ic-probe")
    for i in range(CONFIGURATIONS // 5):
        u = User(work, f"u{i}")
        u.put("f.json", "{}")
        u.put("docs/f.json", "{}")
        if i % 3 == 0:
            u.put(".ironcurtain/mcp-servers.json", json.dumps(
                {"mcpServers": {"old": {"command": "true"}}} if i % 2 else
                {"old": {"command": "true"}}))
        some, said, given = choices(u, rng), "", []
        for k in range(5):
            given.append({f"{n}{k}" if n != "git" else n: next(some)
                          for n in rng.sample(names, rng.randint(1, 2))})
            r = u.take(given[-1], "--no-start")
            said += r.stdout + r.stderr
            imported += r.returncode == 0
            t.ok(r.returncode in (0, 1) and not bad.search(r.stdout + r.stderr),
                 f"configuration {5 * i + k}: no message is empty or names a deleted file", r)
        left = [n for n in os.listdir(u.home + "/.ironcurtain") if "import" in n]
        s = u.start()
        t.ok(s.returncode == 0 and not left, "and a session starts",
             f"{json.dumps(given)[:2000]}\n{said[-3000:]}\n{s}\n{left}")
    t.ok(CONFIGURATIONS // 5 < imported < CONFIGURATIONS, f"{imported} of them are imported")


def main():
    for test in (test_scripts, test_moved, test_keys, test_files, test_many):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
