#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Programs of code mode against a real session: what its policy allows, denies
and holds, and what its servers answer.  The first argument is code_stdio."""
import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
RULES = [
    h.rule("ask", "escalate", "A person decides.", server=["echo"],
           tool=["put"]),
    h.rule("use", "allow", server=["echo"],
           tool=["echo", "fail", "big", "structured", "lookup"]),
]
TOOLS = {"echo": {**h.ECHO_TOOLS, "put": {"text": ["none"]}}}


class Bench:
    """A session, an agent's connection to it, and code mode between them."""

    def __init__(self, work):
        servers = {"echo": h.echo_server(
            os.path.join(work, "log", "log.jsonl"), "--alias", "put=echo")}
        self.s = h.Session(work, servers, RULES, TOOLS)
        self.calls = []

    def __enter__(self):
        self.s.start()
        self.m = self.s.mcp()
        self.m.initialize()
        self.tools = []
        for tool in self.m.list_tools():
            server, _, name = tool["name"].partition("__")
            self.tools.append({
                "server": server, "name": name,
                "description": tool.get("description", ""),
                "schema": tool["inputSchema"]})
        self.p = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self.p.stdin.close()
        self.status = self.p.wait(30)
        self.m.close()
        self.s.stop()

    def tell(self, message):
        self.p.stdin.write(json.dumps(message) + "\n")
        self.p.stdin.flush()

    def run(self, code, answer=None):
        """Runs a program; answer: approve or deny, for each call that is
        held. Returns its result and whether it is an error."""
        self.calls = []
        self.tell({"tools": self.tools, "code": code})
        for line in self.p.stdout:
            said = json.loads(line)
            if "result" in said:
                return said["result"], said["error"]
            self.calls.append(said["tool"])
            call = self.m.start_call(f"{said['server']}__{said['tool']}",
                                     said["args"])
            if answer:
                h.wait_for(lambda: call.done.is_set() or self.s.pending(),
                           "an answer")
                for held in self.s.pending():
                    self.s.icctl(answer, held["id"], check=True)
            error, text = h.outcome(call.wait())
            self.tell({"text": text, "error": error})
        return None, True


def ways(b):
    text, error = b.run("return echo.echo({text: 'hello'})")
    t.equal((json.loads(text), error), ("hello", False), "an allowed call")
    text, error = b.run(
        "let n = 0;"
        "for (const word of ['a', 'bb', 'ccc']) n += echo.echo({text: word}).length;"
        "console.log('sum', n); return {n}")
    t.equal((text, error), ('[logs]\nsum 6\n\n{"n":6}', False),
            "three calls in one program")
    t.equal(b.calls, ["echo"] * 3, "each reaches the session")
    text, error = b.run("return echo.slow({ms: 1})")
    t.ok(error and "Execution error: echo.slow: " in text and
         "DENIED" in text, "a denied call ends a program", text)
    text, error = b.run(
        "try { echo.slow({ms: 1}) } catch (e) { console.log(e.name) }"
        "return echo.echo({text: 'on'})")
    t.equal((text, error), ('[logs]\nToolError\n\n"on"', False),
            "or is caught, and the program goes on")
    text, error = b.run("return echo.fail({text: 'why'})")
    t.ok(error and "why" in text, "an error of a server is thrown", text)
    text, error = b.run("return echo.echo({txt: 'x'})")
    t.ok(error and '"txt"' in text, "an unknown argument is refused", text)
    text, error = b.run("return echo.big({bytes: 300000}).length")
    t.equal((text, error), ("300000", False), "a long text stays in the program")
    text, error = b.run("return echo.big({bytes: 300000})")
    t.ok(not error and "truncated 200002 bytes" in text and
         len(text) < 100200, "and is cut when it leaves it", text[-200:])


def people(b):
    text, error = b.run("return echo.put({text: 'kept'})", "approve")
    t.equal((json.loads(text), error), ("kept", False), "an approved call")
    text, error = b.run("return echo.put({text: 'kept'})", "deny")
    t.ok(error and "DENIED" in text, "a call that a person denied", text)
    text, error = b.run(
        "const got = [];"
        "for (const word of ['a', 'b'])"
        "  try { got.push(echo.put({text: word})) } catch { got.push('-') }"
        "got.push(echo.echo({text: 'c'})); return got.join('')", "approve")
    t.equal((text, error), ('"abc"', False), "held calls one after another")


def help_and_ends(b):
    text, _ = b.run("return help.help('echo')")
    t.contains(text, "echo.echo({text: string})  Gives back its text.",
               "help knows the session's tools")
    text, error = b.run("echo.echo({text: 'a'}); return process.pid")
    t.ok(error and "ReferenceError: process is not defined" in text,
         "there is no process", text)
    t.equal(b.calls, ["echo"], "the call before was made")
    text, error = b.run("for (const a = []; ;) a.push(Array(1e4).fill(a))")
    t.ok(error and "memory" in text, "too much memory ends a program", text)
    text, error = b.run("return echo.echo({text: 'still'})")
    t.equal((json.loads(text), error), ("still", False),
            "and the next one has the same tools")


def in_the_sandbox(work):
    """The same program in the agent's place: its own confinement has to fit
    into the sandbox's."""
    s = h.Session(work, {}, [h.rule("no", "deny")], {}, runtime="bwrap",
                  options=["--", "/bin/sh", "-c",
                           "/workspace/code_stdio <in >out; echo $? >status"])
    shutil.copy(sys.argv[1], os.path.join(s.workspace, "code_stdio"))
    with open(os.path.join(s.workspace, "in"), "w", encoding="utf-8") as f:
        for code in ("return 6 * 7", "for (const a = []; ;) a.push(Array(1e4))"):
            f.write(json.dumps({"tools": [], "code": code}) + "\n")
    with s:
        s.wait(60)
    with open(os.path.join(s.workspace, "status"), encoding="utf-8") as f:
        status = f.read().strip()
    if status == "77":
        t.skip("a program in the sandbox", "there is no node")
        return
    first, second = h.read_lines(os.path.join(s.workspace, "out"))
    t.equal((status, first), ("0", {"result": "42", "error": False}),
            "a program in the sandbox")
    t.contains(second["result"], "memory", "and its limits")


def main():
    found = subprocess.run([sys.argv[1]], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, check=False)
    if found.returncode == 77:
        t.skip("code mode", found.stderr.strip())
        t.done()
    with h.workdir() as work:
        bench = Bench(work)
        with bench as b:
            for group in (ways, people, help_and_ends):
                with t.case(group.__name__):
                    group(b)
        t.equal(bench.status, 0, "code mode ends with its agent")
    with h.workdir() as work, t.case("in the sandbox"):
        in_the_sandbox(work)
    t.done()


main()
