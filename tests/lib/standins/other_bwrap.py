#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Runs a command that finds another bubblewrap in /usr/bin, in a user and mount
namespace of its own.

usage: other_bwrap.py WRAPPER REAL COMMAND...

WRAPPER takes the place of /usr/bin/bwrap; the real one appears at REAL, an
existing file.  Exits with 77 if this machine allows no such namespaces."""
import ctypes
import os
import sys

CLONE_NEWNS, CLONE_NEWUSER, MS_BIND, MS_REC, MS_PRIVATE = (
    0x20000, 0x10000000, 0x1000, 0x4000, 0x40000)
libc = ctypes.CDLL(None, use_errno=True)


def must(result, what):
    if result != 0:
        print(f"{what}: {os.strerror(ctypes.get_errno())}", file=sys.stderr)
        sys.exit(77)


def mount(source, target, flags):
    must(libc.mount(source.encode(), target.encode(), None, flags, None),
         f"mount {target}")


def main():
    wrapper, real, *command = sys.argv[1:]
    uid, gid = os.geteuid(), os.getegid()
    must(libc.unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"),
                       ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as f:
            f.write(text)
    mount("none", "/", MS_REC | MS_PRIVATE)
    mount("/usr/bin/bwrap", real, MS_BIND)
    mount(wrapper, "/usr/bin/bwrap", MS_BIND)
    # The command has no capabilities: it is not root in the namespace.
    os.execv(command[0], command)


main()
