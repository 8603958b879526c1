#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Tests the sandbox that `icctl start` makes for a person who has configured
nothing but git."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()


def icctl(home, workspace, *args, **env):
    return subprocess.run(
        [h.program("icctl"), *args], cwd=workspace,
        env={"PATH": os.environ["PATH"], "HOME": home, **env},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
        check=False)


def start(home, workspace, script, **env):
    return icctl(home, workspace, "start", "--", "sh", "-c", script, **env)


def begins(home, workspace):
    """The very first start: the working directory, and the messages."""
    h.put(os.path.join(workspace, "here"), "")
    r = start(home, workspace, "ls")
    t.equal(r.stdout, "here\n", "the agent works in the current directory")
    said = [re.sub(r"20\d{6}-\d{6}-[a-z0-9]{4}|[0-9a-f]{64}|(?<=record )\d+",
                   "ID", line)
            for line in r.stderr.splitlines()]
    t.equal([s.split(" (tool")[0] for s in said], [
        "icsupervisor: session ID: sh in ~/project (the current directory), "
        "policy default; to approve or deny pending calls: icctl watch, in "
        "another terminal",
        said[1], said[2].split(" (tool")[0],
        "icsupervisor: session ID ended: the agent exited with status 0; "
        "0 calls allowed, 0 denied; log: "
        "~/.ironcurtain/sessions/ID/audit.jsonl"],
        "one line says what it is, and one what it did")
    t.ok("icctl undo" in said[1] and "in ~/.ironcurtain/undo" in said[1] and "limits of a session: " in said[2] and
         "5 USD" in said[2] and "200 steps" in said[2],
         "the first one says what can be undone, and what the limits are",
         said[1:3])
    r = start(home, workspace, "true")
    t.ok("limits" not in r.stderr, "the second one does not", r.stderr)
    r = icctl(home, workspace, "start", "--workspace", "none", "--", "ls",
              "-A")
    t.ok(r.returncode == 0 and r.stdout == "" and
         "sh in" not in r.stderr and "in an empty directory" in r.stderr,
         "--workspace none is an empty directory", r)


def refuses(home, workspace):
    """A refused start leaves nothing behind."""
    sessions = os.path.join(home, ".ironcurtain", "sessions")
    before = sorted(os.listdir(sessions))
    r = icctl(home, home, "start", "--", "true")
    t.equal((r.returncode, r.stderr), (
        78, f"icsupervisor: workspace {home}: refused, because it is your home "
	     "directory. Start in the directory of a project, or name one with "
	     "--workspace DIR; --workspace none is an empty one\n"),
        "the home directory is no workspace, and the remedy is named")
    r = icctl(home, "/", "start", "--", "true")
    t.ok(r.returncode == 78 and "--workspace none" in r.stderr,
         "nor is /", r.stderr)
    r = icctl(home, workspace, "start", "--", "no-such-program")
    t.equal(r.returncode, 78, "a program that is not there")
    h.put(os.path.join(home, ".ironcurtain", "config.json"), "{x", 0o600)
    t.equal(start(home, workspace, "true").returncode, 78, "a bad file")
    os.unlink(os.path.join(home, ".ironcurtain", "config.json"))
    bad = os.path.join(home, ".ironcurtain", "policies", "bad")
    os.makedirs(bad)
    h.put(os.path.join(bad, "compiled-policy.json"), '{"rules":[{}]}')
    h.put(os.path.join(bad, "tool-annotations.json"), "{}")
    r = icctl(home, workspace, "start", "--policy", "bad", "--", "true")
    t.ok(r.returncode == 78, "a policy that policyd refuses", r)
    t.equal(sorted(os.listdir(sessions)), before,
            "a start that fails leaves no session directory")
    t.equal(os.listdir(os.path.join(home, ".ironcurtain", "run")), [],
            "and no link")


def providers(home, workspace):
    """The messages for a person without a key."""
    fake = os.path.join(home, "bin")
    os.makedirs(fake)
    for name in ("claude", "opencode"):
        h.put(os.path.join(fake, name), "#!/bin/sh\nenv\n", 0o755)
    path = fake + ":/usr/bin:/bin"
    r = icctl(home, workspace, "start", "claude", "task", PATH=path)
    t.ok(r.returncode == 78 and "Set ANTHROPIC_API_KEY" in r.stderr and
         "icctl login anthropic" in r.stderr, "claude says what it needs", r)
    r = icctl(home, workspace, "start", "opencode", "task", PATH=path)
    t.ok(r.returncode == 78 and "no key of a provider" in r.stderr and
         "icctl setup" in r.stderr and
         "icctl login" in r.stderr, "so does opencode, at once", r)
    key = "sk-or-v1-" + 40 * "7"
    r = icctl(home, workspace, "start", "opencode", "task", PATH=path,
              OPENROUTER_API_KEY=key)
    t.ok(r.returncode == 0 and "OPENROUTER_API_KEY=sk-or-" in r.stdout and
         key not in r.stdout and "ANTHROPIC" not in r.stdout,
         "with a variable set it has that provider, and no other", r)
    r = icctl(home, workspace, "start", "opencode-gateway", "task", PATH=path,
              GATEWAY_API_KEY="gateway-key-0123456789")
    t.ok(r.returncode == 78 and '"model"' in r.stderr,
         "a gateway needs the name of a model", r)
    h.put(os.path.join(home, "package.json"), '{"version": "7.8.9"}')
    r = icctl(home, workspace, "doctor", PATH=path)
    t.ok(r.returncode == 0 and re.search(
        rf"^ok +agent +claude-code 7\.8\.9: {fake}/claude$".replace(
            home + "/", "~/"), r.stdout, re.M)
         and "no key and no login found" in r.stdout,
         "doctor finds the agents and their versions", r)
    r = icctl(home, workspace, "login")
    t.ok("No key found" in r.stdout and "ANTHROPIC_API_KEY" in r.stdout and
         len(r.stdout.splitlines()) < 20, "login begins with a table", r)
    r = icctl(home, workspace, "login", "antropic")
    t.ok(r.returncode == 1 and "did you mean anthropic?" in r.stderr,
         "an unknown provider is an error", r)


def caches(home, workspace):
    """The agent's caches in its home are not kept, and links do not mislead
    the removal."""
    r = start(home, workspace, """
mkdir -p ~/.cache/a/b ~/.npm/_cacache ~/.npm/_logs && cd ~/.cache/a/b &&
for i in $(seq 50); do mkdir d && cd d && echo x >f || exit 1; done
cd; echo x >.npm/_cacache/f; echo x >.npm/_logs/f; echo x >f
ln -s /workspace .cache/w; ln -s /workspace .npm/_cacache/w""")
    t.equal(r.returncode, 0, "an agent that fills its caches")
    top = os.path.join(home, ".ironcurtain", "sessions")
    own = os.path.join(max((os.path.join(top, n) for n in os.listdir(top)),
                           key=os.path.getmtime), "home")
    left = sorted(os.path.relpath(os.path.join(d, f), own)
                  for d, _, files in os.walk(own) for f in files)
    t.equal([f for f in left if f != ".gitconfig"], [".npm/_logs/f", "f"],
            "they are empty when the session has ended, the rest is kept")
    t.equal(os.listdir(os.path.join(own, ".cache")), [],
            "however deep it lay")
    t.ok(os.path.exists(os.path.join(workspace, "here")),
         "what a link in one leads to is kept")


def names(home, workspace):
    for name, title in (("claude", "claude-code"), ("gemini", "gemini-cli")):
        r = icctl(home, workspace, "start", name, "task", PATH="/usr/bin:/bin")
        t.ok(r.returncode == 78 and f"agent {title}:" in r.stderr,
             f"{name} is {title}", r.stderr)


def main(work):
    home, workspace = os.path.join(work, "home"), os.path.join(
        work, "home", "project")
    os.makedirs(workspace)
    begins(home, workspace)
    refuses(home, workspace)
    names(home, workspace)
    caches(home, workspace)
    providers(home, workspace)
    commit = ("git init -q . && echo 1 >file && git add file && "
              "git commit -q -m first && git log --format='%an <%ae>'")
    r = start(home, workspace, commit)
    t.ok(r.returncode != 0 and "Author identity unknown" in r.stderr,
         "without a name of the user's git cannot commit", r)
    h.put(os.path.join(home, ".gitconfig"),
          "[user]\n\tname = Ada Lovelace\n\temail = ada@example.org\n"
          "[alias]\n\tsecret = status\n")
    r = start(home, workspace, commit + " && cat ~/.gitconfig")
    t.equal(r.stdout.splitlines()[0], "Ada Lovelace <ada@example.org>",
            "git commits as the user")
    t.ok("secret" not in r.stdout,
         "and sees nothing else of the user's configuration", r.stdout)
    r = start(home, workspace, "git config commit.gpgSign true; git config "
              "user.signingKey ABCD; echo 2 >file; git commit -qam second && "
              "git config --unset commit.gpgSign")
    t.ok(r.returncode == 0, "a commit that the repository wants signed is "
         "made without", r.stderr)
    r = start(home, workspace, 'echo "$TERM/$COLORTERM"', TERM="xterm",
              COLORTERM="truecolor")
    t.equal(r.stdout, "xterm/truecolor\n", "the terminal's colours are known")
    r = start(home, workspace, 'echo "<$COLORTERM>"', COLORTERM="a\nb")
    t.equal(r.stdout, "<>\n", "a value that is no word is not passed on")


if __name__ == "__main__":
    with h.workdir() as directory:
        main(directory)
    t.done()
