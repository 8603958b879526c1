#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Toolchains for real: a small project of each is built, tested and given one
dependency from a mirror, outside and in a sandbox, where the mirror is a
destination. Both print the same. The table at the end says which toolchains
were run here, and which were not."""
import http.server
import os
import shutil
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "lib")]
import harness as h  # noqa: E402
from started import Place  # noqa: E402
from toolchain_rows import NOT_HERE, ROWS, mirror, write  # noqa: E402

t = h.Tap()
HOST = "repo.example.org"
# A directory with npm's toolchains, which is shown to the sandbox.
TOOLS = os.environ.get("IC_TOOLCHAINS", "")
TOOLS = TOOLS if os.path.isdir(TOOLS) else ""


class Mirror(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.seen.append(self.path)
        path = os.path.join(self.server.top, self.path.split("?")[0].lstrip("/"))
        if path.endswith("/"):
            path += "index.html"
        if os.path.isdir(path) or not os.path.exists(path):
            path += ".json"
        try:
            with open(path, "rb") as f:
                body = f.read()
        except OSError:
            self.send_error(404)
            return
        if path.endswith(".json"):
            body = body.replace(b"{SELF}", self.server.self_url.encode())
        self.send_response(200)
        self.send_header("content-type", "application/json"
                         if path.endswith(".json") else
                         "text/html" if path.endswith(".html") else
                         "text/plain" if path.endswith(".txt") else
                         "application/octet-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def serve(top, self_url=None, context=None):
    """A mirror for those outside, or for the sandbox, which knows it by
    `self_url`; with TLS, if there is a context. Returns it and its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Mirror)
    url = f"http://127.0.0.1:{server.server_address[1]}"
    if context is not None:
        # The handshake is the connection's thread's, with its first read.
        server.socket = context.wrap_socket(server.socket, server_side=True,
                                            do_handshake_on_connect=False)
        url = url.replace("http", "https", 1)
    server.top, server.seen, server.self_url = top, [], self_url or url
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, url


def runs(row, path):
    return all(shutil.which(n, path=path) for n in row.needs)


def outside(row, p, top, url):
    """Returns what each command printed outside."""
    out = []
    for _, command in row.commands:
        r = subprocess.run(["/bin/sh", "-c", command.replace("{M}", url)],
                           cwd=top, env=p.env, capture_output=True, text=True,
                           stdin=subprocess.DEVNULL, check=False,
                           timeout=180 * h.PATIENCE)
        out.append((r.returncode, r.stdout.strip(), r.stderr[-400:]))
    return out


def inside(row, p):
    """Returns what each command printed in one session."""
    script = "".join(
        "(" + c.replace("{M}", f"https://{HOST}") + f") >o{i} 2>e{i}; "
        f"echo $? >r{i}\n" for i, (_, c) in enumerate(row.commands))
    h.put(os.path.join(p.project, "run.sh"), script)
    r = p.run("/bin/sh", "run.sh", timeout=400)
    out = []
    for i in range(len(row.commands)):
        got = []
        for kind in "roe":
            try:
                with open(os.path.join(p.project, f"{kind}{i}"),
                          encoding="utf-8", errors="replace") as f:
                    got.append(f.read().strip())
            except OSError:
                got.append(r.stderr.decode(errors="replace")[-400:])
        out.append((int(got[0]) if got[0].isdigit() else -1, got[1],
                    got[2][-400:]))
    return out


def files(row, top, url):
    for name, text in row.files.items():
        write(top, name, text.replace("{M}", url))


def test_row(row, work, url, server, upstream):
    config = {"destinations": {"repo": {
        "kind": "web", "hosts": [HOST], "upstream": upstream}}}
    if TOOLS:
        config["agentView"] = {"allowRead": [TOOLS]}
    p = Place(work, config)
    if TOOLS:
        p.env["PATH"] = f"{TOOLS}/node_modules/.bin:" + p.env["PATH"]
    path = p.env["PATH"]
    if not runs(row, path):
        t.skip(row.name, f"not run: {row.package} is not installed")
        return "not run"
    beside = os.path.join(work, "outside")
    os.makedirs(beside)
    files(row, beside, url)
    files(row, p.project, f"https://{HOST}")
    want, got = outside(row, p, beside, url), inside(row, p)
    good = True
    for (what, _), w, g in zip(row.commands, want, got):
        same = w[0] == g[0] == 0 and w[1] == g[1]
        good = good and same
        t.ok(same, f"{row.name}: {what} prints the same", f"outside {w}, "
             f"inside {g}")
    if "{M}" in row.commands[2][1] or any("{M}" in x
                                          for x in row.files.values()):
        t.ok(server.seen, f"{row.name}: the sandbox has asked the mirror")
    return "runs" if good else "differs"


def main():
    if not shutil.which("bwrap"):
        t.skip("toolchains", "bubblewrap is not installed")
        t.done()
    only, table = sys.argv[1:], []
    with h.workdir() as top:
        mirror(top)
        _, url = serve(top)
        server, upstream = serve(top, f"https://{HOST}")
        for row in ROWS:
            if only and row.name not in only:
                continue
            server.seen.clear()
            with h.workdir() as work, t.case(row.name):
                table.append((row.name, row.package,
                              test_row(row, work, url, server, upstream)))
    for name, package, how in table:
        print(f"# {name:10} {package:26} {how}")
    for name in NOT_HERE:
        print(f"# {name:10} {'(not in Debian or npm)':26} not run")
    t.done()


if __name__ == "__main__":
    main()
