#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Programs of a sandbox find its way out and trust it without an option: each
client that this machine has fetches from a destination, reaches a server of the
sandbox's own by each spelling of loopback, and prints what it prints outside."""
import glob
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from started import Place  # noqa: E402

t = h.Tap()
URL = "https://repo.example.org/"
JAVA = r"""
import java.net.*; import java.net.http.*;
public class F { public static void main(String[] a) throws Exception {
  for (String u : a) {
    System.out.println(((HttpURLConnection) URI.create(u).toURL()
        .openConnection()).getResponseCode());
    System.out.println(HttpClient.newHttpClient().send(HttpRequest.newBuilder(
        URI.create(u)).build(), HttpResponse.BodyHandlers.discarding())
        .statusCode());
  }
} }
"""
NODE = r"""
const clients = {http: require('http'), https: require('https')};
const get = (u, agent) => new Promise((done) => {
  const c = clients[u.split(':')[0]];
  c.get(u, agent ? {agent: new c.Agent()} : {}, (r) => {
    r.resume();
    done(r.statusCode);
  }).on('error', (e) => done(e.message));
});
// The whole URL to the proxy, as some libraries do.
const whole = (u) => new Promise((done) => {
  const p = new URL(process.env.HTTPS_PROXY);
  require('http').request({hostname: p.hostname, port: p.port, path: u,
    headers: {host: new URL(u).host}}, (r) => { r.resume();
    done(r.statusCode); }).on('error', (e) => done(e.message)).end();
});
(async () => {
  for (const u of process.argv.slice(2)) {
    console.log(await fetch(u).then((r) => r.status,
      (e) => (e.cause || e).message));
    console.log(await get(u, false));
    console.log(await get(u, true));
    if (u.startsWith('https:'))
      console.log(await whole(u));
  }
})();
"""
PYTHON = r"""
import importlib.util, sys, urllib.request
for u in sys.argv[1:]:
    print(urllib.request.urlopen(u).status)
    for name in ("requests", "httpx"):
        if importlib.util.find_spec(name):
            print(importlib.import_module(name).get(u).status_code)
"""
GO = r"""
package main
import ("fmt"; "net/http"; "os")
func main() {
	for _, u := range os.Args[1:] {
		r, err := http.Get(u)
		if err != nil { fmt.Println(err); continue }
		fmt.Println(r.StatusCode)
	}
}
"""
# Answers 200 on a port of its own, and runs the words that follow with {}
# replaced by that port.
SERVE = r"""
import http.server, socket, subprocess, sys, threading
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *a): pass
class S(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
s = S(("::", 0), H)
threading.Thread(target=s.serve_forever, daemon=True).start()
sys.exit(subprocess.run([w.replace("{}", str(s.server_port))
                         for w in sys.argv[1:]]).returncode)
"""
# Runs a browser on a page of the sandbox's own, which asks the destination and
# says what came of it.
BROWSER = r"""
import http.server, subprocess, sys, threading, urllib.parse
said = threading.Event()
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path.startswith("/said"):
            print(urllib.parse.unquote(self.path), flush=True)
            said.set()
        page = b"<script>fetch('%s', {mode: 'no-cors'}).then(() => 'fetched'," \
            b"String).then(a => fetch('/said/' + encodeURIComponent(a)))" \
            b"</script>"
        page = page % sys.argv[1].encode() if self.path == "/" else b""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)
    def log_message(self, *a): pass
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
threading.Thread(target=s.serve_forever, daemon=True).start()
browser = subprocess.Popen([*sys.argv[2:], "http://localhost:%d/" %
                            s.server_port], stdout=2)
said.wait(90)
browser.kill()
"""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "ironcurtain")


class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.seen.append(self.path)
        status = 404 if self.path.startswith("/m2/") else 200
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def serve():
    s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    s.seen = []
    threading.Thread(target=s.serve_forever, daemon=True).start()
    return s


def place(work, server):
    p = Place(work, {"destinations": {"repo": {
        "kind": "web", "hosts": ["repo.example.org"],
        "upstream": f"http://127.0.0.1:{server.server_port}"}}})
    for name, text in (("F.java", JAVA), ("f.js", NODE), ("f.py", PYTHON),
                       ("f.go", GO), ("serve.py", SERVE), ("browser.py", BROWSER)):
        h.put(os.path.join(p.project, name), text)
    return p


def test_fetch(work):
    p = place(work, serve())
    cases = [("python", "/usr/bin/python3", ["/usr/bin/python3", "f.py"]),
             ("node", shutil.which("node"), ["node", "f.js"]),
             ("curl", shutil.which("curl"),
              ["curl", "-s", "-w", "%{http_code}\\n"])]
    for java in sorted(glob.glob("/usr/lib/jvm/*/bin/java")):
        cases.append((java, os.access(java, os.X_OK), [java, "F.java"]))
    if shutil.which("go"):
        subprocess.run(["go", "build", "-o", "f", "f.go"], cwd=p.project,
                       check=True, env={**os.environ, "HOME": work,
                                        "GOCACHE": os.path.join(work, "go")})
        cases.append(("go", True, ["./f"]))
    for name, there, argv in cases:
        if not there:
            t.skip(name, "it is not installed")
            continue
        own = [x for x in LOOPBACK
               # urllib takes [::1] for a name, which httpx refuses in NO_PROXY.
               if (name, x) != ("python", "[::1]")]
        r = p.run("/usr/bin/python3", "serve.py", *argv, URL,
                  *[f"http://{x}:{{}}/" for x in own])
        t.ok(len(r.stdout.split()) > len(own) and
             set(r.stdout.split()) == {b"200"} and r.stderr == b"",
             f"{name} fetches from a destination, and from the sandbox itself "
             f"as {', '.join(own)}, and says nothing else",
             f"{r.stdout} {r.stderr}")


def test_refused(work):
    """A client that sends a request for the sandbox to the proxy is told."""
    p = place(work, serve())
    for url in ("http://[::1]:81/", "http://127.9.9.9:81/"):
        r = p.run("curl", "-s", "--noproxy", "", url)
        t.contains(r.stdout, b"This address is the sandbox itself",
                   f"{url} through the proxy says what it is")
    r = p.run("curl", "-s", "--noproxy", "", "http://192.0.2.1/")
    t.contains(r.stdout, b"there is no plain HTTP", "and another does not")


def test_same(work):
    """Versions, which every script reads, are printed as outside."""
    p = place(work, serve())
    for argv in (["java", "-version"], ["node", "--version"],
                 ["mvn", "-B", "-v"]):
        if not shutil.which(argv[0]):
            t.skip(argv[0], "it is not installed")
            continue
        want = subprocess.run(argv, capture_output=True, check=True,
                              env={"PATH": "/usr/bin:/bin", "HOME": p.user,
                                   "LANG": "C.UTF-8"})
        got = p.run(*argv)
        t.equal((got.stdout, got.stderr), (want.stdout, want.stderr),
                f"{' '.join(argv)} as outside")


def test_maven(work):
    if not shutil.which("mvn"):
        return t.skip("mvn", "it is not installed")
    s = serve()
    p = place(work, s)
    h.put(os.path.join(p.project, "pom.xml"), f"""<project>
<modelVersion>4.0.0</modelVersion><parent><groupId>x</groupId>
<artifactId>y</artifactId><version>1</version><relativePath/></parent>
<artifactId>b</artifactId><repositories><repository><id>central</id>
<url>{URL}m2</url></repository></repositories></project>""")
    r = p.run("mvn", "-B", "validate")
    t.ok("/m2/x/y/1/y-1.pom" in s.seen, "Maven asks its repository",
         r.stdout[-800:])
    return None


def test_npm(work):
    """A certificate of the project's own does not keep npm from its way out."""
    if not shutil.which("npm"):
        return t.skip("npm", "it is not installed")
    s = serve()
    p = place(work, s)
    ca = h.put(os.path.join(p.project, "own.pem"), "")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-keyout", "/dev/null",
                    "-subj", "/CN=other", "-out", ca], capture_output=True,
                   check=True)
    h.put(os.path.join(p.project, ".npmrc"), "cafile=own.pem\n")
    r = p.run("npm", "ping", "--registry", URL, "--fetch-retries", "0")
    t.ok(r.returncode == 0 and "/-/ping" in s.seen,
         "npm trusts the session's CA beside a cafile in the project's .npmrc",
         f"{s.seen} {r.stderr[-800:]}")
    return None


BROWSERS = (["chromium", "--headless", "--disable-gpu", "--no-first-run"],
            ["firefox-esr", "--headless", "--no-remote", "--profile",
             "/tmp/profile"])


def test_browser(work):
    """Browsers are served as they are: a test server of the sandbox, and a
    destination with the session's CA."""
    for argv in BROWSERS:
        if not shutil.which(argv[0]):
            t.skip(argv[0], "it is not installed")
            continue
        s = serve()
        where = os.path.join(work, argv[0])
        os.mkdir(where)
        p = place(where, s)
        r = p.run("/bin/sh", "-c", "mkdir /tmp/profile; exec \"$@\"", "sh",
                  "/usr/bin/python3", "browser.py", URL, *argv)
        t.ok(r.stdout == b"/said/fetched\n", f"{argv[0]} shows a page of the "
             "sandbox, which fetches from a destination",
             f"{r.stdout} {r.stderr[-600:]}")
        t.equal(s.seen[:1], ["/"], "and that request went there")


def test_options(work):
    """Options of the user's are joined, and what cannot work is left out."""
    p = place(work, serve())
    r = p.run("/bin/sh", "-c", "echo $NODE_OPTIONS; echo $MAVEN_OPTS", env={
        "NODE_OPTIONS": "--max-old-space-size=300 --require /nowhere/hook.js",
        "MAVEN_OPTS": "-Xmx123m -Dnexus.password=sesame"})
    node, maven = r.stdout.decode().splitlines()
    t.contains(node, "node-proxy.cjs --max-old-space-size=300",
               "the user's options of Node follow ours")
    t.ok("hook" not in node, "without the file", node)
    t.contains(maven, "-Xmx123m", "those of Maven as well")
    t.ok("sesame" not in maven, "without a password", maven)
    t.contains(p.log(), "NODE_OPTIONS: options that name a file",
               "the log says so")
    r = p.run("/bin/sh", "-c", "echo $JAVA_TOOL_OPTIONS", env={
        "JAVA_TOOL_OPTIONS": "-Dmy.password=sesame -Xmx123m"})
    t.ok(r.stdout.endswith(b"-Xmx123m\n") and b"sesame" not in r.stdout,
         "those of every JVM as well", r.stdout)
    r = p.run("/bin/sh", "-c", "env | grep -c ^JAVA_TOOL_OPTIONS", env={
        "JAVA_TOOL_OPTIONS": "-javaagent:/nowhere/x.jar"})
    t.equal(r.stdout, b"%d\n" % (not glob.glob("/usr/lib/jvm/*/bin/java")),
            "a JDK of the system needs none of ours, and says nothing")


def test_store(work):
    """The store has the session's CA, read-only, and outside nothing is
    changed."""
    store = "/etc/ssl/certs/java/cacerts"
    if not os.path.exists(store):
        return t.skip("store", "there is no Java")
    with open(store, "rb") as f:
        before = f.read()
    p = place(work, serve())
    r = p.run("/usr/bin/python3", "-c", f"""
import json
out = []
for path in ("{store}", "/etc/ironcurtain/java-cacerts",
             "/etc/ironcurtain/node-proxy.cjs"):
    try:
        open(path, "ab")
        out.append(path)
    except OSError:
        pass
a = open("{store}", "rb").read()
b = open("/etc/ironcurtain/java-cacerts", "rb").read()
print(json.dumps([out, a == b, a[:4].hex(), len(a)]))""")
    opened, same, magic, size = json.loads(r.stdout)
    t.equal((opened, same, magic), ([], True, "feedfeed"),
            "Java's store is the session's, and cannot be written")
    t.ok(size > 10000, "with the machine's certificates", size)
    with open(store, "rb") as f:
        t.ok(f.read() == before, "the machine's own store is as it was")
    return None


def main():
    if not shutil.which("bwrap"):
        t.skip("clients", "bubblewrap is not installed")
        t.done()
    for test in (test_fetch, test_refused, test_same, test_maven, test_npm,
                 test_browser, test_options, test_store):
        if sys.argv[1:] not in ([], [test.__name__]):
            continue
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
