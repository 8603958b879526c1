#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The official clients of MCP, version 1 and 2 of the SDK and the inspector,
against a server of each revision, through a session: a tool is called, and a
question of the server reaches the person. The real agents are in
agents/test_agents_eras.py."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from test_mcp_conformance import AT, NODE  # noqa: E402

t = h.Tap()
MODULES = os.path.join(AT, "node_modules")
INSPECTOR = os.path.join(MODULES, "@modelcontextprotocol", "inspector",
                         "clients", "launcher", "build", "index.js")
ERAS = ("legacy", "dual", "modern")
MODES = ("v1", "legacy", "auto", "2026-07-28")
SEAT = {"action": "accept", "content": {"seat": "aisle"}}


def server(era):
    return {"command": h.PYTHON, "args": [
        os.path.join(h.STANDINS, "mcp_eras.py"), "--era", era],
        "sandbox": {"filesystem": {"allowRead": [h.STANDINS]}}}


def answer(s, process, times):
    """Have the person answer that many questions of the process."""
    done = []

    def asked():
        return process.poll() is not None or [
            x["id"] for x in s.pending() if x["id"] not in done]
    for _ in range(times):
        new = h.wait_for(asked, "a question", 60)
        if new is True:
            return
        s.icctl("answer", new[0], "--set", "seat=aisle", check=True)
        done.append(new[0])


def started(*words):
    return subprocess.Popen(
        [NODE, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)


def sdk(s, mode):
    p = started(os.path.join(h.STANDINS, "sdk_eras.mjs"), MODULES, mode,
                h.program("ic-bridge"), s.ready["sockets"]["mcp"], *ERAS)
    answer(s, p, len(ERAS))
    out, err = p.communicate(timeout=60 * h.PATIENCE)
    r = json.loads(out or "{}")
    t.ok({f"{x}__echo" for x in ERAS} <= set(r.get("tools", [])),
         f"SDK {mode}: lists the tools of all", (r, err[-500:]))
    if mode not in ("v1", "legacy"):
        t.equal(r.get("revision"), "2026-07-28", f"SDK {mode}: its revision")
    for era in ERAS:
        said = r.get("said", {})
        t.equal(said.get(f"{era}__echo"), f"I-am-{era}",
                f"SDK {mode}, {era} server: a call")
        t.equal(json.loads(said.get(f"{era}__ask", "{}")).get("seat"), SEAT,
                f"SDK {mode}, {era} server: a question to the person")


def inspector(s, work):
    def run(*words):
        r = subprocess.run(
            [NODE, INSPECTOR, "--cli", h.program("ic-bridge"), "stdio",
             s.ready["sockets"]["mcp"], *words], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60 * h.PATIENCE,
            check=False, env={**os.environ, "HOME": work})
        return r.stdout + r.stderr[-500:]
    said = run("--method", "tools/list")
    for era in ERAS:
        t.contains(said, f'"{era}__echo"', f"inspector, {era} server: tools")
        t.contains(run("--method", "tools/call", "--tool-name",
                       f"{era}__echo", "--tool-arg", f"text=I-am-{era}"),
                   f"I-am-{era}", f"inspector, {era} server: a call")
    said = run("--method", "resources/list")
    for era in ERAS:
        t.contains(said, f"icmcp://{era}/era://one",
                   f"inspector, {era} server: resources")
        t.contains(run("--method", "resources/read", "--uri",
                       f"icmcp://{era}/era://one"), '"text": "1"',
                   f"inspector, {era} server: reads one")


def main():
    if not NODE or not os.path.exists(INSPECTOR):
        t.skip("the official clients", "./dev test conformance installs them")
        t.done()
        return
    rules = [h.rule("all", "allow"), h.rule("read", "allow", server=ERAS,
                                            resources=["*"])]
    with h.workdir() as work:
        with h.Session(work, {era: server(era) for era in ERAS}, rules=rules,
                       config={"policy": {"trustedServers": ERAS}}) as s:
            s.client().close()
            for mode in MODES:
                with t.case(mode):
                    sdk(s, mode)
            with t.case("inspector"):
                inspector(s, work)
    t.done()


if __name__ == "__main__":
    main()
