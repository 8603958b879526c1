#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A place whose /proc is masked, as in a container: IronCurtain's own servers run
in sandboxes without it, others do not, and READY and the log say it."""
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
# Engines of containers do this: a part is read-only, another one hidden.
MASKED = ["bwrap", "--dev-bind", "/", "/", "--unshare-user", "--unshare-pid",
          "--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys",
          "--tmpfs", next((x for x in ("/proc/acpi", "/proc/irq", "/proc/bus")
                           if os.path.isdir(x)), "/proc/sys"), "--die-with-parent", "--"]


def masks():
    """Returns why such a place cannot be made here, or None."""
    if not shutil.which("bwrap"):
        return "bubblewrap is not installed"
    r = subprocess.run([*MASKED, "bwrap", "--ro-bind", "/", "/",
                        "--unshare-pid", "--proc", "/proc", "true"],
                       capture_output=True, text=True,
                       check=False)
    if "proc" not in r.stderr or "newroot" not in r.stderr:
        return "no such place can be made here: " + r.stderr[:200]
    return None


def main():
    why = masks()
    if why is not None:
        t.skip("a masked /proc", why)
        t.done()
    with h.workdir() as work:
        s = h.Session(work, servers={
            "filesystem": {"command": "icfs", "args": ["/workspace"]},
            "echo": h.echo_server(os.path.join(work, "log", "echo"))},
            rules=[h.rule("all", "allow")],
            annotations={"echo": h.ECHO_TOOLS, "filesystem": {
                "read_text_file": {"path": ["read-path"]}}})
        h.put(os.path.join(s.workspace, "a"), "what it says")
        s.argv = [*MASKED, *s.argv]
        with s:
            t.equal(s.ready.get("procMasked"), True, "READY says so")
            a = s.client()
            r = a.call("filesystem__read_text_file", {"path": os.path.join(
                s.workspace, "a")})
            t.contains(h.text_of(r), "what it says", "our own server works")
            names = [x["name"] for x in a.list_tools()]
            t.ok(not any(x.startswith("echo__") for x in names),
                 "and none of others", names)
        t.contains(s.session_log(), "/proc is masked here",
                   "the log says why")
    with h.workdir() as work, h.Session(work) as s:
        t.ok("procMasked" not in s.ready and
             "masked" not in s.session_log(), "elsewhere neither does")
    t.done()


main()
