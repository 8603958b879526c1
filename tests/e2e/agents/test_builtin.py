#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The built-in agent in real sandboxes against the scripted provider: tasks in
both modes, with denied and pending calls, loops, long results, errors of the
provider and programs that are killed.  With "all", every task with every
provider in both modes; otherwise two of these, and the tasks of their own."""
import json
import os
import re
import signal
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import tmux  # noqa: E402
from builtin_tasks import (LAST, TASKS, calls, decisions, ended,  # noqa: E402
                           final, steps, texts)

t = h.Tap()
PROVIDERS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY",
             "openai-chat": "OPENAI_API_KEY", "google": "GEMINI_API_KEY",
             "openrouter": "OPENROUTER_API_KEY"}
RULES = [h.rule("plain", "allow", server=["srv"],
                tool=["echo", "fail", "big", "structured"]),
         h.rule("person", "escalate", server=["srv"], tool=["slow"])]
NODE = any(os.access(os.path.join(d, "node"), os.X_OK)
           for d in ("/usr/local/bin", "/usr/bin", "/bin"))


class Agent:
    """A session with the built-in agent; extra: further arguments of it."""

    def __init__(self, work, provider, mode, script, extra=(), config=None,
                 env=None, adapter=None):
        self.work = work
        self.mode = mode
        self.provider = provider
        self.log = os.path.join(work, "echo/log")
        self.p = h.Provider(work, "--bodies", script=script)
        # google and openrouter are not in the harness's own configuration.
        name = provider.replace("-chat", "")
        made = {"providers": {name: {"upstream": self.p.url,
                                     "ca": self.p.ca}},
                "credentials": {name: {"env": PROVIDERS[provider]}},
                **(config or {})}
        self.s = h.Session(
            work, provider=self.p, config=made, rules=RULES,
            servers={"srv": h.echo_server(self.log)},
            annotations={"srv": h.ECHO_TOOLS},
            env={"OPENROUTER_API_KEY": h.OPENAI_KEY, **(env or {})})
        self.adapter(["--provider", provider, "--tools", mode, *extra],
                     adapter or {})

    def adapter(self, more, changes):
        path = os.path.join(h.PREFIX, "share/ironcurtain/agents/builtin.json")
        with open(path, encoding="utf-8") as f:
            a = json.load(f)
        for member in ("taskArgs", "interactive", "turn", "resume",
                       "continue"):
            a[member] = a[member] + more
        self.s.write("agents/builtin.json", {**a, **changes})

    def icctl(self, *args, timeout=60):
        return subprocess.run(
            [h.program("icctl"), *args], env=self.s.env,
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=timeout * h.PATIENCE, check=False)

    def start(self):
        r = self.icctl("start", "--detach", "--agent", "builtin",
                       "--workspace", self.s.workspace)
        if not t.ok(r.returncode == 0, "a session starts", r.stderr):
            return False
        self.s.dir = os.path.join(self.s.home, "sessions",
                                  r.stdout.strip().splitlines()[-1])
        return True

    def end(self):
        self.icctl("stop")
        self.p.end()

    def run(self, task):
        r = self.icctl("start", "--agent", "builtin", "--workspace",
                       self.s.workspace, task)
        self.s.dir = max((os.path.join(self.s.home, "sessions", n) for n in
                          os.listdir(os.path.join(self.s.home, "sessions"))),
                         key=os.path.getmtime)
        return r

    def send(self, message):
        """Returns the events of a turn."""
        r = self.icctl("send", "--json", message)
        return [json.loads(x) for x in r.stdout.splitlines()]

    def bodies(self):
        return [e.get("body", "") for e in self.p.seen()]


def answer_hold(a, verdict, found):
    def answer():
        found.update(a.s.held())
        a.s.icctl(verdict, str(found["id"]))
    thread = threading.Thread(target=answer)
    thread.start()
    return thread


def check_held(a, who, verdict):
    found = {}
    thread = answer_hold(a, verdict, found)
    events = a.send("held: please")
    thread.join()
    want = {"approve": "approved", "deny": "denied"}[verdict]
    t.ok(decisions(events) == [("slow", want)] and
         "escalation" in [e["event"] for e in events] and
         ended(events) == ["completed"],
         f"{who}: a pending call, {want}", (decisions(events), texts(events)))


def check_tasks(a, who, table):
    for name, (_, check) in table.items():
        events = a.send(f"{name}: please")
        t.ok(check(a, events), f"{who}: {name}",
             (ended(events), decisions(events), texts(events)[-300:],
              texts(events, "error"), a.s.session_log()[-500:]))


def tasks(provider, mode):
    who = f"{provider}, {mode} mode"
    script = {name: steps(name, mode) for name in (*TASKS, *LAST)}
    script["held"] = calls(mode, "slow", ms=1) + final()
    with h.workdir() as work:
        a = Agent(work, provider, mode, script)
        if not a.start():
            return
        try:
            check_tasks(a, who, TASKS)
            check_held(a, who, "approve")
            check_held(a, who, "deny")
            t.ok("allowed: please" in a.bodies()[-1] and
                 "held: please" in a.bodies()[-1],
                 f"{who}: the last request has the whole conversation")
            check_tasks(a, who, LAST)
            t.ok("break-out test passed" in a.s.session_log(),
                 f"{who}: the break-out test of its sandbox")
        finally:
            a.end()


def killed(provider="anthropic"):
    """The interpreter is killed while a call of its program waits."""
    script = {"held": calls("code", "slow", ms=1) + final(),
              "more": calls("code", "echo", text="alive") + final()}
    with h.workdir() as work:
        a = Agent(work, provider, "code", script)
        if not a.start():
            return
        seen = {}

        def kill_node():
            seen.update(a.s.held())
            for pid in node_processes(a.s):
                h.kill(pid, signal.SIGKILL)
                seen["killed"] = pid
            a.s.icctl("deny", str(seen["id"]))
        thread = threading.Thread(target=kill_node)
        thread.start()
        events = a.send("held: please")
        thread.join()
        t.ok("killed" in seen and ended(events) == ["completed"] and
             "Execution error" in texts(events),
             "a killed interpreter is an error that the model sees",
             (seen, texts(events), ended(events)))
        events = a.send("more: please")
        t.ok("alive" in texts(events), "and the next program runs", events)
        a.end()


def node_processes(s):
    """Returns the processes named node below the session's supervisor."""
    status = json.loads(s.icctl("--json", "status").stdout)
    found = []
    supervisor = parent(status["workers"][0]["pid"])
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        if name_of(pid) in ("node", "MainThread") and \
                descends(pid, supervisor):
            found.append(pid)
    return found


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="ascii") as f:
            return f.read().strip()
    except OSError:
        return ""


def parent(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return int(f.read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def descends(pid, from_pid):
    while pid > 1 and pid != from_pid:
        pid = parent(pid)
    return pid == from_pid


def budget(provider="anthropic"):
    """The session's budget ends the work, in plain words."""
    script = {"work": calls("direct", "echo", 3, text="x") + final()}
    with h.workdir() as work:
        a = Agent(work, provider, "direct", script, config={
            "resourceBudget": {**h.NO_BUDGET, "maxTotalTokens": 200}})
        if not a.start():
            return
        events = a.send("work: please")
        said = texts(events, "error")
        t.ok("budget is used up" in said and "icctl budget" in said,
             "a spent budget is told in plain words", (said, ended(events)))
        t.ok(len(a.p.seen()) <= 3, "and is not asked for again and again",
             len(a.p.seen()))
        a.end()


def circles():
    """An agent that does not listen is stopped."""
    script = {"round": calls("direct", "echo", 20, text="x") + final(),
              "stuck": [s for i in range(20) for s in
                        calls("direct", "lookup", path=f"/etc/{i}")] + final()}
    with h.workdir() as work:
        a = Agent(work, "anthropic", "direct", script)
        if not a.start():
            return
        events = a.send("round: please")
        t.ok(len(decisions(events)) == 5 and
             "circles" in texts(events, "error") and
             ended(events) == ["failed"],
             "a repeated call is blocked, and then the turn ends",
             (decisions(events), texts(events, "error")))
        events = a.send("stuck: please")
        t.ok(8 <= len(decisions(events)) <= 14 and
             "circles" in texts(events, "error"),
             "many failures in a row, too", (len(decisions(events)),
                                             texts(events, "error")))
        t.ok("Think again" in a.bodies()[-1], "after a warning")
        a.end()


def compaction():
    """A long conversation becomes a summary and the latest messages."""
    script = {f"w{i}": [{"text": f"Answer {i}."}] for i in range(9)}
    with h.workdir() as work:
        a = Agent(work, "anthropic", "direct", script, ["--compact", "50"])
        if not a.start():
            return
        for i in range(8):
            a.send(f"w{i}: please")
        last = json.loads(a.bodies()[-1])["messages"]
        t.ok(len(last) <= 12 and "Summary of the conversation" in
             json.dumps(last[0]) and "w7: please" in json.dumps(last[-1]),
             "a long conversation is shortened", last)
        t.ok(any("takes the place of everything" in b for b in a.bodies()),
             "by a request for a summary")
        a.end()


def too_long():
    """A provider that finds it too long gets a shorter one."""
    script = {**{f"w{i}": [{"text": f"Answer {i}."}] for i in range(7)},
              "long": [{"status": 400, "times": 1, "text": "It fits now.",
                        "error": "prompt is too long: 9 tokens > 8"}]}
    with h.workdir() as work:
        a = Agent(work, "anthropic", "direct", script)
        if not a.start():
            return
        for i in range(7):
            a.send(f"w{i}: please")
        events = a.send("long: please")
        t.ok("It fits now." in texts(events),
             "a conversation that is too long is shortened and sent again",
             (texts(events), texts(events, "error"), len(a.bodies())))
        a.end()


def resumed(provider="google"):
    """A session that has ended goes on with its conversation."""
    script = {"one": [{"text": "Noted."}], "two": [{"text": "Still here."}]}
    with h.workdir() as work:
        a = Agent(work, provider, "direct", script)
        if not a.start():
            return
        a.send("one: remember the word xylophone")
        session = os.path.basename(a.s.dir)
        a.icctl("stop")
        h.wait_for(lambda: a.icctl("resume", "--detach", session).returncode
                   == 0, "icctl resume")
        events = a.send("two: which word?")
        t.ok("Still here." in texts(events) and
             "xylophone" in a.bodies()[-1],
             "a resumed session remembers the conversation",
             (texts(events), a.s.session_log()[-800:]))
        a.end()


def interrupted(provider="openai"):
    """An interrupted turn keeps the conversation."""
    script = {"held": calls("direct", "slow", ms=1) + final(),
              "next": [{"text": "Going on."}]}
    with h.workdir() as work:
        a = Agent(work, provider, "direct", script)
        if not a.start():
            return

        def interrupt():
            a.s.held()
            a.icctl("interrupt")
        thread = threading.Thread(target=interrupt)
        thread.start()
        events = a.send("held: please")
        thread.join()
        t.ok(ended(events) in (["interrupted"], ["cancelled"]),
             "a turn is interrupted while a call waits", ended(events))
        events = a.send("next: please")
        body = a.bodies()[-1]
        t.ok("Going on." in texts(events) and "held: please" in body and
             "interrupted" in body,
             "and the conversation goes on, with a result for the call",
             (texts(events), body[-600:]))
        a.end()


def for_people():
    """Lines for a person, without a terminal."""
    bell = "\x1b]0;owned\x07\x1b[2J"
    script = {"show": calls("direct", "echo", text=bell) +
              calls("direct", "lookup", path="/etc/passwd") +
              final("I see " + bell)}
    with h.workdir() as work:
        a = Agent(work, "anthropic", "direct", script)
        r = a.run("show: please")
        t.ok(r.returncode == 0 and "srv.echo" in r.stdout and
             ": allowed" in r.stdout and "srv.lookup" in r.stdout and
             ": denied: " in r.stdout and "I see" in r.stdout,
             "a task prints its calls and their outcomes", r)
        t.ok("\x1b" not in r.stdout and "\x07" not in r.stdout,
             "and no escape sequence of anyone", r.stdout)
        a.p.end()


def without_node():
    """Each tool is offered by its name if there is no node."""
    script = {"go": calls("direct", "echo", text="plain") + final()}
    with h.workdir() as work:
        a = Agent(work, "anthropic", "code", script,
                  adapter={"env": {"PATH": "/nowhere"}})
        r = a.run("go: please")
        t.ok("Direct mode" in r.stdout and "plain" in r.stdout and
             "srv.echo" in r.stdout, "without node: direct mode, said at "
             "start", (r.stdout, r.stderr))
        a.p.end()


def default_agent():
    """Without claude, a session without a name has the built-in agent."""
    with h.workdir() as work:
        a = Agent(work, "anthropic", "direct", [{"text": "At work."}])
        r = a.icctl("start", "--workspace", a.s.workspace, "do something")
        t.ok(r.returncode == 0 and "At work." in r.stdout and
             "built-in agent" in r.stderr,
             "the default where no agent is installed", r)
        a.p.end()


def programs():
    """A program of the model: its results, and the names that it has."""
    code = ("const n: number = 2; console.log('log', help.help('srv')"
            ".includes('echo')); return {list: [n, typeof process as string]}")
    plain = ("console.log('log', help.help('srv').includes('echo')); "
             "return {list: [2, typeof process, typeof require, typeof fetch, "
             "typeof setTimeout]}")
    script = {"plain": [{"tool": "execute_code", "args": {"code": plain}}] +
              final(),
              "typed": [{"tool": "execute_code", "args": {"code": code}}] +
              final(),
              "wrong": [{"tool": "execute_code", "args": {"source": "1"}}] +
              final()}
    with h.workdir() as work:
        a = Agent(work, "openai-chat", "code", script)
        if not a.start():
            return
        said = texts(a.send("plain: please"))
        t.ok("[logs]\nlog true" in said and '"undefined"' in said and
             '"function"' not in said, "logs, value and nothing else", said)
        said = texts(a.send("typed: please"))
        t.ok("log true" in said and '"list":[2,"undefined"]' in said.replace(" ", ""),
             "types are taken out", said)
        t.ok('"code" must be a string' in texts(a.send("wrong: please")),
             "arguments without a program are refused")
        a.end()


def troubles():
    """Failures of the provider have the kinds that icctl send tells."""
    script = {"quota": [{"status": 429, "times": 9,
                         "type": "insufficient_quota",
                         "error": "You exceeded your current quota"}],
              "key": [{"status": 401, "times": 9, "error": "bad x-api-key",
                       "type": "authentication_error"}],
              "busy": [{"status": 503, "times": 1, "text": "Back again."}]}
    with h.workdir() as work:
        a = Agent(work, "anthropic", "direct", script)
        if not a.start():
            return
        events = a.send("busy: please")
        t.ok("Back again." in texts(events), "a busy provider is asked again",
             events)
        for word, kind in (("quota", "quota"), ("key", "authentication")):
            before = len(a.p.seen())
            events = a.send(f"{word}: please")
            t.ok(kind in [e.get("kind") for e in events
                          if e["event"] == "error"] and
                 len(a.p.seen()) == before + 1,
                 f"{kind}: told by its kind, and asked once",
                 ([e for e in events if e["event"] == "error"],
                  len(a.p.seen()) - before))
        a.end()


def pss(session):
    """Returns the proportional memory of the session's ic-agent, in KiB."""
    top = parent(session.workers()["policyd"][0])
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        if name_of(pid) == "ic-agent" and descends(pid, top):
            with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
                return int(re.search(r"^Pss: +(\d+)", f.read(), re.M)[1])
    return None


def terminal():
    """A person at a terminal: keys, calls, an interrupted turn, the end."""
    script = {"one": calls("direct", "lookup", path="/etc/passwd") +
              final("Said: $RESULT"),
              "hold": calls("direct", "slow", ms=1) + final(),
              "two": [{"text": "Still here."}]}
    with h.workdir() as work:
        a = Agent(work, "anthropic", "direct", script)
        tm = tmux.Tmux(work, a.s.env)
        try:
            tm.run(f"{h.program('icctl')} start --agent builtin --workspace "
                   f"{a.s.workspace}")
            tm.until("8 tools, direct mode")
            tm.until(">")
            # The last words come first, by the keys of a line editor.
            tm.text(": please")
            tm.keys("C-a")
            tm.text("onex")
            tm.keys("BSpace", "Enter")
            tm.until("srv.lookup")
            screen = "\n".join(tm.until("Said: "))
            t.ok("> one: please" in screen and "denied: " in screen,
                 "a terminal shows messages, calls and their outcomes", screen)
            [a.s.dir] = [os.path.join(a.s.home, "sessions", n) for n in
                         os.listdir(os.path.join(a.s.home, "sessions"))]
            used = pss(a.s)
            t.ok(h.sanitized() or (used is not None and used < 10240),
                 f"in 10 MB of memory ({used} KiB)", used)
            tm.text("hold: please")
            tm.keys("Enter")
            tm.until("waiting for approval")
            tm.keys("C-c")
            screen = "\n".join(tm.until("Interrupted. The conversation goes"))
            t.ok("srv.slow" in screen and "interrupted" in screen and
                 "waiting" not in screen, "Ctrl-C interrupts a turn", screen)
            tm.keys("Up", "Up", "C-u")
            tm.text("two: please")
            tm.keys("Enter")
            tm.until("Still here.")
            t.ok("one: please" in a.bodies()[-1] and
                 "hold: please" in a.bodies()[-1],
                 "and the conversation goes on")
            tm.keys("C-d")
            tm.until(tmux.PROMPT)
            tm.run("echo status $?")
            tm.until("status 0")
            t.ok(True, "Ctrl-D ends it")
        finally:
            tm.tmux("kill-server")
            a.p.end()


OWN = [budget, circles, compaction, too_long, resumed, interrupted,
       for_people, without_node, default_agent, troubles]


def main():
    everything = sys.argv[1:] == ["all"]
    chosen = [(p, m) for p in PROVIDERS for m in ("code", "direct")] \
        if everything else [("anthropic", "code"), ("google", "direct")]
    for provider, mode in chosen:
        if mode == "code" and not NODE:
            t.skip(f"{provider}, code mode", "there is no node")
            continue
        with t.case(f"{provider}, {mode} mode"):
            tasks(provider, mode)
    parts = OWN + ([killed, programs] if NODE else []) + \
        ([terminal] if tmux.PROGRAM else [])
    for part in parts:
        with t.case(part.__name__):
            part()
    others = [budget, resumed, interrupted] + ([killed] if NODE else [])
    for provider in PROVIDERS if everything else ():
        for part in others:
            with t.case(f"{part.__name__}, {provider}"):
                part(provider)
    t.done()


if __name__ == "__main__":
    main()
