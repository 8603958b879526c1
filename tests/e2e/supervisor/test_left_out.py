#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""An agent tries to read what a sandbox leaves out of /etc and of the
directories that the user shows, by every name and in every way that a program
has, and to reach a socket through the mounts: nothing of it succeeds."""
import json
import os
import shutil
import socket
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from started import Place  # noqa: E402

t = h.Tap()
SECRET = "left-out-" + "s3cr3t" * 4
# Runs in the sandbox: plan.json has the files and sockets.
TRY = r"""
import ctypes, json, mmap, os, shutil, socket, stat, subprocess
plan = json.load(open("plan.json"))
libc = ctypes.CDLL(None, use_errno=True)
tries, got, odd, reached = 0, [], [], []

def attempt(name, fn):
    global tries
    tries += 1
    try:
        text = fn()
    except (OSError, ValueError, shutil.Error, SystemError):
        return
    if text and plan["secret"].encode() in text or (
            text and name[1].startswith("/etc/")):
        got.append(name)

def slurp(path, flags=os.O_RDONLY, dir_fd=None):
    fd = os.open(path, flags, dir_fd=dir_fd)
    try:
        return os.read(fd, 1 << 16)
    finally:
        os.close(fd)

def by_map(path):
    with open(path, "rb") as f, mmap.mmap(f.fileno(), 0, prot=1) as m:
        return m[:]

def by_path_fd(path):
    fd = os.open(path, os.O_PATH)
    try:
        return slurp(f"/proc/self/fd/{fd}")
    finally:
        os.close(fd)

def by_dir(path):
    fd = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
    try:
        return slurp(os.path.basename(path), dir_fd=fd)
    finally:
        os.close(fd)

def by_link(path, make):
    name = "/workspace/link"
    if os.path.lexists(name):
        os.unlink(name)
    make(path, name)
    return slurp(name)

def by_handle(path):
    buf = ctypes.create_string_buffer(136)
    buf[0:4] = (128).to_bytes(4, "little")
    mount = ctypes.c_int()
    if libc.name_to_handle_at(-100, path.encode(), buf, ctypes.byref(mount), 0):
        raise OSError
    fd = libc.open_by_handle_at(os.open(os.path.dirname(path), os.O_RDONLY),
                                buf, os.O_RDONLY)
    if fd == -1:
        raise OSError
    return os.read(fd, 1 << 16)

def by_rename(path):
    os.rename(path, path + ".away")
    return slurp(path + ".away")

def by_unmount(path):
    if libc.umount2(path.encode(), 2):
        raise OSError
    return slurp(path)

def by_bind(path):
    open("/tmp/at", "w").close()
    if libc.mount(path.encode(), b"/tmp/at", None, 4096, None):
        raise OSError
    return slurp("/tmp/at")

def by_namespace(path):
    if libc.unshare(0x10000000 | 0x20000):
        raise OSError
    return by_unmount(path)

WAYS = {
    "open": slurp, "map": by_map, "path": by_path_fd, "directory": by_dir,
    "root": lambda p: slurp("/proc/self/root" + p),
    "first": lambda p: slurp("/proc/1/root" + p),
    "parent": lambda p: slurp(f"/proc/{os.getppid()}/root" + p),
    "up": lambda p: slurp("/usr/lib/../.." + p),
    "cwd": lambda p: slurp("/proc/self/cwd/.." + p),
    "symlink": lambda p: by_link(p, os.symlink),
    "hard link": lambda p: by_link(p, os.link),
    "copy": lambda p: by_link(p, shutil.copyfile),
    "handle": by_handle, "umount": by_unmount, "bind": by_bind,
    "namespace": by_namespace,
    "program": lambda p: subprocess.run(["cat", "--", p], check=False,
                                        capture_output=True).stdout,
    "rename": by_rename,
}
for path in plan["files"]:
    for way, fn in WAYS.items():
        attempt((way, path), lambda: fn(path))
for path in plan["sockets"]:
    for name in (path, "/proc/self/root" + path, "/proc/1/root" + path):
        tries += 1
        s = socket.socket(socket.AF_UNIX)
        try:
            s.connect(name)
            reached.append(name)
        except OSError:
            pass
        s.close()
# The same ways, to a file and a socket that are there.
left, got = got, []
for way, fn in WAYS.items():
    attempt((way, "/workspace/plan.json"), lambda: fn("/workspace/plan.json"))
ways, got = [x[0] for x in got], left
server = socket.socket(socket.AF_UNIX)
server.bind("/tmp/s")
server.listen(1)
s = socket.socket(socket.AF_UNIX)
s.connect("/proc/self/root/tmp/s")
own = ("/proc", "/sys", "/dev", "/run/ironcurtain", "/workspace", "/tmp")
for at, dirs, files in os.walk("/"):
    dirs[:] = [d for d in dirs if os.path.join(at, d) not in own]
    for n in files:
        mode = os.lstat(os.path.join(at, n)).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
            odd.append(os.path.join(at, n))
json.dump({"tries": tries, "got": got, "reached": reached, "odd": odd,
           "ways": ways},
          open("found.json", "w"))
"""


def listen(path):
    s = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(os.path.dirname(path))
    s.bind(os.path.basename(path))
    os.chdir(here)
    s.listen(8)
    return s


def test_left_out(work):
    p = Place(work, {"agentView": {"allowRead": ["~/tools"]}})
    hidden = [".cargo/credentials.toml", ".npmrc", "deep/in/it/.netrc",
              "lib/id_rsa", "a/.git-credentials"]
    files = []
    for name in hidden:
        path = os.path.join(p.user, "tools", name)
        h.put(path, f'token = "{SECRET}"\n' if not name.endswith("id_rsa") else
              f"-----BEGIN PRIVATE KEY-----\n{SECRET}\n", 0o644)
        files.append(path)
    h.put(os.path.join(p.user, "tools", "bin", "tool"), "#!/bin/sh\n", 0o755)
    h.put(os.path.join(p.user, "beside"), SECRET)
    files += [os.path.join(p.user, "beside"),
              os.path.join(p.home, "config.json")]
    files += [x for x in ("/etc/shadow", "/etc/gshadow", "/etc/machine-id",
                          "/etc/sudoers", "/etc/crontab", "/etc/fstab",
                          "/etc/subuid", "/etc/ssh/ssh_config")
              if os.path.exists(x)]
    socks = [listen(os.path.join(d, "s")) for d in (p.user, p.home, work)]
    with open("/proc/net/unix", encoding="utf-8", errors="replace") as f:
        named = {line.split(None, 7)[7].strip() for line in f
                 if " /" in line}
    sockets = sorted({*[x for x in named if x.startswith("/")][:60],
                      *[os.path.join(d, "s") for d in (p.user, p.home, work)]})
    h.put(os.path.join(p.project, "plan.json"), json.dumps(
        {"secret": SECRET, "files": files, "sockets": sockets}))
    h.put(os.path.join(p.project, "try.py"), TRY)
    r = p.run("/usr/bin/python3", "try.py")
    t.equal((r.returncode, r.stderr), (0, b""), "the attempts")
    with open(os.path.join(p.project, "found.json"), encoding="utf-8") as f:
        found = json.load(f)
    t.ok(found["tries"] >= 100, f"{found['tries']} attempts", found["tries"])
    t.equal(found["got"], [], "none reads what is left out")
    ways = {"open", "map", "path", "directory", "root", "up", "symlink",
            "hard link", "copy", "program", "rename"}
    t.equal(sorted(ways - set(found["ways"])), [],
            "they read a file that is there")
    t.equal(found["reached"], [], f"{len(sockets)} sockets of the machine "
            "are out of reach")
    t.equal(found["odd"], [], "no mount has a socket, a FIFO or a device")
    for s in socks:
        s.setblocking(False)
        try:
            s.accept()
            t.ok(False, "nobody connected")
        except BlockingIOError:
            t.ok(True, "nobody connected")
    with open(files[0], encoding="utf-8") as f:
        t.contains(f.read(), SECRET, "outside everything is as it was")


def main():
    if not shutil.which("bwrap"):
        t.skip("left_out", "bubblewrap is not installed")
        t.done()
    with h.workdir() as work, t.case("left_out"):
        test_left_out(work)
    t.done()


if __name__ == "__main__":
    main()
