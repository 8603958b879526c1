#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""`icctl config`: nothing is saved that a session would refuse, and no
credential comes by a command line."""
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
KEY = "sk-ant-api03-" + "Ab3" * 20


def run(env, *args):
    return subprocess.run([h.program("icctl"), *args], env=env, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=60 * h.PATIENCE, check=False)


def read(env):
    path = os.path.join(env["IRONCURTAIN_HOME"], "config.json")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as f:
        return f.read()


def good(env, *args):
    r = run(env, "config", *args)
    t.equal((r.returncode, r.stderr), (0, ""), " ".join(args))
    return r.stdout


def refused(env, why, *args, status=1):
    before = read(env)
    r = run(env, "config", *args)
    t.ok(r.returncode == status and why in r.stderr and read(env) == before,
         f"refused, and nothing is changed: {' '.join(args)[:60]}", r)
    t.ok(KEY not in r.stderr + r.stdout, "no credential is repeated")


AMELIA = """
active_profile: secure
profiles:
  other: {sandbox: {mode: none}}
  secure:
    driver: api
    model: a/large
    agents:
      developer: {model: a/small, options: {turns: 3}}
    sandbox:
      mode: container
      image: amelia-sandbox:latest
      network_allowlist_enabled: true
      memory_limit: 4g
      network_allowed_hosts:
        - api.anthropic.com
        - docs.example.org
        - docs.example.org
        - npm.example.org
        - github.com
        - 192.0.2.7
    providers:
      openrouter: {api_key_env: MY_KEY, base_url: "https://gw.example.org"}
      openai: {api_key: KEY}
      nobody: {base_url: "https://x.example.org"}
    "we\x1b]0;ird": 1
"""


def test_amelia(env, work):
    path = h.put(os.path.join(work, "profile.yaml"),
                 AMELIA.replace("KEY}", KEY + "}"))
    refused(env, "--yes writes it", "import-amelia", path)
    out = good(env, "import-amelia", "--yes", path)
    for key, became in (
            ("driver", "icctl driver"), ("model", '"model"'),
            ("agents.developer.options.turns", "the orchestrator's own"),
            ("sandbox.mode", "every session has a sandbox"),
            ("sandbox.image", "image, for the runtime docker"),
            ("sandbox.memory_limit", "no such setting"),
            ("sandbox.network_allowed_hosts[0]", "the provider anthropic"),
            ("sandbox.network_allowed_hosts[1]", "destinations.amelia-web"),
            ("sandbox.network_allowed_hosts[2]", "is already"),
            ("sandbox.network_allowed_hosts[3]", "destinations.amelia-npm"),
            ("sandbox.network_allowed_hosts[4]", "needs its repositories"),
            ("sandbox.network_allowed_hosts[5]", "only names of hosts"),
            ("providers.openrouter.api_key_env", "credentials.openrouter"),
            ("providers.openrouter.base_url", "providers.openrouter.upstream"),
            ("providers.openai.api_key", "icctl login openai"),
            ("providers.nobody.base_url", "no provider has this name")):
        line = next((b for a, b in zip(out.split("\n"), out.split("\n")[1:])
                     if a.split(" = ")[0] == key), "")
        t.contains(line, became, f"{key}: {became}")
    t.ok(KEY not in out and "\x1b" not in out, "no key, no escape", out)
    t.equal(json.loads(read(env)), {
        "image": "amelia-sandbox:latest", "runtime": "docker",
        "destinations": {
            "amelia-web": {"kind": "web", "hosts": ["docs.example.org"]},
            "amelia-npm": {"kind": "registry", "registry": "npm",
                           "hosts": ["npm.example.org"]}},
        "credentials": {"openrouter": {"env": "MY_KEY"}},
        "providers": {"openrouter": {"upstream": "https://gw.example.org"}}},
            "and it is in the file")
    before = read(env)
    t.contains(good(env, "import-amelia", "--yes", path), "There is nothing "
               "to write", "a second time changes nothing")
    t.equal(read(env), before, "indeed")
    t.contains(good(env, "import-amelia", "--yes", path, "other"),
               "no session without a sandbox", "a profile by its name")
    for name, text, why in (
            ("a.yaml", "sandbox: [1]\n", "sandbox: must be an object"),
            ("b.yaml", "sandbox: {mode: vm}\n", "sandbox.mode: must be"),
            ("c.yaml", "sandbox: {network_allowed_hosts: x}\n",
             "must be a list"),
            ("d.yaml", "profiles: {a: {}, b: {}}\n", "several profiles"),
            ("e.yaml", "active_profile: c\nprofiles: {a: {}}\n",
             'no profile "c"'),
            ("f.yaml", "providers: {openai: {base_url: 'ftp://x'}}\n",
             "upstream"),
            ("g.yaml", "profiles: {a: 1}\n", "must be an object"),
            ("h.json", "{", "h.json"),
            ("i.yaml", "a: *b\n", "no anchor of this name"),
            ("nothing.yaml", None, "nothing.yaml")):
        file = os.path.join(work, name)
        if text is not None:
            h.put(file, text)
        refused(env, why, "import-amelia", "--yes", file)


def test_set(env):
    t.contains(good(env), "as shipped", "without a file")
    t.contains(good(env, "set", "limits.homeMb", "2048"), "not set -> 2048",
               "it says what has changed")
    good(env, "set", "notify", '["/usr/bin/true", "x y"]')
    good(env, "set", "agent.claude-code.path", "~/bin/claude")
    good(env, "set", "policy.name", "coding")
    good(env, "set", "maxConcurrentSessions", "null")
    good(env, "set", "/agent/my.agent/model", "large")
    t.equal(json.loads(read(env)), {
        "limits": {"homeMb": 2048}, "notify": ["/usr/bin/true", "x y"],
        "agent": {"claude-code": {"path": "~/bin/claude"},
                  "my.agent": {"model": "large"}},
        "policy": {"name": "coding"}, "maxConcurrentSessions": None},
        "the file has it, in the order in which it was set")
    path = os.path.join(env["IRONCURTAIN_HOME"], "config.json")
    t.equal(os.stat(path).st_mode & 0o777, 0o600, "and is private")
    t.equal(os.listdir(env["IRONCURTAIN_HOME"]), ["config.json"],
            "no other file is left")
    rows = good(env, "ls").splitlines()
    t.ok("limits.homeMb = 2048" in rows and
         '/agent/my.agent/model = "large"' in rows, "ls has keys for set",
         rows)
    t.equal(good(env, "get", "limits.homeMb"), "2048\n", "get a number")
    t.equal(good(env, "get", "policy.name"), "coding\n", "get a text")
    t.equal(json.loads(run(env, "--json", "config", "get", "agent").stdout),
            json.loads(read(env))["agent"], "get an object")
    t.contains(good(env, "unset", "limits.homeMb"), "2048 -> not set",
               "unset")
    t.ok("limits" not in json.loads(read(env)), "an empty object goes, too")


def test_refused(env):
    refused(env, "did you mean maxConcurrentSessions", "set",
            "maxConcurrentSession", "3")
    refused(env, "must be", "set", "maxConcurrentSessions", "-3")
    refused(env, "must be", "set", "limits.homeMb", "much")
    refused(env, "no members", "set", "policy.name.x", "1")
    refused(env, "not set", "unset", "limits.homeMb")
    refused(env, "not set", "get", "limits.homeMb")
    refused(env, "not a key", "set", "a..b", "1")
    refused(env, "not a key", "set", "", "1")
    refused(env, "more than", "set", ".".join("a" * 20), "1")
    refused(env, "usage", "set", "policy.name", status=64)
    refused(env, "usage", "what", status=64)
    refused(env, "icctl login", "set", "anthropicApiKey", KEY)
    refused(env, "icctl login", "set", "credentials.anthropic.env", KEY)
    refused(env, "config edit", "set", "serverCredentials.git.TOKEN", "abc")
    refused(env, "terminal", "edit", status=64)
    # A profile that a session would refuse is refused, too.
    refused(env, "profiles.work", "set", "profiles.work.limits", "{}")


def test_broken(env):
    """A file that is broken is not replaced."""
    path = os.path.join(env["IRONCURTAIN_HOME"], "config.json")
    saved = read(env)
    h.put(path, '{"policy": {"name": "a", "name": "b"}}', 0o600)
    refused(env, "config.json", "set", "limits.homeMb", "1024")
    refused(env, "config.json", "get", "policy.name")
    os.chmod(path, 0o666)
    refused(env, "config.json", "ls")
    h.put(path, saved, 0o600)
    os.chmod(path, 0o600)
    secret = json.loads(saved)
    secret["serverCredentials"] = {"git": {"TOKEN": "very-secret"}}
    h.put(path, json.dumps(secret), 0o600)
    r = run(env, "config")
    t.ok("very-secret" not in r.stdout and "not shown" in r.stdout,
         "secrets of servers are not shown", r.stdout)
    t.ok("very-secret" not in run(env, "--json", "config").stdout,
         "nor in JSON")
    refused(env, "config edit", "get", "serverCredentials.git.TOKEN")
    good(env, "set", "limits.homeMb", "1024")
    t.contains(read(env), "very-secret", "and they stay when another is set")


def test_edit(env, work):
    """An editor that makes a mistake first."""
    editor = h.put(os.path.join(work, "editor"), (
        "#!/bin/sh\nif grep -q 4096 \"$2\"; then sed -i s/4096x/4096/ \"$2\";"
        " else sed -i s/1024/4096x/ \"$2\"; fi\n"), 0o755)
    before = read(env)
    term = terminal.Terminal([h.program("icctl"), "config", "edit"],
                             {**env, "EDITOR": f"{editor} --wait"})
    term.until(rb"not JSON[^$]*Edit it again")
    t.equal(read(env), before, "a mistake is told, and nothing is changed")
    term.answer(b"y\n")
    term.until(rb"Saved")
    t.equal(term.end_status(), 0, "the next try is saved")
    t.equal(json.loads(read(env))["limits"]["homeMb"], 4096, "as edited")
    term = terminal.Terminal([h.program("icctl"), "config", "edit"],
                             {**env, "EDITOR": "false"})
    term.until(rb"nothing is changed")
    t.equal(term.end_status(), 1, "an editor that fails changes nothing")
    t.equal(os.listdir(env["IRONCURTAIN_HOME"]), ["config.json"],
            "no copy is left")


def main():
    with h.workdir() as work:
        home = os.path.join(work, "home")
        env = {"PATH": "/usr/bin:/bin", "HOME": work, "LANG": "C.UTF-8",
               "IRONCURTAIN_HOME": home}
        test_set(env)
        test_refused(env)
        test_broken(env)
        test_edit(env, work)
        test_amelia({**env, "IRONCURTAIN_HOME": os.path.join(work, "other")},
                    work)
    t.done()


main()
