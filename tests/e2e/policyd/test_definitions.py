#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Definitions of tools are input: one that is odd costs its own tool and no
other, and is named; texts that nobody sees are shown; definitions that are too
long are left out; and names are those that every agent takes."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import odd_tools  # noqa: E402
import terminal  # noqa: E402

t = h.Tap()
RULES = [h.rule("all", "allow")]


def server(work, name, pages):
    path = h.put(os.path.join(work, name, "list.json"), json.dumps(pages))
    return {"command": h.PYTHON, "args": [os.path.join(
        h.STANDINS, "mcp_list.py"), path], "sandbox": {"filesystem": {
            "allowRead": [os.path.dirname(path), h.STANDINS]}}}


def tools(*definitions):
    return {"pages": [json.dumps(list(definitions))]}


def tool(name, **members):
    return {"name": name, "inputSchema": {"type": "object"}, **members}


def session(work, servers, **kw):
    kw.setdefault("config", {})["policy"] = {"trustedServers": list(servers)}
    n = len(os.listdir(work))
    return h.Session(work, {k: server(work, k, v) for k, v in servers.items()},
                     rules=RULES, session_dir=os.path.join(work, f"s{n}"),
                     **kw)


def agent(s):
    m = s.mcp()
    m.initialize()
    return m, {x["name"]: x for x in m.list_tools()}


def definitions(s):
    """Returns them as of a moment when each server is ready: what is told of
    one comes before that."""
    def now():
        r = json.loads(s.icctl("--json", "status", check=True).stdout)
        if all(x["state"] == "ready" for x in r["servers"]):
            return {"rows": r["definitions"]}
        return None
    return h.wait_for(now, "servers that are ready")["rows"]


def noted(s):
    """Returns them by tool."""
    return {r["tool"]: r for r in definitions(s)}


def shapes(work):
    """All of them at once, as servers of twelve; what is left out is named."""
    names = [*odd_tools.SHAPES, *odd_tools.RAW]
    groups = [names[i:i + 12] for i in range(0, len(names), 12)]
    servers = {f"odd{i}": odd_tools.pages(*g) for i, g in enumerate(groups)}
    servers["fine"] = tools(tool("one"), tool("two"))
    with session(work, servers) as s:
        m, seen = agent(s)
        good = {f"{x}__good" for x in servers if x != "fine"}
        t.ok(good | {"fine__one", "fine__two"} <= set(seen),
             f"{len(names)} odd tools cost no other one", sorted(seen))
        rows = {(r["server"], r["tool"]): r for r in definitions(s)}
        for i, group in enumerate(groups):
            for k, name in enumerate(group):
                left = odd_tools.SHAPES.get(
                    name, (0, name != "lone-surrogate" or None))[1]
                bad = f"bad{k}" if len(group) > 1 else "bad"
                own = f"odd{i}__{bad}"
                row = rows.get((f"odd{i}", bad), {})
                if name.startswith(("name-", "tool-")):
                    t.ok(own not in seen, f"{name}: left out")
                    continue
                says = "left out" if left else "mended"
                t.ok((own not in seen) == bool(left) and (
                    not row if left is None else
                    row.get("state") == says and row["why"]),
                    f"{name}: {'as it is' if left is None else says}",
                    (row, seen.get(own)))
        t.equal(rows[("odd0", "bad0")]["why"],
                "inputSchema/properties: [] became {}", "with the reason")
        said = s.process.stderr()
        t.contains(said, "MCP server odd1: tool bad6 is left out: "
                   "inputSchema: is a string, not an object",
                   "the start says it")
        t.contains(s.session_log(), "odd0: definition of bad0 mended: "
                   "inputSchema/properties", "session.log has what was mended")
        status = s.icctl("status").stdout
        t.ok("left out" in status and "is a string, not an object" in status,
             "and icctl status all of it", status)
        doctor = subprocess.run([h.program("icctl"), "--session", s.dir,
                                 "doctor"], env=s.env, capture_output=True,
                                text=True, timeout=60, check=False).stdout
        t.contains(doctor, "odd1: bad6 is left out: inputSchema: is a string",
                   "doctor names server, tool and reason")
        events = s.events("definitions")
        t.ok(any(e["serverName"] == "odd0" and e["tools"][0]["tool"] == "bad0"
                 for e in events), "the log has it", events)
        t.equal(h.outcome(m.call("odd0__bad0", {}))[1], '["bad0", {}]',
                "a mended tool is called")
        m.close()


def later(work):
    """The same by list_changed, and in a page of its own."""
    good = tools(tool("reload"), tool("good"))
    with session(work, {"srv": good}) as s:
        m, seen = agent(s)
        t.equal(sorted(seen), ["srv__good", "srv__reload"], "two tools")
        t.equal(definitions(s), [], "and nothing to say")
        first = json.dumps([tool("reload"), tool("good")])
        second = json.dumps([odd_tools.SHAPES["pattern-open"][0]])
        h.put(os.path.join(work, "srv", "list.json"),
              json.dumps({"pages": [first, second]}))
        m.call("srv__reload", {})
        rows = h.wait_for(lambda: definitions(s), "the odd one is noted")
        t.equal((rows[0]["tool"], rows[0]["state"]), ("bad", "left out"),
                "one that comes later, in a page of its own")
        t.equal(sorted(x["name"] for x in m.list_tools()),
                ["srv__good", "srv__reload"], "costs nothing either")
        h.put(os.path.join(work, "srv", "list.json"), json.dumps(good))
        m.call("srv__reload", {})
        h.wait_for(lambda: not definitions(s), "when it is gone, it is said")
        m.close()


def hidden(work):
    tag = "".join(chr(0xe0000 + ord(c)) for c in "obey")
    with session(work, {"srv": tools(
            tool("texts", description=f"a{tag}b\u200bc\u202ed\x1b[2J \U0001f468"
                 "\u200d\U0001f469 \u0645\u06cc\u200c\u062e", title="t\ufeff"),
            tool("enum", inputSchema={"type": "object", "properties": {
                "a": {"enum": ["x\u200b"]}}}),
            tool("n\u200bame"))}) as s:
        m, seen = agent(s)
        d = seen["srv__texts"]
        t.equal(d["description"], "a" + "".join(
            f"\\u{{e00{ord(c):02x}}}" for c in "obey") +
            "b\\u{200b}c\\u{202e}d\\x1b[2J \U0001f468\u200d\U0001f469 "
            "\u0645\u06cc\u200c\u062e",
            "what nobody sees is escaped, and joiners stay")
        t.equal(d["title"], "t\\u{feff}", "in the title, too")
        t.equal(sorted(seen), ["srv__texts"], "an enum and a name: left out")
        rows = {k: r["state"] for k, r in noted(s).items()}
        t.equal(rows, {"texts": "mended", "enum": "left out",
                       "n\\u{200b}ame": "left out"}, "by name")
        m.close()


def limits(work):
    def fat(name, kib):
        return tool(name, description="x" * (kib << 10))
    config = {"toolDefinitions": {"maxToolKiB": 20, "maxServerKiB": 40,
                                  "maxTotalKiB": 50}}
    with session(work, {
            "a": tools(fat("one", 15), fat("two", 15), fat("three", 15)),
            "b": tools(fat("huge", 21), fat("mine", 10))}, config=config) as s:
        m, seen = agent(s)
        t.equal(sorted(seen), ["a__one", "a__two", "b__mine"],
                "limits of a tool, a server, and fair shares of the whole")
        rows = {k: r["why"] for k, r in noted(s).items()}
        t.ok("maxToolKiB" in rows["huge"] and "maxServerKiB" in rows["three"],
             "what exceeds one is named, with the limit", rows)
        m.close()
    config["toolDefinitions"]["maxTotalKiB"] = 25
    with session(work, {
            "a": tools(fat("one", 15), fat("two", 15)),
            "b": tools(fat("mine", 10))}, config=config) as s:
        m, seen = agent(s)
        t.ok("b__mine" in seen and len(seen) == 1, "the first server does not "
             "push out the second", sorted(seen))
        rows = {k: r["why"] for k, r in noted(s).items()}
        t.contains(rows["two"], "maxTotalKiB", "what has no room is named")
        bad, text = h.outcome(m.call("a__two", {}))
        t.ok(bad and "maxTotalKiB" in text, "and refused with the reason", text)
        m.close()


def names(work):
    long_server = "a-server-with-a-name-of-forty-letters-xx"
    own = "a.tool.with.dots"
    with session(work, {"srv": tools(tool(own), tool("x" * 128), tool("ok")),
                        long_server: tools(tool("y" * 60))}) as s:
        m, seen = agent(s)
        t.equal(len(seen), 4, "dots and long names are offered")
        t.ok(all(len(x) <= 46 and all(c.isalnum() or c in "_-" for c in x)
                 for x in seen), "under names that every provider takes",
             sorted(seen))
        rows = noted(s)
        shown = rows[own]["as"]
        t.ok(shown in seen and rows[own]["state"] == "renamed",
             "icctl status shows both", rows)
        t.equal(h.outcome(m.call(shown, {"q": 1}))[1],
                json.dumps([own, {"q": 1}]), "the server gets its own")
        t.equal(s.events("call")[-1]["toolName"], own, "and so does the log")
        other = [x for x in seen if x.startswith("a-server")][0]
        t.equal(h.outcome(m.call(other, {}))[1], json.dumps(["y" * 60, {}]),
                "also where the server's name is shortened")
        m.close()
    with session(work, {"srv": tools(tool(own))}) as s:
        m, seen = agent(s)
        t.equal(list(seen), [shown], "the next session has the same name")
        m.close()


def pinned(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as f:
        return json.load(f)["servers"]


def trusted(work):
    """A changed definition of 100 KB is shown, in pages, and trusted."""
    def list_of(text):
        return tools(tool("long", description=text * 100000))
    with session(work, {"srv": list_of("x")}) as s:
        m, seen = agent(s)
        h.wait_for(lambda: pinned(os.path.join(s.home, "pins.json")), "pins")
        m.close()
    with session(work, {"srv": list_of("y")}) as s:
        m, seen = agent(s)
        h.wait_for(lambda: json.loads(s.icctl("--json", "trust").stdout)[
            "tools"], "quarantine")
        t.equal(list(seen), [], "changed: in quarantine")
        argv = [h.program("icctl"), "--session", s.dir, "trust", "srv"]
        term = terminal.Terminal(argv, {**s.env, "TERM": "xterm"}, 24, 80)
        page = term.until(rb"bytes more: Enter shows them, q leaves it --- ")
        t.ok(1000 < len(page) < 4000, "the first page", len(page))
        term.key(b"q\n")
        term.end_status()
        t.contains(term.all.decode(), "it was not shown to the end",
                   "one that was not shown whole stays")
        term = terminal.Terminal(argv, {**s.env, "TERM": "xterm"}, 2000, 500)
        term.until(rb"Trust it\? \[y/N\] ", 30)
        term.key(b"y\n")
        t.equal(term.end_status(), 0, "one that was shown whole is trusted")
        h.wait_for(lambda: m.list_tools(), "the tool")
        servers = json.loads(s.icctl("--json", "status").stdout)["servers"]
        t.equal([x["tools"] for x in servers if x["name"] == "srv"], [1], "and counted by status")
        m.close()
    # A change of the entry alone: nothing needs to be shown again.
    s = session(work, {"srv": list_of("y")})
    path = os.path.join(s.home, "mcp-servers.json")
    with open(path, encoding="utf-8") as f:
        entries = json.load(f)
    entries["srv"]["env"] = {"MORE": "1"}
    h.put(path, json.dumps(entries), 0o600)
    with s:
        m, seen = agent(s)
        bad, text = h.outcome(m.call("srv__long", {}))
        t.ok(bad and "the entry of its server" in text and
             "icctl trust srv" in text, "the agent reads what has changed",
             text)
        r = s.icctl("trust", "srv", "--yes")
        t.ok(r.returncode == 0 and "1 of its tools is defined exactly as "
             "before" in r.stdout and "yyy" not in r.stdout,
             "one answer about the entry is enough", r.stdout[-300:])
        h.wait_for(lambda: m.list_tools(), "the tool")
        m.close()


def old_pins(work):
    """pins.json of earlier versions is read, and its pins hold."""
    with session(work, {"srv": tools(tool("a", description="x"))}) as s:
        m, _ = agent(s)
        path = os.path.join(s.home, "pins.json")
        h.wait_for(lambda: pinned(path), "pins")
        m.close()
    with open(path, encoding="utf-8") as f:
        pins = json.load(f)
    t.equal(pins["version"], 4, "version 4")
    del pins["servers"]["srv"]["a"]["definitionDigest"]
    pins["version"] = 2
    h.put(path, json.dumps(pins), 0o600)
    with session(work, {"srv": tools(tool("a", description="x"))}) as s:
        m, seen = agent(s)
        t.equal(list(seen), ["srv__a"], "a pin of version 2 holds")
        m.close()
    with session(work, {"srv": tools(tool("a", description="y"))}) as s:
        m, seen = agent(s)
        t.equal(list(seen), [], "and is compared")
        m.close()


def imported(work):
    """`icctl mcp import` names what a session would leave out."""
    s = session(work, {})
    pages = odd_tools.pages("pattern-open", "hint-yes")
    path = h.put(os.path.join(work, "list.json"), json.dumps(pages))
    # The server's whole program is in its arguments: it may read no file.
    with open(os.path.join(h.STANDINS, "mcp_list.py"), encoding="utf-8") as f:
        program = f.read().replace("path = sys.argv[1]", "path = None")
    program = program.replace(
        "def pages():", f"def pages():\n    return {pages['pages']!r}")
    theirs = h.put(os.path.join(work, "theirs.json"), json.dumps({
        "mcpServers": {
            "srv": {"command": h.PYTHON, "args": ["-c", program]},
            "key": {"command": h.PYTHON, "args": [
                "-c", "import os; os.environ['SOME_KEY']"],
                "env": {"SOME_KEY": "x"}}}}))
    os.unlink(path)
    os.unlink(os.path.join(s.home, "mcp-servers.json"))
    r = subprocess.run([h.program("icctl"), "mcp", "import", "--yes", theirs],
                       env=s.env, capture_output=True, text=True, timeout=90,
                       stdin=subprocess.DEVNULL, check=False)
    t.ok("bad0 is left out: inputSchema/properties/a/pattern" in r.stdout,
         "import names the tool and the reason", r.stdout + r.stderr)
    t.ok("KeyError: 'SOME_KEY'. It was tried without the variables" in
         r.stdout and "session.log" not in r.stdout,
         "of a server that ends it shows the last line", r.stdout)


def main():
    for part in (shapes, later, hidden, limits, names, trusted, old_pins,
                 imported):
        with h.workdir() as work, t.case(part.__name__):
            part(work)
    t.done()


if __name__ == "__main__":
    main()
