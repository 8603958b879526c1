#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The part of the machine that a sandbox sees: the files of /etc that all may read, for
agents and for MCP servers, and nothing of the others; the links of /usr lead
where they lead outside, and the own host name resolves."""
import json
import os
import re
import shutil
import stat
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from started import Place  # noqa: E402

t = h.Tap()
# Prints what is in /etc, and where the links of /usr lead, as JSON.
LOOK = r"""
import json, os, socket, sys
etc, links = {}, []
for at, dirs, files in os.walk("/etc"):
    for n in dirs + files:
        p = os.path.join(at, n)
        if os.path.islink(p):
            etc[p] = "link to " + os.readlink(p)
        elif os.path.isdir(p):
            etc[p] = "directory"
        elif os.path.isfile(p):
            try:
                with open(p, "rb") as f:
                    etc[p] = f.read().hex()
            except OSError:
                etc[p] = None
        else:
            etc[p] = "special"
for at, dirs, files in os.walk("/usr"):
    for n in dirs + files:
        p = os.path.join(at, n)
        if os.path.islink(p) and os.path.exists(p):
            links.append(p)
try:
    name = socket.gethostbyname(socket.gethostname())
except OSError as e:
    name = str(e)
json.dump({"etc": etc, "links": links, "name": name}, open(sys.argv[1], "w"))
"""
# Names that no sandbox may have, as far as a machine has them.
NEVER = ("/etc/shadow", "/etc/gshadow", "/etc/machine-id", "/etc/ssh",
         "/etc/cron.d", "/etc/crontab", "/etc/sudoers", "/etc/subuid",
         "/etc/resolv.conf", "/etc/NetworkManager", "/etc/wireguard")


BROWSERS = (r"/etc/(chromium|brave|firefox|opt|opt/(edge|chrome|chrome_for_testing))"
            r"(/policies(/managed)?(/ironcurtain\.json|/policies\.json)?)?"
            r"|/etc/chromium\.d(/zz-ironcurtain)?")


def look(place, run):
    h.put(os.path.join(place, "look.py"), LOOK)
    run()
    with open(os.path.join(place, "look.json"), encoding="utf-8") as f:
        return json.load(f)


def outside(work):
    """The same, outside; run by a process of its own, as it is in a sandbox."""
    import subprocess
    return look(work, lambda: subprocess.run(
        [h.PYTHON, os.path.join(work, "look.py"),
         os.path.join(work, "look.json")], check=True))


def compare(who, got, want):
    for path in NEVER:
        t.ok(path not in got["etc"], f"{who}: no {path}")
    made = {"/etc/passwd", "/etc/group", "/etc/hosts", "/etc/hostname",
            "/etc/nsswitch.conf"}
    wrong = [p for p, x in got["etc"].items()
             if p not in made and not p.startswith("/etc/ironcurtain")
             and p != "/etc/ssl/certs/ca-certificates.crt"
             # Java learns the proxy and the CA there (test_clients.py).
             and not (who == "agent" and p.endswith(
                 ("/net.properties", "/java/cacerts")))
             # Browsers learn the CA there; a server has links that dangle.
             and not re.fullmatch(BROWSERS, p)
             and x != want["etc"].get(p)]
    t.equal(wrong, [], f"{who}: each file of /etc is as outside")
    closed = [p for p in got["etc"] if p not in made and os.path.isfile(p)
              and not os.path.islink(p) and "/ironcurtain" not in p
              and not os.stat(p).st_mode & stat.S_IROTH]
    t.equal(closed, [], f"{who}: none that others may not read")
    t.ok(len(got["etc"]) > len(want["etc"]) / 3, f"{who}: most of /etc",
         f"{len(got['etc'])} of {len(want['etc'])}")
    # A server sees no part of /var, which is its view's.
    links = [x for x in want["links"] if who == "agent" or
             not os.path.realpath(x).startswith("/var/")]
    t.equal(sorted(set(links) - set(got["links"])), [],
            f"{who}: no link of /usr dangles that does not dangle outside")
    t.equal(got["name"], "127.0.0.1", f"{who}: the own host name resolves")


def test_agent(work):
    p = Place(work, first=True)
    want = outside(work)
    compare("agent", look(p.project, lambda: t.equal(
        p.run("/usr/bin/python3", "look.py", "look.json").returncode, 0,
        "a session")), want)


def left_out(want):
    """Returns a directory of /etc that all may read, and that is left out."""
    for path in ("/etc/init.d", "/etc/ssh", "/etc/cron.d", "/etc/systemd/system"):
        if want["etc"].get(path) == "directory" and os.access(path, os.R_OK):
            return path
    return None


def test_server(work):
    """A server has the same /etc, and what its view adds at a place that the
    copy does not have."""
    want = outside(work)
    more = left_out(want)
    place = os.path.join(work, "place")
    os.makedirs(place)
    h.put(os.path.join(place, "look.py"), LOOK)
    views = {"plain": [place]}
    if more is not None:
        views["more"] = [place, more]
    for name, view in views.items():
        out = os.path.join(work, name)
        os.makedirs(out)
        s = h.Session(os.path.join(work, "s" + name), {name: {
            "command": h.PYTHON,
            "args": [os.path.join(place, "look.py"),
                     os.path.join(out, "look.json")],
            "sandbox": {"filesystem": {"allowRead": view,
                                       "allowWrite": [out]}}}},
            [h.rule("no", "deny")], {})
        with s:
            result = os.path.join(out, "look.json")
            h.wait_for(lambda: os.path.exists(result) and
                       os.path.getsize(result) != 0, f"server {name}")
            got = h.wait_for(lambda: whole(result), f"all of server {name}")
        if name == "more":
            t.equal(sorted(x for x in want["etc"] if x.startswith(more + "/")),
                    sorted(x for x in got["etc"] if x.startswith(more + "/")),
                    f"a view that has {more}")
            t.equal(got["etc"].get("/etc/alternatives"), "directory",
                    "and all else")
        else:
            compare("server", got, want)


def whole(path):
    try:
        with open(path, encoding="utf-8") as f:
            return json.load(f)
    except ValueError:
        return None


def test_java(work):
    if not shutil.which("javac"):
        return t.skip("java", "there is no JDK")
    p = Place(work)
    h.put(os.path.join(p.project, "H.java"), "public class H { public static "
          "void main(String[] a) { System.out.println(\"hi\"); } }")
    r = p.run("/bin/sh", "-c", "javac H.java && java -cp . H")
    t.equal((r.returncode, r.stdout, r.stderr), (0, b"hi\n", b""),
            "a Java program is compiled and runs, and nothing else is said")
    if shutil.which("mvn"):
        r = p.run("/bin/sh", "-c", "mvn -B -v | head -1")
        t.ok(b"Apache Maven" in r.stdout, "mvn", r.stdout + r.stderr)
    return None


def main():
    if not shutil.which("bwrap"):
        t.skip("system", "bubblewrap is not installed")
        t.done()
    for test in (test_agent, test_server, test_java):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
