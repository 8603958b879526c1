#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The first words that come to a person's mind, most of them from other programs:
each has the right exit status and names what to write. With --json, each command
prints JSON, also if it fails."""
import concurrent.futures
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from terminal import Terminal  # noqa: E402

t = h.Tap()
ROWS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                    "..", "supervisor", "icctl", "command_rows.h")
OLD, OWN = "20261122-090000-aa99", "20261123-090000-bb99"

# A command line, its exit status, and what stands in its output.
WORDS = [
    ("", 64, "icctl start claude"),
    ("--help", 0, "Work with it"),
    ("-h", 0, "icctl setup"),
    ("help", 0, "start (run)"),
    ("help all", 0, "pull [SESSION] [--workflow ID]"),
    ("help start", 0, "usage: icctl start"),
    ("help run", 0, "usage: icctl start"),
    ("help list", 0, "usage: icctl"),
    ("help strat", 64, "did you mean start?"),
    ("start --help", 0, "--workspace"),
    ("--help start", 0, "--workspace"),
    ("-v", 0, "icctl 0"),
    ("-V", 0, "icctl 0"),
    ("--version", 0, "icctl 0"),
    ("version", 0, "icctl 0"),
    ("ps", 0, OLD),
    ("list", 0, OLD),
    ("ls", 0, "PROJECT"),
    ("ls --all", 0, OWN),
    ("ls -a", 64, "Instead: --all"),
    ("rm " + OLD, 64, "icctl gc"),
    ("kill", 3, "no session is running"),
    ("stpo", 64, "did you mean stop?"),
    ("claude", 64, "icctl start claude"),
    ("init", 64, "icctl setup"),
    ("tui", 64, "icctl watch"),
    ("dashboard", 64, "icctl web"),
    ("shell", 64, "icctl start -- bash"),
    ("exec ls", 64, "icctl start -- COMMAND"),
    ("chat", 64, "icctl start"),
    ("continue", 64, "icctl resume"),
    ("logout", 64, "icctl keys forget"),
    ("update", 64, "package manager"),
    ("--continue", 64, "icctl resume SESSION"),
    ("-c", 64, "icctl resume SESSION"),
    ("start --continue", 64, "newest session of this directory: icctl resume "
     + OLD),
    ("start -c", 64, "icctl resume " + OLD),
    ("start --resume", 64, "icctl resume " + OLD),
    ("start --resume=abc", 64, "icctl resume"),
    ("start claude -r", 64, "icctl resume " + OLD),
    ("start --yolo", 64, "in the sandbox already"),
    ("start --dangerously-skip-permissions", 64, "the policy decides"),
    ("start aider", 64, "icctl start --task aider"),
    ("start vim", 64, "icctl start -- vim"),
    ("start cursor-agent", 64, "no agent has this name"),
    ("start --quiet fix", 64, "icctl start --task fix"),
    ("start --detach fix", 64, "icctl start --task fix"),
    ("start cluade", 64, "did you mean claude?"),
    ("start claude fix it", 64, "put it in quotes"),
    ("start --workspace", 64, "needs a value"),
    ("start --workspace /nowhere builtin x", 78, "mkdir -p /nowhere"),
    ("login claude", 0, "ANTHROPIC_API_KEY"),
    ("login anthropic", 0, "ANTHROPIC_API_KEY"),
    ("login gemini", 0, "GEMINI_API_KEY"),
    ("login codex", 0, "codex login"),
    ("login opencode", 0, "any of these providers"),
    ("login antropic", 1, "did you mean anthropic?"),
    ("config set model opus", 1, "agent.claude-code.model"),
    ("config set apiKey x", 1, "icctl login"),
    ("config set agent claude", 1, "icctl start AGENT"),
    ("config set policy coding", 1, "--policy NAME"),
    ("config set", 64, "usage: icctl config"),
    ("config get model", 1, "not set"),
    ("config get limits.tmpMb", 1, "ironcurtain-config has its default"),
    ("config get limits.tmpMB", 1, "unknown key (did you mean tmpMb?)"),
    ("config get agentt", 1, "unknown key (did you mean agent?)"),
    ("resume", 64, "of this directory: icctl resume " + OLD),
    ("resume nothing", 3, "icctl ls"),
    ("logs", 0, "this is the last one, " + OLD),
    ("logs " + OLD, 0, "2026-11-22"),
    ("logs -f", 0, "2026-11-22"),
    ("logs -f --json", 0, '{"text":"2026-11-22'),
    ("logs .", 3, "is not a session directory"),
    ("audit show --decision denied", 0, "no record has that"),
    ("history", 3, "it is no conversation"),
    ("status", 3, "this is the last one, " + OLD),
    ("budget", 0, "this is the last one, " + OLD),
    ("diff", 1, "has no clone"),
    ("pull", 1, "has no clone"),
    ("audit verify", 1, OLD),
    ("stop", 3, "The last one, " + OLD),
    ("pending", 3, "icctl resume " + OLD),
    ("approve", 64, "usage: icctl approve"),
    ("approve k3f9", 3, "no session is running"),
    ("deny k3f9 because no", 64, '--because "TEXT"'),
    ("send hello", 3, "no session is running"),
    ("attach", 3, "no session is running"),
    ("policy", 64, "usage: icctl policy"),
    ("policy list", 64, "icctl start --policy NAME"),
    ("policy lint", 64, "no such policy command"),
    ("mcp list", 0, "icctl mcp add"),
    ("persona", 64, "usage: icctl persona"),
    ("image", 64, "usage: icctl image"),
    ("agents", 0, "claude"),
    ("gc --dry-run", 0, ""),
    ("watch --bogus", 64, "icctl watch --help"),
]

# Further words with which a command prints something worth a look.
MORE = {"show": ["k3f9"], "approve": ["k3f9"], "deny": ["k3f9"],
        "always": ["k3f9"], "revoke": ["k3f9"], "send": ["hello"],
        "resume": ["nothing"], "audit": ["verify"], "close": ["nothing"],
        "config": ["get", "model"], "persona": ["ls"], "image": ["ls"],
        "policy": ["cache"], "mcp": ["import", "--dry-run", "/nowhere"],
        "gc": ["--dry-run"], "doctor": ["x", "y"], "web": ["--stop"],
        "start": ["fix"], "watch": ["--bogus"]}


def names():
    with open(ROWS, encoding="utf-8") as f:
        return re.findall(r"^COMMAND\((\w+),", f.read(), re.M)


def prepare(work):
    """A home with an ended session, and a newer one of the compiler."""
    home, project = os.path.join(work, "user"), os.path.join(work, "shop")
    os.makedirs(project)
    for sid, agent in ((OLD, "claude-code"), (OWN, "policy-compiler")):
        where = os.path.join(home, ".ironcurtain", "sessions", sid)
        os.makedirs(where, 0o700)
        for name, text in (("audit.jsonl", "{}\n"), ("session.json", json.dumps(
                {"format": 2, "agent": agent, "adapter": agent,
                 "state": "ended", "workspace": project})),
                ("session.log",
                 "1795338000.123 icsupervisor: turn 3 begins, by pid 24\n"
                 "1795338001.123 icsupervisor: ending: it is over\n"
                 "1795338001.124 dialerd: auditd 0 is gone\n"
                 "1795338001.124 icsupervisor: MCP server x was killed by "
                 "SIGKILL\n"
                 "1795338001.124 mcp-backd x: server closed its output\n"
                 "1795338002.123 icsupervisor: session x ended: " +
                 "word " * 20 + "\n")):
            h.put(os.path.join(where, name), text, 0o600)
    os.chmod(os.path.join(home, ".ironcurtain"), 0o700)
    env = {"PATH": os.environ["PATH"], "HOME": home, "TZ": "UTC",
           "LANG": "C.UTF-8"}
    return env, project


def run(env, cwd, words):
    return subprocess.run([h.program("icctl"), *words], env=env, cwd=cwd,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=30 * h.PATIENCE, check=False)


def each(rows, fn):
    """Run fn for each row, two at a time, and return what it returns."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(zip(rows, pool.map(fn, rows)))


def test_words(env, cwd):
    for (words, status, part), r in each(
            WORDS, lambda row: run(env, cwd, row[0].split())):
        said = r.stdout + r.stderr
        t.ok(r.returncode == status and part in said, "icctl " + words,
             (r.returncode, said))
    r = run(env, cwd, ["logs"])
    t.equal(r.stdout.splitlines()[:2],
            ["2026-11-22 09:00:00 icsupervisor: turn 3 begins",
             "2026-11-22 09:00:01 icsupervisor: ending: it is over"],
            "the log has the time of day, and no process ids")
    t.ok(len(r.stdout.splitlines()) == 3 and "session x ended" in r.stdout,
         "and no last words of processes", r.stdout)


def test_help(env, cwd):
    """The help is one screen, and has every command."""
    lines = run(env, cwd, ["--help"]).stdout.splitlines()
    t.ok(len(lines) <= 24 and max(map(len, lines)) <= 80,
         "icctl --help fits 24 lines of 80 columns",
         (len(lines), max(lines, key=len)))
    words = set(re.findall(r"[a-z]+", "\n".join(lines[8:-5])))
    t.equal([n for n in names() if n not in words], [],
            "and names every command")
    t.ok({"run", "ps", "list", "kill", "version"} <= words,
         "and the other names", sorted(words))
    text = run(env, cwd, ["help", "all"]).stdout
    t.equal([n for n in names() if f"\n  {n} " not in text], [],
            "icctl help all describes every command")


def parsed(r):
    """Returns the values on standard output, or None if it is no JSON."""
    try:
        return [json.loads(line) for line in r.stdout.splitlines()]
    except ValueError:
        return None


def outcome(env, cwd, name, where):
    """A command with --json prints JSON, and why it failed."""
    out = []
    for words in (["--json", name, *MORE.get(name, [])],
                  [name, "--no-such-option", "--json"]):
        r = run(env, cwd, words)
        values = parsed(r)
        # A driver without requests has no events.
        good = bool(values) or (name == "driver" and r.returncode == 0)
        if r.returncode != 0 and good and not where:
            last = values[-1]
            good = (isinstance(last, dict) and
                    (last.get("ok") is False or name in ("status", "doctor"))
                    and (last.get("error") or last.get("id")))
        out.append((good, words, r))
    t.ok(all(o[0] for o in out), f"{name} --json{where}",
         [(o[1], o[2].returncode, o[2].stdout, o[2].stderr)
          for o in out if not o[0]])
    t.equal(out[1][2].returncode, 64, f"{name}: a usage error is 64{where}")


# These wait for a person, or end the session.
WAITING = {"attach", "watch", "web", "send", "stop"}


def test_json(env, cwd, where, skip=()):
    rows = [n for n in names() if n not in skip]
    for name in rows:
        outcome(env, cwd, name, where)
    r = run(env, cwd, ["--json", "mcp", "import", "--dry-run"])
    t.equal(parsed(r)[0].get("error"), "No MCP servers were found.",
            f"a failure has its reason{where}")
    for words in (["policy", "check"], ["policy", "cache"], ["--help"],
                  ["policy", "explain", "x"]):
        values = parsed(run(env, cwd, ["--json", *words]))
        t.ok(values and len(values) == 1, f"{words}: one object{where}",
             values)


def test_terminal(env, cwd):
    """On a terminal, icctl alone is the screen of all sessions, and a task of
    one word is asked about."""
    env = {**env, "TERM": "xterm"}
    term = Terminal(["/usr/bin/env", "-C", cwd, h.program("icctl")], env, 24,
                    80)
    term.until(rb"start an agent in")
    term.key(b"N")
    term.until(rb"Agent \(Enter")
    term.key(b"q\r")
    term.until(rb"Enter goes back")
    term.key(b"\r")
    term.until(rb"N new")
    term.key(b"q")
    t.equal(term.end(), 0, "icctl alone shows all sessions; N starts one")
    for words in (["ls"], ["logs", OLD], ["start", "--detach", "builtin"],
                  ["agents"], ["login"], ["login", "google"], ["status"],
                  ["job"], ["audit", "verify"], ["audit", "events"],
                  ["audit", "show"], ["usage"],
                  ["policy", "explain", "filesystem", "read_file", "{}"],
                  ["mcp", "ls"], ["help", "all"], ["undo", "--help"],
                  ["policy", "check", "--help"], ["mcp", "--help"]):
        term = Terminal([h.program("icctl"), *words], env, 24, 80, cwd=cwd)
        status = term.end()
        lines = term.all.decode().replace("\r\n", "\n").splitlines()
        t.ok(lines and max(map(len, lines)) <= 80 and
             # The text in the log ends in one.
             (words[0] == "logs" or not any(x.endswith(" ") for x in lines)) and
             (words[0] != "start" or status == 78 and
              lines[0].startswith(">>> ironcurtain: agent builtin: ")),
             f"icctl {' '.join(words)}: no line is wider than the terminal, "
             "or ends in a space", lines)
    term = Terminal(["/usr/bin/env", "-C", cwd, h.program("icctl"), "start",
                     "aider"], env, 24, 80)
    term.until(rb"Is it the task\? \[y/N\]")
    term.key(b"n\r")
    term.until(rb"icctl start --task aider")
    t.equal(term.end(), 64, "a task of one word is asked about")


def main():
    with h.workdir() as work:
        env, project = prepare(work)
        test_words(env, project)
        test_help(env, project)
        test_json(env, project, "", WAITING - {"send", "stop"})
        test_terminal(env, project)
    with h.workdir() as work, h.Session(work) as s:
        test_json(s.env, s.workspace, " with a session",
                  WAITING | {"start", "doctor", "diagnostics"})
        r = s.icctl("status")
        facts = [line.split()[0] for line in r.stdout.splitlines()[:5]]
        t.equal(facts, ["workspace", "agent", "pending", "cost", "policy"],
                "status begins with what a person asks")
        t.ok(not re.search(r"\b(false|true)\b", r.stdout),
             "and has no raw boolean", r.stdout)
        for words in (["status"], ["budget"], ["ls"], ["audit", "show"]):
            term = Terminal([h.program("icctl"), *words], {
                **s.env, "TERM": "xterm"}, 24, 80)
            term.end()
            lines = term.all.decode().splitlines()
            t.ok(lines and max(map(len, lines)) <= 80,
                 f"icctl {words[0]} fits the terminal",
                 [x for x in lines if len(x) > 80])
    t.done()


if __name__ == "__main__":
    main()
