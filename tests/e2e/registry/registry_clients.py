# SPDX-License-Identifier: ISC
"""The real package managers with the registries of test_registry.py, through
the session's proxy: they install packages that are old enough, and report why
others are refused."""
import json
import os
import re
import shutil
import subprocess

# Older versions need a git repository instead of the sparse protocol.
CARGO_MIN = (1, 68)


def cargo_program():
    """Returns a cargo that is new enough and runs, or None and the reason."""
    path = os.environ.get("IC_CARGO") or shutil.which("cargo")
    if not path:
        return None, "no cargo in PATH or IC_CARGO"
    try:
        a = subprocess.run([path, "--version"], capture_output=True, text=True,
                           timeout=30, check=False,
                           env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})
    except OSError as e:
        return None, str(e)
    found = re.match(r"cargo (\d+)\.(\d+)", a.stdout)
    if a.returncode != 0 or not found:
        return None, f"{path} does not run: {a.stderr.strip()[:200]}"
    if tuple(map(int, found.groups())) < CARGO_MIN:
        return None, f"{path} {found[0]}: older than 1.68"
    if not any(os.access(os.path.join(d, "rustc"), os.X_OK)
               for d in (os.path.dirname(path), "/usr/bin")):
        return None, f"{path}: no rustc beside it"
    return path, None


class Clients:
    def __init__(self, t, s, r, work, bridge, tree, index="index.test"):
        self.index = index
        self.t, self.s, self.r = t, s, r
        self.work, self.bridge, self.tree = work, bridge, tree
        self.ca = os.path.join(s.dir, "orientation", "ca-cert.pem")

    def run(self, argv, cwd, **env):
        os.makedirs(cwd, exist_ok=True)
        proxy, ca = self.bridge.url, self.ca
        return subprocess.run(argv, cwd=cwd, env={
            "PATH": "/usr/bin:/bin", "HOME": cwd, "LANG": "C.UTF-8",
            "HTTPS_PROXY": proxy, "https_proxy": proxy,
            "npm_config_globalconfig": os.devnull, "NODE_EXTRA_CA_CERTS": ca,
            "SSL_CERT_FILE": ca, "CURL_CA_BUNDLE": ca, "PIP_CERT": ca,
            "CARGO_HTTP_CAINFO": ca, **env}, capture_output=True, text=True,
            timeout=90, check=False)

    def run_npm(self, cwd, *args):
        # Outside all other packages, with this registry only.
        return self.run(["/usr/bin/npm", *args, "--registry",
                         "https://npm.test/", "--no-audit", "--no-fund",
                         "--no-update-notifier", "--fetch-retries=0"], cwd)

    def npm(self):
        t, r = self.t, self.r
        if not os.path.exists("/usr/bin/npm"):
            t.skip("npm", "not installed")
            return
        cwd = os.path.join(self.work, "npm")
        os.makedirs(cwd)
        with open(os.path.join(cwd, "package.json"), "w",
                  encoding="utf-8") as f:
            json.dump({"name": "p", "version": "1.0.0"}, f)
        a = self.run_npm(cwd, "install", "good-lib", "@team/util")
        t.equal(a.returncode, 0, "npm install")
        got = {}
        for name in ("good-lib", "dep-lib", "@team/util"):
            path = os.path.join(cwd, "node_modules", name, "package.json")
            if os.path.exists(path):
                with open(path, encoding="utf-8") as f:
                    got[name] = json.load(f)["version"]
        t.equal(got, {"good-lib": "1.0.0", "dep-lib": "2.0.0",
                      "@team/util": "0.1.0"}, "... installs what is old enough")
        if a.returncode != 0:
            t.ok(False, "npm says", a.stderr)
        a = self.run_npm(cwd, "install", "good-lib@1.1.0")
        t.ok(a.returncode != 0 and "good-lib@1.1.0" in a.stderr,
             "npm finds no young version", a.stderr)
        a = self.run_npm(cwd, "install", "fresh-lib")
        t.ok(a.returncode != 0 and "only 1 day(s) old" in a.stderr,
             "npm shows why", a.stderr)
        before = len(r.seen())
        a = self.run_npm(cwd, "publish", "--//npm.test/:_authToken=x")
        t.ok(a.returncode != 0, "npm does not publish", a.stderr)
        a = self.run_npm(cwd, "search", "good")
        t.ok(a.returncode != 0, "npm does not search", a.stderr)
        t.equal([x for x in r.seen()[before:] if x["method"] != "GET" or
                 "/-/" in x["path"]], [], "... nothing of it leaves")

    def pip(self):
        t = self.t
        pip = ["/usr/bin/python3", "-m", "pip"]
        if subprocess.run([*pip, "--version"], capture_output=True,
                          check=False).returncode != 0:
            t.skip("pip", "python3-pip is not installed")
            return
        cwd = os.path.join(self.work, "pip")
        more = ["--index-url", "https://pypi.test/simple/", "--no-cache-dir",
                "--disable-pip-version-check", "--retries=0", "--target",
                os.path.join(cwd, "site"), "--no-deps"]
        a = self.run([*pip, "install", "wheelie", *more], cwd)
        t.ok(a.returncode == 0 and
             os.path.isdir(os.path.join(cwd, "site", "wheelie-1.0.dist-info")),
             "pip installs what is old enough", a.stderr)
        a = self.run([*pip, "install", "wheelie==2.0", *more], cwd)
        t.ok(a.returncode != 0 and "wheelie==2.0" in a.stderr,
             "pip finds no young version", a.stderr)

    def project(self, name, deps):
        """Creates a package that needs these crates from the test's
        registry."""
        cwd = os.path.join(self.work, "cargo", name)
        for path, text in (
                ("Cargo.toml", f'[package]\nname="{name}"\nversion="0.1.0"\n'
                 'edition="2021"\n[dependencies]\n' +
                 "".join(f'{d} = "{v}"\n' for d, v in deps.items())),
                ("src/lib.rs", ""),
                (".cargo/config.toml", '[source.crates-io]\nreplace-with = '
                 '"test"\n[source.test]\nregistry = '
                 '"sparse+https://' + self.index + '/"\n[net]\nretry = 0\n')):
            path = os.path.join(cwd, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        return cwd

    def run_cargo(self, cwd, *args):
        """Runs cargo with its own rustc, and one home for all projects."""
        return self.run([self.cargo_path, *args], cwd,
                        PATH=os.path.dirname(self.cargo_path) +
                        ":/usr/bin:/bin",
                        CARGO_HOME=os.path.join(self.work, "cargo-home"))

    def cargo_installs(self):
        t, r = self.t, self.r
        cwd = self.project("good", {n: "1" for n in (
            "crab-claw", "a", "ab", "abc", "olden")})
        before = len(r.seen())
        a = self.run_cargo(cwd, "fetch")
        t.equal(a.returncode, 0, "cargo fetch")
        if a.returncode != 0:
            t.ok(False, "cargo says", a.stderr)
            return
        with open(os.path.join(cwd, "Cargo.lock"), encoding="utf-8") as f:
            got = dict(re.findall(r'name = "(.*)"\nversion = "(.*)"\nsource',
                                  f.read()))
        want = {"crab-claw": "1.0.0", "rusty": "1.0.0", "Mixed_Case": "1.0.0",
                "a": "1.0.0", "ab": "1.0.0", "abc": "1.0.0",
                "olden": "1.0.0"}
        t.equal(got, want, "... takes what is old enough, with what that needs")
        src = os.path.join(self.work, "cargo-home", "registry", "src")
        t.equal({n for d in os.listdir(src)
                 for n in os.listdir(os.path.join(src, d))},
                {f"{n}-{v}" for n, v in want.items()}, "... and unpacks it")
        seen = r.seen()[before:]
        t.ok({x["path"] for x in seen} >= {
            "/index/config.json", "/index/1/a", "/index/2/ab",
            "/index/3/a/abc", "/index/cr/ab/crab-claw",
            "/index/mi/xe/mixed_case",
            "/static/crates/Mixed_Case/1.0.0/download"} and
            {x["method"] for x in seen} == {"GET"},
             "... by the sparse protocol", [x["path"] for x in seen])
        a = self.run_cargo(cwd, "update")
        t.equal(a.returncode, 0, "cargo update, with what it keeps")

    def cargo_refuses(self):
        t, r = self.t, self.r
        before = len(r.seen())
        for name, version, why in (
                ("rusty", "=1.1.0", 'requirement `rusty = "=1.1.0"`'),
                ("fresh-crate", "1", "only 1 day(s) old"),
                ("newish", "1", "No publish timestamp for 'newish'"),
                ("evil", "1", "is on the deny list"),
                ("missing", "1", "no matching package named `missing`"),
                ("forged", "1", "checksum")):
            cwd = self.project("no-" + name, {name: version})
            a = self.run_cargo(cwd, "fetch")
            t.ok(a.returncode != 0 and why in a.stderr,
                 f"cargo: {name}: {why}", a.stderr)
        t.ok(not any("evil" in p or "rusty-1.1" in p or "rusty/1.1" in p or
                     "fresh-crate/1" in p or "newish/1" in p
                     for p in r.paths(before)), "... none of which is asked for",
             r.paths(before))

    def cargo_keeps(self):
        """Publishing, searching and logging in are refused."""
        t, r = self.t, self.r
        cwd = self.project("mine", {})
        index = ("--index", f"sparse+https://{self.index}/")
        before = len(r.seen())
        for args in (("publish", "--no-verify", "--allow-dirty", "--token",
                      "secret", *index),
                     ("search", "rusty", *index),
                     ("yank", "--token", "secret", "--version", "1.0.0",
                      "rusty", *index)):
            a = self.run_cargo(cwd, *args)
            t.ok(a.returncode != 0 and "does not support API" in a.stderr,
                 f"cargo {args[0]}: has nowhere to go", a.stderr)
        t.equal([x for x in r.seen()[before:] if x["method"] != "GET" or
                 not x["path"].startswith("/index/")], [],
                "... nothing of it leaves")

    def cargo(self):
        self.cargo_path, why = cargo_program()
        if why is not None:
            self.t.skip("cargo", why)
            return
        self.cargo_installs()
        self.cargo_refuses()
        self.cargo_keeps()

    def curl(self):
        t = self.t
        if shutil.which("curl") is None:
            t.skip("curl", "not installed")
            return
        cwd = os.path.join(self.work, "curl")

        def curl(*args):
            return self.run(["/usr/bin/curl", "-sS", "--cacert", self.ca,
                             *args], cwd)
        for http in ("--http1.1", "--http2"):
            a = curl(http, "-o", "out", "-w", "%{http_code}",
                     "https://npm.test/good-lib/-/good-lib-1.0.0.tgz")
            with open(os.path.join(cwd, "out"), "rb") as f:
                t.ok(a.stdout == "200" and f.read() == self.tree.files[
                    "/npm/good-lib/-/good-lib-1.0.0.tgz"],
                     f"curl {http}: a file", a.stderr)
            a = curl(http, "https://npm.test/good-lib/-/good-lib-1.1.0.tgz")
            t.ok("only 1 day(s) old" in a.stdout, f"curl {http}: why not",
                 a.stdout + a.stderr)
            a = curl(http, "-o", "out", "-w", "%{http_code}",
                     "https://npm.test/wide-lib")
            with open(os.path.join(cwd, "out"), "rb") as f:
                t.ok(a.stdout == "200" and
                     list(json.load(f)["versions"]) == ["1.0.0"],
                     f"curl {http}: 10 MB of metadata", a.stderr)

    def apt(self):
        t = self.t
        if shutil.which("apt-get") is None:
            t.skip("apt", "not installed")
            return
        cwd = os.path.join(self.work, "apt")
        for d in ("state/lists/partial", "cache/archives/partial",
                  "etc/parts"):
            os.makedirs(os.path.join(cwd, d))
        for name, text in (("status", ""), (
                "sources", "deb [trusted=yes] https://deb.test/debian plain "
                "main\n")):
            with open(os.path.join(cwd, name), "w", encoding="ascii") as f:
                f.write(text)
        given = {"Dir::State": cwd + "/state", "Dir::Cache": cwd + "/cache",
                 "Dir::State::status": cwd + "/status",
                 "Dir::Etc::sourcelist": cwd + "/sources",
                 "Dir::Etc::sourceparts": "-", "Dir::Etc::parts": cwd +
                 "/etc/parts", "APT::Sandbox::User": "",
                 "Acquire::https::Proxy": self.bridge.url,
                 "Acquire::Retries": "0", "Acquire::https::CaInfo": self.ca,
                 "Acquire::AllowInsecureRepositories": "true",
                 "Acquire::Languages": "none", "Dir::Etc::main": "/dev/null"}
        apt = ["/usr/bin/apt-get", *(x for k, v in given.items()
                                     for x in ("-o", f"{k}={v}"))]
        a = self.run([*apt, "update"], cwd)
        t.ok(a.returncode == 0 and
             "/deb/debian/dists/plain/Release" in self.r.paths(),
             "apt-get update", a.stdout + a.stderr)
        a = self.run([*apt, "download", "hello-plus"], cwd)
        path = os.path.join(cwd, "hello-plus_2.10-3+b1_all.deb")
        t.ok(a.returncode == 0 and os.path.exists(path),
             "apt-get downloads a package", a.stdout + a.stderr)
        a = self.run([*apt, "download", "evil"], cwd)
        t.ok(a.returncode != 0 and "is on the deny list" in
             a.stdout + a.stderr, "apt-get shows why not", a.stdout + a.stderr)
