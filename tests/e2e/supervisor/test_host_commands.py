#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Attacks on commands of the user's that run on the host: the agent rewrites
what their arguments and variables lead to. Each attack is first made without
IronCurtain, where it works. Then the notify command and a command that prints
a key run in real sessions, and nothing of the agent's may run."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
RULES = [h.rule("ask", "escalate", server=["filesystem"])]
SERVERS = {"filesystem": {"command": "icfs", "args": ["/workspace"]}}
TOOLS = {"filesystem": {"read_text_file": {"path": ["read-path"]}}}
AGENT = ["--", "/bin/sleep", "1000"]


class Place:
    """A workspace with a blank in its name, below the user's home, and what
    the agent has planted in it. Everything there leaves the same trace."""

    def __init__(self, work):
        self.work = work
        self.home = os.path.join(work, "user")
        self.ws = os.path.join(self.home, "My Project")
        self.trace = os.path.join(work, "trace")
        touch = f"import os; os.open('{self.trace}', os.O_CREAT, 0o600)"
        self.put("n.sh", f"#!/bin/sh\n: >'{self.trace}'\n")
        self.put("n.py", touch + "\n")
        self.put("sitecustomize.py", touch + "\n")
        self.put("json.py", touch + "\n")
        self.put("x.cjs", f"require('fs').writeFileSync('{self.trace}', '')\n")
        self.put("X.pm", f"open(F, '>', '{self.trace}'); 1;\n")
        self.put("config", f"[alias]\n\tx = !: >'{self.trace}'\n")

    def put(self, name, text):
        os.chmod(h.put(os.path.join(self.ws, name), text, 0o755), 0o755)

    def ran(self):
        """Returns whether anything of the agent's ran, and forgets it."""
        there = os.path.exists(self.trace)
        if there:
            os.unlink(self.trace)
        return there

    def session(self, config, env=None, runtime="none", **kw):
        s = h.Session(self.work, SERVERS, RULES, TOOLS, config=config,
                      runtime=runtime, options=AGENT if runtime == "bwrap" else [],
                      env=env, **kw)
        s.argv[s.argv.index("--workspace") + 1] = s.workspace = self.ws
        return s


def arguments(p):
    """Returns commands of which an argument leads to the agent's files."""
    link = os.path.join(p.work, "link")
    if not os.path.lexists(link):
        os.symlink(p.ws, link)
    return {
        "a script": ["/bin/sh", p.ws + "/n.sh"],
        "a script behind a link": ["/bin/sh", link + "/n.sh"],
        "a script behind ..": ["/bin/sh", p.home + "/x/../My Project/n.sh"],
        "a path from the root": ["/bin/sh", p.ws[1:] + "/n.sh"],
        "an option with a path": ["/usr/bin/perl", "-I" + p.ws, "-mX", "/dev/null"],
        "an assignment": ["/usr/bin/env", "PYTHONPATH=" + p.ws, h.PYTHON, "/dev/null"],
        "a program behind a wrapper": ["/usr/bin/nice", p.ws + "/n.sh"],
        "text of a shell": ["/bin/sh", "-c", "cd ~ && './My Project/n.sh'"],
        "text with several options": ["/bin/bash", "-o", "pipefail", "-euc",
                                      'exec "$HOME/My Project/n.sh"'],
        "text of another interpreter": [
            h.PYTHON, "-c", "import os, sys; sys.path.insert(0, os.environ['HOME'] "
            "+ '/My Proj' + 'ect'); import n"],
        "text behind a wrapper": ["/usr/bin/env", "sh", "-c", "cd ~/My*; ./n.sh"],
    }


def variables(p):
    """Returns variables that make a program load the agent's files, with such
    a program."""
    found = {
        "PYTHONPATH": (p.ws, [h.PYTHON, "/dev/null"]),
        "PERL5OPT": (f"-I{p.ws} -mX".replace(" Project", "*"), None),
        "BASH_ENV": ("$HOME/My Project/n.sh", ["/bin/bash", "/dev/null"]),
        "PERL5LIB": ("/none:" + p.ws, ["/usr/bin/perl", "-mX", "/dev/null"]),
        "GIT_CONFIG_GLOBAL": (p.ws + "/config", ["/usr/bin/git", "x"]),
        "NODE_OPTIONS": (f'--require "{p.ws}/x.cjs"', ["/usr/bin/node", "/dev/null"]),
        "ENV": ("${HOME}/My Project/n.sh", None),
    }
    return {k: v for k, v in found.items()
            if v[1] and os.path.exists(v[1][0])}


def baseline(p, words, env=None):
    subprocess.run(words, env={"PATH": "/usr/bin:/bin", "HOME": p.home,
                               **(env or {})}, cwd="/", check=False,
                   stdin=subprocess.DEVNULL, capture_output=True)
    return p.ran()


def refused(s, *parts):
    r = subprocess.run(s.argv, env=s.env, capture_output=True, text=True,
                       timeout=30, check=False)
    return r.returncode == 78 and all(x in r.stderr for x in parts), r.stderr


def notified(s, end):
    """Runs a session until its notify command has ended, which is seen by the
    file that its script writes."""
    with s:
        m = s.client()
        m.start_call("filesystem__read_text_file", {"path": "/etc/hostname"})
        s.held()
        h.wait_for(lambda: os.path.exists(end), "the command did not end")
        m.close()
    os.unlink(end)


def test_arguments(work):
    p = Place(work)
    os.makedirs(os.path.join(p.home, "x"))
    for what, words in arguments(p).items():
        t.ok(baseline(p, words), f"baseline: {what} runs the agent's code")
        text = what.startswith("text")
        ok, why = refused(p.session({"notify": words}), "notify: ", "refused",
                          '"shell": true' if text else p.ws)
        t.ok(ok and not p.ran(), f"--runtime none: {what}: refused", why)
    ok, why = refused(p.session({"notify": arguments(p)["a script"]},
                                runtime="bwrap"), "notify: ", p.ws)
    t.ok(ok, "--runtime bwrap: a script that is not there is refused as well", why)
    for runtime, command in (("none", {"shell": True}), ("bwrap", {})):
        end = os.path.join(work, "end")
        notified(p.session({"notify": {**command, "command": [
            "/bin/sh", "-c", f": >{end}"]}}, runtime=runtime), end)
        t.ok(True, f"--runtime {runtime}: text that leads nowhere can run")


def test_variables(work):
    """An unlisted variable is not passed on; a listed one is refused."""
    p = Place(work)
    end = os.path.join(work, "end")
    for name, (value, words) in variables(p).items():
        t.ok(baseline(p, words, {name: value}),
             f"baseline: {name} runs the agent's code")
        script = h.put(os.path.join(work, "tell"), "#!/bin/sh\n"
                       + " ".join(words) + f"\n: >{end}\n", 0o755)
        os.chmod(script, 0o755)
        for runtime in ("none", "bwrap"):
            notified(p.session({"notify": [script]}, {name: value}, runtime), end)
            t.ok(not p.ran(), f"--runtime {runtime}: {name} is not passed on")
            ok, why = refused(p.session({"notify": {
                "command": [script], "variables": [name]}}, {name: value},
                runtime), name, "leads into", p.ws)
            t.ok(ok and not p.ran(), f"{runtime}: listed, {name} is refused", why)


PROBE = """
for d in {dirs}; do
  echo "$d: $(ls -A "$d" | wc -l) $(touch "$d/y" 2>/dev/null && echo writable)"
done
for d in '{ws}' /proc/[0-9]*/cwd /proc/[0-9]*/root/workspace; do
  [ -e "$d/n.sh" ] && "$d/n.sh"
done
id -u; pwd; ls -d {view}/..
"""


def test_hidden(work):
    """With bubblewrap, places that agents can write are empty for commands:
    the workspace, the session's own directories, a server's view, and the
    workspace of another session. /proc is no way to them."""
    p = Place(work)
    end, out = os.path.join(work, "end"), os.path.join(work, "out")
    view = os.path.join(p.home, "view")
    mine, theirs = os.path.join(work, "session"), os.path.join(work, "b")
    dirs = [p.ws, mine + "/sandbox", mine + "/home", view, theirs]
    for d in dirs:
        h.put(os.path.join(d, "f"), "x")
    os.chmod(mine, 0o700)
    probe = PROBE.format(dirs=" ".join(f"'{d}'" for d in dirs), ws=p.ws, view=view)
    SERVERS["filesystem"]["sandbox"] = {"filesystem": {"allowWrite": [view]}}
    s = p.session({"notify": ["/bin/sh", "-c",
                              f"({probe}) >{out} 2>/dev/null; : >{end}"]},
                  runtime="bwrap")
    del SERVERS["filesystem"]["sandbox"]
    other = h.Session(os.path.join(work, "o"), {}, env={"IRONCURTAIN_HOME": s.home})
    other.argv[other.argv.index("--workspace") + 1] = theirs
    other.argv += ["--config", h.put(os.path.join(work, "b.json"), "{}", 0o600)]
    shell = subprocess.Popen(["/bin/sleep", "100"], cwd=p.ws)
    with other:
        r = subprocess.run(["/bin/sh", "-c", PROBE.format(
            dirs="", ws="/none", view=view)], stdin=subprocess.DEVNULL,
            capture_output=True, check=False)
        t.ok(p.ran(), "baseline: /proc leads to the workspace", r.stderr)
        notified(s, end)
    shell.kill()
    shell.wait()
    with open(out, encoding="utf-8") as f:
        lines = f.read().splitlines()
    t.equal(lines[:5], [d + ": 0 " for d in dirs],
            "all places of agents are empty and read-only")
    t.equal(lines[5:], [str(os.getuid()), "/", view + "/.."],
            "it runs as the user, in /, with all other files")
    t.ok(not p.ran(), "and none of the agent's code has run")


def test_key(work, provider):
    """A command that prints a key does so where the agent's files are hidden,
    and by its own name, which a virtual environment needs."""
    p = Place(work)
    venv = os.path.join(p.home, "venv")
    subprocess.run([h.PYTHON, "-m", "venv", "--without-pip", venv], check=True)
    script = h.put(os.path.join(p.home, "key"), f"""#!{venv}/bin/python3
import os, sys
sys.path.insert(0, "{p.ws}")
try:
    import n
except ImportError:
    assert sys.prefix == "{venv}", sys.prefix
    print("{h.ANTHROPIC_KEY}")
""", 0o755)
    os.chmod(script, 0o755)
    t.ok(baseline(p, [script]), "baseline: the key's program runs the agent's code")
    with p.session({"credentials": {"anthropic": {"command": [script]}}},
                   runtime="bwrap", provider=provider) as s:
        r = s.icctl("keys", "reload", "anthropic")
        t.equal(r.returncode, 0, "keys reload: " + r.stderr)
        t.equal(s.model().message("hello").status, 200, "its key is used")
    t.ok(not p.ran(), "and none of the agent's code has run")


def test_lost(work, provider):
    """A command that misses a variable fails with the line that gives it."""
    p = Place(work)
    script = h.put(os.path.join(p.home, "key"), "#!/bin/sh\n"
                   f"[ -n \"$VAULT_ADDR\" ] && echo {h.ANTHROPIC_KEY}\n", 0o755)
    os.chmod(script, 0o755)
    env = {"VAULT_ADDR": "https://vault.example.org:8200", "OF_MINE": "x",
           "SHLVL": "2"}
    command = {"command": [script]}
    for runtime in ("none", "bwrap"):
        s = p.session({"credentials": {"anthropic": command}}, env, runtime,
                      provider=provider)
        ok, why = refused(s, "exited with status 1",
                          "did not get VAULT_ADDR, OF_MINE", "credentials.anthropic "
                          'of config.json: "variables": ["VAULT_ADDR"]')
        t.ok(ok and "SHLVL" not in why, f"{runtime}: the first failure names it", why)
        r = s.icctl("doctor")
        t.ok("VAULT_ADDR" in r.stdout and '"variables": ["VAULT_ADDR"]' in r.stdout,
             "and so does icctl doctor", r.stdout)
        s = p.session({"credentials": {"anthropic": {
            **command, "variables": ["VAULT_ADDR"]}}}, env, runtime, provider=provider)
        with s:
            t.equal(s.model().message("hello").status, 200, "with it, it works")
        t.ok("VAULT_ADDR" not in s.icctl("doctor").stdout, "and doctor is content")
    s = p.session({"notify": ["/bin/sh", "/dev/null/x"]}, env)
    with s:
        m = s.client()
        m.start_call("filesystem__read_text_file", {"path": "/etc/hostname"})
        h.wait_for(lambda: "the notify command exited" in s.process.stderr(),
                   "no word about the notify command")
        t.contains(s.process.stderr(), 'add to notify of config.json: "variables": '
                   '["VAULT_ADDR"]', "a notify command that fails says so")
        m.close()


def main():
    for test in (test_arguments, test_variables, test_hidden):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    with h.workdir() as place:
        provider = h.Provider(place)
        for test in (test_key, test_lost):
            with h.workdir() as work, t.case(test.__name__):
                test(work, provider)
        provider.end()
    t.done()


if __name__ == "__main__":
    main()
