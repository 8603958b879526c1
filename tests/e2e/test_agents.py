#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The real Claude Code, Codex CLI, OpenCode and Gemini CLI and the real
reference filesystem server from npm, pinned in agents.json and installed by ./dev: asked to read a
file outside the workspace, held, approved; and the real key searched for in
everything that the box has."""
import json
import os
import re
import secrets
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
import harness as h  # noqa: E402
import joins  # noqa: E402
from test_end import children  # noqa: E402

t = h.Tap()
MODULES = os.path.join(os.environ.get("IC_AGENTS", ""), "node_modules")
AGENTS = {
    "claude-code": ("@anthropic-ai/claude-code-linux-x64/claude",
                    h.ANTHROPIC_KEY),
    "codex": ("codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
              h.OPENAI_KEY),
    "opencode": ("opencode-linux-x64/bin/opencode", h.ANTHROPIC_KEY),
    "gemini-cli": (".bin/gemini", h.GOOGLE_KEY),
}
# What its provider is, where it is not one of the two that sessions have.
MORE = {"opencode": ["anthropic"], "gemini-cli": ["google"]}
FILES = {"read_text_file": {"path": ["read-path"], "head": ["none"],
                            "tail": ["none"]},
         "list_directory": {"path": ["read-path"]}}


ENV = {"anthropic": "ANTHROPIC_API_KEY", "google": "GEMINI_API_KEY"}


def memory_has(pid, needle):
    """Does the process hold it: memory, environment, command line?"""
    found = []
    for name in ("environ", "cmdline"):
        with open(f"/proc/{pid}/{name}", "rb") as f:
            if needle in f.read():
                found.append(name)
    for low, high, name in resident(pid):
        if any_has(pid, low, high, needle):
            found.append(name)
    return found


def resident(pid):
    """The runs of readable pages that are in memory, of each mapping."""
    page = os.sysconf("SC_PAGE_SIZE")
    with open(f"/proc/{pid}/maps", encoding="ascii", errors="replace") as f:
        maps = f.read().splitlines()
    with open(f"/proc/{pid}/pagemap", "rb", 0) as pages:
        for line in maps:
            low, high, mode = re.match(r"(\w+)-(\w+) (\S+)", line).groups()
            low, high = int(low, 16), int(high, 16)
            if mode[0] != "r" or "[v" in line:
                continue
            at = low
            while at < high:
                count = min((high - at) // page, 1 << 17)
                pages.seek(at // page * 8)
                there = pages.read(count * 8)
                for m in re.finditer(rb"\xff+", bytes(
                        0xff if b & 0xc0 else 0 for b in there[7::8])):
                    yield (at + m.start() * page, at + m.end() * page,
                           line.split()[-1])
                at += count * page


def any_has(pid, low, high, needle):
    with open(f"/proc/{pid}/mem", "rb", 0) as mem:
        rest = b""
        while low < high:
            try:
                mem.seek(low)
                part = mem.read(min(high - low, 1 << 24))
            except (OSError, ValueError, OverflowError):
                return False
            if not part:
                return False
            if needle in rest + part:
                return True
            rest = part[-len(needle):]
            low += len(part)
    return False


def files_have(top, needle):
    found = []
    for where, _, names in os.walk(top):
        for name in names:
            path = os.path.join(where, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            with open(path, "rb") as f:
                if needle in f.read():
                    found.append(path)
    return found


def box_processes(pid):
    """What runs in the box, as far as this user may look into it."""
    found = []
    for p in children(pid):
        try:
            with open(f"/proc/{p}/mem", "rb"):
                found.append(p)
        except OSError:
            pass
    return found


def search(s, agent, pid, key, sentinel):
    needle = key.encode()
    boxed = box_processes(pid)
    t.ok(len(boxed) >= 2, f"{agent}: {len(boxed)} processes of boxes")
    holds, shows = [], 0
    for p in boxed:
        try:
            holds += [f"{p}: {x}" for x in memory_has(p, needle)]
            shows += len(memory_has(p, sentinel.encode()))
        except (OSError, AttributeError):
            continue
    t.equal(holds, [], f"{agent}: the real key is in no memory of the box")
    t.ok(shows > 0, f"{agent}: (the search finds the sentinel there)")
    t.equal(files_have(s.dir, needle) + files_have(s.workspace, needle), [],
            f"{agent}: nor in any file of the session")


def config(agent, path, provider, http2):
    made = {"agent": {agent: {"path": path}}}
    if not http2:
        made["providers"] = {"openai": {
            "upstream": provider.url, "ca": provider.ca, "http2": False}}
    if agent in MORE:
        made["providers"] = {n: {"upstream": provider.url, "ca": provider.ca}
                             for n in MORE[agent]}
        made["credentials"] = {n: {"env": ENV[n]} for n in MORE[agent]}
    return made


def by_websocket(s):
    """The shipped adapter, but for what makes Codex try a WebSocket."""
    share = os.path.join(os.path.dirname(h.program("icctl")), "..", "share",
                         "ironcurtain", "agents", "codex.json")
    with open(share, encoding="utf-8") as f:
        text = f.read()
    made = os.path.join(s.home, "agents", "codex.json")
    os.makedirs(os.path.dirname(made), exist_ok=True)
    with open(made, "w", encoding="utf-8") as f:
        f.write(text.replace("supports_websockets = false",
                             "supports_websockets = true"))


def run(agent, websocket=False, http2=True):
    path, key = AGENTS[agent]
    paper = "paper-" + secrets.token_hex(12)
    with h.workdir() as work:
        papers = os.path.join(work, "papers")
        os.makedirs(papers)
        name = os.path.join(papers, "a.txt")
        with open(name, "w", encoding="utf-8") as f:
            f.write(paper)
        p = h.Provider(work, *(["--websocket"] if websocket else []), script=[
            {"tool": "documents__read_text_file$", "args": {"path": name}},
            {"text": "FINAL: $RESULT"}])
        s = h.Session(work, {"documents": {
            "command": "node", "args": [os.path.join(
                MODULES, "@modelcontextprotocol/server-filesystem/dist/"
                "index.js"), papers], "workspace": False,
            "sandbox": {"filesystem": {"allowRead": [papers]}}}},
            [h.rule("papers", "escalate", "Papers are private.",
                    server=["documents"], roles=["read-path"])],
            {"documents": FILES}, provider=p,
            config=config(agent, os.path.join(MODULES, path), p, http2),
            env={"PATH": os.environ.get("PATH", "/usr/bin:/bin")})
        if websocket:
            by_websocket(s)
        process = subprocess.Popen(
            [h.program("icctl"), "start", "--agent", agent, "--workspace",
             s.workspace, "Read the paper."], env=s.env,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        try:
            link = os.path.join(s.home, "run")
            h.wait_for(lambda: process.poll() is not None or (
                os.path.isdir(link) and os.listdir(link)), "no session", 60)
            if process.poll() is None:
                s.dir = os.path.realpath(os.path.join(
                    link, os.listdir(link)[0]))
                h.wait_for(lambda: process.poll() is not None or s.pending(),
                           "nothing was held", 90)
            if process.poll() is None:
                hold = s.pending()[0]
                t.equal((hold["server"], hold["tool"]),
                        ("documents", "read_text_file"), f"{agent}: held")
                sentinel = [v for v in s.agent_env().values()
                            if "ironcurtain-" in v and
                            v.startswith(("sk-", "AIza"))][0]
                search(s, agent, process.pid, key, sentinel)
                t.equal(s.icctl("approve", hold["id"]).returncode, 0,
                        f"{agent}: approved")
            out, err = process.communicate(timeout=90)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(10)
        t.ok(process.returncode == 0, f"{agent}: ends with 0",
             f"{process.returncode}\n{out[-1500:]}\n{err[-1500:]}\n"
             + s.session_log()[-1500:])
        t.ok(paper in out, f"{agent}: its answer holds the paper", out[-800:])
        seen = p.seen()
        t.ok(len(seen) >= (1 if websocket else 2) and all(r["keyOk"] for r in seen),
             f"{agent}: the provider saw the real key",
             [(r["target"], r["keyOk"]) for r in seen])
        t.ok(not websocket or {r["status"] for r in seen} == {101},
             f"{agent}: by WebSocket alone, where that was asked for",
             [(r["target"], r["status"]) for r in seen])
        # What ALPN agreed on, as mitmd has it: Codex alone offers h2, and
        # not for a WebSocket.
        h2 = "HTTP/2 with api.openai.com" in s.session_log()
        t.equal(h2, agent == "codex" and http2 and not websocket,
                f"{agent}: HTTP/{2 if h2 else 1.1}")
        t.ok(key not in out + err, f"{agent}: which is not in its output")
        audit = s.audit()
        t.equal([c.get("escalationResult") for c in audit
                 if c["event"] == "call"], ["approved"],
                f"{agent}: the log says approved")
        t.equal(joins.check_requests(audit, seen), [],
                f"{agent}: what the provider saw is in the log")
        t.ok(key not in json.dumps(audit) + s.session_log(),
             f"{agent}: no log holds the key")
        p.end()


def main():
    for agent, (path, _) in AGENTS.items():
        if not os.path.exists(os.path.join(MODULES, path)):
            t.skip(agent, f"{path} is not installed (./dev test agents)")
            continue
        with t.case(agent):
            run(agent)
        if agent == "codex":
            with t.case("codex, WebSocket"):
                run(agent, websocket=True)
            with t.case("codex, HTTP/1.1"):
                run(agent, http2=False)
    t.done()


if __name__ == "__main__":
    main()
