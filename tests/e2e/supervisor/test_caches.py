#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Package caches of the host in the agent's sandbox: the tools' variables lead
to them, nothing in there can write to them, and what may hold a credential, is
reached by a link, or lies where an agent writes is refused."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from started import Place  # noqa: E402

t = h.Tap()
AT = "/opt/ironcurtain/caches"
PACKAGE = "_cacache/content-v2/sha512/ab/cd/ef"
# Each line: an attack, and then its result.
ATTACKS = f"""
for at in {AT}/npm/_cacache {AT}/npm {AT}/go {AT}/cargo/registry {AT}/cargo {AT}/pip; do
  touch $at/new 2>/dev/null && echo "made $at/new"
done
echo mine > {AT}/pip/one-1.0-py3-none-any.whl && echo wrote
echo mine > ~/.npm/{PACKAGE} && echo wrote through the link
rm -f {AT}/go/example.com/one/@v/list && echo removed
mv {AT}/cargo/registry/cache {AT}/cargo/registry/other && echo renamed
chmod 777 {AT}/npm/_cacache && echo changed
ln {AT}/pip/one-1.0-py3-none-any.whl /home/agent/x && echo linked
mount -o remount,rw {AT}/pip && echo mounted
true
"""
# The same ones, as the user outside of the sandbox.
CONTROL = ["touch new && rm new", "mv index other && mv other index",
           "chmod 700 . && chmod 755 ."]


def make(work):
    p = Place(work)
    files = {
        ".npm/" + PACKAGE: "package\n", ".npm/_cacache/tmp/left": "",
        ".npm/_cacache/index-v5/aa/bb/cc": "index\n",
        ".cargo/registry/index/crates.io/config.json": "{}",
        ".cargo/registry/cache/crates.io/one-1.0.0.crate": "crate\n",
        ".cargo/credentials.toml": "token = 'mine'",
        "go/pkg/mod/cache/download/example.com/one/@v/list": "v1.0.0\n",
        "go/pkg/mod/cache/vcs/x/config": "https://user:secret@host/",
        "wheels/one-1.0-py3-none-any.whl": "wheel\n",
    }
    for name, text in files.items():
        path = os.path.join(p.user, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        h.put(path, text)
    return p


def configure(p, **caches):
    h.put(os.path.join(p.home, "config.json"),
          h.json.dumps({"packageCaches": caches}), 0o600)


def sh(p, text):
    r = p.run("/bin/sh", "-c", text)
    return r.returncode, r.stdout.decode(), r.stderr.decode()


def contents(top):
    every = {}
    for at, dirs, files in os.walk(top):
        for name in dirs + files:
            st = os.lstat(os.path.join(at, name))
            every[os.path.join(at, name)] = (st.st_mode, st.st_mtime_ns,
                                             st.st_size)
    return every


def test_read(p):
    configure(p, cargo=True, go=True, npm=True, pip="~/wheels")
    code, out, err = sh(p, (
        "cat ~/.npm/{0} $CARGO_HOME/registry/cache/crates.io/*.crate "
        "$PIP_FIND_LINKS/*.whl; GO=${{GOPROXY#file://}}; "
        "cat ${{GO%%,*}}/example.com/one/@v/list; "
        "echo $npm_config_prefer_offline $CARGO_NET_OFFLINE; "
        "echo new > ~/.npm/_cacache/content-v2/sha512/ab/cd/other && echo ok;"
        "ls -a $CARGO_HOME {1} {1}/npm ~/.npm/_cacache").format(PACKAGE, AT))
    said = out.split("\n")
    t.ok(said[:6] == ["package", "crate", "wheel", "v1.0.0", "true true",
                      "ok"], "the tools' variables lead to the packages, "
         "and npm has room of its own", (out, err))
    t.ok(code == 0 and "credentials" not in out and "vcs" not in out and
         "tmp" not in out, "what is beside the packages is not there", out)


def test_write(p):
    for attack in CONTROL:
        r = subprocess.run(["/bin/sh", "-c", attack], check=False,
                           cwd=os.path.join(p.user, ".cargo/registry"))
        t.equal(r.returncode, 0, f"control: {attack}")
    before = contents(p.user)
    code, out, err = sh(p, ATTACKS)
    t.ok(code == 0 and out == "", "every write is refused", (out, err))
    t.ok(err.count("Read-only file system") >= 5,
         "because it is mounted read-only", err)
    t.equal(contents(p.user), before, "and the host's caches are as before")


def refused(p, text, name, **caches):
    configure(p, **caches)
    before = os.listdir(os.path.join(p.home, "sessions"))
    code, out, err = sh(p, "echo began")
    lines = [x for x in err.splitlines() if "packageCaches" in x]
    t.ok(code == 78 and "began" not in out and len(lines) == 1 and
         text in lines[0], name, (code, out, err))
    t.equal(os.listdir(os.path.join(p.home, "sessions")), before,
            f"{name}: nothing is left")


def test_refused(p):
    wheels = os.path.join(p.user, "wheels")
    h.put(os.path.join(wheels, ".npmrc"), "//registry/:_authToken=x")
    refused(p, "files of such a name hold credentials: .npmrc",
            "a file with a telling name", pip="~/wheels")
    os.unlink(os.path.join(wheels, ".npmrc"))
    h.put(os.path.join(wheels, "notes"), "npm_" + "a1B2" * 9)
    refused(p, "it has what looks like a key", "a file with a key",
            pip="~/wheels")
    os.unlink(os.path.join(wheels, "notes"))
    os.symlink("/etc/passwd", os.path.join(wheels, "link"))
    refused(p, "it is a symbolic link", "a link in it", pip="~/wheels")
    os.unlink(os.path.join(wheels, "link"))
    os.mkfifo(os.path.join(wheels, "fifo"))
    refused(p, "it is no plain file", "a FIFO in it", pip="~/wheels")
    os.unlink(os.path.join(wheels, "fifo"))
    os.symlink(wheels, os.path.join(p.user, "way"))
    refused(p, "a symbolic link leads from", "a link to it", pip="~/way")
    os.makedirs(os.path.join(p.project, "cache"))
    refused(p, "the agent can write there", "one in the workspace",
            pip=os.path.join(p.project, "cache"))
    refused(p, "contains", "one around everything", pip=p.work)
    refused(p, "your home directory", "the home directory", pip="~")
    refused(p, "IRONCURTAIN_HOME", "a session's files", pip=p.home)
    refused(p, "No such file or directory", "one that is not there",
            go="~/nowhere")
    refused(p, "must be the path of a directory of wheels", "pip's own",
            pip=True)
    refused(p, "maven", "another tool", maven=True)


def test_kept_home(p):
    """An agent has set traps in a home that stays."""
    configure(p, npm=True)
    keep = ("--home", "project")
    argv = lambda text: p.argv(  # noqa: E731
        "/bin/sh", "-c", text, options=keep)
    run = lambda text: subprocess.run(  # noqa: E731
        argv(text), env=p.env, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=60 * h.PATIENCE, check=False)
    victim = os.path.join(p.user, "victim")
    os.makedirs(victim)
    r = run(f"rm -rf ~/.npm; ln -s {victim} ~/.npm")
    t.equal(r.returncode, 0, "an agent leaves a link for npm's cache")
    r = run("echo began")
    t.ok("began" in r.stdout and "npm sees nothing of it" in r.stderr and
         os.listdir(victim) == [], "the next start does not follow it",
         (r.stdout, r.stderr))


def main():
    with h.workdir() as work:
        p = make(work)
        with t.case("read"):
            test_read(p)
        with t.case("write"):
            test_write(p)
        with t.case("refused"):
            test_refused(p)
        with t.case("kept home"):
            test_kept_home(p)
    t.done()


if __name__ == "__main__":
    main()
