#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Floods through name servers: a server of the session asks for ever new names
of its list, whose name server answers with chains of aliases, with messages
that never end, or not at all.  The session lives, and another server's names
and a provider's are resolved meanwhile.

It runs in a network of its own, whose only name server is a stand-in.

    IC_FLOOD_SECONDS: how long each goes on (default: 2)."""
import ctypes
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import floods  # noqa: E402
import harness as h  # noqa: E402

t = h.Tap()
SECONDS = float(os.environ.get("IC_FLOOD_SECONDS") or 2)
KINDS = ("many", "chain", "silent", "endless")
SANDBOX = ["/usr/bin/bwrap", "--unshare-user", "--unshare-net",
           "--die-with-parent", "--dev-bind", "/", "/",
           "--cap-add", "CAP_NET_BIND_SERVICE"]
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
RULES = [h.rule("all", "allow", server=["flood", "quiet", "net"],
                tool=["flood", "echo", "tunnel"])]
TOOLS = {**floods.TOOLS, "net": {"tunnel": {}}}


def server(program, domains, private=False):
    return {"command": h.PYTHON,
            "args": [os.path.join(h.STANDINS, program)],
            "sandbox": {"network": {"allowedDomains": domains,
                                    "allowPrivate": private},
                        "filesystem": {"allowRead": [h.STANDINS]}}}


def servers(work, port):
    return {"quiet": h.echo_server(os.path.join(work, "logs-q", "quiet")),
            "flood": server("mcp_flood.py",
                            [f"*.{kind}.test:443" for kind in KINDS]),
            "net": server("mcp_net.py", [f"*.good.test:{port}"], True)}


def flood(s, m, kind, port):
    target = f"*.{kind}.test:443"
    m.call("flood__flood", {"kind": "names", "seconds": SECONDS,
                            "target": target})
    found = floods.latencies(m, SECONDS)
    t.ok(len(found) >= 5, f"{kind}: the quiet server answers "
         f"({len(found)} calls, p99 "
         f"{floods.percentile(found, 99) * 1000:.1f} ms)")
    got = m.call("net__tunnel", {"target": f"{kind}.good.test:{port}",
                                 "text": "x"})
    head = json.loads(h.text_of(got)).get("head", h.text_of(got))
    # The far side is a provider, which speaks TLS: it is reached, that is all.
    t.ok(head.startswith("HTTP/1.1 200"),
         f"{kind}: another server's names are resolved", head)
    model = s.model("api.anthropic.com")
    t.equal(model.message("hello", "anthropic").status, 200,
            f"{kind}: and a provider's")
    model.close()
    t.equal(s.process.p.poll(), None, f"{kind}: the session lives")


def inside(work):
    names = h.Process([h.PYTHON, os.path.join(h.STANDINS, "name_server.py")],
                      os.path.join(work, "names"))
    # Only the name server has the low port's capability.
    ctypes.CDLL(None).prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    provider = h.Provider(work)
    config = {"providers": {"anthropic": {
        "upstream": f"https://localhost:{provider.port}",
        "ca": provider.ca}}}
    try:
        with h.Session(work, servers(work, provider.port), RULES, TOOLS,
                       provider=provider, config=config) as s:
            m = s.client()
            for kind in KINDS:
                with t.case(kind):
                    flood(s, m, kind, provider.port)
            m.close()
            t.equal(s.stop(), 0, "the session ends as it should")
    finally:
        provider.end()
        names.end()


def outside(work):
    """Run this file in a network of its own."""
    resolv = os.path.join(work, "resolv.conf")
    with open(resolv, "w", encoding="ascii") as f:
        f.write("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    hosts = os.path.realpath("/etc/resolv.conf")
    argv = [*SANDBOX, "--ro-bind", resolv, hosts, "--"]
    r = subprocess.run([*argv, "/bin/true"], capture_output=True, text=True,
                       check=False)
    if r.returncode != 0:
        t.skip("floods through name servers",
               "no network of one's own here: " + r.stderr.strip())
        return
    r = subprocess.run([*argv, sys.executable, os.path.abspath(__file__)],
                       env={**os.environ, "IC_INSIDE": "1"}, check=False)
    sys.exit(r.returncode)


with h.workdir() as w:
    (inside if os.environ.get("IC_INSIDE") else outside)(w)
t.done()
