#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A project's own file, .ironcurtain.json: it narrows at once, grants nothing
without a yes that is bound to what was shown, and is never in force as an agent
has changed it."""
import json
import os
import shutil
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from started import Place  # noqa: E402

t = h.Tap()
SHOW = "echo V=$VALUE; touch made 2>/dev/null && echo WRITES || echo READS"


def write(p, text):
    h.put(os.path.join(p.project, ".ironcurtain.json"),
          text if isinstance(text, str) else json.dumps({"version": 1, **text}))


def start(p, *options, command=("/bin/sh", "-c", SHOW)):
    return subprocess.run(p.argv(*command, options=options), env=p.env,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=60, check=False)


def project(p, *words, status=0):
    r = p.icctl("project", *words, cwd=p.project)
    t.equal(r.returncode, status, f"project {' '.join(words)}: {r.stderr}")
    return r.stdout + r.stderr


def digest(p):
    return json.loads(p.icctl("--json", "project", "show",
                              cwd=p.project).stdout)["digest"]


def accept(p):
    project(p, "trust", "--digest", digest(p)[:16])


def test_nobody(work):
    """Without a person nothing is granted, and what narrows is in force."""
    p = Place(work)
    write(p, {"env": {"VALUE": "from the project"}})
    r = start(p)
    t.ok(r.returncode == 1 and "icctl project trust --digest" in r.stderr and
         'VALUE is "from the project"' in r.stderr and "V=" not in r.stdout,
         "nobody is there to say yes: no session", r.stderr + r.stdout)
    out = project(p, "trust", status=1)
    t.ok("icctl project trust --digest " + digest(p)[:16] in out,
         "trust without a terminal names the way", out)
    r = start(p, "--no-project")
    t.equal((r.returncode, r.stdout), (0, "V=\nWRITES\n"), "--no-project")
    write(p, {"policy": {"workspace": "read-only"},
              "budget": {"maxSteps": 7, "maxEstimatedCostUsd": 1000}})
    r = start(p)
    t.equal((r.returncode, r.stdout), (0, "V=\nREADS\n"),
            f"what only narrows needs no yes: {r.stderr}")
    made = json.load(open(os.path.join(p.session(), "settings.json"),
                          encoding="utf-8"))
    t.equal(made["resourceBudget"], {"maxSteps": 7},
            "limits get lower, and never higher")


def test_yes(work):
    p = Place(work, {"env": {"OWN": "mine"}})
    write(p, {"env": {"VALUE": "one", "OWN": "theirs"}})
    t.ok("not accepted" in project(p, "show"), "show says that it is not")
    t.ok("now, and not" in project(p, "trust", "--digest", "0" * 16, status=1),
         "a yes for another text is none")
    accept(p)
    r = start(p, command=("/bin/sh", "-c", "echo $VALUE $OWN"))
    t.equal(r.stdout, "one mine\n", f"in force; the person's own wins: {r.stderr}")
    # An agent edits it: no effect now, and none later.
    r = start(p, command=("/bin/sh", "-c",
                          "sed -i s/one/two/ .ironcurtain.json; echo $VALUE"))
    t.equal(r.stdout, "one\n", "an edit has no effect in its session")
    r = start(p)
    t.ok(r.returncode == 1 and "has changed since you accepted it" in r.stderr,
         "nor in the next one", r.stderr)
    out = project(p, "diff")
    t.ok('- the agent\'s variable VALUE is "one"' in out and
         '+ the agent\'s variable VALUE is "two"' in out, "diff shows it", out)
    t.ok("It was last changed while the session " +
         os.path.basename(p.session()) + " ran here." in out,
         "and the session in which it was changed", out)
    accept(p)
    write(p, {"env": {"VALUE": "one", "OWN": "theirs"}})
    t.equal(start(p).returncode, 1, "an older accepted text is not in force again")
    write(p, '{"env": /* the same */ {"OWN":"theirs","VALUE":"two",},\n"version":1}')
    t.equal(start(p).returncode, 0, "spelling is not meaning")


def test_terminal(work):
    p = Place(work)
    write(p, {"env": {"VALUE": "x"}, "hosts": ["docs.example.org"]})
    for key, want in (("s", b"no session was started"), ("w", b"V=(?!x)"),
                      ("a", b"V=x")):
        term = p.terminal("/bin/sh", "-c", SHOW)
        out = term.until(rb"or \[s\]top\? ")
        t.ok(b"read from https://docs.example.org" in out, f"{key}: it is shown",
             out)
        term.key(key.encode() + b"\n")
        term.until(want)
        term.end()
        t.ok(True, f"{key}: {want.decode()}")
    term = p.terminal("/bin/sh", "-c", SHOW)
    t.ok(b"[s]top" not in term.until(rb"V=x"), "asked once")
    term.end()


def test_install(work):
    p = Place(work)
    write(p, {"install": [{"run": ["/bin/sh", "-c", "echo x >>~/installed; "
                                   "cat lock >installed-by"],
                           "when": ["lock"]}]})
    h.put(os.path.join(p.project, "lock"), "1\n")
    accept(p)
    count = ("/bin/sh", "-c", "grep -c x ~/installed")
    for content, want in (("1", "1\n"), ("1", "1\n"), ("2", "2\n")):
        h.put(os.path.join(p.project, "lock"), content + "\n")
        r = start(p, command=count)
        t.equal(r.stdout, want, f"installed for lock {content}: {r.stderr}")
    write(p, {"install": [{"run": ["false"]}]})
    accept(p)
    r = start(p, command=count)
    t.ok(r.returncode == 1 and "no session was started" in r.stderr and
         not r.stdout, "an install that fails", r.stderr)


IMAGE = "postgres@sha256:" + "ab" * 32


def test_services(work):
    """Images by digest are asked for; the person's own of that name wins."""
    p = Place(work, {"services": {"mine": {"port": 7000, "command": ["true"]}}})
    asked = {"mine": {"port": 7000, "image": IMAGE}, "db": {
        "port": 5432, "image": IMAGE, "env": {"POSTGRES_DB": "shop"},
        "health": ["pg_isready"], "tmpfs": ["/srv"]}}
    write(p, {"services": asked, "undo": {"include": ["dist"]}})
    out = project(p, "show")
    for words in (f"starts a service db of the image {IMAGE}, at "
                  "localhost:5432", 'POSTGRES_DB of the service db is "shop"',
                  '["pg_isready"]', 'to ["/srv"]', "undo keeps dist too"):
        t.ok(words in out, "it is shown: " + words, out)
    r = p.icctl("config", "ls", cwd=p.project)
    t.ok("config.json sets\n" in r.stdout and "services.mine.port = 7000" in
         r.stdout and "is not accepted: only what narrows" in r.stdout and
         "service db" not in r.stdout, "config says where settings are from",
         r.stdout)
    accept(p)
    r = p.icctl("config", "ls", cwd=p.project)
    t.ok("adds, for sessions that start here, what config.json does not set "
         "itself\n  each session starts a service " in r.stdout,
         "and when they are accepted", r.stdout)
    out = p.icctl("doctor", cwd=p.project).stdout
    t.ok(".ironcurtain.json adds" in out and "service db of the image" in out,
         "so does doctor", out)
    r = start(p)
    t.ok("services.db: an image needs --runtime docker or podman" in r.stderr,
         "the session has the services", r.stderr)
    made = json.load(open(os.path.join(p.session(), "settings.json"),
                          encoding="utf-8"))
    t.equal(made["services"], {"db": asked["db"], "mine": {
        "port": 7000, "command": ["true"]}}, "with the person's own")
    t.equal(made["undo"], {"include": ["dist"]}, "and undo keeps what it says")


def test_forge(work):
    """The person's own forge gets the project's repositories after a yes, and
    less at once."""
    own = {"kind": "forge", "forge": "github", "hosts": ["api.github.com"],
           "repositories": ["me/own"], "merge": "ask",
           "credential": {"env": "SHOP_TOKEN"}}
    p = Place(work, {"destinations": {"shop": own}})
    p.env["SHOP_TOKEN"] = "github_pat_x"
    write(p, {"forge": {"repositories": ["me/shop", "me/own"], "write": "deny",
                        "merge": "ask", "release": "ask"}})
    out = project(p, "show")
    for words in ("the forge of your config.json, with its token, for me/shop",
                  "may not open, edit or comment on a forge"):
        t.ok(words in out, "it is shown: " + words, out)
    accept(p)
    r = start(p)
    made = json.load(open(os.path.join(p.session(), "settings.json"),
                          encoding="utf-8"))["destinations"]["shop"]
    t.equal(made, {**own, "write": "deny", "repositories": ["me/own",
                                                            "me/shop"]},
            "repositories are added, rights are not")
    q = Place(os.path.join(work, "none"))
    write(q, {"forge": {"repositories": ["me/shop"]}})
    accept(q)
    r = start(q)
    t.ok("your config.json has none" in r.stderr, "one without a forge is told",
         r.stderr)


TOLD = {"agent": "evil", "instructions": ["Run the tests: make check",
                                         "Do not touch deploy/."],
        "ports": [3000],
        "policy": {"deny": ["write deploy/**", "tool git/git_push*"],
                   "ask": ["tool filesystem/move_file"]}}


def test_told(work):
    """The policy gets narrower at once; words to the agent, and its choice, are
    in force only after a yes, and a port is never published."""
    p = Place(work, {"policy": {"deny": ["write own"]}})
    write(p, {**TOLD, "env": {"VALUE": "x"}})
    out = project(p, "show")
    for words in ("as the project's words: Do not touch deploy/.",
                  "calls of tools that write deploy, where the policy knows a "
                  "tool's paths, are denied",
                  "calls of git/git_push* are denied",
                  "calls of filesystem/move_file ask you, where they are "
                  "allowed", "with --publish 3000 your browser reaches it"):
        t.ok(words in out, "it is shown: " + words, out)
    r = start(p)
    t.ok(r.returncode == 1 and "is told, as the project's words" in r.stderr
         and not r.stdout, "nobody is there to say yes: no session", r.stderr)
    term = p.terminal("/bin/sh", "-c",
                      "cat /etc/ironcurtain/* 2>/dev/null | grep -c deploy/; "
                      "echo V=$VALUE")
    term.until(rb"or \[s\]top\? ")
    term.key(b"w\n")
    out = term.until(rb"V=(?!x)")
    term.end()
    t.ok(b"evil" not in out, "without it, its agent is not chosen either", out)
    made = json.load(open(os.path.join(p.session(), "settings.json"),
                          encoding="utf-8"))
    t.equal((made["policy"], "projectInstructions" in made),
            ({"deny": ["write own", "write deploy/**", "tool git/git_push*"],
              "ask": ["tool filesystem/move_file"]}, False),
            "it narrows, beside the person's own, and says nothing")
    write(p, {k: TOLD[k] for k in ("instructions", "ports", "policy")})
    accept(p)
    r = start(p)
    t.ok(r.returncode == 0 and "with --publish 3000" in r.stderr and
         "calls of git/git_push* are denied" in r.stderr, "accepted", r.stderr)
    made = json.load(open(os.path.join(p.session(), "settings.json"),
                          encoding="utf-8"))
    t.equal(made["projectInstructions"], TOLD["instructions"],
            "its words are in the session's settings")
    t.ok(not p.icctl("status").stdout.count("3000"), "no port is published")


def test_many(work):
    """The project's texts come on top of 64 of the person's."""
    own = [f"write own{n}" for n in range(64)]
    p = Place(work, {"policy": {"deny": own}})
    more = own[:3] + [f"write its{n}" for n in range(13)]
    write(p, {"policy": {"deny": more}})
    r = start(p)
    t.equal(r.returncode, 0, f"the start works: {r.stderr}")
    made = json.load(open(os.path.join(p.session(), "settings.json"),
                          encoding="utf-8"))
    t.equal(made["policy"]["deny"], own + more[3:], "each text is there once")
    write(p, {"policy": {"deny": [f"write its{n}" for n in range(16)]}})
    r = start(p)
    t.equal(r.returncode, 0, f"and all 16 fit: {r.stderr}")


BAD = [
    ("[]", "must hold an object"), ("{", "line 1"), ("", "is empty"),
    ('{"version":1,"version":1}', "line 1"), ("{}", "version"),
    ('{"version": 2}', "must be 1"), ('{"version": "1"}', "must be 1"),
    *[(json.dumps({"version": 1, name: {}}), "may not be set by a project")
      for name in ("credentials", "serverCredentials", "providers", "notify",
                   "autoApprove", "trust", "audit", "publish", "runtime",
                   "limits", "agentView", "homeFiles", "mcpServers",
                   "resourceBudget", "escalations", "x\u001b[31m")],
    (json.dumps({"version": 1, "Agent": "claude"}), "did you mean agent?"),
    (json.dumps({"version": 1, "hosts": ["127.0.0.1"]}), "is no name of a host"),
    (json.dumps({"version": 1, "hosts": ["*.example.org"]}), "no name of a host"),
    (json.dumps({"version": 1, "hosts": ["localhost"]}), "no name of a host"),
    (json.dumps({"version": 1, "hosts": ["registry.npm.example"]}),
     "is a registry of packages"),
    (json.dumps({"version": 1, "hosts": ["gitlab.example.org"]}),
     'name it in "git"'),
    (json.dumps({"version": 1, "hosts": ["a.example\u202e"]}), "ASCII"),
    (json.dumps({"version": 1, "hosts": ["a.example"] * 17}), "at most 16"),
    (json.dumps({"version": 1, "env": {"LD_PRELOAD": "x"}}), "LD_PRELOAD"),
    (json.dumps({"version": 1, "env": {"A": "a\nb"}}), "ASCII"),
    *[(json.dumps({"version": 1, "env": {name: "/workspace/x"}}),
       f"env.{name}: is set by IronCurtain")
      for name in ("PATH", "HOME", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS",
                   "GIT_SSL_CAINFO", "CURL_CA_BUNDLE", "PIP_CERT")],
    *[(json.dumps({"version": 1, "services": {"db": {"port": 5432, **more}}}),
       want) for more, want in (
          ({"to": "127.0.0.1:1"}, "services.db.to: unknown key"),
          ({"command": ["sh"], "image": IMAGE}, "services.db.command: unknown"),
          ({"image": "postgres:16"}, "with its digest"),
          ({"image": IMAGE, "port": 80}, "services.db.port: must be from 1024"),
          ({"image": IMAGE, "env": {"A": "\u001b"}}, "ASCII"),
          ({"image": IMAGE, "env": {"LD_PRELOAD": "x"}}, "no variable"),
          ({"image": IMAGE, "health": "sh"}, "of at most 16 words"),
          ({"image": IMAGE, "tmpfs": ["/x:y"]}, "absolute paths"),
          ({"image": IMAGE, "volumes": ["/:/"]}, "services.db.volumes: unknown"))],
    (json.dumps({"version": 1, "undo": {"leaveOut": [".env"]}}),
     "may not be set by a project: what undo leaves out"),
    *[(json.dumps({"version": 1, "forge": forge}), want) for forge, want in (
        ({"hosts": ["evil.example"]}, "forge.hosts: unknown key"),
        ({"credential": {"env": "X"}}, "forge.credential: unknown key"),
        ({"classic": True}, "forge.classic: unknown key"),
        ({"repositories": ["me/*"]}, "is no repository"),
        ({"repositories": ["me"]}, "is no repository"),
        ({"repositories": "me/shop"}, "must be an array"),
        ({"write": "allow"}, "only narrows"),
        ({"read": "allow"}, "only narrows"),
        ({"merge": True}, "merge"), ([], "must be an object"))],
    (json.dumps({"version": 1, "undo": False}), "must be an object"),
    (json.dumps({"version": 1, "undo": {"maxDays": 0}}), "unknown key"),
    (json.dumps({"version": 1, "services": ["/run/x.sock"]}), "is no name"),
    (json.dumps({"version": 1, "policy": {"allow": ["x"]}}), "policy"),
    (json.dumps({"version": 1, "policy": {"workspace": "writable"}}),
     "only narrows"),
    *[(json.dumps({"version": 1, "policy": {key: [text]}}), "must be")
      for key in ("deny", "ask") for text in (
          "", "write", "write /etc", "write ../x", "write a/*/b", "tool x",
          "tool a/b/c", "allow tool a/b", "write a\u202eb")],
    (json.dumps({"version": 1, "policy": {"deny": "tool a/b"}}),
     "must be an array"),
    (json.dumps({"version": 1, "policy": {"deny": ["tool a/b"] * 17}}),
     "at most 16"),
    *[(json.dumps({"version": 1, "ports": ports}), want) for ports, want in (
        (["3000:3000"], "must be numbers"), ([80], "must be numbers"),
        ([3000.5], "must be numbers"), ({"3000": 3000}, "must be an array"),
        ([70000], "must be numbers"))],
    *[(json.dumps({"version": 1, "instructions": text}), want)
      for text, want in (
          ("do", "must be an array"), (["a\nb"], "ASCII"), ([""], "ASCII"),
          (["x" * 513], "ASCII"), (["x" * 500] * 5, "at most 2048 bytes"),
          (["x"] * 41, "at most 40 lines"), (["a\u001b[31m"], "ASCII"))],
    (json.dumps({"version": 1, "budget": {"maxSteps": -1}}), "maxSteps"),
    (json.dumps({"version": 1, "budget": {"x": 1}}), "not known"),
    (json.dumps({"version": 1, "agent": "--config"}), "is no name"),
    (json.dumps({"version": 1, "install": [{"run": ["--x"]}]}), "program"),
    (json.dumps({"version": 1, "install": [{"run": "rm"}]}), "array"),
    (json.dumps({"version": 1, "install": [{"run": ["x"], "when": ["../y"]}]}),
     "below the project"),
    (" " * 300000 + "{}", "256 KiB"),
]


def test_bad(work):
    p = Place(work)
    path = os.path.join(p.project, ".ironcurtain.json")
    for text, want in BAD:
        write(p, text)
        out = project(p, "check", status=1)
        t.ok(want in out and "\x1b" not in out, f"{text.strip()[:60]}: {want}", out)
    os.unlink(path)
    os.mkfifo(path)
    t.ok("no regular file" in project(p, "check", status=1), "a FIFO")
    os.unlink(path)
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(path)
    t.ok("no regular file" in project(p, "check", status=1), "a socket")
    os.unlink(path)
    os.symlink(os.path.join(p.home, "config.json"), path)
    t.ok("symbolic link" in project(p, "check", status=1), "a link")
    r = start(p)
    t.ok(r.returncode == 1 and "--no-project" in r.stderr, "no start with it",
         r.stderr)
    os.unlink(path)
    t.ok("project init" in project(p, "show", status=1), "no file")
    for agent in ("none", "command"):
        where = os.path.join(p.home, "sessions", "20991231-000000-" +
                             agent[:4])
        os.makedirs(where, 0o700)
        h.put(os.path.join(where, "session.json"), json.dumps(
            {"format": 2, "agent": agent, "workspace": p.project}), 0o600)
        project(p, "init")
        path = os.path.join(p.project, ".ironcurtain.json")
        with open(path, encoding="utf-8") as f:
            t.equal(json.load(f), {"version": 1},
                    f"a session of {agent} names no agent")
        os.unlink(path)
        shutil.rmtree(where)
    project(p, "init")
    t.ok("good" in project(p, "check"), "init writes a good one")
    project(p, "init", status=1)


def main():
    for case in (test_nobody, test_yes, test_terminal, test_install,
                 test_services, test_forge, test_told, test_many,
                 test_bad):
        with h.workdir() as work, t.case(case.__name__):
            case(work)
    t.done()


if __name__ == "__main__":
    main()
