# SPDX-License-Identifier: ISC
"""The table of toolchains: for each the programs that it needs, a small project,
and how it is built, tested and given one dependency from a mirror. {M} is the
mirror's address. test_toolchains_long.py runs each command outside and in a
sandbox, and prints "not run" where the programs are missing."""
import base64
import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
import zipfile


class Row:
    def __init__(self, name, needs, package, files, build, test, fetch):
        """package: Debian's, or npm's after "npm:". build, test and fetch are
        shell commands; what they print is compared."""
        self.name, self.needs, self.package = name, needs.split(), package
        self.files = files
        self.commands = [("build", build), ("test", test), ("fetch", fetch)]


DEP = "module.exports = 'dep-one';\n"
NPM = json.dumps({"name": "p", "version": "1.0.0",
                  "dependencies": {"dep-one": "1.0.0"}})
SAYS = "node -e 'console.log(require(\"dep-one\"))'"
JAVA = """import java.net.*; import java.net.http.*;
public class M {
    static int twice(int n) { return 2 * n; }
    public static void main(String[] a) throws Exception {
        if (a.length == 0) { System.out.println(twice(21)); return; }
        URI u = URI.create(a[0]);
        System.out.print(HttpClient.newHttpClient().send(
            HttpRequest.newBuilder(u).build(),
            HttpResponse.BodyHandlers.ofString()).body());
        System.out.println(((HttpURLConnection) u.toURL().openConnection())
            .getResponseCode());
    }
}
"""
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>{parent}
<groupId>org.example</groupId><artifactId>{name}</artifactId>
<version>1.0</version><packaging>pom</packaging>{more}</project>
"""
CHILD = POM.format(name="child", parent="<parent><groupId>org.example</groupId>"
                   "<artifactId>dep-one</artifactId><version>1.0</version>"
                   "<relativePath/></parent>", more="<repositories><repository>"
                   "<id>m</id><url>{M}/maven</url></repository></repositories>")
CMAKE = """cmake_minimum_required(VERSION 3.16)
project(p C)
add_executable(p p.c)
enable_testing()
add_test(NAME t COMMAND p)
if(FETCH)
  file(DOWNLOAD ${FETCH}/one.txt ${CMAKE_BINARY_DIR}/one.txt STATUS s)
  file(READ ${CMAKE_BINARY_DIR}/one.txt one)
  message(STATUS "got ${one}")
endif()
"""
C = '#include <stdio.h>\nint main(void) { return puts("42") < 0; }\n'
GO = 'package main\nimport "fmt"\nfunc Twice(n int) int { return 2 * n }\n' \
    'func main() { fmt.Println(Twice(21)) }\n'
GO_TEST = 'package main\nimport "testing"\nfunc TestTwice(t *testing.T) {\n' \
    'if Twice(2) != 4 { t.Fatal("wrong") }\n}\n'
GO_DEP = 'package main\nimport ("fmt"; "example.org/dep")\n' \
    'func main() { fmt.Println(dep.Name) }\n'
PY_TEST = "import unittest, m\nclass T(unittest.TestCase):\n" \
    "    def test(self):\n        self.assertEqual(m.twice(2), 4)\n"

# playwright-core drives Debian's Chromium: its own cannot be had from npm.
PLAYWRIGHT = r"""
const {existsSync} = require('fs');
const bin = process.env.PATH.split(':').find((d) =>
  existsSync(d + '/playwright-core'));
const {chromium} = require(bin + '/../playwright-core');
exports.read = async (url) => {
  const browser = await chromium.launch({executablePath: '/usr/bin/chromium'});
  const page = await browser.newPage();
  await page.goto(url);
  const text = await page.evaluate(() => document.body.innerText);
  await browser.close();
  return text.trim();
};
if (require.main === module)
  exports.read(process.argv[2]).then(console.log);
"""
OWN_SERVER = r"""
const {read} = require('./p.js');
const s = require('http').createServer((q, r) => r.end('mine')).listen(0, () =>
  read(`http://localhost:${s.address().port}/`).then((text) => {
    console.log(text);
    s.close();
  }));
"""
ROWS = [
    Row("node", "node", "nodejs",
        {"m.js": "exports.twice = n => 2 * n; if (require.main === module) "
                 "console.log(exports.twice(21));\n",
         "t.js": "require('assert').equal(require('./m.js').twice(2), 4); "
                 "console.log('ok');\n",
         "f.js": "fetch(process.argv[2]).then(r => r.text()).then("
                 "t => process.stdout.write(t));\n"},
        "node m.js", "node t.js", "node f.js {M}/one.txt"),
    Row("npm", "npm node", "npm", {"package.json": NPM},
        "npm pkg get name", "npm ls >/dev/null 2>&1; echo $?",
        "npm install --silent --no-audit --no-fund --registry {M}/npm/ && "
        + SAYS),
    Row("Yarn 1", "yarn node", "npm:yarn", {"package.json": NPM},
        "yarn --version", "echo ok",
        "yarn install --silent --registry {M}/npm/ && " + SAYS),
    Row("Yarn 4", "yarn4 node", "npm:@yarnpkg/cli-dist",
        {"package.json": NPM, "yarn.lock": "",
         ".yarnrc.yml": "npmRegistryServer: '{M}/npm/'\nnodeLinker: "
                        "node-modules\nenableTelemetry: false\n"
                        "npmMinimalAgeGate: 0\n"
                        "unsafeHttpWhitelist: ['127.0.0.1']\n"},
        "yarn4 --version", "echo ok",
        "yarn4 install --no-immutable >o || { cat o; exit 1; }; " + SAYS),
    Row("playwright", "playwright-core node chromium", "npm:playwright-core",
        {"p.js": PLAYWRIGHT, "own.js": OWN_SERVER},
        "playwright-core --version", "node own.js",
        "node p.js {M}/one.txt"),
    Row("pnpm", "pnpm node", "npm:pnpm", {"package.json": NPM},
        "pnpm --version", "echo ok",
        "pnpm install --silent --registry {M}/npm/ && " + SAYS),
    Row("Bun", "bun", "npm:bun", {"package.json": NPM,
                                  "m.test.ts": "import {expect, test} from "
                                  "'bun:test'; test('t', () => expect(4)"
                                  ".toBe(4));\n", "m.ts": "console.log(42)\n"},
        "bun run m.ts", "bun test >/dev/null 2>&1; echo $?",
        "BUN_CONFIG_REGISTRY={M}/npm/ bun install --silent && "
        "bun -e 'console.log(require(\"dep-one\"))'"),
    Row("Deno", "deno", "npm:deno", {
        "m.ts": "console.log(42)\n", "t.ts": "Deno.test('t', () => {});\n"},
        "deno run m.ts", "deno test -q t.ts >/dev/null 2>&1; echo $?",
        "echo 'import one from \"{M}/dep.ts\"; console.log(one);' > f.ts; "
        "deno run -q --allow-import f.ts 2>/dev/null || deno run -q f.ts"),
    Row("OpenJDK", "javac java", "openjdk-17-jdk-headless", {"M.java": JAVA},
        "javac M.java && java M", "java -ea M", "java M {M}/one.txt"),
    Row("Maven", "mvn java", "maven", {
        "pom.xml": CHILD,
        "own/pom.xml": POM.format(name="own", parent="", more="")},
        "mvn -q -B -f own validate && echo built",
        "mvn -q -B -f own validate && echo tested",
        "rm -rf repo; mvn -q -B -Dmaven.repo.local=repo validate && "
        "ls repo/org/example/dep-one/1.0/dep-one-1.0.pom"),
    Row("Go", "go", "golang-go", {
        "m/go.mod": "module m\n\ngo 1.18\n", "m/m.go": GO, "m/m_test.go": GO_TEST,
        "d/go.mod": "module d\n\ngo 1.18\n\nrequire example.org/dep v1.0.0\n",
        "d/d.go": GO_DEP},
        "cd m && go build -o p . && ./p", "cd m && go test . >/dev/null && "
        "echo ok", "cd d && GOPROXY={M}/go GONOSUMDB='*' GONOSUMCHECK=1 "
        "GOFLAGS=-mod=mod GOSUMDB=off go run ."),
    Row("Rust", "cargo", "cargo", {
        "Cargo.toml": '[package]\nname = "p"\nversion = "1.0.0"\n'
                      'edition = "2018"\n', "src/main.rs":
        "fn twice(n: u32) -> u32 { 2 * n }\nfn main() { println!(\"{}\", "
        "twice(21)); }\n#[test]\nfn t() { assert_eq!(twice(2), 4); }\n"},
        "cargo run -q --offline", "cargo test -q --offline >/dev/null && "
        "echo ok", "curl -sS {M}/one.txt"),
    Row("Ruby", "ruby gem", "ruby", {"m.rb": "puts 42\n"},
        "ruby m.rb", "ruby -e 'raise unless 2 * 2 == 4; puts :ok'",
        "ruby -rnet/http -e 'print Net::HTTP.get(URI(\"{M}/one.txt\"))'; "
        "gem fetch --clear-sources --source {M}/gems dep-one"),
    Row("PHP", "php", "php-cli", {"m.php": "<?php echo 42, \"\\n\";"},
        "php m.php", "php -r 'assert(2 * 2 == 4); echo \"ok\\n\";'",
        "php -r '$c = stream_context_create([\"http\" => [\"proxy\" => "
        "str_replace(\"http:\", \"tcp:\", getenv(\"https_proxy\") ?: \"\"), "
        "\"request_fulluri\" => false]]); echo file_get_contents("
        "\"{M}/one.txt\", false, getenv(\"https_proxy\") ? $c : null);'"),
    Row("R", "Rscript", "r-base-core", {"m.R": "cat(2 * 21, \"\\n\")\n"},
        "Rscript m.R", "Rscript -e 'stopifnot(2 * 2 == 4); cat(\"ok\\n\")'",
        "mkdir -p lib; Rscript -e 'install.packages(\"depone\", "
        "repos = \"{M}/cran\", lib = \"lib\", quiet = TRUE)' >/dev/null 2>&1; "
        "R_LIBS=$PWD/lib Rscript -e 'cat(depone::one(), \"\\n\")'; ls lib"),
    Row("Python", "python3 pip3", "python3-pip", {
        "m.py": "def twice(n):\n    return 2 * n\n\n\nif __name__ == "
                "'__main__':\n    print(twice(21))\n", "test_m.py": PY_TEST},
        "python3 m.py", "python3 -m unittest -q 2>/dev/null; echo $?",
        "rm -rf lib; pip3 install -q --no-cache-dir --disable-pip-version-check "
        "--target lib --index-url {M}/simple/ dep-one && PYTHONPATH=lib "
        "python3 -c 'import dep_one; print(dep_one.NAME)'"),
    Row("pipx", "pipx", "pipx", {}, "pipx --version", "echo ok",
        "export PIPX_HOME=$PWD/px PIPX_BIN_DIR=$PWD/pb; "
        "PIP_INDEX_URL={M}/simple/ pipx install dep-one >/dev/null 2>&1; "
        "pb/dep-one"),
    Row("cmake", "cmake cc make", "cmake", {"CMakeLists.txt": CMAKE, "p.c": C},
        "cmake -S . -B b >/dev/null && cmake --build b >/dev/null && b/p",
        "cd b && ctest >/dev/null && echo ok",
        "cmake -S . -B f -DFETCH={M} | grep got"),
    Row("make", "make cc curl", "make", {
        "Makefile": "p: p.c\n\t$(CC) -o p p.c\ncheck: p\n\t./p >out; "
                    "grep -c 42 out\n", "p.c": C},
        "make -s p && ./p", "make -s check", "curl -sS {M}/one.txt"),
    Row("Perl", "perl", "perl", {"m.pl": "print 2 * 21, \"\\n\";\n"},
        "perl m.pl", "perl -e 'die unless 2 * 2 == 4; print \"ok\\n\"'",
        "wget -qO- {M}/one.txt || curl -sS {M}/one.txt"),
    Row("GHC", "runghc", "ghc", {"m.hs": "main :: IO ()\nmain = print (2 * 21 "
                                         ":: Int)\n"},
        "runghc m.hs", "ghc -e '2 * 2 == (4 :: Int)'", "curl -sS {M}/one.txt"),
    Row("opam", "opam", "opam", {}, "opam --version", "opam config env "
        ">/dev/null 2>&1; echo ok", "curl -sS {M}/one.txt"),
    Row("rbenv", "rbenv", "rbenv", {}, "rbenv --version",
        "rbenv versions --bare >/dev/null && echo ok", "curl -sS {M}/one.txt"),
    Row("nix", "nix-instantiate", "nix-bin", {"m.nix": "2 * 21\n"},
        # Only root makes a store, on either side.
        "nix-instantiate --eval --store dummy:// m.nix",
        "nix-instantiate --eval --store dummy:// -E '2 * 2 == 4'",
        "curl -sS {M}/one.txt"),
]
# A stand-in laid out as the manager does it is in test_toolchains.py.
NOT_HERE = ("rustup", "uv", "mise", "sdkman", "sbt", ".NET", "Gradle",
            "Homebrew")


def write(top, name, data):
    path = os.path.join(top, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    return data if isinstance(data, bytes) else data.encode()


def tarred(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            info.mode = 0o644
            tar.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for name, text in files.items():
            z.writestr(name, text)
    return out.getvalue()


def gems(top):
    """RubyGems' own program makes its index."""
    if not shutil.which("gem"):
        return
    work = os.path.join(top, "gem-work")
    write(work, "d.gemspec", "Gem::Specification.new { |s| s.name = 'dep-one'; "
          "s.version = '1.0.0'; s.summary = 'x'; s.authors = ['x']; "
          "s.files = [] }")
    for argv in (["gem", "build", "d.gemspec", "-o", "dep-one-1.0.0.gem"],
                 ["gem", "generate_index", "-d", os.path.join(top, "gems")]):
        os.makedirs(os.path.join(top, "gems", "gems"), exist_ok=True)
        subprocess.run(argv, cwd=work, check=False, capture_output=True)
        if os.path.exists(os.path.join(work, "dep-one-1.0.0.gem")):
            os.rename(os.path.join(work, "dep-one-1.0.0.gem"),
                      os.path.join(top, "gems", "gems", "dep-one-1.0.0.gem"))


def mirror(top):
    """Fill a directory with one dependency for each kind of mirror. {SELF} in
    a file that ends in .json is the mirror's address for who asks."""
    write(top, "one.txt", "one\n")
    write(top, "dep.ts", "export default 'dep-one';\n")
    tgz = write(top, "npm/dep-one/-/dep-one-1.0.0.tgz", tarred({
        "package/package.json": json.dumps({
            "name": "dep-one", "version": "1.0.0", "main": "i.js"}),
        "package/i.js": DEP}))
    write(top, "npm/dep-one.json", json.dumps({
        "name": "dep-one", "dist-tags": {"latest": "1.0.0"}, "versions": {
            "1.0.0": {"name": "dep-one", "version": "1.0.0", "dist": {
                "tarball": "{SELF}/npm/dep-one/-/dep-one-1.0.0.tgz",
                "shasum": hashlib.sha1(tgz).hexdigest(),
                "integrity": "sha512-" + base64.b64encode(
                    hashlib.sha512(tgz).digest()).decode()}}}}))
    write(top, "maven/org/example/dep-one/1.0/dep-one-1.0.pom",
          POM.format(name="dep-one", parent="", more=""))
    at = "go/example.org/dep/@v/"
    write(top, at + "list", "v1.0.0\n")
    write(top, at + "v1.0.0.info",
          '{"Version":"v1.0.0","Time":"2026-01-01T00:00:00Z"}')
    write(top, at + "v1.0.0.mod", "module example.org/dep\n")
    write(top, at + "v1.0.0.zip", zipped({
        "example.org/dep@v1.0.0/go.mod": "module example.org/dep\n",
        "example.org/dep@v1.0.0/d.go":
            'package dep\n\nconst Name = "dep-one"\n'}))
    info = "dep_one-1.0.0.dist-info/"
    wheel = "dep_one-1.0.0-py3-none-any.whl"
    write(top, f"simple/dep-one/{wheel}", zipped({
        "dep_one.py": "NAME = 'dep-one'\n\n\ndef main():\n    print(NAME)\n",
        info + "METADATA": "Metadata-Version: 2.1\nName: dep-one\n"
                           "Version: 1.0.0\n",
        info + "WHEEL": "Wheel-Version: 1.0\nGenerator: x\n"
                        "Root-Is-Purelib: true\nTag: py3-none-any\n",
        info + "entry_points.txt": "[console_scripts]\n"
                                   "dep-one = dep_one:main\n",
        info + "RECORD": ""}))
    write(top, "simple/dep-one/index.html", f'<a href="{wheel}">{wheel}</a>')
    pkg = ("Package: depone\nVersion: 1.0.0\nTitle: One\nDescription: One "
           "thing.\nLicense: ISC\nAuthor: X\nMaintainer: X <x@example.org>\n")
    write(top, "cran/src/contrib/depone_1.0.0.tar.gz", tarred({
        "depone/DESCRIPTION": pkg, "depone/NAMESPACE": "export(one)\n",
        "depone/R/one.R": 'one <- function() "dep-one"\n'}))
    listed = "Package: depone\nVersion: 1.0.0\n"
    write(top, "cran/src/contrib/PACKAGES", listed)
    write(top, "cran/src/contrib/PACKAGES.gz", gzip.compress(listed.encode()))
    gems(top)
