# SPDX-License-Identifier: ISC
"""The real agents, pinned in agents.json and installed by ./dev: their
programs, how a user starts them, and checks that hold for each run."""
import contextlib
import json
import os
import subprocess
import sys

import harness as h
import joins
import traces

MODULES = os.path.join(os.environ.get("IC_AGENTS", ""), "node_modules")
CLAUDE = os.path.join(MODULES, "@anthropic-ai/claude-code-linux-x64/claude")
CODEX = os.path.join(MODULES, "codex-linux-x64/vendor/"
                     "x86_64-unknown-linux-musl/bin/codex")
OPENCODE = os.path.join(MODULES, "opencode-linux-x64/bin/opencode")
GEMINI = os.path.join(MODULES, ".bin/gemini")
AGENTS = {"claude-code": CLAUDE, "codex": CODEX, "opencode": OPENCODE,
          "gemini-cli": GEMINI}
# Models that are not the agents' own choice.
MODELS = {"claude-code": "claude-sonnet-4-5", "codex": "gpt-5.1-codex",
          "opencode": "anthropic/claude-haiku-4-5",
          "gemini-cli": "gemini-2.5-flash"}
# The directory of node.
ENV = {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}


def installed(t, name, path):
    """Returns whether the agent is installed; its tests are skipped otherwise.
    """
    if not os.path.exists(path):
        t.skip(name, f"{path} is not installed (./dev test agents)")
        return False
    return True


def chosen(t):
    """Yields name and path of the installed agents that the test is for: with
    the argument "all" each, otherwise Claude Code alone."""
    names = AGENTS if sys.argv[1:] == ["all"] else ["claude-code"]
    for name in names:
        if installed(t, name, AGENTS[name]):
            yield name, AGENTS[name]


def headers(seen, name):
    """Returns the values of a header in the requests that a provider saw."""
    return [v for e in seen for n, v in e["headers"] if n.lower() == name]


def latest(s):
    """Returns the directory of the newest session."""
    d = os.path.join(s.home, "sessions")
    return max((os.path.join(d, n) for n in os.listdir(d)),
               key=os.path.getmtime)


def command(s, agent, *options):
    return [h.program("icctl"), "start", "--agent", agent, *options,
            "--workspace", s.workspace]


def check_answer(t, s, agent, p, word):
    """Check that the agent, asked for a word, prints the answer of provider
    `p`."""
    r = subprocess.run(
        [*command(s, agent), "Say the word."], env=s.env,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        check=False)
    s.dir = latest(s)
    t.ok(r.returncode == 0 and word in r.stdout, f"{agent}: answers",
         (r.returncode, r.stdout[-600:], r.stderr[-1500:],
          s.session_log()[-1500:], [e["target"] for e in p.seen()]))


def check_files(t, s, who, values):
    """Check that none of the values is in any file of the session."""
    for value in map(str.encode, values):
        t.equal(traces.files_have(s.dir, value) +
                traces.files_have(s.workspace, value), [],
                f"{who}: no real token in any file of the session")


def check_box(t, s, who, pid, key, sentinels):
    """Check that the key is not in the sandbox, and that the placeholder key
    is."""
    needle = key.encode()
    sentinel = [v for v in s.agent_env().values()
                if v.startswith(sentinels)][0]
    boxed = traces.open_processes(pid)
    t.ok(len(boxed) >= 2, f"{who}: {len(boxed)} processes of boxes")
    if h.sanitized():
        # Its address space is too large to be searched.
        t.skip(f"{who}: memory", "a sanitized build")
        check_files(t, s, who, [key])
        return
    holds, shows = [], 0
    for p in boxed:
        try:
            holds += [f"{p}: {x}" for x in traces.memory_has(p, needle)]
            shows += len(traces.memory_has(p, sentinel.encode()))
        except (OSError, AttributeError):
            continue
    t.equal(holds, [], f"{who}: the real key is in no memory of the box")
    t.ok(shows > 0, f"{who}: (the search finds the sentinel there)")
    check_files(t, s, who, [key])


def wait_or_end(process, predicate, what, seconds):
    """Wait until the predicate is true or the process has ended. Returns
    whether it still runs."""
    h.wait_for(lambda: process.poll() is not None or predicate(), what,
               seconds)
    return process.poll() is None


@contextlib.contextmanager
def running(s, argv):
    """Run icctl as a user does; s.dir becomes the directory of its session,
    unless icctl has ended before."""
    process = subprocess.Popen(
        argv, env=s.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)
    link = os.path.join(s.home, "run")
    try:
        def links():
            names = os.listdir(link) if os.path.isdir(link) else []
            return [os.path.join(link, n) for n in names
                    if os.path.islink(os.path.join(link, n))]
        if wait_or_end(process, links, "no session", 60):
            s.dir = os.path.realpath(links()[0])
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(10)


def check_held_run(t, s, who, argv, call, key, sentinels):
    """Run a start in which one call waits for approval. Returns its standard
    output and error.

    argv: for icctl; call: (server, tool); key: the key that must not enter the
    sandbox; sentinels: the prefixes of the placeholder keys in its place."""
    with running(s, argv) as process:
        if wait_or_end(process, s.pending, "nothing was held", 90):
            hold = s.pending()[0]
            t.equal((hold["server"], hold["tool"]), call, f"{who}: held")
            check_box(t, s, who, process.pid, key, sentinels)
            t.equal(s.icctl("approve", hold["id"]).returncode, 0,
                    f"{who}: approved")
        out, err = process.communicate(timeout=90)
    t.ok(process.returncode == 0, f"{who}: ends with 0",
         f"{process.returncode}\n{out[-1500:]}\n{err[-1500:]}\n"
         + s.session_log()[-1500:])
    return out, err


def _texts(value):
    """Yields every string within a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for v in value.values() if isinstance(value, dict) else value:
            yield from _texts(v)


def check_model(t, who, p, model):
    """Check that the largest request to a provider, started with --bodies, was
    for that model."""
    seen = max(p.seen(), key=lambda r: r["bodyBytes"])
    name = model.split("/")[-1]
    t.ok(json.loads(seen["body"]).get("model") == name or
         f"/{name}:" in seen["target"], f"{who}: used the model {model}",
         (seen["target"], json.loads(seen["body"]).get("model")))


# Each is in the orientation of every agent in a sandbox.
TOLD = ["You are in a sandbox of IronCurtain.", "you may write below /workspace",
        "Do not retry a denied call", "until a person approves or denies it",
        "no name is resolved",
        "The session ends if you use more than 4096 MiB of memory"]


# A tool, and the beginning of its description.
TOOL = ("read_text_file", "Read the complete contents of a file")


def check_told(t, who, p, tool):
    """Check that the provider, started with --bodies, received the agent's
    orientation, and a tool with what its server says about it."""
    bodies = [json.loads(r["body"]) for r in p.seen() if r.get("body")]
    texts = max((list(_texts(b)) for b in bodies), default=[],
                key=lambda x: sum(map(len, x)))
    whole = "\n".join(texts)
    t.equal([x for x in TOLD if x not in whole], [],
            f"{who}: is told where it is, by what its provider received")
    # On a terminal a request to another host asks, elsewhere it does not.
    t.ok("the user can open it for the next session" in whole or
         "another host over HTTPS asks the user to open it" in whole,
         f"{who}: is told about other hosts", whole)
    t.equal(whole.count(TOLD[0]), 1, f"{who}: is told once")
    t.ok(any(tool[0] in x and tool[1] in x for x in texts),
         f"{who}: is told what {tool[0]} does",
         [x for x in texts if tool[0] in x][:3])


def check_logs(t, s, who, seen, keys, output):
    """Check that the log has one approved call, every request, and no key."""
    audit = s.audit()
    t.equal([c.get("escalationResult") for c in audit
             if c["event"] == "call"], ["approved"],
            f"{who}: the log says approved")
    t.equal(joins.check_requests(audit, seen), [],
            f"{who}: what the provider saw is in the log")
    text = json.dumps(audit) + s.session_log() + output
    t.ok(not any(k in text for k in keys),
         f"{who}: no log or output holds a key")
