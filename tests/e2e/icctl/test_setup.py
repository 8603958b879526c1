#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""`icctl setup` on a terminal: a first run with a key that is typed, refused,
and typed again; a second one that changes nothing; subscriptions; and leaving
in the middle."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import terminal  # noqa: E402

t = h.Tap()
KEY = h.ANTHROPIC_KEY
TOKEN = "sk-ant-oat01-" + "Zz9" * 30
WRONG = "sk-ant-api03-" + "Ab3" * 20


def config(home):
    path = os.path.join(home, "config.json")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def begin(env, cwd=None):
    return terminal.Terminal([h.program("icctl"), "setup"], env, cwd=cwd)


def say(term, until, line):
    out = term.until(until)
    term.key(line + b"\n")
    return out


def test_first(env, home, at):
    h.put(os.path.join(home, "config.json"),
          json.dumps({"providers": at}), 0o600)
    before = config(home)
    term = begin(env)
    out = say(term, rb"anthropic[\s\S]*Which\? \[1\] ", b"nonsense")
    t.ok(b"Ctrl-C leaves" in out, "it says how to leave", out)
    say(term, rb"number from 1 to 6[\s\S]*Which\? \[1\] ", b"")
    say(term, rb"not shown\): ", b"short")
    out = say(term, rb"single word[\s\S]*not shown\): ", WRONG.encode())
    out = say(term, rb"may an agent do[\s\S]*Which\? \[1\] ", b"coding")
    say(term, rb"shall it run[\s\S]*Which\? \[1\] ", b"")
    say(term, rb"waits for you\? \[y\] ", b"n")
    t.ok(b"CLAUDE.md" in out and b"stays outside: settings.json, hooks, "
         b"plugins" in out, "it says what agents see of one's own", out)
    out = term.until(rb"Save it\? \[y\] ")
    t.equal(config(home), before, "nothing is saved before a yes")
    t.ok(not os.path.exists(os.path.join(home, "keys")), "nor is the key")
    t.ok(b"keys/anthropic" in out and b'"coding"' in out,
         "what will be saved is shown", out)
    term.key(b"\n")
    out = term.until(rb"another key\? \[y\] ", 60)
    t.ok(b"costs nothing" in out and b"refused (401)" in out,
         "a key that the provider refuses is told at once", out)
    term.key(b"\n")
    say(term, rb"not shown\): ", KEY.encode())
    t.contains(term.until(rb"works, with [^\n]*keys/anthropic", 60).decode(),
               "costs nothing", "another key is tried, too")
    term.until(rb'icctl start (claude|builtin) "', 60)
    t.equal(term.end_status(), 0, "it ends well")
    path = os.path.join(home, "keys", "anthropic")
    t.equal(config(home), {
        "providers": at, "credentials": {"anthropic": {"file": path}},
        "policy": {"name": "coding"}, "notify": []}, "config.json")
    with open(path, encoding="utf-8") as f:
        t.equal(f.read(), KEY + "\n", "the key has a file of its own")
    t.equal([os.stat(x).st_mode & 0o777 for x in (path,
                                                  os.path.dirname(path))],
            [0o600, 0o700], "which is private")
    t.ok(KEY.encode() not in term.all and WRONG.encode() not in term.all,
         "the key is never shown")
    t.contains(term.all.decode(), "policy", "doctor has run")


def test_again(env, home):
    before = config(home)
    term = begin(env)
    say(term, rb"Which\? \[1\] ", b"")
    say(term, rb"already says[\s\S]*Which\? \[2\] ", b"")
    say(term, rb"shall it run[\s\S]*Which\? \[1\] ", b"")
    say(term, rb"waits for you\? \[y\] ", b"n")
    term.until(rb"everything was set like that")
    term.until(rb'icctl start (claude|builtin) "', 60)
    t.equal((term.end_status(), config(home)), (0, before),
            "a second run with the same answers changes nothing")


def test_tools(env, home):
    """Toolchains in the home are offered, and the doctor names them."""
    user = env["HOME"]
    for name in (".nvm", "bin", ".ssh"):
        os.mkdir(os.path.join(user, name))
    term = begin(env)
    say(term, rb"Which\? \[1\] ", b"")
    say(term, rb"already says[\s\S]*Which\? \[2\] ", b"")
    say(term, rb"shall it run[\s\S]*Which\? \[1\] ", b"")
    say(term, rb"Toolchains in your home: ~/\.nvm, ~/bin\.\s[\s\S]*"
        rb"see them\? \[y\] ", b"")
    say(term, rb"waits for you\? \[y\] ", b"n")
    say(term, rb"Save it\? \[y\] ", b"")
    out = term.until(rb'icctl start (claude|builtin) "', 60)
    t.equal((term.end_status(), config(home).get("agentView")),
            (0, {"allowRead": ["~/.nvm", "~/bin"]}), "they are shown")
    t.contains(out.decode(), "~/.nvm, ~/bin: agents see them",
               "the doctor says so")
    os.mkdir(os.path.join(user, ".pyenv"))
    r = subprocess.run([h.program("icctl"), "doctor"], env=env, text=True,
                       capture_output=True, check=False)
    t.contains(r.stdout, "~/.pyenv: agents do not see them",
               "and names one that they do not see")
    t.contains(r.stdout, "\"allowRead\": [\"~/.pyenv\"]", "with the remedy")


def login(term, choice):
    """Answers everything but the login with Enter, until it is saved."""
    say(term, rb"Which\? \[\d\] ", choice)
    out = say(term, rb"may an agent do[\s\S]*Which\? \[\d\] ", b"")
    say(term, rb"Which\? \[1\] ", b"")
    say(term, rb"waits for you\? \[y\] ", b"n")
    say(term, rb"Save it\? \[y\] ", b"y")
    return out.decode()


def test_subscriptions(env, home, at):
    """The login of an agent that is installed, or one in a session."""
    user = env["HOME"]
    os.rename(os.path.join(home, "config.json"),
              os.path.join(home, "config.aside"))
    h.put(os.path.join(home, "config.json"),
          json.dumps({"providers": at}), 0o600)
    term = begin(env)
    out = login(term, b"claude")
    t.ok("~/.claude/.credentials.json: not there" in out and "/login" in out,
         "without a login, the first session makes one", out)
    out = term.until(rb"icctl doctor now")
    t.ok(b"costs nothing" not in out, "there is nothing to be tried yet")
    out = term.until(rb"single keys\.", 60)
    term.end_status()
    t.ok(b"the subscription is for it alone: install it" in out and
         b"icctl start claude" in out and b"start builtin" not in out,
         "a subscription is not offered to the built-in agent", out)
    t.equal(config(home)["credentials"],
            {"anthropic": {"capture": "claude-code"}}, "it is captured")
    h.put(os.path.join(user, ".claude", ".credentials.json"), json.dumps(
        {"claudeAiOauth": {"accessToken": TOKEN,
                           "refreshToken": "sk-ant-ort01-" + "Yy8" * 30,
                           "expiresAt": 4102444800000,
                           "scopes": ["user:inference"]}}), 0o600)
    os.unlink(os.path.join(home, "config.json"))
    h.put(os.path.join(home, "config.json"),
          json.dumps({"providers": at}), 0o600)
    term = begin(env)
    out = login(term, b"5")
    t.ok("login in ~/.claude/.credentials.json" in out,
         "a login that is there is used", out)
    out = term.until(rb"icctl doctor now", 60)
    term.key(b"\x03")
    term.end_status()
    t.ok(b"costs nothing" in out and
         b"works, with the login of claude-code" in out, "and tried", out)
    t.equal(config(home)["credentials"],
            {"anthropic": {"login": "claude-code"}}, "it is named")
    term = begin(env)
    say(term, rb"Which\? \[5\] ", b"chatgpt")
    out = say(term, rb"Which\? \[1\] ", b"\x04").decode()
    t.ok("codex login --device-auth" in out and "config.toml" in out,
         "ChatGPT, too", out)
    term.until(rb"Nothing is changed")
    term.end_status()
    os.rename(os.path.join(home, "config.aside"),
              os.path.join(home, "config.json"))


def test_clone(env, home):
    """In a clone from a known forge, its API is offered for it."""
    clone = os.path.join(env["HOME"], "clone")
    at = os.path.join(clone, ".git", "config")
    os.makedirs(os.path.dirname(at))
    want = {"kind": "forge", "forge": "github", "hosts": ["api.github.com"],
            "repositories": ["me/shop"], "credential": {"env": "GH_TOKEN"}}
    before = config(home)
    for url, answer, token, saved in (
            ("git@github.com:me/shop.git", b"", None, None),
            ("https://github.com/me/shop.git", b"y", None, None),
            ("https://x:y@github.com/me/shop", b"y", "github_pat_x", want),
            ("https://github.com/me/other.git", None, None, want),
            ("https://github.com/me/../shop", None, None, None),
            ("https://github.com.evil.test/me/shop", None, None, None)):
        h.put(os.path.join(home, "config.json"),
              json.dumps({**before, **({"destinations": {"forge": want}}
                          if saved and answer is None else {})}), 0o600)
        h.put(at, f'[core]\n\tbare = false\n[remote "origin"]\n'
                  f"\turl = {url}\n")
        term = begin({**env, **({"GH_TOKEN": token} if token else {})}, clone)
        say(term, rb"Which\? \[1\] ", b"")
        say(term, rb"already says[\s\S]*Which\? \[2\] ", b"")
        say(term, rb"shall it run[\s\S]*Which\? \[1\] ", b"")
        if answer is not None:
            say(term, rb"clone of me/shop on github.com[\s\S]*they\? \[n\] ",
                answer)
        if answer == b"y":
            say(term, rb"has the token\? \[GH_TOKEN\] ", b"")
        out = say(term, rb"waits for you\? \[y\] ", b"n")
        if answer is None:
            t.ok(b"clone of" not in out, f"{url}: not asked", out)
            term.until(rb"was set like that[\s\S]*icctl doctor now", 60)
        elif saved:
            say(term, rb"Save it\? \[y\] ", b"")
            term.until(rb"icctl doctor now", 60)
        else:
            t.equal(b"neither a variable" in out, answer == b"y",
                    f"{url}: without a token nothing is set")
            term.until(rb"was set like that[\s\S]*icctl doctor now", 60)
        term.key(b"\x03")
        term.end_status()
        t.equal((config(home).get("destinations") or {}).get("forge"), saved,
                f"{url}: what is set")
    h.put(os.path.join(home, "config.json"), json.dumps(before), 0o600)


def test_leave(env, home):
    before = config(home)
    term = begin({**env, "OPENAI_API_KEY": "sk-" + "x" * 40})
    say(term, rb"Which\? \[1\] ", b"openai")
    say(term, rb"OPENAI_API_KEY, which is set[\s\S]*Which\? \[2\] ",
        b"3")
    term.until(rb"shall it run[\s\S]*Which\? \[1\] ")
    term.key(b"\x04")
    term.until(rb"Nothing is changed")
    t.equal((term.end_status(), config(home)), (1, before),
            "who leaves in the middle changes nothing")
    term = begin(env)
    say(term, rb"Which\? \[1\] ", b"2")
    say(term, rb"not shown\): ", b"")
    say(term, rb"Which\? \[2\] ", b"default")
    say(term, rb"Which\? \[1\] ", b"")
    say(term, rb"waits for you\? \[y\] ", b"")
    say(term, rb"Save it\? \[y\] ", b"no")
    term.until(rb"Nothing is changed")
    t.equal((term.end_status(), config(home)), (1, before),
            "a no at the end neither")
    r = subprocess.run([h.program("icctl"), "setup"], env=env, text=True,
                       stdin=subprocess.DEVNULL, capture_output=True,
                       check=False, timeout=30)
    t.ok(r.returncode == 64 and "needs a terminal" in r.stderr,
         "without a terminal it is refused", r)


def main():
    with h.workdir() as work:
        home = os.path.join(work, "home")
        env = {"PATH": "/usr/bin:/bin", "HOME": work, "LANG": "C.UTF-8",
               "TERM": "xterm", "IRONCURTAIN_HOME": home}
        os.makedirs(home, mode=0o700)
        provider = h.Provider(work, "--key", TOKEN)
        at = {"anthropic": {"upstream": provider.url, "ca": provider.ca}}
        test_first(env, home, at)
        test_again(env, home)
        test_clone(env, home)
        test_subscriptions(env, home, at)
        test_leave(env, home)
        test_tools(env, home)
        provider.end()
    t.done()


main()
