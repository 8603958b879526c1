#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""System calls that a program in a sandbox might try. Prints name -> errno's
name or "ok" as JSON into the file given as argument: once bare, as a baseline,
once as an agent, once as an MCP server."""
import ctypes
import errno
import json
import os
import platform
import socket
import sys

libc = ctypes.CDLL(None, use_errno=True)
X86 = platform.machine() == "x86_64"
# Numbers for x86-64 and arm64; from 424 on they are the same.
NR = {"unshare": (272, 97), "keyctl": (250, 219), "add_key": (248, 217),
      "bpf": (321, 280), "userfaultfd": (323, 282), "mount": (165, 40),
      "io_uring_setup": (425,) * 2, "clone3": (435,) * 2,
      "perf_event_open": (298, 241), "setns": (308, 268),
      "open_tree": (428,) * 2, "openat2": (437,) * 2,
      "futex_waitv": (449,) * 2, "fchmodat2": (452,) * 2,
      "statmount": (457,) * 2, "listmount": (458,) * 2,
      "lsm_list_modules": (461,) * 2, "mseal": (462,) * 2,
      "open_tree_attr": (467,) * 2, "file_getattr": (468,) * 2,
      "number_500": (500,) * 2, "ptrace": (101, 117)}
AT_FDCWD = -100
SETUID, SETGID = 0o4755, 0o2755
here = sys.argv[2]


def call(name, *args):
    nr = NR[name][0 if X86 else 1]
    if libc.syscall(ctypes.c_long(nr), *map(ctypes.c_long, args)) == -1:
        raise OSError(ctypes.get_errno(), name)


def path(name):
    return os.path.join(here, name).encode()


def pointer(b):
    keep.append(ctypes.create_string_buffer(b))
    return ctypes.addressof(keep[-1])


keep = []


def made(mode):
    """Create a file without a name, with this mode. Returns the mode it really
    has."""
    fd = os.open(here, os.O_TMPFILE | os.O_RDWR, mode)
    got = os.fstat(fd).st_mode & 0o7777
    os.close(fd)
    return got == mode


def chmod(fd_call):
    name = path("chmod")
    with open(name, "wb"):
        pass
    try:
        fd_call(name)
    finally:
        os.unlink(name)


def node(name, mode):
    os.mknod(path(name), mode | 0o100000)
    os.unlink(path(name))


def created(name, mode):
    os.close(os.open(path(name), os.O_CREAT | os.O_EXCL | os.O_RDWR, mode))
    os.unlink(path(name))


def netlink(protocol):
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol).close()


def family(number):
    fd = libc.socket(number, socket.SOCK_STREAM, 0)
    if fd == -1:
        raise OSError(ctypes.get_errno(), "socket")
    os.close(fd)


def readable(name):
    with open(name, "rb") as f:
        f.read(1)


ROWS = {
    "O_TMPFILE": lambda: made(0o755),
    "O_TMPFILE, setuid": lambda: made(SETUID),
    "O_TMPFILE, setgid": lambda: made(SETGID),
    "O_CREAT, setuid": lambda: created("a", SETUID),
    "chmod, setuid": lambda: chmod(lambda n: os.chmod(n, SETUID)),
    "chmod": lambda: chmod(lambda n: os.chmod(n, 0o755)),
    "fchmodat2, setuid": lambda: chmod(lambda n: call(
        "fchmodat2", AT_FDCWD, pointer(n), SETUID, 0)),
    "mknod, setuid": lambda: node("b", SETUID),
    "netlink, routes": lambda: netlink(0),
    **{f"netlink, protocol {n}": lambda n=n: netlink(n)
       for n in (2, 4, 9, 12, 15, 16, 31)},
    **{f"socket, family {n}": lambda n=n: family(n)
       for n in (17, 21, 38, 40, 44)},
    **{n: lambda n=n: call(n, 0, 0, 0, 0, 0) for n in
       ("statmount", "listmount", "lsm_list_modules", "open_tree_attr",
        "file_getattr", "number_500", "clone3", "io_uring_setup", "bpf",
        "userfaultfd", "perf_event_open", "setns", "mseal", "openat2",
        "futex_waitv")},
    "open_tree": lambda: call("open_tree", AT_FDCWD, pointer(b"/"), 0),
    "keyctl": lambda: call("keyctl", 0, -3, 0),
    "add_key": lambda: call("add_key", pointer(b"user"), pointer(b"ic-box"),
                            pointer(b"x"), 1, -2),
    "new user namespace": lambda: call("unshare", 0x10000000),
    "mount": lambda: call("mount", 0, 0, 0, 0, 0),
    **{n: lambda n=n: readable(n) for n in
       ("/proc/keys", "/proc/key-users", "/proc/kallsyms", "/proc/self/stat")},
}


def outcome(fn):
    try:
        fn()
        return "ok"
    except OSError as e:
        return errno.errorcode.get(e.errno, str(e.errno))


def attempt(fn):
    """Make the attempt in a child, because some attempts change the process.
    """
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(w, outcome(fn).encode())
        os._exit(0)
    os.close(w)
    text = os.read(r, 64).decode()
    os.close(r)
    status = os.waitpid(pid, 0)[1]
    return text or f"status {status}"


results = {name: attempt(fn) for name, fn in ROWS.items()}
with open(sys.argv[1] + ".new", "w", encoding="utf-8") as f:
    json.dump(results, f)
os.rename(sys.argv[1] + ".new", sys.argv[1])
