#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Each step of icctl policy compile with replies that are broken, empty, slow or
endless, with a provider that is down or refuses, with bad constitutions and full
disks, interrupted and begun again: one line with place and remedy, and what was
in force stays in force."""
import os
import resource
import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import compiling as c  # noqa: E402
import harness as h  # noqa: E402

t = h.Tap()
LISTS = {"rules": [c.rule(
    "fetch-news", "allow", server="fetch",
    description="Reading @news is allowed.",
    domains={"roles": ["fetch-url"], "allowed": ["@news"]})],
    "listDefinitions": [{"name": "news", "type": "domains", "principle": "news",
                         "generationPrompt": "News sites", "requiresMcp":
                         False}]}
NEWS = {"values": ["news.example", "*.times.example", "http://no.example",
                   "news.example", "*", "b\u00fccher.example"]}


def fetching(**steps):
    """Returns the script of a model that lets news sites be read."""
    tests = {"scenarios": [
        c.scenario("News", "http_fetch", {"url": "https://news.example/a"},
                   "allow"),
        c.scenario("Else", "http_fetch", {"url": "https://else.example/"},
                   "not-allow")]}
    rows = {"prefilter": c.prefilter("fetch"), "values": NEWS, "rules": LISTS,
            "scenarios": tests, "judge": c.verdicts(2), **steps}
    return [{"step": k, "reply": v} for k, v in rows.items()]


def put_in_force(m):
    """Compile the good policy, and agree. Returns its files."""
    m.script(fetching())
    digest = m.digest(m.policy("compile"))
    r = m.policy("compile", "--accept", str(digest))
    t.equal(r.returncode, 0, "a policy is in force")
    t.ok('dropped "http://no.example"' in r.stderr and
         'dropped "*"' in r.stderr, "values that are none are named", r.stderr)
    return [m.read(n) for n in ("compiled-policy.json", "dynamic-lists.json")]


def one_line(m, before, r, words, name):
    lines = [x for x in r.stderr.splitlines() if x.startswith("icctl: ") and
             "dropped" not in x]
    now = [m.read(n) for n in ("compiled-policy.json", "dynamic-lists.json")]
    t.ok(r.returncode == 1 and len(lines) == 1 and words in lines[0] and
         now == before, name, (r.returncode, r.stdout[-300:], r.stderr))


def test_replies(m, before):
    for step in ("prefilter", "rules", "values", "scenarios", "judge"):
        for name, reply in (("broken", '{"x"'), ("hostile", {"allow": "*"}),
                            ("empty", ""), ("a list", []),
                            ("a member twice", '{"rules":[],"rules":[]}')):
            # A provider's answer without a text is asked for five times.
            if reply == "" and step != "rules" and sys.argv[1:] != ["all"]:
                continue
            m.script(fetching(**{step: reply}))
            r = m.policy("compile", "--no-cache")
            one_line(m, before, r, "gave no reply" if reply == "" else
                     f'reply to "{step}" was refused', f"{step}: {name}")
    rows = [r for r in fetching() if r["step"] != "rules"]
    m.script([{"step": "rules", "size": 50 << 20}, *rows])
    r = m.policy("compile", "--no-cache")
    one_line(m, before, r, "gave no reply", "a reply of 50 MB")
    m.script([{"step": "rules", "delay": 2, "reply": LISTS}, *rows])
    r = m.policy("compile", "--no-cache")
    t.equal(r.returncode, 0, "a slow reply is waited for")
    # The first is broken, and the model mends it when it is told.
    m.script([{"step": "rules", "match": "why the previous answer was refused",
               "reply": LISTS}, *fetching(rules={"rules": [{}]})])
    r = m.policy("compile", "--no-cache")
    t.equal(r.returncode, 0, "a reply that was refused is asked for again")
    m.script(fetching(rules={"rules": LISTS["rules"]}))
    r = m.policy("compile", "--no-cache")
    one_line(m, before, r, 'no list of type domains is defined as "@news"',
             "a list that is not defined")


def test_constitutions(m, before):
    path = os.path.join(m.work, "constitution.md")
    for name, data, words in (
            ("missing", None, "there is no such file"),
            ("empty", b"", "is empty"), ("blank", b" \n\t\n", "is empty"),
            ("over 256 KiB", b"x" * (257 << 10), "at most 256 KiB"),
            ("not UTF-8", b"caf\xe9 may be read\n", "is not UTF-8"),
            ("with a NUL", b"a\0b", "is not UTF-8 text")):
        if data is None and os.path.exists(path):
            os.unlink(path)
        if data is not None:
            with open(path, "wb") as f:
                f.write(data)
        r = m.policy("compile", "--constitution", path)
        t.ok(r.returncode == 1 and words.replace("at most", "more than")
             in r.stderr.replace("at most", "more than") and
             r.stderr.count("\n") == 1, f"a constitution that is {name}",
             r.stderr)
    os.mkfifo(path + ".fifo")
    r = m.policy("compile", "--constitution", path + ".fifo", timeout=20)
    t.ok("is not a plain file" in r.stderr, "a constitution that is a FIFO",
         r.stderr)
    # It changes while the model thinks.
    m.put("constitution-user.md", "Read the news, please.\n")
    m.script([{"step": "judge", "delay": 2, "reply": c.verdicts(2)},
              *fetching()])
    p = subprocess.Popen([h.program("icctl"), "policy", "compile", "--yes"],
                         env=m.env, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True)
    h.wait_for(lambda: "Step: judge" in str(
        [r["body"] for r in m.provider.seen()[-1:]]), "no judge was asked")
    m.put("constitution-user.md", "Read nothing.\n")
    out, err = p.communicate(timeout=60)
    t.ok(p.returncode == 1 and "changed meanwhile" in err,
         "a constitution that changes", out + err)
    m.put("constitution-user.md", "Read my ~/Documents.\n")


def test_two(m):
    m.script([{"step": "rules", "delay": 3, "reply": LISTS}, *fetching()])
    p = subprocess.Popen([h.program("icctl"), "policy", "compile",
                          "--no-cache"], env=m.env, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    asked = m.asked()
    h.wait_for(lambda: m.asked() > asked, "nothing was asked")
    r = m.policy("compile")
    t.ok(r.returncode == 1 and "another icctl policy works in" in r.stderr,
         "two compiles at once", r.stderr)
    p.communicate(timeout=60)


def test_interrupted(m, before):
    """Killed at every step, it goes on from there."""
    shutil.rmtree(os.path.join(m.home, "policy-cache"))
    for done, step in enumerate(("prefilter", "rules", "values", "scenarios",
                                 "judge")):
        row = next(r for r in fetching() if r["step"] == step)
        m.script([{**row, "delay": 30}, *fetching()])
        asked = len(h.read_lines(m.path("llm-interactions.jsonl")))
        sessions = os.path.join(m.home, "sessions")
        begun = len(os.listdir(sessions))
        p = subprocess.Popen([h.program("icctl"), "policy", "compile"],
                             env=m.env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        # Earlier steps are done, and a session runs for this one.
        h.wait_for(lambda: len(h.read_lines(m.path("llm-interactions.jsonl")))
                   >= asked + done and len(os.listdir(sessions)) > begun,
                   f"{step} did not begin")
        p.send_signal(signal.SIGKILL if done % 2 else signal.SIGTERM)
        p.wait(30)
        m.script(fetching())
        r = m.policy("compile")
        t.ok(f"5 replies of the model, {done} from the cache" in r.stdout,
             f"killed at {step}: goes on", r.stdout + r.stderr)
        # The next round begins with one reply more.
        rows = h.read_lines(m.path("llm-interactions.jsonl"))
        names = ("prefilter", "rules", "values", "scenarios", "judge")
        for x in rows:
            if names.index(x["stepName"]) > done:
                path = os.path.join(m.home, "policy-cache",
                                    x["inputHash"] + ".json")
                if os.path.exists(path):
                    os.unlink(path)
    t.equal([m.read(n) for n in ("compiled-policy.json",
                                 "dynamic-lists.json")], before,
            "and the policy is the same")


def test_full_disk(m):
    """A disk that is full, and files that cannot be replaced."""
    m.put("constitution-user.md", "Read the news, and nothing else.\n")
    m.script(fetching())
    t.equal(m.policy("compile", "--yes").returncode, 0, "compiled once more")
    before = [m.read(n) for n in ("compiled-policy.json",
                                  "dynamic-lists.json")]

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
    r = subprocess.run([h.program("icctl"), "policy", "compile"], env=m.env,
                       text=True, stdin=subprocess.DEVNULL, timeout=60,
                       capture_output=True, check=False, preexec_fn=limit)
    one_line(m, before, r, "File too large",
             "a disk that is full")
    replies = [x["inputHash"] for x in
               h.read_lines(m.path("llm-interactions.jsonl"))][-5:]
    for name in (m.path("dynamic-lists.json"), os.path.join(
            m.home, "policy-cache", replies[-1] + ".json")):
        os.rename(name, name + ".kept")
        os.makedirs(os.path.join(name, "in-the-way"))
        m.put("constitution-user.md", "Read the news, and nothing else.\n")
        r = m.policy("compile", "--yes")
        shutil.rmtree(name)
        os.rename(name + ".kept", name)
        one_line(m, before, r, os.path.basename(name) + ": ",
                 f"something in the way of {os.path.basename(name)}")


def test_provider(m, before):
    r = m.policy("compile", "--no-cache", env={"ANTHROPIC_API_KEY": ""})
    one_line(m, before, r, "ANTHROPIC_API_KEY", "no key")
    m.provider.end()
    r = m.policy("compile", "--no-cache", timeout=180)
    one_line(m, before, r, "gave no reply", "a provider that is down")


def main():
    if not shutil.which("bwrap"):
        t.skip("steps", "bubblewrap is not installed")
        t.done()
    with h.workdir() as work:
        m = c.Home(work, fetching(), options=("--reload-script",))
        try:
            before = put_in_force(m)
            test_replies(m, before)
            test_constitutions(m, before)
            before = put_in_force(m)
            test_two(m)
            test_interrupted(m, before)
            test_full_disk(m)
            before = put_in_force(m)
            test_provider(m, before)
        finally:
            m.end()
    t.done()


if __name__ == "__main__":
    main()
