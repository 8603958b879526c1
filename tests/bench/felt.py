# SPDX-License-Identifier: ISC
"""How long a developer waits in a sandbox and outside: for a build, for `git
status` in 100,000 files, and for `npm ci` from a local mirror. One session runs
all; the same commands run outside, in the same directory, in alternating
order, and only the commands are timed. The mirror speaks TLS to both, as
registries do. A ratio is the median of the rounds' ratios."""
import base64
import hashlib
import json
import os
import shutil
import ssl
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib"),
                os.path.join(HERE, "..", "lib", "standins"),
                os.path.join(HERE, "..", "e2e", "supervisor")]
import harness as h  # noqa: E402
from provider_ca import make_certificates  # noqa: E402
from started import Place  # noqa: E402
from test_toolchains_long import HOST, serve  # noqa: E402
from toolchain_rows import tarred, write  # noqa: E402

AIM = 1.05
FILES, UNITS, PACKAGES = 100000, 24, 30
# Runs in the sandbox: times each command that it is told.
WORKER = r"""
import json, os, subprocess, time
n = 0
while True:
    if not os.path.exists(f"go{n}"):
        time.sleep(0.005)
        continue
    with open(f"go{n}", encoding="utf-8") as f:
        argv = json.load(f)
    began = time.monotonic()
    r = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)
    took = time.monotonic() - began
    with open(f"done{n}.new", "w", encoding="utf-8") as f:
        json.dump([r.returncode, took, r.stdout.decode(errors="replace")], f)
    os.rename(f"done{n}.new", f"done{n}")
    n += 1
"""


def build(top):
    """A project of C that takes seconds."""
    body = "".join(f"int f{i}(int a, char *s) {{ char b[64]; snprintf(b, "
                   f"sizeof(b), \"%d\", a + {i}); return strcmp(b, s); }}\n"
                   for i in range(150))
    for i in range(UNITS):
        write(top, f"c/u{i}.c", "#include <stdio.h>\n#include <string.h>\n" +
              body.replace("int f", f"int u{i}_f") +
              ("int main(void) { return 0; }\n" if i == 0 else ""))
    write(top, "c/Makefile", "O = " + " ".join(
        f"u{i}.o" for i in range(UNITS)) + "\np: $(O)\n\t$(CC) -o p $(O)\n"
        ".c.o:\n\t$(CC) -O1 -c $<\n")


def many(top, env):
    """A repository of many files, all of them in a commit."""
    for i in range(FILES):
        if i % 100 == 0:
            os.makedirs(os.path.join(top, f"many/d{i // 100}"))
        with open(os.path.join(top, f"many/d{i // 100}/f{i}"), "w",
                  encoding="ascii") as f:
            f.write(f"{i}\n")
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-C",
           os.path.join(top, "many")]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"],
                  ["status"]):
        subprocess.run([*git, *words], env=env, check=True,
                       stdout=subprocess.DEVNULL)


def packages(top, at):
    """A mirror of npm packages below `at`, and a project with a lock file."""
    lock = {"name": "p", "version": "1.0.0", "lockfileVersion": 3,
            "packages": {"": {"name": "p", "version": "1.0.0",
                              "dependencies": {}}}}
    for i in range(PACKAGES):
        name = f"dep-{i}"
        tgz = write(at, f"npm/{name}/-/{name}-1.0.0.tgz", tarred({
            "package/package.json": json.dumps(
                {"name": name, "version": "1.0.0", "main": "f0.js"}),
            **{f"package/f{k}.js": f"module.exports = '{name} {k}';\n" * 40
               for k in range(40)}}))
        digest = "sha512-" + base64.b64encode(
            hashlib.sha512(tgz).digest()).decode()
        write(at, f"npm/{name}.json", json.dumps({
            "name": name, "dist-tags": {"latest": "1.0.0"}, "versions": {
                "1.0.0": {"name": name, "version": "1.0.0", "dist": {
                    "tarball": f"{{SELF}}/npm/{name}/-/{name}-1.0.0.tgz",
                    "integrity": digest}}}}))
        lock["packages"][""]["dependencies"][name] = "1.0.0"
        lock["packages"][f"node_modules/{name}"] = {
            "version": "1.0.0", "integrity": digest}
    write(top, "npm/package.json", json.dumps(lock["packages"][""]))
    write(top, "npm/package-lock.json", json.dumps(lock))


def rows(inside):
    """[(name, shell command, programs it needs)]; the mirror differs."""
    npm = ("cd npm && rm -rf node_modules cache && npm ci --silent --no-audit "
           f"--no-fund --cache cache --registry {inside}/npm/ && "
           f"[ $(ls node_modules | wc -l) = {PACKAGES} ]")
    return [("build", "cd c && make -s -B p", ("make", "cc")),
            ("git status", "cd many && [ -z \"$(git status --porcelain)\" ]",
             ("git",)),
            ("npm ci", npm, ("npm", "node"))]


def mirror(work, certs, self_url=None):
    """A mirror with TLS, of what lies in work/mirror. Returns its address."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(certs, "leaf.pem"),
                            os.path.join(certs, "leaf.key"))
    return serve(os.path.join(work, "mirror"), self_url, context)[1]


class Sandbox:
    def __init__(self, p):
        self.p, self.n = p, 0
        write(p.project, "worker.py", WORKER)
        self.run = p.popen("python3", "worker.py")

    def time(self, command):
        at = os.path.join(self.p.project, f"go{self.n}")
        write(self.p.project, f"go{self.n}.new",
              json.dumps(["/bin/sh", "-c", command]))
        os.rename(at + ".new", at)
        done = os.path.join(self.p.project, f"done{self.n}")
        self.n += 1
        while not os.path.exists(done):
            if self.run.poll() is not None:
                raise RuntimeError(self.run.communicate()[1].decode())
            time.sleep(0.005)
        with open(done, encoding="utf-8") as f:
            code, took, said = json.load(f)
        if code != 0:
            raise RuntimeError(f"{command}: {said}")
        return took

    def end(self):
        self.run.terminate()
        self.run.communicate()


def outside(p, command):
    began = time.monotonic()
    r = subprocess.run(["/bin/sh", "-c", command], env=p.env, cwd=p.project,
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, check=False)
    took = time.monotonic() - began
    if r.returncode != 0:
        raise RuntimeError(f"{command}: {r.stdout.decode(errors='replace')}")
    return took


def measure(p, box, url, rounds):
    out = []
    for (name, here, needs), (_, there, _) in zip(rows(url),
                                                  rows(f"https://{HOST}")):
        if not all(shutil.which(n, path=p.env["PATH"]) for n in needs):
            print(f"SKIP {name}: {' and '.join(needs)} are needed")
            continue
        outside(p, here)
        box.time(there)
        pairs = []
        for i in range(rounds):
            if i % 2:
                a = outside(p, here)
                pairs.append((a, box.time(there)))
            else:
                b = box.time(there)
                pairs.append((outside(p, here), b))
        out.append({"name": name, "aim": AIM,
                    "outside": statistics.median(a for a, _ in pairs),
                    "inside": statistics.median(b for _, b in pairs),
                    "ratio": statistics.median(b / a for a, b in pairs)})
    return out


def found(rounds):
    """Returns a row for each command."""
    with h.workdir() as work:
        certs = os.path.join(work, "certs")
        make_certificates(certs, ["localhost"])
        ca = os.path.join(certs, "ca.pem")
        url = mirror(work, certs)
        upstream = mirror(work, certs, f"https://{HOST}")
        p = Place(work, {"destinations": {"repo": {
            "kind": "web", "hosts": [HOST], "upstream": upstream, "ca": ca}},
            "resourceBudget": {"maxSteps": 100000}})
        packages(p.project, os.path.join(work, "mirror"))
        build(p.project)
        many(p.project, p.env)
        box = Sandbox(p)
        # For those outside; the sandbox has a CA of its own.
        p.env["npm_config_cafile"] = ca
        try:
            return measure(p, box, url, rounds)
        finally:
            box.end()


def report(rounds, as_json):
    rows_found = found(rounds)
    if as_json:
        print(json.dumps(rows_found))
        return
    print(f"load {os.getloadavg()[0]:.2f}; {rounds} rounds")
    for x in rows_found:
        print(f"{x['name']:12} outside {x['outside']:7.3f} s  inside "
              f"{x['inside']:7.3f} s  ratio {x['ratio']:.3f} (at most {AIM})")
