# SPDX-License-Identifier: ISC
"""Programs that icsupervisor or icctl starts for one job, and which are confined
before they read what others wrote. Each is attacked with the rows that every
worker is attacked with. A confined program without rows fails the suite."""
import os
import re
import signal
import socket
import subprocess

import rig

NONE = 8
# The arguments with which each comes as far as its confinement.
PROGRAMS = {
    "ic-asker": [],
    "ic-carry": [],
    "ic-gitset": ["settings"],
    "ic-hear": [],
    "ic-locate": ["find"],
    "ic-logcheck": ["0", "10", "1", "0" * 64, "1"],
    "ic-look": ["look"],
    "ic-mention": ["call"],
    "ic-reader": [],
    "ic-report": ["fold"],
    "ic-scan": ["scan"],
    "ic-snap": ["save"],
    "ic-survey": ["1000", "1000", "0", "0"],
    "pgkeyd-tls": [],
}
# Processes that others fork, and which therefore are no programs.
FORKED = {"pgkeyd-tls"}
# The one whose baseline has all rows; the others', these.
WHOLE = "ic-locate"
BASELINE = ("read /etc/passwd", "execve a shell", "connect TCP", "kill",
            "map executable memory")
# Those that are not attacked as workers are, and why.
ELSEWHERE = {
    "ic-serve": "confined when it has started the services: test_services_own",
    "icctl": "its child reads a file of another program's: test_mcp_import",
    "icfetch": "in the sandbox of its server: test_fetch",
    "icfs": "in the sandbox of its server: test_outside",
}
CA = os.path.join(os.path.dirname(rig.HERE), "fixtures", "2026-11-28", "provider",
                  "ca.pem")
READS = ("openat", "newfstatat", "statx", "getdents64", "lseek", "fcntl")
# System calls, or rows, that a filter allows, because they are the program's work: its root
# and Landlock stop the attempt, or it is one with a descriptor that it was given.
MAY = {
    "ic-carry": READS,
    "ic-scan": (*READS, "readlinkat"),
    "ic-snap": (*READS, "openat2", "pread64", "readlinkat", "mkdirat", "renameat2",
                "unlinkat", "flock", "fsync", "fstatfs"),
    "ic-survey": (*READS, "openat2", "fstatfs", "readlinkat", "symlinkat", "mkdirat",
                  "fchmod", "utimensat", "renameat2", "unlinkat", "flock"),
    "pgkeyd-tls": ("socketpair stream, non-blocking", "shut a channel down"),
}
# It looks for programs in the whole machine, which it may read and not change.
LOCATE = {
    "WORKS": ("read /etc/passwd", "read config.json", "read the audit log",
              "read its own program", "list libexecdir", "open a name only",
              "open a name only, following", "read beneath an open directory",
              "stat a path", "statx a path", "access a path", "read a link",
              "list an open directory", "fcntl F_DUPFD", "fcntl F_SETFL",
              "fcntl F_SETOWN", "fcntl F_SETLK", "lseek",
              "list another's descriptors", "name another's descriptor"),
    "EACCES": ("open the audit log to write", "write its own memory as a file",
               "plant a program in libexecdir", "make a nameless file in /tmp",
               "make a file in IRONCURTAIN_HOME", "open the terminal",
               "open another's memory", "open another's environment",
               "open another's map", "read another's working directory"),
}


def exceptions(attempts):
    """Returns the results that are not a kill, as those of exceptions.c are."""
    found = {}
    for a in (a for a in attempts if "resolver" in a["roles"]):
        for name, calls in MAY.items():
            if a["call"] in calls or a["name"] in calls:
                stops = [o for o in a["private"] + a["landlock"] if o != "WORKS"]
                found[a["name"], name] = {
                    "name": a["name"], "role": name, "all": stops or ["WORKS"],
                    "why": "its work, with what it was given"}
        for outcome, rows in LOCATE.items():
            if a["name"] in rows:
                found[a["name"], WHOLE] = {
                    "name": a["name"], "role": WHOLE, "all": [outcome],
                    "why": "its work: it looks for programs"}
    return found


def confined(prefix):
    """Returns the installed programs that link the confinement."""
    found = set()
    for place in ("bin", os.path.join("libexec", "ironcurtain")):
        folder = os.path.join(prefix, place)
        for name in os.listdir(folder):
            r = subprocess.run(["nm", "--defined-only", os.path.join(folder, name)],
                               capture_output=True, text=True, check=False)
            if re.search(r" T (?:confine|pledge)_apply$", r.stdout, re.M):
                found.add(name)
    return found


def test_rows(tap, args, roles):
    """Each program that is confined has rows here, or says where it has them."""
    found = confined(args.prefix)
    listed = {*roles, *rig.ALONE, *PROGRAMS, *ELSEWHERE} - FORKED
    tap.equal((sorted(found - listed), sorted(listed - found)), ([], []),
              f"each of {len(found)} confined programs has rows, and each with rows "
              "is confined")


def attempt(alone, name, a, kind):
    """Makes an attempt in a hostile build, beside the processes of `alone`."""
    alone.reset()
    victim = alone.victim("bare")
    b = alone.binary(name, "all", "attacker")
    b.order(a["n"], layers=NONE if kind == "plain" else 0, victim=victim[1],
            address=victim[2], port=alone.targets.port,
            abstract=alone.targets.abstract, session=alone.session,
            home=alone.home, libexec=alone.lib)
    p, r, ours = start(b, name)
    said = alone.finish(p, r)
    ours.close()
    detail = f"exit {p.returncode}\n{said}"
    result = re.search(rf"RESULT {a['n']} (-?\d+)", said)
    if f"PROBE {a['n']} " not in said:
        return rig.Result("NOT MADE", detail)
    if result:
        return rig.Result(rig.name_of(int(result[1])), detail)
    return rig.Result({-signal.SIGSYS: "KILLED", -signal.SIGSEGV: "FAULT",
                       rig.RAN: "WORKS"}.get(
                           p.returncode, f"status {p.returncode}"), detail)


def start(binary, name):
    """Starts it with what icsupervisor gives: a job, which does not come, and
    directories that it may be confined to, or a certificate; or in the baseline's
    program sockets, as a worker has."""
    r, w = os.pipe()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    place = theirs.detach() if name == WHOLE else os.open(
        CA if name == "ic-asker" else "/usr/share", os.O_RDONLY)
    job, end = os.pipe()
    p = rig.Child(binary.path, [os.path.basename(binary.path), *PROGRAMS[name]],
                  {0: job, 1: w, 2: w, **dict.fromkeys(range(3, 7), place)})
    for fd in (w, place, job, end):
        os.close(fd)
    theirs.close()
    return p, r, ours
