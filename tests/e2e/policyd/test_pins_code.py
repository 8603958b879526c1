#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The code of an MCP server is another one than in the last session: a script, a
package of npm, and a program of a Python environment. One byte in each file
that belongs to it is told at the start, and held if the user wants that; what
does not belong to it is not told, and whoever had no such pin is not asked."""
import json
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
HOLD = {"pins": {"packages": "hold"}}
TOLD = "has other code since the last session"
TOOL = {"name": "add", "description": "Adds.",
        "inputSchema": {"type": "object", "properties": {}}}
REPLY = {"initialize": {"protocolVersion": "2025-06-18",
                        "capabilities": {"tools": {}},
                        "serverInfo": {"name": "s", "version": "1"}},
         "tools/list": {"tools": [TOOL]}, "ping": {}}
PY = f"""import json, sys
R = {REPLY!r}
for line in sys.stdin:
    m = json.loads(line)
    if "id" in m:
        print(json.dumps({{"jsonrpc": "2.0", "id": m["id"],
                          "result": R.get(m["method"], {{}})}}), flush=True)



"""
JS = f"""const R = {json.dumps(REPLY)};
require('readline').createInterface({{input: process.stdin}}).on('line', (l) => {{
  const m = JSON.parse(l);
  if ('id' in m)
    console.log(JSON.stringify({{jsonrpc: '2.0', id: m.id,
      result: R[m.method] ?? {{}}}}));
}});
"""


def put(top, name, text, mode=0o644):
    path = os.path.join(top, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return h.put(path, text, mode)


def script(user):
    """Returns (entry, files of its code, files that are none of it)."""
    top = os.path.join(user, "tools")
    put(top, "srv.py", PY)
    put(top, "requirements.txt", "mcp==1.0\n")
    put(top, "data.txt", "x")
    return ({"command": "/usr/bin/python3",
             "args": [os.path.join(top, "srv.py"), "--data",
                      os.path.join(top, "data.txt")],
             "sandbox": {"filesystem": {"allowRead": [top]}}},
            [os.path.join(top, x) for x in ("srv.py", "requirements.txt")],
            [os.path.join(top, "data.txt")])


def npm(user):
    modules = os.path.join(user, ".local/share/ironcurtain/node_modules")
    put(modules, "notion-mcp/package.json", json.dumps(
        {"name": "notion-mcp", "version": "2.1.0", "bin": "index.js"}))
    put(modules, "notion-mcp/index.js", "require('./lib/a.js');\n\n\n\n", 0o755)
    put(modules, "notion-mcp/lib/a.js", JS)
    put(modules, ".package-lock.json", '{"packages": {}}')
    put(modules, "other/index.js", "x")
    return ({"command": "npx", "args": ["-y", "notion-mcp"]},
            [os.path.join(modules, x) for x in (
                "notion-mcp/index.js", "notion-mcp/lib/a.js",
                ".package-lock.json")],
            [os.path.join(modules, "other/index.js")])


def python(user):
    top = os.path.join(user, ".local/share/venvs/own")
    site = "lib/python3.11/site-packages"
    put(top, "pyvenv.cfg", "home = /usr/bin\n")
    put(top, "bin/own-mcp", "#!/usr/bin/python3\nimport sys\n"
        f"sys.path.insert(0, {os.path.join(top, site)!r})\nimport own\n\n\n\n", 0o755)
    put(top, site + "/own/__init__.py", PY)
    put(top, site + "/own/more.py", "x = 1\n")
    put(top, site + "/own-2.1.0.dist-info/RECORD", "".join(
        f"{x},sha256=x,1\n" for x in (
            "../../../bin/own-mcp", "own/__init__.py", "own/more.py",
            "own-2.1.0.dist-info/RECORD")))
    put(top, site + "/else/__init__.py", "x = 1\n")
    return ({"command": os.path.join(top, "bin/own-mcp"), "args": []},
            [os.path.join(top, x) for x in (
                "bin/own-mcp", site + "/own/__init__.py",
                site + "/own/more.py",
                site + "/own-2.1.0.dist-info/RECORD")],
            [os.path.join(top, site, "else/__init__.py")])


class Home:
    def __init__(self, work, make):
        self.work, self.n = work, 0
        os.makedirs(os.path.join(work, "user"))
        self.entry, self.code, self.other = make(os.path.join(work, "user"))

    def session(self, config=None):
        self.n += 1
        return h.Session(self.work, {"srv": self.entry}, config=config,
                         session_dir=os.path.join(self.work, f"s{self.n}"))

    def start(self, config=None):
        """Returns what is told of the code, and the tools that there are."""
        with self.session(config) as s:
            m = s.mcp()
            m.initialize()
            h.wait_for(lambda: m.list_tools() or quarantined(s), "tools")
            tools = [x["name"] for x in m.list_tools()]
            m.close()
            return [x for x in s.session_log().splitlines() if TOLD in x], tools


def quarantined(s):
    return json.loads(s.icctl("--json", "trust").stdout)["tools"]


def change(path):
    """Changes one byte, and neither size nor time."""
    st = os.stat(path)
    with open(path, "r+b") as f:
        text = f.read()
        # A comment's or text's byte, so that the server runs as before.
        at = max(text.rfind(b"\n"), 0)
        f.seek(at)
        f.write(b" " if text[at:at + 1] != b" " else b"\n")
    os.utime(path, ns=(st.st_atime_ns, st.st_mtime_ns))


def told(b, what):
    said, tools = b.start()
    t.equal((said, tools), ([], ["srv__add"]), f"{what}: nothing is told first")
    for path in b.code:
        change(path)
        said, tools = b.start()
        t.ok(len(said) == 1 and tools == ["srv__add"],
             f"{what}: one byte of {os.path.basename(path)} is told", said)
    for path in b.other:
        change(path)
    t.equal(b.start()[0], [], f"{what}: other files are not")


def held(b, what):
    change(b.code[0])
    with b.session(HOLD) as s:
        m = s.mcp()
        m.initialize()
        h.wait_for(lambda: quarantined(s), "quarantine")
        t.equal(m.list_tools(), [], f"{what}: held, its tools are not there")
        log = s.session_log()
        t.ok("icctl trust srv" in log and "its entry in" not in log,
             f"{what}: the start says what to do", log[-600:])
        r = s.icctl("trust", "srv", answers="n\n")
        t.ok("its code is not that of the last session" in r.stdout and
             "    was " in r.stdout and "its entry in" not in r.stdout,
             f"{what}: trust shows it", r.stdout)
        m.close()
    with b.session(HOLD) as s:
        h.wait_for(lambda: quarantined(s), "quarantine")
        t.ok(True, f"{what}: held again, since nobody has approved it")
        r = s.icctl("trust", "srv", "--yes")
        t.equal(r.returncode, 0, f"{what}: it is approved")
        m = s.mcp()
        m.initialize()
        h.wait_for(m.list_tools, "the tool")
        m.close()
    for _ in range(2):
        t.equal(b.start(HOLD), ([], ["srv__add"]),
                f"{what}: later sessions do not ask")


def older(b, what):
    """Pins of a version that had no code quarantine nobody."""
    path = os.path.join(b.work, "home", "pins.json")
    with open(path, encoding="utf-8") as f:
        pins = json.load(f)
    t.equal(list(pins["code"]), ["srv"], f"{what}: pins.json has the code")
    del pins["code"]
    pins["version"] = 3
    h.put(path, json.dumps(pins), 0o600)
    t.equal(b.start(HOLD), ([], ["srv__add"]),
            f"{what}: pins without code hold nothing")


def version(b):
    path = os.path.join(os.path.dirname(b.code[0]), "package.json")
    with open(path, encoding="utf-8") as f:
        package = json.load(f)
    package["version"] = "2.1.1"
    put(os.path.dirname(path), "package.json", json.dumps(package))
    said, _ = b.start()
    t.contains("".join(said), "srv has other code since the last session: "
               "2.1.0 -> 2.1.1", "a new version is told by its number")


def main():
    for make in (script, npm, python):
        if make is npm and not shutil.which("node", path="/usr/bin:/bin"):
            t.skip("npm", "there is no node")
            continue
        with h.workdir() as work, t.case(make.__name__):
            b = Home(work, make)
            told(b, make.__name__)
            held(b, make.__name__)
            older(b, make.__name__)
            if make is npm:
                version(b)
    t.done()


if __name__ == "__main__":
    main()
